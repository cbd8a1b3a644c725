"""Tunes the numbers of the `expert` bot by coordinate ascent on duplicate deals.

Each number in turn is moved a step up, else a step down; a move stays if, on the same decks and in both
seats, the bot then earns more against a fixed mix of opponents, by more than a standard error of the
difference. Steps shrink from sweep to sweep, every sweep has decks of its own, and the table printed at the
end is of decks that no sweep saw. The numbers that ship were found so:

    python -m benchmarks.tune_expert --sweeps 3 --deals 10000 --seed 0 --out expert.toml
"""

from __future__ import annotations

import argparse
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Agent
from agents.expert import expert_of
from agents.registry import make
from agents.styles import style_of, style_text
from arena.play import play_hands
from tonk_env._jit import mix
from tonk_env.rules import lower

Numbers = dict[str, Any]

RULES = lower("pagat")
TUNING, TESTING = 0x7E57ED, 0x7E57ED + 1
"""Where the keys of decks start from: those of tuning and of the test never meet."""

OPPONENTS = {"reference": 0.4, "expert": 0.3, "heuristic:drop=15,keep=5": 0.15, "heuristic:drop=25": 0.15}
"""Weights in what is tuned for; `expert` is the bot as the sweep began."""
LADDER = [f"heuristic:drop={drop}" for drop in (0, 5, 10, 15, 20, 25)]

_ROW = [-1.0, 5.0, 10.0, 16.0, 27.0]
_FIRST_ROW = [-1.0, 7.0, 10.0, 16.0, 28.0]
START: Numbers = {
    "thresholds": {
        table: [_FIRST_ROW.copy(), *(_ROW.copy() for _ in range(4))]
        for table in ("first_seat", "other_seats")
    },
    "weights": {
        "drop_pool": 2.3,
        "drop_known": 0.0,
        "drop_live": -0.5,
        "drop_gain": -4.0,
        "take_swap": 8.0,
        "keep": 5.0,
        "keep_out": 0.5,
        "danger": 0.0,
        "danger_known": 0.0,
    },
}
"""Thresholds that depend on the opponent's cards alone, and weights tried by hand."""

STEPS = {
    "drop_pool": 0.5,
    "drop_known": 0.5,
    "drop_live": 0.3,
    "drop_gain": 1.5,
    "take_swap": 1.0,
    "keep": 1.0,
    "keep_out": 0.3,
    "danger": 0.2,
    "danger_known": 1.0,
}
"""First step of each weight, in its own unit."""
THRESHOLD_STEP = 2.0


def deck_keys(purpose: int, seed: int, deals: int) -> npt.NDArray[np.int64]:
    """Returns the keys of some decks, `[deals]`."""
    start = mix(purpose, seed)
    return np.array([mix(start, deal) for deal in range(deals)], np.int64)


def earnings(bot: Agent, opponent: Agent, keys: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Returns what a bot earns per hand on each deck, played once in each seat: `[deals]`, in stakes."""
    deals = len(keys)
    bot.start(RULES, 2, 0)
    opponent.start(RULES, 2, 0)
    seating = np.tile(np.array([[0, 1], [1, 0]]), (deals, 1))
    twice = np.repeat(keys, 2)
    dealers = np.repeat(np.arange(deals) % 2, 2)
    payments = play_hands([bot, opponent], seating, RULES, twice, twice, dealers).payments
    return (payments[0::2, 0] + payments[1::2, 1]) / 2


def value(bot: Agent, opponents: dict[str, Agent], keys: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Returns what is tuned for: earnings on each deck, weighted over the opponents."""
    return sum(
        (weight * earnings(bot, opponents[name], keys) for name, weight in OPPONENTS.items()),
        np.zeros(len(keys)),
    )


def coordinates(numbers: Numbers) -> Iterator[tuple[str, Any, Any, float]]:
    """Yields what may be moved: a name, the number's place (a container and a key), and the first step."""
    for weight, step in STEPS.items():
        yield weight, numbers["weights"], weight, step
    # Cells that hardly come up stay: an opponent of one card, or of fewer than five on one's first turn.
    for table, rows in numbers["thresholds"].items():
        for turn, row in enumerate(rows):
            for column in range(1 if turn else 4, 5):
                yield f"{table}[{turn}][{column}]", row, column, THRESHOLD_STEP


def sweep(numbers: Numbers, scale: float, keys: npt.NDArray[np.int64]) -> int:
    """Tries to move every number once, in place; returns how many moved."""
    opponents = {name: expert_of(numbers) if name == "expert" else make(name) for name in OPPONENTS}
    best = value(expert_of(numbers), opponents, keys)
    moved = 0
    for name, holder, key, step in coordinates(numbers):
        for direction in (scale * step, -scale * step):
            before = holder[key]
            holder[key] = round(before + direction, 3)
            tried = value(expert_of(numbers), opponents, keys)
            gain = tried - best
            if gain.mean() > gain.std() / np.sqrt(len(keys)):
                best = tried
                moved += 1
                print(f"  {name} {before:g} -> {holder[key]:g}: {gain.mean():+.4f}", flush=True)
                break
            holder[key] = before
    return moved


def main() -> None:
    """Tunes, saving after every sweep, and tests."""
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=style)
    parser.add_argument("--sweeps", type=int, default=3, help="0: test only (give --start)")
    parser.add_argument("--deals", type=int, default=10_000, help="decks of a sweep")
    parser.add_argument("--test-deals", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shrink", type=float, default=0.7, help="of steps, from sweep to sweep")
    parser.add_argument("--start", type=Path, help="a file of numbers to start from")
    parser.add_argument("--out", type=Path, default=Path("expert.toml"))
    given = parser.parse_args()
    numbers = tomllib.loads(given.start.read_text("utf-8")) if given.start else START
    for number in range(given.sweeps):
        began, scale = time.monotonic(), given.shrink**number
        print(f"sweep {number + 1} of {given.sweeps}, steps × {scale:.2f}", flush=True)
        moved = sweep(numbers, scale, deck_keys(TUNING, mix(given.seed, number), given.deals))
        found = f"seed {given.seed}, {number + 1} sweeps of {given.deals} deals"
        text = style_text(style_of(numbers), f"Found by benchmarks/tune_expert.py: {found}.")
        given.out.write_text(text, "utf-8")
        print(f"  {moved} moved, {time.monotonic() - began:.0f} s", flush=True)
    keys = deck_keys(TESTING, given.seed, given.test_deals)
    print(f"\non {given.test_deals} other decks, both seats, stakes per hand ± one standard error")
    for name in ("reference", *LADDER):
        earned = earnings(expert_of(numbers), make(name), keys)
        print(f"  {name:20} {earned.mean():+.4f} ± {earned.std() / np.sqrt(len(keys)):.4f}", flush=True)


if __name__ == "__main__":
    main()
