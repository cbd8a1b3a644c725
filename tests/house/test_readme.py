"""The README's commands and samples do what they say."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent

# What makes a command short enough for a test; the command itself stays as it is written.
SHORTER = {
    "train": "--set run.total_decisions=40000 --set run.checkpoint_every=40000 --set evaluation.deals=50 "
    "--set evaluation.final_deals=50",
    "bench": "engine --seconds 0.05",
    "exploit": "--method search --minutes 0.02 --deals 400",
}
ELSEWHERE = {"quickstart", "tensorboard"}
"""Commands that other tests run, or that serve until they are stopped."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def commands() -> list[str]:
    lines = [line.strip() for block in blocks("sh") for line in block.replace("\\\n", " ").splitlines()]
    return [line for line in lines if line.startswith(".venv/bin/")]


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(r"^make (\w[\w-]*)", "\n".join(blocks("sh")), flags=re.MULTILINE)
    assert {"quickstart", "test"} <= set(named)
    assert all(re.search(rf"^{target}:", makefile, flags=re.MULTILINE) for target in named)


@pytest.mark.parametrize("command", commands())
def test_commands_run(command: str, tmp_path: Path) -> None:
    program, *arguments = shlex.split(command.removeprefix(".venv/bin/"))
    word = arguments[0] if program == "tonk" else program
    if word in ELSEWHERE:
        assert (BIN / program).exists()
        return
    # The program, run by this interpreter: a path to it need not end in its name.
    call = [sys.executable, "-m", "tonk_cli"] if program == "tonk" else [str(BIN / program)]
    done = subprocess.run(
        [*call, *arguments, *shlex.split(SHORTER.get(word, ""))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout or list(tmp_path.iterdir())


@pytest.mark.parametrize("source", blocks("python"))
def test_samples_run(source: str) -> None:
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout
