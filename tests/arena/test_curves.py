from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.curves import Point, curves, write_curves
from tonk_env.errors import TonkError


def results(*pairs: tuple[str, str, float]) -> dict[str, Any]:
    """A tournament in which the agents finished in the order in which `pairs` names them."""
    names = list(dict.fromkeys(name for a, b, _ in pairs for name in (a, b)))
    return {
        "agents": [{"agent": name, "stakes_per_hand": 0.5 - place} for place, name in enumerate(names)],
        "pairs": [
            {"a": a, "b": b, "stakes_per_hand": mean, "ci95": [mean - 0.25, mean + 0.25]}
            for a, b, mean in pairs
        ],
    }


LADDER = results(
    ("runs/x/checkpoints/200.zip", "expert", 0.125),
    ("runs/x/checkpoints/200.zip", "runs/x/checkpoints/100.zip", 0.5),
    ("expert", "runs/x/checkpoints/100.zip", 0.25),
)


def test_checkpoints_of_one_tournament() -> None:
    found = curves(LADDER)
    assert Point("runs/x", "arena/stake_vs_expert", 200, 0.125) in found
    assert Point("runs/x", "arena/stake_vs_expert", 100, -0.25) in found
    assert Point("runs/x", "arena/ci_half_expert", 100, 0.25) in found
    assert Point("runs/x", "arena/rank", 200, 1) in found
    assert Point("runs/x", "arena/rank", 100, 3) in found
    assert Point("runs/x", "arena/stakes_per_hand", 100, -1.5) in found
    assert not any("zip" in point.tag for point in found)


@pytest.mark.parametrize("name", ["step_30.zip", "a/step_30.zip", "a/ppo_step_30.zip", "a/30.zip:greedy"])
def test_names_of_checkpoints(name: str) -> None:
    assert {point.step for point in curves(results(("random", name, -1.0)))} == {30}


def test_several_tournaments() -> None:
    runs = [(step, results(("a/best.zip", "random", step / 8))) for step in (1, 2)]
    found = curves(runs, agent="a/best.zip")
    assert [point.value for point in found if point.tag == "arena/stake_vs_random"] == [1 / 8, 2 / 8]
    found = curves([(7, results(("random", "a/5.zip", 0.5)))])
    assert {point.step for point in found} == {7}


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(TonkError, match=r"no agent is a checkpoint named …/N\.zip or …/step_N\.zip"):
        curves(results(("expert", "random", 0.5)))
    with pytest.raises(TonkError, match="step 3: 2 agents are a checkpoint"):
        curves([(3, LADDER)])
    with pytest.raises(TonkError, match=r"step 3: best\.zip did not take part"):
        curves([(3, LADDER)], agent="best.zip")


def read(folder: Path) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    tags = events.Tags()
    return {
        tag: [(event.step, event.tensor_proto.float_val[0]) for event in events.Tensors(tag)]
        for tag in tags["tensors"]
    }


def test_curves_are_read_back(tmp_path: Path) -> None:
    assert write_curves(tmp_path / "curves", LADDER) == 8
    found = read(tmp_path / "curves")
    assert found["arena/stake_vs_expert"] == [(100, -0.25), (200, 0.125)]
    assert found["arena/rank"] == [(100, 3), (200, 1)]


def test_runs_are_kept_apart(tmp_path: Path) -> None:
    write_curves(
        tmp_path,
        results(("../x/1.zip", "expert", 0.5), ("x/1.zip", "expert", 0.25), ("y/1.zip", "expert", 0)),
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x_1", "x_2", "y"]
    assert read(tmp_path / "x_2")["arena/stake_vs_expert"] == [(1, 0.25)]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TonkError, match=r"file: cannot be written: "):
        write_curves(tmp_path / "file", LADDER)


def test_neither_torch_nor_tensorflow_is_loaded(tmp_path: Path) -> None:
    code = (
        "import sys; from arena.curves import write_curves;"
        f"write_curves({str(tmp_path)!r}, {LADDER!r});"
        "print([name for name in ('torch', 'tensorflow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
