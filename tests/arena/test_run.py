"""Tournaments in several processes, in several goes, and until intervals are narrow."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.random import RandomAgent
from arena.config import ArenaConfig
from arena.course import Course
from arena.run import BatchPlayer, run
from arena.store import BLOCKS, RESULTS, TIMING
from arena.tally import OWN
from arena.tournament import run_tournament
from tonk_env.engine.state import FORFEITED
from tonk_env.errors import TonkError

AGENTS = ("heuristic:drop=10", "random", "reference")


class Quitter(RandomAgent):
    """Is out in its third session."""

    name = "quitter"

    def __init__(self, sessions: int = 3) -> None:
        self.is_out, self.sessions = False, sessions

    def start(self, rules: Any, num_players: int, seed: int) -> None:
        super().start(rules, num_players, seed)
        self.sessions -= 1
        self.is_out = self.sessions <= 0


def command(out: Path, *words: object) -> list[str]:
    options = ["--deals", 600, "--batch", 10, "--seed", 5, "--out", out]
    return [sys.executable, "-m", "tonk_cli", "arena", *AGENTS, *map(str, [*options, *words])]


def lines(folder: Path) -> list[bytes]:
    return (folder / BLOCKS).read_bytes().splitlines(keepends=True)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an unbroken run."""
    folder = tmp_path_factory.mktemp("whole")
    run(ArenaConfig(agents=AGENTS, deals=600, batch=10, seed=5, out=str(folder)))
    return folder


@pytest.mark.parametrize("players", [2, 4])
def test_workers_change_nothing(players: int) -> None:
    options: dict[str, Any] = {"deals": 90, "batch": 8, "players": players}
    one = run_tournament([*AGENTS, "pagat_2p"] if players == 2 else AGENTS, **options)
    two = run_tournament([*AGENTS, "pagat_2p"] if players == 2 else AGENTS, workers=2, **options)
    assert one.to_json() == two.to_json()
    assert sum(each.stakes for each in two.agents) == 0.0


def test_a_folder_holds_batches_results_and_times(whole: Path) -> None:
    assert sorted(path.name for path in whole.iterdir()) == sorted([BLOCKS, RESULTS, TIMING])
    header, *batches = map(json.loads, lines(whole))
    assert header["config"]["seed"] == 5 and "workers" not in header["config"]
    assert [each["batch"] for each in batches] == list(range(60))
    results = json.loads((whole / RESULTS).read_text())
    assert [point["deals"] for point in results["convergence"]] == [30 * n for n in range(1, 21)]
    timing = json.loads((whole / TIMING).read_text())
    assert timing["hands"] == results["hands"] == 600 * 6
    assert timing["compiled"]["decisions"] > 600 * 6
    assert not {"seconds", "workers"} & set(json.dumps(results).split('"'))


