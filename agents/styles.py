"""Styles of rule bots as TOML: what tuning writes, and what plays again from a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.bot import FEWEST_CARDS, OWN_TURNS, STYLE_DTYPE, Bot
from tonk_env.errors import TonkError
from tonk_env.resources import read_toml

PREFIX = "style:"
_TABLES = ("other_seats", "first_seat")
_FLAGS = ("estimates", "only_live")
WEIGHTS = tuple(name for name in STYLE_DTYPE.names or () if name not in ("thresholds", *_FLAGS))
"""The fields that are one number of points."""


def style_of(data: Mapping[str, Any]) -> npt.NDArray[np.void]:
    """Returns the style of a file like `data/expert.toml`: `[1]` STYLE_DTYPE.

    Args:
        data: `thresholds` with tables `first_seat` and `other_seats`, and `weights`, by field of STYLE_DTYPE;
            `estimates` and `only_live` are 1 where they are not among them, and other weights 0.

    Raises:
        TonkError: it is no such data.
    """
    style, known = np.zeros(1, STYLE_DTYPE), (*WEIGHTS, *_FLAGS)
    weights = data.get("weights")
    unknown = [field for field in weights if field not in known] if isinstance(weights, Mapping) else []
    if unknown:
        raise TonkError(f"no weight {unknown[0]!r}: there are {', '.join(known)}")
    try:
        for opened, table in enumerate(_TABLES):
            style["thresholds"][0, opened] = np.array(data["thresholds"][table], float)
        for field, weight in {**dict.fromkeys(_FLAGS, 1), **data["weights"]}.items():
            style[field] = bool(weight) if field in _FLAGS else float(weight)
    except (KeyError, TypeError, ValueError):
        tables = " and ".join(_TABLES)
        raise TonkError(
            f"a style has [thresholds] with {tables}, {OWN_TURNS} rows of {FEWEST_CARDS} numbers each, and "
            "[weights], a number each"
        ) from None
    if not all(np.isfinite(style[field]).all() for field in ("thresholds", *WEIGHTS)):
        raise TonkError("the numbers of a style are finite")
    return style


def style_text(style: npt.NDArray[np.void], note: str) -> str:
    """Returns a style as TOML, rows of a table on lines of their own, under a comment of one line."""
    lines = [
        f"# {note}",
        "# Drop where the count is at most a threshold, moved by the drop weights below.",
        "# Row: own turn 0, 1, 2, 3, 4 and later. Column: cards of the opponent, 1, 2, 3, 4, 5 and more.",
        "[thresholds]",
    ]
    for opened, table in reversed(list(enumerate(_TABLES))):
        rows = style["thresholds"][0, opened].tolist()
        lines += [f"{table} = [", *(f"    {[round(cell, 3) for cell in row]}," for row in rows), "]"]
    lines += ["", "# What each is a weight of: `STYLE_DTYPE` of agents/bot.py.", "[weights]"]
    lines += [f"{field} = {round(float(style[field][0]), 3)}" for field in WEIGHTS]
    lines += [f"{field} = {int(style[field][0])}" for field in _FLAGS]
    return "\n".join(lines) + "\n"


def style_bot(spec: str) -> Bot:
    """Returns the rule bot of a spec such as ``style:response.toml``.

    Raises:
        TonkError: the file is not there, or holds no style.
    """
    path = Path(spec.removeprefix(PREFIX))
    data = read_toml(path)
    try:
        return Bot(spec, style_of(data))
    except TonkError as error:
        raise TonkError(f"{path}: {error}") from None
