"""Which moves are legal: the one place that decides, for masks and for the check before a move alike.

Kernels that judge a spread or hit are given the hand (its words `low` and `high`, the number of its `cards`,
the `taken` card among them) rather than read it, so that they can judge one that a seat would have.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tonk_env._jit import jit, jit_inline, lowest_bit, popcount
from tonk_env.cards import JOKER, NUM_RANKS, NUM_SUITS, NUM_TYPES
from tonk_env.engine.ending import claimed_tier
from tonk_env.engine.hands import without
from tonk_env.engine.melds import (
    NUM_ENDS,
    cards_of_rank,
    find_places,
    fits_laid,
    holds_run_or_set,
    is_closed,
    next_wild,
    open_fits,
    open_fits_after_hit,
    stands_for,
    wild_for_set,
)
from tonk_env.engine.state import DRAW, GIVING, NO_CARD, NOBODY, PLAY, SLAPPING, TARGETING, WIDOW
from tonk_env.limits import MAX_SEATS
from tonk_env.rules.lower import (
    CLAIM,
    DISCARD,
    DROP,
    HIT,
    KEEP,
    PASS,
    SET,
    SLAP,
    SPREAD,
    SPREAD_EXCEPT_ACES,
    SPREAD_FREELY,
    STOCK,
    SWAP,
    TAKE,
    TARGET,
)

__all__ = ["can_do", "legal_actions", "legal_mask"]


@jit
def _can_drop(tables: Any, i: int, rules: Any) -> bool:
    r = tables[i]["rules_index"]
    if tables[i]["must_drop"]:
        return True
    within = tables[i]["counts"][tables[i]["seat"]] <= rules[r]["drop_max"]
    free = tables[i]["may_drop"] and not tables[i]["locked"]
    return bool(rules[r]["drop_allowed"] and free and within)


@jit
def _can_draw(tables: Any, i: int) -> bool:
    return not tables[i]["must_drop"] and tables[i]["next_card"] < tables[i]["deck_size"]


@jit
def _can_take(tables: Any, i: int, rules: Any) -> bool:
    size = int(tables[i]["pile_size"])
    if tables[i]["must_drop"] or size == 0:
        return False
    if not rules[tables[i]["rules_index"]]["taken_must_meld"]:
        return True
    return _could_meld(tables, i, rules, int(tables[i]["pile"][size - 1]))


@jit
def _can_claim(tables: Any, i: int, rules: Any) -> bool:
    """Tells whether the hand of the seat to move, in its first turn, wins if claimed now."""
    r = tables[i]["rules_index"]
    seat = int(tables[i]["seat"])
    if not rules[r]["num_claims"] or tables[i]["own_turns"][seat] != 1 or tables[i]["num_cards"][seat] == 0:
        return False
    if rules[r]["widow"] and tables[i]["phase"] != WIDOW:
        return False
    for other in range(int(tables[i]["num_players"])):
        if tables[i]["num_spreads"][other]:
            return False
    return claimed_tier(tables, i, rules, seat) >= 0


@jit
def _may_meld(tables: Any, i: int, rules: Any, taken: int, is_used: bool) -> bool:
    """Tells whether a spread or hit may be made that uses the taken card or does not."""
    return is_used or taken < 0 or not rules[tables[i]["rules_index"]]["taken_must_meld"]


@jit
def _can_go_on(
    tables: Any, i: int, rules: Any, low: int, cards: int, taken: int, fits: int, hits: int
) -> bool:
    """Tells whether a turn can still be completed after a spread or hit.

    Args:
        low: the types left in hand.
        cards: how many cards are left.
        taken: the taken card if it is among them, or NO_CARD.
        fits: what will hit a spread then.
        hits: made this turn by then.
    """
    blocked = tables[i]["blocked"][tables[i]["seat"]]
    if cards == 0 or blocked:
        return not blocked or cards >= 2
    r = tables[i]["rules_index"]
    if cards >= 2 or taken < 0 or rules[r]["discard_taken"]:
        return True
    # One card is left. Where it is the taken one, it may not be discarded: it must hit.
    only_taken = low == np.int64(1) << taken
    return not only_taken or (hits < rules[r]["hits_per_turn"] and (fits >> taken) & 1 != 0)


@jit
def _can_spread(
    tables: Any, i: int, rules: Any, spread: int, low: int, high: int, cards: int, taken: int
) -> bool:
    r = tables[i]["rules_index"]
    laid, twins = rules[r]["spread_cards"][spread, 0], rules[r]["spread_cards"][spread, 1]
    if laid & ~low or twins & ~high:
        return bool(rules[r]["wilds"]) and _can_spread_wild(tables, i, rules, spread, low, high, cards, taken)
    # The taken card, if laid, is laid before its twin, so what is left of its type is free.
    uses_taken = taken >= 0 and (laid >> taken) & 1 != 0
    if not _may_meld(tables, i, rules, taken, uses_taken):
        return False
    cards -= int(rules[r]["spread_size"][spread])
    if cards >= 2:
        return True
    left = (low & ~laid) | (high & laid & ~twins)
    still_taken = NO_CARD if uses_taken else taken
    fits = open_fits(tables, i, int(tables[i]["seat"])) | fits_laid(tables, i, rules, spread)
    return _can_go_on(tables, i, rules, left, cards, still_taken, fits, int(tables[i]["hits_now"]))


@jit
def _can_spread_wild(
    tables: Any, i: int, rules: Any, spread: int, low: int, high: int, cards: int, taken: int
) -> bool:
    """Tells whether a spread can be laid that the hand has only some cards of, with wilds for the others."""
    r = tables[i]["rules_index"]
    packs = int(rules[r]["packs"][tables[i]["num_players"]])
    laid, twins = rules[r]["spread_cards"][spread, 0], rules[r]["spread_cards"][spread, 1]
    held, held_twins = laid & low, twins & high
    size = int(rules[r]["spread_size"][spread])
    naturals = popcount(held) + popcount(held_twins)
    if naturals < rules[r]["min_naturals"] or cards < size or (packs == 1 and twins):
        return False
    bits = rules[r]["wild_bits"]
    wilds = popcount(low & bits) + popcount(high & bits) - popcount(held & bits) - popcount(held_twins & bits)
    if naturals + wilds < size:
        return False
    if rules[r]["spread_kind"][spread] == SET and not _is_filled_in_order(rules, r, packs, spread, low, high):
        return False
    uses_taken = taken >= 0 and (laid & low) >> taken & 1 != 0
    for word in range(2):
        left = held_twins if word else held
        while left:
            low, high = without(low, high, lowest_bit(left))
            left &= left - 1
    for _ in range(size - naturals):
        filler = next_wild(rules, r, low)
        uses_taken = uses_taken or filler == taken
        low, high = without(low, high, filler)
    if not _may_meld(tables, i, rules, taken, uses_taken):
        return False
    still_taken = NO_CARD if uses_taken else taken
    fits = open_fits(tables, i, int(tables[i]["seat"])) | fits_laid(tables, i, rules, spread)
    return _can_go_on(tables, i, rules, low, cards - size, still_taken, fits, int(tables[i]["hits_now"]))


@jit
def _is_filled_in_order(rules: Any, r: int, packs: int, spread: int, low: int, high: int) -> bool:
    """Tells whether what a hand lacks of a set is what wilds on it stand for: its first suits not held."""
    laid, twins = rules[r]["spread_cards"][spread, 0], rules[r]["spread_cards"][spread, 1]
    held, held_twins = laid & low, twins & high
    for _ in range(popcount(laid & ~held) + popcount(twins & ~held_twins)):
        card = wild_for_set(rules, r, packs, held, held_twins, int(rules[r]["spread_row"][spread]))
        if card < 0:
            return False
        bit = np.int64(1) << card
        if held & bit:
            held_twins |= bit
        else:
            held |= bit
    return bool(held == laid and held_twins == twins)


@jit
def _can_hit_there(
    tables: Any,
    i: int,
    rules: Any,
    owner: int,
    place: int,
    end: int,
    card: int,
    low: int,
    high: int,
    cards: int,
    taken: int,
) -> bool:
    """Tells whether the seat to move may add `card`, which it holds, to that spread."""
    seat = int(tables[i]["seat"])
    if is_closed(tables, i, owner, seat):
        return False
    as_card = stands_for(tables, i, rules, owner, place, end, card)
    if as_card < 0:
        return False
    if cards >= 3:
        return True
    low, high = without(low, high, card)
    fits = open_fits_after_hit(tables, i, rules, seat, owner, place, as_card)
    still_taken = NO_CARD if taken == card else taken
    hits = int(tables[i]["hits_now"]) + 1
    return _can_go_on(tables, i, rules, low, cards - 1, still_taken, fits, hits)


@jit
def _can_hit(
    tables: Any, i: int, rules: Any, card: int, fits: int, low: int, high: int, cards: int, taken: int
) -> bool:
    """Tells whether the seat to move may hit some spread with a card.

    Args:
        fits: what `open_fits` says; the other arguments as everywhere.
    """
    r = tables[i]["rules_index"]
    if not ((low & fits) >> card) & 1 or tables[i]["hits_now"] >= rules[r]["hits_per_turn"]:
        return False
    if not _may_meld(tables, i, rules, taken, taken == card):
        return False
    if cards >= 3:
        return True
    for owner in range(int(tables[i]["num_players"])):
        for place in range(int(tables[i]["num_spreads"][owner])):
            for end in range(NUM_ENDS if rules[r]["wilds"] else 1):
                if _can_hit_there(tables, i, rules, owner, place, end, card, low, high, cards, taken):
                    return True
    return False


@jit
def _could_meld(tables: Any, i: int, rules: Any, top: int) -> bool:
    """Tells whether the seat to move could spread or hit with the top discard, had it taken that."""
    r = tables[i]["rules_index"]
    seat = int(tables[i]["seat"])
    low, high = tables[i]["hands"][seat, 0], tables[i]["hands"][seat, 1]
    bit = np.int64(1) << top
    if top == JOKER and high & bit:
        bit <<= 1
    low, high = low | bit, high | (low & bit)
    cards = int(tables[i]["num_cards"][seat]) + 1
    if _can_hit(tables, i, rules, top, open_fits(tables, i, seat), low, high, cards, top):
        return True
    for spread in range(int(rules[r]["num_spreads"])):
        if _can_spread(tables, i, rules, spread, low, high, cards, top):
            return True
    return False


@jit
def _is_exempt(rules: Any, r: int, spread: int) -> bool:
    """Tells whether a spread may be held although spreads must be laid."""
    is_aces = rules[r]["spread_kind"][spread] == SET and rules[r]["spread_row"][spread] == 0
    return bool(is_aces and rules[r]["must_spread"] == SPREAD_EXCEPT_ACES)


@jit
def _must_spread(tables: Any, i: int, rules: Any, low: int, high: int, cards: int, taken: int) -> bool:
    """Tells whether the hand of the seat to move holds a spread that must be laid before a discard."""
    r = tables[i]["rules_index"]
    for spread in range(int(rules[r]["num_spreads"])):
        if not _is_exempt(rules, r, spread) and _can_spread(
            tables, i, rules, spread, low, high, cards, taken
        ):
            return True
    return False


@jit
def _discards(tables: Any, i: int, rules: Any, low: int, high: int, cards: int, taken: int) -> int:
    """Returns the types that may be discarded, where no spread has to be laid first."""
    r = tables[i]["rules_index"]
    free = low & ((np.int64(1) << NUM_TYPES) - 1)
    if cards < 2 and tables[i]["blocked"][tables[i]["seat"]]:
        return 0
    if taken >= 0:
        if rules[r]["taken_must_meld"]:
            return 0
        bit = np.int64(1) << taken
        if not rules[r]["discard_taken"]:
            free &= ~(bit & ~high)  # its twin may go
    return int(free)


@jit
def target_at(tables: Any, i: int, rules: Any, number: int) -> tuple[int, int, int]:
    """Returns the seat, place and end of a target from its number among targets.

    Seats are counted from the one to move.
    """
    each = int(rules[tables[i]["rules_index"]]["spreads_per_seat"])
    end, which = number // (each * MAX_SEATS), number % (each * MAX_SEATS)
    owner = which // each
    if owner >= tables[i]["num_players"]:
        return NOBODY, 0, 0
    return (int(tables[i]["seat"]) + owner) % int(tables[i]["num_players"]), which % each, end


@jit
def _can_target(tables: Any, i: int, rules: Any, number: int) -> bool:
    owner, place, end = target_at(tables, i, rules, number)
    if owner < 0 or place >= tables[i]["num_spreads"][owner]:
        return False
    seat = int(tables[i]["seat"])
    card = int(tables[i]["pending"])
    if tables[i]["slapper"] >= 0:
        is_open = not is_closed(tables, i, owner, seat)
        return is_open and stands_for(tables, i, rules, owner, place, end, card) >= 0
    low, high = tables[i]["hands"][seat, 0], tables[i]["hands"][seat, 1]
    cards, taken = int(tables[i]["num_cards"][seat]), int(tables[i]["taken"])
    return _can_hit_there(tables, i, rules, owner, place, end, card, low, high, cards, taken)


@jit
def _can_slap(tables: Any, i: int, rules: Any) -> bool:
    card = int(tables[i]["pile"][int(tables[i]["pile_size"]) - 1])
    return find_places(tables, i, rules, int(tables[i]["seat"]), card)[0] > 0


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
        if kind == CLAIM:
            return _can_claim(tables, i, rules)
        return kind == TAKE and _can_take(tables, i, rules)
    seat = int(tables[i]["seat"])
    low, high = tables[i]["hands"][seat, 0], tables[i]["hands"][seat, 1]
    if phase == PLAY:
        cards, taken = int(tables[i]["num_cards"][seat]), int(tables[i]["taken"])
        if kind == SPREAD:
            return _can_spread(tables, i, rules, which, low, high, cards, taken)
        if kind == HIT:
            card, fits = int(rules[r]["types"][which]), open_fits(tables, i, seat)
            return _can_hit(tables, i, rules, card, fits, low, high, cards, taken)
        if kind != DISCARD:
            return False
        if rules[r]["must_spread"] != SPREAD_FREELY and _must_spread(
            tables, i, rules, low, high, cards, taken
        ):
            return False
        free = _discards(tables, i, rules, low, high, cards, taken)
        return bool((free >> int(rules[r]["types"][which])) & 1)
    if phase == TARGETING:
        first = int(rules[r]["kind_first"][TARGET])
        return kind >= TARGET and kind < CLAIM and _can_target(tables, i, rules, int(action) - first)
    if phase == SLAPPING:
        return kind == PASS or (kind == SLAP and _can_slap(tables, i, rules))
    if phase == GIVING:
        return bool(kind == DISCARD and (low >> int(rules[r]["types"][which])) & 1)
    if phase == WIDOW:
        if kind == SWAP:
            return bool((low >> int(rules[r]["types"][which])) & 1)
        return kind == KEEP or (kind == CLAIM and _can_claim(tables, i, rules))
    return False


@jit_inline
def legal_actions(tables: Any, i: int, rules: Any, actions: Any) -> int:
    """Lists the legal actions of the seat to move.

    Args:
        tables: `[B]` STATE_DTYPE, not modified.
        i: the table.
        rules: `[R]` RULES_DTYPE.
        actions: `[LoweredRules.max_legal]` int16; the first entries are overwritten with ids, ascending.

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
        if _can_take(tables, i, rules):
            actions[found] = rules[r]["kind_first"][TAKE]
            found += 1
        if rules[r]["num_claims"] and _can_claim(tables, i, rules):
            actions[found] = rules[r]["kind_first"][CLAIM]
            found += 1
    elif phase == PLAY:
        found = _legal_plays(tables, i, rules, actions)
    elif phase == TARGETING:
        first = int(rules[r]["kind_first"][TARGET])
        for number in range(int(rules[r]["kind_first"][CLAIM]) - first):
            if _can_target(tables, i, rules, number):
                actions[found] = first + number
                found += 1
    elif phase == SLAPPING:
        if _can_slap(tables, i, rules):
            actions[found] = rules[r]["kind_first"][SLAP]
            found += 1
        actions[found] = rules[r]["kind_first"][PASS]
        found += 1
    elif phase == GIVING:
        found = _list_cards(rules, r, DISCARD, _held_types(tables, i), actions, found)
    elif phase == WIDOW:
        if _can_claim(tables, i, rules):
            actions[found] = rules[r]["kind_first"][CLAIM]
            found += 1
        found = _list_cards(rules, r, SWAP, _held_types(tables, i), actions, found)
        actions[found] = rules[r]["kind_first"][KEEP]
        found += 1
    return found


