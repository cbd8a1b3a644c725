"""Estimates with intervals, from sums that are exact.

The hands of a block share a deck, and so do the groups of agents that play it: they are not independent,
blocks are. So every interval here is one for the mean of block means, whatever the hands and groups that a
block's mean is taken over. Payments are summed as whole millionths of a stake: sums are exact, and the same
in whatever order, batch or process they are formed.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tonk_env._jit import jit
from tonk_env.engine.state import ENDINGS

UNIT = 1_000_000
"""Parts of a stake that payments are counted in."""

NOBODY, OWN, OTHERS = range(3)
"""Who brought a hand's ending about, from a seat's point of view."""

_Z = 1.959963984540054  # 97.5% of the normal distribution lies below
_SPLIT = 24


@functools.cache
def t_quantile(degrees: int) -> float:
    """Returns the 97.5% quantile of Student's t with that many degrees of freedom (1 or more)."""
    if degrees > 100:
        # Cornish-Fisher; what is left out is below 1e-7 here (Abramowitz and Stegun, 26.7.5).
        z = _Z
        first = (z**3 + z) / 4
        second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        return z + first / degrees + second / degrees**2 + third / degrees**3
    low, high = 0.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if _t_within(middle, degrees) > 0.95 else (middle, high)
    return (low + high) / 2


def _t_within(t: float, degrees: int) -> float:
    """The probability that Student's t is between -t and t (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine, odd = math.cos(angle), degrees % 2
    term = cosine if odd else 1.0
    total = term if degrees > 1 else 0.0
    for k in range(2 + odd, degrees - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    total *= math.sin(angle)
    return (angle + total) * 2 / math.pi if odd else total


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its 95% interval."""

    mean: float
    half: float

    @property
    def ci95(self) -> tuple[float, float]:
        """The interval's ends."""
        return self.mean - self.half, self.mean + self.half

    def reversed(self) -> Estimate:
        """Returns the estimate of minus the same."""
        return Estimate(0.0 - self.mean, self.half)


class Moments:
    """Running sums and sums of squares of columns of whole numbers, one row for each block.

    Args:
        columns: how many.

    Attributes:
        count: rows so far.
    """

    def __init__(self, columns: int) -> None:
        self.count = 0
        self._totals: list[int] = [0] * columns
        self._squares: list[int] = [0] * columns

    def add(self, values: npt.NDArray[np.int64]) -> None:
        """Adds rows: `[rows, columns]` int64, each below 2**48 in size, 2**14 of them at most."""
        self.count += len(values)
        # Squares of the upper and lower halves: 64 bits hold their sums, where they may not hold those of the
        # whole.
        upper = values >> _SPLIT
        lower = values & ((1 << _SPLIT) - 1)
        parts = ((upper * upper).sum(0), (upper * lower).sum(0), (lower * lower).sum(0))
        for column, total in enumerate(values.sum(0).tolist()):
            self._totals[column] += total
            high, middle, low = (int(part[column]) for part in parts)
            self._squares[column] += (high << 2 * _SPLIT) + (middle << _SPLIT + 1) + low

    def total(self, column: int) -> int:
        """Returns the sum of a column."""
        return self._totals[column]

    def estimate(self, column: int, scale: int) -> Estimate:
        """Returns the mean of a column's entries over `scale`, by Student's t.

        Args:
            column: which.
            scale: what each entry is divided by.
        """
        n, total = self.count, self._totals[column]
        spread = n * self._squares[column] - total * total  # n (n - 1) variances, exactly
        error = math.sqrt(spread / (n * n * (n - 1))) / scale
        return Estimate(total / (n * scale), t_quantile(n - 1) * error)


