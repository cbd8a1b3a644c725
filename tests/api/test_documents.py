"""Generated pages are as their generators write them."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_observations_page_is_current() -> None:
    wanted = runpy.run_path(str(DOCS / "generate_observations.py"))["text"]()
    assert (DOCS / "observations.md").read_text(encoding="utf-8") == wanted, (
        "run docs/generate_observations.py"
    )