@jit
def _held_types(tables: Any, i: int) -> int:
    """Returns the types that the seat to move holds."""
    return int(tables[i]["hands"][tables[i]["seat"], 0] & ((np.int64(1) << NUM_TYPES) - 1))


@jit
def _list_cards(rules: Any, r: int, kind: int, types: int, actions: Any, found: int) -> int:
    """Lists the actions of a kind for some types; returns how many are listed then."""
    first = rules[r]["kind_first"][kind]
    while types:
        card = lowest_bit(types)
        types &= types - 1
        actions[found] = first + rules[r]["type_index"][card]
        found += 1
    return found


@jit_inline
def _legal_plays(tables: Any, i: int, rules: Any, actions: Any) -> int:
    """Lists the legal spreads, hits and discards."""
    r = tables[i]["rules_index"]
    found = 0
    seat = int(tables[i]["seat"])
    low, high = tables[i]["hands"][seat, 0], tables[i]["hands"][seat, 1]
    cards, taken = int(tables[i]["num_cards"][seat]), int(tables[i]["taken"])
    if low & rules[r]["wilds"] or holds_run_or_set(low, high, rules, r):
        found = _legal_spreads(tables, i, rules, low, high, cards, taken, actions)
    fits = open_fits(tables, i, seat)
    left = low & fits
    while left:
        card = lowest_bit(left)
        left &= left - 1
        if _can_hit(tables, i, rules, card, fits, low, high, cards, taken):
            actions[found] = rules[r]["kind_first"][HIT] + rules[r]["type_index"][card]
            found += 1
    if rules[r]["must_spread"] == SPREAD_FREELY or not _must_spread(
        tables, i, rules, low, high, cards, taken
    ):
        left = _discards(tables, i, rules, low, high, cards, taken)
        found = _list_cards(rules, r, DISCARD, left, actions, found)
    return found


