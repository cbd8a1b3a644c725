"""What of a view a table of strategies tells apart, declared as data: features, each cut into buckets.

A decision's key is the phase and the bucket of every listed feature, folded into one number. Two views with
the same buckets are one decision to the solver: that is the abstraction.
"""

from __future__ import annotations

import functools
import math
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from agents.bot import (
    NEVER,
    STYLE_DTYPE,
    bit_of,
    gain_of_taking,
    gone_types,
    live_types,
    num_outs,
    num_ways,
    points_of,
    wants_swap,
)
from agents.tabular.moves import FIRST_DISCARD, MAX_DISCARDS, MELD
from tonk_env._jit import fold, jit, lowest_bit, popcount
from tonk_env.engine.state import DRAW
from tonk_env.rules.lower import DISCARD, HIT, SPREAD

FEATURES = {
    "log": "fingerprint of all the seat saw: perfect recall, for toys",
    "moves": "which macro moves are offered, a bit for each",
    "own_turn": "turns the seat has begun",
    "opened": "1 where the seat had the first turn of the hand",
    "own_cards": "cards in hand",
    "opponent_cards": "fewest cards of an opponent; that one is the opponent below",
    "count": "own count",
    "lead": "points by which the opponent's count, unknown cards taken as average ones, exceeds one's own",
    "known": "cards of the opponent that are known",
    "live": "own cards in a pair or partial run that unseen cards can complete",
    "stock": "cards in the stock",
    "spreads": "spreads on the table",
    "wait": "own turns to wait before a drop",
    "opponent_wait": "the opponent's",
    "top": "points of the top discard; -1: no pile",
    "top_use": "what the top discard does: 2 is laid or hit, 1 worth swapping for, 0 neither; drawing only",
    "left": "cards left after the dearest spread or hit; -1: there is none; playing only",
    "thrown": "points of the card of the first kind of discard; -1: none; playing only",
    "second": "points by which the second kind's card exceeds it; playing only",
    "third": "points by which the third kind's card exceeds it; playing only",
    "keeps": "1 where the first kind's card is live itself; playing only",
    "ways": "pairs of unseen cards that make a spread with the first kind's card; playing only",
    "known_ways": "those with a card in them that the next player is known to hold; playing only",
}
"""Every feature and what it counts."""
(
    LOG,
    MOVES,
    OWN_TURN,
    OPENED,
    OWN_CARDS,
    OPPONENT_CARDS,
    COUNT,
    LEAD,
    KNOWN,
    LIVE,
    STOCK_SIZE,
    SPREADS,
    WAIT,
    OPPONENT_WAIT,
    TOP,
    TOP_USE,
    LEFT,
    THROWN,
    SECOND,
    THIRD,
    KEEPS,
    WAYS,
    KNOWN_WAYS,
) = range(len(FEATURES))
NUM_FEATURES = len(FEATURES)
MAX_EDGES = 48

PLAN_DTYPE = np.dtype(
    [
        ("num_features", np.int64, 2),  # listed for drawing, for playing
        ("features", np.int64, (2, NUM_FEATURES)),
        ("num_edges", np.int64, (2, NUM_FEATURES)),  # 0: the number itself is the bucket
        ("edges", np.int64, (2, NUM_FEATURES, MAX_EDGES)),
        ("num_discards", np.int64),  # kinds of discard
    ],
    align=True,
)


Edge = Annotated[int, Field(ge=-(10**6), le=10**6)]
Buckets = dict[str, tuple[Edge, ...]]
"""Edges by feature: a number's bucket is how many edges are at most it; no edges: the number itself."""


def _are_of(phase: str, features: Buckets) -> Buckets:
    names = [
        name for name, text in FEATURES.items() if not text.endswith(" only") or f"; {phase} only" in text
    ]
    for name, edges in features.items():
        if name not in names:
            raise ValueError(f"{name!r} is no feature when {phase}: there are {', '.join(names)}")
        if len(edges) > MAX_EDGES or list(edges) != sorted(set(edges)):
            raise ValueError(f"{name}: edges ascend, at most {MAX_EDGES}")
    return features


