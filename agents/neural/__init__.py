"""Agents that are neural networks. The only package below `train` that imports torch."""
