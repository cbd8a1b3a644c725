"""A table of strategies over an abstraction: an agent for games too large to be solved as a whole."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from agents.base import Views
from agents.bot import make_tools
from agents.reference import reference
from agents.tabular.abstraction import NUM_FEATURES, Abstraction, key_of
from agents.tabular.moves import FIRST_ROW, NUM_MOVES, follow_rule, offer
from agents.tabular.policy import TablePolicy
from agents.tabular.slots import EMPTY, fill_slots, find_slot, make_slots
from agents.tabular.table import Manifest, take_array
from tonk_env._jit import jit
from tonk_env.errors import TonkError
from tonk_env.rules import LoweredRules

KIND = "abstracted"


class Abstracted(TablePolicy):
    """Draws a macro move by a table, and plays what it stands for.

    It plays any rules and number of players, for its features are counted from any view; where the game is
    another than in training it warns. A decision that the table has not met is made as `reference` makes it,
    and so is all that macro moves leave open.

    Args:
        manifest: of the table; its details hold the `abstraction`.
        arrays: `keys` `[K]` int64, ascending, and `chances` `[K × NUM_MOVES]` uint8, of each macro move in
            parts of the likeliest.
        path: of the table, for messages.
        greedy: take the likeliest action.

    Attributes:
        name: its spec string.

    Raises:
        TonkError: the arrays do not fit each other, or there is no such abstraction.
    """

    def __init__(
        self, manifest: Manifest, arrays: dict[str, npt.NDArray[Any]], path: Path, greedy: bool = False
    ) -> None:
        self.name, self.manifest, self.greedy = str(path), manifest, greedy
        try:
            abstraction = Abstraction.model_validate(manifest.details.get("abstraction"))
        except ValidationError as error:
            where = ".".join(map(str, ("abstraction", *error.errors()[0]["loc"])))
            raise TonkError(f"{path}: manifest: {where}: {error.errors()[0]['msg']}") from None
        self._plan, self._styles = abstraction.compile()
        self._keys = take_array(arrays, "keys", np.int64, path)
        chances = take_array(arrays, "chances", np.uint8, path, NUM_MOVES * len(self._keys))
        if len(self._keys) == 0 or self._keys[0] < 0 or np.any(np.diff(self._keys) <= 0):
            raise TonkError(f"{path}: damaged: its keys are none")
        self._chances = chances.reshape(-1, NUM_MOVES)
        self._slots = make_slots(len(self._keys))
        fill_slots(self._slots, self._keys, len(self._keys))
        self._rule = reference()
        self._rules: LoweredRules | None = None

    @classmethod
    def arrays(
        cls, keys: npt.NDArray[np.int64], chances: npt.NDArray[np.floating[Any]]
    ) -> dict[str, npt.NDArray[Any]]:
        """Returns strategies as the arrays of a table.

        Args:
            keys: `[K]` int64, in any order.
            chances: `[K, NUM_MOVES]`, in any unit; each row has a positive one.
        """
        order = np.argsort(keys)
        parts = chances[order] / chances[order].max(axis=1, keepdims=True)
        return {"keys": keys[order], "chances": np.rint(255 * parts).astype(np.uint8).ravel()}

    def start(self, rules: LoweredRules, num_players: int, seed: int) -> None:
        """Begins a session; see `agents.base.Agent`. Warns where the game is another than in training."""
        meant = self.manifest
        if (rules.fingerprint, num_players) != (meant.rules_fingerprint, meant.players):
            warnings.warn(
                f"{self.name}: another game than in training; it was trained on {meant.rules} with "
                f"{meant.players} players",
                stacklevel=2,
            )
        self._rules, self._tools = rules, make_tools(rules, num_players)

    def _policy(
        self, views: Views, legal: npt.NDArray[np.int16], num_legal: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        assert self._rules is not None, "start comes first"
        probabilities = np.zeros(legal.shape)
        _look_up(
            views, legal, num_legal, self._rules.record, self._tools, self._plan, self._styles,
            self._rule.style, self._slots, self._keys, self._chances, np.zeros_like(legal),
            np.zeros((1, NUM_MOVES), np.int64), np.zeros(NUM_FEATURES, np.int64),
            np.zeros(len(views), np.int32), probabilities,
        )  # fmt: skip
        return probabilities


@jit
def _look_up(
    views: Any,
    legal: Any,
    num_legal: Any,
    rules: Any,
    tools: Any,
    plan: Any,
    styles: Any,
    rule: Any,
    slots: Any,
    keys: Any,
    chances: Any,
    discards: Any,
    moves: Any,
    facts: Any,
    actions: Any,
    probabilities: Any,
) -> None:
    """Writes the probability of each legal move into `probabilities` `[N, max_legal]`, which holds zeros.

    `discards` to `actions` are scratch space; what the others are, `offer` and `Abstracted` say.
    """
    follow_rule(views, legal, num_legal, rules, rule, tools, actions)
    for j in range(views.shape[0]):
        row, known, total = FIRST_ROW, EMPTY, 0
        if num_legal[j] > 1:
            count = num_legal[j]
            offered = offer(views, j, legal, count, rules, plan, styles, tools, discards, moves, row)
            if offered == 1:
                for move in range(NUM_MOVES):
                    if moves[row, move] >= 0:
                        actions[j] = moves[row, move]
            elif offered:
                key = key_of(views, j, moves, row, rules, plan, styles, tools, facts)
                known = int(slots[find_slot(slots, keys, key)])
        if known != EMPTY:
            for move in range(NUM_MOVES):
                total += int(chances[known, move]) if moves[row, move] >= 0 else 0
        for at in range(num_legal[j]):
            if total == 0:
                probabilities[j, at] = 1.0 if legal[j, at] == actions[j] else 0.0
                continue
            for move in range(NUM_MOVES):
                if moves[row, move] == legal[j, at]:
                    probabilities[j, at] += int(chances[known, move]) / total
