"""The yardstick: a bot that stays as it is, so that margins over it can be compared."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np

from agents.bot import NEVER, STYLE_DTYPE, Bot

_FILE = Path(__file__).resolve().parent / "data" / "reference_bot.toml"


def reference() -> Bot:
    """Returns the bot of `data/reference_bot.toml`."""
    data = tomllib.loads(_FILE.read_text("utf-8"))
    style = np.zeros(1, STYLE_DTYPE)
    for opened, table in enumerate(("other_seats", "first_seat")):
        # The file has one column for opponents of three cards and of four.
        style["thresholds"][0, opened] = np.array(data["thresholds"][table])[:, [0, 1, 2, 2, 3]]
    style["take_swap"] = NEVER
    style["keep"] = data["play"]["keep"]
    style["only_live"] = 1
    return Bot("reference", style)
