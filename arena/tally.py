"""What is counted of a tournament, in whole numbers, and the estimates that follow from it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.statistics import UNIT, Estimate, Moments
from tonk_env._jit import jit
from tonk_env.engine.state import ENDINGS, FORFEITED

NOBODY, OWN, OTHERS = range(3)
"""Who brought a hand's ending about, from a seat's point of view."""

_MOMENTS = ("agents", "seats", "pairs", "effects")


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
            how much each seat of a against each seat of b weighs.
        seat_units: `[blocks, agents, players]` int64, of payments; added to, like all that follow. Seats are
            counted from the dealer's left: who is in the first one moves first.
        pair_units: `[blocks, pairs]` int64, of a's payments less b's.
        ending_counts: `[agents, endings, 3]` int64, hands.
        ending_units: the same shape, of payments.
        decisions: `[agents]` int64.
    """
    players = seating.shape[1]
    for hand in range(seating.shape[0]):
        block = hand // hands_of_block
        ending, by = int(tables[hand]["ending"]), int(tables[hand]["ending_seat"])
        first = (int(tables[hand]["dealer"]) + 1) % players
        for seat in range(players):
            agent = seating[hand, seat]
            units = int(np.rint(payments[hand, seat] * UNIT))
            who = NOBODY if by < 0 else OWN if by == seat else OTHERS
            turn = seat - first if seat >= first else seat - first + players
            seat_units[block, agent, turn] += units
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
    (or both agents of a pair) sits in.

    Groups are counted in parts: those that the same agents of `may_leave` sit in are one part. Where such an
    agent is withdrawn, the blocks it did not finish are left out of its parts alone, and everybody else is
    measured by the parts that were played throughout.

    Args:
        groups: the groups, each the agent numbers of its seats in ascending order; every group plays every
            block.
        num_agents: how many agents there are.
        seatings: hands of a block in each group; of a match, matches.
        match_hands: hands of a match.
        may_leave: agents that may be withdrawn.

    Attributes:
        pairs: the pairs of different agents that meet.
    """

    def __init__(
        self,
        groups: Sequence[tuple[int, ...]],
        num_agents: int,
        seatings: int,
        match_hands: int = 1,
        may_leave: Collection[int] = (),
    ) -> None:
        self._players = len(groups[0])
        self._num_agents = num_agents
        self._seatings = seatings
        self._hands = seatings * match_hands
        leaving = [tuple(sorted(set(group) & set(may_leave))) for group in groups]
        self._parts = sorted(set(leaving))
        self._part = {group: self._parts.index(each) for group, each in zip(groups, leaving, strict=True)}
        self._blocks = [0] * len(self._parts)
        self._count_seats(groups)
        self._make_columns()
        parts = len(self._parts)
        shape = (parts, num_agents, len(ENDINGS), 3)
        self._ending_counts = np.zeros(shape, np.int64)
        self._ending_units = np.zeros(shape, np.int64)
        self._decisions = np.zeros((parts, num_agents), np.int64)
        self._pair_column = np.zeros((num_agents, num_agents), np.int64)
        self._pair_weight = np.zeros((num_agents, num_agents), np.int64)
        self._open(0)

    def _count_seats(self, groups: Sequence[tuple[int, ...]]) -> None:
        """Counts, by part: the seats of each agent, the groups of each pair, the seats of a where b sits."""
        parts, agents = len(self._parts), self._num_agents
        self._seats = np.zeros((parts, agents), np.int64)
        self._seats_beside = np.zeros((parts, agents, agents), np.int64)
        self._num_groups = [list(self._part.values()).count(part) for part in range(parts)]
        meetings = [sorted(set(group)) for group in groups]
        self.pairs = sorted({pair for members in meetings for pair in itertools.combinations(members, 2)})
        self._pair_number = {pair: number for number, pair in enumerate(self.pairs)}
        self._pair_groups = np.zeros((parts, len(self.pairs)), np.int64)
        # What the seats of both agents, multiplied, divide: one for groups of different agents.
        self._pair_scale = [1] * len(self.pairs)
        for group, members in zip(groups, meetings, strict=True):
            part = self._part[group]
            for a in members:
                self._seats[part, a] += group.count(a)
                for b in members:
                    self._seats_beside[part, a, b] += group.count(a)
            for a, b in itertools.combinations(members, 2):
                number = self._pair_number[a, b]
                self._pair_groups[part, number] += 1
                both = group.count(a) * group.count(b)
                self._pair_scale[number] = math.lcm(self._pair_scale[number], both)

    def _make_columns(self) -> None:
        """Lays out the columns: for each agent, seat, pair and effect the parts in which it occurs."""
        agents, players = range(self._num_agents), range(self._players)
        self._agent_parts = [np.flatnonzero(self._seats[:, a]).tolist() for a in agents]
        self._pair_parts = [
            np.flatnonzero(self._pair_groups[:, number]).tolist() for number in range(len(self.pairs))
        ]
        # With two seats nobody else sits at the table.
        effects = itertools.permutations(agents, 2) if self._players > 2 else ()
        beside = self._seats_beside
        self._effect_parts = {
            (a, b): (
                np.flatnonzero(beside[:, a, b]).tolist(),
                np.flatnonzero(self._seats[:, a] > beside[:, a, b]).tolist(),
            )
            for a, b in effects
        }
        self._effects = {
            pair: number
            for number, pair in enumerate(pair for pair, each in self._effect_parts.items() if all(each))
        }
        self._columns = {
            "agents": self._agent_parts,
            "seats": [self._agent_parts[a] for a in agents for _ in players],
            "pairs": self._pair_parts,
            "effects": [
                [part for parts in self._effect_parts[pair] for part in parts] for pair in self._effects
            ],
        }
        self._moments = {name: Moments([len(each) for each in self._columns[name]]) for name in _MOMENTS}

    def _open(self, blocks: int) -> None:
        parts, agents = len(self._parts), self._num_agents
        self._batch = blocks
        self._seat_units = np.zeros((parts, blocks, agents, self._players), np.int64)
        self._pair_units = np.zeros((parts, blocks, len(self.pairs)), np.int64)
        beside = (parts, blocks, agents, agents) if self._effects else (0,)
        self._beside_units = np.zeros(beside, np.int64)

    def open_batch(self, blocks: int) -> None:
        """Begins a batch of blocks, 2**14 at most: `add` is called for each group, then `close_batch`."""
        self._open(blocks)

    def close_batch(self) -> None:
        """Takes a batch in once all groups have played it."""
        units = self._seat_units.sum(3)
        agents, players = range(self._num_agents), range(self._players)
        values = {
            "agents": [units[part, :, a] for a in agents for part in self._agent_parts[a]],
            "seats": [
                self._seat_units[part, :, a, seat]
                for a in agents
                for seat in players
                for part in self._agent_parts[a]
            ],
            "pairs": [
                self._pair_units[part, :, number]
                for number, parts in enumerate(self._pair_parts)
                for part in parts
            ],
            "effects": [],
        }
        for a, b in self._effects:
            with_b, without = self._effect_parts[a, b]
            values["effects"] += [self._beside_units[part, :, a, b] for part in with_b]
            values["effects"] += [units[part, :, a] - self._beside_units[part, :, a, b] for part in without]
        for name, columns in values.items():
            if columns:
                self._moments[name].add(np.stack(columns, 1))
        self._blocks = [blocks + self._batch for blocks in self._blocks]
        self._open(0)

    def add(
        self,
        group: tuple[int, ...],
        seating: npt.NDArray[np.int64],
        payments: npt.NDArray[np.float64],
        tables: npt.NDArray[Any],
    ) -> None:
        """Counts hands of one group in the batch; of matches, one hand of each at a time.

        Args:
            group: the group.
            seating: `[hands, players]` int64, agent numbers; the hands of a block are side by side.
            payments: `[hands, MAX_SEATS]` float64, in stakes.
            tables: `[hands]` STATE_DTYPE, ended.
        """
        members, part = sorted(set(group)), self._part[group]
        for a, b in itertools.combinations(members, 2):
            number = self._pair_number[a, b]
            self._pair_column[a, b] = number
            self._pair_weight[a, b] = self._pair_scale[number] // (group.count(a) * group.count(b))
        before = self._seat_units[part].sum(2) if self._effects else None
        _count_hands(
            seating,
            payments,
            tables,
            self._seatings,
            self._pair_column,
            self._pair_weight,
            self._seat_units[part],
            self._pair_units[part],
            self._ending_counts[part],
            self._ending_units[part],
            self._decisions[part],
        )
        if before is not None:
            now = self._seat_units[part].sum(2) - before
            for a, b in itertools.permutations(members, 2):
                self._beside_units[part, :, a, b] += now[:, a]

    def export(self) -> dict[str, Any]:
        """Returns what was counted as plain data that `merge` takes: whole numbers alone."""
        return {
            "blocks": self._blocks[0],
            **{name: self._moments[name].export() for name in _MOMENTS},
            "ending_counts": self._ending_counts.ravel().tolist(),
            "ending_units": self._ending_units.ravel().tolist(),
            "decisions": self._decisions.ravel().tolist(),
        }

    def fits(self, exported: Any) -> bool:
        """Tells whether data has the shape that `export` gives here."""
        flat = {
            "ending_counts": self._ending_counts.size,
            "ending_units": self._ending_units.size,
            "decisions": self._decisions.size,
        }
        return (
            isinstance(exported, dict)
            and type(exported.get("blocks")) is int
            and all(self._moments[name].fits(exported.get(name)) for name in _MOMENTS)
            and all(
                isinstance(exported.get(name), list)
                and len(exported[name]) == size
                and all(type(number) is int for number in exported[name])
                for name, size in flat.items()
            )
        )

    def merge(self, exported: dict[str, Any], left: Collection[int] = ()) -> None:
        """Adds what another tally of the same groups has counted.

        Args:
            exported: by its `export`.
            left: agents that are withdrawn: all hands in which one of them sits are left out.
        """
        is_open = [not set(part) & set(left) for part in self._parts]
        for part, counts in enumerate(is_open):
            self._blocks[part] += exported["blocks"] * counts
        for name in _MOMENTS:
            keep = [is_open[part] for parts in self._columns[name] for part in parts]
            self._moments[name].merge(exported[name], keep)
        for name, mine in (
            ("ending_counts", self._ending_counts),
            ("ending_units", self._ending_units),
            ("decisions", self._decisions),
        ):
            theirs = np.array(exported[name], np.int64).reshape(mine.shape)
            mine[is_open] += theirs[is_open]

    def forfeits(self, agent: int) -> int:
        """Returns the hands that an agent has forfeited."""
        return int(self._ending_counts[:, agent, FORFEITED, OWN].sum())

    @property
    def blocks(self) -> int:
        """Blocks counted: in the part that has most."""
        return max(self._blocks)

    @property
    def all_hands(self) -> int:
        """Hands counted, of all groups together."""
        each = zip(self._blocks, self._num_groups, strict=True)
        return sum(blocks * groups for blocks, groups in each) * self._hands

    def can_go_on(self, left: Collection[int]) -> bool:
        """Tells whether any group has none of these agents in it."""
        return any(not set(part) & set(left) for part in self._parts)

    def agent_blocks(self, agent: int) -> int:
        """Returns the blocks that an agent is measured by."""
        return self._most(self._agent_parts[agent])

    def pair_blocks(self, pair: int) -> int:
        """Returns the blocks that a pair is measured by."""
        return self._most(self._pair_parts[pair])

    def _most(self, parts: Sequence[int]) -> int:
        return max(self._blocks[part] for part in parts)

    def _weights(self, parts: Sequence[int]) -> list[int]:
        """1 for each part that counts, the ones played longest, and 0 for those an agent has left since."""
        most = self._most(parts)
        return [int(self._blocks[part] == most) for part in parts]

    def _counting(self, parts: Sequence[int]) -> list[int]:
        return [part for part, weight in zip(parts, self._weights(parts), strict=True) if weight]

    def _hands_of_block(self, agent: int) -> int:
        """The hands of an agent in every block it is measured by."""
        return int(self._seats[self._counting(self._agent_parts[agent]), agent].sum()) * self._hands

    def hands(self, agent: int) -> int:
        """Returns the hands of an agent; one in which it holds two seats counts twice."""
        return self.agent_blocks(agent) * self._hands_of_block(agent)

    def stakes(self, agent: int) -> float:
        """Returns all that an agent was paid, in stakes."""
        return self._moments["agents"].total(agent, self._weights(self._agent_parts[agent])) / UNIT

    def per_hand(self, agent: int) -> Estimate:
        """Estimates an agent's stakes per hand, over all its groups."""
        weights = self._weights(self._agent_parts[agent])
        scale = self._hands_of_block(agent) * UNIT
        return self._moments["agents"].estimate(agent, weights, scale, self.agent_blocks(agent))

    def per_hand_in_seat(self, agent: int, seat: int) -> Estimate:
        """Estimates an agent's stakes per hand in one seat, counted from the dealer's left."""
        weights = self._weights(self._agent_parts[agent])
        scale = self._hands_of_block(agent) // self._players * UNIT
        family = agent * self._players + seat
        return self._moments["seats"].estimate(family, weights, scale, self.agent_blocks(agent))

    def _pair_hands(self, pair: int) -> int:
        return int(self._pair_groups[self._counting(self._pair_parts[pair]), pair].sum()) * self._hands

    def pair_hands(self, pair: int) -> int:
        """Returns the hands that both agents of a pair sit in."""
        return self.pair_blocks(pair) * self._pair_hands(pair)

    def pair_per_hand(self, pair: int) -> Estimate:
        """Estimates half the difference in payment, a's less b's, of a hand that both sit in.

        With two seats this is what a wins of b. Where either holds several seats, its mean payment counts.
        """
        weights = self._weights(self._pair_parts[pair])
        scale = 2 * self._pair_hands(pair) * self._pair_scale[pair] * UNIT
        return self._moments["pairs"].estimate(pair, weights, scale, self.pair_blocks(pair))

    def effects(self) -> list[tuple[int, int, Estimate]]:
        """Estimates how much more an agent is paid per hand where another sits at its table than elsewhere.

        Returns:
            (agent, the other, estimate), for tables of three seats and more; agents that always meet, or
            never, have none.
        """
        found = []
        for (a, b), family in self._effects.items():
            with_b, without = self._effect_parts[a, b]
            parts = [*with_b, *without]
            weights = self._weights(parts)
            with_weights, without_weights = weights[: len(with_b)], weights[len(with_b) :]
            # A block's difference of two means, brought to one denominator.
            n_with = sum(
                weight * int(self._seats_beside[part, a, b])
                for part, weight in zip(with_b, with_weights, strict=True)
            )
            n_without = sum(
                weight * int(self._seats[part, a] - self._seats_beside[part, a, b])
                for part, weight in zip(without, without_weights, strict=True)
            )
            if n_with and n_without and self._most(parts):
                signed = [n_without * weight for weight in with_weights]
                signed += [-n_with * weight for weight in without_weights]
                scale = n_with * n_without * self._hands * UNIT
                estimate = self._moments["effects"].estimate(family, signed, scale, self._most(parts))
                found.append((a, b, estimate))
        return found

    def decisions_per_hand(self, agent: int) -> float:
        """Returns the mean decisions, of all seats together, in an agent's hands; NaN where it has none."""
        parts = self._counting(self._agent_parts[agent])
        hands = self.hands(agent)
        return int(self._decisions[parts, agent].sum()) / hands if hands else math.nan

    def endings(self, agent: int) -> dict[str, dict[str, tuple[int, float]]]:
        """Returns how an agent's hands ended.

        Returns:
            By ending, then by who brought it about (`own`, `others` or `nobody`): hands, and mean stakes of
            the agent in them. What never happened is left out.
        """
        parts = self._counting(self._agent_parts[agent])
        counts = self._ending_counts[parts, agent].sum(0)
        paid = self._ending_units[parts, agent].sum(0)
        found: dict[str, dict[str, tuple[int, float]]] = {}
        for code, ending in enumerate(ENDINGS):
            for who, label in ((OWN, "own"), (OTHERS, "others"), (NOBODY, "nobody")):
                hands = int(counts[code, who])
                if hands:
                    found.setdefault(ending, {})[label] = (hands, int(paid[code, who]) / (hands * UNIT))
        return found
