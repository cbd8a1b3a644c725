"""`tonk bench` and `tonk doctor`: shapes and meanings; nothing here depends on how fast the machine is."""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import pytest

from benchmarks import peers
from tonk_cli import bench, speed
from tonk_cli.main import USER_ERROR, run
from tonk_env.limits import MAX_LEGAL, MAX_SEATS
from tonk_env.vector import TonkTables
from tonk_env.view import VIEW_DTYPE

KEYS = {"name", "per_second", "unit", "peer", "peer_per_second", "ratio"}
TINY = speed.Shape(tables=8, steps=4, batch=16, epochs=1, layers=(16,))
QUICK = "0.02"


@pytest.fixture(scope="module", autouse=True)
def _keep_environment():
    """What `measure` sets for itself is not left to other tests."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            patch.setenv(variable, "1")
        yield


def measured(capsys, *names):
    assert run(["bench", *names, "--json", "--seconds", QUICK]) == 0
    results = json.loads(capsys.readouterr().out)
    assert list(results) == ["results"]
    return results["results"]


@pytest.fixture(scope="module")
def benchmarked():
    return bench.measure(["engine", "engine_observed", "rule_bots", "aec"], float(QUICK))


def test_every_result_has_the_keys_and_a_peer_or_a_reason(benchmarked):
    for result in benchmarked:
        data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert data.keys() > KEYS
        assert data["unit"] == bench.UNITS[data["name"]]
        assert data["per_second"] > 0
        if data["peer"] is None:
            assert data["peer_per_second"] is None and data["ratio"] is None
            assert data["note"]
        else:
            assert data["peer_per_second"] > 0
            assert data["ratio"] == pytest.approx(data["per_second"] / data["peer_per_second"])


def test_figures_of_random_play_state_what_they_depend_on(benchmarked):
    facts = {result.name: result.to_dict() for result in benchmarked}
    for name in ("engine", "engine_observed"):
        assert facts[name]["drop_probability"] == 0.02
        # Uniformly random hands end after five decisions.
        assert facts[name]["decisions_per_hand"] > 20
    assert facts["engine_observed"]["tonk_tables_per_second"] > 0
    assert facts["aec"]["env_per_second"] > 0
    assert 5 < facts["rule_bots"]["decisions_per_hand"] < 30


def test_json_has_results_and_nothing_else(capsys):
    (result,) = measured(capsys, "engine")
    assert result["name"] == "engine"


def test_the_table_names_every_benchmark_and_its_conditions(capsys):
    assert run(["bench", "engine", "rule_bots", "--seconds", QUICK]) == 0
    text = capsys.readouterr().out
    for part in ("engine", "rule_bots", "drop probability 0.02", "decisions per hand", "best of"):
        assert part in text


def test_training_says_where_its_time_goes(monkeypatch):
    monkeypatch.setattr(speed.training, "__defaults__", (TINY,))
    ours, peer = speed.training(0.01), peers.stock_ppo(0.01, TINY)
    assert ours.per_second > 0 and peer.per_second > 0
    assert ours.facts["precision"] in ("fp32", "bf16")
    assert set(ours.facts["split"]) == {"forward", "tables", "learner", "other"}
    assert sum(ours.facts["split"].values()) == pytest.approx(1, abs=0.01)
    json.dumps(dict(ours.facts))


def test_a_peer_that_is_not_installed_is_null_with_a_note(monkeypatch, capsys):
    # What importing such a name does is to raise.
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    (result,) = measured(capsys, "engine")
    assert result["peer"] is None
    assert "pyspiel is not installed" in result["note"] and "tonk[openspiel]" in result["note"]


def test_without_a_checkout_there_are_no_peers(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(bench, "_PEERS", tmp_path / "peers.py")
    (result,) = measured(capsys, "engine")
    assert result["peer"] is None and "checkout" in result["note"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["bench", "engines"], "engine_observed"),
        (["bench", "--seconds", "0"], "--seconds 0"),
        (["bench", "--seconds", "nan"], "--seconds nan"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, named, capsys):
    assert run(arguments) == USER_ERROR
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("tonk: ") and printed.err.count("\n") == 1 and named in printed.err


def test_the_best_repetition_counts_and_each_is_long_enough(monkeypatch):
    now, asked = [0.0], []
    slow = iter([1.0] * 8 + [2.0, 0.5, 1.0, 4.0])
    monkeypatch.setattr(time, "process_time", lambda: now[0])

    def work(amount):
        asked.append(amount)
        now[0] += amount * 0.001 * next(slow)
        return 10 * amount

    # A slice is a fifth of 1.0 seconds; the first amount that takes half of one, 0.1 seconds, is 128.
    assert speed.best_rate(work, 1.0, 5) == pytest.approx(10 / 0.0005)
    assert asked == [1, 2, 4, 8, 16, 32, 64, 128, 128, 128, 128, 128]


def test_the_loop_writes_what_the_tables_show():
    batch = TonkTables("pagat", 2, 16, seed=3)
    observations, masks = batch.observations.copy(), batch.masks.copy()
    batch.observations[:], batch.masks[:] = -1, 7
    before = batch.tables.copy()
    speed.play_randomly(
        batch.tables, batch.rules[0].record, 1, 5, np.zeros(16, np.int64), np.zeros(MAX_LEGAL, np.int16),
        batch.masks, np.zeros((1, MAX_SEATS)), True, batch.layouts[0].starts, np.zeros(1, VIEW_DTYPE),
        batch.observations,
    )  # fmt: skip
    np.testing.assert_array_equal(batch.observations, observations)
    np.testing.assert_array_equal(batch.masks, masks)
    assert all(batch.tables[i] != before[i] for i in range(16))


def test_doctor_says_what_the_machine_has(capsys):
    assert run(["doctor", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["cores"] >= 1 and facts["cpu"]
    assert facts["matmul_gflops"].keys() == {"fp32", "bf16"}
    assert all(speed > 0 for speed in facts["matmul_gflops"].values())
    assert facts["training_precision"] in ("fp32", "bf16")
    assert facts["versions"]["numpy"] == np.__version__
    assert run(["doctor"]) == 0
    assert facts["cpu"] in capsys.readouterr().out
