"""The solution of a small game at the table: a policy by information set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Views
from agents.tabular.policy import TablePolicy
from agents.tabular.slots import EMPTY, fill_slots, find_slot, make_slots
from agents.tabular.table import Manifest, take_array
from tonk_env._jit import jit
from tonk_env.errors import TonkError
from tonk_env.rules import LoweredRules

KIND = "solution"


@jit
def _look_up(
    views: Any,
    legal: Any,
    num_legal: Any,
    slots: Any,
    keys: Any,
    firsts: Any,
    actions: Any,
    chances: Any,
    probabilities: Any,
) -> int:
    """Writes the policy at each view into `probabilities` `[N, max_legal]`; returns how many are not known.

    There it is uniform.
    """
    unknown = 0
    for j in range(views.shape[0]):
        row = int(slots[find_slot(slots, keys, int(views[j]["log"]))])
        found = row != EMPTY and firsts[row + 1] - firsts[row] == num_legal[j]
        if found:
            for at in range(num_legal[j]):
                found = found and actions[firsts[row] + at] == legal[j, at]
        unknown += not found
        for at in range(num_legal[j]):
            probabilities[j, at] = chances[firsts[row] + at] if found else 1.0 / num_legal[j]
    return unknown


class Solution(TablePolicy):
    """Plays by a policy that a solver found, looked up by the fingerprint of the seat's log.

    A view that the solver never came to is played uniformly, and counted.

    Args:
        manifest: of the table.
        arrays: `keys` `[I]` int64, ascending; `firsts` `[I + 1]` int32, where the actions of each begin;
            `actions` `[P]` int16, ids, and `chances` `[P]` float64, their probabilities.
        path: of the table, for messages.
        greedy: take the likeliest action.

    Attributes:
        name: its spec string.
        unknown: views that were not found.

    Raises:
        TonkError: the arrays do not fit each other.
    """

    def __init__(
        self, manifest: Manifest, arrays: dict[str, npt.NDArray[Any]], path: Path, greedy: bool = False
    ) -> None:
        self.name, self.manifest, self.greedy, self.unknown = str(path), manifest, greedy, 0
        self._keys = take_array(arrays, "keys", np.int64, path)
        self._firsts = take_array(arrays, "firsts", np.int32, path, len(self._keys) + 1)
        self._actions = take_array(arrays, "actions", np.int16, path)
        self._chances = take_array(arrays, "chances", np.float64, path, len(self._actions))
        if not self._fits():
            raise TonkError(f"{path}: damaged: its arrays are no policy")
        self._slots = make_slots(len(self._keys))
        fill_slots(self._slots, self._keys, len(self._keys))

    def _fits(self) -> bool:
        """Tells whether each information set is there once, with probabilities that add up to 1."""
        firsts, chances = self._firsts, self._chances
        if (
            len(self._keys) == 0
            or firsts[0] != 0
            or firsts[-1] != len(chances)
            or np.any(np.diff(firsts) < 1)
        ):
            return False
        is_ascending = bool(self._keys[0] >= 0 and np.all(np.diff(self._keys) > 0))
        sums = np.add.reduceat(chances, firsts[:-1])
        return is_ascending and bool(np.all(chances >= 0) and np.allclose(sums, 1, rtol=0, atol=1e-6))

    @classmethod
    def arrays(
        cls,
        keys: npt.NDArray[np.int64],
        num_actions: npt.NDArray[np.integer[Any]],
        actions: npt.NDArray[np.int16],
        policy: npt.NDArray[np.float64],
    ) -> dict[str, npt.NDArray[Any]]:
        """Returns a policy as the arrays of a table.

        Args:
            keys: `[I]` int64, fingerprints of information sets, in any order.
            num_actions: `[I]`, how many each has.
            actions: `[P]` int16, the ids of all, in that order.
            policy: `[P]` float64, their probabilities.
        """
        order = np.argsort(keys)
        counts = num_actions.astype(np.int64)[order]
        ends = np.cumsum(counts)
        starts = (np.cumsum(num_actions, dtype=np.int64) - num_actions)[order]
        places = np.repeat(starts - (ends - counts), counts) + np.arange(len(policy))
        return {
            "keys": keys[order],
            "firsts": np.concatenate([[0], ends]).astype(np.int32),
            "actions": actions[places],
            "chances": policy[places],
        }

    def start(self, rules: LoweredRules, num_players: int, seed: int) -> None:
        """Begins a session; see `agents.base.Agent`.

        Raises:
            TonkError: other rules, or another number of players, than it was found for.
        """
        meant = self.manifest
        if (rules.fingerprint, num_players) != (meant.rules_fingerprint, meant.players):
            raise TonkError(
                f"{self.name}: the solution of {meant.rules} with {meant.players} players; "
                "it plays no other game"
            )

    def _policy(
        self, views: Views, legal: npt.NDArray[np.int16], num_legal: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        probabilities = np.zeros(legal.shape)
        self.unknown += _look_up(
            views, legal, num_legal, self._slots, self._keys, self._firsts, self._actions, self._chances,
            probabilities,
        )  # fmt: skip
        return probabilities
