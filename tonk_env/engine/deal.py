"""The deal, and drawing from the deck: all the chance there is in a hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from tonk_env._jit import below, fold, jit, mix
from tonk_env.cards import JOKER, NUM_TYPES
from tonk_env.engine.ending import end_instantly, find_suit_winner
from tonk_env.engine.hands import add_card
from tonk_env.engine.state import CHANCE, DRAW, ILLEGAL, NO_CARD, NOBODY, OK, WIDOW
from tonk_env.limits import MAX_SEATS
from tonk_env.rules.lower import BET_SUIT

_LOTS, _SUIT = 1 << 20, 1 << 21
"""Counters beyond those of a deck's cards, for what else a key fixes."""


@jit
def shuffle(tables: Any, i: int, rules: Any, key: int) -> None:
    """Fills the deck of table `i` (whose rules and players are set) in an order fixed by `key`.

    `key` fixes what else is random too: the suit that is called, and in which order slaps are asked.
    """
    r = tables[i]["rules_index"]
    size = 0
    jokers = int(rules[r]["jokers"])
    for _ in range(int(rules[r]["packs"][tables[i]["num_players"]])):
        for at in range(int(rules[r]["num_types"]) - (jokers > 0)):
            tables[i]["deck"][size] = rules[r]["types"][at]
            size += 1
    for _ in range(jokers):
        tables[i]["deck"][size] = JOKER
        size += 1
    tables[i]["deck_size"] = size
    tables[i]["lots"] = mix(key, _LOTS) if rules[r]["slap"] else 0
    tables[i]["called_suit"] = -1
    if rules[r]["bet_antes"][BET_SUIT] > 0:
        tables[i]["called_suit"] = below(mix(key, _SUIT), int(rules[r]["suits"]))
    for at in range(size - 1, 0, -1):
        word = mix(key, at >> 1)  # 63 random bits, enough for two places
        other = below((word & 0x7FFFFFFF) << 32 if at & 1 else word, at + 1)
        card = tables[i]["deck"][at]
        tables[i]["deck"][at] = tables[i]["deck"][other]
        tables[i]["deck"][other] = card


@jit
def clear(tables: Any, i: int, rules_index: int, num_players: int, dealer: int) -> None:
    """Makes table `i` ready for a deal of a single hand; the deck stays as it is."""
    tables[i]["rules_index"] = rules_index
    tables[i]["num_players"] = num_players
    tables[i]["dealer"] = dealer
    tables[i]["seat"] = (dealer + 1) % num_players
    tables[i]["turn_seat"] = (dealer + 1) % num_players
    tables[i]["moves"] = 0
    tables[i]["turns"] = 0
    tables[i]["may_drop"] = 0
    tables[i]["must_drop"] = 0
    tables[i]["taken"] = NO_CARD
    tables[i]["pending"] = NO_CARD
    tables[i]["spreads_now"] = 0
    tables[i]["hits_now"] = 0
    tables[i]["fits"] = 0
    tables[i]["num_asks"] = 0
    tables[i]["ask_at"] = 0
    tables[i]["thrower"] = NOBODY
    tables[i]["slapper"] = NOBODY
    tables[i]["slapped"] = 0
    tables[i]["swapped"] = 0
    tables[i]["num_wilds"] = 0
    tables[i]["long_laid"] = 0
    tables[i]["locked"] = 0
    tables[i]["suit_winner"] = NOBODY
    tables[i]["naturals_winner"] = NOBODY
    tables[i]["bet_deals"][0] = 1
    tables[i]["bet_deals"][1] = 1
    tables[i]["multiplier"] = 1.0
    tables[i]["seen"][0] = 0
    tables[i]["seen"][1] = 0
    tables[i]["log"] = 0
    tables[i]["next_card"] = 0
    tables[i]["pile_size"] = 0
    tables[i]["ending"] = 0
    tables[i]["ending_seat"] = NOBODY
    tables[i]["emptied_by"] = 0
    tables[i]["multiple"] = 0.0
    for seat in range(MAX_SEATS):
        tables[i]["own_turns"][seat] = 0
        tables[i]["hands"][seat, 0] = 0
        tables[i]["hands"][seat, 1] = 0
        tables[i]["num_cards"][seat] = 0
        tables[i]["counts"][seat] = 0
        tables[i]["waits"][seat] = 0
        tables[i]["hit_since"][seat] = 0
        tables[i]["blocked"][seat] = 0
        tables[i]["spread_before"][seat] = 0
        tables[i]["hit_before"][seat] = 0
        tables[i]["widows"][seat] = NO_CARD
        tables[i]["put_away"][seat] = NO_CARD
        for place in range(int(tables[i]["num_spreads"][seat])):
            tables[i]["spread_kind"][seat, place] = 0
            tables[i]["spread_row"][seat, place] = 0
            tables[i]["spread_start"][seat, place] = 0
            tables[i]["spread_size"][seat, place] = 0
            tables[i]["spread_cards"][seat, place, 0] = 0
            tables[i]["spread_cards"][seat, place, 1] = 0
            tables[i]["spread_fits"][seat, place] = 0
        tables[i]["num_spreads"][seat] = 0
        tables[i]["known"][seat, 0] = 0
        tables[i]["known"][seat, 1] = 0
        tables[i]["thrown"][seat] = 0
        tables[i]["tiers"][seat] = -1


@jit
def num_dealt(tables: Any, i: int, rules: Any) -> int:
    """Returns the cards that leave the deck before the first turn."""
    r = tables[i]["rules_index"]
    n = tables[i]["num_players"]
    return int(n) * (int(rules[r]["hand_size"][n]) + int(rules[r]["widow"])) + int(rules[r]["upcard"])