@jit
def _legal_spreads(
    tables: Any, i: int, rules: Any, low: int, high: int, cards: int, taken: int, actions: Any
) -> int:
    """Lists the legal spreads of a hand that holds one, or a wild."""
    r = tables[i]["rules_index"]
    base = rules[r]["kind_first"][SPREAD]
    found = 0
    if low & rules[r]["wilds"]:
        for spread in range(int(rules[r]["num_spreads"])):
            if _can_spread(tables, i, rules, spread, low, high, cards, taken):
                actions[found] = base + spread
                found += 1
        return found
    for rank in range(NUM_RANKS):
        if cards_of_rank(low, high, rank) >= 3:
            for spread in range(int(rules[r]["set_first"][rank]), int(rules[r]["set_first"][rank + 1])):
                if _can_spread(tables, i, rules, spread, low, high, cards, taken):
                    actions[found] = base + spread
                    found += 1
    for suit in range(NUM_SUITS):
        if rules[r]["has_run"][low >> (suit * NUM_RANKS) & ((1 << NUM_RANKS) - 1)]:
            for spread in range(int(rules[r]["run_first"][suit]), int(rules[r]["run_first"][suit + 1])):
                if _can_spread(tables, i, rules, spread, low, high, cards, taken):
                    actions[found] = base + spread
                    found += 1
    return found


@jit
def legal_mask(tables: Any, i: int, rules: Any, actions: Any, masks: Any, row: int) -> int:
    """Writes the legal actions of table `i` into a row of `masks` `[N, num_actions]` uint8; returns how many.

    `actions` `[MAX_ACTIONS]` int16 is scratch space.
    """
    masks[row, :] = 0
    found = legal_actions(tables, i, rules, actions)
    for at in range(found):
        masks[row, actions[at]] = 1
    return found
