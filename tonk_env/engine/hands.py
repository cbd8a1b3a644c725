"""Cards in and out of a collection held as two words."""

from __future__ import annotations

from typing import Any

import numpy as np

from tonk_env._jit import jit
from tonk_env.cards import JOKER, JOKERS_MORE


@jit
def add_card(words: Any, card: int) -> None:
    """Adds a card to a collection `[2]`."""
    bit = np.int64(1) << card
    if card == JOKER and words[1] & bit:
        bit = np.int64(1) << JOKERS_MORE
    if words[0] & bit:
        words[1] |= bit
    else:
        words[0] |= bit


@jit
def remove_card(words: Any, card: int) -> None:
    """Removes a card from a collection, which may be without it (then nothing changes)."""
    words[0], words[1] = without(words[0], words[1], card)


@jit
def without(low: int, high: int, card: int) -> tuple[int, int]:
    """Returns a collection (`low`, `high`) less one card, which it may be without."""
    bit: Any = np.int64(1) << card
    more: Any = np.int64(1) << JOKERS_MORE
    if card == JOKER and low & more:
        bit = more
    if high & bit:
        return low, high & ~bit
    return low & ~bit, high
