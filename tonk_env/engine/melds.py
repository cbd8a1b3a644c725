"""Spreads on the table: laying them, and what hits them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tonk_env._jit import jit, lowest_bit, popcount
from tonk_env.cards import NUM_RANKS
from tonk_env.engine.hands import add_card, remove_card
from tonk_env.engine.state import NO_CARD
from tonk_env.rules.lower import ACE_LOW_OR_HIGH, ACE_WRAP, RUN, SET

# Where a hit goes on a spread: a natural card where it fits, a wild on a set; or a wild at an end of a run.
ANYWHERE, LOW_END, HIGH_END = range(3)
NUM_ENDS = 3


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
def wild_for_set(rules: Any, r: int, packs: int, low: int, high: int, rank: int) -> int:
    """Returns what the next wild on a set of a rank stands for, or NO_CARD where nothing is left.

    Args:
        rules: `[R]` RULES_DTYPE.
        r: which.
        packs: packs in use.
        low, high: what the set holds.
        rank: its rank.
    """
    for words in range(packs):
        held = high if words else low
        for suit in range(int(rules[r]["suits"])):
            if not (held >> (suit * NUM_RANKS + rank)) & 1:
                return suit * NUM_RANKS + rank
    return NO_CARD


@jit
def named_card(rules: Any, r: int, spread: int, step: int, previous: int) -> int:
    """Returns the card that a row of the table of spreads names in some place.

    Args:
        rules: `[R]` RULES_DTYPE.
        r: which.
        spread: the row.
        step: the place, counted from 0: sets go by suit, runs from the low end.
        previous: the card before it; NO_CARD for the first.
    """
    if rules[r]["spread_kind"][spread] == RUN:
        place = int(rules[r]["spread_start"][spread]) + step
        if rules[r]["ace"] == ACE_WRAP:
            place %= int(rules[r]["num_ranks"])
        return int(rules[r]["spread_row"][spread]) * NUM_RANKS + int(rank_at(rules, r, place))
    low, high = int(rules[r]["spread_cards"][spread, 0]), int(rules[r]["spread_cards"][spread, 1])
    if previous >= 0:
        past: Any = np.int64(1) << previous
        # A twin stands beside its like: it is next where one of the two has been named.
        if high & past and _named_once(rules, r, spread, step, previous):
            return previous
        low &= ~(past | (past - 1))
    return lowest_bit(low)


@jit
def _named_once(rules: Any, r: int, spread: int, step: int, card: int) -> bool:
    """Tells whether the first `step` cards of a set name `card`, the last of them, once only."""
    low, high = int(rules[r]["spread_cards"][spread, 0]), int(rules[r]["spread_cards"][spread, 1])
    below: Any = (np.int64(1) << card) - 1
    return popcount(low & below) + popcount(high & below) == step - 1


@jit
def rank_at(rules: Any, r: int, place: int) -> int:
    """Returns the rank at a place of a run; the place after the last is the ace again."""
    return int(rules[r]["rank_at"][0 if place == rules[r]["num_ranks"] else place])


@jit
def next_wild(rules: Any, r: int, low: int) -> int:
    """Returns the wild of a collection (its first word) that fills a spread first, or NO_CARD."""
    for at in range(int(rules[r]["num_wilds"])):
        card = int(rules[r]["wild_order"][at])
        if (low >> card) & 1:
            return card
    return NO_CARD


@jit
def with_wilds(rules: Any, r: int, fits: int) -> int:
    """Returns what hits a spread that some cards (`fits`) hit as themselves: these, and the wilds."""
    return int(fits | rules[r]["wilds"]) if fits else fits


@jit
def fits_laid(tables: Any, i: int, rules: Any, spread: int) -> int:
    """Returns the cards that hit row `spread` of the table of spreads once it is laid."""
    r = tables[i]["rules_index"]
    fits = rules[r]["spread_fits"][spread]
    if rules[r]["wilds"]:
        # The rows serve one pack and two: with one, a set takes no card that it names already.
        if rules[r]["spread_kind"][spread] == SET and rules[r]["packs"][tables[i]["num_players"]] == 1:
            fits &= ~rules[r]["spread_cards"][spread, 0]
        return with_wilds(rules, r, fits)
    return int(fits)


@jit
def spread_from_hand(tables: Any, i: int, rules: Any, seat: int, spread: int) -> None:
    """Lays row `spread` of the table of spreads from the hand of `seat`, wilds in place of what it lacks."""
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
    fits = fits_laid(tables, i, rules, spread)
    tables[i]["spread_fits"][seat, place] = fits
    tables[i]["fits"] |= fits
    held, twins = tables[i]["hands"][seat, 0], tables[i]["hands"][seat, 1]
    for word in range(2):
        left = high & twins if word else low & held
        while left:
            card = lowest_bit(left)
            left &= left - 1
            remove_card(tables[i]["hands"][seat], card)
            part_with(tables, i, rules, seat, card)
    if low & ~held or high & ~twins:
        _fill_with_wilds(tables, i, rules, seat, place, spread, held, twins)


@jit
def _fill_with_wilds(
    tables: Any, i: int, rules: Any, seat: int, place: int, spread: int, held: int, twins: int
) -> None:
    """Lays wilds in place of the cards that a spread names and the hand (`held`, `twins`) lacks."""
    r = tables[i]["rules_index"]
    card = NO_CARD
    for step in range(int(rules[r]["spread_size"][spread])):
        previous = card
        card = named_card(rules, r, spread, step, previous)
        if not ((twins if card == previous else held) >> card) & 1:
            filler = next_wild(rules, r, tables[i]["hands"][seat, 0])
            remove_card(tables[i]["hands"][seat], filler)
            part_with(tables, i, rules, seat, filler)
            _note_wild(tables, i, seat, place, filler, card)


@jit
def _note_wild(tables: Any, i: int, seat: int, place: int, card: int, stands_for: int) -> None:
    at = int(tables[i]["num_wilds"])
    tables[i]["num_wilds"] = at + 1
    tables[i]["wild_card"][at] = card
    tables[i]["wild_as"][at] = stands_for
    tables[i]["wild_seat"][at] = seat
    tables[i]["wild_place"][at] = place


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
def card_at_end(tables: Any, i: int, rules: Any, owner: int, place: int, end: int) -> int:
    """Returns the card that lengthens a run at an end, or NO_CARD.

    Where both ends call for the same card there is one place for it, the low end.
    """
    r = tables[i]["rules_index"]
    suit, size = int(tables[i]["spread_row"][owner, place]), int(tables[i]["spread_size"][owner, place])
    start, length = int(tables[i]["spread_start"][owner, place]), int(rules[r]["num_ranks"])
    fits = rules[r]["run_fits"][suit, start, size]
    before, after = start - 1, start + size
    if rules[r]["ace"] == ACE_WRAP:
        before, after = (start + length - 1) % length, (start + size) % length
    low = suit * NUM_RANKS + rank_at(rules, r, before) if before >= 0 else NO_CARD
    if low >= 0 and not (fits >> low) & 1:
        low = NO_CARD
    if end == LOW_END:
        return low
    if after > length or (after == length and rules[r]["ace"] != ACE_LOW_OR_HIGH):
        return NO_CARD
    high = suit * NUM_RANKS + rank_at(rules, r, after)
    return high if high != low and (fits >> high) & 1 else NO_CARD


@jit
def stands_for(tables: Any, i: int, rules: Any, owner: int, place: int, end: int, card: int) -> int:
    """Returns what a card stands for where it hits a spread, or NO_CARD where it does not fit.

    Args:
        tables: `[B]` STATE_DTYPE, not modified.
        i: the table.
        rules: `[R]` RULES_DTYPE.
        owner, place: the spread.
        end: ANYWHERE for natural cards, and for wilds on sets; LOW_END or HIGH_END for wilds on runs.
        card: the card.
    """
    if not (tables[i]["spread_fits"][owner, place] >> card) & 1:
        return NO_CARD
    r = tables[i]["rules_index"]
    if not (rules[r]["wilds"] >> card) & 1:
        return card if end == ANYWHERE else NO_CARD
    if tables[i]["spread_kind"][owner, place] == RUN:
        return card_at_end(tables, i, rules, owner, place, end) if end != ANYWHERE else NO_CARD
    if end != ANYWHERE:
        return NO_CARD
    packs = int(rules[r]["packs"][tables[i]["num_players"]])
    low, high = tables[i]["spread_cards"][owner, place, 0], tables[i]["spread_cards"][owner, place, 1]
    rank = int(tables[i]["spread_row"][owner, place])
    bit: Any = np.int64(1) << card
    if card < NUM_RANKS * 4 and card % NUM_RANKS == rank and not (low if packs == 1 else high) & bit:
        return card
    return wild_for_set(rules, r, packs, low, high, rank)


@jit
def is_closed(tables: Any, i: int, owner: int, seat: int) -> bool:
    """Tells whether the spreads of `owner` are closed to `seat`."""
    return bool(tables[i]["locked"] >> owner & 1 and owner != seat)


@jit
def open_fits(tables: Any, i: int, seat: int) -> int:
    """Returns the cards with which `seat` can hit some spread."""
    if not tables[i]["locked"]:
        return int(tables[i]["fits"])
    fits: Any = np.int64(0)
    for owner in range(int(tables[i]["num_players"])):
        if not is_closed(tables, i, owner, seat):
            for place in range(int(tables[i]["num_spreads"][owner])):
                fits |= tables[i]["spread_fits"][owner, place]
    return int(fits)


@jit
def find_places(tables: Any, i: int, rules: Any, seat: int, card: int) -> tuple[int, int, int, int]:
    """Finds the places where `seat` can put a card.

    Returns:
        How many there are; then owner, place and end of the last.
    """
    found, at_owner, at_place, at_end = 0, 0, 0, ANYWHERE
    is_wild = (rules[tables[i]["rules_index"]]["wilds"] >> card) & 1
    for owner in range(int(tables[i]["num_players"])):
        if is_closed(tables, i, owner, seat):
            continue
        for place in range(int(tables[i]["num_spreads"][owner])):
            for end in range(NUM_ENDS if is_wild else 1):
                if stands_for(tables, i, rules, owner, place, end, card) >= 0:
                    found += 1
                    at_owner, at_place, at_end = owner, place, end
    return found, at_owner, at_place, at_end


@jit
def _grown_start(tables: Any, i: int, rules: Any, owner: int, place: int, card: int) -> int:
    """Returns where a run starts once `card` has lengthened it."""
    r = tables[i]["rules_index"]
    start, at = int(tables[i]["spread_start"][owner, place]), int(rules[r]["position"][card % NUM_RANKS])
    wraps = rules[r]["ace"] == ACE_WRAP
    before = start - 1 if start > 0 or not wraps else int(rules[r]["num_ranks"]) - 1
    return before if at == before else start


@jit
def fits_after_hit(tables: Any, i: int, rules: Any, owner: int, place: int, card: int) -> int:
    """Returns the cards that hit a spread once `card` (or a wild standing for it) has."""
    if tables[i]["spread_kind"][owner, place] != RUN:
        return 0  # a set grows from three to four cards, and stays there
    r = tables[i]["rules_index"]
    start = _grown_start(tables, i, rules, owner, place, card)
    size = int(tables[i]["spread_size"][owner, place]) + 1
    fits = int(rules[r]["run_fits"][tables[i]["spread_row"][owner, place], start, size])
    return with_wilds(rules, r, fits)


@jit
def open_fits_after_hit(tables: Any, i: int, rules: Any, seat: int, owner: int, place: int, card: int) -> int:
    """Returns the cards with which `seat` can hit some spread once `card` has hit that one."""
    fits = fits_after_hit(tables, i, rules, owner, place, card)
    for other in range(int(tables[i]["num_players"])):
        if not is_closed(tables, i, other, seat):
            for at in range(int(tables[i]["num_spreads"][other])):
                if other != owner or at != place:
                    fits |= tables[i]["spread_fits"][other, at]
    return fits


@jit
def grow_spread(tables: Any, i: int, rules: Any, owner: int, place: int, card: int, stands_for: int) -> None:
    """Adds a card to a spread that it fits, as what it stands for."""
    fits = fits_after_hit(tables, i, rules, owner, place, stands_for)
    if tables[i]["spread_kind"][owner, place] == RUN:
        tables[i]["spread_start"][owner, place] = _grown_start(tables, i, rules, owner, place, stands_for)
    tables[i]["spread_fits"][owner, place] = fits
    tables[i]["spread_size"][owner, place] += 1
    add_card(tables[i]["spread_cards"][owner, place], stands_for)
    if card != stands_for:
        _note_wild(tables, i, owner, place, card, stands_for)
    fits = 0
    for other in range(int(tables[i]["num_players"])):
        for at in range(int(tables[i]["num_spreads"][other])):
            fits |= tables[i]["spread_fits"][other, at]
    tables[i]["fits"] = fits