def test_killed_at_any_moment_and_resumed(whole: Path, tmp_path: Path) -> None:
    rng = random.Random(1)
    kills = 0
    for turn in range(2):
        folder = tmp_path / str(turn)
        words = ("--workers", 2) if turn % 2 else ()
        done = False
        while not done:
            process = subprocess.Popen(
                command(folder, "--resume", *words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            # Until a number of lines are written, and a moment more: in whatever it does then.
            goal = len(lines(folder) if (folder / BLOCKS).exists() else []) + rng.randrange(24)
            while process.poll() is None:
                if (folder / BLOCKS).exists() and len(lines(folder)) >= goal:
                    time.sleep(rng.random() * 0.01)
                    break
                time.sleep(0.001)
            if process.poll() is None:
                process.kill()
                kills += 1
            done = process.wait() == 0
        assert (folder / RESULTS).read_bytes() == (whole / RESULTS).read_bytes()
    assert kills >= 4


def test_a_torn_or_damaged_line_is_played_again(whole: Path, tmp_path: Path) -> None:
    header, *batches = lines(whole)
    expected = (whole / RESULTS).read_bytes()
    torn = [
        b"",
        header[:10],
        header,
        header + b"".join(batches[:7]) + batches[7][:100],
        header + b"".join(reversed(batches)),  # in whatever order they were finished
        header + batches[3] + b"\0" * 50 + b"\n" + batches[5],
        header + batches[3] + b'{"batch": 4}\n[]\n' + batches[5] * 2,
        header + b"".join(batches).replace(b'"blocks":10', b'"blocks":9'),
    ]
    for number, data in enumerate(torn):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / BLOCKS).write_bytes(data)
        run(ArenaConfig(agents=AGENTS, deals=600, batch=10, seed=5, out=str(folder)))
        assert (folder / RESULTS).read_bytes() == expected
        assert lines(folder)[0] == header and lines(folder)[-1].endswith(b"}\n")


def test_what_is_done_is_not_played_again(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BatchPlayer, "play", None)
    before = (whole / RESULTS).read_bytes(), (whole / BLOCKS).read_bytes()
    run(ArenaConfig(agents=AGENTS, deals=600, batch=10, seed=5, out=str(whole), workers=2))
    assert ((whole / RESULTS).read_bytes(), (whole / BLOCKS).read_bytes()) == before


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 6}, r"holds another tournament \(seed = 5 there, 6 here\); give another folder"),
        ({"agents": AGENTS[:2]}, r"holds another tournament \(agents = \["),
        ({"rules": "scarne"}, r"\(rules = \"pagat\" there, \"scarne\" here\)"),
        ({"until": 0.1}, r"\(until = null there, 0.1 here\)"),
    ],
)
def test_a_foreign_folder_is_refused(whole: Path, changed: dict[str, Any], message: str) -> None:
    before = (whole / BLOCKS).read_bytes()
    keys = {"agents": AGENTS, "deals": 600, "batch": 10, "seed": 5, "out": str(whole)} | changed
    with pytest.raises(TonkError, match=message) as caught:
        run(ArenaConfig(**keys))
    assert "\n" not in str(caught.value)
    assert (whole / BLOCKS).read_bytes() == before


def test_a_file_of_something_else_is_kept(tmp_path: Path) -> None:
    (tmp_path / BLOCKS).write_text("my blocks\n")
    with pytest.raises(TonkError, match="not a tournament of this version; give another folder"):
        run(ArenaConfig(agents=AGENTS, deals=4, out=str(tmp_path)))
    assert (tmp_path / BLOCKS).read_text() == "my blocks\n"
    with pytest.raises(TonkError, match=r"blocks\.jsonl: cannot be written: "):
        run(ArenaConfig(agents=AGENTS, deals=4, out=str(tmp_path / BLOCKS)))


