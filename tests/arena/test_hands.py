"""Rows of hands; pyarrow is an optional extra, so most run by `make test-extras` only."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from agents.random import RandomAgent
from arena.config import ArenaConfig
from arena.hands import HANDS, PARTS
from arena.run import run
from arena.store import BLOCKS
from arena.tournament import run_tournament
from tonk_env.errors import TonkError

AGENTS = ("heuristic:drop=10", "random", "reference")


class Leaver(RandomAgent):
    """Is out after so many sessions."""

    name = "leaver"

    def __init__(self, sessions: int) -> None:
        self.is_out, self.sessions = False, sessions

    def start(self, rules: Any, num_players: int, seed: int) -> None:
        super().start(rules, num_players, seed)
        self.sessions -= 1
        self.is_out = self.sessions <= 0


def rows(folder: Path) -> list[dict[str, Any]]:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install 'tonk[parquet]'")
    found: list[dict[str, Any]] = parquet.read_table(folder / HANDS).to_pylist()
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an unbroken run."""
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'tonk[parquet]'")
    folder = tmp_path_factory.mktemp("whole")
    run(ArenaConfig(agents=AGENTS, deals=60, batch=10, seed=5, out=str(folder), hands=True))
    return folder


@pytest.mark.extras
@pytest.mark.parametrize(
    ("rules", "players", "hands"), [("pagat", 2, 1), ("pagat", 3, 1), ("big_one", 2, 10)]
)
def test_rows_add_up_to_the_results(rules: str, players: int, hands: int, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'tonk[parquet]'")
    results = run_tournament(AGENTS, rules, players, deals=12, batch=5, out=tmp_path, hands=True)
    found = rows(tmp_path)
    stakes: dict[str, float] = defaultdict(float)
    decks = defaultdict(set)
    for row in found:
        decks[row["block"], row["hand"]].add(row["deck"])
        assert row["dealer"] == (players - 1 + row["hand"]) % players
        assert row["moves"] > 0 or row["ending"] == "instant_win"
        for seat in range(players):
            stakes[row[f"agent_{seat}"]] += row[f"payment_{seat}"]
            assert row[f"count_{seat}"] >= 0
    assert len(found) == results.hands
    assert stakes == pytest.approx({each.agent: each.stakes for each in results.agents})
    assert len(decks) == 12 * hands and all(len(each) == 1 for each in decks.values())
    order = [(row["block"], row["seating"], row["hand"]) for row in found]
    assert order[: hands + 1] == [(0, 0, hand) for hand in range(hands)] + [(0, 1, 0)]
    for ending, by in ((row["ending"], row["by"]) for row in found):
        assert (by == -1) == (ending in ("stock_out", "turn_limit", "void"))


@pytest.mark.extras
def test_the_file_is_the_same_however_it_was_played(whole: Path, tmp_path: Path) -> None:
    expected = (whole / HANDS).read_bytes()
    assert not (whole / PARTS).exists()
    keys: dict[str, Any] = {"agents": AGENTS, "deals": 60, "batch": 10, "seed": 5}
    run(ArenaConfig(**keys, out=str(tmp_path / "two"), hands=True, workers=2))
    run(ArenaConfig(**keys, out=str(tmp_path / "few"), hands=True), at_once=3)
    later = ArenaConfig(**keys, out=str(tmp_path / "later"))
    run(later)
    assert not (tmp_path / "later" / HANDS).exists()
    run(later.model_copy(update={"hands": True}))
    again = run(later.model_copy(update={"hands": True}))
    assert again.to_json() == run(later).to_json()
    for name in ("two", "few", "later"):
        assert (tmp_path / name / HANDS).read_bytes() == expected
        assert not (tmp_path / name / PARTS).exists()


@pytest.mark.extras
def test_killed_and_resumed(whole: Path, tmp_path: Path) -> None:
    words = [*AGENTS, "--deals", 60, "--batch", 10, "--seed", 5, "--hands", "--workers", 2, "--out", tmp_path]
    process = subprocess.Popen(
        [sys.executable, "-m", "tonk_cli", "arena", *map(str, words)], stdout=subprocess.DEVNULL
    )
    while not (tmp_path / BLOCKS).exists() or (tmp_path / BLOCKS).read_bytes().count(b"\n") < 3:
        time.sleep(0.001)
    process.kill()
    process.wait()
    # A part that was lost or damaged is played again, whatever the lines of batches say.
    parts = sorted((tmp_path / PARTS).glob("*.arrow"))
    if len(parts) > 1:
        parts[0].unlink()
        parts[1].write_bytes(parts[1].read_bytes()[:100])
    run(ArenaConfig(agents=AGENTS, deals=60, batch=10, seed=5, out=str(tmp_path), hands=True))
    assert (tmp_path / HANDS).read_bytes() == (whole / HANDS).read_bytes()


@pytest.mark.extras
def test_rows_of_another_tournament_are_replaced(whole: Path, tmp_path: Path) -> None:
    config = ArenaConfig(agents=AGENTS, deals=60, batch=10, seed=6, out=str(tmp_path), hands=True)
    run(config)
    other = (tmp_path / HANDS).read_bytes()
    (tmp_path / HANDS).write_bytes((whole / HANDS).read_bytes())
    (tmp_path / BLOCKS).unlink()
    run(config)
    assert (tmp_path / HANDS).read_bytes() == other


@pytest.mark.extras
def test_hands_of_a_withdrawn_agent_count_as_far_as_its_figures_do(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'tonk[parquet]'")
    leaver: Any = Leaver(3)
    results = run_tournament([*AGENTS, leaver], deals=50, batch=10, out=tmp_path, hands=True)
    *_, gone = results.agents
    seats = [[row["agent_0"], row["agent_1"]] for row in rows(tmp_path)]
    assert gone.withdrawn and sum(each.count("leaver") for each in seats) == gone.hands == 20 * 2 * 3
    assert sum("leaver" not in each for each in seats) == 50 * 2 * 3
    assert max(row["block"] for row in rows(tmp_path) if "leaver" in row.values()) == 19


def test_without_pyarrow_nothing_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])

    monkeypatch.setattr(importlib, "import_module", missing)
    message = r"^hands: needs pyarrow, which is not installed: pip install 'tonk\[parquet\]'$"
    with pytest.raises(TonkError, match=message):
        run_tournament(AGENTS, deals=4, out=tmp_path / "out", hands=True)
    assert not (tmp_path / "out").exists()


def test_rows_need_a_folder() -> None:
    with pytest.raises(TonkError, match=r"^hands: say which folder they are written into, by out$"):
        run_tournament(AGENTS, deals=4, hands=True)


@pytest.mark.extras
def test_a_file_says_which_tournament_it_is_of(whole: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install 'tonk[parquet]'")
    said = json.loads(parquet.read_schema(whole / HANDS).metadata[b"tournament"])
    assert (said["config"]["seed"], said["config"]["agents"]) == (5, list(AGENTS))
