"""What self-play needs of a batch of tables, and the same tables as stable-baselines3 sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn


class Tables(Protocol):
    """Many tables advanced by one call, dealt again as they end (`tonk_env.vector.TonkTables`).

    Attributes:
        observations: `[B, observation_size]`, of the seat to move at each table.
        masks: `[B, num_actions]`, its legal actions.
        seats: `[B]`, the seat to move.
        ended: `[B]`, whether the last step ended a hand.
        payments: `[B, num_players]`, in stakes, where it did.
        endings: `[B]`, by which ending.
        decisions: `[B]`, after how many moves.
    """

    num_tables: int
    num_players: int
    num_actions: int
    observation_size: int
    observations: NDArray[np.float32]
    masks: NDArray[np.uint8]
    seats: NDArray[np.int8]
    ended: NDArray[np.uint8]
    payments: NDArray[np.float32]
    endings: NDArray[np.uint8]
    decisions: NDArray[np.int32]

    def reset(self) -> None:
        """Deals all tables."""

    def step(self, actions: NDArray[np.int32]) -> None:
        """Makes one move at every table and refreshes all arrays."""


class SavedTables(Tables, Protocol):
    """Tables that can be taken up where they were left."""

    def get_state(self) -> bytes:
        """Everything that decides the future."""

    def set_state(self, state: bytes, /) -> None:
        """Takes up such a future."""


class TablesEnv(VecEnv):
    """Tables as a vectorised environment with one voice per table: the seat to move.

    Self-play reads the tables themselves. This view is what stable-baselines3 asks for, and what stock
    MaskablePPO is measured on: its reward is the mover's payment, which is not enough to learn from when
    seats take turns.

    Args:
        tables: the tables.
        ending_names: what `tables.endings` counts, by code; for curves.
    """

    def __init__(self, tables: Tables, ending_names: Sequence[str] = ()):
        self.tables, self.ending_names = tables, tuple(ending_names)
        super().__init__(
            tables.num_tables,
            spaces.Box(-np.inf, np.inf, (tables.observation_size,), np.float32),
            spaces.Discrete(tables.num_actions),
        )

    def reset(self) -> NDArray[np.float32]:
        """Deals all tables; returns the observations, `[B, O]`."""
        self.tables.reset()
        return self.tables.observations.copy()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keeps the actions for `step_wait`."""
        self.actions = np.ascontiguousarray(actions, np.int32)
        self.movers = self.tables.seats.astype(np.int64)

    def step_wait(self) -> VecEnvStepReturn:
        """Makes the moves."""
        self.tables.step(self.actions)
        rewards = self.tables.payments[np.arange(self.num_envs), self.movers]
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        return self.tables.observations.copy(), rewards, self.tables.ended.astype(bool), infos

    def close(self) -> None:
        """Nothing to close."""

    def has_attr(self, attr_name: str) -> bool:
        """Whether the tables offer something by this name."""
        return attr_name == "action_masks" or hasattr(self.tables, attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of the tables, once per table."""
        return [getattr(self.tables, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refused: tables are set up once."""
        raise NotImplementedError("tables are set up once")

    def env_method(
        self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        """Only `action_masks`: one array for all tables, so that nothing is stacked."""
        if method_name != "action_masks":
            raise NotImplementedError(f"tables have no method {method_name}")
        return [self.tables.masks]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> Sequence[bool]:  # type: ignore[override]
        """Never."""
        return [False] * self.num_envs
