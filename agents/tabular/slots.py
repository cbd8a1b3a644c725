"""A table of numbers by 63-bit keys: open addressing in arrays, for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tonk_env._jit import jit

EMPTY = -1
MISSING = -1


def make_slots(size: int) -> npt.NDArray[np.int64]:
    """Returns empty slots: `[capacity]` int64, a power of two that keeps `size` keys at most half full."""
    capacity = 1 << max(4, (2 * size - 1).bit_length())
    return np.full(capacity, EMPTY, np.int64)


@jit
def find(slots: Any, key: int) -> int:
    """Returns the slot of a key, or MISSING."""
    mask = slots.shape[0] - 1
    at = key & mask
    while slots[at] != key:
        if slots[at] == EMPTY:
            return MISSING
        at = (at + 1) & mask
    return int(at)


@jit
def put(slots: Any, key: int) -> int:
    """Returns the slot of a key, which is entered where it is new; there must be room."""
    mask = slots.shape[0] - 1
    at = key & mask
    while slots[at] != key and slots[at] != EMPTY:
        at = (at + 1) & mask
    slots[at] = key
    return int(at)


@jit
def put_all(slots: Any, keys: Any, places: Any) -> None:
    """Enters `keys` `[N]` int64 and writes their slots into `places` `[N]` int64."""
    for at in range(keys.shape[0]):
        places[at] = put(slots, keys[at])
