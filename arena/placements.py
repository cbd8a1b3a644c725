"""Placements: who was paid more than whom in the first deals, for ratings that ask for nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.blocks import GroupHands

RATED_DEALS = 500
"""Deals that are rated, the first ones: ratings of agents that do not change gain little from more."""

Game = tuple[tuple[str, float], ...]
"""Agents that met, with how many of the others at the table each was paid more than."""


class Placements:
    """Sums up what the agents of each group were paid in each block of a batch, as far as it is rated.

    Args:
        first: number of the batch's first block.
        blocks: how many.
    """

    def __init__(self, first: int, blocks: int) -> None:
        self._first, self._rated = first, _rated(first, blocks)
        self._paid: dict[tuple[int, ...], npt.NDArray[np.int64]] = {}

    def __call__(self, hands: GroupHands) -> None:
        """Adds hands; see `arena.blocks.Watcher`."""
        start = hands.first - self._first
        if start >= self._rated:
            return
        members = sorted(set(hands.group))
        paid = self._paid.setdefault(hands.group, np.zeros((self._rated, len(members)), np.int64))[start:]
        units = hands.units[: len(paid)]
        seating = hands.seating.reshape(hands.units.shape)[: len(paid)]
        for column, member in enumerate(members):
            paid[: len(units), column] += (units * (seating == member)).sum((1, 2))

    def export(self, groups: Sequence[tuple[int, ...]]) -> list[str]:
        """Returns placements by group, as `games` takes them.

        Returns:
            Block after block, for each agent of the group one digit: how many of the others were paid less.
            Nothing for a group that has not played. An agent that holds several seats counts by their mean.
        """
        return [self._digits(group) for group in groups]

    def _digits(self, group: tuple[int, ...]) -> str:
        if group not in self._paid:
            return ""
        members = sorted(set(group))
        # Means, brought to one denominator: whole numbers, so that what is even is even.
        shares = [np.prod([group.count(other) for other in members if other != member]) for member in members]
        paid = self._paid[group] * np.array(shares, np.int64)
        beaten = (paid[:, :, None] > paid[:, None, :]).sum(2)
        return "".join(map(str, beaten.ravel().tolist()))


def _rated(first: int, blocks: int) -> int:
    """Returns how many of the blocks from number `first` on are rated."""
    return max(0, min(blocks, RATED_DEALS - first))


def fits(exported: Any, groups: Sequence[tuple[int, ...]], first: int, blocks: int) -> bool:
    """Tells whether data has the shape that `Placements.export` gives for these blocks."""
    return (
        isinstance(exported, list)
        and len(exported) == len(groups)
        and all(
            isinstance(digits, str)
            and len(digits) in (0, _rated(first, blocks) * len(set(group)))
            and set(digits) <= set("012345")
            for digits, group in zip(exported, groups, strict=True)
        )
    )


def games(
    batches: Iterable[Sequence[str]],
    groups: Sequence[tuple[int, ...]],
    names: Sequence[str],
    left: frozenset[int],
) -> Iterator[Game]:
    """Yields the games of a tournament: block by block, and group by group within each.

    Args:
        batches: what `Placements` exported, by the batches' numbers.
        groups: who meets whom.
        names: of the agents, by number.
        left: agents whose games are left out.
    """
    members = {group: sorted(set(group)) for group in groups if not left & set(group)}
    for exported in batches:
        digits = {group: each for group, each in zip(groups, exported, strict=True) if group in members}
        rated = max((len(each) // len(members[group]) for group, each in digits.items()), default=0)
        for block in range(rated):
            for group, each in digits.items():
                at = block * len(members[group])
                found = zip(members[group], each[at : at + len(members[group])], strict=False)
                yield tuple((names[member], float(points)) for member, points in found)
