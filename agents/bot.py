"""Rule bots: one set of compiled kernels, playing as a record of numbers (a style) tells it to."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Views, certain
from tonk_env._jit import jit, jit_inline, lowest_bit, popcount
from tonk_env.cards import JOKER, NUM_RANKS, NUM_SUITS, NUM_TYPES
from tonk_env.engine.melds import cards_of_rank
from tonk_env.engine.state import DRAW, SLAPPING, TARGETING, WIDOW
from tonk_env.rules import LoweredRules
from tonk_env.rules.lower import ACE_LOW, CLAIM, DISCARD, DROP, HIT, RUN, SPREAD, STOCK, SWAP, TAKE

OWN_TURNS = 5
"""Rows of a threshold table: own turn 0, 1, 2, 3, 4 and later."""
FEWEST_CARDS = 5
"""Columns of a threshold table: the fewest cards of any opponent, 1, 2, 3, 4, 5 and more."""
NEVER = 1000.0
"""Points beyond any hand's: a card kept for so many goes last, a swap of so many is never made."""
_STANDARD_MEAN = 340 / 52  # value of a card of the standard pack

STYLE_DTYPE = np.dtype(
    [
        # Drop where count <= threshold, by: hand opened by another or by oneself, own turn, fewest cards.
        ("thresholds", np.float64, (2, OWN_TURNS, FEWEST_CARDS)),
        ("estimates", np.int8),  # 1: drop weights, pack and hands move the threshold
        # The drop weights: points added to the threshold. "Opponent" is the one of fewest cards.
        ("drop_pool", np.float64),  # × points of as many unseen cards above as many of the whole pack
        ("drop_known", np.float64),  # × points of the opponent's known cards above as many unseen ones
        ("drop_live", np.float64),  # × cards of the hand in a live pair or partial run
        ("drop_gain", np.float64),  # once, where the top discard can be laid or hit
        # Take a top discard that cannot be used yet where the card thrown for it is so much gladder thrown.
        ("take_swap", np.float64),
        # Points that a card is worth keeping for beyond its value:
        ("keep", np.float64),  # in a pair or partial run
        ("keep_out", np.float64),  # × types that would complete it
        ("danger", np.float64),  # × pairs of unseen cards that would make a spread with it
        ("danger_known", np.float64),  # × such pairs that have a known card of the next player in them
        ("only_live", np.int8),  # 1: pairs and partial runs count where cards not yet seen can complete them
    ],
    align=True,
)

_VALUE_BITS = 6
TOOLS_DTYPE = np.dtype(
    [
        ("deck", np.int64),  # the types in it
        ("mean", np.float64),  # their mean value
        ("copies", np.int8),  # of each type
        ("mates", np.int64, NUM_TYPES),  # the other types of a card's rank
        ("near", np.int64, NUM_TYPES),  # these, and the types that share a run of three with it
        ("threes", np.int64, (NUM_TYPES, 3)),  # the other two types of each run of three with it; 0: no more
        ("value_bits", np.int64, _VALUE_BITS),  # types whose value has bit b
        ("is_standard", np.int8),  # one pack of all ranks, aces low, no wilds: runs are neighbouring bits
    ],
    align=True,
)


@functools.cache  # making them takes longer than playing a thousand hands
def make_tools(rules: LoweredRules, num_players: int) -> npt.NDArray[np.void]:
    """Returns what the kernels look up: `[1]` TOOLS_DTYPE."""
    record, tools = rules.record[0], np.zeros(1, TOOLS_DTYPE)
    deck = record["types"][: record["num_types"]].tolist()
    values = record["values"].tolist()
    tools["deck"] = sum(1 << card for card in deck)
    tools["mean"] = sum(values[card] for card in deck) / len(deck)
    tools["copies"] = record["packs"][num_players]
    ranks = (record["num_ranks"], record["ace"], record["packs"][num_players])
    tools["is_standard"] = ranks == (NUM_RANKS, ACE_LOW, 1) and not record["jokers"] and not record["wilds"]
    tools["value_bits"] = [
        sum((values[card] >> bit & 1) << card for card in deck) for bit in range(_VALUE_BITS)
    ]
    spreads = slice(0, int(record["num_spreads"]))
    is_three = (record["spread_kind"][spreads] == RUN) & (record["spread_size"][spreads] == 3)
    threes = record["spread_cards"][spreads, 0][is_three].tolist()
    for card in deck:
        around = [three & ~(1 << card) for three in threes if three >> card & 1]
        alike = [mate for mate in deck if mate not in (card, JOKER) and mate % NUM_RANKS == card % NUM_RANKS]
        mates = sum(1 << mate for mate in alike) if card != JOKER else 0
        tools["threes"][0, card, : len(around)] = around
        tools["mates"][0, card] = mates
        tools["near"][0, card] = functools.reduce(operator.or_, around, mates)
    return tools


