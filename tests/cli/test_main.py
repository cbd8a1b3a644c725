"""The command as a whole: help, versions, and how it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tonk_env
from tonk_cli import main

COMMANDS = ("play", "train", "arena", "quickstart", "replay", "score", "odds", "rules", "bench", "doctor")


def test_version(tonk: Any) -> None:
    said = tonk("--version")
    assert (said.status, said.out) == (0, f"tonk {tonk_env.__version__}\n")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_every_command(tonk: Any, arguments: tuple[str, ...]) -> None:
    said = tonk(*arguments)
    assert said.status == 0
    assert all(command in said.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(tonk: Any, command: str) -> None:
    said = tonk(command, "--help")
    assert said.status == 0 and f"tonk {command}" in said.out


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; from tonk_cli.main import run; run(['--help']); print('\\n' + ' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}
    heavy = {"numpy", "numba", "torch", "pydantic", "gymnasium", "pettingzoo", "train", "arena", "agents"}
    assert not loaded & heavy


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("frob",), "No such command 'frob' (see tonk --help)"),
        (("--frob",), "No such option: --frob (see tonk --help)"),
        (("score",), "Missing option '--ending' (see tonk score --help)"),
        (("replay",), "Missing argument 'FILE...' (see tonk replay --help)"),
        (("play", "--against", "random", "--players", "two"), "Invalid value for '--players': "),
        (("play", "--against", "random", "--players", "9"), "--players 9: Tonk is played by 2 to 6"),
        (("arena", "random", "expert", "--players", "9"), "--players 9: Tonk is played by 2 to 6"),
        (("rules", "show", "whist"), "no rules preset 'whist'"),
        (("rules", "shew"), "No such command 'shew'"),
        (("train",), "give either a training config to start with, or --resume RUN"),
    ],
)
def test_refusals_are_one_line(tonk: Any, arguments: tuple[str, ...], says: str) -> None:
    assert tonk(*arguments).refusal().startswith(says)


def test_a_file_that_cannot_be_written_is_one_line(tonk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*arguments: object) -> None:
        raise OSError(28, "No space left on device", "runs/x")

    monkeypatch.setattr("tonk_env.rules.preset_names", no_room)
    assert tonk("rules").refusal() == "runs/x: No space left on device"


def test_a_fault_of_the_program_is_not_hidden(tonk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("tonk_env.rules.preset_names", broken)
    with pytest.raises(ZeroDivisionError):
        tonk("rules")


def test_ctrl_c_says_nothing(tonk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tonk_env.rules.preset_names", interrupted)
    assert tonk("rules").status == 130


def test_it_runs_as_a_process(golden: Path) -> None:
    """Status, streams and the missing traceback as a shell sees them; a reader that goes away is no error."""
    command = [sys.executable, "-m", "tonk_cli.main"]
    done = subprocess.run([*command, "replay", "nosuch.toml"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.splitlines()[-1] == "tonk: nosuch.toml: No such file or directory"
    assert "Traceback" not in done.stderr
    done = subprocess.run(
        [*command, "replay", "--json", str(golden / "drop.toml")], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["payments"] == [1, -1]
    piped = subprocess.run(
        f"{' '.join(command)} rules | head -1; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in piped.stderr and "Exception" not in piped.stderr


def test_console_script_is_this() -> None:
    from importlib.metadata import entry_points

    scripts = [script.load() for script in entry_points(group="console_scripts", name="tonk")]
    assert main.main in scripts


def test_first_use_says_that_it_compiles(tonk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tonk_env._jit.is_cold", lambda: True)
    said = tonk("score", "--ending", "void", "--counts", "1,2", "--json")
    assert said.err == "tonk: compiling the engine for this machine, once: about a minute\n"
    assert said.json == {"payments": [0, 0]}
