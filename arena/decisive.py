"""Decisive hands: the deal of each group in which it mattered most who sat where."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.blocks import GroupHands
from tonk_env.engine.state import FORFEITED

MOST = 4
"""Deals of a tournament that are called decisive, each of another group."""


@dataclass(frozen=True)
class Swing:
    """The same cards in the same seat, in the two seatings in which they paid it most and least.

    Attributes:
        best: what the seat was paid in the one, in millionths of a stake.
        worst: in the other.
        block: the deal.
        number: of the hand in its match.
        seat: the seat.
        best_seating: which seating of the block the one is.
        worst_seating: which the other is.
        best_check: checksum of the table as the one ended.
        worst_check: of the other.
    """

    best: int
    worst: int
    block: int
    number: int
    seat: int
    best_seating: int
    worst_seating: int
    best_check: int
    worst_check: int

    @property
    def order(self) -> tuple[int, int, int]:
        """What swings are sorted by: the largest first, of equal ones the first."""
        return self.worst - self.best, self.block, self.number


@dataclass(frozen=True)
class Decisive:
    """The decisive deal of a group.

    Attributes:
        group: the agent numbers of its seats, in ascending order.
        swing: where and what.
    """

    group: tuple[int, ...]
    swing: Swing


def checksum(tables: npt.NDArray[np.void], i: int) -> int:
    """Returns a number that tells apart how hands ended, to the last card."""
    return zlib.crc32(tables[i].tobytes())


class Swings:
    """Finds the largest swing of each group in a batch: a watcher (`arena.blocks.Watcher`).

    Hands that were forfeited decide nothing.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[int, ...], Swing] = {}

    def __call__(self, hands: GroupHands) -> None:
        """Looks at hands."""
        units, tables = hands.units, hands.played.tables
        swings = units.max(1) - units.min(1)
        swings[(tables["ending"] == FORFEITED).reshape(units.shape[:2]).any(1)] = 0
        block, seat = divmod(int(swings.argmax()), units.shape[2])
        paid = units[block, :, seat]
        if not swings[block, seat]:
            return
        best, worst = int(paid.argmax()), int(paid.argmin())
        found = Swing(
            int(paid[best]),
            int(paid[worst]),
            hands.first + block,
            hands.number,
            seat,
            best,
            worst,
            checksum(tables, block * hands.seatings + best),
            checksum(tables, block * hands.seatings + worst),
        )
        self._found[hands.group] = min(
            found, self._found.get(hands.group, found), key=lambda each: each.order
        )

    def export(self, groups: Sequence[tuple[int, ...]]) -> list[list[int]]:
        """Returns swings by group as whole numbers, as `decisive` takes them; none where there is none."""
        return [list(astuple(self._found[group])) if group in self._found else [] for group in groups]


def fits(exported: Any, groups: Sequence[tuple[int, ...]]) -> bool:
    """Tells whether data has the shape that `Swings.export` gives."""
    size = len(Swing.__dataclass_fields__)
    return (
        isinstance(exported, list)
        and len(exported) == len(groups)
        and all(isinstance(each, list) and len(each) in (0, size) for each in exported)
        and all(type(number) is int for each in exported for number in each)
    )


def decisive(
    batches: Iterable[Sequence[Sequence[int]]],
    groups: Sequence[tuple[int, ...]],
    ranking: Sequence[int],
    left: frozenset[int],
) -> list[Decisive]:
    """Returns the decisive deals of the groups of the best agents.

    Args:
        batches: what `Swings` exported, by the batches' numbers.
        groups: who meets whom.
        ranking: agent numbers, best first.
        left: agents whose groups are left out.
    """
    largest: dict[tuple[int, ...], Swing] = {}
    for exported in batches:
        for group, numbers in zip(groups, exported, strict=True):
            if numbers and not left & set(group):
                found = Swing(*numbers)
                largest[group] = min(largest.get(group, found), found, key=lambda each: each.order)
    place = {agent: at for at, agent in enumerate(ranking)}

    def rank(group: tuple[int, ...]) -> tuple[float, list[int]]:
        places = sorted(place[agent] for agent in group)
        return sum(places), places

    return [Decisive(group, largest[group]) for group in sorted(largest, key=rank)[:MOST]]
