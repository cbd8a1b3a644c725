"""The `tonk` command, called in this process."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tonk_cli.main import run

GOLDEN = Path(__file__).parents[1] / "golden"


@dataclass(frozen=True)
class Said:
    """What a command said."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def refusal(self) -> str:
        """The one line of a command that refuses what it was given."""
        assert (self.status, self.out) == (2, "")
        lines = [line for line in self.err.splitlines() if "compiling the engine" not in line]
        assert len(lines) == 1 and lines[0].startswith("tonk: ")
        return lines[0].removeprefix("tonk: ")


Tonk = Callable[..., Said]


@pytest.fixture
def tonk(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Tonk:
    def call(*arguments: object, typed: str = "") -> Said:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        capsys.readouterr()
        status = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Said(status, said.out, said.err)

    return call


@pytest.fixture
def golden() -> Path:
    return GOLDEN
