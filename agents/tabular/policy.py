"""What tables of every kind share: moves are drawn from the probabilities that the table gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Views
from tonk_env._jit import jit

_UNIT = 1.0 / 2**63


@jit
def draw_actions(
    probabilities: Any, legal: Any, num_legal: Any, keys: Any, is_greedy: bool, actions: Any
) -> None:
    """Draws a legal action for each row of probabilities, or takes the likeliest.

    Args:
        probabilities: `[N, max_legal]` float64, see `agents.base.Mixed`.
        legal: `[N, max_legal]` int16.
        num_legal: `[N]` int64.
        keys: `[N]` int64, 63 random bits.
        is_greedy: take the likeliest, the first of equals.
        actions: `[N]` int32; overwritten.
    """
    for j in range(legal.shape[0]):
        chosen, left = -1, keys[j] * _UNIT
        for at in range(num_legal[j]):
            chance = probabilities[j, at]
            if is_greedy:
                if chosen < 0 or chance > probabilities[j, chosen]:
                    chosen = at
            elif chance > 0 and left >= 0:
                # Stays with the last possible one should rounding leave something over.
                chosen = at
                left -= chance
        actions[j] = legal[j, max(chosen, 0)]


class TablePolicy:
    """An agent whose policy is looked up: a kind of table says how, in `_policy`.

    Attributes:
        greedy: take the likeliest action, instead of drawing one.
    """

    greedy: bool

    def _policy(
        self, views: Views, legal: npt.NDArray[np.int16], num_legal: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """Returns the probability of each legal move, `[N, max_legal]`, in an array of its own."""
        raise NotImplementedError

    def act(
        self,
        views: Views,
        legal: npt.NDArray[np.int16],
        num_legal: npt.NDArray[np.int64],
        keys: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int32]:
        """Chooses a move for each view; see `agents.base.Agent`."""
        actions = np.zeros(len(legal), np.int32)
        draw_actions(self._policy(views, legal, num_legal), legal, num_legal, keys, self.greedy, actions)
        return actions

    def probabilities(
        self, views: Views, legal: npt.NDArray[np.int16], num_legal: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """Returns the probability of each legal move; see `agents.base.Mixed`."""
        policy = self._policy(views, legal, num_legal)
        if self.greedy:
            likeliest = policy.argmax(axis=1)
            policy[:] = 0
            policy[np.arange(len(policy)), likeliest] = 1
        return policy

    def end(self, payments: npt.NDArray[np.float64]) -> None:
        """Nothing is learned from results."""
