"""Tonk as a vectorised environment of Stable-Baselines3: one seat for the learner at each of many tables."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from tonk_env.errors import TonkError
from tonk_env.gym_env import LearnerTables, Opponents, Rows, RulesLike


class TonkVecEnv(VecEnv):
    """Many tables of `tonk_env.gym_env.TonkEnv` in one call, for `MaskablePPO` and its kin.

    Opponents decide for all tables together, so this is far quicker than as many single environments. Each
    hand puts the learner one seat further; the dealer moves on once the learner has sat everywhere. Hands in
    which the learner gets to decide nothing are dealt again. The infos of a hand that ended have
    `terminal_observation`, `episode` (`r`, `l`, `t`), `ending`, `payments` by seat, and the learner's `seat`.

    `env_method("action_masks")` returns a list of one array for all tables, `[[B, num_actions]]`, which
    sb3-contrib stacks at no cost; with `indices` it returns one mask for each.

    Args:
        rules: a preset's name, the path of a file, a table of options, or rules.
        num_players: 2 to 6, a number these rules are played by.
        opponents: spec strings or agents: one for all other seats, or one for each, from the learner's left.
        num_tables: B.
        seed: 0 or more; the decks, and what the opponents draw.

    Raises:
        TonkError: an argument is wrong; from `step`, a move is illegal (nothing has changed then).
    """

    render_mode: str | None = None

    def __init__(
        self,
        rules: RulesLike = "pagat",
        num_players: int = 2,
        opponents: Opponents = "reference",
        num_tables: int = 512,
        seed: int = 0,
    ) -> None:
        if num_tables < 1 or seed < 0:
            raise TonkError(
                f"num_tables = {num_tables}, seed = {seed}: at least one table, and a seed from 0"
            )
        self._game = LearnerTables(rules, num_players, opponents, num_tables)
        self._seed = seed
        self._rows = np.arange(num_tables)
        self._hand_numbers = np.zeros(num_tables, np.int64)
        self._lengths = np.zeros(num_tables, np.int64)
        self._actions = np.zeros(num_tables, np.int32)
        self._masks = np.zeros((num_tables, self._game.rules.num_actions), np.bool_)
        self._has_started = False
        self._begun_at = time.time()
        super().__init__(
            num_tables,
            spaces.Box(0.0, 1.0, (self._game.layout.size,), np.float32),
            spaces.Discrete(self._game.rules.num_actions),
        )

    def reset(self) -> npt.NDArray[np.float32]:
        """Deals at every table; after `seed` from the first hand on, else with the next hands.

        Returns:
            `[B, size]` float32.
        """
        if self._seeds[0] is not None:
            self._seed, self._has_started = int(self._seeds[0]), False
        if not self._has_started:
            self._hand_numbers[:] = 0
            self._game.start(self._seed)
            self._has_started = True
        self._reset_seeds()
        self._reset_options()
        self._deal(self._rows)
        return self._show()

    def _deal(self, rows: Rows) -> None:
        """Deals at `rows` until the learner is to move at each."""
        self._game.deal_next(rows, self._seed, self._hand_numbers)
        self._lengths[rows] = 0

    def _show(self) -> npt.NDArray[np.float32]:
        # New arrays each time: the learner keeps the observation of one step over the next.
        self._masks = self._game.masks()
        return self._game.observe(self._rows)

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Takes the moves for `step_wait`: `[B]` action ids."""
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise TonkError(
                f"actions: shape {chosen.shape} of {chosen.dtype}, not ({self.num_envs},) of whole numbers"
            )
        within = (chosen >= 0) & (chosen < self._masks.shape[1])
        legal = within & self._masks[self._rows, np.where(within, chosen, 0)]
        if not legal.all():
            wrong = int(np.argmin(legal))
            allowed = np.flatnonzero(self._masks[wrong]).tolist()
            raise TonkError(f"actions[{wrong}] = {chosen[wrong]}: not legal there; legal are {allowed}")
        self._actions = chosen.astype(np.int32)

    def step_wait(self) -> VecEnvStepReturn:
        """Makes the moves and plays on to the learner's next decision at every table.

        Returns:
            Observations `[B, size]` float32, of the next hand where one ended; rewards `[B]` float32, stakes;
            whether a hand ended, `[B]` bool; and a dict for each table.
        """
        game = self._game
        game.move(self._rows, self._actions)
        self._lengths += 1
        rewards = np.zeros(self.num_envs, np.float32)
        dones = np.zeros(self.num_envs, np.bool_)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = game.ended(self._rows)
        if len(ended):
            payments = game.payments(ended)
            rewards[ended] = payments[np.arange(len(ended)), game.learners[ended]]
            dones[ended] = True
            last = game.observe(ended)
            seconds = round(time.time() - self._begun_at, 6)
            for at, row in enumerate(ended.tolist()):
                reward, length = float(rewards[row]), int(self._lengths[row])
                infos[row] = {
                    "terminal_observation": last[at],
                    "episode": {"r": reward, "l": length, "t": seconds},
                    "TimeLimit.truncated": False,
                    "ending": game.ending(row),
                    "payments": payments[at, : game.num_players].tolist(),
                    "seat": int(game.learners[row]),
                }
            self._deal(ended)
        return self._show(), rewards, dones, infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Returns what the learner may do at every table: `[B, num_actions]`."""
        return self._masks

    def close(self) -> None:
        """Ends the opponents' session."""
        if self._has_started:
            self._game.end()
            self._has_started = False

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Returns an attribute of this environment once for each table."""
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Sets an attribute of this environment, for all tables at once."""
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Calls a method; `action_masks` answers for all tables in one array, unless `indices` are given."""
        if method_name != "action_masks":
            raise AttributeError(f"TonkVecEnv has no method {method_name!r} of single tables")
        if indices is None:
            return [self._masks]
        return [self._masks[row] for row in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Says that no table is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Sets the seed of the next `reset`, for all tables together."""
        if seed is not None and seed < 0:
            raise TonkError(f"seed = {seed}: it is 0 or more")
        return super().seed(seed)
