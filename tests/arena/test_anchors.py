from __future__ import annotations

import pytest

from agents.heuristic import heuristic
from agents.random import RandomAgent
from arena.anchors import evaluate
from arena.deals import seatings
from arena.tournament import run_tournament
from tonk_env.errors import TonkError
from tonk_env.rules import lower


def test_two_seats_are_a_tournament_of_two() -> None:
    agent = heuristic(10)
    found = evaluate(agent, ["random", "reference"], deals=50, seed=4)
    assert [each.anchor for each in found] == ["random", "reference"]
    for each in found:
        pair = run_tournament([agent.name, each.anchor], deals=50, seed=4).pair(agent.name, each.anchor)
        assert (each.stakes_per_hand, each.ci_half) == (pair.per_hand.mean, pair.per_hand.half)
        assert each.hands == pair.hands == 100


@pytest.mark.parametrize("players", [3, 4, 6])
def test_the_anchor_holds_all_other_seats(players: int) -> None:
    agent = heuristic(10)
    (found,) = evaluate(agent, [RandomAgent()], lower("pagat"), players, deals=30)
    assert found.anchor == "random"
    assert found.hands == 30 * players
    assert found.stakes_per_hand - found.ci_half > 0
    sat = seatings((0, *[1] * (players - 1)), 0, 0, 1)[0]
    assert sorted(row.tolist().index(0) for row in sat) == list(range(players))


def test_an_agent_of_the_same_name_is_no_obstacle() -> None:
    (found,) = evaluate(heuristic(10), ["heuristic:drop=10"], deals=20)
    assert (found.stakes_per_hand, found.ci_half) == (0.0, 0.0)


def test_mistakes() -> None:
    agent = RandomAgent()
    with pytest.raises(TonkError, match="random is the agent that is measured"):
        evaluate(agent, [agent], deals=2)
    with pytest.raises(TonkError, match="players = 9"):
        evaluate(agent, ["reference"], players=9)
    with pytest.raises(TonkError, match="no agent 'nobody'"):
        evaluate(agent, ["nobody"])
