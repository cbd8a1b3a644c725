from __future__ import annotations

import io
import stat
from pathlib import Path

import pytest
from rich.console import Console

from arena.report import print_results
from arena.results import Results
from arena.tournament import run_tournament
from tonk_env.errors import TonkError

AGENTS = [*(f"heuristic:drop={count},keep=5" for count in (0, 5, 10, 15, 20, 25, 30)), "random", "reference"]


@pytest.fixture(scope="module")
def results() -> Results:
    return run_tournament(AGENTS, deals=4)


@pytest.mark.parametrize("width", [66, 80, 120, 200])
def test_tables_fit_the_terminal_and_lose_nothing(results: Results, width: int) -> None:
    stream = io.StringIO()
    print_results(results, Console(file=stream, width=width), details=True)
    printed = stream.getvalue()
    lines = printed.splitlines()
    assert max(map(len, lines)) <= width
    assert "\x1b" not in printed
    assert "…" not in printed.replace(" … ", "")
    for each in results.pairs:
        assert f"{abs(each.per_hand.mean):.3f}" in printed
        assert f"±{each.per_hand.half:.3f}" in printed
    for each in results.agents:
        assert f"{each.per_hand.mean:+.4f}" in printed
        assert each.policy in printed
    if width >= 120:
        assert all(name in printed for name in AGENTS)


def test_what_the_numbers_are_is_said(results: Results) -> None:
    stream = io.StringIO()
    print_results(results, Console(file=stream, width=200))
    assert "pagat, 2 players, seed 0: 4 deals" in stream.getvalue()
    assert "row against column" in stream.getvalue()
    stream = io.StringIO()
    print_results(run_tournament(AGENTS[:3], players=3, deals=2), Console(file=stream, width=200))
    assert "Half the difference" in stream.getvalue()


def test_results_are_written_whole(results: Results, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    written = results.write(folder)
    assert written == folder / "results.json"
    assert written.read_bytes() == results.to_json().encode()
    results.write(folder)
    assert [path.name for path in folder.iterdir()] == ["results.json"]
    assert stat.S_IMODE(written.stat().st_mode) == 0o644


def test_a_folder_that_cannot_be_written(results: Results, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TonkError, match=r"file/results\.json: cannot be written: "):
        results.write(tmp_path / "file")
    (tmp_path / "results.json").mkdir()
    with pytest.raises(TonkError, match=r"results\.json: cannot be written: "):
        results.write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "results.json"]


def test_pairs_that_did_not_meet(results: Results) -> None:
    with pytest.raises(TonkError, match="random and expert did not meet"):
        results.pair("random", "expert")