@jit
def _count_hands(
    seating: Any,
    payments: Any,
    tables: Any,
    hands_of_block: int,
    pair_column: Any,
    pair_weight: Any,
    seat_units: Any,
    pair_units: Any,
    ending_counts: Any,
    ending_units: Any,
    decisions: Any,
) -> None:
    """Adds hands to the sums of a batch.

    Args:
        seating: `[hands, players]` int64, agent numbers.
        payments: `[hands, MAX_SEATS]` float64, in stakes.
        tables: `[hands]` STATE_DTYPE, ended.
        hands_of_block: as many hands, one after the other, are one block's.
        pair_column, pair_weight: `[agents, agents]` int64, of agents a < b: where their pair is counted, and
        how much
            each seat of a against each seat of b weighs.
        seat_units: `[blocks, agents, players]` int64, of payments; added to, like all that follow.
        pair_units: `[blocks, pairs]` int64, of a's payments less b's.
        ending_counts: `[agents, endings, 3]` int64, hands.
        ending_units: the same shape, of payments.
        decisions: `[agents]` int64.
    """
    players = seating.shape[1]
    for hand in range(seating.shape[0]):
        block = hand // hands_of_block
        ending, by = int(tables[hand]["ending"]), int(tables[hand]["ending_seat"])
        for seat in range(players):
            agent = seating[hand, seat]
            units = int(np.rint(payments[hand, seat] * UNIT))
            who = NOBODY if by < 0 else OWN if by == seat else OTHERS
            seat_units[block, agent, seat] += units
            ending_counts[agent, ending, who] += 1
            ending_units[agent, ending, who] += units
            decisions[agent] += tables[hand]["moves"]
            for other in range(players):
                rival = seating[hand, other]
                if agent < rival:
                    difference = units - int(np.rint(payments[hand, other] * UNIT))
                    pair_units[block, pair_column[agent, rival]] += pair_weight[agent, rival] * difference


