from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import arena.blocks
from agents.bot import Bot
from agents.heuristic import heuristic
from agents.random import RandomAgent
from arena.blocks import play_groups, policy_of
from arena.deals import agent_keys, deck_keys
from arena.play import Played, play_hands
from arena.schedule import make_groups
from arena.statistics import t_quantile
from arena.tournament import run_tournament
from tonk_env.errors import TonkError
from tonk_env.rules import lower

LADDER = ["heuristic:drop=10", "heuristic:drop=25", "random", "reference"]


def named(agent: Any, name: str) -> Any:
    agent.name = name
    return agent


class Lawless(RandomAgent):
    """Does what no rules know of."""

    name = "lawless"

    def act(self, views: Any, legal: Any, num_legal: Any, keys: Any) -> npt.NDArray[np.int32]:
        return np.full(len(views), -2, np.int32)


class Witness(RandomAgent):
    """Plays at random and keeps what it is told."""

    name = "witness"

    def __init__(self) -> None:
        self.started: list[tuple[int, int]] = []
        self.paid: list[npt.NDArray[np.float64]] = []

    def start(self, rules: Any, num_players: int, seed: int) -> None:
        self.started.append((num_players, seed))

    def end(self, payments: npt.NDArray[np.float64]) -> None:
        self.paid.append(payments.copy())


def test_payments_sum_to_zero_and_everybody_plays_the_same() -> None:
    results = run_tournament(LADDER, deals=100, seed=3)
    assert results.hands == 100 * 2 * 6
    assert sum(each.stakes for each in results.agents) == 0.0
    for each in results.agents:
        assert each.hands == 100 * 2 * 3
        assert each.stakes == pytest.approx(each.per_hand.mean * each.hands)
        assert sum(one.share for row in each.endings.values() for one in row.values()) == pytest.approx(1)
        in_endings = [
            one.share * one.stakes_per_hand for row in each.endings.values() for one in row.values()
        ]
        assert sum(in_endings) == pytest.approx(each.per_hand.mean)
        assert np.mean([seat.mean for seat in each.seats]) == pytest.approx(each.per_hand.mean)
    means = [each.per_hand.mean for each in results.agents]
    assert means == sorted(means, reverse=True)
    assert results.agents[-1].agent == "random"


def test_results_against_hands_played_one_by_one() -> None:
    rules, deals, seed = lower("pagat"), 40, 11
    agents = [heuristic(10), RandomAgent()]
    results = run_tournament([agent.name for agent in agents], deals=deals, seed=seed)
    for agent in agents:
        agent.start(rules, 2, 0)
    decks, lots = deck_keys(seed, 0, deals), agent_keys(seed, 0, deals)
    by_block = np.zeros(deals)
    for block in range(deals):
        for seats in ((0, 1), (1, 0)):
            one = slice(block, block + 1)
            played = play_hands(agents, np.array([seats]), rules, decks[one], lots[one], np.array([1]))
            by_block[block] += played.payments[0, seats.index(0)] / 2
    pair = results.pair("heuristic:drop=10", "random")
    assert pair.per_hand.mean == pytest.approx(by_block.mean())
    error = by_block.std(ddof=1) / np.sqrt(deals)
    assert pair.per_hand.half == pytest.approx(t_quantile(deals - 1) * error)
    assert results.pair("random", "heuristic:drop=10").per_hand.mean == -pair.per_hand.mean
    first = next(each for each in results.agents if each.agent == "heuristic:drop=10")
    assert first.per_hand == pair.per_hand
    assert pair.hands == first.hands == 2 * deals


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_same_seed_gives_the_same_bytes_in_batches_of_any_size(players: int) -> None:
    whole = run_tournament(LADDER, players=players, deals=30, seed=5).to_json()
    for batch in (1, 7, 30):
        assert (
            run_tournament(LADDER, players=players, deals=30, seed=5, batch_blocks=batch).to_json() == whole
        )
    assert run_tournament(LADDER, players=players, deals=30, seed=6).to_json() != whole


def test_another_process_gives_the_same_bytes() -> None:
    play = f"run_tournament({LADDER}, deals=20).to_json()"
    code = f"from arena.tournament import run_tournament; print({play}, end='')"
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == run_tournament(LADDER, deals=20).to_json()


