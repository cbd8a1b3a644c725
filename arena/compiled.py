"""Hands among compiled agents alone: each played from deal to end in one go, while its table is in the cache.

Several times as fast as showing hundreds of views to each agent in turn, and the same hands to the last card.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.bot import STYLE_DTYPE, Bot, choose_rows, make_tools
from agents.random import RandomAgent
from tonk_env._jit import below, jit, mix
from tonk_env.batch import deal_match_hand
from tonk_env.engine.legal import legal_actions
from tonk_env.engine.state import ENDED, OK
from tonk_env.engine.turn import apply
from tonk_env.rules import LoweredRules
from tonk_env.view import VIEW_DTYPE, view


def can_play_compiled(agents: Sequence[Agent]) -> bool:
    """Tells whether all agents are rule bots or chance; a class derived from either may act otherwise."""
    return all(
        isinstance(agent, (Bot, RandomAgent)) and type(agent).act in (Bot.act, RandomAgent.act)
        for agent in agents
    )


def play_compiled(
    tables: npt.NDArray[np.void],
    agents: Sequence[Agent],
    seating: npt.NDArray[np.int64],
    rules: LoweredRules,
    deck_keys: npt.NDArray[np.int64],
    agent_keys: npt.NDArray[np.int64],
    dealers: npt.NDArray[np.int64],
    deals: npt.NDArray[np.int64],
    multiplier: float,
) -> int:
    """Plays one hand at each of B tables, as `arena.play.play_hands` does.

    Args:
        tables: `[B]` STATE_DTYPE; overwritten with the hands as they ended.
        agents: those that sit at a table are ones for which `can_play_compiled` holds.
        seating, rules, deck_keys, agent_keys, dealers: as for `play_hands`.
        deals, multiplier: those of `arena.play.Standing`.

    Returns:
        The number of an agent that chose an illegal move, or -1.
    """
    nothing = np.zeros(1, STYLE_DTYPE)
    styles = np.concatenate([agent.style if isinstance(agent, Bot) else nothing for agent in agents])
    is_bot = np.array([isinstance(agent, Bot) for agent in agents])
    return int(
        _play(
            tables,
            rules.record,
            seating,
            dealers,
            deck_keys,
            agent_keys,
            deals,
            multiplier,
            is_bot,
            styles,
            make_tools(rules, seating.shape[1]),
            np.zeros(1, VIEW_DTYPE),
            np.zeros((1, rules.max_legal), np.int16),
            np.zeros(1, np.int64),
            np.zeros(1, np.int32),
        )
    )


@jit
def _play(
    tables: Any,
    rules: Any,
    seating: Any,
    dealers: Any,
    deck_keys: Any,
    agent_keys: Any,
    deals: Any,
    multiplier: float,
    is_bot: Any,
    styles: Any,
    tools: Any,
    views: Any,
    legal: Any,
    num_legal: Any,
    actions: Any,
) -> int:
    """Plays the hands one after the other; `views` to `actions` are scratch space of one row."""
    for i in range(tables.shape[0]):
        players = seating.shape[1]
        suit, naturals = deals[i, 0], deals[i, 1]
        deal_match_hand(tables, i, rules, 0, players, dealers[i], deck_keys[i], suit, naturals, multiplier)
        while tables[i]["phase"] != ENDED:
            seat = int(tables[i]["seat"])
            agent = seating[i, seat]
            count = legal_actions(tables, i, rules, legal[0])
            if is_bot[agent]:
                view(tables, i, seat, views, 0)
                num_legal[0] = count
                choose_rows(views, legal, num_legal, rules, styles[agent : agent + 1], tools, actions)
            else:
                # The key that `play_hands` gives for this decision, used as RandomAgent does.
                key = mix(mix(agent_keys[i], seat), int(tables[i]["moves"]))
                actions[0] = legal[0, below(key, count)]
            if apply(tables, i, rules, actions[0]) != OK:
                return int(agent)
    return -1
