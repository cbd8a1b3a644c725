"""The ladder: bots that drop at a fixed count."""

from __future__ import annotations

import numpy as np

from agents.bot import NEVER, STYLE_DTYPE, Bot


def heuristic(drop: int, keep: float | None = None) -> Bot:
    """Returns a bot that drops as soon as its count is `drop` or less.

    It takes a discard only to complete a spread or to hit, lays and hits at once, and throws the highest card
    that is in no pair or partial run (two cards of a run of three). With `keep` it throws the card of the
    highest score instead: its value, less `keep` for a card of a live pair or partial run, one that cards not
    yet seen can complete.

    Args:
        drop: points.
        keep: points, or None.
    """
    style = np.zeros(1, STYLE_DTYPE)
    style["thresholds"] = drop
    style["take_swap"] = NEVER
    style["keep"] = NEVER if keep is None else keep
    style["only_live"] = keep is not None
    return Bot(f"heuristic:drop={drop}" + ("" if keep is None else f",keep={keep:g}"), style)
