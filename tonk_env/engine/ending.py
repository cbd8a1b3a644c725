"""How a hand ends: facts recorded in the table, which `settle` turns into payments."""

from __future__ import annotations

from typing import Any

from tonk_env._jit import jit, lowest_bit
from tonk_env.cards import NUM_RANKS, NUM_SUITS
from tonk_env.engine.state import (
    CAUGHT,
    CLAIMED,
    DROPPED,
    ENDED,
    FORFEITED,
    INSTANT_WIN,
    LIMIT_REACHED,
    NOBODY,
    OUT,
    STOCK_OUT,
    TONK,
    VOID_HAND,
)
from tonk_env.rules.lower import (
    BET_SUIT,
    DISCARD,
    DROPPER_CAUGHT,
    INSTANT_ALL,
    INSTANT_VOID,
    SPREAD,
)


@jit
def end_hand(tables: Any, i: int, ending: int, seat: int) -> None:
    """Ends the hand at table `i` with a fact: which ending, and who brought it about (or NOBODY)."""
    tables[i]["ending"] = ending
    tables[i]["ending_seat"] = seat
    tables[i]["phase"] = ENDED
    tables[i]["must_drop"] = 0


@jit
def tier_of(tables: Any, i: int, rules: Any, seat: int, claimed: bool) -> int:
    """Returns the first tier that a hand meets, of those paid on the deal or if claimed; or -1."""
    r = tables[i]["rules_index"]
    for tier in range(int(rules[r]["num_tiers"])):
        if (rules[r]["tier_claim"][tier] != 0) != claimed:
            continue
        if rules[r]["tier_counts"][tier, tables[i]["counts"][seat]]:
            return tier
        allowed = int(rules[r]["tier_ranks"][tier])
        if allowed:
            left = int(tables[i]["hands"][seat, 0])
            fits = True
            while left:
                card = lowest_bit(left)
                left &= left - 1
                is_joker = card >= NUM_SUITS * NUM_RANKS
                fits = fits and not is_joker and (allowed >> (card % NUM_RANKS)) & 1 != 0
            if fits:
                return tier
    return -1


@jit
def end_instantly(tables: Any, i: int, rules: Any) -> bool:
    """Ends the hand at table `i` if a dealt hand wins at once."""
    r = tables[i]["rules_index"]
    if rules[r]["num_tiers"] == rules[r]["num_claims"]:
        return False
    n = int(tables[i]["num_players"])
    best, best_count, best_seat, ties = -1, 0, NOBODY, 0
    for step in range(1, n + 1):
        seat = (int(tables[i]["dealer"]) + step) % n
        tier = tier_of(tables, i, rules, seat, False)
        tables[i]["tiers"][seat] = tier
        if tier < 0:
            continue
        count = int(tables[i]["counts"][seat]) if rules[r]["tier_lowest_first"][tier] else 0
        if best < 0 or tier < best or (tier == best and count < best_count):
            best, best_count, best_seat, ties = tier, count, seat, 1
        elif tier == best and count == best_count:
            ties += 1
    if best < 0:
        return False
    tables[i]["multiple"] = rules[r]["tier_pays"][best]
    if rules[r]["instant_tie"] == INSTANT_ALL:
        end_hand(tables, i, INSTANT_WIN, NOBODY)
    elif ties > 1 and rules[r]["instant_tie"] == INSTANT_VOID:
        end_hand(tables, i, VOID_HAND, NOBODY)
    else:
        end_hand(tables, i, INSTANT_WIN, best_seat)
    return True


@jit
def claimed_tier(tables: Any, i: int, rules: Any, seat: int) -> int:
    """Returns the first tier that the hand of `seat` meets, of those that are claimed; or -1."""
    return tier_of(tables, i, rules, seat, True)


@jit
def end_by_claim(tables: Any, i: int, rules: Any, seat: int) -> None:
    """Ends the hand by the claim of `seat`, which is legal."""
    tier = claimed_tier(tables, i, rules, seat)
    tables[i]["multiple"] = rules[tables[i]["rules_index"]]["tier_pays"][tier]
    end_hand(tables, i, CLAIMED, seat)


@jit
def find_suit_winner(tables: Any, i: int, rules: Any) -> None:
    """Notes who was dealt the highest card of the called suit, king high: of equals the first dealt to."""
    if rules[tables[i]["rules_index"]]["bet_antes"][BET_SUIT] == 0:
        return
    n = int(tables[i]["num_players"])
    best = 0
    for step in range(1, n + 1):
        seat = (int(tables[i]["dealer"]) + step) % n
        suit_bits = tables[i]["hands"][seat, 0] >> (int(tables[i]["called_suit"]) * NUM_RANKS)
        held = suit_bits & ((1 << NUM_RANKS) - 1)
        highest = 0
        while held:
            highest = held & -held
            held &= held - 1
        if highest > best:
            best = highest
            tables[i]["suit_winner"] = seat


@jit
def drop_ending(tables: Any, i: int, rules: Any, dropper: int) -> int:
    """Tells a won drop (DROPPED) from a lost one (CAUGHT), by the counts."""
    r = tables[i]["rules_index"]
    ties = False
    for seat in range(int(tables[i]["num_players"])):
        if seat == dropper:
            continue
        if tables[i]["counts"][seat] < tables[i]["counts"][dropper]:
            return CAUGHT
        ties = ties or tables[i]["counts"][seat] == tables[i]["counts"][dropper]
    return CAUGHT if ties and rules[r]["drop_tie"] == DROPPER_CAUGHT else DROPPED


@jit
def end_by_drop(tables: Any, i: int, rules: Any, seat: int) -> None:
    """Ends the hand by the drop of `seat`."""
    end_hand(tables, i, drop_ending(tables, i, rules, seat), seat)


@jit
def end_by_going_out(tables: Any, i: int, rules: Any, seat: int, kind: int) -> None:
    """Ends the hand of a seat that a move of `kind` (SPREAD, HIT or DISCARD) left without cards."""
    r = tables[i]["rules_index"]
    multiple = rules[r]["out_pays"][kind]
    two_spreads = kind == SPREAD and tables[i]["spreads_now"] == 2 and tables[i]["hits_now"] == 0
    if two_spreads and tables[i]["own_turns"][seat] == 1:
        multiple = max(multiple, rules[r]["out_two_spreads"])
    if not tables[i]["spread_before"][seat]:
        multiple = max(multiple, rules[r]["out_no_earlier"])
    if tables[i]["hit_before"][seat]:
        multiple = min(multiple, rules[r]["out_after_hitting"])
    tables[i]["multiple"] = multiple
    tables[i]["emptied_by"] = kind
    end_hand(tables, i, OUT if kind == DISCARD else TONK, seat)


@jit
def end_at_stock_out(tables: Any, i: int) -> None:
    """Ends the hand because the stock is empty."""
    end_hand(tables, i, STOCK_OUT, NOBODY)


@jit
def end_at_turn_limit(tables: Any, i: int) -> None:
    """Ends the hand because every seat has had its turns."""
    end_hand(tables, i, LIMIT_REACHED, NOBODY)


@jit
def forfeit(tables: Any, i: int, seat: int) -> None:
    """Ends a live hand at the expense of `seat`."""
    if tables[i]["phase"] != ENDED:
        end_hand(tables, i, FORFEITED, seat)
