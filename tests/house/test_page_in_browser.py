"""The page of a tournament in a browser: it is drawn, in both modes, and nothing is complained of."""

from __future__ import annotations

import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from arena.page import write_page
from arena.tournament import run_tournament

pytestmark = pytest.mark.extras

DARK, LIGHT = 0, 1


def chromium(tmp_path: Path, page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Opens a page without a window; what it logs on its console is in `stderr`."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no chromium on this machine: install it (Debian: apt-get install chromium)")
    command = [
        found,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--enable-logging=stderr",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    return subprocess.run(
        [*command, *options, page.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )


@pytest.fixture
def written(tmp_path: Path) -> Path:
    results = run_tournament(["expert", "heuristic:drop=10", "random"], deals=20).to_dict()
    replays = [{"title": "Deal 1", "text": "1. throws KH"}]
    return write_page(tmp_path, results, replays=replays)


def console(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_the_table_is_there_and_nothing_is_complained_of(tmp_path: Path, written: Path) -> None:
    done = chromium(tmp_path, written, "--dump-dom")
    assert console(done) == []
    assert "<caption>Ranking</caption>" in done.stdout
    for agent in ("expert", "random"):
        assert f'<bdi class="name">{agent}</bdi>' in done.stdout
    assert done.stdout.count("<table") >= 3
    assert done.stdout.count("<svg") >= 6


def test_a_complaint_would_be_seen(tmp_path: Path, written: Path) -> None:
    broken = tmp_path / "broken.html"
    broken.write_text(written.read_text().replace("<h1>", '<script src="missing.js"></script><h1>'))
    assert any("missing.js" in line for line in console(chromium(tmp_path, broken, "--dump-dom")))


def test_it_is_drawn_light_and_dark(tmp_path: Path, written: Path) -> None:
    corners = []
    for mode in (LIGHT, DARK):
        shot = tmp_path / f"{mode}.png"
        options = (f"--blink-settings=preferredColorScheme={mode}", "--window-size=800,600")
        assert console(chromium(tmp_path, written, *options, f"--screenshot={shot}")) == []
        corners.append(corner(shot.read_bytes()))
    light, dark = corners
    assert min(light) > 200
    assert max(dark) < 60


def corner(png: bytes) -> tuple[int, ...]:
    """Returns red, green and blue of a picture's first pixel, which every filter leaves as it is."""
    assert png.startswith(b"\x89PNG")
    data, at = b"", 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + size]
        at += size + 12
    return tuple(zlib.decompress(data)[1:4])
