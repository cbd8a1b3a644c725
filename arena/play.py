"""Plays hands between agents, hundreds of tables at once."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent, Follower, Mixed
from arena.compiled import can_play_compiled, play_compiled
from arena.luck import Luck, Recording
from tonk_env._jit import jit, mix
from tonk_env.batch import apply_rows, deal_match_hand, settle_tables
from tonk_env.engine.legal import legal_actions
from tonk_env.engine.settle import settle
from tonk_env.engine.state import ENDED, ENDINGS, STATE_DTYPE
from tonk_env.errors import TonkError
from tonk_env.limits import MAX_SEATS
from tonk_env.rules import LoweredRules
from tonk_env.view import VIEW_DTYPE, view

WINDOW = 1024
"""Hands in play at once: enough to make a call per agent cheap, few enough to stay in the cache."""


@dataclass(frozen=True)
class Played:
    """Hands that were played.

    Attributes:
        payments: `[B, MAX_SEATS]` float64, in stakes, by seat.
        tables: `[B]` STATE_DTYPE, as the hands ended.
        decks: `[B]` int64, the keys that fix the decks.
        adjusted: `[B, MAX_SEATS]` float64, payments without luck; without `luck` the payments.
    """

    payments: npt.NDArray[np.float64]
    tables: npt.NDArray[np.void]
    decks: npt.NDArray[np.int64]
    adjusted: npt.NDArray[np.float64]


@dataclass
class Standing:
    """What a hand that is one of several brings along.

    Attributes:
        deals: `[B, 2]` int64: deals that the side bets on suit and naturals stand, with this hand.
        multiplier: of everything but the side bets.
    """

    deals: npt.NDArray[np.int64]
    multiplier: float = 1.0


@dataclass
class Clock:
    """Time taken to decide.

    Attributes:
        agents: by agent number, decisions and seconds, of agents that were asked.
        compiled: decisions and seconds of hands among compiled agents alone, dealing and all.
    """

    agents: dict[int, list[float]] = field(default_factory=dict)
    compiled: list[float] = field(default_factory=lambda: [0, 0.0])

    def book(self, agent: int, decisions: int, seconds: float) -> None:
        """Adds decisions of an agent."""
        booked = self.agents.setdefault(agent, [0, 0.0])
        booked[0] += decisions
        booked[1] += seconds


@jit
def _fill_window(
    tables: Any,
    rules: Any,
    num_players: int,
    dealers: Any,
    keys: Any,
    deals: Any,
    multiplier: float,
    rows: Any,
    live: int,
    undealt: int,
) -> tuple[int, int]:
    """Drops the hands that have ended from the window and deals new ones into it.

    Args:
        rows: `[W]` int64; the tables in play are in the first `live` places. Overwritten.
        undealt: the first table without a hand.

    Returns:
        How many tables are in play, and the first without a hand.
    """
    kept = 0
    for j in range(live):
        if tables[rows[j]]["phase"] != ENDED:
            rows[kept] = rows[j]
            kept += 1
    while kept < rows.shape[0] and undealt < tables.shape[0]:
        suit, naturals = deals[undealt, 0], deals[undealt, 1]
        deal_match_hand(
            tables,
            undealt,
            rules,
            0,
            num_players,
            dealers[undealt],
            keys[undealt],
            suit,
            naturals,
            multiplier,
        )
        if tables[undealt]["phase"] != ENDED:
            rows[kept] = undealt
            kept += 1
        undealt += 1
    return kept, undealt


@jit
def _show_by_agent(
    tables: Any,
    rules: Any,
    rows: Any,
    seating: Any,
    agent_keys: Any,
    starts: Any,
    sorted_rows: Any,
    views: Any,
    legal: Any,
    num_legal: Any,
    keys: Any,
) -> None:
    """Writes what each agent has to decide, agent after agent.

    Args:
        rows: `[N]` int64, the tables in play.
        seating: `[B, num_players]` int64.
        agent_keys: `[B]` int64.
        starts: `[agents + 1]` int64; overwritten: agent a decides places starts[a] … starts[a + 1] - 1.
        sorted_rows: `[W]` int64; overwritten with the tables by place.
        views, legal, num_legal: `[W]`; overwritten, by place.
        keys: `[W]` int64; overwritten with random bits fixed by the hand's key, the seat and the move's
            number.
    """
    starts[:] = 0
    for j in range(rows.shape[0]):
        starts[seating[rows[j], tables[rows[j]]["seat"]] + 1] += 1
    for a in range(starts.shape[0] - 1):
        starts[a + 1] += starts[a]
    for j in range(rows.shape[0] - 1, -1, -1):
        # Counted down from the end of each agent's part, so that `starts` holds the ends until all are
        # placed.
        i = rows[j]
        a = seating[i, tables[i]["seat"]] + 1
        starts[a] -= 1
        at = starts[a]
        seat = int(tables[i]["seat"])
        sorted_rows[at] = i
        view(tables, i, seat, views, at)
        num_legal[at] = legal_actions(tables, i, rules, legal[at])
        keys[at] = mix(mix(agent_keys[i], seat), int(tables[i]["moves"]))
    for a in range(1, starts.shape[0] - 1):
        starts[a] = starts[a + 1]
    starts[starts.shape[0] - 1] = rows.shape[0]


def play_hands(
    agents: Sequence[Agent],
    seating: npt.NDArray[np.int64],
    rules: LoweredRules,
    deck_keys: npt.NDArray[np.int64],
    agent_keys: npt.NDArray[np.int64],
    dealers: npt.NDArray[np.int64],
    standing: Standing | None = None,
    clock: Clock | None = None,
    luck: Luck | None = None,
) -> Played:
    """Plays one hand at each of B tables.

    Where an agent answers `FORFEIT`, the hand ends so at the expense of the seat it holds there.

    Args:
        agents: those that play, already started.
        seating: `[B, num_players]` int64, index into `agents` by seat.
        rules: the rules.
        deck_keys: `[B]` int64; equal keys deal equal decks.
        agent_keys: `[B]` int64; where the agents' randomness starts from.
        dealers: `[B]` int64.
        standing: of hands that are one of several.
        clock: what the time for decisions is booked in.
        luck: what takes it out of the payments; the agents are those it was made for.

    Raises:
        TonkError: an agent chose an illegal move.
    """
    hands, num_players = seating.shape
    record, window = rules.record, min(WINDOW, hands)
    seating, deck_keys, agent_keys, dealers = (
        np.ascontiguousarray(each, np.int64) for each in (seating, deck_keys, agent_keys, dealers)
    )
    tables = np.zeros(hands, STATE_DTYPE)
    standing = standing or Standing(np.ones((hands, 2), np.int64))
    deals, multiplier = standing.deals, standing.multiplier
    clock = clock or Clock()
    recording = None if luck is None else Recording()
    if luck is None and can_play_compiled([agents[a] for a in np.unique(seating)]):
        begun = time.perf_counter()
        wrong = play_compiled(
            tables, agents, seating, rules, deck_keys, agent_keys, dealers, deals, multiplier
        )
        clock.compiled[0] += int(tables["moves"].sum())
        clock.compiled[1] += time.perf_counter() - begun
        if wrong >= 0:
            raise TonkError(f"agent {agents[wrong].name} chose an illegal move")
        return _settled(tables, record, deck_keys)
    views = np.zeros(window, VIEW_DTYPE)
    legal = np.zeros((window, rules.max_legal), np.int16)
    rows, sorted_rows, num_legal, keys = np.zeros((4, window), np.int64)
    starts = np.zeros(len(agents) + 1, np.int64)
    followers = {at: agent for at, agent in enumerate(agents) if isinstance(agent, Follower)}
    live, undealt = 0, 0
    while True:
        if followers:
            _tell_endings(followers, seating, tables, record, rows[:live])
        live, undealt = _fill_window(
            tables, record, num_players, dealers, deck_keys, deals, multiplier, rows, live, undealt
        )
        if not live:
            break
        shown = (starts, sorted_rows, views, legal, num_legal, keys)
        _show_by_agent(tables, record, rows[:live], seating, agent_keys, *shown)
        for number, agent in enumerate(agents):
            first, end = int(starts[number]), int(starts[number + 1])
            if first == end:
                continue
            part = slice(first, end)
            if number in followers:
                followers[number].follow(sorted_rows[part])
            odds = None
            if luck is not None and number in luck.drawing and isinstance(agent, Mixed):
                odds = agent.probabilities(views[part], legal[part], num_legal[part])
            begun = time.perf_counter()
            actions = agent.act(views[part], legal[part], num_legal[part], keys[part])
            clock.book(number, end - first, time.perf_counter() - begun)
            actions = np.ascontiguousarray(actions, np.int32)
            if actions.shape != (end - first,):
                raise TonkError(f"agent {agent.name} chose {actions.size} actions for {end - first} views")
            if recording is not None:
                recording.note(sorted_rows[part], actions, None if odds is None else legal[part], odds)
            wrong = apply_rows(tables, sorted_rows[part], record, actions)
            if wrong >= 0:
                allowed = legal[first + wrong, : num_legal[first + wrong]].tolist()
                raise TonkError(
                    f"agent {agent.name} chose action {actions[wrong]}, which is not legal: {allowed} are"
                )
    played = _settled(tables, record, deck_keys)
    if luck is None or recording is None:
        return played
    taken = luck.corrections(recording, seating, deck_keys, agent_keys, dealers, deals, multiplier)
    return replace(played, adjusted=played.payments + taken)


def _tell_endings(
    followers: Mapping[int, Follower],
    seating: npt.NDArray[np.int64],
    tables: npt.NDArray[np.void],
    record: npt.NDArray[np.void],
    rows: npt.NDArray[np.int64],
) -> None:
    """Tells the agents that follow hands which of those at `rows` have ended, and how."""
    payments = np.zeros((1, MAX_SEATS))
    for i in rows[tables["phase"][rows] == ENDED].tolist():
        settle(tables, i, record, payments, 0)
        ending, by = ENDINGS[int(tables[i]["ending"])], int(tables[i]["ending_seat"])
        paid = payments[0, : seating.shape[1]].tolist()
        for member in followers.keys() & seating[i].tolist():
            followers[member].end_hand(i, ending, by, paid)


def _settled(
    tables: npt.NDArray[np.void], record: npt.NDArray[np.void], decks: npt.NDArray[np.int64]
) -> Played:
    payments = np.zeros((len(tables), MAX_SEATS))
    settle_tables(tables, record, payments)
    return Played(payments, tables, decks, payments)
