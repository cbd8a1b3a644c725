"""Rule bots from files."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from agents.bot import Bot
from agents.expert import expert
from agents.heuristic import heuristic
from agents.registry import make
from agents.styles import style_of, style_text
from tonk_env.errors import TonkError

TABLE = "[[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]"
THRESHOLDS = f"[thresholds]\nfirst_seat = {TABLE}\nother_seats = {TABLE}\n"


@pytest.mark.parametrize("bot", [expert(), heuristic(20), heuristic(15, 5.0), make("reference")])
def test_a_style_is_written_and_read_again(bot: Bot, tmp_path: Path) -> None:
    text = style_text(bot.style, "a note")
    assert text.startswith("# a note\n")
    assert style_of(tomllib.loads(text)) == bot.style
    path = tmp_path / "bot.toml"
    path.write_text(text, encoding="utf-8")
    read = make(f"style:{path}")
    assert read.name == f"style:{path}"
    assert isinstance(read, Bot) and read.style == bot.style


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("thresholds = [", "not a readable TOML file"),
        ("", r"a style has \[thresholds\]"),
        ("[weights]\nkeep = 1.0\n", r"a style has \[thresholds\]"),
        (THRESHOLDS.replace("], [", "], [0], [", 1) + "[weights]\n", "5 rows of 5 numbers"),
        (THRESHOLDS + "[weights]\nkept = 1.0\n", "no weight 'kept': there are drop_pool, "),
        (THRESHOLDS + "[weights]\nkeep = 'x'\n", "a number each"),
        (THRESHOLDS + "[weights]\nkeep = nan\n", "finite"),
    ],
)
def test_files_that_hold_no_style_are_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "bot.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TonkError, match=said) as caught:
        make(f"style:{path}")
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_style_needs_its_thresholds_alone() -> None:
    style = style_of(tomllib.loads(THRESHOLDS + "[weights]\n"))
    assert style["estimates"] == style["only_live"] == 1
    assert np.all(style["keep"] == 0)