def test_a_changed_checkpoint_is_another_tournament(tmp_path: Path) -> None:
    from tonk_env.resources import find_checkpoint

    network = tmp_path / "mine.zip"
    network.write_bytes(find_checkpoint("pagat_2p").read_bytes())
    config = ArenaConfig(agents=("random", str(network)), deals=4, out=str(tmp_path / "out"))
    run(config)
    network.write_bytes(network.read_bytes() + b"\n")
    with pytest.raises(TonkError, match=r"another tournament \(checkpoints = "):
        run(config)


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    deals = 2000
    run(ArenaConfig(agents=AGENTS, deals=deals, batch=10, seed=5, out=str(tmp_path / "whole")))
    for workers in (1, 2):
        for attempt in range(5):  # on a busy machine it may be over before the signal comes
            folder = tmp_path / f"{workers}-{attempt}"
            process = subprocess.Popen(
                command(folder, "--workers", workers, "--deals", deals),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            while not (folder / BLOCKS).exists() or len(lines(folder)) < 3:
                time.sleep(0.001)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=120)[1]
            if process.returncode != 0:
                break
        assert process.returncode == 130, said
        line = said.splitlines()[-1]
        assert line.startswith("tonk: stopped; what is played is kept; go on with: tonk arena --resume --out")
        assert "Traceback" not in said
        words = line.partition("tonk arena ")[2].split()
        done = subprocess.run(
            [sys.executable, "-m", "tonk_cli", "arena", *words], capture_output=True, check=True
        )
        assert b"reference" in done.stdout
        assert (folder / RESULTS).read_bytes() == (tmp_path / "whole" / RESULTS).read_bytes()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_a_killed_run_leaves_no_process_behind(tmp_path: Path) -> None:
    marker = f"leaves-none-{os.getpid()}"
    process = subprocess.Popen(
        [*command(tmp_path / "out", "--workers", 2), "--deals", "1000000"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TONK_TEST": marker},
    )

    def alive() -> int:
        found = 0
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                found += marker.encode() in path.read_bytes()
            except OSError:
                continue
        return found

    while not (tmp_path / "out" / BLOCKS).exists() or len(lines(tmp_path / "out")) < 4:
        assert process.poll() is None
        time.sleep(0.01)
    assert alive() >= 3
    process.kill()
    process.wait()
    deadline = time.monotonic() + 20
    while alive() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive() == 0


def test_until_does_not_depend_on_workers() -> None:
    options: dict[str, Any] = {"deals": 4000, "until": 0.09, "min_deals": 200, "batch": 50}
    one = run_tournament(AGENTS, **options)
    assert 200 < one.deals < 4000
    halves = [each.per_hand.half for each in (*one.agents, *one.pairs)]
    assert max(halves) < 0.09
    assert run_tournament(AGENTS, workers=2, **options).to_json() == one.to_json()
    shorter = run_tournament(AGENTS, deals=one.deals - 50, seed=0, batch=50)
    assert max(each.per_hand.half for each in (*shorter.agents, *shorter.pairs)) >= 0.09
    # The same hands, up to where it stopped.
    plain = run_tournament(AGENTS, deals=one.deals, batch=50)
    assert [each.per_hand for each in plain.agents] == [each.per_hand for each in one.agents]


def test_until_plays_a_least_and_a_most() -> None:
    least = run_tournament(AGENTS, deals=1000, until=10.0, min_deals=120, batch=50)
    assert least.deals == 150
    most = run_tournament(AGENTS, deals=100, until=1e-9)
    assert most.deals == 100


@pytest.mark.parametrize("players", [2, 3])
def test_a_withdrawn_agent_is_left_out_for_everyone(players: int) -> None:
    options: dict[str, Any] = {"deals": 50, "batch": 10, "players": players, "seed": 1}
    quitter: Any = Quitter()
    results = run_tournament([AGENTS[0], quitter, *AGENTS[1:]], **options)
    without = run_tournament(AGENTS, **options)
    *survivors, gone = results.agents
    assert (gone.agent, gone.withdrawn) == ("quitter", True)
    # It was out after the third batch, which is not counted.
    assert results.blocks_left_out == 30
    assert results.deals == 50
    assert results.games == without.games
    for mine, theirs in zip(survivors, without.agents, strict=True):
        assert mine == theirs
    for pair in without.pairs:
        assert results.pair(pair.a, pair.b).per_hand == pair.per_hand
    quitter = Quitter(9)
    finished = run_tournament([AGENTS[0], quitter, *AGENTS[1:]], **options | {"deals": 20})
    until_then = next(each for each in finished.agents if each.agent == "quitter")
    assert not until_then.withdrawn
    assert (gone.hands, gone.per_hand, gone.endings) == (
        until_then.hands,
        until_then.per_hand,
        until_then.endings,
    )
    assert (
        results.convergence[-1].agents[AGENTS[0]]
        == results.agents[[each.agent for each in results.agents].index(AGENTS[0])].per_hand
    )


def test_with_one_agent_left_it_is_over() -> None:
    quitter: Any = Quitter(2)
    results = run_tournament([quitter, "reference"], deals=50, batch=10)
    assert (results.deals, results.blocks_left_out, results.hands) == (10, 40, 20)
    assert [each.withdrawn for each in results.agents] == [False, True]
    assert all(each.hands == 20 for each in results.agents)


def test_an_agent_that_is_out_at_once_has_no_figures() -> None:
    quitter: Any = Quitter(1)
    results = run_tournament([quitter, *AGENTS], deals=20, batch=10)
    found = json.loads(results.to_json())
    gone = found["agents"][-1]
    assert (gone["agent"], gone["hands"], gone["stakes_per_hand"], gone["ci95"]) == ("quitter", 0, None, None)
    assert all(each["ci95"] for each in found["agents"][:-1])
    quitter = Quitter(1)
    nobody = run_tournament([quitter, "random"], deals=20, batch=10)
    assert (nobody.hands, nobody.blocks_left_out) == (0, 20)
    json.loads(nobody.to_json())


def test_forfeits_are_counted_by_batch_whoever_played_it() -> None:
    config = ArenaConfig(agents=("reference", "random"), deals=40, batch=10)
    agents: list[Any] = ["reference", Quitter(99)]
    player = BatchPlayer(config, agents)
    summaries = [player.play(number, frozenset()) for number in range(4)]
    for summary in summaries:
        counts = np.array(summary["ending_counts"]).reshape(-1, 2, 11, 3)
        counts[:, 1, FORFEITED, OWN] = 4
        summary["ending_counts"] = counts.ravel().tolist()
    for order in ((0, 1, 2, 3), (3, 2, 1, 0)):
        course = Course(player.new_tally, 4, 40, [None, 10])
        for number in order:
            course.add(summaries[number])
        # 4, 8, 12: out in the third batch, with the tenth.
        assert course.left == {1}
        assert course.is_over and course.blocks == 30
        assert course._forfeits == [0, 10]


def test_objects_play_in_one_process_alone() -> None:
    with pytest.raises(TonkError, match="workers = 2: agents that are objects play in one process"):
        run_tournament([RandomAgent(), "reference"], deals=4, workers=2)


def test_mistakes_of_workers_take_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lawless_agent.py").write_text(
        "from agents.random import RandomAgent\n"
        "import os\n"
        "class Lawless(RandomAgent):\n"
        "    name = 'lawless'\n"
        "    def act(self, views, legal, num_legal, keys):\n"
        "        return legal[:, 0] * 0 + 32000\n"
        "class Fatal(RandomAgent):\n"
        "    name = 'fatal'\n"
        "    def act(self, views, legal, num_legal, keys):\n"
        "        os._exit(3)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name, message in (("Lawless", "lawless chose action 32000"), ("Fatal", "a worker process has died")):
        with pytest.raises(TonkError, match=message) as caught:
            run_tournament([f"lawless_agent:{name}", "random"], deals=200, batch=10, workers=2)
        assert "\n" not in str(caught.value)


def test_two_runs_do_not_share_a_folder(whole: Path, tmp_path: Path) -> None:
    config = ArenaConfig(agents=AGENTS, deals=600, batch=10, seed=5, out=str(tmp_path))
    endless = [*command(tmp_path), "--deals", "1000000"]
    process = subprocess.Popen(endless, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not (tmp_path / BLOCKS).exists() or len(lines(tmp_path)) < 3:
            assert process.poll() is None
            time.sleep(0.01)
        for agents in (AGENTS, AGENTS[:2]):
            with pytest.raises(TonkError, match=r": another arena is at work there; wait, ") as caught:
                run(config.model_copy(update={"agents": agents}))
            assert str(caught.value).startswith(f"{tmp_path}: ")
        before = len(lines(tmp_path))
        while len(lines(tmp_path)) == before:  # undisturbed
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    # The killed run no longer holds the folder.
    with pytest.raises(TonkError, match="holds another tournament"):
        run(config)
