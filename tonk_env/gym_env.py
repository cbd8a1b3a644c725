"""Tonk as a Gymnasium environment: one seat for the learner, agents in the others.

```python
import gymnasium

env = gymnasium.make("tonk_env.gym_env:Tonk-v0", num_players=2, opponents="heuristic:drop=15")
observation, info = env.reset(seed=7)
observation, reward, terminated, truncated, info = env.step(info["action_mask"].argmax())
```
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from agents import registry
from agents.base import FORFEIT, Agent
from tonk_env.batch import apply_rows, legal_rows, view_rows
from tonk_env.engine.ending import forfeit
from tonk_env.engine.state import ENDED, ENDINGS, STATE_DTYPE
from tonk_env.errors import TonkError
from tonk_env.limits import MAX_ACTIONS, MAX_SEATS
from tonk_env.observe import layout
from tonk_env.rules import LoweredRules, Rules, lower
from tonk_env.stepping import deal_rows, decision_keys, key_rows, mask_rows, settle_rows, show_rows
from tonk_env.table_text import move_text, refusal_text, table_text
from tonk_env.view import VIEW_DTYPE

RulesLike = str | Path | Mapping[str, Any] | Rules | LoweredRules
Opponents = str | Agent | Sequence[str | Agent]
Rows = npt.NDArray[np.int64]

ID = "Tonk-v0"
RENDER_MODES = ("ansi", "human")
MOST_DEALS = 10_000
"""Deals in a row without a decision of the learner's after which the rules are given up."""


