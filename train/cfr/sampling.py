"""Monte Carlo CFR on a flat game: iterations that visit a part of it, drawn at random (Lanctot et al. 2009).

External sampling follows every action of the seat that learns, and draws all else. Outcome sampling draws one
way through the game. Randomness is counter-based: an iteration's draws depend on the seed and its number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tonk_env._jit import jit, mix
from train.cfr.exact import match_regrets, normalise
from train.cfr.flat import CHANCE, TERMINAL, FlatGame, Floats

_UNIT = 1.0 / 2**63
SAMPLERS = ("external", "outcome")


@jit
def _pick_child(nodes: Any, node: int, cumulative: Any, drawn: float) -> int:
    """Returns the child that chance moves to, by a number from 0 to 1."""
    low = int(nodes[node]["first_child"])
    high = low + int(nodes[node]["num_children"]) - 1
    while low < high:
        middle = (low + high) >> 1
        if drawn < cumulative[middle]:
            high = middle
        else:
            low = middle + 1
    return low


@jit
def _pick_action(policy: Any, start: int, num_actions: int, drawn: float) -> int:
    """Returns the action that a number from 0 to 1 falls to."""
    for at in range(num_actions - 1):
        drawn -= policy[start + at]
        if drawn < 0:
            return at
    return num_actions - 1


@jit
def walk_external(
    nodes: Any,
    sets: Any,
    payoffs: Any,
    cumulative: Any,
    seat: int,
    key: int,
    weight: float,
    way: Any,
    policies: Any,
    worth: Any,
    regrets: Any,
    sums: Any,
) -> int:
    """Lets a seat learn by external sampling; the next seat's policy goes into the average.

    Args:
        nodes, sets, payoffs: of the game.
        cumulative: `[N]` float64, children's probabilities added up among siblings.
        seat: which.
        key: fixes the chance.
        weight: of this iteration.
        way: `[levels, 2]` int64, scratch space: the seat's decisions on the way, and which action is tried.
        policies, worth: `[levels, most actions]` float64, scratch space: the policies there, and what actions
            won.
        regrets, sums: `[P]` float64; changed.

    Returns:
        How many nodes were visited.
    """
    seats, room = payoffs.shape[1], worth.shape[1]
    row = policies.reshape(policies.size)
    node, depth, visited = 0, 0, 0
    while True:
        visited += 1
        mover, index = int(nodes[node]["seat"]), int(nodes[node]["index"])
        if mover == CHANCE:
            node = _pick_child(nodes, node, cumulative, mix(key, visited) * _UNIT)
            continue
        if mover != TERMINAL:
            first, num_actions = int(sets[index]["first"]), int(sets[index]["num_actions"])
            start = depth * room
            match_regrets(regrets, first, num_actions, row, start)
            chosen = 0
            if mover == seat:
                way[depth, 0] = node
                way[depth, 1] = 0
                depth += 1
            else:
                if mover == (seat + 1) % seats:
                    for at in range(num_actions):
                        sums[first + at] += weight * row[start + at]
                chosen = _pick_action(row, start, num_actions, mix(key, visited) * _UNIT)
            node = int(nodes[node]["first_child"]) + chosen
            continue
        value = float(payoffs[index, seat])
        while depth > 0:
            above = int(way[depth - 1, 0])
            worth[depth - 1, way[depth - 1, 1]] = value
            way[depth - 1, 1] += 1
            if way[depth - 1, 1] < nodes[above]["num_children"]:
                node = int(nodes[above]["first_child"] + way[depth - 1, 1])
                break
            depth -= 1
            index = int(nodes[above]["index"])
            first = int(sets[index]["first"])
            value = 0.0
            for at in range(int(nodes[above]["num_children"])):
                value += policies[depth, at] * worth[depth, at]
            for at in range(int(nodes[above]["num_children"])):
                regrets[first + at] += weight * (worth[depth, at] - value)
        if depth == 0:
            return visited


@jit
def walk_outcome(
    nodes: Any,
    sets: Any,
    payoffs: Any,
    cumulative: Any,
    seat: int,
    key: int,
    weight: float,
    exploration: float,
    way: Any,
    policies: Any,
    rates: Any,
    regrets: Any,
    sums: Any,
) -> int:
    """Lets a seat learn by outcome sampling: its own moves are drawn partly at random, the others' by policy.

    Args: as of `walk_external`, and
        exploration: the share of the seat's moves that are drawn uniformly.
        rates: `[levels, 3]` float64, scratch space: of the seat's decisions on the way, the probability
            of the draw, and what regrets and the average are divided by.
    """
    room = policies.shape[1]
    row = policies.reshape(policies.size)
    node, depth, visited = 0, 0, 0
    # Probabilities so far: of the seat's own moves by policy and as drawn, and of everything else.
    own, drawn_own, others = 1.0, 1.0, 1.0
    while True:
        visited += 1
        mover, index = int(nodes[node]["seat"]), int(nodes[node]["index"])
        if mover == TERMINAL:
            break
        drawn = mix(key, visited) * _UNIT
        if mover == CHANCE:
            node = _pick_child(nodes, node, cumulative, drawn)
            others *= nodes[node]["chance"]
            continue
        first, num_actions = int(sets[index]["first"]), int(sets[index]["num_actions"])
        start = depth * room
        match_regrets(regrets, first, num_actions, row, start)
        if mover != seat:
            chosen = _pick_action(row, start, num_actions, drawn)
            others *= row[start + chosen]
        else:
            # The number decides whether to explore, and what is left of it where to.
            if drawn < exploration:
                chosen = min(int(drawn / exploration * num_actions), num_actions - 1)
            else:
                chosen = _pick_action(row, start, num_actions, (drawn - exploration) / (1 - exploration))
            way[depth, 0] = node
            way[depth, 1] = chosen
            rate = exploration / num_actions + (1 - exploration) * row[start + chosen]
            rates[depth, 0] = rate
            rates[depth, 1] = 1 / drawn_own
            rates[depth, 2] = own / (drawn_own * others)
            own *= row[start + chosen]
            drawn_own *= rate
            depth += 1
        node = int(nodes[node]["first_child"]) + chosen
    value = float(payoffs[index, seat])
    for at in range(depth - 1, -1, -1):
        index, chosen = int(nodes[way[at, 0]]["index"]), int(way[at, 1])
        first = int(sets[index]["first"])
        won = value / rates[at, 0]
        value = policies[at, chosen] * won
        for action in range(int(sets[index]["num_actions"])):
            gain = won - value if action == chosen else -value
            regrets[first + action] += weight * rates[at, 1] * gain
            sums[first + action] += weight * rates[at, 2] * policies[at, action]
    return visited


@jit
def _iterate(
    nodes: Any,
    sets: Any,
    payoffs: Any,
    cumulative: Any,
    seed: int,
    first: int,
    count: int,
    is_linear: bool,
    is_external: bool,
    exploration: float,
    way: Any,
    policies: Any,
    worth: Any,
    regrets: Any,
    sums: Any,
) -> int:
    """Makes the iterations from number `first` on; returns how many nodes they visited."""
    visited = 0
    for number in range(first, first + count):
        weight = float(number) if is_linear else 1.0
        for seat in range(payoffs.shape[1]):
            key = mix(mix(seed, number), seat)
            if is_external:
                visited += walk_external(
                    nodes, sets, payoffs, cumulative, seat, key, weight, way, policies, worth, regrets, sums
                )
            else:
                visited += walk_outcome(
                    nodes, sets, payoffs, cumulative, seat, key, weight, exploration, way, policies, worth,
                    regrets, sums,
                )  # fmt: skip
    return visited


def _num_levels(game: FlatGame) -> int:
    """The nodes of the longest way through a game."""
    levels, nodes = 0, np.zeros(1, np.int64)
    while len(nodes):
        counts = game.nodes["num_children"][nodes].astype(np.int64)
        starts = game.nodes["first_child"][nodes] - (np.cumsum(counts) - counts)
        nodes = np.repeat(starts, counts) + np.arange(counts.sum())
        levels += 1
    return levels


class SampledCfr:
    """Monte Carlo CFR of one kind on one game.

    Args:
        game: the game.
        sampler: one of `SAMPLERS`.
        seed: 0 or more; equal seeds give equal iterations.
        is_linear: weight the t-th iteration by t, in regrets and average (Brown and Sandholm 2019).
        exploration: of outcome sampling, the share of a seat's own moves that are drawn uniformly.
        batch: iterations in a step.

    Attributes:
        iterations: how many were made.
        visited: nodes they visited.
        regrets, sums: `[P]` float64.
    """

    def __init__(
        self,
        game: FlatGame,
        sampler: str = "external",
        seed: int = 0,
        is_linear: bool = False,
        exploration: float = 0.6,
        batch: int = 1000,
    ) -> None:
        self.game, self.is_external, self.seed = game, sampler == "external", seed
        self.is_linear, self.exploration, self.batch = is_linear, exploration, batch
        self.iterations = self.visited = 0
        self.regrets, self.sums = np.zeros(game.num_places), np.zeros(game.num_places)
        levels, most = _num_levels(game), max(3, int(game.sets["num_actions"].max()))
        self._scratch = np.zeros((levels, 2), np.int64), np.zeros((levels, most)), np.zeros((levels, most))
        self._cumulative = _add_up(game)

    def step(self) -> None:
        """Makes a batch of iterations."""
        self.visited += _iterate(
            self.game.nodes, self.game.sets, self.game.payoffs, self._cumulative, self.seed,
            self.iterations + 1, self.batch, self.is_linear, self.is_external, self.exploration,
            *self._scratch, self.regrets, self.sums,
        )  # fmt: skip
        self.iterations += self.batch

    def average_policy(self) -> Floats:
        """Returns the average policy, `[P]`."""
        policy = np.zeros(len(self.sums))
        normalise(self.game.sets, self.sums, policy)
        return policy

    def state(self) -> dict[str, Any]:
        """Returns all that the next iterations depend on."""
        return {
            "iterations": self.iterations,
            "visited": self.visited,
            "regrets": self.regrets.copy(),
            "sums": self.sums.copy(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Goes back to a state."""
        self.iterations, self.visited = state["iterations"], state["visited"]
        self.regrets[:], self.sums[:] = state["regrets"], state["sums"]


def _add_up(game: FlatGame) -> Floats:
    """Returns children's probabilities added up among siblings, `[N]`, where chance moves."""
    cumulative = np.zeros(len(game.nodes))
    for node in np.flatnonzero(game.nodes["seat"] == CHANCE).tolist():
        first, count = int(game.nodes["first_child"][node]), int(game.nodes["num_children"][node])
        cumulative[first : first + count] = np.cumsum(game.nodes["chance"][first : first + count])
    return cumulative
