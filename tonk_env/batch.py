"""Many tables in one call: loops over the kernels for one table.

Rows are named by index, so a caller may advance any part of a batch.
"""

from __future__ import annotations

from typing import Any

from tonk_env._jit import jit, mix
from tonk_env.engine.deal import clear, deal, shuffle
from tonk_env.engine.ending import forfeit
from tonk_env.engine.legal import can_do, legal_actions, legal_mask
from tonk_env.engine.settle import settle
from tonk_env.engine.state import ENDED, OK
from tonk_env.engine.turn import apply
from tonk_env.limits import MAX_BET_DEALS
from tonk_env.observe import observe
from tonk_env.rules.lower import BET_NATURALS, BET_SUIT
from tonk_env.view import view

FORFEIT = -1
"""What is chosen, instead of an action, by a seat that gives up the hand: it pays for that."""


@jit
def deal_hand(
    tables: Any, i: int, rules: Any, rules_index: int, num_players: int, dealer: int, key: int
) -> None:
    """Deals a new hand at table `i` from a deck whose order `key` fixes."""
    clear(tables, i, rules_index, num_players, dealer)
    shuffle(tables, i, rules, key)
    deal(tables, i, rules)


@jit
def deal_match_hand(
    tables: Any,
    i: int,
    rules: Any,
    rules_index: int,
    num_players: int,
    dealer: int,
    key: int,
    suit_deals: int,
    naturals_deals: int,
    multiplier: float,
) -> None:
    """Deals a hand that is one of several: see `deal_hand`, and `bet_deals` and `multiplier` of a table."""
    clear(tables, i, rules_index, num_players, dealer)
    tables[i]["bet_deals"][BET_SUIT] = suit_deals
    tables[i]["bet_deals"][BET_NATURALS] = naturals_deals
    tables[i]["multiplier"] = multiplier
    shuffle(tables, i, rules, key)
    deal(tables, i, rules)


@jit
def deal_hands(
    tables: Any, rules: Any, rules_indices: Any, num_players: Any, dealers: Any, keys: Any
) -> None:
    """Deals a new hand at every table.

    Args:
        tables: `[B]` STATE_DTYPE; overwritten.
        rules: `[R]` RULES_DTYPE.
        rules_indices, num_players, dealers: `[B]` int64.
        keys: `[B]` int64, non-negative; equal keys give equal decks.
    """
    for i in range(tables.shape[0]):
        deal_hand(tables, i, rules, rules_indices[i], num_players[i], dealers[i], keys[i])


@jit
def live_rows(tables: Any, rows: Any) -> int:
    """Writes the rows of tables whose hand goes on into `rows` `[B]` int64; returns how many."""
    found = 0
    for i in range(tables.shape[0]):
        if tables[i]["phase"] != ENDED:
            rows[found] = i
            found += 1
    return found


@jit
def view_rows(tables: Any, rows: Any, views: Any) -> None:
    """Copies what the seat to move may know at each of `rows` `[N]` int64 into `views` `[N]` VIEW_DTYPE."""
    for j in range(rows.shape[0]):
        view(tables, rows[j], int(tables[rows[j]]["seat"]), views, j)


@jit
def legal_rows(tables: Any, rows: Any, rules: Any, legal: Any, num_legal: Any) -> None:
    """Lists the legal actions at each of `rows`.

    Args:
        tables: `[B]` STATE_DTYPE, not modified.
        rows: `[N]` int64.
        rules: `[R]` RULES_DTYPE.
        legal: `[N, max_legal]` int16; the first entries of each row are overwritten with ids, ascending.
        num_legal: `[N]` int64; overwritten with how many.
    """
    for j in range(rows.shape[0]):
        num_legal[j] = legal_actions(tables, rows[j], rules, legal[j])


@jit
def apply_rows(tables: Any, rows: Any, rules: Any, actions: Any) -> int:
    """Makes one move at each of `rows`, or ends the hand there at the expense of the seat to move.

    Args:
        tables: `[B]` STATE_DTYPE; the tables of `rows` before an illegal move are changed.
        rows: `[N]` int64, each table at most once.
        rules: `[R]` RULES_DTYPE.
        actions: `[N]` int32, action ids or `FORFEIT`.

    Returns:
        The first place in `rows` whose move is illegal, or -1.
    """
    for j in range(rows.shape[0]):
        if actions[j] == FORFEIT:
            forfeit(tables, rows[j], int(tables[rows[j]]["seat"]))
        elif apply(tables, rows[j], rules, actions[j]) != OK:
            return j
    return -1


