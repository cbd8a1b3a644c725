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
from tonk_env.cards import JOKER, JOKERS_MORE, NUM_TYPES
from tonk_env.engine.state import DRAW, WIDOW
from tonk_env.limits import MAX_HAND, MAX_JOKERS, MAX_SEATS
from tonk_env.rules.lower import LoweredRules

COUNT_STEPS = 64
"""Counts 0 … 62, and 63 or more."""
HAND_STEPS = MAX_HAND + 2
"""Hands of 0 … 14 cards."""
TURN_STEPS = 12
STOCK_STEPS = 12
WAIT_STEPS = 6
PHASE_STEPS = 3
QUESTION_STEPS = 3
HITS_STEPS = 4
BET_STEPS = 10

_SEAT_PLANES = (
    "known",
    "thrown",
    "num_cards",
    "num_spreads",
    "waits",
    "blocked",
    "locked",
    "swapped",
    "passed",
    "thrower",
    "naturals",
)
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
    "jokers",
    "wilds",
    "question",
    "turn_of",
    "put_away",
    "hits",
    "suit",
    "bets",
    "double",
)
PLANES = (*PLANE_NAMES, *_SEAT_PLANES)
(
    HAND, TWINS, MARKED, TOP, FITS, LAID, BURIED, PHASE, COUNT, TURN, STOCK, FIRST, JOKERS, WILDS, QUESTION,
    TURN_OF, PUT_AWAY, HITS, SUIT, BETS, DOUBLE,
) = range(len(PLANE_NAMES))  # fmt: skip
(
    KNOWN, THROWN, NUM_CARDS, NUM_SPREADS, WAITS, BLOCKED, LOCKED, SWAPPED, PASSED, THROWER, NATURALS,
) = range(len(PLANE_NAMES), len(PLANES))  # fmt: skip

