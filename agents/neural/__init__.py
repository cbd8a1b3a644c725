"""Agents that are neural networks. The only package below `train` that imports torch."""

from __future__ import annotations

from pathlib import Path

from agents.neural.agent import NeuralAgent


def load_agent(path: str | Path, greedy: bool = False) -> NeuralAgent:
    """Reads a checkpoint as an agent; see `NeuralAgent.load`."""
    return NeuralAgent.load(path, greedy)


__all__ = ["NeuralAgent", "load_agent"]
