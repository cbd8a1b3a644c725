"""Run folders: what they hold, and that a run killed and taken up again equals one that never stopped."""

from __future__ import annotations

import io
import json
import signal
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents.base import Agent
from agents.neural.agent import NeuralAgent
from agents.neural.checkpoint import read_checkpoint
from arena.anchors import AnchorResult
from tests.learning.toys import Interleaved
from tonk_env.errors import TonkError
from tonk_env.rules import LoweredRules
from train.config import EvaluationSection, TrainConfig, make_config
from train.game import Game
from train.run import train

QUIET = Console(file=io.StringIO(), force_terminal=False)


class Killed(Exception):
    """As good as kill -9: nothing of ours handles it, and nothing is written after it."""


def config(**run: Any) -> TrainConfig:
    options = {
        "run": {"name": "toy", "seed": 5, "total_decisions": 6400, "checkpoint_every": 1280, **run},
        "rollout": {"tables": 40, "steps": 16},
        "network": {"layers": [24, 16], "precision": "fp32"},
        "ppo": {"batch": 320, "average": 0.5, "learning_rate": 3e-3},
        "evaluation": {"every": 1920, "anchors": ["easy", "hard"], "deals": 10, "final_deals": 20},
    }
    return make_config(options)


def game_dying_at(moves: int) -> Callable[[TrainConfig], Game]:
    """Sets up toy tables that end the process, as it were, at some move."""

    def open_game(config: TrainConfig) -> Game:
        tables = Interleaved(config.game.players, config.rollout.tables, config.run.seed, observation_size=96)
        step, made = tables.step, [0]

        def counted_step(actions: np.ndarray) -> None:
            made[0] += 1
            if made[0] == moves:
                raise Killed
            step(actions)

        tables.step = counted_step
        return Game(tables, None, "toy rules", "toy actions", "toy planes", ("won",), False)

    return open_game


toy_game = game_dying_at(-1)


def evaluate(
    agent: Agent, anchors: Sequence[str], rules: LoweredRules | None, players: int, deals: int, seed: int
) -> list[AnchorResult]:
    """Stands in for the arena: some number that depends on the weights, the decks and the anchor."""
    assert isinstance(agent, NeuralAgent)
    strength = sum(float(tensor.double().sum()) for tensor in agent.weights.tensors())
    return [
        AnchorResult(anchor, float(np.sin(strength + seed + at)), 1 / deals, deals)
        for at, anchor in enumerate(anchors)
    ]


def curves(run: Path) -> dict[str, list[tuple[int, float]]]:
    events = EventAccumulator(str(run), size_guidance={"scalars": 0})
    events.Reload()
    tags = [tag for tag in events.Tags()["scalars"] if not tag.startswith("time/")]
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in tags}


