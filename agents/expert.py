"""The best rule bot that ships: thresholds and weights found by `benchmarks/tune_expert.py`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from agents.bot import STYLE_DTYPE, Bot

EXPERT_FILE = Path(__file__).resolve().parent / "data" / "expert.toml"


def expert() -> Bot:
    """Returns the bot of `data/expert.toml`.

    Made for two seats at `pagat`; it plays any rules and numbers. For a drop it counts, beside hand sizes and
    turn, what the unseen cards are worth and what its own hand may still become. It takes a low discard to be
    rid of a high card, and keeps a card for the number of cards that would complete its pair or run.
    """
    return expert_of(tomllib.loads(EXPERT_FILE.read_text("utf-8")))


def expert_of(data: Mapping[str, Any]) -> Bot:
    """Returns a bot of the numbers in a file like `data/expert.toml`.

    Args:
        data: `thresholds` with tables `first_seat` and `other_seats`, and `weights`, by field of STYLE_DTYPE.
    """
    style = np.zeros(1, STYLE_DTYPE)
    style["estimates"] = 1
    style["only_live"] = 1
    for opened, table in enumerate(("other_seats", "first_seat")):
        style["thresholds"][0, opened] = data["thresholds"][table]
    for field, weight in data["weights"].items():
        style[field] = weight
    return Bot("expert", style)