@pytest.mark.parametrize("players", [2, 3])
def test_a_pair_is_the_same_whoever_else_takes_part_and_in_whatever_order(players: int) -> None:
    small, large = LADDER[:players], [*reversed(LADDER), "heuristic:drop=0"]
    alone = run_tournament(small, players=players, deals=50)
    rules = lower("pagat")
    agents = [arena.blocks.as_agent(spec) for spec in large]
    group = tuple(sorted(large.index(spec) for spec in small))
    tally = play_groups(agents, [group], rules, players, 50, 0)
    for each in alone.agents:
        assert tally.per_hand(large.index(each.agent)) == each.per_hand
    if players == 2:
        assert run_tournament(large, deals=50).pair(*small) == alone.pair(*small)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("make", [lambda: heuristic(15), RandomAgent], ids=["rule", "lots"])
def test_an_agent_against_itself_wins_exactly_nothing(make: Any, players: int) -> None:
    agents = [named(make(), str(seat)) for seat in range(players)]
    results = run_tournament(agents, players=players, deals=25)
    for each in (*results.agents, *results.pairs):
        assert each.per_hand.mean == 0.0
        assert each.per_hand.half == 0.0
    assert results.agents[0].seats[0].half > 0


@pytest.mark.parametrize(("agents", "players"), [(4, 3), (4, 4), (5, 4), (6, 6)])
def test_larger_tables(agents: int, players: int) -> None:
    specs = [f"heuristic:drop={4 * number}" for number in range(agents - 1)] + ["random"]
    results = run_tournament(specs, players=players, deals=20)
    groups = make_groups("round_robin", agents, players)
    assert results.hands == 20 * len(groups) * (6 if players == 3 else players)
    assert len({each.hands for each in results.agents}) == 1
    assert sum(each.hands for each in results.agents) == players * results.hands
    assert sum(each.stakes for each in results.agents) == 0.0
    assert len(results.pairs) == agents * (agents - 1) // 2
    assert all(len(each.seats) == players for each in results.agents)
    if agents == players:
        # Payments sum to zero, so an agent's differences sum to `players` times its payment.
        for each in results.agents:
            others = [other.agent for other in results.agents if other is not each]
            total = sum(results.pair(each.agent, other).per_hand.mean for other in others)
            assert total == pytest.approx(players / 2 * each.per_hand.mean)


def test_fewer_agents_than_seats_meet_in_all_mixtures() -> None:
    assert make_groups("round_robin", 2, 3) == [(0, 0, 1), (0, 1, 1)]
    assert make_groups("round_robin", 3, 3) == [(0, 1, 2)]
    assert make_groups("round_robin", 4, 2) == list(itertools.combinations(range(4), 2))
    results = run_tournament(["heuristic:drop=5", "random"], players=4, deals=20)
    assert results.hands == 20 * 3 * 4
    assert sum(each.hands for each in results.agents) == 4 * results.hands
    assert sum(each.stakes for each in results.agents) == 0.0
    assert results.pairs[0].hands == results.hands


def test_all_groups_play_the_same_decks(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Any, ...]] = []

    def watched(
        agents: Any, seating: Any, rules: Any, decks: Any, lots: Any, dealers: Any, **_: Any
    ) -> Played:
        seen.append((decks.tolist(), lots.tolist(), dealers.tolist(), set(seating.ravel().tolist())))
        return play_hands(agents, seating, rules, decks, lots, dealers)

    monkeypatch.setattr(arena.blocks, "play_hands", watched)
    run_tournament(LADDER[:3], deals=10, batch_blocks=10)
    assert [members for *_, members in seen] == [{0, 1}, {0, 2}, {1, 2}]
    assert all(rest == list(seen[0][:3]) for *rest, _ in seen)
    decks = seen[0][0]
    assert decks[::2] == decks[1::2]  # both seatings of a block
    assert len(set(decks)) == 10


