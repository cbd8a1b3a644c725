"""Rule bots: one set of compiled kernels, playing as a record of numbers (a style) tells it to."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Views
from tonk_env._jit import jit, lowest_bit, popcount
from tonk_env.cards import NUM_RANKS, NUM_SUITS, NUM_TYPES
from tonk_env.engine.melds import cards_of_rank
from tonk_env.engine.state import DRAW, PLAY
from tonk_env.rules import LoweredRules
from tonk_env.rules.lower import DISCARD, DROP, HIT, RUN, SPREAD, STOCK, TAKE

OWN_TURNS = 5
"""Rows of a threshold table: own turn 0, 1, 2, 3, 4 and later."""
FEWEST_CARDS = 5
"""Columns of a threshold table: the fewest cards of any opponent, 1, 2, 3, 4, 5 and more."""
NEVER_BREAK = 1000.0
"""What a card of a pair or partial run is worth keeping for, where such a card goes last."""

STYLE_DTYPE = np.dtype(
    [
        # Drop where count <= threshold, by: hand opened by another or by oneself, own turn, fewest cards.
        ("thresholds", np.float64, (2, OWN_TURNS, FEWEST_CARDS)),
        ("keep", np.float64),  # points that a card of a pair or partial run is worth beyond its value
        ("only_live", np.int8),  # 1: of those that the cards not yet seen can still complete
    ],
    align=True,
)

_VALUE_BITS = 6
TOOLS_DTYPE = np.dtype(
    [
        ("packs", np.int64),
        ("deck", np.int64),  # the types in it
        ("threes", np.int64, (NUM_TYPES, 3)),  # runs of three with a card, as types; 0: no more
        ("value_bits", np.int64, _VALUE_BITS),  # types whose value has bit b
    ],
    align=True,
)


def make_tools(rules: LoweredRules, num_players: int) -> npt.NDArray[np.void]:
    """Returns what the kernels look up: `[1]` TOOLS_DTYPE."""
    record, tools = rules.record[0], np.zeros(1, TOOLS_DTYPE)
    tools[0]["packs"] = record["packs"][num_players]
    for card in record["types"][: record["num_types"]].tolist():
        tools[0]["deck"] |= 1 << card
        for bit in range(_VALUE_BITS):
            tools[0]["value_bits"][bit] |= (int(record["values"][card]) >> bit & 1) << card
        threes = [
            int(record["spread_cards"][spread, 0])
            for spread in range(record["num_spreads"])
            if record["spread_kind"][spread] == RUN and record["spread_size"][spread] == 3
        ]
        with_card = [three for three in threes if three >> card & 1]
        tools[0]["threes"][card, : len(with_card)] = with_card
    return tools


@jit
def points_of(types: int, tools: Any) -> int:
    """Sums the values of a set of types."""
    points = 0
    for bit in range(_VALUE_BITS):
        points += popcount(types & tools[0]["value_bits"][bit]) << bit
    return points


@jit
def best_spread_points(low: int, high: int, card: int, rules: Any, tools: Any) -> int:
    """Returns the points of the dearest spread in a collection that has `card` in it, or 0."""
    best = 0
    rank = card % NUM_RANKS
    if cards_of_rank(low, high, rank) >= 3:
        for spread in range(int(rules[0]["set_first"][rank]), int(rules[0]["set_first"][rank + 1])):
            best = max(best, _points_if_held(low, high, card, spread, rules, tools))
    suit = card // NUM_RANKS
    if suit < NUM_SUITS and rules[0]["has_run"][low >> (suit * NUM_RANKS) & ((1 << NUM_RANKS) - 1)]:
        for spread in range(int(rules[0]["run_first"][suit]), int(rules[0]["run_first"][suit + 1])):
            best = max(best, _points_if_held(low, high, card, spread, rules, tools))
    return best


@jit
def _points_if_held(low: int, high: int, card: int, spread: int, rules: Any, tools: Any) -> int:
    laid, twins = rules[0]["spread_cards"][spread, 0], rules[0]["spread_cards"][spread, 1]
    if not (laid >> card) & 1 or laid & ~low or twins & ~high:
        return 0
    return points_of(laid, tools) + points_of(twins, tools)


@jit
def gain_of_taking(views: Any, j: int, rules: Any, tools: Any) -> int:
    """Returns the points that the top discard would let the viewer lay or hit beyond what the hand can lay now."""
    top = int(views[j]["top"])
    if (views[j]["fits"] >> top) & 1:
        return max(1, int(rules[0]["values"][top]))
    low, high = int(views[j]["hand"][0]), int(views[j]["hand"][1])
    bit = np.int64(1) << top
    with_top = best_spread_points(low | bit, high | (low & bit), top, rules, tools)
    if with_top == 0:
        return 0
    held = 0
    left = low
    while left:
        card = lowest_bit(left)
        left &= left - 1
        held = max(held, best_spread_points(low, high, card, rules, tools))
    return with_top - held


@jit
def num_outs(low: int, high: int, card: int, gone: int, tools: Any) -> int:
    """Counts the types not in hand that would complete a spread of `card` and another card of the hand.

    Args:
        low, high: the hand, which has `card` in it.
        card: the card.
        gone: types that do not count.
        tools: `[1]` TOOLS_DTYPE.
    """
    bit = np.int64(1) << card
    outs = np.int64(0)
    column = np.int64(1 | 1 << 13 | 1 << 26 | 1 << 39) << (card % NUM_RANKS)
    if low & column & ~bit or high & bit:
        outs |= column & tools[0]["deck"]
    for at in range(3):
        others = tools[0]["threes"][card, at] & ~bit
        if others & low:
            outs |= others
    return popcount(outs & ~low & ~gone)


@jit
def wants_drop(views: Any, j: int, styles: Any) -> bool:
    """Tells whether a count is low enough to drop."""
    n = int(views[j]["num_players"])
    fewest = FEWEST_CARDS
    for other in range(1, n):
        fewest = min(fewest, int(views[j]["num_cards"][other]))
    opened = views[j]["dealer"] == n - 1
    turn = min(int(views[j]["own_turns"][0]), OWN_TURNS)
    return views[j]["count"] <= styles[0]["thresholds"][int(opened), turn - 1, max(fewest, 1) - 1]


@jit
def choose_draw(views: Any, j: int, first: int, last: int, rules: Any, styles: Any, tools: Any) -> int:
    """Returns drop, stock or take; `first` and `last` are the lowest and highest legal ids."""
    kinds = rules[0]["kind_first"]
    if first == kinds[DROP] and (last == first or wants_drop(views, j, styles)):
        return first
    if last == kinds[TAKE] and gain_of_taking(views, j, rules, tools) > 0:
        return last
    # Without a stock card the top discard is all that can be drawn.
    return min(last, kinds[STOCK])


@jit
def choose_play(
    views: Any, j: int, legal: Any, num_legal: int, rules: Any, styles: Any, tools: Any
) -> int:
    """Returns the dearest spread, else the dearest hit, else the discard that is missed least.

    What has the taken card in it goes first: a turn must find a use for that card.
    """
    first_hit, first_discard = rules[0]["kind_first"][HIT], rules[0]["kind_first"][DISCARD]
    taken = int(views[j]["taken"])
    best, best_score = int(legal[j, 0]), -1.0e9
    if best < first_discard:
        for at in range(num_legal):
            action = int(legal[j, at])
            if action >= first_hit and best < first_hit or action >= first_discard:
                break
            if action < first_hit:
                spread = action - rules[0]["kind_first"][SPREAD]
                types = int(rules[0]["spread_cards"][spread, 0])
                points = points_of(types, tools) + points_of(rules[0]["spread_cards"][spread, 1], tools)
                uses_taken = taken >= 0 and (types >> taken) & 1 != 0
            else:
                card = int(rules[0]["types"][action - first_hit])
                points = int(rules[0]["values"][card])
                uses_taken = card == taken
            score = points + 1000.0 * uses_taken
            if score > best_score:
                best, best_score = action, score
        return best
    for at in range(num_legal):
        action = int(legal[j, at])
        score = discard_score(views, j, int(rules[0]["types"][action - first_discard]), rules, styles, tools)
        if score > best_score:
            best, best_score = action, score
    return best


@jit
def discard_score(views: Any, j: int, card: int, rules: Any, styles: Any, tools: Any) -> float:
    """Returns how gladly a card is thrown: its value, less what it is kept for."""
    low, high = int(views[j]["hand"][0]), int(views[j]["hand"][1])
    gone = int(views[j]["seen"][0 if tools[0]["packs"] == 1 else 1]) if styles[0]["only_live"] else 0
    score = float(rules[0]["values"][card])
    if num_outs(low, high, card, gone, tools):
        score -= styles[0]["keep"]
    return score


@jit
def choose_rows(
    views: Any, legal: Any, num_legal: Any, rules: Any, styles: Any, tools: Any, actions: Any
) -> None:
    """Chooses a move for each view.

    Args:
        views: `[N]` VIEW_DTYPE.
        legal: `[N, MAX_LEGAL]` int16, ascending.
        num_legal: `[N]` int64.
        rules: `[1]` RULES_DTYPE.
        styles: `[1]` STYLE_DTYPE.
        tools: `[1]` TOOLS_DTYPE.
        actions: `[N]` int32; overwritten.
    """
    for j in range(views.shape[0]):
        count = num_legal[j]
        if count == 1:
            actions[j] = legal[j, 0]
        elif views[j]["phase"] == DRAW:
            first, last = int(legal[j, 0]), int(legal[j, count - 1])
            actions[j] = choose_draw(views, j, first, last, rules, styles, tools)
        elif views[j]["phase"] == PLAY:
            actions[j] = choose_play(views, j, legal, count, rules, styles, tools)
        else:
            # Of several spreads to hit, another's rather than one's own: who is hit may have to wait.
            actions[j] = legal[j, count - 1]


class Bot:
    """A rule bot of some style.

    Attributes:
        name: its spec string.
        style: `[1]` STYLE_DTYPE.
    """

    def __init__(self, name: str, style: npt.NDArray[np.void]) -> None:
        self.name = name
        self.style = style
        self._rules = np.zeros(0)
        self._tools = np.zeros(0)

    def start(self, rules: LoweredRules, num_players: int, seed: int) -> None:
        """Makes ready for hands under some rules; any rules and 2 to 6 players will do."""
        self._rules = rules.record
        self._tools = make_tools(rules, num_players)

    def act(
        self,
        views: Views,
        legal: npt.NDArray[np.int16],
        num_legal: npt.NDArray[np.int64],
        keys: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int32]:
        """Chooses a move for each view, by rule: nothing is drawn from the keys."""
        actions = np.empty(len(views), np.int32)
        choose_rows(views, legal, num_legal, self._rules, self.style, self._tools, actions)
        return actions

    def end(self, payments: npt.NDArray[np.float64]) -> None:
        """Does nothing: a rule bot does not learn."""
