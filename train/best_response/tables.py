"""Training tables at which a frozen agent holds all seats but the learner's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from tonk_env.engine.state import ENDED
from tonk_env.gym_env import LearnerTables
from tonk_env.rules import LoweredRules


class AgainstTables:
    """Many tables advanced by one call, as `train.selfplay.tables.Tables` wants them.

    The agent moves between the learner's decisions, at all tables together, so every decision that the
    learner is shown is its own. Each hand puts it one seat further.

    Args:
        rules: the rules.
        num_players: seats at each table.
        agent: who holds the other seats.
        num_tables: B.
        seed: of decks and lots.

    Attributes:
        observations, masks, seats, ended, payments, endings: as of `Tables`; the seat is the learner's.
        decisions: `[B]` int32, decisions of the hand that ended, of all seats.

    Raises:
        TonkError: the agent does not play these rules.
    """

    def __init__(
        self, rules: LoweredRules, num_players: int, agent: Agent, num_tables: int, seed: int
    ) -> None:
        self._game = LearnerTables(rules, num_players, agent, num_tables)
        self.num_tables, self.num_players, self.seed = num_tables, num_players, seed
        self.num_actions, self.observation_size = rules.num_actions, self._game.layout.size
        self.layout = self._game.layout
        self.ended = np.zeros(num_tables, np.uint8)
        self.payments = np.zeros((num_tables, num_players), np.float32)
        self.endings = np.zeros(num_tables, np.uint8)
        self.decisions = np.zeros(num_tables, np.int32)
        self._rows = np.arange(num_tables)
        self._hand_numbers = np.zeros(num_tables, np.int64)
        self.reset()

    def reset(self) -> None:
        """Deals all tables, from their first hands on."""
        self.open()
        self._hand_numbers[:] = 0
        self._game.deal_next(self._rows, self.seed, self._hand_numbers)
        self._finish(self._rows[:0])

    def step(self, actions: npt.NDArray[np.int32]) -> None:
        """Makes the learner's moves, `[B]` ids, each legal, and plays on to its next decisions."""
        self._game.move(self._rows, actions)
        self._finish(np.flatnonzero(self._game.tables["phase"] == ENDED))

    def _finish(self, over: npt.NDArray[np.int64]) -> None:
        """Pays and deals again at the tables whose hands are over, and shows all."""
        tables = self._game.tables
        self.ended[:] = 0
        self.ended[over] = 1
        self.payments[:] = 0
        self.payments[over] = self._game.payments(over)[:, : self.num_players]
        self.endings[:] = np.where(self.ended, tables["ending"], 0)
        self.decisions[:] = np.where(self.ended, tables["moves"], 0)
        if len(over):
            self._game.deal_next(over, self.seed, self._hand_numbers)
        # New arrays: stable-baselines3 keeps the first.
        self.observations = self._game.observe(self._rows)
        self.masks = self._game.masks().view(np.uint8)
        self.seats = self._game.learners.astype(np.int8)

    def open(self) -> None:
        """Begins a session of the agent's, which may have played elsewhere since."""
        self._game.start(self.seed)

    def close(self) -> None:
        """Ends the agent's session."""
        self._game.end()
