"""Thousands of tables of Tonk advanced by one call."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tonk_env.batch import redeal, show_all, step_tables
from tonk_env.engine.state import STATE_DTYPE
from tonk_env.errors import TonkError
from tonk_env.limits import MAX_ACTIONS, MAX_SEATS
from tonk_env.observe import layout
from tonk_env.rules import LoweredRules, Rules, lower, stack
from tonk_env.view import VIEW_DTYPE

RulesLike = str | Path | Mapping[str, Any] | Rules | LoweredRules


class TonkTables:
    """A batch of tables, dealt again as their hands end.

    Several rules or numbers of players may be given: table b plays the b-th of their combinations, over and
    over. Hands won on the deal are dealt again at once, so a table always shows a decision. The deck of a
    hand depends on `seed`, the table and the hand's number alone.

    Args:
        rules: a preset's name, a path, a table of options, rules, or a list of them.
        num_players: 2 to 6, or a list, of which each rules take the numbers that they are played by.
        num_tables: B.
        seed: 0 or more.
        observations: `[B, observation_size]` float32 to write into, or None for an array of its own.
        masks: `[B, num_actions]` uint8 to write into, or None.

    Attributes:
        observations: `[B, observation_size]` float32, of the seat to move; short layouts end in zeros.
        masks: `[B, num_actions]` uint8, legal actions of the seat to move.
        seats: `[B]` int8, the seat to move.
        ended: `[B]` uint8, 1 where the last step ended a hand.
        payments: `[B, players]` float32, stakes of the hand that ended, else 0.
        endings: `[B]` uint8, index into `tonk_env.engine.state.ENDINGS`, else 0.
        decisions: `[B]` int32, decisions of the hand that ended, else 0.

    Raises:
        TonkError: some rules are played by none of these numbers, or an array has the wrong shape or type.
    """

    def __init__(
        self,
        rules: RulesLike | Sequence[RulesLike] = "pagat",
        num_players: int | Sequence[int] = 2,
        num_tables: int = 512,
        seed: int = 0,
        observations: npt.NDArray[np.float32] | None = None,
        masks: npt.NDArray[np.uint8] | None = None,
    ) -> None:
        each = list(rules) if isinstance(rules, (list, tuple)) else [rules]
        self.rules = [lower(one) for one in each]
        players = [num_players] if isinstance(num_players, int) else [int(seats) for seats in num_players]
        if not players:
            raise TonkError("num_players: at least one number is needed")
        if num_tables < 1 or seed < 0:
            raise TonkError(
                f"num_tables = {num_tables}, seed = {seed}: at least one table and a seed of 0 or more"
            )
        self.num_tables, self.num_players, self.seed = num_tables, max(players), seed
        self._records = stack(self.rules)
        for seats in players:
            if not 2 <= seats <= MAX_SEATS:
                self.rules[0].rules.check_players(seats)
        self.variants = []
        for index, one in enumerate(self.rules):
            allowed = [seats for seats in players if seats in one.rules.player_counts()]
            one.rules.check_players(allowed[0] if allowed else players[0])
            self.variants += [(index, seats) for seats in allowed]
        layouts = [layout(self.rules[index], seats) for index, seats in self.variants]
        self.layouts = layouts
        self._starts = np.stack([each.starts for each in layouts])
        self._variants = np.arange(num_tables) % len(layouts)
        self.observation_size = max(each.size for each in layouts)
        self.num_actions = max(each.num_actions for each in self.rules)
        self.observations = _array(
            observations, (num_tables, self.observation_size), np.float32, "observations"
        )
        self.masks = _array(masks, (num_tables, self.num_actions), np.uint8, "masks")
        self.tables = np.zeros(num_tables, STATE_DTYPE)
        self.seats = np.zeros(num_tables, np.int8)
        self.ended = np.zeros(num_tables, np.uint8)
        self.payments = np.zeros((num_tables, self.num_players), np.float32)
        self.endings = np.zeros(num_tables, np.uint8)
        self.decisions = np.zeros(num_tables, np.int32)
        self._hand_numbers = np.zeros(num_tables, np.int64)
        self._views = np.zeros(1, VIEW_DTYPE)
        self._actions = np.zeros(MAX_ACTIONS, np.int16)
        self._stakes = np.zeros((1, MAX_SEATS))
        self.reset()

    def reset(self, seed: int | None = None) -> None:
        """Deals every table anew, from its first hand on."""
        self.seed = self.seed if seed is None else seed
        self._hand_numbers[:] = 0
        self.tables[:] = np.zeros(1, STATE_DTYPE)
        for index, (rules_index, players) in enumerate(self.variants):
            rows = self._variants == index
            self.tables["rules_index"][rows] = rules_index
            self.tables["num_players"][rows] = players
        # The first dealers go round the tables, so that no seat leads everywhere.
        self.tables["dealer"] = (np.arange(self.num_tables) // len(self.variants)) % self.tables[
            "num_players"
        ]
        for i in range(self.num_tables):
            if not redeal(self.tables, i, self._records, self.seed, self._hand_numbers):
                raise TonkError("rules: every hand is won on the deal, so there is nothing to decide")
        for output in (self.ended, self.payments, self.endings, self.decisions):
            output[...] = 0
        self._show()

    def _show(self) -> None:
        show_all(
            self.tables,
            self._records,
            self._starts,
            self._variants,
            self._views,
            self._actions,
            self.observations,
            self.masks,
            self.seats,
        )

    def step(self, actions: npt.NDArray[np.integer[Any]]) -> None:
        """Makes one move at every table and refreshes every array in place.

        Args:
            actions: `[B]` ids, each legal by `masks`.

        Raises:
            TonkError: one is illegal; nothing has changed.
        """
        given = np.asarray(actions)
        if given.shape != (self.num_tables,) or given.dtype.kind not in "iu":
            raise TonkError(
                f"actions: shape {given.shape} of {given.dtype}, not ({self.num_tables},) of whole numbers"
            )
        if given.dtype != np.int32:  # narrowed to no id rather than to another one
            given = np.clip(given, -1, self.num_actions)
        choices = np.ascontiguousarray(given, np.int32)
        wrong = step_tables(
            self.tables,
            self._records,
            choices,
            self.seed,
            self._hand_numbers,
            self._starts,
            self._variants,
            self._views,
            self._actions,
            self.observations,
            self.masks,
            self.seats,
            self.ended,
            self._stakes,
            self.payments,
            self.endings,
            self.decisions,
        )
        if wrong >= 0:
            legal = np.flatnonzero(self.masks[wrong]).tolist()
            raise TonkError(f"actions[{wrong}] = {actions[wrong]}: not legal there; legal are {legal}")

    def get_state(self) -> bytes:
        """Returns everything that the future depends on, as bytes for `set_state`."""
        stream = io.BytesIO()
        np.savez(
            stream,
            tables=self.tables.view(np.uint8),
            hands=self._hand_numbers,
            seed=self.seed,
            rules=np.array([each.fingerprint for each in self.rules]),
        )
        return stream.getvalue()

    def set_state(self, state: bytes) -> None:
        """Goes on from a state of tables made with the same arguments.

        Raises:
            TonkError: the state is of other tables.
        """
        with np.load(io.BytesIO(state)) as saved:
            if saved["tables"].shape != self.tables.view(np.uint8).shape:
                raise TonkError("the saved state is of another number of tables or another version")
            if saved["rules"].tolist() != [each.fingerprint for each in self.rules]:
                raise TonkError("the saved state is of tables with other rules")
            self.tables.view(np.uint8)[...] = saved["tables"]
            self._hand_numbers[...] = saved["hands"]
            self.seed = int(saved["seed"])
        for output in (self.ended, self.payments, self.endings, self.decisions):
            output[...] = 0
        self._show()


def _array(given: Any, shape: tuple[int, ...], dtype: Any, name: str) -> Any:
    if given is None:
        return np.zeros(shape, dtype)
    if (
        given.shape != shape
        or given.dtype != dtype
        or not given.flags.c_contiguous
        or not given.flags.writeable
    ):
        raise TonkError(
            f"{name}: a writable contiguous array of shape {shape} and type {np.dtype(dtype)} is needed"
        )
    return given