@jit
def points_of(types: int, tools: Any) -> int:
    """Sums the values of a set of types."""
    points = 0
    for bit in range(_VALUE_BITS):
        points += popcount(types & tools[0]["value_bits"][bit]) << bit
    return points


@jit
def bit_of(card: int) -> int:
    """Returns the set of types that holds one card alone."""
    return np.int64(1) << card  # type: ignore[return-value]


@jit
def gone_types(views: Any, j: int, tools: Any) -> int:
    """Returns the types whose every copy has lain face up."""
    return int(views[j]["seen"][0 if tools[0]["copies"] == 1 else 1])


@jit
def best_spread_with(low: int, high: int, card: int, rules: Any, tools: Any) -> int:
    """Returns the points of the dearest spread in a collection that has `card` in it, or 0."""
    best = 0
    rank, suit = card % NUM_RANKS, card // NUM_RANKS
    if cards_of_rank(low, high, rank) >= 3:
        for spread in range(int(rules[0]["set_first"][rank]), int(rules[0]["set_first"][rank + 1])):
            best = max(best, _points_if_held(low, high, card, spread, rules, tools))
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
    """Returns the points that the top discard lets one hit, or lay beyond what the hand can lay now."""
    top = int(views[j]["top"])
    if ((views[j]["fits"] | rules[0]["wilds"]) >> top) & 1:
        return max(1, int(rules[0]["values"][top]))
    low, high = int(views[j]["hand"][0]) & tools[0]["deck"], int(views[j]["hand"][1])
    bit = bit_of(top)
    with_top = best_spread_with(low | bit, high | (low & bit), top, rules, tools)
    if with_top == 0:
        return 0
    held = 0
    left = low
    while left:
        held = max(held, best_spread_with(low, high, lowest_bit(left), rules, tools))
        left &= left - 1
    return with_top - held


@jit
def num_outs(low: int, high: int, card: int, gone: int, tools: Any) -> int:
    """Counts the types that would make a spread of `card` and another card of the hand.

    Args:
        low, high: the hand, which has `card` in it.
        card: the card.
        gone: types that do not count.
        tools: `[1]` TOOLS_DTYPE.
    """
    twin = high & bit_of(card)
    held = low & tools[0]["near"][card]
    if held | twin == 0:
        return 0
    outs = held & 0
    if held & tools[0]["mates"][card] | twin:
        outs |= tools[0]["mates"][card]
    for at in range(3):
        if held & tools[0]["threes"][card, at]:
            outs |= tools[0]["threes"][card, at]
    return popcount(outs & ~low & ~gone)


@jit
def live_types(low: int, gone: int, tools: Any) -> int:
    """Returns the types in hand for which `num_outs` is positive, all at once; for standard packs only.

    Args:
        low: the hand.
        gone: types that do not count.
        tools: `[1]` TOOLS_DTYPE, `is_standard`.
    """
    left = tools[0]["deck"] & ~low & ~gone
    # Places from which a run of three can start: ace to jack of each suit.
    start = np.int64(0x7FF | 0x7FF << 13 | 0x7FF << 26 | 0x7FF << 39)
    first_two = low & low >> 1 & left >> 2 & start
    outer_two = low & left >> 1 & low >> 2 & start
    last_two = left & low >> 1 & low >> 2 & start
    live = first_two | first_two << 1 | outer_two | outer_two << 2 | last_two << 1 | last_two << 2
    bits = (1 << NUM_RANKS) - 1
    a, b, c, d = low & bits, low >> 13 & bits, low >> 26 & bits, low >> 39 & bits
    paired = (a & (b | c | d)) | (b & (c | d)) | (c & d)
    paired &= left | left >> 13 | left >> 26 | left >> 39
    return int(live | (low & (paired | paired << 13 | paired << 26 | paired << 39)))


@jit
def num_ways(card: int, types: int, tools: Any) -> int:
    """Counts the pairs among `types` that make a set or a run of three with a card."""
    mates = popcount(types & tools[0]["mates"][card])
    ways = mates * (mates - 1) // 2
    for at in range(3):
        others = tools[0]["threes"][card, at]
        ways += others != 0 and others & ~types == 0
    return ways


