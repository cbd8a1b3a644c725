"""Making a move: one decision of one seat, and what follows from it."""

from __future__ import annotations

from typing import Any

from tonk_env._jit import below, fold, jit, jit_inline, mix
from tonk_env.engine.deal import begin_turn, choose_chance, deal_chosen, num_dealt, place_of
from tonk_env.engine.ending import (
    end_at_stock_out,
    end_at_turn_limit,
    end_by_claim,
    end_by_drop,
    end_by_going_out,
)
from tonk_env.engine.hands import add_card, remove_card
from tonk_env.engine.legal import can_do, target_at
from tonk_env.engine.melds import find_places, grow_spread, part_with, spread_from_hand, stands_for
from tonk_env.engine.state import (
    CHANCE,
    DRAW,
    ENDED,
    GIVING,
    ILLEGAL,
    NO_CARD,
    NOBODY,
    OK,
    PLAY,
    SLAPPING,
    TARGETING,
)
from tonk_env.limits import MAX_ACTIONS
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
    STOCK,
    STOCK_MUST_DROP,
    SWAP,
    TAKE,
    TARGET,
)

LONG = 4
"""Cards of a spread that earns its owner the long-spread bonus."""


@jit_inline
def apply(tables: Any, i: int, rules: Any, action: int) -> int:
    """Makes a move for the seat to move at table `i`.

    Args:
        tables: `[B]` STATE_DTYPE; row `i` is changed, unless the move is illegal.
        i: the table.
        rules: `[R]` RULES_DTYPE.
        action: id in the action table of the rules of table `i`.

    Returns:
        OK or ILLEGAL.
    """
    if not can_do(tables, i, rules, action):
        return ILLEGAL
    r = tables[i]["rules_index"]
    seat = int(tables[i]["seat"])
    kind = int(rules[r]["action_kind"][action])
    which = int(action) - int(rules[r]["kind_first"][kind])
    tables[i]["moves"] += 1
    # Which card goes out of play face down is nobody else's to know.
    noted = int(rules[r]["kind_first"][SWAP]) if kind == SWAP else int(action)
    tables[i]["log"] = fold(int(tables[i]["log"]), place_of(tables, i, seat) * MAX_ACTIONS + noted)
    if kind == DROP:
        end_by_drop(tables, i, rules, seat)
    elif kind == STOCK:
        if tables[i]["explicit"]:
            tables[i]["phase"] = CHANCE
        else:
            _draw(tables, i, rules, seat)
    elif kind == TAKE:
        _take(tables, i, rules, seat)
    elif kind == SPREAD:
        _spread(tables, i, rules, seat, which)
    elif kind == HIT:
        _place(tables, i, rules, seat, int(rules[r]["types"][which]))
    elif kind == DISCARD:
        _discard(tables, i, rules, seat, int(rules[r]["types"][which]))
    elif kind >= TARGET and kind < CLAIM:
        number = int(action) - int(rules[r]["kind_first"][TARGET])
        owner, place, end = target_at(tables, i, rules, number)
        _hit(tables, i, rules, seat, owner, place, end, int(tables[i]["pending"]))
    elif kind == CLAIM:
        end_by_claim(tables, i, rules, seat)
    elif kind == SWAP:
        _swap(tables, i, rules, seat, int(rules[r]["types"][which]))
    elif kind == KEEP:
        tables[i]["phase"] = DRAW
    elif kind == SLAP:
        tables[i]["slapper"] = seat
        _place(tables, i, rules, seat, int(tables[i]["pile"][int(tables[i]["pile_size"]) - 1]))
    elif kind == PASS:
        tables[i]["ask_at"] += 1
        _ask_next(tables, i, rules)
    return OK


@jit
def apply_chance(tables: Any, i: int, rules: Any, card: int) -> int:
    """Gives the next card of the deck at a chance node; returns a status, ILLEGAL if it is not left."""
    if choose_chance(tables, i, card) != OK:
        return ILLEGAL
    if tables[i]["next_card"] < num_dealt(tables, i, rules):
        deal_chosen(tables, i, rules)
    else:
        _draw(tables, i, rules, int(tables[i]["seat"]))
    return OK


@jit
def _receive(tables: Any, i: int, rules: Any, seat: int, card: int) -> None:
    add_card(tables[i]["hands"][seat], card)
    tables[i]["num_cards"][seat] += 1
    tables[i]["counts"][seat] += rules[tables[i]["rules_index"]]["values"][card]
    tables[i]["phase"] = PLAY