DrawBuckets = Annotated[Buckets, AfterValidator(functools.partial(_are_of, "drawing"))]
PlayBuckets = Annotated[Buckets, AfterValidator(functools.partial(_are_of, "playing"))]
_Points = Annotated[float, Field(ge=-NEVER, le=NEVER)]


class DiscardKind(BaseModel):
    """A kind of discard: the card of the highest value, less what it is kept for, as rule bots score it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep: _Points = Field(0.0, description="in a live pair or partial run")
    keep_out: _Points = Field(0.0, description="× types that would complete it")
    danger: _Points = Field(0.0, description="× pairs of unseen cards that would make a spread with it")
    danger_known: _Points = Field(
        0.0, description="× such pairs with a known card of the next player in them"
    )


class Abstraction(BaseModel):
    """What is told apart, and which moves there are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    draw: DrawBuckets = Field(
        {"moves": (), "own_turn": (2, 3, 4, 6), "count": ()}, description="when drawing"
    )
    play: PlayBuckets = Field(
        {"moves": (), "own_turn": (2, 3, 4, 6), "count": ()}, description="when playing"
    )
    discards: tuple[DiscardKind, ...] = Field(
        (DiscardKind(keep=5), DiscardKind(keep=NEVER), DiscardKind()),
        min_length=1,
        max_length=MAX_DISCARDS,
        description="kinds of discard; one that throws the same card as one before it is not offered",
    )
    take_swap: _Points = Field(
        3.0,
        description="a top discard that cannot be used yet may be taken where the card thrown for it, by the "
        "first kind of discard, scores so much more",
    )

    def compile(self) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void]]:
        """Returns what kernels read: `[1]` PLAN_DTYPE, and `[MAX_DISCARDS]` STYLE_DTYPE by kind."""
        plan, styles = np.zeros(1, PLAN_DTYPE), np.zeros(MAX_DISCARDS, STYLE_DTYPE)
        names = list(FEATURES)
        for phase, buckets in enumerate((self.draw, self.play)):
            plan["num_features"][0, phase] = len(buckets)
            for at, (name, edges) in enumerate(buckets.items()):
                plan["features"][0, phase, at] = names.index(name)
                plan["num_edges"][0, phase, at] = len(edges)
                plan["edges"][0, phase, at, : len(edges)] = edges
        plan["num_discards"] = len(self.discards)
        for kind, given in enumerate(self.discards):
            for field, weight in given.model_dump().items():
                styles[kind][field] = weight
        styles["only_live"] = 1
        styles["take_swap"] = self.take_swap
        return plan, styles


@jit
def key_of(
    views: Any, j: int, moves: Any, row: int, rules: Any, plan: Any, styles: Any, tools: Any, facts: Any
) -> int:
    """Returns the key of a decision, from the view alone.

    Args:
        views: `[N]` VIEW_DTYPE.
        j: which view; it is drawing or playing.
        moves, row: the macro moves that `offer` wrote.
        rules: `[1]` RULES_DTYPE.
        plan, styles: of `Abstraction.compile`.
        tools: `[1]` TOOLS_DTYPE.
        facts: `[NUM_FEATURES]` int64, scratch space: overwritten with the features.
    """
    phase = 0 if views[j]["phase"] == DRAW else 1
    _measure(views, j, moves, row, rules, tools, facts)
    if phase == 0:
        _measure_drawing(views, j, rules, styles, tools, facts)
    else:
        _measure_playing(views, j, moves, row, rules, tools, facts)
    key = fold(int(views[j]["num_players"]), phase)
    for at in range(plan[0]["num_features"][phase]):
        fact = facts[plan[0]["features"][phase, at]]
        edges = plan[0]["num_edges"][phase, at]
        bucket = fact
        if edges:
            bucket = 0
            while bucket < edges and plan[0]["edges"][phase, at, bucket] <= fact:
                bucket += 1
        key = fold(key, bucket)
    return key