def weights(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read("policy.pth")


def assert_same(one: Any, other: Any) -> None:
    """Equal to the bit, however nested."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_same(left, right)
    elif isinstance(one, torch.Tensor):
        assert torch.equal(one, other)
    else:
        assert one == other


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(
        config(), tmp_path_factory.mktemp("runs"), evaluate=evaluate, open_game=toy_game, console=QUIET
    )


def test_a_run_leaves_what_it_should(unbroken: Path) -> None:
    assert unbroken.name == "toy-1"
    found = {path.name for path in unbroken.iterdir() if not path.name.startswith("events")}
    assert found == {
        "config.toml", "manifest.json", "train.log", "times.jsonl", "best.zip", "latest.zip", "state.pt",
        "checkpoints", "result.json",
    }  # fmt: skip
    manifest = json.loads((unbroken / "manifest.json").read_text())
    assert manifest["precision"] == "fp32" and manifest["seed"] == 5 and manifest["versions"]["torch"]
    assert manifest["rules"]["fingerprint"] == "toy rules"
    checkpoints = sorted(int(path.stem) for path in (unbroken / "checkpoints").iterdir())
    assert checkpoints == [1280, 2560, 3840, 5120, 6400]


def test_curves_have_the_promised_tags(unbroken: Path) -> None:
    tags = set(curves(unbroken))
    assert {
        "train/approx_kl", "train/entropy_loss", "train/policy_gradient_loss", "train/value_loss",
        "train/clip_fraction", "train/explained_variance", "train/learning_rate", "train/entropy_coef",
        "game/decisions_per_hand", "game/ending_won", "anchors/stake_vs_easy", "anchors/ci_half_hard",
    } <= tags  # fmt: skip


def test_learning_rate_and_entropy_are_annealed(unbroken: Path) -> None:
    found = curves(unbroken)
    np.testing.assert_allclose(
        [value for _, value in found["train/learning_rate"]], 3e-3 * np.linspace(1, 0.1, 10)
    )
    steps = [step for step, _ in found["train/entropy_coef"]]
    assert steps == list(range(640, 6401, 640))
    values = [value for _, value in found["train/entropy_coef"]]
    np.testing.assert_allclose(values, 0.005 + 0.075 * np.linspace(1, 0.1, 10), rtol=1e-5)


def test_the_best_is_kept_and_scored_on_other_decks(unbroken: Path) -> None:
    found = curves(unbroken)
    worst = np.minimum(*(np.array(found[f"anchors/stake_vs_{name}"])[:, 1] for name in ("easy", "hard")))
    steps = [step for step, _ in found["anchors/stake_vs_easy"]]
    assert steps == [1920, 3840, 5760, 6400]
    result = json.loads((unbroken / "result.json").read_text())
    assert result["best"]["decisions"] == steps[int(worst.argmax())]
    assert result["best"]["margin"] == pytest.approx(worst.max())
    manifest, _ = read_checkpoint(unbroken / "best.zip")
    assert manifest.decisions == result["best"]["decisions"]
    assert [score["anchor"] for score in result["fresh"]] == ["easy", "hard"]
    assert result["fresh"][0]["stakes_per_hand"] != pytest.approx(
        found["anchors/stake_vs_easy"][int(worst.argmax())][1]
    )


def test_the_average_is_what_plays(unbroken: Path) -> None:
    state = torch.load(unbroken / "state.pt", weights_only=True)["model"]
    _, playing = read_checkpoint(unbroken / "latest.zip")
    assert torch.equal(playing.policy_weight, state["average"]["action_net.weight"])
    assert not torch.equal(playing.policy_weight, state["policy"]["action_net.weight"])


@pytest.mark.parametrize("moves", [5, 16 * 2 + 3, 16 * 5, 16 * 10])  # before any checkpoint, and later
def test_killed_and_resumed_equals_unbroken(unbroken: Path, tmp_path: Path, moves: int) -> None:
    with pytest.raises(Killed):
        train(config(), tmp_path, evaluate=evaluate, open_game=game_dying_at(moves), console=QUIET)
    run = tmp_path / "toy-1"
    if moves <= 16 * 2:
        with pytest.raises(TonkError, match="no checkpoint to resume from"):
            train(resume=run, evaluate=evaluate, open_game=toy_game, console=QUIET)
        return
    train(resume=run, evaluate=evaluate, open_game=toy_game, console=QUIET)
    assert_same(
        torch.load(run / "state.pt", weights_only=True), torch.load(unbroken / "state.pt", weights_only=True)
    )
    assert weights(run / "best.zip") == weights(unbroken / "best.zip")
    assert weights(run / "latest.zip") == weights(unbroken / "latest.zip")
    assert (run / "result.json").read_text() == (unbroken / "result.json").read_text()
    assert curves(run) == curves(unbroken)  # nothing lost, nothing doubled


def test_killed_twice_and_resumed_twice(unbroken: Path, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        train(config(), tmp_path, evaluate=evaluate, open_game=game_dying_at(50), console=QUIET)
    with pytest.raises(Killed):
        train(resume=tmp_path / "toy-1", evaluate=evaluate, open_game=game_dying_at(60), console=QUIET)
    train(resume=tmp_path / "toy-1", evaluate=evaluate, open_game=toy_game, console=QUIET)
    assert weights(tmp_path / "toy-1" / "best.zip") == weights(unbroken / "best.zip")
    assert curves(tmp_path / "toy-1") == curves(unbroken)


def test_ctrl_c_saves_and_resumes(unbroken: Path, tmp_path: Path) -> None:
    pressed: list[int] = []

    def press(*given: Any) -> list[AnchorResult]:
        if not pressed:
            pressed.append(1)
            signal.raise_signal(signal.SIGINT)
        return evaluate(*given)

    with pytest.raises(KeyboardInterrupt):
        train(config(), tmp_path, evaluate=press, open_game=toy_game, console=QUIET)
    run = tmp_path / "toy-1"
    assert torch.load(run / "state.pt", weights_only=True)["decisions"] == 1920  # no checkpoint was due
    assert "go on with: tonk train --resume" in (run / "train.log").read_text()
    train(resume=run, evaluate=evaluate, open_game=toy_game, console=QUIET)
    assert weights(run / "best.zip") == weights(unbroken / "best.zip")
    assert curves(run) == curves(unbroken)


def test_resuming_a_finished_run_changes_nothing(unbroken: Path) -> None:
    before = weights(unbroken / "best.zip"), curves(unbroken)
    train(resume=unbroken, evaluate=evaluate, open_game=toy_game, console=QUIET)
    assert (weights(unbroken / "best.zip"), curves(unbroken)) == before


def test_equal_seeds_give_equal_runs_and_others_do_not(unbroken: Path, tmp_path: Path) -> None:
    again = train(config(), tmp_path, evaluate=evaluate, open_game=toy_game, console=QUIET)
    assert weights(again / "latest.zip") == weights(unbroken / "latest.zip")
    other = train(config(seed=6), tmp_path, evaluate=evaluate, open_game=toy_game, console=QUIET)
    assert other.name == "toy-2"
    assert weights(other / "latest.zip") != weights(unbroken / "latest.zip")


def test_without_anchors_the_last_is_the_best(tmp_path: Path) -> None:
    lonely = config(total_decisions=1280).model_copy(update={"evaluation": EvaluationSection(anchors=())})
    run = train(lonely, tmp_path, open_game=toy_game, console=QUIET)
    assert weights(run / "best.zip") == weights(run / "latest.zip")


def test_an_anchor_that_cannot_play_is_found_before_training(tmp_path: Path) -> None:
    broken = config().model_copy(update={"evaluation": EvaluationSection(anchors=("heuristic:dorp=1",))})
    with pytest.raises(TonkError, match="write heuristic:drop=T"):
        train(broken, tmp_path, console=QUIET)
    assert not list(tmp_path.iterdir())


def test_an_unwritable_place_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TonkError, match="cannot write run folders there") as error:
        train(config(), tmp_path / "file", open_game=toy_game, console=QUIET)
    assert "\n" not in str(error.value)


def test_resuming_something_else_is_one_line(tmp_path: Path, unbroken: Path) -> None:
    with pytest.raises(TonkError, match="not the folder of a run"):
        train(resume=tmp_path, open_game=toy_game, console=QUIET)

    def other_game(config: TrainConfig) -> Game:
        game = toy_game(config)
        return Game(game.tables, None, "other rules", "toy actions", "toy planes", ("won",), False)

    with pytest.raises(TonkError, match="its rules are not those"):
        train(resume=unbroken, open_game=other_game, console=QUIET)


def game_that_ends(endings: tuple[str, ...], spoil: bool = False) -> Callable[[TrainConfig], Game]:
    """Toy tables all of whose hands end as `endings[0]`; where spoilt, they show what is not a number."""

    def open_game(config: TrainConfig) -> Game:
        game = toy_game(config)
        if spoil:
            show = game.tables._show

            def spoilt_show() -> None:
                show()
                game.tables.observations[:] = np.nan

            game.tables._show = spoilt_show
        return Game(game.tables, None, "toy rules", "toy actions", "toy planes", endings, True)

    return open_game


def test_never_dropping_raises_an_alarm_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("train.run._SETTLING", 0)
    short = config(total_decisions=2560)
    run = train(short, tmp_path, evaluate=evaluate, open_game=game_that_ends(("out", "drop")), console=QUIET)
    assert (run / "train.log").read_text().count("ALARM: only 0.0% of hands end by a drop") == 1
    assert set(curves(run)) >= {"game/drop_rate", "game/ending_drop", "game/ending_out"}
    run = train(short, tmp_path, evaluate=evaluate, open_game=game_that_ends(("drop", "out")), console=QUIET)
    assert "ALARM" not in (run / "train.log").read_text()


def test_a_run_that_diverges_stops_and_says_so(tmp_path: Path) -> None:
    with pytest.raises(TonkError, match="training diverged at 640 decisions"):
        train(
            config(),
            tmp_path,
            evaluate=evaluate,
            open_game=game_that_ends(("out",), spoil=True),
            console=QUIET,
        )


def test_kernels_are_compiled_for_one_signature_each(unbroken: Path) -> None:
    from agents.neural import kernels
    from train.selfplay import kernels as loss_kernels

    if not hasattr(kernels.choose, "signatures"):
        pytest.skip("kernels are not compiled")
    used = [
        kernels.append_observations,
        kernels.append_legal,
        kernels.take_rows,
        kernels.fill_keys,
        kernels.choose,
    ]
    used += [loss_kernels.returns_per_seat, loss_kernels.policy_and_value_loss]
    used += [loss_kernels.rectifier_backward, loss_kernels.transpose_rows]
    assert {kernel.__name__: len(kernel.signatures) for kernel in used} == {
        kernel.__name__: 1 for kernel in used
    }
