"""Finding the rows of a table by 63-bit keys: open addressing, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tonk_env._jit import jit

EMPTY = -1


def make_slots(room: int) -> npt.NDArray[np.int64]:
    """Returns slots for `room` rows, all empty: a power of two of them, at most half of which get taken."""
    return np.full(1 << max(3, (2 * room - 1).bit_length()), EMPTY, np.int64)


@jit
def find_slot(slots: Any, keys: Any, key: int) -> int:
    """Returns the slot where the row of `key` is, or would be put.

    Args:
        slots: `[power of two]` int64, rows of `keys`, or EMPTY; not all taken.
        keys: `[R]` int64, the key of each row. Keys are as good as random, as those of `fold` are.
        key: which.
    """
    last = slots.shape[0] - 1
    slot = key & last
    while slots[slot] != EMPTY and keys[slots[slot]] != key:
        slot = (slot + 1) & last
    return int(slot)


@jit
def fill_slots(slots: Any, keys: Any, count: int) -> None:
    """Puts the first `count` rows of `keys` into slots that are all empty."""
    for row in range(count):
        slots[find_slot(slots, keys, keys[row])] = row
