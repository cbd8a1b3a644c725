"""What a rollout leaves for the learner: observations and legal actions as lists, and what came of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from agents.neural import kernels
from train.selfplay.kernels import returns_per_seat
from train.selfplay.tables import Tables


class SparseRollout:
    """`n_steps` decisions at each of `n_envs` tables; decision (t, b) is row `t * n_envs + b`.

    Takes the place of stable-baselines3's rollout buffer, with the constructor that its algorithms expect.
    Observations are lists of non-zeros and masks are lists of legal actions: about 300 bytes a decision
    instead of 3,000.
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        device: object = "cpu",
        gae_lambda: float = 0.95,
        gamma: float = 1.0,
        n_envs: int = 1,
        num_players: int = 2,
    ):
        assert isinstance(observation_space, spaces.Box) and isinstance(action_space, spaces.Discrete)
        self.gae_lambda, self.gamma = gae_lambda, gamma
        self.steps, self.tables = buffer_size, n_envs
        self.observation_size, self.num_actions = observation_space.shape[0], int(action_space.n)
        self.size = size = buffer_size * n_envs
        shape = (buffer_size, n_envs)
        self.indices = np.zeros(64 * size, np.uint16)
        self.values_at = np.zeros(64 * size, np.float32)
        # One row more than decisions: the observations after the last one, for the value that ends the
        # returns.
        self.starts = np.zeros(size + n_envs + 1, np.int64)
        self.legal = np.zeros(8 * size, np.uint16)
        self.legal_starts = np.zeros(size + 1, np.int64)
        self.seats = np.zeros(shape, np.int8)
        self.actions = np.zeros(shape, np.int32)
        self.log_probs = np.zeros(shape, np.float32)
        self.values = np.zeros(shape, np.float32)
        self.ended = np.zeros(shape, np.uint8)
        self.payments = np.zeros((*shape, num_players), np.float32)
        self.advantages = np.zeros(shape, np.float32)
        self.returns = np.zeros(shape, np.float32)

    def add_observations(self, row: int, tables: Tables) -> None:
        """Appends what the seats to move see, as rows from `row` on."""
        room = tables.observations.size + 1
        if len(self.indices) - self.starts[row] < room:
            self.indices = np.concatenate([self.indices, np.zeros(len(self.indices) + room, np.uint16)])
            self.values_at = np.concatenate(
                [self.values_at, np.zeros(len(self.values_at) + room, np.float32)]
            )
        kernels.append_observations(tables.observations, self.indices, self.values_at, self.starts, row)

    def add_legal(self, row: int, tables: Tables) -> None:
        """Appends what they may do."""
        room = tables.masks.size + 1
        if len(self.legal) - self.legal_starts[row] < room:
            self.legal = np.concatenate([self.legal, np.zeros(len(self.legal) + room, np.uint16)])
        kernels.append_legal(tables.masks, self.legal, self.legal_starts, row)

    def finish(self, last_seats: np.ndarray[Any, np.dtype[np.int8]], last_values: kernels.Floats) -> None:
        """Computes advantages and returns; see `returns_per_seat`."""
        num_players = self.payments.shape[2]
        returns_per_seat(
            self.seats,
            self.values,
            self.ended,
            self.payments,
            last_seats,
            last_values,
            self.gamma,
            self.gae_lambda,
            np.zeros(num_players, np.int8),
            np.zeros(num_players),
            np.zeros(num_players),
            self.advantages,
            self.returns,
        )
