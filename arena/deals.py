"""Duplicate deals: which decks are played, who sits where, and where the agents' randomness comes from.

A block is one deck order, played under several seatings of the same agents, so that luck of the cards and of
the seat falls on everyone alike. Everything is a function of (seed, block number) alone: batch sizes,
processes and who else takes part change nothing.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tonk_env._jit import below, jit, mix
from tonk_env.errors import TonkError
from tonk_env.limits import MAX_SEATS

MAX_SEED = 2**63 - 1
ALL_PERMUTATIONS_UP_TO = 3
"""Seats up to which a block holds every permutation of its agents; from there on, every rotation."""

# Streams of random keys. Training keys its decks by mix(mix(seed, table), hand) with tables from 0 on; here a
# number that no table has stands in the table's place, so no seed deals an evaluation deck in training.
_DECKS, _AGENTS, _ORDERS, _STARTS = (0x41524E41_00000000 + stream for stream in range(4))


def check_seed(seed: int) -> None:
    """Checks a seed.

    Raises:
        TonkError: it is not a number from 0 to 2**63 - 1.
    """
    if not 0 <= seed <= MAX_SEED:
        raise TonkError(f"seed = {seed}: a whole number from 0 to {MAX_SEED} is needed")


@jit
def _fill_keys(key: int, first: int, keys: Any) -> None:
    for j in range(keys.shape[0]):
        keys[j] = mix(key, first + j)


def _keys(seed: int, stream: int, first: int, blocks: int) -> npt.NDArray[np.int64]:
    keys = np.empty(blocks, np.int64)
    _fill_keys(mix(seed, stream), first, keys)
    return keys


def deck_keys(seed: int, first: int, blocks: int) -> npt.NDArray[np.int64]:
    """Returns what fixes the decks of blocks from number `first` on: `[blocks]` int64."""
    return _keys(seed, _DECKS, first, blocks)


def agent_keys(seed: int, first: int, blocks: int) -> npt.NDArray[np.int64]:
    """Returns where the agents' randomness starts from in blocks from number `first` on: `[blocks]` int64.

    One key serves every seating of a block: a seat draws the same random numbers whoever sits there, so this
    luck is duplicated like that of the cards, and an agent that draws lots against itself wins exactly
    nothing.
    """
    return _keys(seed, _AGENTS, first, blocks)


def nth_keys(keys: npt.NDArray[np.int64], number: int) -> npt.NDArray[np.int64]:
    """Returns the keys of hand `number` of matches, `[matches]` int64, from those of the matches."""
    found = np.empty_like(keys)
    _mix_each(keys, number, found)
    return found


@jit
def _mix_each(keys: Any, number: int, found: Any) -> None:
    for j in range(keys.shape[0]):
        found[j] = mix(keys[j], number)


def start_seed(seed: int, name: str, first: int = 0) -> int:
    """Returns the seed an agent is started with: for what it does at random beside its decisions' keys.

    Agents are started anew for every batch, by the number of its first block, so that what they do in it
    does not depend on which batches this process has played before.
    """
    return int(mix(mix(mix(seed, _STARTS), zlib.crc32(name.encode())), first))


@jit
def _fill_rotations(group: Any, key: int, first: int, seatings: Any) -> None:
    """Writes the rotations of an order of `group` drawn for each block into `seatings` `[blocks, n, n]`."""
    n = group.shape[0]
    for block in range(seatings.shape[0]):
        order = seatings[block, 0]
        for seat in range(n):
            order[seat] = group[seat]
        word = mix(key, first + block)
        for seat in range(n - 1, 0, -1):
            other = below(mix(word, seat), seat + 1)
            held = order[seat]
            order[seat] = order[other]
            order[other] = held
        for turn in range(1, n):
            for seat in range(n):
                seatings[block, turn, seat] = order[(seat + turn) % n]


def seatings(group: Sequence[int], seed: int, first: int, blocks: int) -> npt.NDArray[np.int64]:
    """Returns who sits where in `blocks` blocks from number `first` on.

    Up to three seats a block holds every different permutation of the group; from four on, every rotation of
    an order that is drawn anew for each block, so that nobody always plays after the same neighbour. Either
    way each member sits in each seat equally often in every block.

    Args:
        group: agent numbers, one for each seat; a number may be there several times.
        seed: of the tournament.
        first: number of the first block.
        blocks: how many.

    Returns:
        `[blocks, hands of a block, seats]` int64, agent numbers.
    """
    if len(group) <= ALL_PERMUTATIONS_UP_TO:
        every = np.array(sorted(set(itertools.permutations(group))), np.int64)
        return np.broadcast_to(every, (blocks, *every.shape))
    filled = np.empty((blocks, len(group), len(group)), np.int64)
    _fill_rotations(np.array(group, np.int64), mix(seed, _ORDERS), first, filled)
    return filled


def hands_of_block(group: Sequence[int]) -> int:
    """Returns how many hands a block of this group has."""
    assert 2 <= len(group) <= MAX_SEATS
    return len(seatings(group, 0, 0, 1)[0])
