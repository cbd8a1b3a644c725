"""Which moves are legal: the one place that decides, for masks and for the check before a move alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from tonk_env._jit import jit, lowest_bit
from tonk_env.cards import NUM_RANKS, NUM_SUITS
from tonk_env.engine.melds import cards_of_rank, holds_run_or_set, table_fits_after_hit
from tonk_env.engine.state import DRAW, PLAY, TARGETING
from tonk_env.rules.lower import DISCARD, DROP, HIT, SPREAD, STOCK, TAKE, TARGET

__all__ = ["can_do", "legal_actions", "legal_mask"]


@jit
def _can_drop(tables: Any, i: int, rules: Any) -> bool:
    r = tables[i]["rules_index"]
    if tables[i]["must_drop"]:
        return True
    within = tables[i]["counts"][tables[i]["seat"]] <= rules[r]["drop_max"]
    return bool(rules[r]["drop_allowed"] and tables[i]["may_drop"] and within)


@jit
def _can_draw(tables: Any, i: int) -> bool:
    return not tables[i]["must_drop"] and tables[i]["next_card"] < tables[i]["deck_size"]


@jit
def _can_take(tables: Any, i: int) -> bool:
    return not tables[i]["must_drop"] and tables[i]["pile_size"] > 0


@jit
def _can_go_on(tables: Any, i: int, rules: Any, low: int, cards: int, fits: int) -> bool:
    """Tells whether a turn can still be completed after a spread or hit.

    Args:
        low: the types left in hand.
        cards: how many cards are left.
        fits: what will hit a spread then.
    """
    blocked = tables[i]["blocked"][tables[i]["seat"]]
    if cards == 0 or blocked:
        return not blocked or cards >= 2
    r = tables[i]["rules_index"]
    taken = int(tables[i]["taken"])
    if cards >= 2 or taken < 0 or rules[r]["discard_taken"]:
        return True
    # One card is left. Where it is the taken one, it may not be discarded: it must hit.
    only_taken = low == np.int64(1) << taken
    return not only_taken or (fits >> taken) & 1 != 0


@jit
def _can_spread(tables: Any, i: int, rules: Any, spread: int) -> bool:
    r = tables[i]["rules_index"]
    seat = tables[i]["seat"]
    low, high = tables[i]["hands"][seat, 0], tables[i]["hands"][seat, 1]
    laid, twins = rules[r]["spread_cards"][spread, 0], rules[r]["spread_cards"][spread, 1]
    if laid & ~low or twins & ~high:
        return False
    cards = int(tables[i]["num_cards"][seat]) - int(rules[r]["spread_size"][spread])
    if cards >= 2:
        return True
    # The taken card, if laid, is laid before its twin, so what is left of its type is free.
    taken = tables[i]["taken"]
    if taken >= 0 and (laid >> taken) & 1:
        return not tables[i]["blocked"][seat]
    left = (low & ~laid) | (high & laid & ~twins)
    return _can_go_on(tables, i, rules, left, cards, tables[i]["fits"] | rules[r]["spread_fits"][spread])


@jit
def _can_hit_there(tables: Any, i: int, rules: Any, owner: int, place: int, card: int) -> bool:
    """Tells whether the seat to move may add `card`, which it holds, to that spread."""
    if not (tables[i]["spread_fits"][owner, place] >> card) & 1:
        return False
    seat = tables[i]["seat"]
    cards = int(tables[i]["num_cards"][seat]) - 1
    if cards >= 2:
        return True
    if tables[i]["taken"] == card:
        return not tables[i]["blocked"][seat]
    bit = np.int64(1) << card
    left = tables[i]["hands"][seat, 0] & ~(bit & ~tables[i]["hands"][seat, 1])
    fits = table_fits_after_hit(tables, i, rules, owner, place, card)
    return _can_go_on(tables, i, rules, left, cards, fits)


@jit
def _can_hit(tables: Any, i: int, rules: Any, card: int) -> bool:
    seat = tables[i]["seat"]
    if not ((tables[i]["hands"][seat, 0] & tables[i]["fits"]) >> card) & 1:
        return False
    if tables[i]["num_cards"][seat] >= 3:
        return True
    for owner in range(int(tables[i]["num_players"])):
        for place in range(int(tables[i]["num_spreads"][owner])):
            if _can_hit_there(tables, i, rules, owner, place, card):
                return True
    return False


@jit
def _can_discard(tables: Any, i: int, rules: Any, card: int) -> bool:
    r = tables[i]["rules_index"]
    seat = tables[i]["seat"]
    if not (tables[i]["hands"][seat, 0] >> card) & 1:
        return False
    if tables[i]["blocked"][seat] and tables[i]["num_cards"][seat] < 2:
        return False
    free = tables[i]["taken"] != card or rules[r]["discard_taken"]
    return bool(free or (tables[i]["hands"][seat, 1] >> card) & 1)


@jit
def target_seat_and_place(tables: Any, i: int, rules: Any, number: int) -> tuple[int, int]:
    """Returns the seat and place of a spread from its number, which counts seats from the one to move."""
    each = int(rules[tables[i]["rules_index"]]["spreads_per_seat"])
    return (int(tables[i]["seat"]) + number // each) % int(tables[i]["num_players"]), number % each


@jit
def _can_target(tables: Any, i: int, rules: Any, number: int) -> bool:
    each = int(rules[tables[i]["rules_index"]]["spreads_per_seat"])
    if number // each >= tables[i]["num_players"]:
        return False
    owner, place = target_seat_and_place(tables, i, rules, number)
    if place >= tables[i]["num_spreads"][owner]:
        return False
    return _can_hit_there(tables, i, rules, owner, place, tables[i]["pending"])


@jit
def can_do(tables: Any, i: int, rules: Any, action: int) -> bool:
    """Tells whether the seat to move may do `action`, an id of its rules' action table."""
    r = tables[i]["rules_index"]
    if action < 0 or action >= rules[r]["num_actions"]:
        return False
    kind = rules[r]["action_kind"][action]
    which = int(action) - int(rules[r]["kind_first"][kind])
    phase = tables[i]["phase"]
    if phase == DRAW:
        if kind == DROP:
            return _can_drop(tables, i, rules)
        if kind == STOCK:
            return _can_draw(tables, i)
        return kind == TAKE and _can_take(tables, i)
    if phase == PLAY:
        if kind == SPREAD:
            return _can_spread(tables, i, rules, which)
        if kind == HIT:
            return _can_hit(tables, i, rules, rules[r]["types"][which])
        return kind == DISCARD and _can_discard(tables, i, rules, rules[r]["types"][which])
    return phase == TARGETING and kind == TARGET and _can_target(tables, i, rules, which)