@jit
def deal(tables: Any, i: int, rules: Any) -> None:
    """Deals the deck of table `i`, after `clear`, and begins the first turn or ends the hand at once.

    With `explicit` set the table stops at a chance node for each card instead.
    """
    if tables[i]["explicit"]:
        tables[i]["phase"] = CHANCE
        return
    for _ in range(num_dealt(tables, i, rules)):
        _deal_next(tables, i, rules)
    open_hand(tables, i, rules)


@jit
def _deal_next(tables: Any, i: int, rules: Any) -> None:
    """Deals the next card of the deck to whoever is due one."""
    r = tables[i]["rules_index"]
    n = int(tables[i]["num_players"])
    at = int(tables[i]["next_card"])
    card = tables[i]["deck"][at]
    tables[i]["next_card"] = at + 1
    seat = (tables[i]["dealer"] + 1 + at) % n
    if at < n * rules[r]["hand_size"][n]:
        add_card(tables[i]["hands"][seat], card)
        tables[i]["num_cards"][seat] += 1
        tables[i]["counts"][seat] += rules[r]["values"][card]
    elif rules[r]["widow"] and at < n * (rules[r]["hand_size"][n] + 1):
        tables[i]["widows"][seat] = card
    else:
        tables[i]["pile"][0] = card
        tables[i]["pile_size"] = 1
        tables[i]["seen"][0] = np.int64(1) << card


@jit
def open_hand(tables: Any, i: int, rules: Any) -> None:
    """Pays out instant wins, or begins the first turn."""
    open_log(tables, i)
    find_suit_winner(tables, i, rules)
    if not end_instantly(tables, i, rules):
        begin_turn(tables, i, (tables[i]["dealer"] + 1) % tables[i]["num_players"], False)


@jit
def place_of(tables: Any, i: int, seat: int) -> int:
    """Counts a seat from the one left of the dealer."""
    steps = seat - int(tables[i]["dealer"]) - 1
    return steps if steps >= 0 else steps + int(tables[i]["num_players"])


@jit
def open_log(tables: Any, i: int) -> None:
    """Begins the logs with what is known before the first turn."""
    n = int(tables[i]["num_players"])
    log = fold(n, int(tables[i]["called_suit"]) + 1)
    log = fold(log, int(tables[i]["pile"][0]) if tables[i]["pile_size"] else NO_CARD)
    for bet in range(2):
        log = fold(log, int(tables[i]["bet_deals"][bet]))
    tables[i]["log"] = fold(log, int(1024 * tables[i]["multiplier"]))
    for seat in range(n):
        hand = fold(place_of(tables, i, seat), int(tables[i]["hands"][seat, 0]))
        tables[i]["own_log"][seat] = fold(hand, int(tables[i]["hands"][seat, 1]))


@jit
def begin_turn(tables: Any, i: int, seat: int, must_drop: bool) -> None:
    """Begins a turn of `seat`: a positive wait forbids the drop, then is lowered by one.

    A hand that was emptied and went on has to be dropped.
    """
    tables[i]["seat"] = seat
    tables[i]["turn_seat"] = seat
    tables[i]["phase"] = DRAW
    tables[i]["own_turns"][seat] += 1
    is_empty = tables[i]["num_cards"][seat] == 0
    tables[i]["must_drop"] = must_drop or is_empty
    if tables[i]["slapped"] >> seat & 1:
        tables[i]["slapped"] &= ~(1 << seat)
        tables[i]["hit_before"][seat] = 1
    if tables[i]["own_turns"][seat] == 1 and not is_empty and tables[i]["widows"][seat] >= 0:
        tables[i]["phase"] = WIDOW
    tables[i]["hit_since"][seat] = 0
    tables[i]["taken"] = NO_CARD
    tables[i]["spreads_now"] = 0
    tables[i]["hits_now"] = 0
    waiting = tables[i]["waits"][seat] > 0
    tables[i]["may_drop"] = not waiting
    if waiting:
        tables[i]["waits"][seat] -= 1


@jit
def chance_outcomes(tables: Any, i: int, outcomes: Any) -> int:
    """Counts the cards that may come next at a chance node.

    Args:
        tables: `[B]` STATE_DTYPE, not modified.
        i: a table at a chance node.
        outcomes: `[NUM_TYPES]` int64; overwritten with how many of each card are left. Probabilities are
            these over their sum.

    Returns:
        Their sum.
    """
    for card in range(NUM_TYPES):
        outcomes[card] = 0
    first, size = int(tables[i]["next_card"]), int(tables[i]["deck_size"])
    for at in range(first, size):
        outcomes[tables[i]["deck"][at]] += 1
    return size - first


@jit
def choose_chance(tables: Any, i: int, card: int) -> int:
    """Makes `card` the next of the deck; returns a status."""
    first = int(tables[i]["next_card"])
    if tables[i]["phase"] != CHANCE:
        return ILLEGAL
    for at in range(first, int(tables[i]["deck_size"])):
        if tables[i]["deck"][at] == card:
            tables[i]["deck"][at] = tables[i]["deck"][first]
            tables[i]["deck"][first] = card
            return OK
    return ILLEGAL


@jit
def deal_chosen(tables: Any, i: int, rules: Any) -> None:
    """Deals the chosen card at a chance node of the deal."""
    _deal_next(tables, i, rules)
    if tables[i]["next_card"] == num_dealt(tables, i, rules):
        open_hand(tables, i, rules)
