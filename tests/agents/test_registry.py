"""Agents by name, and what is said about names that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.bot import Bot
from agents.registry import agent_names, make
from tonk_env.errors import TonkError


def test_names_are_canonical() -> None:
    for spec, name in {
        "heuristic:keep=5.0,drop=20": "heuristic:drop=20,keep=5",
        "heuristic:drop=20": "heuristic:drop=20",
        "heuristic:drop=7,keep=2.5": "heuristic:drop=7,keep=2.5",
        "random": "random",
        "reference": "reference",
        "expert": "expert",
    }.items():
        assert make(spec).name == name
        assert make(make(spec).name).name == name


def test_what_ships_can_be_made() -> None:
    assert {"random", "reference", "expert"} <= set(agent_names())
    for name in agent_names():
        make(name)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("", "no agent ''"),
        ("whist", "allowed are random, heuristic:drop=T"),
        ("checkpoints/none.zip", "checkpoints/none.zip"),
        ("heuristic", "write heuristic:drop=T"),
        ("heuristic:", "write heuristic:drop=T"),
        ("heuristic:keep=5", "write heuristic:drop=T"),
        ("heuristic:drop=5,drop=6", "write heuristic:drop=T"),
        ("heuristic:drop=5,hold=6", "write heuristic:drop=T"),
        ("heuristic:drop=x", "drop is a whole number of points from 0 to 1000, not 'x'"),
        ("heuristic:drop=-1", "not '-1'"),
        ("heuristic:drop=2.5", "not '2.5'"),
        ("heuristic:drop=5,keep=nan", "keep is a number of points from 0 to 1000, not 'nan'"),
        ("reference:drop=5", "takes no options"),
        ("expert:", "takes no options"),
        ("x.zip:hasty", "takes the option greedy, or none"),
        ("no_such_module:Player", "No module named 'no_such_module'"),
        ("agents.bot:Player", "has no attribute 'Player'"),
        ("agents.bot:Bot", "missing 2 required positional arguments"),
        ("agents.bot:make_tools", "missing 2 required positional arguments"),
        ("agents.bot:NEVER", "NEVER is no class with a name, start, act and end"),
        ("fractions:Fraction", "Fraction is no class with a name, start, act and end"),
        ("whist:greedy", "no agent 'whist:greedy'"),
    ],
)
def test_wrong_names_are_told_in_one_line(spec: str, said: str) -> None:
    with pytest.raises(TonkError) as caught:
        make(spec)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_class_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_players.py").write_text(
        "from agents.random import RandomAgent\n\nclass Mine(RandomAgent):\n    name = 'mine'\n"
        "\nclass Broken:\n    def __init__(self):\n        raise OSError('two\\nlines')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [path for path in __import__("sys").path if path])
    assert make("my_players:Mine").name == "mine"
    with pytest.raises(TonkError, match="OSError: two lines"):
        make("my_players:Broken")


def test_rule_bots_share_their_kernels() -> None:
    for spec in ("heuristic:drop=5", "heuristic:drop=5,keep=4", "reference", "expert"):
        assert type(make(spec)) is Bot
