"""What an agent does at every information set of a game, and how far that is from equilibrium."""

from __future__ import annotations

import functools

import numpy as np

from agents.base import Agent, Mixed
from tonk_env.errors import TonkError
from tonk_env.hand import RulesLike
from tonk_env.rules import LoweredRules, lower
from train.cfr.expand import TonkGame, expand
from train.cfr.flat import Floats
from train.cfr.sequences import Sequences

_BLOCK = 4096
"""Information sets that an agent is asked about at once."""


def agent_policy(game: TonkGame, agent: Agent) -> Floats:
    """Asks an agent at every information set of a game what it would do.

    Args:
        game: the game.
        agent: one that can say its probabilities (`agents.base.Mixed`); a session is begun with it.

    Returns:
        `[P]`, its policy in every seat.

    Raises:
        TonkError: it cannot say, does not play these rules, or says what are no probabilities.
    """
    if not isinstance(agent, Mixed):
        raise TonkError(
            f"{agent.name}: only its moves are seen, not the probabilities behind them: "
            "it cannot be measured exactly"
        )
    agent.start(game.rules, game.num_players, 0)
    policy = np.zeros(game.num_places)
    for first in range(0, len(game.sets), _BLOCK):
        views, legal, num_legal = game.views(first, min(first + _BLOCK, len(game.sets)))
        chances = agent.probabilities(views, legal, num_legal)
        # Those that are not legal are left out: what they have is missing from the sum.
        legal_chances = chances[np.arange(legal.shape[1]) < num_legal[:, None]]
        start = int(game.sets["first"][first])
        policy[start : start + len(legal_chances)] = legal_chances
    sums = np.add.reduceat(policy, game.sets["first"])
    if not (np.all(policy >= 0) and np.allclose(sums, 1, rtol=0, atol=1e-6)):
        wrong = int(np.argmax(~np.isclose(sums, 1, rtol=0, atol=1e-6)))
        raise TonkError(
            f"{agent.name}: its probabilities at one point of the game add up to {sums[wrong]:.6g}"
        )
    return policy


@functools.lru_cache(maxsize=2)
def expanded(rules: LoweredRules, num_players: int) -> tuple[TonkGame, Sequences]:
    """Expands a game, and keeps the last ones.

    Raises:
        TonkError: it is too large (`train.cfr.expand`).
    """
    game = expand(rules, num_players)
    return game, Sequences(game)


def exact_exploitability(agent: Agent, rules: RulesLike, num_players: int = 2) -> float:
    """Returns what the best opponent of an agent wins from it, in stakes per hand, averaged over the seats.

    The agent sits in all seats but one, where its best response sits, and the seats take turns. For two
    seats this is the exploitability of the agent playing itself.

    Args:
        agent: one that can say its probabilities (`agents.base.Mixed`).
        rules: of a game small enough to be expanded.
        num_players: seats.

    Raises:
        TonkError: the game is too large (`train.cfr.expand`), or the agent cannot be asked (`agent_policy`).
    """
    game, sequences = expanded(lower(rules), num_players)
    return sequences.exploitability(agent_policy(game, agent))
