"""Solvers' runs: what their folders hold, that a stopped run goes on as an unbroken one, and what plays."""

from __future__ import annotations

import io
import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents.registry import make
from agents.tabular.table import read_table
from arena.anchors import evaluate
from tests.learning.small_games import tiny_rules
from tonk_env.errors import TonkError
from tonk_env.rules import lower
from train.cfr.policies import exact_exploitability
from train.cfr.run import solve
from train.cfr.solvers import open_solver
from train.config import SolverConfig, TrainConfig, config_reference, dump_config, make_config
from train.kinds import trainer_of

QUIET = Console(file=io.StringIO(), force_terminal=False)
TINY = """
base = "pagat"
turn_limit = 1
[deck]
ranks = "A23"
suits = 2
[deal]
hand_size = 2
[instant_wins]
tiers = []
"""


@pytest.fixture(scope="module")
def rules_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rules") / "tiny.toml"
    path.write_text(TINY)
    return path


@pytest.fixture(params=["cfr+", "external"], scope="module")
def config(request: pytest.FixtureRequest, rules_file: Path) -> SolverConfig:
    return make_config({
        "run": {"name": "tiny", "total_iterations": 60, "measure_every": 10, "checkpoint_every": 20},
        "game": {"rules": str(rules_file)},
        "solver": {"method": request.param, "batch": 5},
    })  # fmt: skip


@pytest.fixture(scope="module")
def unbroken(config: SolverConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return solve(config, tmp_path_factory.mktemp("runs"), console=QUIET)


def curves(run: Path) -> dict[str, list[tuple[int, float]]]:
    events = EventAccumulator(str(run), size_guidance={"scalars": 0})
    events.Reload()
    tags = [tag for tag in events.Tags()["scalars"] if not tag.startswith("time/")]
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in tags}


def stop_at(iteration: int) -> Any:
    """Makes solvers in the midst of whose work Ctrl-C is pressed."""

    def open_stopping(config: Any) -> Any:
        solver = open_solver(config)
        step = solver.step

        def stopping_step() -> None:
            step()
            if solver.iterations == iteration:
                signal.raise_signal(signal.SIGINT)

        solver.step = stopping_step  # type: ignore[method-assign]
        return solver

    return open_stopping


def test_a_run_leaves_what_it_should(unbroken: Path) -> None:
    found = {path.name for path in unbroken.iterdir() if not path.name.startswith("events")}
    assert found == {
        "config.toml", "manifest.json", "train.log", "times.jsonl", "latest.npz", "state.pt", "checkpoints",
        "result.json",
    }  # fmt: skip
    assert sorted(path.name for path in (unbroken / "checkpoints").iterdir()) == [
        "20.npz",
        "40.npz",
        "60.npz",
    ]
    tags = curves(unbroken)
    assert {"solver/exploitability", "solver/information_sets", "solver/memory_mb"} <= set(tags)
    assert [step for step, _ in tags["solver/exploitability"]] == [10, 20, 30, 40, 50, 60]
    result = json.loads((unbroken / "result.json").read_text())
    assert result["iterations"] == 60


