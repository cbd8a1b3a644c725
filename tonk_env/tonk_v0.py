"""Tonk as a PettingZoo AEC environment.

```python
from tonk_env import tonk_v0

env = tonk_v0.env(rules="pagat", num_players=3)
env.reset(seed=7)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    env.step(None if termination or truncation else env.action_space(agent).sample(info["action_mask"]))
```

After this module is imported, `pettingzoo.make("aec", "tonk/tonk_v0", ...)` makes it too.
"""

from __future__ import annotations

import copy
import secrets
import warnings
from collections.abc import Mapping
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pettingzoo
from gymnasium import spaces
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from tonk_env.engine.state import ENDINGS, STATE_DTYPE
from tonk_env.errors import TonkError
from tonk_env.limits import MAX_ACTIONS, MAX_SEATS
from tonk_env.match import Match, bet_winners, cut_for_deal
from tonk_env.observe import layout
from tonk_env.rules import LoweredRules, Rules, lower
from tonk_env.stepping import REFUSED, deal_numbered, show_mover, show_seat, step_table
from tonk_env.table_text import refusal_text, table_text
from tonk_env.view import VIEW_DTYPE

RulesLike = str | Path | Mapping[str, Any] | Rules | LoweredRules
Observation = dict[str, npt.NDArray[Any]]

ID = "tonk/tonk_v0"
RENDER_MODES = ("ansi", "human")
_SEED_BITS = (1 << 63) - 1
_MOST_DEALS = 10_000
"""Deals without a decision after which an episode is given up."""