@jit
def _draw(tables: Any, i: int, rules: Any, seat: int) -> None:
    at = int(tables[i]["next_card"])
    card = int(tables[i]["deck"][at])
    tables[i]["next_card"] = at + 1
    tables[i]["own_log"][seat] = fold(int(tables[i]["own_log"][seat]), card)
    _receive(tables, i, rules, seat, card)


@jit
def _take(tables: Any, i: int, rules: Any, seat: int) -> None:
    top = int(tables[i]["pile_size"]) - 1
    card = int(tables[i]["pile"][top])
    tables[i]["pile_size"] = top
    tables[i]["taken"] = card
    add_card(tables[i]["known"][seat], card)
    _receive(tables, i, rules, seat, card)


@jit
def _swap(tables: Any, i: int, rules: Any, seat: int, card: int) -> None:
    values = rules[tables[i]["rules_index"]]["values"]
    widow = int(tables[i]["widows"][seat])
    remove_card(tables[i]["hands"][seat], card)
    add_card(tables[i]["hands"][seat], widow)
    tables[i]["counts"][seat] += values[widow] - values[card]
    tables[i]["put_away"][seat] = card
    tables[i]["own_log"][seat] = fold(fold(int(tables[i]["own_log"][seat]), card), widow)
    tables[i]["widows"][seat] = NO_CARD
    tables[i]["swapped"] |= 1 << seat
    tables[i]["phase"] = DRAW


@jit
def _spread(tables: Any, i: int, rules: Any, seat: int, spread: int) -> None:
    r = tables[i]["rules_index"]
    wilds = tables[i]["num_wilds"]
    spread_from_hand(tables, i, rules, seat, spread)
    for at in range(wilds, tables[i]["num_wilds"]):
        tables[i]["log"] = fold(int(tables[i]["log"]), int(tables[i]["wild_card"][at]))
    tables[i]["spreads_now"] += 1
    if rules[r]["spread_size"][spread] >= LONG:
        tables[i]["long_laid"] |= 1 << seat
    is_natural_set = rules[r]["spread_kind"][spread] == SET and tables[i]["num_wilds"] == wilds
    if is_natural_set and tables[i]["naturals_winner"] < 0:
        tables[i]["naturals_winner"] = seat
    if rules[r]["lock_after"] and tables[i]["num_spreads"][seat] >= rules[r]["lock_after"]:
        tables[i]["locked"] |= 1 << seat
    _add_wait(tables, i, rules, seat, rules[r]["wait_spread"])
    _go_on(tables, i, rules, seat, SPREAD)


@jit
def _place(tables: Any, i: int, rules: Any, seat: int, card: int) -> None:
    """Puts a card on the spread it fits, or asks which if there are several places for it."""
    found, owner, place, end = find_places(tables, i, rules, seat, card)
    if found > 1:
        tables[i]["pending"] = card
        tables[i]["phase"] = TARGETING
    else:
        _hit(tables, i, rules, seat, owner, place, end, card)


@jit
def _hit(tables: Any, i: int, rules: Any, seat: int, owner: int, place: int, end: int, card: int) -> None:
    """Puts a card on a spread: of the hand of `seat`, or the top discard if it has slapped that."""
    r = tables[i]["rules_index"]
    is_slap = tables[i]["slapper"] >= 0
    as_card = stands_for(tables, i, rules, owner, place, end, card)
    grow_spread(tables, i, rules, owner, place, card, as_card)
    tables[i]["pending"] = NO_CARD
    if owner == seat:
        _add_wait(tables, i, rules, seat, rules[r]["wait_own_hit"])
    else:
        if not (rules[r]["wait_one_hit"] and tables[i]["hit_since"][owner]):
            _add_wait(tables, i, rules, owner, rules[r]["wait_hit"])
        tables[i]["hit_since"][owner] = 1
        tables[i]["blocked"][owner] = rules[r]["wait_blocks"]
    if is_slap:
        tables[i]["pile_size"] -= 1
        tables[i]["slapper"] = NOBODY
        tables[i]["slapped"] |= 1 << seat
        if seat == tables[i]["thrower"]:
            _end_turn(tables, i, rules)
        else:
            tables[i]["phase"] = GIVING
        return
    tables[i]["hits_now"] += 1
    remove_card(tables[i]["hands"][seat], card)
    part_with(tables, i, rules, seat, card)
    tables[i]["phase"] = PLAY
    _go_on(tables, i, rules, seat, HIT)


@jit
def _add_wait(tables: Any, i: int, rules: Any, seat: int, turns: int) -> None:
    if rules[tables[i]["rules_index"]]["wait_cumulative"]:
        tables[i]["waits"][seat] += turns
    else:
        tables[i]["waits"][seat] = max(tables[i]["waits"][seat], turns)