def test_agents_are_started_for_every_batch_and_told_what_they_were_paid() -> None:
    witness = Witness()
    results = run_tournament([witness, "reference"], deals=9, batch=5, batch_blocks=2)
    assert [players for players, _ in witness.started] == [2, 2]
    assert len({seed for _, seed in witness.started}) == 2
    assert [len(each) for each in witness.paid] == [10, 8]
    paid = np.concatenate(witness.paid)
    mine = next(each for each in results.agents if each.agent == "witness")
    assert len(paid) == mine.hands == 18
    assert paid.sum() == mine.stakes


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    results = run_tournament(
        LADDER[:3], deals=10, batch=4, progress=lambda done, total: told.append((done, total))
    )
    assert told[-1] == (results.hands, results.hands)
    assert [done for done, _ in told] == sorted({done for done, _ in told})


def test_points_are_kept_under_push_ups(tmp_path: Path) -> None:
    preset = tmp_path / "points.toml"
    preset.write_text('base = "pagat"\nscoring = "push_ups"\n', encoding="utf-8")
    results = run_tournament(LADDER[:2], rules=str(preset), deals=20)
    assert all(each.stakes < 0 for each in results.agents)


def test_policies_are_named() -> None:
    class Stating(Witness):
        policy = "greedy"

    class Network(Witness):
        greedy = False

    assert policy_of(heuristic(5)) == "deterministic"
    assert policy_of(RandomAgent()) == "sampled"
    assert policy_of(Stating()) == "greedy"
    assert policy_of(Network()) == "sampled"
    assert isinstance(heuristic(5), Bot)

    class Stranger:
        name = "stranger"
        start = act = end = Witness.end

    assert policy_of(Stranger()) == "unstated"


@pytest.mark.parametrize(
    ("agents", "options", "message"),
    [
        (["random", "nobody"], {}, "no agent 'nobody'"),
        (["random", "random"], {}, "agents: random is there twice; name each agent once"),
        (["heuristic:drop=5", "heuristic:drop=05"], {}, "twice .*drop=5 and heuristic:drop=05 are the same"),
        (["random"], {}, "agents: 1 given"),
        (["random", "reference"], {"players": 9}, "players = 9: these rules are played by 2, 3"),
        (["random", "reference"], {"players": 1}, "players = 1: "),
        (["random", "reference"], {"deals": 0}, "deals = 0: at least 2"),
        (["random", "reference"], {"deals": 1}, "deals = 1: at least 2"),
        (["random", "reference"], {"seed": -1}, "seed = -1: "),
        (["random", "reference"], {"rules": "whist"}, "no rules preset 'whist'"),
        ([Lawless(), "reference"], {"deals": 4}, "agent lawless chose action -2, which is not legal"),
    ],
)
def test_mistakes_take_one_line(agents: list[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(TonkError, match=message) as caught:
        run_tournament(agents, **options)
    assert "\n" not in str(caught.value)


def test_the_json_has_the_agreed_shape() -> None:
    found = json.loads(run_tournament(LADDER[:2], deals=5, seed=9).to_json())
    assert (found["rules"], found["players"], found["seed"], found["deals"], found["hands"]) == (
        "pagat",
        2,
        9,
        5,
        10,
    )
    for each in found["agents"]:
        assert {"agent", "hands", "stakes_per_hand", "ci95", "endings", "seats"} <= each.keys()
        low, high = each["ci95"]
        assert low <= each["stakes_per_hand"] <= high
        assert (each["adjusted"], each["forfeits"], each["withdrawn"]) == (None, 0, False)
    pair = {"a", "b", "hands", "stakes_per_hand", "ci95", "adjusted", "p_holm", "deals_needed"}
    assert set(found["pairs"][0]) == pair
    assert (found["schedule"], found["until"], found["blocks_left_out"]) == ("round_robin", None, 0)
    assert (found["effects"], found["triples"], found["match_hands"]) == ([], [], 1)
    (point,) = found["convergence"]
    assert point["deals"] == 5
    low, high = found["agents"][0]["ci95"]
    mean, half = point["agents"][found["agents"][0]["agent"]]
    assert [mean - half, mean + half] == [low, high]
    assert found["rules_fingerprint"] == lower("pagat").fingerprint
    assert set(found["versions"]) == {"tonk", "engine"}
