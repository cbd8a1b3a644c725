"""Chance as a player."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Views
from tonk_env._jit import below, jit
from tonk_env.rules import LoweredRules


@jit
def _choose_any(legal: Any, num_legal: Any, keys: Any, actions: Any) -> None:
    for j in range(legal.shape[0]):
        actions[j] = legal[j, below(keys[j], num_legal[j])]


class RandomAgent:
    """Chooses uniformly among the legal moves.

    A weak yardstick: it drops about every third time it may, so nearly every hand ends within a few turns
    with nothing laid, and to be ahead of it says little.

    Attributes:
        name: `random`.
    """

    name = "random"

    def start(self, rules: LoweredRules, num_players: int, seed: int) -> None:
        """Does nothing: all chance is in the keys."""

    def act(
        self,
        views: Views,
        legal: npt.NDArray[np.int16],
        num_legal: npt.NDArray[np.int64],
        keys: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int32]:
        """Chooses a move for each view."""
        actions = np.empty(len(legal), np.int32)
        _choose_any(legal, num_legal, keys, actions)
        return actions

    def probabilities(
        self, views: Views, legal: npt.NDArray[np.int16], num_legal: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """Returns the probability of each legal move; see `agents.base.Mixed`."""
        return (np.arange(legal.shape[1]) < num_legal[:, None]) / num_legal[:, None]

    def end(self, payments: npt.NDArray[np.float64]) -> None:
        """Does nothing."""
