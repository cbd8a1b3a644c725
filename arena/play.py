"""Plays hands between agents, whole batches of tables at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from tonk_env._jit import jit, mix
from tonk_env.batch import apply_rows, deal_hands, legal_rows, live_rows, settle_tables, view_rows
from tonk_env.engine.state import STATE_DTYPE
from tonk_env.errors import TonkError
from tonk_env.limits import MAX_LEGAL, MAX_SEATS
from tonk_env.rules import LoweredRules
from tonk_env.view import VIEW_DTYPE


@dataclass(frozen=True)
class Played:
    """Hands that were played.

    Attributes:
        payments: `[B, MAX_SEATS]` float64, in stakes, by seat.
        tables: `[B]` STATE_DTYPE, as the hands ended.
    """

    payments: npt.NDArray[np.float64]
    tables: npt.NDArray[np.void]


@jit
def _decision_keys(tables: npt.NDArray[np.void], rows: npt.NDArray[np.int64], keys: npt.NDArray[np.int64], out: npt.NDArray[np.int64]) -> None:
    """Writes a random key for each decision, fixed by the hand's key, the seat and the move's number."""
    for j in range(rows.shape[0]):
        i = rows[j]
        out[j] = mix(mix(keys[i], int(tables[i]["seat"])), int(tables[i]["moves"]))


def play_hands(
    agents: Sequence[Agent],
    seating: npt.NDArray[np.int64],
    rules: LoweredRules,
    deck_keys: npt.NDArray[np.int64],
    agent_keys: npt.NDArray[np.int64],
    dealers: npt.NDArray[np.int64],
) -> Played:
    """Plays one hand at each of B tables.

    Args:
        agents: those that play, already started.
        seating: `[B, num_players]` int64, index into `agents` by seat.
        rules: the rules.
        deck_keys: `[B]` int64; equal keys deal equal decks.
        agent_keys: `[B]` int64; where the agents' randomness starts from.
        dealers: `[B]` int64.

    Raises:
        TonkError: an agent chose an illegal move.
    """
    hands, num_players = seating.shape
    record = rules.record
    tables = np.zeros(hands, STATE_DTYPE)
    deal_hands(tables, record, np.zeros(hands, np.int64), np.full(hands, num_players), dealers, deck_keys)
    rows = np.zeros(hands, np.int64)
    while live := live_rows(tables, rows):
        acting = seating[rows[:live], tables["seat"][rows[:live]]]
        for index, agent in enumerate(agents):
            mine = rows[:live][acting == index]
            if not len(mine):
                continue
            views = np.zeros(len(mine), VIEW_DTYPE)
            legal = np.zeros((len(mine), MAX_LEGAL), np.int16)
            num_legal = np.zeros(len(mine), np.int64)
            keys = np.zeros(len(mine), np.int64)
            view_rows(tables, mine, views)
            legal_rows(tables, mine, record, legal, num_legal)
            _decision_keys(tables, mine, agent_keys, keys)
            actions = np.ascontiguousarray(agent.act(views, legal, num_legal, keys), np.int32)
            wrong = apply_rows(tables, mine, record, actions)
            if wrong >= 0:
                allowed = legal[wrong, : num_legal[wrong]].tolist()
                raise TonkError(f"agent {agent.name} chose action {actions[wrong]}, which is not legal: {allowed} are")
    payments = np.zeros((hands, MAX_SEATS))
    settle_tables(tables, record, payments)
    return Played(payments, tables)
