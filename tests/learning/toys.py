"""Toy tables with the interface of `TonkTables`, for tests of the learner and for timing it without a game.

Both draw all their chance from counters (hash of seed, table, hand, turn), so a restored state continues
exactly.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray


def mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64, elementwise."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


class ToyTables:
    """What the two toys share: the arrays of `TonkTables`, and a state that is two counters a table."""

    def __init__(self, num_players: int, num_tables: int, seed: int, num_actions: int, observation_size: int):
        self.num_players, self.num_tables, self.seed = num_players, num_tables, seed
        self.num_actions, self.observation_size = num_actions, observation_size
        self.observations = np.zeros((num_tables, observation_size), np.float32)
        self.masks = np.zeros((num_tables, num_actions), np.uint8)
        self.seats = np.zeros(num_tables, np.int8)
        self.ended = np.zeros(num_tables, np.uint8)
        self.payments = np.zeros((num_tables, num_players), np.float32)
        self.endings = np.zeros(num_tables, np.uint8)
        self.decisions = np.zeros(num_tables, np.int32)
        self.hands = np.zeros(num_tables, np.int64)
        self.turns = np.zeros(num_tables, np.int64)
        self.scores = np.zeros((num_tables, num_players), np.float32)
        self.reset()

    def _hash(self, purpose: int) -> NDArray[np.uint64]:
        """One random word per table and turn: `[B]`."""
        words = mix(np.full(self.num_tables, (self.seed << 8) + purpose, np.uint64))
        for counter in (np.arange(self.num_tables), self.hands, self.turns):
            words = mix(words ^ counter.astype(np.uint64))
        return words

    def reset(self) -> None:
        for array in (self.hands, self.turns, self.scores, self.ended, self.payments, self.decisions):
            array[...] = 0
        self._show()

    def get_state(self) -> bytes:
        state: dict[str, Any] = {name: getattr(self, name).tolist() for name in ("hands", "turns", "scores")}
        return json.dumps(state).encode()

    def set_state(self, state: bytes) -> None:
        for name, value in json.loads(state).items():
            getattr(self, name)[...] = value
        self.ended[...] = 0
        self._show()

    def _finish(self, over: NDArray[np.bool_], payments: NDArray[np.float32]) -> None:
        self.ended[...] = over
        self.payments[...] = np.where(over[:, None], payments, 0)
        self.decisions[...] = np.where(over, self.turns + 1, 0)
        self.hands += over
        self.turns[...] = np.where(over, 0, self.turns + 1)
        self.scores[over] = 0
        self._show()

    def _show(self) -> None:
        raise NotImplementedError

    def step(self, actions: NDArray[np.int32]) -> None:
        raise NotImplementedError

    def best_actions(self) -> NDArray[np.int64]:
        """The best move at each table: `[B]`."""
        raise NotImplementedError


class OneDecision(ToyTables):
    """A card of ten is shown, and its remainder by four must be named: right wins a stake, wrong loses one.

    Best play is certain and worth +1 to the one who moves; uniform play is worth -1/3 (three legal actions).
    """

    def __init__(self, num_players: int = 2, num_tables: int = 64, seed: int = 0):
        super().__init__(num_players, num_tables, seed, num_actions=5, observation_size=12)

    def _show(self) -> None:
        self.cards = (self._hash(1) % np.uint64(10)).astype(np.int64)
        self.seats[...] = self._hash(2) % np.uint64(self.num_players)
        self.observations[...] = 0
        self.observations[np.arange(self.num_tables), self.cards] = 1
        self.observations[:, 10] = self.seats
        self.masks[...] = 1
        rows = np.arange(self.num_tables)
        self.masks[rows, 4] = 0  # never legal
        self.masks[rows, (self.cards + 1) % 4] = 0  # one wrong answer is not legal either

    def best_actions(self) -> NDArray[np.int64]:
        return self.cards % 4

    def step(self, actions: NDArray[np.int32]) -> None:
        rows = np.arange(self.num_tables)
        assert self.masks[rows, actions].all(), "an illegal action was chosen"
        stake = np.where(actions == self.cards % 4, 1.0, -1.0).astype(np.float32)
        payments = np.repeat(-stake[:, None] / (self.num_players - 1), self.num_players, axis=1)
        payments[rows, self.seats] = stake
        self._finish(np.ones(self.num_tables, bool), payments)


class Interleaved(ToyTables):
    """About ten turns each; choosing the lowest legal action scores, and scores are paid at the end.

    Sized like standard Tonk so that timings mean something: about 50 of 400 features are not zero, 5 to 8 of
    336 actions are legal. Which seat moves next is random, so seats interleave without a pattern.
    """

    def __init__(
        self, num_players: int = 2, num_tables: int = 512, seed: int = 0, observation_size: int = 400
    ):
        super().__init__(num_players, num_tables, seed, num_actions=336, observation_size=observation_size)

    def _show(self) -> None:
        self.seats[...] = self._hash(1) % np.uint64(self.num_players)
        stripes = self.observation_size // 8
        places = mix(self._hash(2)[:, None] + np.arange(stripes, dtype=np.uint64)) % np.uint64(8)
        self.observations[...] = 0
        np.put_along_axis(
            self.observations, (places + 8 * np.arange(stripes, dtype=np.uint64)).astype(np.int64), 1, axis=1
        )
        self.legal = 5 + (self._hash(3) % np.uint64(4)).astype(np.int64)
        actions = (mix(self._hash(4)[:, None] + np.arange(8, dtype=np.uint64)) % np.uint64(42)).astype(
            np.int64
        )
        self.choices = actions + 42 * np.arange(8)
        self.masks[...] = 0
        rows = np.arange(self.num_tables)
        for choice in range(8):
            self.masks[rows, self.choices[:, choice]] = choice < self.legal

    def best_actions(self) -> NDArray[np.int64]:
        return self.choices[:, 0]

    def step(self, actions: NDArray[np.int32]) -> None:
        rows = np.arange(self.num_tables)
        assert self.masks[rows, actions].all(), "an illegal action was chosen"
        self.scores[rows, self.seats] += actions == self.choices[:, 0]
        over = self._hash(5) % np.uint64(10) == 0
        self._finish(over, self.scores - self.scores.mean(axis=1, keepdims=True))
