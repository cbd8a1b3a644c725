"""Spreads on the table: laying them, and what hits them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tonk_env._jit import jit, lowest_bit, popcount
from tonk_env.cards import NUM_RANKS
from tonk_env.engine.hands import add_card, remove_card, remove_cards
from tonk_env.engine.state import NO_CARD
from tonk_env.rules.lower import ACE_WRAP, RUN


@jit
def holds_run_or_set(low: int, high: int, rules: Any, r: int) -> bool:
    """Tells quickly whether a collection holds any spread."""
    suit_bits = (1 << NUM_RANKS) - 1
    a, b, c, d = low & suit_bits, low >> 13 & suit_bits, low >> 26 & suit_bits, low >> 39 & suit_bits
    runs = rules[r]["has_run"]
    if runs[a] or runs[b] or runs[c] or runs[d]:
        return True
    if high == 0:
        return (a & b & (c | d)) | (c & d & (a | b)) != 0
    for rank in range(NUM_RANKS):
        if cards_of_rank(low, high, rank) >= 3:
            return True
    return False


@jit
def cards_of_rank(low: int, high: int, rank: int) -> int:
    """Counts the cards of a rank in a collection."""
    column: Any = np.int64(1 | 1 << 13 | 1 << 26 | 1 << 39) << rank
    return popcount(low & column) + popcount(high & column)


@jit
def spread_from_hand(tables: Any, i: int, rules: Any, seat: int, spread: int) -> None:
    """Lays row `spread` of the table of spreads from the hand of `seat`."""
    r = tables[i]["rules_index"]
    low, high = rules[r]["spread_cards"][spread, 0], rules[r]["spread_cards"][spread, 1]
    place = int(tables[i]["num_spreads"][seat])
    tables[i]["num_spreads"][seat] = place + 1
    tables[i]["spread_kind"][seat, place] = rules[r]["spread_kind"][spread]
    tables[i]["spread_row"][seat, place] = rules[r]["spread_row"][spread]
    tables[i]["spread_start"][seat, place] = rules[r]["spread_start"][spread]
    tables[i]["spread_size"][seat, place] = rules[r]["spread_size"][spread]
    tables[i]["spread_cards"][seat, place, 0] = low
    tables[i]["spread_cards"][seat, place, 1] = high
    tables[i]["spread_fits"][seat, place] = rules[r]["spread_fits"][spread]
    tables[i]["fits"] |= rules[r]["spread_fits"][spread]
    remove_cards(tables[i]["hands"][seat], low, high)
    for word in range(2):
        left = rules[r]["spread_cards"][spread, word]
        while left:
            card = lowest_bit(left)
            left &= left - 1
            part_with(tables, i, rules, seat, card)


@jit
def part_with(tables: Any, i: int, rules: Any, seat: int, card: int) -> None:
    """Books a card, already out of the hand of `seat`, as now lying face up."""
    r = tables[i]["rules_index"]
    tables[i]["num_cards"][seat] -= 1
    tables[i]["counts"][seat] -= rules[r]["values"][card]
    # Of two equal cards the taken one is laid first: that leaves the other free to be discarded.
    if tables[i]["taken"] == card:
        tables[i]["taken"] = NO_CARD
    if tables[i]["known"][seat, 0] & (np.int64(1) << card):
        remove_card(tables[i]["known"][seat], card)
    else:
        add_card(tables[i]["seen"], card)


@jit
def num_targets(tables: Any, i: int, card: int) -> int:
    """Counts the spreads that a card hits."""
    targets = 0
    for seat in range(int(tables[i]["num_players"])):
        for place in range(int(tables[i]["num_spreads"][seat])):
            targets += (tables[i]["spread_fits"][seat, place] >> card) & 1
    return targets


@jit
def _grown_start(tables: Any, i: int, rules: Any, owner: int, place: int, card: int) -> int:
    """Returns where a run starts once `card` has hit it."""
    r = tables[i]["rules_index"]
    start, at = int(tables[i]["spread_start"][owner, place]), int(rules[r]["position"][card % NUM_RANKS])
    wraps = rules[r]["ace"] == ACE_WRAP
    before = start - 1 if start > 0 or not wraps else int(rules[r]["num_ranks"]) - 1
    return before if at == before else start


@jit
def fits_after_hit(tables: Any, i: int, rules: Any, owner: int, place: int, card: int) -> int:
    """Returns the cards that hit a spread once `card` has."""
    if tables[i]["spread_kind"][owner, place] != RUN:
        return 0  # a set grows from three to four cards, and stays there
    r = tables[i]["rules_index"]
    start = _grown_start(tables, i, rules, owner, place, card)
    size = int(tables[i]["spread_size"][owner, place]) + 1
    return int(rules[r]["run_fits"][tables[i]["spread_row"][owner, place], start, size])


@jit
def table_fits_after_hit(tables: Any, i: int, rules: Any, owner: int, place: int, card: int) -> int:
    """Returns the cards that hit any spread once `card` has hit that one."""
    fits = fits_after_hit(tables, i, rules, owner, place, card)
    for seat in range(int(tables[i]["num_players"])):
        for other in range(int(tables[i]["num_spreads"][seat])):
            if seat != owner or other != place:
                fits |= tables[i]["spread_fits"][seat, other]
    return fits


@jit
def hit_spread(tables: Any, i: int, rules: Any, seat: int, owner: int, place: int, card: int) -> None:
    """Adds a card of `seat` to a spread it fits."""
    tables[i]["fits"] = table_fits_after_hit(tables, i, rules, owner, place, card)
    fits = fits_after_hit(tables, i, rules, owner, place, card)
    if tables[i]["spread_kind"][owner, place] == RUN:
        tables[i]["spread_start"][owner, place] = _grown_start(tables, i, rules, owner, place, card)
    tables[i]["spread_fits"][owner, place] = fits
    tables[i]["spread_size"][owner, place] += 1
    add_card(tables[i]["spread_cards"][owner, place], card)
    remove_card(tables[i]["hands"][seat], card)
    part_with(tables, i, rules, seat, card)