@jit
def _measure(views: Any, j: int, moves: Any, row: int, rules: Any, tools: Any, facts: Any) -> None:
    """Writes the features that both phases have."""
    n = int(views[j]["num_players"])
    other, spreads = 1, int(views[j]["num_spreads"][0])
    for seat in range(1, n):
        spreads += int(views[j]["num_spreads"][seat])
        if views[j]["num_cards"][seat] < views[j]["num_cards"][other]:
            other = seat
    offered = 0
    for move in range(moves.shape[1]):
        offered |= int(moves[row, move] >= 0) << move
    cards = int(views[j]["num_cards"][other])
    low, high = int(views[j]["hand"][0]) & tools[0]["deck"], int(views[j]["hand"][1])
    gone = gone_types(views, j, tools)
    unseen = tools[0]["deck"] & ~low & ~gone
    known = int(views[j]["known"][other, 0])
    mean = points_of(unseen, tools) / max(1, popcount(unseen))
    expected = points_of(known, tools) + mean * (cards - popcount(known))
    facts[LOG] = views[j]["log"]
    facts[MOVES] = offered
    facts[OWN_TURN] = views[j]["own_turns"][0]
    facts[OPENED] = views[j]["dealer"] == n - 1
    facts[OWN_CARDS] = views[j]["num_cards"][0]
    facts[OPPONENT_CARDS] = cards
    facts[COUNT] = views[j]["count"]
    facts[LEAD] = math.floor(expected - int(views[j]["count"]))
    facts[KNOWN] = popcount(known)
    facts[LIVE] = popcount(_live(low, high, gone, tools))
    facts[STOCK_SIZE] = views[j]["stock_size"]
    facts[SPREADS] = spreads
    facts[WAIT] = views[j]["waits"][0]
    facts[OPPONENT_WAIT] = views[j]["waits"][other]
    top = int(views[j]["top"])
    facts[TOP] = int(rules[0]["values"][top]) if top >= 0 else -1


@jit
def _live(low: int, high: int, gone: int, tools: Any) -> int:
    """Returns the types of a hand that are in a pair or partial run that unseen cards can complete."""
    if tools[0]["is_standard"]:
        return live_types(low, gone, tools)
    live, left = 0, low
    while left:
        if num_outs(low, high, lowest_bit(left), gone, tools):
            live |= left & -left
        left &= left - 1
    return live


@jit
def _measure_drawing(views: Any, j: int, rules: Any, styles: Any, tools: Any, facts: Any) -> None:
    facts[TOP_USE] = 0
    if views[j]["top"] >= 0:
        if gain_of_taking(views, j, rules, tools) > 0:
            facts[TOP_USE] = 2
        elif wants_swap(views, j, rules, styles, tools):
            facts[TOP_USE] = 1


@jit
def _measure_playing(views: Any, j: int, moves: Any, row: int, rules: Any, tools: Any, facts: Any) -> None:
    first_hit, first_discard = int(rules[0]["kind_first"][HIT]), int(rules[0]["kind_first"][DISCARD])
    meld, first = int(moves[row, MELD]), int(moves[row, FIRST_DISCARD])
    facts[LEFT] = -1
    if meld >= first_hit:
        facts[LEFT] = int(views[j]["num_cards"][0]) - 1
    elif meld >= 0:
        size = int(rules[0]["spread_size"][meld - int(rules[0]["kind_first"][SPREAD])])
        facts[LEFT] = int(views[j]["num_cards"][0]) - size
    facts[THROWN] = -1
    for feature in range(SECOND, KNOWN_WAYS + 1):
        facts[feature] = 0
    if first < 0:
        return
    card = int(rules[0]["types"][first - first_discard])
    points = int(rules[0]["values"][card])
    facts[THROWN] = points
    for kind in range(1, 3):
        action = int(moves[row, FIRST_DISCARD + kind])
        if action >= 0:
            other = int(rules[0]["types"][action - first_discard])
            facts[SECOND + kind - 1] = int(rules[0]["values"][other]) - points
    low, high = int(views[j]["hand"][0]) & tools[0]["deck"], int(views[j]["hand"][1])
    gone = gone_types(views, j, tools)
    unseen, known = tools[0]["deck"] & ~gone & ~low, int(views[j]["known"][1, 0])
    facts[KEEPS] = int(_live(low, high, gone, tools) & bit_of(card) != 0)
    facts[WAYS] = num_ways(card, unseen, tools)
    if known:
        facts[KNOWN_WAYS] = num_ways(card, unseen | known, tools) - num_ways(card, unseen & ~known, tools)
