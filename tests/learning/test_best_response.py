"""Best responses: what is found is worth what is said, and no more than there is to be had."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.bot import Bot
from agents.heuristic import heuristic
from agents.random import RandomAgent
from agents.registry import make
from agents.styles import WEIGHTS
from arena.anchors import evaluate
from tonk_env.errors import TonkError
from tonk_env.rules import lower
from tonk_env.sb3_env import TonkVecEnv
from train.best_response import learn
from train.best_response.run import Exploitability, exploit
from train.best_response.search import climb, coordinates
from train.best_response.table import CHOOSING, CLIMBING, FINAL, TRAINING, Budget, Table, stream_seed
from train.best_response.tables import AgainstTables

TOY = "toy_2s4r"
BOTS = Path(__file__).parents[1] / "arena" / "bots"


class Unstated(RandomAgent):
    """Plays at random, and does not say with which probabilities."""

    name = "unstated"
    probabilities = None  # type: ignore[assignment]


@pytest.fixture
def small_network(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {
        "network": {"layers": [32]},
        "rollout": {"tables": 256, "steps": 16},
        "ppo": {"batch": 1024, "learning_rate": 3e-3},
    }
    monkeypatch.setattr(learn, "FRESH", options)


def test_the_learner_sees_its_own_decisions_alone() -> None:
    players, count = 3, 40
    tables = AgainstTables(lower("pagat"), players, heuristic(10), count, seed=5)
    same = TonkVecEnv("pagat", players, "heuristic:drop=10", count, seed=5)
    observations = same.reset()
    rng, hands, learners = np.random.default_rng(0), 0, set()
    for _ in range(60):
        np.testing.assert_array_equal(tables.observations, observations)
        np.testing.assert_array_equal(tables.masks, same.action_masks())
        learners |= set(tables.seats.tolist())
        chances = tables.masks * rng.random(tables.masks.shape)
        movers = tables.seats.copy()
        actions = chances.argmax(axis=1).astype(np.int32)
        tables.step(actions)
        observations, rewards, dones, _ = same.step(actions)
        np.testing.assert_array_equal(tables.ended, dones)
        np.testing.assert_array_equal(tables.payments[np.arange(count), movers], rewards)
        np.testing.assert_allclose(tables.payments.sum(axis=1), 0, atol=1e-6)
        assert np.all((tables.decisions > 0) == dones) and np.all((tables.endings > 0) <= dones)
        hands += int(dones.sum())
    assert learners == {0, 1, 2} and hands > 100


def test_a_table_of_earnings_is_that_of_the_arena() -> None:
    rules, response, agent = lower("pagat"), make("reference"), make("heuristic:drop=25")
    for players in (2, 3, 4):
        budget = Budget(decisions=1_000_000)
        table = Table(agent, "pagat", rules, players, 3, 400, budget)
        earned = table.earnings(response, CHOOSING)
        assert earned.shape == (100,) and budget.spent > 100
        (found,) = evaluate(response, [agent], rules, players, 100, stream_seed(3, CHOOSING))
        assert found.stakes_per_hand == pytest.approx(earned.mean(), abs=1e-6)


def test_decks_of_different_purposes_never_meet() -> None:
    seeds = [stream_seed(seed, purpose) for seed in range(50) for purpose in (CHOOSING, TRAINING, FINAL)]
    seeds += [stream_seed(seed, CLIMBING, sweep) for seed in range(50) for sweep in range(5)]
    assert len(set(seeds)) == len(seeds)


def test_a_bot_that_drops_at_twenty_is_exploited() -> None:
    found = exploit("heuristic:drop=20", method="search", decisions=500_000, deals=2000)
    assert found.kind == "lower_bound" and found.method == "search"
    assert found.ci95[0] > 0.1
    assert found.ci95[0] < found.stakes_per_hand < found.ci95[1]
    assert found.budget["decisions_spent"] >= 500_000 and found.budget["responses"] > 1


def test_equal_seeds_give_equal_results() -> None:
    def bound(seed: int) -> dict[str, Any]:
        found = exploit("random", TOY, method="search", decisions=100_000, deals=400, seed=seed)
        return found.to_dict()

    assert bound(1) == bound(1) != bound(2)


def test_the_climb_goes_up_on_its_decks() -> None:
    table = Table(heuristic(20), "pagat", lower("pagat"), 2, 0, 1200, Budget(decisions=800_000))
    start = heuristic(25, 5.0)
    style, moves = climb(table, start.style, 1.0, lambda what, used: None)
    assert moves > 0 and style != start.style
    gain = table.earnings(Bot("climbed", style), FINAL) - table.earnings(start, FINAL)
    assert gain.mean() > 0.05


def test_every_number_of_a_style_can_be_moved() -> None:
    assert {field for field, _, _ in coordinates()} == {"thresholds", *WEIGHTS}
    single = [place for field, place, _ in coordinates() if field == "thresholds" and len(place) == 4]
    assert len([place for place in single if slice(None) not in place]) == 50


@pytest.mark.usefixtures("small_network")
def test_ppo_learns_what_beats_an_agent(tmp_path: Path) -> None:
    found = exploit("random", TOY, method="ppo", decisions=250_000, deals=2000, out=tmp_path)
    assert found.method == "ppo" and found.ci95[0] > 0.3
    # What is kept plays as it was measured.
    assert found.response_agent is not None
    kept = make(found.response_agent)
    (again,) = evaluate(kept, ["random"], TOY, 2, 2000, stream_seed(0, FINAL))
    assert again.stakes_per_hand == pytest.approx(found.stakes_per_hand, abs=1e-9)
    assert json.loads((tmp_path / "exploit.json").read_text()) == found.to_dict()


@pytest.mark.usefixtures("small_network")
@pytest.mark.parametrize("agent", ["random", "heuristic:drop=5", "expert"])
@pytest.mark.parametrize("method", ["search", "ppo"])
def test_no_bound_is_above_what_the_best_response_wins(agent: str, method: str) -> None:
    exact = exploit(agent, TOY)
    assert (exact.kind, exact.method) == ("exact", "exact")
    assert exact.ci95 == (exact.stakes_per_hand, exact.stakes_per_hand)
    bound = exploit(agent, TOY, method=method, decisions=100_000, deals=4000)
    assert -0.1 < bound.ci95[0] < exact.stakes_per_hand


def test_exact_is_refused_where_it_cannot_be() -> None:
    with pytest.raises(TonkError, match=r"at least .* deals"):
        exploit("random", method="exact")
    with pytest.raises(TonkError, match=r"unstated: .* cannot be measured exactly"):
        exploit(Unstated(), TOY, method="exact")


@pytest.mark.usefixtures("small_network")
@pytest.mark.parametrize("players", [2, 3])
def test_all_methods_together_at_a_toy(players: int) -> None:
    found = exploit(Unstated(), "toy_2s5r", players, decisions=150_000, deals=1000)
    assert found.kind == "lower_bound" and found.players == players
    assert found.stakes_per_hand > 0.1


def test_ppo_starts_from_a_network_that_plays_these_rules() -> None:
    start = learn.network_to_start_from(
        Table(make("random"), "pagat", lower("pagat"), 2, 0, 8, Budget(decisions=1))
    )
    assert start is not None and start.name == "pagat_2p"
    toy = Table(make("random"), TOY, lower(TOY), 2, 0, 8, Budget(decisions=1))
    assert learn.network_to_start_from(toy) is None


def test_a_searched_response_is_kept_as_an_agent(tmp_path: Path) -> None:
    found = exploit("heuristic:drop=5", TOY, method="search", decisions=300_000, deals=400, out=tmp_path)
    assert found.response_agent == f"style:{tmp_path / 'response.toml'}"
    (again,) = evaluate(make(found.response_agent), ["heuristic:drop=5"], TOY, 2, 400, stream_seed(0, FINAL))
    assert again.stakes_per_hand == pytest.approx(found.stakes_per_hand, abs=1e-9)


def test_a_program_that_breaks_down_is_not_measured() -> None:
    program = f"cmd:{sys.executable} {BOTS / 'crash_at_start.py'}"
    with pytest.raises(TonkError, match=r"forfeits its hands: .*crash"):
        exploit(program, TOY, method="search", decisions=1000, deals=40)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "guess"}, "method = guess: it is one of auto, exact, search, ppo"),
        ({"minutes": 0}, "minutes = 0: a number above 0"),
        ({"minutes": float("nan")}, "minutes = nan: a number above 0"),
        ({"decisions": 0}, "decisions = 0: at least 1"),
        ({"deals": 1}, "deals = 1: at least 2"),
        ({"seed": -1}, "seed = -1: "),
        ({"players": 9}, "players"),
        ({"agent": "whist"}, "no agent 'whist'"),
        ({"rules": "whist"}, "whist"),
        ({"agent": "pagat_2p", "rules": TOY}, "another action table"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(options: dict[str, Any], said: str) -> None:
    with pytest.raises(TonkError, match=said):
        exploit(**{"agent": "random", **options})


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_played(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TonkError, match="cannot write there"):
        exploit("random", out=tmp_path / "file" / "folder")


def test_the_report_is_plain_data() -> None:
    found = Exploitability(
        "a", "r", "f", 2, "exact", 0.5, (0.5, 0.5), "exact", "the best response", None, {}, 0
    )
    assert found.to_dict()["ci95"] == [0.5, 0.5] and found.to_dict()["format"] == "tonk-exploit/1"
    json.dumps(found.to_dict())
