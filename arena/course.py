"""The course of a tournament: batches taken in by number, who has been withdrawn, and when it is over."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from arena.decisive import decisive
from arena.placements import games
from arena.results import Point, Results, Setting, collect
from arena.tally import Tally

POINTS = 20
"""Points of a convergence curve, about."""


class Course:
    """Takes in the summaries of batches.

    They may come in any order and are counted by number, so that what is decided between two batches does
    not depend on who played them, or when.

    Args:
        new_tally: returns a tally of the tournament with nothing in it.
        num_batches: that make up all deals.
        deals: how many.
        max_forfeits: by agent, forfeits at which it is withdrawn; None where no number is known.
        until: the half-width to play for, if any.
        min_deals: to be played before that is looked at.
        adjusts: whether batches have payments without luck too.

    Attributes:
        left: agents that have been withdrawn.
        blocks: blocks taken in.
        is_over: whether no more is needed.
        counted: the numbers of the batches taken in, each with the agents that are left out in it.
        times: of the batches taken in.
    """

    def __init__(
        self,
        new_tally: Callable[[], Tally],
        num_batches: int,
        deals: int,
        max_forfeits: Sequence[int | None],
        until: float | None = None,
        min_deals: int = 0,
        adjusts: bool = False,
    ) -> None:
        self._new_tally, self._num_batches, self._deals = new_tally, num_batches, deals
        self._max_forfeits, self._until, self._min_deals = max_forfeits, until, min_deals
        self._tally = new_tally()
        self._adjusted = new_tally() if adjusts else None
        self._forfeits = [0] * len(max_forfeits)
        self._waiting: dict[int, dict[str, Any]] = {}
        self._taken: list[dict[str, Any]] = []
        self.counted: list[tuple[int, frozenset[int]]] = []
        self.left: frozenset[int] = frozenset()
        self.blocks, self.is_over = 0, False

    @property
    def times(self) -> list[dict[str, Any]]:
        """Times of the batches taken in."""
        return [summary["times"] for summary in self._taken]

    @property
    def num_missing(self) -> int:
        """Batches not here yet, if all are to be played."""
        return 0 if self.is_over else self._num_batches - len(self._taken) - len(self._waiting)

    def missing(self) -> Iterator[int]:
        """Yields the numbers of batches to be played, in order, as long as it is not over."""
        for number in range(self._num_batches):
            if self.is_over:
                return
            if number >= len(self._taken) and number not in self._waiting:
                yield number

    def add(self, summary: dict[str, Any]) -> None:
        """Takes in a batch once those before it are here; what comes after the end is not counted."""
        if summary["batch"] < len(self._taken):
            return  # again
        self._waiting[summary["batch"]] = summary
        while not self.is_over and len(self._taken) in self._waiting:
            self._take(self._waiting.pop(len(self._taken)))

    def _take(self, summary: dict[str, Any]) -> None:
        self._taken.append(summary)
        self.blocks += summary["blocks"]
        batch = self._new_tally()
        batch.merge(summary, self.left)
        left = set(self.left)
        for agent, most in enumerate(self._max_forfeits):
            if agent in self.left:
                continue
            self._forfeits[agent] += batch.forfeits(agent)
            too_many = most is not None and self._forfeits[agent] >= most
            if too_many and most is not None:
                self._forfeits[agent] = most  # with that one it was out, however many it was given besides
            if too_many or agent in summary["out"]:
                left.add(agent)
        self.left = frozenset(left)
        self._tally.merge(summary, self.left)
        if self._adjusted is not None:
            self._adjusted.merge(summary["adjusted"], self.left)
        self.counted.append((summary["batch"], self.left))
        is_enough = self._until is not None and self.blocks >= self._min_deals and self._is_narrow()
        self.is_over = (
            len(self._taken) == self._num_batches or is_enough or not self._tally.can_go_on(self.left)
        )

    def _is_narrow(self) -> bool:
        """Whether all intervals of agents and pairs that are still in are as narrow as asked for."""
        assert self._until is not None
        tally, left = self._adjusted or self._tally, self.left
        halves = [tally.per_hand(agent).half for agent in range(len(self._max_forfeits)) if agent not in left]
        halves += [
            tally.pair_per_hand(number).half
            for number, pair in enumerate(tally.pairs)
            if not left & set(pair)
        ]
        return all(half < self._until for half in halves)

    def results(self, setting: Setting) -> Results:
        """Returns the results of what has been taken in."""
        finished = [self._tally.agent_blocks(agent) for agent in self.left]
        played = self.blocks if self._tally.can_go_on(self.left) else self._deals
        left_out = played - min(finished) if finished else 0
        points = self._convergence(setting.names)
        found = collect(self._tally, setting, self._forfeits, self.left, left_out, points, self._adjusted)
        ranking = [setting.names.index(each.agent) for each in found.agents]
        placements = [summary["placements"] for summary in self._taken]
        swings = [summary["swings"] for summary in self._taken]
        return replace(
            found,
            games=tuple(games(placements, setting.groups, setting.names, self.left)),
            decisive=tuple(decisive(swings, setting.groups, ranking, self.left)),
        )

    def _convergence(self, names: Sequence[str]) -> list[Point]:
        """The estimates on the way, over the hands that count in the end."""
        batches = len(self._taken)
        marks = {math.ceil(batches * point / POINTS) for point in range(1, POINTS + 1)}
        tally, blocks, points = self._new_tally(), 0, []
        for number, summary in enumerate(self._taken, 1):
            tally.merge(summary if self._adjusted is None else summary["adjusted"], self.left)
            blocks += summary["blocks"]
            if number in marks:
                estimates = {name: tally.per_hand(agent) for agent, name in enumerate(names)}
                known = {name: each for name, each in estimates.items() if not math.isnan(each.half)}
                points.append(Point(blocks, known))
        return points