class Tally:
    """What is counted of a tournament, and the estimates that follow from it.

    The unit of every interval is the block: one deck order, with all its seatings in all groups that an agent
        (or
    both agents of a pair) sits in.

    Args:
        groups: the groups, each the agent numbers of its seats in ascending order; every group plays every
            block.
        num_agents: how many agents there are.
        seatings: hands of a block in each group.

    Attributes:
        pairs: the pairs of different agents that meet.
    """

    def __init__(self, groups: Sequence[tuple[int, ...]], num_agents: int, seatings: int) -> None:
        self._players = len(groups[0])
        self._num_agents = num_agents
        self._seatings = seatings
        meetings = [sorted(set(group)) for group in groups]
        self.pairs = sorted({pair for members in meetings for pair in itertools.combinations(members, 2)})
        self._pair_number = {pair: number for number, pair in enumerate(self.pairs)}
        self._pair_groups = [0] * len(self.pairs)
        # What the seats of both agents, multiplied, divide: one for groups of different agents.
        self._pair_scale = [1] * len(self.pairs)
        self._seats = [0] * num_agents
        for group, members in zip(groups, meetings, strict=True):
            for agent in members:
                self._seats[agent] += group.count(agent)
            for a, b in itertools.combinations(members, 2):
                number = self._pair_number[a, b]
                self._pair_groups[number] += 1
                both = group.count(a) * group.count(b)
                self._pair_scale[number] = math.lcm(self._pair_scale[number], both)
        self._by_agent = Moments(num_agents)
        self._by_seat = Moments(num_agents * self._players)
        self._by_pair = Moments(len(self.pairs))
        shape = (num_agents, len(ENDINGS), 3)
        self._ending_counts = np.zeros(shape, np.int64)
        self._ending_units = np.zeros(shape, np.int64)
        self._decisions = np.zeros(num_agents, np.int64)
        self._pair_column = np.zeros((num_agents, num_agents), np.int64)
        self._pair_weight = np.zeros((num_agents, num_agents), np.int64)
        self._open(0)

    def _open(self, blocks: int) -> None:
        self._seat_units = np.zeros((blocks, self._num_agents, self._players), np.int64)
        self._pair_units = np.zeros((blocks, len(self.pairs)), np.int64)

    def open_batch(self, blocks: int) -> None:
        """Begins a batch of blocks: `add` is called for each group, then `close_batch`."""
        self._open(blocks)

    def close_batch(self) -> None:
        """Takes a batch in once all groups have played it."""
        blocks = len(self._seat_units)
        self._by_agent.add(self._seat_units.sum(2))
        self._by_seat.add(self._seat_units.reshape(blocks, -1))
        self._by_pair.add(self._pair_units)
        self._open(0)

    def add(
        self,
        group: tuple[int, ...],
        seating: npt.NDArray[np.int64],
        payments: npt.NDArray[np.float64],
        tables: npt.NDArray[Any],
    ) -> None:
        """Counts one group's hands of the batch.

        Args:
            group: the group.
            seating: `[hands, players]` int64, agent numbers; the hands of a block are side by side.
            payments: `[hands, MAX_SEATS]` float64, in stakes.
            tables: `[hands]` STATE_DTYPE, ended.
        """
        for a, b in itertools.combinations(sorted(set(group)), 2):
            number = self._pair_number[a, b]
            self._pair_column[a, b] = number
            self._pair_weight[a, b] = self._pair_scale[number] // (group.count(a) * group.count(b))
        _count_hands(
            seating,
            payments,
            tables,
            self._seatings,
            self._pair_column,
            self._pair_weight,
            self._seat_units,
            self._pair_units,
            self._ending_counts,
            self._ending_units,
            self._decisions,
        )

    @property
    def blocks(self) -> int:
        """Blocks counted."""
        return self._by_agent.count

    def hands(self, agent: int) -> int:
        """Returns the hands of an agent; one in which it holds two seats counts twice."""
        return self.blocks * self._seats[agent] * self._seatings

    def stakes(self, agent: int) -> float:
        """Returns all that an agent was paid, in stakes."""
        return self._by_agent.total(agent) / UNIT

    def per_hand(self, agent: int) -> Estimate:
        """Estimates an agent's stakes per hand, over all its groups."""
        return self._by_agent.estimate(agent, self._seats[agent] * self._seatings * UNIT)

    def per_hand_in_seat(self, agent: int, seat: int) -> Estimate:
        """Estimates an agent's stakes per hand in one seat."""
        hands = self._seats[agent] * self._seatings // self._players
        return self._by_seat.estimate(agent * self._players + seat, hands * UNIT)

    def pair_hands(self, pair: int) -> int:
        """Returns the hands that both agents of a pair sit in."""
        return self.blocks * self._pair_groups[pair] * self._seatings

    def pair_per_hand(self, pair: int) -> Estimate:
        """Estimates half the difference in payment, a's less b's, of a hand that both sit in.

        With two seats this is what a wins of b. Where either holds several seats, its mean payment counts.
        """
        hands = self._pair_groups[pair] * self._seatings
        return self._by_pair.estimate(pair, 2 * hands * self._pair_scale[pair] * UNIT)

    def decisions_per_hand(self, agent: int) -> float:
        """Returns the mean decisions, of all seats together, in an agent's hands."""
        return int(self._decisions[agent]) / self.hands(agent)

    def endings(self, agent: int) -> dict[str, dict[str, tuple[int, float]]]:
        """Returns how an agent's hands ended.

        Returns:
            By ending, then by who brought it about (`own`, `others` or `nobody`): hands, and mean stakes of
            the agent in them. What never happened is left out.
        """
        found: dict[str, dict[str, tuple[int, float]]] = {}
        for code, ending in enumerate(ENDINGS):
            for who, label in ((OWN, "own"), (OTHERS, "others"), (NOBODY, "nobody")):
                hands = int(self._ending_counts[agent, code, who])
                if hands:
                    units = int(self._ending_units[agent, code, who])
                    found.setdefault(ending, {})[label] = (hands, units / (hands * UNIT))
        return found