@jit
def _go_on(tables: Any, i: int, rules: Any, seat: int, kind: int) -> None:
    """Ends the hand if a move has emptied it, unless so few stock cards are left that the hand goes on."""
    if tables[i]["num_cards"][seat] > 0:
        return
    stock = int(tables[i]["deck_size"]) - int(tables[i]["next_card"])
    if rules[tables[i]["rules_index"]]["stock_floor"] and stock <= tables[i]["num_players"]:
        if kind != DISCARD:
            _end_turn(tables, i, rules)
    else:
        end_by_going_out(tables, i, rules, seat, kind)


@jit
def _discard(tables: Any, i: int, rules: Any, seat: int, card: int) -> None:
    """Discards in the seat's turn, or after it slapped."""
    if tables[i]["phase"] == PLAY:
        tables[i]["blocked"][seat] = 0  # what a slap of this discard raises is for the next turn
    top = int(tables[i]["pile_size"])
    tables[i]["pile"][top] = card
    tables[i]["pile_size"] = top + 1
    tables[i]["thrown"][seat] |= 1 << card
    remove_card(tables[i]["hands"][seat], card)
    part_with(tables, i, rules, seat, card)
    _go_on(tables, i, rules, seat, DISCARD)
    if tables[i]["phase"] == ENDED:
        return
    if rules[tables[i]["rules_index"]]["slap"] and (tables[i]["fits"] >> card) & 1:
        _ask_slaps(tables, i, rules, seat)
    else:
        _end_turn(tables, i, rules)


@jit
def _ask_slaps(tables: Any, i: int, rules: Any, thrower: int) -> None:
    """Begins to ask who slaps the top discard, which fits a spread, in an order drawn by chance."""
    n = int(tables[i]["num_players"])
    holders = 0
    for at in range(n):
        tables[i]["ask_order"][at] = at
        holders += tables[i]["num_cards"][at] > 0
    if holders == 0:
        _end_turn(tables, i, rules)
        return
    key = mix(tables[i]["lots"], int(tables[i]["num_asks"]))
    for at in range(n - 1, 0, -1):
        other = below(mix(key, at), at + 1)
        seat = tables[i]["ask_order"][at]
        tables[i]["ask_order"][at] = tables[i]["ask_order"][other]
        tables[i]["ask_order"][other] = seat
    tables[i]["num_asks"] += 1
    tables[i]["thrower"] = thrower
    tables[i]["phase"] = SLAPPING
    tables[i]["ask_at"] = 0
    _ask_next(tables, i, rules)


@jit
def _ask_next(tables: Any, i: int, rules: Any) -> None:
    """Asks the next seat that holds cards, or ends the turn where all have passed."""
    n = int(tables[i]["num_players"])
    while tables[i]["ask_at"] < n:
        seat = tables[i]["ask_order"][tables[i]["ask_at"]]
        if tables[i]["num_cards"][seat] > 0:
            tables[i]["seat"] = seat
            return
        tables[i]["ask_at"] += 1
    _end_turn(tables, i, rules)


@jit
def reorder_slaps(tables: Any, i: int, rules: Any, order: Any) -> None:
    """Replaces the order of asking at a table that has just begun to ask.

    Args:
        tables: `[B]` STATE_DTYPE; row `i` is changed.
        i: the table.
        rules: `[R]` RULES_DTYPE.
        order: `[num_players]` int8, the seats.
    """
    for at in range(int(tables[i]["num_players"])):
        tables[i]["ask_order"][at] = order[at]
    tables[i]["ask_at"] = 0
    _ask_next(tables, i, rules)


@jit
def _end_turn(tables: Any, i: int, rules: Any) -> None:
    r = tables[i]["rules_index"]
    n = int(tables[i]["num_players"])
    seat = int(tables[i]["turn_seat"])
    if tables[i]["spreads_now"]:
        tables[i]["spread_before"][seat] = 1
    if tables[i]["hits_now"]:
        tables[i]["hit_before"][seat] = 1
    tables[i]["thrower"] = NOBODY
    tables[i]["ask_at"] = 0
    tables[i]["turns"] += 1
    if tables[i]["next_card"] == tables[i]["deck_size"]:
        if rules[r]["stock_result"] == STOCK_MUST_DROP:
            begin_turn(tables, i, (seat + 1) % n, True)
        else:
            end_at_stock_out(tables, i)
    elif tables[i]["turns"] == n * rules[r]["turn_limit"]:
        end_at_turn_limit(tables, i)
    else:
        begin_turn(tables, i, (seat + 1) % n, False)