def test_stopped_and_resumed_equals_unbroken(config: SolverConfig, unbroken: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        solve(config, tmp_path, open_solver=stop_at(25), console=QUIET)
    run = tmp_path / "tiny-1"
    assert torch.load(run / "state.pt", weights_only=True)["iterations"] == 25
    assert "go on with: tonk train --resume" in (run / "train.log").read_text()
    assert trainer_of(None, run) is solve
    solve(resume=run, console=QUIET)
    assert (run / "latest.npz").read_bytes() == (unbroken / "latest.npz").read_bytes()
    assert (run / "result.json").read_text() == (unbroken / "result.json").read_text()
    assert curves(run) == curves(unbroken)


def test_resuming_a_finished_run_changes_nothing(unbroken: Path) -> None:
    before = (unbroken / "latest.npz").read_bytes(), curves(unbroken)
    solve(resume=unbroken, console=QUIET)
    assert ((unbroken / "latest.npz").read_bytes(), curves(unbroken)) == before


def test_the_target_ends_a_run(config: SolverConfig, tmp_path: Path) -> None:
    easy = config.model_copy(update={"run": config.run.model_copy(update={"target": 100.0})})
    run = solve(easy, tmp_path, console=QUIET)
    assert json.loads((run / "result.json").read_text())["iterations"] == 10


def test_the_solution_plays_as_it_was_found(unbroken: Path, rules_file: Path) -> None:
    agent = make(str(unbroken / "latest.npz"))
    measured = json.loads((unbroken / "result.json").read_text())["measured"]["exploitability"]
    assert exact_exploitability(agent, tiny_rules()) == pytest.approx(measured, rel=1e-9, abs=1e-12)
    assert agent.unknown == 0
    greedy = make(f"{unbroken / 'latest.npz'}:greedy")
    assert exact_exploitability(greedy, tiny_rules()) > measured
    rules = lower(str(rules_file))
    won = evaluate(agent, ["random"], rules, 2, 2000, 1)[0]
    assert won.stakes_per_hand > 0.1 and agent.unknown == 0


def test_other_games_are_refused(unbroken: Path) -> None:
    agent = make(str(unbroken / "latest.npz"))
    with pytest.raises(
        TonkError, match=r"the solution of .*tiny.toml with 2 players; it plays no other game"
    ):
        agent.start(lower("toy_2s4r"), 2, 0)
    with pytest.raises(TonkError, match="it plays no other game"):
        agent.start(tiny_rules(), 3, 0)


def test_views_that_were_not_met_are_played_uniformly_and_counted(unbroken: Path) -> None:
    from train.cfr.expand import expand

    manifest, arrays = read_table(unbroken / "latest.npz")
    arrays["keys"] = np.arange(len(arrays["keys"]), dtype=np.int64)  # none of them comes up
    from agents.tabular.solution import Solution

    agent = Solution(manifest, arrays, Path("lost.npz"))
    views, legal, num_legal = expand(tiny_rules()).views(0, 20)
    chances = agent.probabilities(views, legal, num_legal)
    assert agent.unknown == 20
    np.testing.assert_allclose(chances.max(axis=1), 1 / num_legal)


def damaged(content: bytes, how: str) -> bytes:
    if how == "empty":
        return b""
    if how == "cut short":
        return content[: len(content) // 2]
    if how == "text":
        return b"keys"
    if how == "flipped":
        middle = len(content) // 3
        return (
            content[:middle]
            + bytes(byte ^ 255 for byte in content[middle : middle + 40])
            + content[middle + 40 :]
        )
    stream = io.BytesIO()
    arrays: dict[str, Any] = {
        "foreign": {"keys": np.arange(3)},
        "pickled": {"manifest": np.array([{}], object)},
        "no manifest": {"manifest": np.frombuffer(b"[]", np.uint8)},
    }[how]
    np.savez(stream, **arrays)
    return stream.getvalue()


@pytest.mark.parametrize(
    "how", ["empty", "cut short", "text", "flipped", "foreign", "pickled", "no manifest"]
)
def test_damaged_files_are_one_line(unbroken: Path, tmp_path: Path, how: str) -> None:
    path = tmp_path / "bad.npz"
    path.write_bytes(damaged((unbroken / "latest.npz").read_bytes(), how))
    with pytest.raises(TonkError, match=r"bad\.npz") as error:
        make(str(path))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("keys", np.zeros(3, np.int64)),
        ("keys", np.zeros(3, np.float32)),
        ("firsts", np.array([0, 5], np.int32)),
        ("chances", None),
        ("chances", "doubled"),
    ],
)
def test_arrays_that_do_not_fit_are_one_line(unbroken: Path, name: str, array: Any) -> None:
    from agents.tabular.solution import Solution

    manifest, arrays = read_table(unbroken / "latest.npz")
    if array is None:
        del arrays[name]
    else:
        arrays[name] = 2 * arrays[name] if isinstance(array, str) else array
    with pytest.raises(TonkError, match=r"bad.npz: damaged: ") as error:
        Solution(manifest, arrays, Path("bad.npz"))
    assert "\n" not in str(error.value)


def test_configs_of_solvers_are_told_by_their_section(config: SolverConfig) -> None:
    import tomllib

    assert isinstance(config, SolverConfig) and isinstance(make_config({}), TrainConfig)
    assert make_config(tomllib.loads(dump_config(config))) == config
    with pytest.raises(TonkError, match=r"solver.metod: no such option \(did you mean method\?\)"):
        make_config({"solver": {"metod": "cfr"}})
    with pytest.raises(TonkError, match="ppo: no such option"):
        make_config({"solver": {}, "ppo": {}})
    assert "`total_iterations`" in config_reference()


def test_games_too_large_are_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(TonkError, match="too large to expand"):
        solve(make_config({"solver": {}}), tmp_path, console=QUIET)
    assert not list(tmp_path.iterdir())