class LearnerTables:
    """Tables at which one seat is the learner's and agents play the others, B at once.

    Where an agent answers `FORFEIT`, the hand ends so at the expense of the seat it holds there.

    Args:
        rules: a preset's name, the path of a file, a table of options, or rules.
        num_players: 2 to 6, a number these rules are played by.
        opponents: spec strings or agents: one for all other seats, or one for each, from the learner's left.
        num_tables: B.

    Attributes:
        tables: `[B]` STATE_DTYPE.
        learners: `[B]` int64, the learner's seat.
        dealers: `[B]` int64.
        keys: `[B]` int64, fixes the deck and the opponents' draws of the hand.

    Raises:
        TonkError: the rules are not played by that many, or there is no such agent.
    """

    def __init__(self, rules: RulesLike, num_players: int, opponents: Opponents, num_tables: int) -> None:
        self.rules = lower(rules)
        self.layout = layout(self.rules, num_players)
        self.num_players = num_players
        self.agents, self._playing = _make_agents(opponents, num_players)
        self.tables = np.zeros(num_tables, STATE_DTYPE)
        self.learners = np.zeros(num_tables, np.int64)
        self.dealers = np.zeros(num_tables, np.int64)
        self.keys = np.zeros(num_tables, np.int64)
        self._views = np.zeros(num_tables, VIEW_DTYPE)
        self._legal = np.zeros((num_tables, self.rules.max_legal), np.int16)
        self._num_legal = np.zeros(num_tables, np.int64)
        self._decision_keys = np.zeros(num_tables, np.int64)
        self._payments = np.zeros((num_tables, MAX_SEATS))
        self._scratch_view = np.zeros(1, VIEW_DTYPE)
        self._scratch_actions = np.zeros(MAX_ACTIONS, np.int16)

    def start(self, seed: int) -> None:
        """Begins a session of the opponents."""
        for agent in self.agents:
            agent.start(self.rules, self.num_players, seed)

    def end(self) -> None:
        """Ends the opponents' session; they are told no payments, for the hands of a session are not kept."""
        for agent in self.agents:
            agent.end(np.zeros(0))

    def deal(self, rows: Rows) -> Rows:
        """Deals at `rows` and plays up to the learner's first decision; returns those where none comes."""
        deal_rows(self.tables, rows, self.rules.record, self.num_players, self.dealers, self.keys)
        self.play(rows)
        return self.ended(rows)

    def deal_next(self, rows: Rows, seed: int, hand_numbers: Rows) -> None:
        """Deals the next hands of a seed at `rows`, until the learner is to move at each.

        Each hand puts the learner one seat further; the dealer moves on once the learner has sat everywhere.
        Hands in which the learner gets to decide nothing are dealt again.

        Args:
            rows: `[N]`.
            seed: of the decks.
            hand_numbers: `[B]`, of each table's next hand; counted up at `rows`.

        Raises:
            TonkError: the learner is hardly ever asked under these rules.
        """
        n = self.num_players
        for _ in range(MOST_DEALS):
            numbers = hand_numbers[rows]
            self.learners[rows] = (rows + numbers) % n
            self.dealers[rows] = (rows // n + numbers // n) % n
            key_rows(rows, seed, hand_numbers, self.keys)
            hand_numbers[rows] += 1
            rows = self.deal(rows)
            if not len(rows):
                return
        raise nothing_to_decide()

    def ended(self, rows: Rows) -> Rows:
        """Returns those of `rows` whose hand has ended."""
        ended: Rows = rows[self.tables["phase"][rows] == ENDED]
        return ended

    def play(self, rows: Rows) -> None:
        """Lets the opponents move at `rows` until the learner is to move or the hand has ended."""
        while True:
            others = self.tables["seat"][rows] != self.learners[rows]
            rows = rows[others & (self.tables["phase"][rows] != ENDED)]
            if not len(rows):
                return
            steps = (self.tables["seat"][rows] - self.learners[rows]) % self.num_players
            playing = self._playing[steps]
            for which, agent in enumerate(self.agents):
                mine = rows[playing == which] if len(self.agents) > 1 else rows
                if len(mine):
                    self._act(agent, mine)

    def _act(self, agent: Agent, rows: Rows) -> None:
        count = len(rows)
        views, legal = self._views[:count], self._legal[:count]
        num_legal, keys = self._num_legal[:count], self._decision_keys[:count]
        view_rows(self.tables, rows, views)
        legal_rows(self.tables, rows, self.rules.record, legal, num_legal)
        decision_keys(self.tables, rows, self.keys, keys)
        actions = np.ascontiguousarray(agent.act(views, legal, num_legal, keys), np.int32)
        gives_up = actions == FORFEIT
        for row in rows[gives_up].tolist():
            forfeit(self.tables, row, int(self.tables["seat"][row]))
        (moving,) = np.nonzero(~gives_up)
        wrong = apply_rows(self.tables, rows[moving], self.rules.record, actions[moving])
        if wrong >= 0:
            at = moving[wrong]
            allowed = legal[at, : num_legal[at]].tolist()
            raise TonkError(f"agent {agent.name} chose action {actions[at]}, not legal: {allowed} are")

    def move(self, rows: Rows, actions: npt.NDArray[np.int32]) -> None:
        """Makes moves of the learner's, which must be legal, and plays up to its next decision or the end."""
        apply_rows(self.tables, rows, self.rules.record, actions)
        self.play(rows)

    def observe(self, rows: Rows) -> npt.NDArray[np.float32]:
        """Returns what the learner observes at `rows`: `[N, size]`, a new array."""
        observations = np.empty((len(rows), self.layout.size), np.float32)
        show_rows(
            self.tables,
            rows,
            self.learners,
            self.rules.record,
            self.layout.starts,
            self._scratch_view,
            observations,
        )
        return observations

    def masks(self) -> npt.NDArray[np.bool_]:
        """Returns what the seat to move at every table may do: `[B, num_actions]`, a new array."""
        masks = np.empty((len(self.tables), self.rules.num_actions), np.uint8)
        mask_rows(self.tables, self.rules.record, self._scratch_actions, masks)
        return masks.view(np.bool_)

    def payments(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Returns what `rows`, all ended, pay: `[N, MAX_SEATS]`, valid until the next call."""
        payments = self._payments[: len(rows)]
        settle_rows(self.tables, rows, self.rules.record, payments)
        return payments

    def ending(self, row: int) -> str:
        """Returns how the hand at a table ended."""
        return ENDINGS[int(self.tables["ending"][row])]

    def __getstate__(self) -> dict[str, Any]:
        # Lowered rules are large, shared and read-only: a copy makes do with the options.
        state = self.__dict__.copy()
        del state["layout"]
        return {**state, "rules": self.rules.rules}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.rules = lower(state["rules"])
        self.layout = layout(self.rules, self.num_players)


def nothing_to_decide() -> TonkError:
    """Returns the error for rules under which the learner is hardly ever asked."""
    return TonkError(f"rules: {MOST_DEALS} hands in a row ended before the learner could decide anything")


def _make_agents(opponents: Opponents, num_players: int) -> tuple[list[Agent], Rows]:
    """Returns the agents, each once, and which of them plays by steps from the learner (`[num_players]`)."""
    others = num_players - 1
    each = [opponents] * others if isinstance(opponents, (str, Agent)) else list(opponents)
    if len(each) != others:
        raise TonkError(f"opponents: {len(each)} given; {num_players} players need one for all, or {others}")
    made: dict[Any, int] = {}
    agents: list[Agent] = []
    playing = np.zeros(num_players, np.int64)
    for step, given in enumerate(each, start=1):
        # Equal specs are one agent, which then decides for all of its seats at once.
        name: Any = given if isinstance(given, str) else id(given)
        if name not in made:
            made[name] = len(agents)
            agents.append(registry.make(given) if isinstance(given, str) else given)
        playing[step] = made[name]
    return agents, playing


class TonkEnv(gymnasium.Env[npt.NDArray[np.float32], np.int64]):
    """One seat of Tonk: an episode is a hand, and a step is one decision of the learner's.

    The observation is the vector of docs/observations.md, `[size]` float32 within 0 and 1. The reward is the
    learner's own stakes, when the hand ends. `action_masks` and `info["action_mask"]` say what is legal;
    at the end `info` has `ending` and `payments` by seat. An opponent may forfeit the hand, at its own
    expense. Hands in which the learner gets to decide nothing (won on the deal, or ended by an opponent
    first) are dealt again.

    Args:
        rules: a preset's name, the path of a file, a table of options, or rules.
        num_players: 2 to 6, a number these rules are played by.
        opponents: spec strings or agents: one for all other seats, or one for each, from the learner's left.
        seat: the learner's; None: drawn for each hand. The dealer is drawn anyway.
        illegal: what an illegal move does: `forfeit` ends the hand at the learner's expense, as the rules
            say, with the move in `info["illegal"]`; `raise` raises and changes nothing.
        render_mode: `ansi` (`render` returns text), `human` (text is printed after each step), or None. Only
            what the learner may know is shown.

    Raises:
        TonkError: an argument is wrong.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        rules: RulesLike = "pagat",
        num_players: int = 2,
        opponents: Opponents = "reference",
        seat: int | None = None,
        illegal: Literal["forfeit", "raise"] = "forfeit",
        render_mode: str | None = None,
    ) -> None:
        self._game = LearnerTables(rules, num_players, opponents, 1)
        if seat is not None and not 0 <= seat < num_players:
            raise TonkError(
                f"seat = {seat}: seats are 0 to {num_players - 1}, or None to draw one for each hand"
            )
        if illegal not in ("forfeit", "raise"):
            raise TonkError(f"illegal = {illegal!r}: it is forfeit or raise")
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise TonkError(f"render_mode = {render_mode!r}: it is one of {', '.join(RENDER_MODES)}, or None")
        self.seat, self.illegal, self.render_mode = seat, illegal, render_mode
        self.observation_space = spaces.Box(0.0, 1.0, (self._game.layout.size,), np.float32)
        self.action_space = spaces.Discrete(self._game.rules.num_actions)
        self._row = np.zeros(1, np.int64)
        self._is_over, self._has_started = True, False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Deals a hand and plays up to the learner's first decision.

        Args:
            seed: begins a new stream of hands; None goes on with the old one.
            options: not used.
        """
        super().reset(seed=seed)
        if seed is not None or not self._has_started:
            self._game.start(int(self.np_random.integers(2**31)))
            self._has_started = True
        for _ in range(MOST_DEALS):
            seats = self.np_random.integers(self._game.num_players, size=2)
            self._game.learners[0] = seats[0] if self.seat is None else self.seat
            self._game.dealers[0] = seats[1]
            self._game.keys[0] = self.np_random.integers(2**62)
            if not len(self._game.deal(self._row)):
                break
        else:
            raise nothing_to_decide()
        self._is_over = False
        self._render_human()
        return self._game.observe(self._row)[0], self._info()

    def step(
        self, action: np.int64 | int
    ) -> tuple[npt.NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Makes a move and plays up to the learner's next decision or the end of the hand.

        Raises:
            TonkError: the hand is over; or the move is illegal and `illegal` is `raise`.
        """
        if self._is_over:
            raise TonkError("step: the hand is over; call reset() first")
        extra: dict[str, Any] = {}
        try:
            move = index(action)
        except TypeError:
            raise TonkError(f"step: {action!r} is not an action id, a whole number") from None
        known = 0 <= move < self._game.rules.num_actions
        if known and self.action_masks()[move]:
            self._game.move(self._row, np.array([move], np.int32))
        elif self.illegal == "raise":
            raise TonkError(refusal_text(self._game.tables, self._game.rules, f"player_{self._seat}", move))
        else:
            what = move_text(self._game.tables[0], self._game.rules, move) if known else ""
            extra["illegal"] = f"{move} {what}".strip()
            forfeit(self._game.tables, 0, self._seat)
        self._is_over = bool(len(self._game.ended(self._row)))
        reward = 0.0
        if self._is_over:
            payments = self._game.payments(self._row)[0, : self._game.num_players].tolist()
            reward = payments[self._seat]
            extra.update(ending=self._game.ending(0), payments=payments)
        self._render_human()
        return self._game.observe(self._row)[0], reward, self._is_over, False, {**self._info(), **extra}

    @property
    def _seat(self) -> int:
        return int(self._game.learners[0])

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Returns what the learner may do, `[num_actions]`; nothing once the hand is over."""
        masks: npt.NDArray[np.bool_] = self._game.masks()[0]
        return masks

    def _info(self) -> dict[str, Any]:
        return {"seat": self._seat, "action_mask": self.action_masks().view(np.int8)}

    def render(self) -> str | None:
        """Returns the table as the learner knows it (`ansi`), or prints it (`human`)."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode: give 'ansi' or 'human' to make()")
            return None
        payments = self._game.payments(self._row) if self._is_over else np.zeros((1, MAX_SEATS))
        text = table_text(self._game.tables, self._game.rules, payments, self._seat)
        if self.render_mode == "ansi":
            return text
        print(text, flush=True)
        return None

    def _render_human(self) -> None:
        if self.render_mode == "human":
            self.render()

    def close(self) -> None:
        """Ends the opponents' session."""
        if self._has_started:
            self._game.end()
            self._has_started = False

    def __copy__(self) -> TonkEnv:
        return copy.deepcopy(self)


if ID not in gymnasium.registry:
    gymnasium.register(id=ID, entry_point="tonk_env.gym_env:TonkEnv")

__all__ = ["LearnerTables", "TonkEnv"]
