"""A quick response: the best of the agents that ship, then a climb over the numbers of a rule bot.

Each number in turn is moved a step up, else a step down, and on while it pays; a move stays if, on the same
decks and in every seat, the bot then earns more, by more than a standard error of the difference. Steps
shrink from sweep to sweep, and every sweep has decks of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.bot import FEWEST_CARDS, OWN_TURNS, Bot
from agents.heuristic import heuristic
from agents.registry import make
from agents.styles import style_text
from tonk_env.errors import TonkError
from tonk_env.resources import find_checkpoint, list_checkpoints
from train.best_response.table import CHOOSING, CLIMBING, Earnings, Response, Table

SWEEPS, SHRINK = 4, 0.6
_LADDER = range(0, 35, 5)
_KEEP = 5.0
"""Points for which the bots of the ladder keep a card of a pair or partial run."""
_MOST = 12.0
"""Where a weight that stands for never starts to move from."""

_WEIGHT_STEPS = {
    "take_swap": 2.0,
    "keep": 1.0,
    "keep_out": 0.3,
    "danger": 0.2,
    "danger_known": 1.0,
    "drop_pool": 0.5,
    "drop_known": 0.5,
    "drop_live": 0.5,
    "drop_gain": 2.0,
}
"""First step of each weight, in its own unit."""
_THRESHOLD_STEP = 4.0

Told = Callable[[str, float], None]
"""Is told what is being done, and how much of the budget is used."""


def coordinates() -> Iterator[tuple[str, Any, float]]:
    """Yields what is moved at once: a field, the place in it, and the first step.

    Thresholds are moved all together first, then a column, a row or a seat of the table, then one by one.
    """
    every = slice(None)
    yield "thresholds", (0,), _THRESHOLD_STEP
    for field, step in _WEIGHT_STEPS.items():
        yield field, (0,), step
    for column in range(FEWEST_CARDS - 1, -1, -1):
        yield "thresholds", (0, every, every, column), _THRESHOLD_STEP
    for turn in range(OWN_TURNS):
        yield "thresholds", (0, every, turn), _THRESHOLD_STEP
    for opened in range(2):
        yield "thresholds", (0, opened), _THRESHOLD_STEP
    for place in itertools.product((0,), range(2), range(OWN_TURNS), range(FEWEST_CARDS)):
        yield "thresholds", place, _THRESHOLD_STEP


def candidates(table: Table) -> list[Response]:
    """Returns what ships and plays these rules, and the ladder with a keep: rule bots and checkpoints."""
    bots = [make("expert"), make("reference"), *(heuristic(drop, _KEEP) for drop in _LADDER)]
    found = [style_response(bot.style, bot.name) for bot in bots if isinstance(bot, Bot)]
    for name, policy in itertools.product(list_checkpoints(), ("", ":greedy")):
        agent, path = make(name + policy), find_checkpoint(name)
        if plays(agent, table):
            found.append(Response(agent, agent.name, path.suffix, path.read_bytes()))
    return found


def plays(agent: Agent, table: Table) -> bool:
    """Tells whether an agent plays the rules of a table."""
    try:
        agent.start(table.rules, table.players, 0)
    except TonkError:
        return False
    return True


def style_response(style: npt.NDArray[np.void], source: str) -> Response:
    """Returns the rule bot of a style as a response."""
    text = style_text(style, f"A response found by tonk exploit: {source}.")
    return Response(Bot(source, style), source, ".toml", text.encode())


def search(table: Table, until: float, tell: Told) -> Iterator[tuple[Response, Earnings]]:
    """Yields responses with their earnings on the decks for choosing: what ships, then the climb's best.

    Args:
        table: where the agent sits.
        until: the share of the budget at which to stop.
        tell: what is told of progress.
    """
    best: tuple[float, Response] | None = None
    for response in candidates(table):
        tell(f"trying {response.source}", table.budget.used)
        earned = table.earnings(response.agent, CHOOSING)
        yield response, earned
        if response.suffix == ".toml" and (best is None or earned.mean() > best[0]):
            best = float(earned.mean()), response
        if table.budget.used >= until:
            break
    assert best is not None, "rule bots come first"
    start = best[1].agent
    assert isinstance(start, Bot)
    style, moved = climb(table, start.style, until, tell)
    if moved:
        response = style_response(style, f"search from {start.name}, {moved} moves")
        yield response, table.earnings(response.agent, CHOOSING)


def climb(
    table: Table, start: npt.NDArray[np.void], until: float, tell: Told
) -> tuple[npt.NDArray[np.void], int]:
    """Returns the style that a climb ends at, and how many moves it took."""
    style, moves = start.copy(), 0
    for number in range(SWEEPS):
        best = table.earnings(Bot("response", style), CLIMBING, number)
        for field, place, step in coordinates():
            for direction in (step, -step):
                before = moves
                while table.budget.used < until:
                    tell(f"search, sweep {number + 1}: {best.mean():+.3f}", table.budget.used)
                    tried = moved_style(style, field, place, SHRINK**number * direction)
                    earned = table.earnings(Bot("response", tried), CLIMBING, number)
                    gain = earned - best
                    if gain.mean() <= gain.std() / np.sqrt(len(gain)):
                        break
                    style, best, moves = tried, earned, moves + 1
                if moves > before:
                    break
        if table.budget.used >= until:
            break
    return style, moves


def moved_style(style: npt.NDArray[np.void], field: str, place: Any, by: float) -> npt.NDArray[np.void]:
    """Returns a style with the numbers at a place of a field moved."""
    moved = style.copy()
    numbers = moved[field][place]
    if field != "thresholds":
        numbers = np.minimum(numbers, _MOST)
    moved[field][place] = np.round(numbers + by, 3)
    return moved
