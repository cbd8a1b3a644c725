"""CFR that visits the whole game in every iteration: one kernel, and a table of discounts.

Every iteration updates the seats in turn. Each seat's regrets are then discounted: positive ones by
t^a / (t^a + 1), negative ones by t^b / (t^b + 1), and the t-th policy enters the average with weight t^c.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tonk_env._jit import jit
from train.cfr.flat import FlatGame, Floats
from train.cfr.sequences import Sequences, end_values, plan_of


class Discounts(NamedTuple):
    """How the past is weighted.

    Attributes:
        positive: a, of positive regrets; infinity keeps them as they are.
        negative: b, of negative ones; minus infinity forgets them.
        average: c, of policies in the average.
    """

    positive: float
    negative: float
    average: float


METHODS: Mapping[str, Discounts] = {
    "cfr": Discounts(math.inf, math.inf, 0.0),  # Zinkevich et al. 2007
    "cfr+": Discounts(math.inf, -math.inf, 1.0),  # Tammelin 2014
    "lcfr": Discounts(1.0, 1.0, 1.0),  # Brown and Sandholm 2019
    "dcfr": Discounts(1.5, 0.0, 2.0),  # of the same paper
}
"""The members of the family that have names."""


def discount(iteration: int, power: float) -> float:
    """Returns t^p / (t^p + 1), and its limits where p is infinite."""
    if math.isinf(power):
        return float(power > 0)
    return float(iteration**power / (iteration**power + 1))


@jit
def match_regrets(regrets: Any, first: int, num_actions: int, policy: Any, start: int) -> None:
    """Makes a policy proportional to the positive regrets; uniform where none is.

    Args:
        regrets: float64; those from `first` on are read.
        first: where they begin.
        num_actions: how many there are.
        policy: float64; overwritten from `start` on.
        start: where to begin.
    """
    total = 0.0
    for at in range(first, first + num_actions):
        total += max(regrets[at], 0.0)
    for at in range(num_actions):
        policy[start + at] = max(regrets[first + at], 0.0) / total if total > 0 else 1.0 / num_actions


@jit
def update_seat(
    sets: Any,
    parents: Any,
    ends: Any,
    worth: Any,
    seat: int,
    keep_positive: float,
    keep_negative: float,
    weight: float,
    policy: Any,
    plan: Any,
    values: Any,
    regrets: Any,
    average: Any,
) -> None:
    """Lets a seat learn from one pass over the game.

    Args:
        sets, parents, ends, worth: of the game in sequence form.
        seat: which.
        keep_positive, keep_negative: what regrets are multiplied by afterwards.
        weight: of the seat's present policy in the average.
        policy: `[P]` float64; the seat's places are overwritten with the next policy.
        plan: `[P + seats]` float64, of the policy; kept up with it.
        values: `[P + seats]` float64, scratch space.
        regrets: `[P]` float64; the seat's places are changed.
        average: `[P]` float64, sums of plans; the seat's places are increased.
    """
    end_values(ends, worth, seat, plan, values)
    for index in range(sets.shape[0] - 1, -1, -1):
        if sets[index]["seat"] == seat:
            first, num_actions = int(sets[index]["first"]), int(sets[index]["num_actions"])
            value = 0.0
            for at in range(first, first + num_actions):
                value += policy[at] * values[at]
            values[parents[index]] += value
            for at in range(first, first + num_actions):
                average[at] += weight * plan[at]
                regret = regrets[at] + values[at] - value
                regrets[at] = regret * (keep_positive if regret > 0 else keep_negative)
            match_regrets(regrets, first, num_actions, policy, first)
    for index in range(sets.shape[0]):
        if sets[index]["seat"] == seat:
            first = int(sets[index]["first"])
            before = plan[parents[index]]
            for at in range(first, first + int(sets[index]["num_actions"])):
                plan[at] = before * policy[at]


@jit
def normalise(sets: Any, sums: Any, policy: Any) -> None:
    """Makes the policy of every information set proportional to sums; uniform where they are all zero."""
    for index in range(sets.shape[0]):
        first = int(sets[index]["first"])
        match_regrets(sums, first, int(sets[index]["num_actions"]), policy, first)


class Cfr:
    """CFR of one kind on one game.

    Args:
        game: the game, in sequence form or flat.
        discounts: see `METHODS`.

    Attributes:
        iterations: how many were made.
        policy: `[P]` float64, the present policy.
        regrets: `[P]` float64.
        sums: `[P]` float64, the weighted sums of plans that the average is made of.
    """

    def __init__(self, game: FlatGame | Sequences, discounts: Discounts) -> None:
        self.sequences = game if isinstance(game, Sequences) else Sequences(game)
        self.game, self.discounts = self.sequences.game, discounts
        self.iterations = 0
        self.policy = self.game.uniform_policy()
        self.regrets, self.sums = np.zeros(len(self.policy)), np.zeros(len(self.policy))
        self._plan = self.sequences.plan(self.policy)
        self._values = np.zeros(len(self._plan))

    def step(self) -> None:
        """Makes an iteration."""
        self.iterations += 1
        t, form = self.iterations, self.sequences
        keep_positive, keep_negative = (discount(t, power) for power in self.discounts[:2])
        for seat in range(self.game.num_players):
            update_seat(
                self.game.sets, form.parents, form.ends, form.worth, seat, keep_positive, keep_negative,
                float(t) ** self.discounts.average, self.policy, self._plan, self._values, self.regrets,
                self.sums,
            )  # fmt: skip

    def average_policy(self) -> Floats:
        """Returns the average policy, `[P]`: what converges to equilibrium."""
        policy = np.zeros(len(self.sums))
        normalise(self.game.sets, self.sums, policy)
        return policy

    @property
    def visited(self) -> int:
        """Ends of the game that the iterations went over, which is all they visit."""
        return self.iterations * self.sequences.ends.size

    def state(self) -> dict[str, Any]:
        """Returns all that the next iterations depend on."""
        return {
            "iterations": self.iterations,
            "policy": self.policy.copy(),
            "regrets": self.regrets.copy(),
            "sums": self.sums.copy(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Goes back to a state."""
        self.iterations = state["iterations"]
        self.policy[:], self.regrets[:], self.sums[:] = state["policy"], state["regrets"], state["sums"]
        plan_of(self.game.sets, self.sequences.parents, self.policy, self._plan)
