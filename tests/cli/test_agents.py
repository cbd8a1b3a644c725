"""`tonk arena`, `tonk train`, `tonk quickstart` and `tonk doctor`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

QUICK = ("--deals", 20, "--seed", 7)
TINY = (
    "run.total_decisions=512",
    "run.checkpoint_every=512",
    "rollout.tables=8",
    "rollout.steps=16",
    "ppo.batch=64",
    "network.layers=[16, 16]",
    "network.precision=fp32",
    "evaluation.every=512",
    "evaluation.deals=4",
    "evaluation.final_deals=4",
    'evaluation.anchors=["random"]',
    "evaluation.keep=worst",
)


def set_all(values: tuple[str, ...]) -> list[str]:
    return [part for value in values for part in ("--set", value)]


# ---- arena


def test_arena(tonk: Any, tmp_path: Path) -> None:
    said = tonk("arena", "reference", "random", *QUICK, "--out", tmp_path)
    assert said.status == 0 and "stakes/hand" in said.out and "reference" in said.out
    results = tonk("arena", "reference", "random", "--rules", "pagat", "--players", 2, *QUICK, "--json").json
    assert json.loads((tmp_path / "results.json").read_text()) == results
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>") and "reference" in page and "Ranking" in page
    assert [each["agent"] for each in results["agents"]] == ["reference", "random"]
    assert {"a", "b", "hands", "stakes_per_hand", "ci95"} <= set(results["pairs"][0])


def test_arena_of_a_config(tonk: Any, tmp_path: Path) -> None:
    file = tmp_path / "three.toml"
    file.write_text('agents = ["random", "heuristic:drop=5"]\nplayers = 3\ndeals = 4\n')
    results = tonk("arena", file, "--seed", 3, "--json").json
    assert (results["players"], results["deals"], results["seed"]) == (3, 4, 3)


def test_arena_shows_progress_to_whoever_watches(tonk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert tonk("arena", "random", "reference", *QUICK).status == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("random",), "agents: 1 given, and a tournament needs at least two"),
        (("random", "whist"), "no agent 'whist'"),
        (("random", "random"), "agents: random is there twice"),
        (("random", "reference", "--deals", "1"), "--deals = 1: at least 2 are needed"),
        (
            ("random", "reference", "--rules", "toy_hits", "--players", "4"),
            "--players = 4: these rules are played by 2",
        ),
        (("random", "reference", "--until", "0"), "--until = 0.0: input should be greater than 0"),
        (("random", "reference", "--min-deals", "0"), "--min-deals = 0: input should be greater than or"),
        (
            ("random", "reference", "--schedule", "swiss"),
            "--schedule = 'swiss': input should be 'round_robin'",
        ),
        (("--resume",), "--resume: say which folder to go on in, with --out DIR"),
        (("--resume", "--out", "nosuch"), "nosuch: no tournament to resume"),
        (("tonk_bench_1",), "agents: none given, and schedule = 'field'"),
        (("nosuch.toml",), "no arena config 'nosuch.toml'"),
        (("nosuch.zip", "random"), "no trained agent 'nosuch.zip'"),
    ],
)
def test_arena_refuses_in_one_line(tonk: Any, arguments: tuple[str, ...], says: str) -> None:
    assert tonk("arena", *arguments).refusal().startswith(says)


def test_arena_enters_an_agent_in_a_config(tonk: Any, tmp_path: Path) -> None:
    results = tonk("arena", "tonk_bench_1", "heuristic:drop=7", "--deals", 4, "--json").json
    assert (results["schedule"], results["seed"], len(results["pairs"])) == ("field", 20260101, 9)
    assert all("heuristic:drop=7" in (pair["a"], pair["b"]) for pair in results["pairs"])


def test_arena_goes_on_in_its_folder(tonk: Any, tmp_path: Path) -> None:
    call = ("arena", "reference", "random", *QUICK, "--out", tmp_path)
    first = tonk(*call, "--json")
    assert first.status == 0
    blocks = tmp_path / "blocks.jsonl"
    header, batch = blocks.read_bytes().splitlines(keepends=True)
    for words in (call, (*call, "--resume"), ("arena", "--resume", "--out", tmp_path)):
        blocks.write_bytes(header + batch[:50])
        assert tonk(*words, "--json").out == first.out
    assert tonk("arena", "reference", "random", "--seed", 8, "--deals", 20, "--out", tmp_path).refusal() == (
        f"{blocks}: holds another tournament (seed = 7 there, 8 here); give another folder"
    )


def test_arena_says_how_to_go_on(tonk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("arena.run.run", stop)
    call = ("arena", "reference", "random", "--out", tmp_path / "a b", "--workers", 2)
    assert "before anything was played" in tonk(*call).err
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "blocks.jsonl").write_text("{}")
    said = tonk(*call)
    assert (said.status, said.out) == (130, "")
    assert said.err.endswith(f"go on with: tonk arena --resume --out '{tmp_path}/a b' --workers 2\n")
    assert "nothing is kept" in tonk("arena", "reference", "random").err


# ---- train


def test_train_and_rank_and_resume(tonk: Any, tmp_path: Path) -> None:
    said = tonk("train", "quickstart", "--out", tmp_path, *set_all(TINY))
    assert said.status == 0
    run = tmp_path / "quickstart-1"
    assert (run / "best.zip").is_file() and (run / "manifest.json").is_file()
    results = tonk("arena", run / "best.zip", "random", *QUICK, "--json").json
    assert any("best.zip" in each["agent"] for each in results["agents"])
    said = tonk("play", "--against", run / "best.zip", "--seed", 1, typed="q\n")
    assert said.status == 0 and "You left the table" in said.out
    assert tonk("train", "--resume", run).status == 0


def test_quickstart(tonk: Any, tmp_path: Path) -> None:
    said = tonk("quickstart", "--out", tmp_path, "--deals", 10, *set_all(TINY))
    assert said.status == 0
    for part in ("heuristic:drop=25", "random", "reference", "stakes/hand"):
        assert part in said.out
    run, curves = said.out.splitlines()[-2:]
    assert run == f"Run folder: {tmp_path / 'quickstart-1'}"
    assert curves.startswith("Its curves: ") and curves.endswith(f"tensorboard --logdir {tmp_path}")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nosuch",), "no training config 'nosuch'"),
        (
            ("cfr_toy", "--set", "solver.method=cfrplus"),
            "solver.method = 'cfrplus': Input should be 'cfr', 'cfr+'",
        ),
        (("cfr_toy", "--set", "game.rules=pagat"), "too large to expand: at least"),
        (("quickstart", "--set", "ppo.epoch=3"), "epoch: no such option (did you mean epochs?)"),
        (("quickstart", "--set", "ppo"), "--set ppo: write it as section.key=value"),
        (("quickstart", "--set", "game.players=9"), "game.players = 9"),
        (("quickstart", "--set", "game.rules=whist"), "no rules preset 'whist'"),
        (("quickstart", "--resume", "x"), "give either a training config to start with, or --resume RUN"),
        (("--resume", "x", "--set", "ppo.epochs=3"), "--resume x: a run keeps its config and folder"),
    ],
)
def test_train_refuses_in_one_line(tonk: Any, arguments: tuple[str, ...], says: str) -> None:
    assert says in tonk("train", *arguments).refusal()


def test_a_toy_is_solved_and_its_solution_plays(tonk: Any, tmp_path: Path) -> None:
    said = tonk("train", "cfr_toy", "--out", tmp_path, "--set", "run.target=0.01")
    assert said.status == 0, said.err
    run = tmp_path / "cfr_toy-1"
    assert tonk("train", "--resume", run).status == 0
    solution = run / "latest.npz"
    said = tonk("arena", solution, "random", "--rules", "toy_2s4r", "--deals", "200", "--json")
    assert said.status == 0 and said.json["agents"][0]["stakes_per_hand"] > 0.1
    assert "it plays no other game" in tonk("arena", solution, "random", "--deals", "20").refusal()


def test_train_into_an_unwritable_folder(tonk: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = tonk("train", "quickstart", "--out", tmp_path / "file" / "runs", *set_all(TINY))
    assert said.refusal().startswith(f"{tmp_path / 'file' / 'runs'}: cannot write run folders there")


def test_train_unknown_key_of_a_config(tonk: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[ppo]\nepoch = 3\n")
    assert tonk("train", file).refusal().startswith(f"{file}: ppo.epoch: no such option")


def test_train_resume_of_no_run(tonk: Any, tmp_path: Path) -> None:
    assert "not the folder of a run" in tonk("train", "--resume", tmp_path).refusal()


# ---- doctor


def test_doctor(tonk: Any) -> None:
    said = tonk("doctor")
    assert said.status == 0
    for part in ("cpu: ", "bf16_in_cpu: ", "kernel_cache: ", "numba: ", "training_precision: "):
        assert part in said.out
    facts = tonk("doctor", "--json").json
    assert facts["versions"]["numpy"] and facts["cores"] >= 1