class raw_env(pettingzoo.AECEnv):  # type: ignore[misc]
    """Tonk for 2 to 6 agents, `player_0` to `player_5`; each step is one decision.

    An observation is a dict: `observation` `[size]` float32 within 0 and 1 (docs/observations.md), what the
    agent may know and nothing else; `action_mask` `[num_actions]` int8, all zero for an agent that is not to
    move. The mask is in `info["action_mask"]` too. Once a hand has ended, every agent's next info says how:
    `ending`, and `payments` by seat.

    Rewards are stakes and come when a hand ends, to every agent at once; agents live until the last hand has
    ended. An episode is a match: its hands, target, doubled last hands and side bets that nobody has won are
    those of the rules. The dealer moves left between hands, and from one match to the next; who deals first
    is found as the rules say, by the seed. While slaps are asked, agents are selected out of turn.

    A hand won on the deal asks nobody anything. It counts and pays at once: its stakes come with those of the
    hand before it or, before the first decision, with the first step, since PettingZoo knows no reward before
    a step. An episode in which nobody gets to decide anything (usual only with `hands=1`) is dealt again, for
    PettingZoo wants agents to live after `reset`; with `allow_empty` it begins with every agent terminated
    and paid.

    Equal seeds give equal hands; a reset without a seed goes on with the stream of the last one.

    Args:
        rules: a preset's name, the path of a file, a table of options, or rules.
        num_players: 2 to 6, a number these rules are played by.
        hands: hands in an episode; None: as the rules say.
        render_mode: `ansi` (`render` returns text), `human` (text is printed after each step), or None.
        render_seat: show what this seat may know; None: all cards, as to a spectator.
        max_cycles: truncate an episode after so many decisions; a hand cut off pays nothing. None: never.
        allow_empty: let an episode be without a decision.

    Raises:
        TonkError: an argument is wrong; from `step`, the move is illegal (nothing has changed then).
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as PettingZoo declares it
        "name": "tonk_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        rules: RulesLike = "pagat",
        num_players: int = 2,
        hands: int | None = None,
        render_mode: str | None = None,
        *,
        render_seat: int | None = None,
        max_cycles: int | None = None,
        allow_empty: bool = False,
    ) -> None:
        super().__init__()
        self.rules = lower(rules)
        self._layout = layout(self.rules, num_players)
        self._match = Match(self.rules, num_players, hands=hands)
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise TonkError(f"render_mode = {render_mode!r}: it is one of {', '.join(RENDER_MODES)}, or None")
        if render_seat is not None and not 0 <= render_seat < num_players:
            raise TonkError(f"render_seat = {render_seat}: seats are 0 to {num_players - 1}, or None for all")
        if max_cycles is not None and max_cycles < 1:
            raise TonkError(f"max_cycles = {max_cycles}: an episode takes one decision or more")
        self.num_players, self.hands = num_players, hands
        self.render_mode, self.render_seat = render_mode, render_seat
        self.max_cycles, self.allow_empty = max_cycles, allow_empty
        self._size, self._num_actions = self._layout.size, self.rules.num_actions

        self.possible_agents = [f"player_{seat}" for seat in range(num_players)]
        self.agents: list[str] = []
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0.0, 1.0, (self._size,), np.float32),
                    "action_mask": spaces.Box(0, 1, (self._num_actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(self._num_actions) for agent in self.possible_agents}
        state_size = num_players * (self._size + 1) + self.rules.rules.deck_size(num_players)
        self.state_space = spaces.Box(0.0, 1.0, (state_size,), np.float32)

        self._tables = np.zeros(1, STATE_DTYPE)
        self._views = np.zeros(1, VIEW_DTYPE)
        self._actions = np.zeros(MAX_ACTIONS, np.int16)
        self._payments = np.zeros((1, MAX_SEATS))
        self._stream = 0
        self._has_stream = False
        self._number = 0  # of the hand within the stream
        self._first_dealer = 0
        self._decisions = 0
        self._due: list[float] | None = None  # stakes to come with the first step
        self._is_over = True
        self._shown: Observation = {}  # to the agent that is to move

    # ---- PettingZoo

    def observation_space(self, agent: str) -> spaces.Dict:
        """Returns the space of an agent's observations, the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Returns the space of an agent's actions, the same object each time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deals the first hand of an episode.

        Args:
            seed: 0 or more, begins a new stream of hands. None goes on with the old one, or begins one at
                random.
            options: not used.
        """
        if seed is not None or not self._has_stream:
            if seed is not None and index(seed) < 0:
                raise TonkError(f"seed = {seed}: it is 0 or more")
            self._stream = (secrets.randbits(63) if seed is None else index(seed)) & _SEED_BITS
            self._has_stream = True
            self._number = 0
            self._first_dealer, _ = cut_for_deal(self.rules.rules, self.num_players, self._stream)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None
        self._decisions = 0
        due = self._deal_episode()
        self._due = due if any(due) else None
        self._is_over = self._match.is_over
        if self._is_over:
            self.agent_selection = self.possible_agents[0]
            self._pay([0.0] * self.num_players)
            self._end(self.terminations)
        else:
            self._show_mover()
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Makes a move for the agent that is to move; a terminated one takes its leave with None.

        Raises:
            TonkError: the move is illegal; nothing has changed.
        """
        if self._is_over:
            if not self.agents:
                raise TonkError("step: no episode is under way; call reset() first")
            self._was_dead_step(action)
            return
        agent = self.agent_selection
        try:
            move = index(action)  # type: ignore[arg-type]
        except TypeError:
            raise self._refusal(action) from None
        if not 0 <= move < self._num_actions:
            raise self._refusal(action)
        observation, mask = np.empty(self._size, np.float32), np.empty(self._num_actions, np.int8)
        seat = step_table(
            self._tables,
            self.rules.record,
            move,
            self._layout.starts,
            self._views,
            self._actions,
            observation,
            mask,
            self._payments,
        )
        if seat == REFUSED:
            raise self._refusal(move)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self.infos[agent] = self._empty_info()
        self._decisions += 1
        if seat < 0:
            self._end_hand()
        else:
            self.agent_selection = self.possible_agents[seat]
            self._show(observation, mask)
            if self._due is not None:
                self._pay([0.0] * self.num_players)
        if self._decisions == self.max_cycles and not self._is_over:
            self._end(self.truncations)
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """Returns what an agent may know; its mask is all zero unless it is to move."""
        if agent == self.agent_selection and not self._is_over:
            return self._shown
        seat = self.possible_agents.index(agent)
        return {"observation": self._observation(seat), "action_mask": np.zeros(self._num_actions, np.int8)}

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Returns observation, reward since last time, termination, truncation and info of who is to step."""
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def state(self) -> npt.NDArray[np.float32]:
        """Returns everything, for learners that are trained centrally.

        Returns:
            `[num_players * (size + 1) + deck]` float32 within 0 and 1: the observation of each seat,
            `player_0` first; which seat is to move, one of `num_players` (none once all has ended); then the
            stock in drawing order, one feature for each card of the deck: the card's place among the deck's
            different cards, from 1, over their number; 0 where there is no more.
        """
        state = np.zeros(self.state_space.shape, np.float32)
        for seat in range(self.num_players):
            state[seat * self._size : (seat + 1) * self._size] = self._observation(seat)
        table, record = self._tables[0], self.rules.record[0]
        if not self._is_over:
            state[self.num_players * self._size + int(table["seat"])] = 1.0
        stock = table["deck"][table["next_card"] : table["deck_size"]]
        first = self.num_players * (self._size + 1)
        state[first : first + len(stock)] = (record["type_index"][stock] + 1) / record["num_types"]
        return state

    def render(self) -> str | None:
        """Returns the table as text (`ansi`) or prints it (`human`)."""
        if self.render_mode is None:
            warnings.warn("render() without a render_mode: give 'ansi' or 'human' to env()", stacklevel=2)
            return None
        text = table_text(self._tables, self.rules, self._payments, self.render_seat)
        if self.render_mode == "ansi":
            return text
        print(text, flush=True)
        return None

    def close(self) -> None:
        """Does nothing: there is nothing to release."""

    # ---- hands

    def _deal_episode(self) -> list[float]:
        """Deals until somebody is to move; returns what the hands before that pay, by seat."""
        for _ in range(_MOST_DEALS):
            paid = [0.0] * self.num_players
            is_named = isinstance(self.rules.rules.match.first_dealer, int)
            dealer = (self._first_dealer + (0 if is_named else self._number)) % self.num_players
            self._match = Match(self.rules, self.num_players, dealer, self.hands)
            self.infos = {agent: self._empty_info() for agent in self.agents}
            if self._deal_until_live(paid) or self.allow_empty:
                return paid
        raise TonkError("rules: nearly every hand is won on the deal, so there is nothing to decide")

    def _deal_until_live(self, paid: list[float]) -> bool:
        """Deals hands that are left, up to one with a decision; adds to `paid` what those before it pay."""
        while not self._match.is_over:
            bets = self._match.deals_since_won
            live = deal_numbered(
                self._tables,
                self.rules.record,
                self.num_players,
                self._match.dealer,
                self._stream,
                self._number,
                bets["suit"],
                bets["naturals"],
                self._match.multiplier,
                self._payments,
            )
            self._number += 1
            if live:
                return True
            self._book(paid)
        return False

    def _book(self, paid: list[float]) -> None:
        """Books the hand that ended: its payments, and what the agents are told of it."""
        payments = self._payments[0, : self.num_players].tolist()
        self._match.book(payments, bet_winners(self._tables[0]))
        ending = ENDINGS[int(self._tables["ending"][0])]
        for seat, agent in enumerate(self.possible_agents):
            paid[seat] += payments[seat]
            self.infos[agent] = {**self._empty_info(), "ending": ending, "payments": payments}

    def _end_hand(self) -> None:
        paid = [0.0] * self.num_players
        self._book(paid)
        live = self._deal_until_live(paid)
        self._pay(paid)
        if live:
            self._show_mover()
        else:
            self._end(self.terminations)

    def _pay(self, paid: list[float]) -> None:
        """Gives the agents their rewards, with those due from before the first step."""
        for seat, agent in enumerate(self.agents):
            self.rewards[agent] = paid[seat] + (0.0 if self._due is None else self._due[seat])
        self._due = None
        self._accumulate_rewards()

    def _end(self, flags: dict[str, bool]) -> None:
        """Ends the episode for everybody."""
        for agent in self.agents:
            flags[agent] = True
            self.infos[agent]["action_mask"] = np.zeros(self._num_actions, np.int8)
        self._is_over = True
        self._shown = {}
        self._deads_step_first()

    # ---- what is shown

    def _empty_info(self) -> dict[str, Any]:
        return {"action_mask": np.zeros(self._num_actions, np.int8)}

    def _show_mover(self) -> None:
        """Looks who is to move and shows it what it observes and may do."""
        observation, mask = np.empty(self._size, np.float32), np.empty(self._num_actions, np.int8)
        seat = show_mover(
            self._tables,
            self.rules.record,
            self._layout.starts,
            self._views,
            self._actions,
            observation,
            mask,
        )
        self.agent_selection = self.possible_agents[seat]
        self._show(observation, mask)

    def _show(self, observation: npt.NDArray[np.float32], mask: npt.NDArray[np.int8]) -> None:
        """Keeps what the agent to move observes and may do."""
        self._shown = {"observation": observation, "action_mask": mask}
        self.infos[self.agent_selection]["action_mask"] = mask

    def _observation(self, seat: int) -> npt.NDArray[np.float32]:
        observation = np.empty(self._size, np.float32)
        show_seat(self._tables, seat, self.rules.record, self._layout.starts, self._views, observation)
        return observation

    def _refusal(self, action: object) -> TonkError:
        return TonkError(refusal_text(self._tables, self.rules, self.agent_selection, action))

    # ---- copies

    def __getstate__(self) -> dict[str, Any]:
        # Lowered rules are large, shared and read-only: a copy makes do with the options.
        state = self.__dict__.copy()
        del state["_layout"]
        return {**state, "rules": self.rules.rules}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.rules = lower(state["rules"])
        self._layout = layout(self.rules, self.num_players)

    def __copy__(self) -> raw_env:
        return copy.deepcopy(self)


def env(
    rules: RulesLike = "pagat",
    num_players: int = 2,
    hands: int | None = None,
    render_mode: str | None = None,
    **options: Any,
) -> Any:
    """Returns a `raw_env`, with the same arguments, that objects to use before `reset` or out of turn."""
    return OrderEnforcingWrapper(raw_env(rules, num_players, hands, render_mode, **options))


if ID not in pettingzoo.aec_registry:
    pettingzoo.register("aec", ID, entry_point=env)

__all__ = ["Observation", "env", "raw_env"]