@jit
def settle_tables(tables: Any, rules: Any, payments: Any) -> None:
    """Writes what every table pays into `payments` `[B, MAX_SEATS]` float64 (zero where the hand goes on)."""
    for i in range(tables.shape[0]):
        settle(tables, i, rules, payments, i)


@jit
def next_bet_deals(tables: Any, i: int) -> tuple[int, int]:
    """Returns how many deals the bets on suit and naturals will have stood with the next one."""
    suit, naturals = 1, 1
    if tables[i]["suit_winner"] < 0:
        suit = min(int(tables[i]["bet_deals"][BET_SUIT]) + 1, MAX_BET_DEALS)
    if tables[i]["naturals_winner"] < 0:
        naturals = min(int(tables[i]["bet_deals"][BET_NATURALS]) + 1, MAX_BET_DEALS)
    return suit, naturals


@jit
def redeal(tables: Any, i: int, rules: Any, key: int, hand_numbers: Any) -> bool:
    """Deals the next hand of table `i`, and again while a hand is won on the deal; the dealer moves left.

    A side bet that nobody has won stands another deal.

    Returns:
        Whether there is a hand to play: not where a thousand in a row were won on the deal.
    """
    for _ in range(1000):
        number = hand_numbers[i]
        hand_numbers[i] = number + 1
        n = int(tables[i]["num_players"])
        dealer = (int(tables[i]["dealer"]) + 1) % n
        suit, naturals = next_bet_deals(tables, i)
        which = int(tables[i]["rules_index"])
        deal_match_hand(tables, i, rules, which, n, dealer, mix(mix(key, i), number), suit, naturals, 1.0)
        if tables[i]["phase"] != ENDED:
            return True
    return False


@jit
def show(
    tables: Any,
    i: int,
    rules: Any,
    starts: Any,
    variants: Any,
    views: Any,
    actions: Any,
    observations: Any,
    masks: Any,
    seats: Any,
) -> None:
    """Writes what the seat to move at table `i` sees and may do, as row `i` of the caller's arrays."""
    view(tables, i, int(tables[i]["seat"]), views, 0)
    observe(views, 0, rules, starts[variants[i]], observations, i)
    legal_mask(tables, i, rules, actions, masks, i)
    seats[i] = tables[i]["seat"]


@jit
def show_all(
    tables: Any,
    rules: Any,
    starts: Any,
    variants: Any,
    views: Any,
    actions: Any,
    observations: Any,
    masks: Any,
    seats: Any,
) -> None:
    """Calls `show` for every table."""
    for i in range(tables.shape[0]):
        show(tables, i, rules, starts, variants, views, actions, observations, masks, seats)


@jit
def step_tables(
    tables: Any,
    rules: Any,
    choices: Any,
    key: int,
    hand_numbers: Any,
    starts: Any,
    variants: Any,
    views: Any,
    actions: Any,
    observations: Any,
    masks: Any,
    seats: Any,
    ended: Any,
    payments: Any,
    stakes: Any,
    endings: Any,
    decisions: Any,
) -> int:
    """Makes one move at every table, pays and deals again where a hand ends, and shows what comes next.

    Returns:
        The first table whose choice is illegal, or -1. Nothing is changed where there is one.
    """
    for i in range(tables.shape[0]):
        if not can_do(tables, i, rules, choices[i]):
            return i
    for i in range(tables.shape[0]):
        apply(tables, i, rules, choices[i])
        ended[i] = 0
        endings[i] = 0
        decisions[i] = 0
        stakes[i, :] = 0.0
        if tables[i]["phase"] == ENDED:
            settle(tables, i, rules, payments, 0)
            for seat in range(stakes.shape[1]):
                stakes[i, seat] = payments[0, seat]
            ended[i] = 1
            endings[i] = tables[i]["ending"]
            decisions[i] = tables[i]["moves"]
            redeal(tables, i, rules, key, hand_numbers)
        show(tables, i, rules, starts, variants, views, actions, observations, masks, seats)
    return -1
