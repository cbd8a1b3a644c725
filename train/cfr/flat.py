"""A small game as flat arrays, for compiled solvers.

Nodes are numbered so that a parent comes before its children, and siblings are neighbours. The actions of all
information sets lie one after the other: the place of an action in that row is its place in every policy,
regret or value that a solver keeps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

CHANCE, TERMINAL = -1, -2
"""Who is to move where no seat is."""

NODE_DTYPE = np.dtype(
    [
        ("chance", np.float64),  # probability of coming here from the parent, where chance moves; else 1
        ("first_child", np.int32),
        ("num_children", np.int32),
        ("index", np.int32),  # of a decision: its information set; of an end: its row of payoffs
        ("label", np.int16),  # the action or card that leads here from the parent
        ("seat", np.int8),  # who is to move, CHANCE or TERMINAL
    ],
    align=True,
)

SET_DTYPE = np.dtype(
    [
        ("key", np.int64),  # by which the information set is known outside
        ("first", np.int64),  # place of its first action
        ("node", np.int64),  # the first of its nodes
        ("num_actions", np.int64),
        ("seat", np.int64),
    ]
)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class FlatGame:
    """A game of perfect recall.

    Attributes:
        num_players: seats.
        nodes: `[N]` NODE_DTYPE; node 0 is the root.
        sets: `[I]` SET_DTYPE, the information sets, in the order in which their first nodes come.
        payoffs: `[T, num_players]` float64, of the ends.
    """

    num_players: int
    nodes: npt.NDArray[np.void]
    sets: npt.NDArray[np.void]
    payoffs: Floats

    @property
    def num_places(self) -> int:
        """Actions of all information sets together: the length of a policy."""
        return int(self.sets["num_actions"].sum())

    def uniform_policy(self) -> Floats:
        """Returns the policy that chooses among all actions alike, `[num_places]`."""
        return np.repeat(1 / self.sets["num_actions"].astype(np.float64), self.sets["num_actions"])


def flatten(root: Any) -> FlatGame:
    """Flattens any game that is given as a state object.

    Args:
        root: its first state, with the methods of OpenSpiel's states: `is_terminal`, `is_chance_node`,
            `chance_outcomes`, `current_player`, `legal_actions`, `child`, `information_state_string` and
            `returns`.
    """
    nodes: list[list[Any]] = [[1.0, 0, 0, 0, 0, TERMINAL]]
    sets: list[tuple[int, int, int, int, int]] = []
    numbers: dict[tuple[int, str], int] = {}
    payoffs: list[list[float]] = []
    places = 0
    waiting = [(0, root)]
    while waiting:
        number, state = waiting.pop()
        if state.is_terminal():
            nodes[number][3] = len(payoffs)
            payoffs.append(list(state.returns()))
            continue
        seat, index = CHANCE, 0
        if state.is_chance_node():
            edges = list(state.chance_outcomes())
        else:
            seat = state.current_player()
            edges = [(action, 1.0) for action in state.legal_actions()]
            key = (seat, state.information_state_string(seat))
            index = numbers.setdefault(key, len(sets))
            if index == len(sets):
                sets.append((index, places, number, len(edges), seat))
                places += len(edges)
        first = len(nodes)
        nodes[number][1:4] = first, len(edges), index
        nodes[number][5] = seat
        nodes += [[chance, 0, 0, 0, label, TERMINAL] for label, chance in edges]
        # The last is taken first: children are visited in their order.
        waiting += [(first + at, state.child(edges[at][0])) for at in reversed(range(len(edges)))]
    return FlatGame(
        len(payoffs[0]),
        np.array([tuple(node) for node in nodes], NODE_DTYPE),
        np.array(sets, SET_DTYPE),
        np.array(payoffs, np.float64),
    )
