"""From the facts of a hand's ending to its payments: the engine's cashier and the points keeper."""

from __future__ import annotations

from typing import Any

from tonk_env._jit import jit, popcount
from tonk_env.engine.state import (
    CAUGHT,
    CLAIMED,
    DROPPED,
    FORFEITED,
    INSTANT_WIN,
    LIMIT_REACHED,
    NO_ENDING,
    OUT,
    STOCK_OUT,
    TONK,
)
from tonk_env.limits import MAX_SEATS
from tonk_env.rules.lower import (
    BET_NATURALS,
    BET_SUIT,
    DROPPER_SHARES,
    STOCK_TIE_NEAREST,
    STOCK_TIE_SHARE,
    STOCK_VOID,
    TIMES_OPPONENTS,
    TIMES_PLAYERS,
)


@jit
def settle(tables: Any, i: int, rules: Any, payments: Any, row: int) -> None:
    """Pays the hand that ended at table `i`.

    Reads the ending, who brought it about, what it pays (`multiple`), tiers and counts; who swapped for a
    widow, who laid a long spread, who won the side bets, and the multiplier.

    Args:
        tables: `[B]` STATE_DTYPE, not modified.
        i: the table.
        rules: `[R]` RULES_DTYPE.
        payments: `[N, MAX_SEATS]` float64, in stakes; row `row` is overwritten and sums to zero, except under
            push-ups (minus points). Zero where the hand goes on.
        row: which row.

    Source: docs/RULES.md, "Payments" and "Caught table".
    """
    for seat in range(MAX_SEATS):
        payments[row, seat] = 0.0
    if tables[i]["ending"] == NO_ENDING:
        return
    r = tables[i]["rules_index"]
    ending, by = tables[i]["ending"], int(tables[i]["ending_seat"])
    multiple = 1.0
    winners = 0
    if ending == INSTANT_WIN or ending == CLAIMED or ending == TONK or ending == OUT:
        multiple = tables[i]["multiple"]
        winners = (
            _pay_all(tables, i, payments, row, by, multiple)
            if by >= 0
            else _pay_tiers(tables, i, rules, payments, row)
        )
    elif ending == DROPPED:
        winners = _pay_drop(tables, i, rules, payments, row, by)
    elif ending == CAUGHT:
        winners = _pay_caught(tables, i, rules, payments, row, by)
    elif ending == LIMIT_REACHED or ending == STOCK_OUT:
        if rules[r]["stock_result"] != STOCK_VOID and not tables[i]["locked"]:
            winners = _pay_lowest(tables, i, rules, payments, row)
    elif ending == FORFEITED:
        _pay_all(tables, i, payments, row, by, -rules[r]["forfeit"])
    if rules[r]["long_bonus"] > 0:
        losers = int(tables[i]["long_laid"]) & ~winners
        _pay_evenly(tables, i, payments, row, losers, winners, -rules[r]["long_bonus"])
    if rules[r]["widow"]:
        _pay_evenly(tables, i, payments, row, int(tables[i]["swapped"]), winners, 1.0)
    if rules[r]["push_ups"]:
        _count_points(tables, i, payments, row, winners, multiple)
    for seat in range(int(tables[i]["num_players"])):
        payments[row, seat] *= tables[i]["multiplier"]
    _pay_bet(tables, i, rules, payments, row, BET_SUIT, int(tables[i]["suit_winner"]))
    _pay_bet(tables, i, rules, payments, row, BET_NATURALS, int(tables[i]["naturals_winner"]))


@jit
def _pay_all(tables: Any, i: int, payments: Any, row: int, seat: int, amount: float) -> int:
    """Every other player pays `amount` to `seat`; returns the winners as bits."""
    for other in range(int(tables[i]["num_players"])):
        if other != seat:
            payments[row, other] -= amount
            payments[row, seat] += amount
    return 1 << seat


@jit
def _pay_evenly(
    tables: Any, i: int, payments: Any, row: int, payers: int, winners: int, amount: float
) -> None:
    """Each of some seats (bits) pays `amount` to the winners, evenly; nobody does where nobody won."""
    if winners == 0:
        return
    share = amount / popcount(winners)
    for seat in range(int(tables[i]["num_players"])):
        if payers >> seat & 1:
            payments[row, seat] -= amount
        if winners >> seat & 1:
            payments[row, seat] += share * popcount(payers)


@jit
def _pay_bet(tables: Any, i: int, rules: Any, payments: Any, row: int, bet: int, winner: int) -> None:
    """Every other player pays the winner of a side bet its ante for each deal since it was last won."""
    ante = rules[tables[i]["rules_index"]]["bet_antes"][bet]
    if ante > 0 and winner >= 0:
        _pay_all(tables, i, payments, row, winner, ante * tables[i]["bet_deals"][bet])


