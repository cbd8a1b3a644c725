"""A game in sequence form: what exact solvers iterate over.

With perfect recall, a seat's part in coming to an end of the game is the product of its probabilities along
its own sequence of actions. So an end is one product of plans, a plan being a seat's probability of its
sequences; values of actions are sums over ends, and nothing between the root and the ends needs to be visited
again (Koller, Megiddo and von Stengel 1996).

A sequence is named by the place of its last action. The empty sequence of seat s has place P + s, where P is
the number of places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tonk_env._jit import jit
from tonk_env.errors import TonkError
from train.cfr.flat import CHANCE, TERMINAL, FlatGame, Floats

_UNSEEN = -1


@jit
def _trace(
    nodes: Any, sets: Any, payoffs: Any, last: Any, reach: Any, parents: Any, ends: Any, worth: Any
) -> int:
    """Follows every sequence from the root to the ends.

    Args:
        nodes, sets, payoffs: of the game.
        last: `[N, seats]` int32; the root's row is given, the others are overwritten.
        reach: `[N]` float64, of chance; the root's is given.
        parents: `[I]` int32, all `_UNSEEN`; overwritten.
        ends: `[T, seats]` int32; overwritten.
        worth: `[T, seats]` float64; overwritten.

    Returns:
        An information set whose seat came to it in two ways, or -1.
    """
    seats = last.shape[1]
    for node in range(nodes.shape[0]):
        seat, index = int(nodes[node]["seat"]), int(nodes[node]["index"])
        if seat == TERMINAL:
            for other in range(seats):
                ends[index, other] = last[node, other]
                worth[index, other] = reach[node] * payoffs[index, other]
            continue
        if seat != CHANCE:
            if parents[index] == _UNSEEN:
                parents[index] = last[node, seat]
            elif parents[index] != last[node, seat]:
                return index
        for at in range(int(nodes[node]["num_children"])):
            child = int(nodes[node]["first_child"]) + at
            reach[child] = reach[node] * nodes[child]["chance"]
            for other in range(seats):
                last[child, other] = last[node, other]
            if seat != CHANCE:
                last[child, seat] = int(sets[index]["first"]) + at
    return -1


@jit
def plan_of(sets: Any, parents: Any, policy: Any, plan: Any) -> None:
    """Writes the plan of every seat: the probabilities that it gives its sequences.

    Args:
        sets: `[I]` SET_DTYPE.
        parents: `[I]` int32.
        policy: `[P]` float64.
        plan: `[P + seats]` float64; overwritten.
    """
    for at in range(policy.shape[0], plan.shape[0]):
        plan[at] = 1.0
    for index in range(sets.shape[0]):
        before = plan[parents[index]]
        first = int(sets[index]["first"])
        for at in range(first, first + int(sets[index]["num_actions"])):
            plan[at] = before * policy[at]


@jit
def end_values(ends: Any, worth: Any, seat: int, plan: Any, values: Any) -> None:
    """Adds up, for each sequence of a seat, what the ends right after it pay the seat.

    Args:
        ends: `[T, seats]` int32.
        worth: `[T, seats]` float64.
        seat: whose.
        plan: `[P + seats]` float64, of which the other seats' part is read.
        values: `[P + seats]` float64; overwritten.
    """
    seats = ends.shape[1]
    for at in range(values.shape[0]):
        values[at] = 0.0
    for end in range(ends.shape[0]):
        value = worth[end, seat]
        for other in range(seats):
            if other != seat:
                value *= plan[ends[end, other]]
        values[ends[end, seat]] += value


@jit
def value_of(
    sets: Any, parents: Any, ends: Any, worth: Any, seat: int, policy: Any, plan: Any, values: Any
) -> float:
    """Returns what a seat wins on average by a policy, against the others' plans.

    Args: as of `plan_of` and `end_values`; `values` is scratch space.
    """
    end_values(ends, worth, seat, plan, values)
    for index in range(sets.shape[0] - 1, -1, -1):
        if sets[index]["seat"] == seat:
            first = int(sets[index]["first"])
            value = 0.0
            for at in range(first, first + int(sets[index]["num_actions"])):
                value += policy[at] * values[at]
            values[parents[index]] += value
    return float(values[policy.shape[0] + seat])


@jit
def best_response(
    sets: Any, parents: Any, ends: Any, worth: Any, seat: int, plan: Any, values: Any, response: Any
) -> float:
    """Returns what a seat's best response to the others' plans wins on average.

    Args:
        sets, parents, ends, worth, seat, plan: as of `end_values`.
        values: `[P + seats]` float64, scratch space.
        response: `[P]` float64; the seat's places are overwritten with a best response that is certain
            everywhere (the first of equal actions).
    """
    end_values(ends, worth, seat, plan, values)
    for index in range(sets.shape[0] - 1, -1, -1):
        if sets[index]["seat"] == seat:
            first = int(sets[index]["first"])
            best = first
            for at in range(first, first + int(sets[index]["num_actions"])):
                response[at] = 0.0
                if values[at] > values[best]:
                    best = at
            response[best] = 1.0
            values[parents[index]] += values[best]
    return float(values[response.shape[0] + seat])


class Sequences:
    """A game in sequence form.

    Args:
        game: the game.

    Attributes:
        game: the game.
        parents: `[I]` int32, the sequence by which its seat comes to each information set.
        ends: `[T, seats]` int32, the sequences by which each end is come to.
        worth: `[T, seats]` float64, payoffs times the probability of the chance on the way.

    Raises:
        TonkError: the game is not of perfect recall.
    """

    def __init__(self, game: FlatGame) -> None:
        self.game = game
        seats, places = game.num_players, game.num_places
        last = np.zeros((len(game.nodes), seats), np.int32)
        last[0] = places + np.arange(seats)
        reach = np.ones(len(game.nodes))
        self.parents = np.full(len(game.sets), _UNSEEN, np.int32)
        self.ends = np.zeros((len(game.payoffs), seats), np.int32)
        self.worth = np.zeros((len(game.payoffs), seats))
        wrong = _trace(game.nodes, game.sets, game.payoffs, last, reach, self.parents, self.ends, self.worth)
        if wrong >= 0:
            raise TonkError(f"information set {wrong}: its seat has forgotten how it came there")
        self._values = np.zeros(places + seats)

    def plan(self, policy: Floats) -> Floats:
        """Returns every seat's plan by a policy `[P]`, as `[P + seats]`."""
        plan = np.zeros(self.game.num_places + self.game.num_players)
        plan_of(self.game.sets, self.parents, policy, plan)
        return plan

    def values(self, policy: Floats) -> Floats:
        """Returns what each seat wins on average, `[seats]`, where all play by a policy `[P]`."""
        plan = self.plan(policy)
        return np.array([
            value_of(self.game.sets, self.parents, self.ends, self.worth, seat, policy, plan, self._values)
            for seat in range(self.game.num_players)
        ])  # fmt: skip

    def best_responses(self, policy: Floats) -> tuple[Floats, Floats]:
        """Returns what each seat's best response to a policy wins, `[seats]`, and the responses `[P]`."""
        plan, response = self.plan(policy), np.zeros(self.game.num_places)
        won = [
            best_response(
                self.game.sets, self.parents, self.ends, self.worth, seat, plan, self._values, response
            )
            for seat in range(self.game.num_players)
        ]
        return np.array(won), response

    def exploitability(self, policy: Floats) -> float:
        """Returns what a best response wins over the policy, averaged over the seats.

        That is NashConv over the number of seats: for two seats of a game that pays to zero, what OpenSpiel
        calls exploitability, and the mean of what the best opponent wins in each seat.
        """
        won, _ = self.best_responses(policy)
        return float(np.mean(won - self.values(policy)))
