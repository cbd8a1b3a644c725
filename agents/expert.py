"""The best rule bot that ships: thresholds and weights found by `benchmarks/tune_expert.py`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.bot import Bot
from agents.styles import style_of

EXPERT_FILE = Path(__file__).resolve().parent / "data" / "expert.toml"


def expert() -> Bot:
    """Returns the bot of `data/expert.toml`.

    Made for two seats at `pagat`; it plays any rules and numbers. For a drop it counts, beside hand sizes and
    turn, what the unseen cards are worth and what its own hand may still become. It takes a low discard to be
    rid of a high card, and keeps a card for the number of cards that would complete its pair or run.
    """
    return expert_of(tomllib.loads(EXPERT_FILE.read_text("utf-8")))


def expert_of(data: Mapping[str, Any]) -> Bot:
    """Returns a bot of the numbers in a file like `data/expert.toml`; see `agents.styles.style_of`."""
    return Bot("expert", style_of(data))
