from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from agents.base import Agent
from agents.heuristic import heuristic
from agents.random import RandomAgent
from agents.reference import reference
from agents.registry import make
from arena.compiled import can_play_compiled
from arena.deals import agent_keys, deck_keys
from arena.play import Played, play_hands
from tonk_env.engine.state import ENDED
from tonk_env.rules import LoweredRules, lower


class Behind:
    """Another agent, behind a class that the arena knows nothing of."""

    def __init__(self, agent: Agent) -> None:
        self.name, self.start, self.act, self.end = agent.name, agent.start, agent.act, agent.end


def play(agents: Sequence[Agent], rules: LoweredRules, players: int, hands: int) -> Played:
    for agent in agents:
        agent.start(rules, players, 0)
    seating = (np.arange(hands)[:, None] + np.arange(players)) % len(agents)
    dealers = np.arange(hands) % players
    return play_hands(agents, seating, rules, deck_keys(1, 0, hands), agent_keys(1, 0, hands), dealers)


@pytest.mark.parametrize(("rules", "players"), [("pagat", 2), ("pagat", 3), ("scarne", 4), ("newark", 6)])
def test_hands_are_the_same_however_they_are_played(rules: str, players: int) -> None:
    agents = [heuristic(10), RandomAgent(), reference(), heuristic(3, keep=5), make("expert")]
    assert can_play_compiled(agents)
    behind: list[Any] = [Behind(agent) for agent in agents]
    assert not can_play_compiled([agents[0], behind[1]])
    hands = 1200  # more than are in play at once
    one, other = (play(each, lower(rules), players, hands) for each in (agents, behind))
    assert (one.tables["phase"] == ENDED).all()
    for field in one.tables.dtype.names or ():
        np.testing.assert_array_equal(one.tables[field], other.tables[field], err_msg=field)
    np.testing.assert_array_equal(one.payments, other.payments)


def test_a_class_of_ones_own_acts_for_itself() -> None:
    class First(RandomAgent):
        def act(self, views: Any, legal: Any, num_legal: Any, keys: Any) -> Any:
            return legal[:, 0].astype(np.int32)

    assert not can_play_compiled([First(), RandomAgent()])
    played = play([First(), First()], lower("pagat"), 2, 50)
    assert (played.tables["moves"] <= 1).all()  # dropped at once
