"""Views as vectors for learning: named planes, each a function of the view alone.

A plane is a run of features. Card planes have one feature for each different card of the deck, ascending by
type.
`Layout` says where each plane lies; `docs/observations.md` is generated from it.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tonk_env._jit import jit, lowest_bit
from tonk_env.engine.state import DRAW
from tonk_env.limits import MAX_HAND, MAX_SEATS
from tonk_env.rules.lower import LoweredRules

COUNT_STEPS = 64
"""Counts 0 … 62, and 63 or more."""
HAND_STEPS = MAX_HAND + 2
"""Hands of 0 … 14 cards."""
TURN_STEPS = 12
STOCK_STEPS = 12
WAIT_STEPS = 6
PHASE_STEPS = 3

_SEAT_PLANES = ("known", "thrown", "num_cards", "num_spreads", "waits", "blocked")
PLANE_NAMES = (
    "hand",
    "twins",
    "marked",
    "top",
    "fits",
    "laid",
    "buried",
    "phase",
    "count",
    "turn",
    "stock",
    "first",
)
PLANES = (*PLANE_NAMES, *_SEAT_PLANES)
(HAND, TWINS, MARKED, TOP, FITS, LAID, BURIED, PHASE, COUNT, TURN, STOCK, FIRST) = range(len(PLANE_NAMES))
KNOWN, THROWN, NUM_CARDS, NUM_SPREADS, WAITS, BLOCKED = range(len(PLANE_NAMES), len(PLANES))

_MEANINGS = {
    "hand": "cards in hand",
    "twins": "cards held twice (two packs)",
    "marked": "the taken card that may not be discarded, or the card whose target is asked",
    "top": "the top discard",
    "fits": "cards that hit a spread on the table",
    "laid": "cards lying in spreads",
    "buried": "cards seen that lie in the pile below the top",
    "phase": "draw, play, target; then: a drop is not forbidden by a wait, a drop is forced",
    "count": f"own count, one of {COUNT_STEPS} (the last: that many less one, or more)",
    "turn": f"own turns begun, one of {TURN_STEPS} (the last: that many, or more)",
    "stock": f"stock cards left, as their share of the deck: one of {STOCK_STEPS}, then the share itself",
    "first": "who had the first turn, counted from the viewer",
    "known": "cards seen going into the hand and still there",
    "thrown": "types discarded so far",
    "num_cards": f"cards held, one of {HAND_STEPS}",
    "num_spreads": "spreads laid",
    "waits": f"turns of waiting left, one of {WAIT_STEPS} (the last: that many less one, or more)",
    "blocked": "may not go out on the next turn",
}


@dataclass(frozen=True)
class Plane:
    """A named run of features.

    Attributes:
        name: what it shows.
        seat: whose, counted from the viewer; None for planes of the viewer or the table.
        first: index of its first feature.
        size: how many features.
        meaning: in words.
    """

    name: str
    seat: int | None
    first: int
    size: int
    meaning: str


@dataclass(frozen=True)
class Layout:
    """Where the planes of some rules lie, for a number of players.

    Attributes:
        planes: in order.
        size: features in all.
        starts: `[len(PLANES), MAX_SEATS]` int32: first feature of each plane by seat; -1: not there.
        fingerprint: hash of the above; a network only fits the layout it was trained with.
    """

    planes: tuple[Plane, ...]
    size: int
    starts: npt.NDArray[np.int32]
    fingerprint: str


@functools.lru_cache(maxsize=256)
def _layout(cards: int, packs: int, spreads: int, num_players: int) -> Layout:
    sizes = {
        "twins": cards if packs > 1 else 0,
        "phase": PHASE_STEPS + 2,
        "count": COUNT_STEPS,
        "turn": TURN_STEPS,
        "stock": STOCK_STEPS + 1,
        "first": num_players,
        "num_cards": HAND_STEPS,
        "num_spreads": spreads + 1,
        "waits": WAIT_STEPS,
        "blocked": 1,
    }
    planes: list[Plane] = []
    starts = np.full((len(PLANES), MAX_SEATS), -1, np.int32)
    at = 0
    for index, name in enumerate(PLANES):
        owners = range(name == "known", num_players) if name in _SEAT_PLANES else (0,)
        for seat in owners:
            size = sizes.get(name, cards)
            if size:
                planes.append(Plane(name, seat if name in _SEAT_PLANES else None, at, size, _MEANINGS[name]))
                starts[index, seat] = at
                at += size
    starts.flags.writeable = False
    text = repr([(plane.name, plane.seat, plane.size) for plane in planes])
    return Layout(tuple(planes), at, starts, hashlib.sha256(text.encode()).hexdigest()[:16])


def layout(rules: LoweredRules, num_players: int) -> Layout:
    """Returns the layout of observations under some rules.

    Args:
        rules: lowered rules.
        num_players: 2 to 6, a number these rules are played by.

    Raises:
        TonkError: these rules are not played by that many.
    """
    rules.rules.check_players(num_players)
    row = rules.record[0]
    packs = int(row["packs"][num_players])
    return _layout(int(row["num_types"]), packs, int(row["spreads_per_seat"]), num_players)


@jit
def _mark(out: Any, row: int, start: int, types: int, rules: Any, r: int) -> None:
    """Sets the features of some card types."""
    while types:
        card = lowest_bit(types)
        types &= types - 1
        out[row, start + rules[r]["type_index"][card]] = 1.0


@jit
def observe(views: Any, j: int, rules: Any, starts: Any, out: Any, row: int) -> None:
    """Writes a view as a vector.

    Args:
        views: `[N]` VIEW_DTYPE, not modified.
        j: which view.
        rules: `[R]` RULES_DTYPE.
        starts: `Layout.starts` for the rules and players of view `j`.
        out: `[M, size]` float32; row `row` is overwritten whole.
        row: which row.
    """
    out[row, :] = 0.0
    r = views[j]["rules_index"]
    n = int(views[j]["num_players"])
    low, high = views[j]["hand"][0], views[j]["hand"][1]
    _mark(out, row, starts[HAND, 0], low, rules, r)
    if starts[TWINS, 0] >= 0:
        _mark(out, row, starts[TWINS, 0], high, rules, r)
    mine = views[j]["to_move"] == 0
    marked = int(views[j]["pending"]) if views[j]["pending"] >= 0 else int(views[j]["taken"])
    if marked >= 0 and mine:
        out[row, starts[MARKED, 0] + rules[r]["type_index"][marked]] = 1.0
    top = int(views[j]["top"])
    above: Any = np.int64(0)
    if top >= 0:
        above = np.int64(1) << top
        out[row, starts[TOP, 0] + rules[r]["type_index"][top]] = 1.0
    _mark(out, row, starts[FITS, 0], views[j]["fits"], rules, r)
    laid: Any = np.int64(0)
    for seat in range(n):
        for place in range(int(views[j]["num_spreads"][seat])):
            laid |= views[j]["spread_cards"][seat, place, 0]
    _mark(out, row, starts[LAID, 0], laid, rules, r)
    held: Any = np.int64(0)
    for seat in range(n):
        held |= views[j]["known"][seat, 0]
    _mark(out, row, starts[BURIED, 0], views[j]["seen"][0] & ~(laid | held | above), rules, r)

    start = starts[PHASE, 0]
    phase = int(views[j]["phase"])
    if DRAW <= phase < DRAW + PHASE_STEPS:
        out[row, start + phase - DRAW] = 1.0
    out[row, start + PHASE_STEPS] = views[j]["may_drop"]
    out[row, start + PHASE_STEPS + 1] = views[j]["must_drop"]
    out[row, starts[COUNT, 0] + min(int(views[j]["count"]), COUNT_STEPS - 1)] = 1.0
    out[row, starts[TURN, 0] + min(max(int(views[j]["own_turns"][0]) - 1, 0), TURN_STEPS - 1)] = 1.0
    size = int(rules[r]["packs"][n]) * int(rules[r]["num_types"])
    stock = int(views[j]["stock_size"])
    out[row, starts[STOCK, 0] + min(stock * STOCK_STEPS // size, STOCK_STEPS - 1)] = 1.0
    out[row, starts[STOCK, 0] + STOCK_STEPS] = stock / size
    out[row, starts[FIRST, 0] + (int(views[j]["dealer"]) + 1) % n] = 1.0
    for seat in range(n):
        if seat:
            _mark(out, row, starts[KNOWN, seat], views[j]["known"][seat, 0], rules, r)
        _mark(out, row, starts[THROWN, seat], views[j]["thrown"][seat], rules, r)
        out[row, starts[NUM_CARDS, seat] + min(int(views[j]["num_cards"][seat]), HAND_STEPS - 1)] = 1.0
        out[row, starts[NUM_SPREADS, seat] + int(views[j]["num_spreads"][seat])] = 1.0
        out[row, starts[WAITS, seat] + min(int(views[j]["waits"][seat]), WAIT_STEPS - 1)] = 1.0
        out[row, starts[BLOCKED, seat]] = views[j]["blocked"][seat]


def planes_table(rules: LoweredRules, num_players: int) -> str:
    """Returns the layout as a Markdown table."""
    lines = ["| features | plane | of | meaning |", "|---|---|---|---|"]
    for plane in layout(rules, num_players).planes:
        whose = {None: "", 0: "viewer"}.get(plane.seat, f"player {plane.seat} to the left")
        span = f"{plane.first}–{plane.first + plane.size - 1}" if plane.size > 1 else f"{plane.first}"
        lines.append(f"| {span} | `{plane.name}` | {whose} | {plane.meaning} |")
    return "\n".join(lines) + "\n"


__all__ = ["Layout", "Plane", "layout", "observe", "planes_table"]