_MEANINGS = {
    "hand": "cards in hand",
    "twins": "cards held twice (two packs, two jokers)",
    "marked": "the taken card that may not be discarded, or the card whose target is asked",
    "top": "the top discard",
    "fits": "cards with which the viewer can hit a spread on the table",
    "laid": "cards lying in spreads",
    "buried": "cards seen that lie in the pile below the top",
    "phase": "draw, play, target; then: a drop is not forbidden by a wait, a drop is forced",
    "count": f"own count, one of {COUNT_STEPS} (the last: that many less one, or more)",
    "turn": f"own turns begun, one of {TURN_STEPS} (the last: that many, or more)",
    "stock": f"stock cards left, as their share of the deck: one of {STOCK_STEPS}, then the share itself",
    "first": "who had the first turn, counted from the viewer",
    "jokers": "jokers held, one of 0 to 4",
    "wilds": "cards that wilds on the table stand for",
    "question": "swap for the widow, slap, discard after a slap",
    "turn_of": "whose turn it is, counted from the viewer",
    "put_away": "the card that was swapped for the widow",
    "hits": f"hits made this turn, one of {HITS_STEPS} (the last: that many less one, or more)",
    "suit": "the suit called for the side bet",
    "bets": f"deals since the bets on suit and naturals were last won, in tenths (1: {BET_STEPS} or more)",
    "double": "the hand pays double",
    "known": "cards seen going into the hand and still there",
    "thrown": "types discarded so far",
    "num_cards": f"cards held, one of {HAND_STEPS}",
    "num_spreads": "spreads laid",
    "waits": f"turns of waiting left, one of {WAIT_STEPS} (the last: that many less one, or more)",
    "blocked": "may not go out on the next turn",
    "locked": "spreads are closed to others",
    "swapped": "has swapped for the widow",
    "passed": "was asked to slap the top discard, and passed",
    "thrower": "discarded the card that may be slapped",
    "naturals": "has won the bet on naturals",
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


def _sizes(lowered: LoweredRules, num_players: int) -> dict[str, int]:
    """Returns the features of each plane; 0 where the rules have no use for it."""
    row, rules = lowered.record[0], lowered.rules
    cards, bets = int(row["num_types"]), rules.side_bets
    return dict.fromkeys(PLANES, cards) | {
        "twins": cards if row["packs"][num_players] > 1 or rules.deck.jokers > 1 else 0,
        "phase": PHASE_STEPS + 2,
        "count": COUNT_STEPS,
        "turn": TURN_STEPS,
        "stock": STOCK_STEPS + 1,
        "first": num_players,
        "jokers": (MAX_JOKERS + 1) * (rules.deck.jokers > 0),
        "wilds": cards * rules.deck.has_wilds,
        "question": QUESTION_STEPS * (rules.slap or rules.deal.widow),
        "turn_of": num_players * rules.slap,
        "put_away": cards * rules.deal.widow,
        "hits": HITS_STEPS * (rules.spreads.hits_per_turn is not None),
        "suit": rules.deck.suits * (bets.suit > 0),
        "bets": 2 * (bets.suit > 0 or bets.naturals > 0),
        "double": int(rules.match.last_hands_double > 0),
        "num_cards": HAND_STEPS,
        "num_spreads": int(row["spreads_per_seat"]) + 1,
        "waits": WAIT_STEPS,
        "blocked": 1,
        "locked": int(rules.spreads.lock_after is not None),
        "swapped": int(rules.deal.widow),
        "passed": int(rules.slap),
        "thrower": int(rules.slap),
        "naturals": int(bets.naturals > 0),
    }


@functools.lru_cache(maxsize=256)
def _layout(plane_sizes: tuple[tuple[str, int], ...], num_players: int) -> Layout:
    sizes = dict(plane_sizes)
    planes: list[Plane] = []
    starts = np.full((len(PLANES), MAX_SEATS), -1, np.int32)
    at = 0
    for index, name in enumerate(PLANES):
        owners = range(name == "known", num_players) if name in _SEAT_PLANES else (0,)
        for seat in owners:
            size = sizes[name]
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
    return _layout(tuple(_sizes(rules, num_players).items()), num_players)


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
    in_deck: Any = (np.int64(1) << NUM_TYPES) - 1
    low, high = views[j]["hand"][0] & in_deck, views[j]["hand"][1] & in_deck
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
            laid |= _naturals_of(views, j, seat, place)
    for at in range(int(views[j]["num_wilds"])):
        laid |= np.int64(1) << int(views[j]["wild_card"][at])
        out[row, starts[WILDS, 0] + rules[r]["type_index"][views[j]["wild_as"][at]]] = 1.0
    _mark(out, row, starts[LAID, 0], laid, rules, r)
    held: Any = np.int64(0)
    for seat in range(n):
        held |= views[j]["known"][seat, 0]
    _mark(out, row, starts[BURIED, 0], views[j]["seen"][0] & in_deck & ~(laid | held | above), rules, r)

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
            _mark(out, row, starts[KNOWN, seat], views[j]["known"][seat, 0] & in_deck, rules, r)
        _mark(out, row, starts[THROWN, seat], views[j]["thrown"][seat], rules, r)
        out[row, starts[NUM_CARDS, seat] + min(int(views[j]["num_cards"][seat]), HAND_STEPS - 1)] = 1.0
        out[row, starts[NUM_SPREADS, seat] + int(views[j]["num_spreads"][seat])] = 1.0
        out[row, starts[WAITS, seat] + min(int(views[j]["waits"][seat]), WAIT_STEPS - 1)] = 1.0
        out[row, starts[BLOCKED, seat]] = views[j]["blocked"][seat]
        if starts[LOCKED, seat] >= 0:
            out[row, starts[LOCKED, seat]] = views[j]["locked"][seat]
        if starts[SWAPPED, seat] >= 0:
            out[row, starts[SWAPPED, seat]] = views[j]["swapped"][seat]
        if starts[PASSED, seat] >= 0:
            out[row, starts[PASSED, seat]] = views[j]["passed"][seat]
            out[row, starts[THROWER, seat]] = views[j]["thrower"] == seat
        if starts[NATURALS, seat] >= 0:
            out[row, starts[NATURALS, seat]] = views[j]["naturals_winner"] == seat
    _observe_rarely(views, j, rules, starts, out, row)


@jit
def _naturals_of(views: Any, j: int, seat: int, place: int) -> int:
    """Returns the types that lie in a spread as themselves."""
    low, high = views[j]["spread_cards"][seat, place, 0], views[j]["spread_cards"][seat, place, 1]
    for at in range(int(views[j]["num_wilds"])):
        if views[j]["wild_seat"][at] == seat and views[j]["wild_place"][at] == place:
            bit = np.int64(1) << int(views[j]["wild_as"][at])
            if high & bit:
                high &= ~bit
            else:
                low &= ~bit
    return int(low)


@jit
def _observe_rarely(views: Any, j: int, rules: Any, starts: Any, out: Any, row: int) -> None:
    """Writes the planes of the viewer and the table that few rules have."""
    r = views[j]["rules_index"]
    if starts[JOKERS, 0] >= 0:
        jokers = 0
        for card in range(JOKER, JOKERS_MORE + 1):
            jokers += views[j]["hand"][0] >> card & 1
            jokers += views[j]["hand"][1] >> card & 1
        out[row, starts[JOKERS, 0] + jokers] = 1.0
    if starts[QUESTION, 0] >= 0 and views[j]["phase"] >= WIDOW:
        out[row, starts[QUESTION, 0] + int(views[j]["phase"]) - WIDOW] = 1.0
    if starts[TURN_OF, 0] >= 0:
        out[row, starts[TURN_OF, 0] + int(views[j]["turn_of"])] = 1.0
    if starts[PUT_AWAY, 0] >= 0 and views[j]["put_away"] >= 0:
        out[row, starts[PUT_AWAY, 0] + rules[r]["type_index"][views[j]["put_away"]]] = 1.0
    if starts[HITS, 0] >= 0:
        out[row, starts[HITS, 0] + min(int(views[j]["hits_now"]), HITS_STEPS - 1)] = 1.0
    if starts[SUIT, 0] >= 0:
        out[row, starts[SUIT, 0] + int(views[j]["called_suit"])] = 1.0
    if starts[BETS, 0] >= 0:
        for bet in range(2):
            out[row, starts[BETS, 0] + bet] = min(int(views[j]["bet_deals"][bet]), BET_STEPS) / BET_STEPS
    if starts[DOUBLE, 0] >= 0:
        out[row, starts[DOUBLE, 0]] = views[j]["multiplier"] > 1


def planes_table(rules: LoweredRules, num_players: int) -> str:
    """Returns the layout as a Markdown table."""
    lines = ["| features | plane | of | meaning |", "|---|---|---|---|"]
    for plane in layout(rules, num_players).planes:
        whose = {None: "", 0: "viewer"}.get(plane.seat, f"player {plane.seat} to the left")
        span = f"{plane.first}–{plane.first + plane.size - 1}" if plane.size > 1 else f"{plane.first}"
        lines.append(f"| {span} | `{plane.name}` | {whose} | {plane.meaning} |")
    return "\n".join(lines) + "\n"


__all__ = ["Layout", "Plane", "layout", "observe", "planes_table"]