@jit
def legal_actions(tables: Any, i: int, rules: Any, actions: Any) -> int:
    """Lists the legal actions of the seat to move.

    Args:
        tables: `[B]` STATE_DTYPE, not modified.
        i: the table.
        rules: `[R]` RULES_DTYPE.
        actions: `[MAX_LEGAL]` int16; the first entries are overwritten with ids, ascending.

    Returns:
        How many there are; 0 only where the hand has ended or a card is due.
    """
    r = tables[i]["rules_index"]
    phase = tables[i]["phase"]
    found = 0
    if phase == DRAW:
        if _can_drop(tables, i, rules):
            actions[found] = rules[r]["kind_first"][DROP]
            found += 1
        if _can_draw(tables, i):
            actions[found] = rules[r]["kind_first"][STOCK]
            found += 1
        if _can_take(tables, i):
            actions[found] = rules[r]["kind_first"][TAKE]
            found += 1
    elif phase == PLAY:
        seat = tables[i]["seat"]
        low, high = tables[i]["hands"][seat, 0], tables[i]["hands"][seat, 1]
        if holds_run_or_set(low, high, rules, r):
            found = _legal_spreads(tables, i, rules, actions)
        left = low & tables[i]["fits"]
        while left:
            card = lowest_bit(left)
            left &= left - 1
            if _can_hit(tables, i, rules, card):
                actions[found] = rules[r]["kind_first"][HIT] + rules[r]["type_index"][card]
                found += 1
        left = low
        while left:
            card = lowest_bit(left)
            left &= left - 1
            if _can_discard(tables, i, rules, card):
                actions[found] = rules[r]["kind_first"][DISCARD] + rules[r]["type_index"][card]
                found += 1
    elif phase == TARGETING:
        first = int(rules[r]["kind_first"][TARGET])
        for number in range(int(rules[r]["num_actions"]) - first):
            if _can_target(tables, i, rules, number):
                actions[found] = first + number
                found += 1
    return found


@jit
def _legal_spreads(tables: Any, i: int, rules: Any, actions: Any) -> int:
    """Lists the legal spreads of a hand that holds one."""
    r = tables[i]["rules_index"]
    seat = tables[i]["seat"]
    low, high = tables[i]["hands"][seat, 0], tables[i]["hands"][seat, 1]
    base = rules[r]["kind_first"][SPREAD]
    found = 0
    for rank in range(NUM_RANKS):
        if cards_of_rank(low, high, rank) >= 3:
            for spread in range(int(rules[r]["set_first"][rank]), int(rules[r]["set_first"][rank + 1])):
                if _can_spread(tables, i, rules, spread):
                    actions[found] = base + spread
                    found += 1
    for suit in range(NUM_SUITS):
        if rules[r]["has_run"][low >> (suit * NUM_RANKS) & ((1 << NUM_RANKS) - 1)]:
            for spread in range(int(rules[r]["run_first"][suit]), int(rules[r]["run_first"][suit + 1])):
                if _can_spread(tables, i, rules, spread):
                    actions[found] = base + spread
                    found += 1
    return found


@jit
def legal_mask(tables: Any, i: int, rules: Any, actions: Any, masks: Any, row: int) -> int:
    """Writes the legal actions of table `i` into a row of `masks` `[N, num_actions]` uint8; returns how many.

    `actions` `[MAX_LEGAL]` int16 is scratch space.
    """
    masks[row, :] = 0
    found = legal_actions(tables, i, rules, actions)
    for at in range(found):
        masks[row, actions[at]] = 1
    return found