@jit
def _pay_tiers(tables: Any, i: int, rules: Any, payments: Any, row: int) -> int:
    """Every qualifying hand is paid its tier by every player who does not qualify."""
    r = tables[i]["rules_index"]
    n = int(tables[i]["num_players"])
    winners = 0
    for seat in range(n):
        tier = tables[i]["tiers"][seat]
        if tier < 0:
            continue
        winners |= 1 << seat
        for other in range(n):
            if tables[i]["tiers"][other] < 0:
                payments[row, other] -= rules[r]["tier_pays"][tier]
                payments[row, seat] += rules[r]["tier_pays"][tier]
    return winners


@jit
def _pay_higher(tables: Any, i: int, payments: Any, row: int, count: int, amount: float) -> int:
    """Every player above `count` pays `amount` to every player who has it."""
    n = int(tables[i]["num_players"])
    winners = 0
    for seat in range(n):
        if tables[i]["counts"][seat] != count:
            continue
        winners |= 1 << seat
        for other in range(n):
            if tables[i]["counts"][other] > count:
                payments[row, other] -= amount
                payments[row, seat] += amount
    return winners


@jit
def _pay_drop(tables: Any, i: int, rules: Any, payments: Any, row: int, dropper: int) -> int:
    """A won drop; players equal to the dropper share it or pay, as the rules say."""
    r = tables[i]["rules_index"]
    if rules[r]["drop_tie"] == DROPPER_SHARES:
        return _pay_higher(tables, i, payments, row, int(tables[i]["counts"][dropper]), rules[r]["drop_pays"])
    return _pay_all(tables, i, payments, row, dropper, rules[r]["drop_pays"])


@jit
def _nearest_left(tables: Any, i: int, among: int) -> int:
    """Returns the first seat left of the dealer among some, given as bits."""
    n = int(tables[i]["num_players"])
    for step in range(1, n + 1):
        seat = (int(tables[i]["dealer"]) + step) % n
        if among >> seat & 1:
            return seat
    return -1


@jit
def _pay_caught(tables: Any, i: int, rules: Any, payments: Any, row: int, dropper: int) -> int:
    r = tables[i]["rules_index"]
    n = int(tables[i]["num_players"])
    counts = tables[i]["counts"]
    least = 32767
    for seat in range(n):
        if seat != dropper:
            least = min(least, int(counts[seat]))
    lowest = 0
    for seat in range(n):
        if seat != dropper and counts[seat] == least:
            lowest |= 1 << seat
    if rules[r]["caught_nearest"]:
        lowest = 1 << _nearest_left(tables, i, lowest)
    times = 1
    if rules[r]["caught_times"] == TIMES_OPPONENTS:
        times = n - 1
    elif rules[r]["caught_times"] == TIMES_PLAYERS:
        times = n
    for seat in range(n):
        if seat == dropper:
            continue
        if lowest >> seat & 1:
            due = rules[r]["caught_lowest"] * times
        elif counts[seat] < counts[dropper]:
            due = rules[r]["caught_lower"]
        elif counts[seat] == counts[dropper]:
            due = rules[r]["caught_equal"]
        else:
            due = rules[r]["caught_higher"]
        payments[row, dropper] -= due
        payments[row, seat] += due
        if not lowest >> seat & 1:
            for other in range(n):
                if lowest >> other & 1:
                    payments[row, seat] -= rules[r]["caught_others"]
                    payments[row, other] += rules[r]["caught_others"]
    return lowest


@jit
def _pay_lowest(tables: Any, i: int, rules: Any, payments: Any, row: int) -> int:
    """The stock ran out, or the turns did: the lowest count is paid 1 by each."""
    r = tables[i]["rules_index"]
    least, lowest, ties = 32767, 0, 0
    for seat in range(int(tables[i]["num_players"])):
        count = int(tables[i]["counts"][seat])
        if count < least:
            least, lowest, ties = count, 1 << seat, 1
        elif count == least:
            lowest |= 1 << seat
            ties += 1
    if ties > 1 and rules[r]["stock_tie"] == STOCK_TIE_SHARE:
        all_tie = ties == tables[i]["num_players"]
        return 0 if all_tie else _pay_higher(tables, i, payments, row, least, 1.0)
    if ties > 1 and rules[r]["stock_tie"] == STOCK_TIE_NEAREST:
        lowest = 1 << _nearest_left(tables, i, lowest)
        ties = 1
    if ties > 1:
        return 0
    return _pay_all(tables, i, payments, row, _nearest_left(tables, i, lowest), 1.0)


@jit
def _count_points(tables: Any, i: int, payments: Any, row: int, winners: int, multiple: float) -> None:
    """Push-ups: losers add their counts, times what the win would pay; a void hand adds nothing."""
    forfeited = tables[i]["ending"] == FORFEITED
    for seat in range(int(tables[i]["num_players"])):
        payments[row, seat] = 0.0
        loses = seat == tables[i]["ending_seat"] if forfeited else winners != 0 and not winners >> seat & 1
        if loses:
            payments[row, seat] = -tables[i]["counts"][seat] * multiple
