"""Deep CFR: what its memories keep, what its walks say, and that its runs end well and go on exactly."""

from __future__ import annotations

import io
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

from agents.neural import kernels
from agents.registry import make
from tests.learning.small_games import tiny_rules
from tests.learning.test_solver_runs import TINY, curves, stop_at
from tonk_env.errors import TonkError
from tonk_env.observe import layout
from train.cfr.deep import DeepCfr, Memory, Network, regret_matching
from train.cfr.expand import TonkGame, expand
from train.cfr.flat import CHANCE, TERMINAL
from train.cfr.policies import exact_exploitability
from train.cfr.run import solve
from train.config import DeepConfig, make_config

QUIET = Console(file=io.StringIO(), force_terminal=False)


@pytest.fixture(scope="module")
def rules_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rules") / "tiny.toml"
    path.write_text(TINY)
    return path


def tiny_config(rules_file: Path, **deep: Any) -> DeepConfig:
    config: DeepConfig = make_config({
        "run": {"name": "deep", "total_iterations": 12, "measure_every": 6, "checkpoint_every": 6},
        "game": {"rules": str(rules_file)},
        "deep": {"hands": 200, "memory": 20_000, "layers": [32], "steps": 60, "average_steps": 200,
                 "batch": 256, **deep},
        "evaluation": {"exact": True, "anchors": ["random"], "deals": 200},
    })  # fmt: skip
    return config