@jit
def discard_score(
    views: Any, j: int, low: int, high: int, card: int, rules: Any, styles: Any, tools: Any
) -> float:
    """Returns how gladly a card of a hand (`low`, `high`) is thrown: its value, less what it is kept for."""
    gone = gone_types(views, j, tools)
    score = float(rules[0]["values"][card])
    if (rules[0]["wilds"] >> card) & 1:
        score -= NEVER
    outs = num_outs(low, high, card, gone if styles[0]["only_live"] else 0, tools)
    if outs:
        score -= styles[0]["keep"] + styles[0]["keep_out"] * outs
    if styles[0]["danger"] != 0 or styles[0]["danger_known"] != 0:
        unseen = tools[0]["deck"] & ~gone & ~low
        score -= styles[0]["danger"] * num_ways(card, unseen, tools)
        known = int(views[j]["known"][1, 0])
        if known:
            ways = num_ways(card, unseen | known, tools) - num_ways(card, unseen & ~known, tools)
            score -= styles[0]["danger_known"] * ways
    return score


@jit
def estimated_threshold(views: Any, j: int, threshold: float, rules: Any, styles: Any, tools: Any) -> float:
    """Returns a drop threshold moved by what is known of both hands."""
    other = 1
    for seat in range(2, int(views[j]["num_players"])):
        if views[j]["num_cards"][seat] < views[j]["num_cards"][other]:
            other = seat
    cards = int(views[j]["num_cards"][other])
    low, high = int(views[j]["hand"][0]) & tools[0]["deck"], int(views[j]["hand"][1])
    gone = gone_types(views, j, tools)
    unseen = tools[0]["deck"] & ~low & ~gone
    mean = points_of(unseen, tools) / max(1, popcount(unseen))
    # The table is made for the standard pack and hands of five: others are measured in average cards.
    threshold = threshold / _STANDARD_MEAN + max(0, cards - FEWEST_CARDS)
    threshold *= tools[0]["mean"]
    threshold += styles[0]["drop_pool"] * (mean - tools[0]["mean"]) * cards
    known = int(views[j]["known"][other, 0])
    threshold += styles[0]["drop_known"] * (points_of(known, tools) - mean * popcount(known))
    left = low
    while left:
        if num_outs(low, high, lowest_bit(left), gone, tools):
            threshold += styles[0]["drop_live"]
        left &= left - 1
    if views[j]["top"] >= 0 and gain_of_taking(views, j, rules, tools) > 0:
        threshold += styles[0]["drop_gain"]
    return threshold


@jit_inline
def wants_drop(views: Any, j: int, rules: Any, styles: Any, tools: Any) -> bool:
    """Tells whether the count is low enough to drop."""
    n = int(views[j]["num_players"])
    fewest = FEWEST_CARDS
    for other in range(1, n):
        fewest = min(fewest, int(views[j]["num_cards"][other]))
    opened = int(views[j]["dealer"] == n - 1)
    turn = min(int(views[j]["own_turns"][0]), OWN_TURNS)
    threshold = styles[0]["thresholds"][opened, turn - 1, max(fewest, 1) - 1]
    if styles[0]["estimates"]:
        threshold = estimated_threshold(views, j, threshold, rules, styles, tools)
    return bool(views[j]["count"] <= threshold)


@jit
def wants_swap(views: Any, j: int, rules: Any, styles: Any, tools: Any) -> bool:
    """Tells whether the top discard, of no use yet, is worth taking to be rid of another card."""
    if styles[0]["take_swap"] >= NEVER:
        return False
    top = int(views[j]["top"])
    bit = bit_of(top)
    low, high = int(views[j]["hand"][0]) & tools[0]["deck"], int(views[j]["hand"][1])
    low, high = low | bit, high | (low & bit)
    gladdest = -NEVER
    left = low & ~bit
    while left:
        score = discard_score(views, j, low, high, lowest_bit(left), rules, styles, tools)
        gladdest = max(gladdest, score)
        left &= left - 1
    swap = gladdest - discard_score(views, j, low, high, top, rules, styles, tools)
    return bool(swap >= styles[0]["take_swap"])


@jit_inline
def choose_draw(views: Any, j: int, legal: Any, num_legal: int, rules: Any, styles: Any, tools: Any) -> int:
    """Returns drop, stock or take."""
    kinds = rules[0]["kind_first"]
    first, last = int(legal[j, 0]), int(legal[j, num_legal - 1])
    if last == kinds[CLAIM]:
        return last
    if first == kinds[DROP] and wants_drop(views, j, rules, styles, tools):
        return first
    if last != kinds[TAKE]:
        return last
    if gain_of_taking(views, j, rules, tools) > 0 or wants_swap(views, j, rules, styles, tools):
        return last
    # Without a stock card the top discard is all that can be drawn.
    before = int(legal[j, num_legal - 2])
    return before if before == kinds[STOCK] else last


