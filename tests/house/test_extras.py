"""The optional extras are there and usable where `make test-extras` runs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.extras


def test_openspiel_plays_a_game() -> None:
    import pyspiel

    state = pyspiel.load_game("kuhn_poker").new_initial_state()
    assert state.is_chance_node()


def test_browser_renders_a_page(tmp_path: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "no chromium on this machine: install it (Debian: apt-get install chromium)"
    page = tmp_path / "page.html"
    page.write_text("<p id=p></p><script>document.getElementById('p').textContent = 6 * 7</script>")
    command = [
        chromium,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    done = subprocess.run(
        [*command, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    assert '<p id="p">42</p>' in done.stdout