def test_a_memory_is_a_uniform_sample_of_all_that_was_added() -> None:
    counts = np.zeros(120)
    for trial in range(400):
        lots, memory = np.random.default_rng(trial), Memory(30, 1)
        for first in range(0, 120, 40):
            numbers = np.arange(first, first + 40)
            one = np.ones(40, np.int64)
            memory.add(
                lots, numbers[:, None].astype(np.float32), one[:, None].astype(np.int16), one,
                numbers[:, None] / 2.0, first + 1.0,
            )  # fmt: skip
        observations, _, _, targets, weights = memory.arrays()
        kept = observations[:, 0].astype(int)
        assert len(set(kept.tolist())) == 30 and memory.seen == 120
        np.testing.assert_array_equal(targets[:, 0], kept / 2)
        np.testing.assert_array_equal(weights, kept // 40 * 40 + 1)
        counts[kept] += 1
    # 400 trials at one quarter: a third of the rows is 4,000 ± 50.
    assert np.abs(counts.reshape(3, 40).sum(axis=1) - 4000).max() < 250
    assert np.abs(counts - 100).max() < 45


def test_regret_matching_follows_gains_or_else_the_best() -> None:
    advantages = np.array([[3, 1, -2, 9], [-3, -1, -2, 9], [0, 0, 0, 9]], np.float32)
    strategy = regret_matching(advantages, np.array([3, 3, 3]))
    np.testing.assert_allclose(strategy, [[0.75, 0.25, 0, 0], [0, 1, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0]])


def exact_advantages(game: TonkGame) -> dict[bytes, dict[int, float]]:
    """What each action gains over uniform play, by observation; only where one information set has it."""
    nodes, size = game.nodes, len(game.nodes)
    values, reach = np.zeros((size, 2)), np.ones((size, 2))  # reach: without one's own part
    for node in range(size):
        first, count = int(nodes["first_child"][node]), int(nodes["num_children"][node])
        for child in range(first, first + count):
            seat = int(nodes["seat"][node])
            chance = nodes["chance"][child] if seat == CHANCE else 1 / count
            reach[child] = reach[node] * chance
            if seat != CHANCE:
                reach[child, seat] = reach[node, seat]
    gains, weights = np.zeros(game.num_places), np.zeros(len(game.sets))
    for node in range(size - 1, -1, -1):
        first, count = int(nodes["first_child"][node]), int(nodes["num_children"][node])
        children, seat, index = slice(first, first + count), int(nodes["seat"][node]), nodes["index"][node]
        if seat == TERMINAL:
            values[node] = game.payoffs[index]
        elif seat == CHANCE:
            values[node] = nodes["chance"][children] @ values[children]
        else:
            values[node] = values[children].mean(axis=0)
            place = int(game.sets["first"][index])
            gain = values[children, seat] - values[node, seat]
            gains[place : place + count] += reach[node, seat] * gain
            weights[index] += reach[node, seat]
    views, _, num_actions = game.views(0, len(game.sets))
    planes = layout(game.rules, game.num_players)
    observations = np.zeros((len(views), planes.size), np.float32)
    kernels.observe_rows(views, game.rules.record, planes.starts, observations)
    names = [row.tobytes() for row in observations.astype(np.float16)]
    found: dict[bytes, dict[int, float]] = {}
    sharing = Counter(names)
    for index, name in enumerate(names):
        place = int(game.sets["first"][index])
        ids = game.actions[place : place + num_actions[index]].tolist()
        if sharing[name] == 1:
            found[name] = dict(
                zip(ids, (gains[place : place + len(ids)] / weights[index]).tolist(), strict=True)
            )
    return found


@pytest.mark.parametrize("branches", [1000, 0])
def test_walks_estimate_advantages_without_bias(rules_file: Path, branches: int) -> None:
    solver = DeepCfr(tiny_config(rules_file, memory=100_000, branches=branches))
    lots = np.random.default_rng(5)
    for _ in range(40):
        for seat in range(2):
            solver._walk(seat, lots)  # by an untrained network: all moves are alike
    observations, legal, num_legal, targets, _ = solver.memories[0].arrays()
    places = defaultdict(list)
    for row, observation in enumerate(observations):
        places[observation.tobytes()].append(row)
    exact, checked = exact_advantages(expand(tiny_rules())), 0
    for name, gains in exact.items():
        rows = np.array(places[name], np.int64)
        if len(rows) < 100:
            continue
        count = len(gains)
        assert (num_legal[rows] == count).all() and legal[rows[0], :count].tolist() == list(gains)
        sampled = targets[rows, :count].astype(float)
        error = 5 * sampled.std(axis=0) / np.sqrt(len(rows)) + 1e-3
        assert (np.abs(sampled.mean(axis=0) - list(gains.values())) < error).all()
        checked += 1
    assert checked > 20


@pytest.fixture(scope="module")
def unbroken(rules_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return solve(tiny_config(rules_file), tmp_path_factory.mktemp("runs"), console=QUIET)


def test_exploitability_falls_and_what_ships_is_what_was_measured(unbroken: Path) -> None:
    measured = json.loads((unbroken / "result.json").read_text())["measured"]
    agent = make(str(unbroken / "latest.zip"))
    assert exact_exploitability(agent, tiny_rules()) == pytest.approx(measured["exploitability"], abs=1e-6)
    assert measured["exploitability"] < 0.5 * exact_exploitability(make("random"), tiny_rules())
    assert measured["stake_vs_random"] > 0.1
    assert [step for step, _ in curves(unbroken)["solver/exploitability"]] == [6, 12]


def test_stopped_and_resumed_equals_unbroken(rules_file: Path, unbroken: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        solve(tiny_config(rules_file), tmp_path, open_solver=stop_at(4), console=QUIET)
    run = tmp_path / "deep-1"
    assert torch.load(run / "state.pt", weights_only=True)["iterations"] == 4
    solve(resume=run, console=QUIET)
    assert (run / "latest.zip").read_bytes() == (unbroken / "latest.zip").read_bytes()
    assert (run / "result.json").read_text() == (unbroken / "result.json").read_text()
    assert curves(run) == curves(unbroken)


def test_a_network_says_numbers_of_legal_actions_only() -> None:
    network = Network(3, (8,), 5)
    with torch.no_grad():
        network.action_net.bias.copy_(torch.arange(5.0))
        says = network(torch.zeros(2, 3), torch.tensor([[4, 1], [0, 3]]))
    assert says.tolist() == [[4, 1], [0, 3]]


def test_bad_configs_are_one_line(tmp_path: Path) -> None:
    for data, message in (
        ({"deep": {"hand": 3}}, r"deep.hand: no such option \(did you mean hands\?\)"),
        ({"deep": {"branches": -1}}, "deep.branches = -1: Input should be greater than or equal to 0"),
        ({"deep": {}, "solver": {}}, "no such option"),
    ):
        with pytest.raises(TonkError, match=message) as error:
            make_config(data)
        assert "\n" not in str(error.value)
    with pytest.raises(TonkError, match="too large to expand"):
        solve(make_config({"deep": {}, "evaluation": {"exact": True}}), tmp_path, console=QUIET)
    with pytest.raises(TonkError, match="nobody"):
        solve(make_config({"deep": {}, "evaluation": {"anchors": ["nobody"]}}), tmp_path, console=QUIET)
    assert not list(tmp_path.iterdir())
