"""Making a move: one decision of one seat, and what follows from it."""

from __future__ import annotations

from typing import Any

from tonk_env._jit import jit
from tonk_env.engine.deal import begin_turn, choose_chance, deal_chosen, num_dealt
from tonk_env.engine.ending import end_at_stock_out, end_at_turn_limit, end_by_drop, end_by_going_out
from tonk_env.engine.hands import add_card, remove_card
from tonk_env.engine.legal import can_do, target_seat_and_place
from tonk_env.engine.melds import hit_spread, num_targets, part_with, spread_from_hand
from tonk_env.engine.state import CHANCE, ILLEGAL, NO_CARD, OK, PLAY, TARGETING
from tonk_env.rules.lower import DISCARD, DROP, HIT, SPREAD, STOCK, STOCK_MUST_DROP, TAKE


@jit
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
        spread_from_hand(tables, i, rules, seat, which)
        tables[i]["spreads_now"] += 1
        _add_wait(tables, i, rules, seat, rules[r]["wait_spread"])
        _go_on(tables, i, rules, seat, SPREAD)
    elif kind == HIT:
        card = int(rules[r]["types"][which])
        if num_targets(tables, i, card) > 1:
            tables[i]["pending"] = card
            tables[i]["phase"] = TARGETING
        else:
            _hit_only(tables, i, rules, seat, card)
    elif kind == DISCARD:
        _discard(tables, i, rules, seat, int(rules[r]["types"][which]))
    else:
        owner, place = target_seat_and_place(tables, i, rules, which)
        _hit(tables, i, rules, seat, owner, place, int(tables[i]["pending"]))
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
    tables[i]["next_card"] = at + 1
    _receive(tables, i, rules, seat, int(tables[i]["deck"][at]))


@jit
def _take(tables: Any, i: int, rules: Any, seat: int) -> None:
    top = int(tables[i]["pile_size"]) - 1
    card = int(tables[i]["pile"][top])
    tables[i]["pile_size"] = top
    tables[i]["taken"] = card
    add_card(tables[i]["known"][seat], card)
    _receive(tables, i, rules, seat, card)


@jit
def _hit_only(tables: Any, i: int, rules: Any, seat: int, card: int) -> None:
    """Hits the only spread on the table that a card fits."""
    for owner in range(int(tables[i]["num_players"])):
        for place in range(int(tables[i]["num_spreads"][owner])):
            if (tables[i]["spread_fits"][owner, place] >> card) & 1:
                _hit(tables, i, rules, seat, owner, place, card)
                return


@jit
def _hit(tables: Any, i: int, rules: Any, seat: int, owner: int, place: int, card: int) -> None:
    r = tables[i]["rules_index"]
    hit_spread(tables, i, rules, seat, owner, place, card)
    tables[i]["pending"] = NO_CARD
    tables[i]["hits_now"] += 1
    if owner == seat:
        _add_wait(tables, i, rules, seat, rules[r]["wait_own_hit"])
    else:
        if not (rules[r]["wait_one_hit"] and tables[i]["hit_since"][owner]):
            _add_wait(tables, i, rules, owner, rules[r]["wait_hit"])
        tables[i]["hit_since"][owner] = 1
        tables[i]["blocked"][owner] = rules[r]["wait_blocks"]
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
    if tables[i]["num_cards"][seat] == 0:
        end_by_going_out(tables, i, rules, seat, kind)


@jit
def _discard(tables: Any, i: int, rules: Any, seat: int, card: int) -> None:
    top = int(tables[i]["pile_size"])
    tables[i]["pile"][top] = card
    tables[i]["pile_size"] = top + 1
    tables[i]["thrown"][seat] |= 1 << card
    remove_card(tables[i]["hands"][seat], card)
    part_with(tables, i, rules, seat, card)
    if tables[i]["num_cards"][seat] == 0:
        end_by_going_out(tables, i, rules, seat, DISCARD)
    else:
        _end_turn(tables, i, rules, seat)


@jit
def _end_turn(tables: Any, i: int, rules: Any, seat: int) -> None:
    r = tables[i]["rules_index"]
    n = int(tables[i]["num_players"])
    if tables[i]["spreads_now"]:
        tables[i]["spread_before"][seat] = 1
    if tables[i]["hits_now"]:
        tables[i]["hit_before"][seat] = 1
    tables[i]["blocked"][seat] = 0
    tables[i]["turns"] += 1
    if tables[i]["next_card"] == tables[i]["deck_size"]:
        if rules[r]["stock_result"] == STOCK_MUST_DROP:
            begin_turn(tables, i, (seat + 1) % n)
            tables[i]["must_drop"] = 1
        else:
            end_at_stock_out(tables, i)
    elif tables[i]["turns"] == n * rules[r]["turn_limit"]:
        end_at_turn_limit(tables, i)
    else:
        begin_turn(tables, i, (seat + 1) % n)