@jit
def choose_meld(views: Any, j: int, legal: Any, num_legal: int, rules: Any, tools: Any) -> int:
    """Returns the dearest legal spread, else the dearest hit.

    One with the taken card in it goes before others: that card may not be discarded.
    """
    first_hit, first_discard = int(rules[0]["kind_first"][HIT]), int(rules[0]["kind_first"][DISCARD])
    end = first_hit if legal[j, 0] < first_hit else first_discard
    taken = int(views[j]["taken"])
    best, best_points = int(legal[j, 0]), -1
    for at in range(num_legal):
        action = int(legal[j, at])
        if action >= end:
            break
        if end == first_hit:
            spread = action - int(rules[0]["kind_first"][SPREAD])
            types, twins = rules[0]["spread_cards"][spread, 0], rules[0]["spread_cards"][spread, 1]
        else:
            types, twins = bit_of(int(rules[0]["types"][action - first_hit])), 0
        points = points_of(types, tools) + points_of(twins, tools)
        if taken >= 0 and (types >> taken) & 1:
            points += int(NEVER)
        if points > best_points:
            best, best_points = action, points
    return best


@jit_inline
def choose_discard(
    views: Any, j: int, legal: Any, num_legal: int, rules: Any, styles: Any, tools: Any
) -> int:
    """Returns the discard of the highest score; of equal ones the first."""
    first = int(rules[0]["kind_first"][DISCARD])
    low, high = int(views[j]["hand"][0]) & tools[0]["deck"], int(views[j]["hand"][1])
    best, best_score = int(legal[j, 0]), -1.0e9
    # Styles that keep every live card alike need not count outs card by card.
    alike = styles[0]["keep_out"] == 0 and styles[0]["danger"] == 0 and styles[0]["danger_known"] == 0
    quick = alike and tools[0]["is_standard"] != 0
    live = 0
    if quick:
        live = live_types(low, gone_types(views, j, tools) if styles[0]["only_live"] else 0, tools)
    for at in range(num_legal):
        action = int(legal[j, at])
        card = int(rules[0]["types"][action - first])
        if quick:
            score = rules[0]["values"][card] - (styles[0]["keep"] if (live >> card) & 1 else 0.0)
        else:
            score = discard_score(views, j, low, high, card, rules, styles, tools)
        if score > best_score:
            best, best_score = action, score
    return best


@jit_inline
def choose_rows(
    views: Any, legal: Any, num_legal: Any, rules: Any, styles: Any, tools: Any, actions: Any
) -> None:
    """Chooses a move for each view.

    Args:
        views: `[N]` VIEW_DTYPE.
        legal: `[N, max_legal]` int16, ascending.
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
            actions[j] = choose_draw(views, j, legal, count, rules, styles, tools)
        elif views[j]["phase"] == TARGETING:
            # Of several spreads to hit, another's rather than one's own: who is hit may have to wait.
            actions[j] = legal[j, count - 1]
        elif views[j]["phase"] == SLAPPING:
            actions[j] = legal[j, 0]  # a slap: it rids the hand of a card
        elif views[j]["phase"] == WIDOW:
            is_claim = legal[j, 0] < rules[0]["kind_first"][SWAP]
            actions[j] = legal[j, 0 if is_claim else count - 1]  # the widow is an average card, and costs
        elif legal[j, 0] < rules[0]["kind_first"][DISCARD]:
            actions[j] = choose_meld(views, j, legal, count, rules, tools)
        else:
            actions[j] = choose_discard(views, j, legal, count, rules, styles, tools)


class Bot:
    """A rule bot of some style.

    Attributes:
        name: its spec string.
        style: `[1]` STYLE_DTYPE.
    """

    def __init__(self, name: str, style: npt.NDArray[np.void]) -> None:
        self.name = name
        self.style = style
        self._rules: LoweredRules | None = None
        self._tools: npt.NDArray[np.void] | None = None

    def start(self, rules: LoweredRules, num_players: int, seed: int) -> None:
        """Makes ready for hands under some rules; any rules and 2 to 6 players will do."""
        self._rules = rules
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
        assert self._rules is not None, "start comes first"
        choose_rows(views, legal, num_legal, self._rules.record, self.style, self._tools, actions)
        return actions

    def probabilities(
        self, views: Views, legal: npt.NDArray[np.int16], num_legal: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """Returns the probability of each legal move, 1 or 0; see `agents.base.Mixed`."""
        return certain(self.act(views, legal, num_legal, num_legal), legal, num_legal)

    def end(self, payments: npt.NDArray[np.float64]) -> None:
        """Does nothing: a rule bot does not learn."""
