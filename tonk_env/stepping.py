"""Tables stepped from Python: one call a move, with what the next seat sees.

A call from Python costs as much as a move, so each kernel here does all that one needs of it.
"""

from __future__ import annotations

from typing import Any

from tonk_env._jit import jit, mix
from tonk_env.batch import deal_hand, deal_match_hand
from tonk_env.engine.legal import legal_actions, legal_mask
from tonk_env.engine.settle import settle
from tonk_env.engine.state import ENDED, OK
from tonk_env.engine.turn import apply
from tonk_env.observe import observe
from tonk_env.view import view

REFUSED = -2
"""What `step_table` returns for an illegal move."""
_AGENTS = 1 << 41
"""The counter that a hand's agents draw by; hands and moves count from 0."""


# ---- one table, seen by whoever is to move


@jit
def deal_numbered(
    tables: Any,
    rules: Any,
    num_players: int,
    dealer: int,
    stream: int,
    number: int,
    suit_deals: int,
    naturals_deals: int,
    multiplier: float,
    payments: Any,
) -> bool:
    """Deals hand `number` of a stream at table 0, as `deal_match_hand` does.

    Args:
        payments: `[1, MAX_SEATS]` float64; overwritten where the hand is won on the deal.

    Returns:
        Whether somebody is to move.
    """
    key = mix(stream, number)
    deal_match_hand(tables, 0, rules, 0, num_players, dealer, key, suit_deals, naturals_deals, multiplier)
    if tables[0]["phase"] != ENDED:
        return True
    settle(tables, 0, rules, payments, 0)
    return False


@jit
def show_seat(tables: Any, seat: int, rules: Any, starts: Any, views: Any, observation: Any) -> None:
    """Writes what `seat` observes at table 0.

    Args:
        tables: `[B]` STATE_DTYPE, not modified.
        seat: the viewer.
        rules: `[R]` RULES_DTYPE.
        starts: `Layout.starts` for the rules and players of the table.
        views: `[1]` VIEW_DTYPE, scratch space.
        observation: `[size]` float32; overwritten.
    """
    view(tables, 0, seat, views, 0)
    observe(views, 0, rules, starts, observation.reshape((1, observation.shape[0])), 0)


@jit
def show_mover(
    tables: Any, rules: Any, starts: Any, views: Any, actions: Any, observation: Any, mask: Any
) -> int:
    """Writes what the seat to move at table 0 observes and may do; returns the seat.

    Args:
        tables, rules, starts, views, observation: as for `show_seat`.
        actions: `[MAX_ACTIONS]` int16, scratch space.
        mask: `[num_actions]` int8; overwritten.
    """
    seat = int(tables[0]["seat"])
    show_seat(tables, seat, rules, starts, views, observation)
    mask[:] = 0
    for at in range(legal_actions(tables, 0, rules, actions)):
        mask[actions[at]] = 1
    return seat


@jit
def step_table(
    tables: Any,
    rules: Any,
    action: int,
    starts: Any,
    views: Any,
    actions: Any,
    observation: Any,
    mask: Any,
    payments: Any,
) -> int:
    """Makes a move at table 0, and shows the seat that is next to move what it sees and may do.

    Args:
        tables: `[B]` STATE_DTYPE; row 0 is changed, unless the move is illegal.
        action: id in the action table.
        payments: `[1, MAX_SEATS]` float64; overwritten where the hand ends.
        rules, starts, views, actions, observation, mask: as for `show_mover`; observation and mask are not
            written where the hand ends.

    Returns:
        The seat to move; -1 where the hand has ended; REFUSED where the move is illegal.
    """
    if apply(tables, 0, rules, action) != OK:
        return REFUSED
    if tables[0]["phase"] == ENDED:
        settle(tables, 0, rules, payments, 0)
        return -1
    return show_mover(tables, rules, starts, views, actions, observation, mask)


# ---- many tables, each seen by one seat


@jit
def key_rows(rows: Any, seed: int, numbers: Any, keys: Any) -> None:
    """Writes a deck key for hand `numbers[row]` of each of `rows` `[N]` int64 into `keys` `[B]` int64."""
    for j in range(rows.shape[0]):
        i = rows[j]
        keys[i] = mix(mix(seed, i), numbers[i])


@jit
def deal_rows(tables: Any, rows: Any, rules: Any, num_players: int, dealers: Any, keys: Any) -> None:
    """Deals a new hand at each of `rows` `[N]` int64, by the dealer and deck key (`[B]` int64) of its row."""
    for j in range(rows.shape[0]):
        i = rows[j]
        deal_hand(tables, i, rules, 0, num_players, dealers[i], keys[i])


@jit
def decision_keys(tables: Any, rows: Any, keys: Any, out: Any) -> None:
    """Writes an agent's random key for a decision at each of `rows`.

    Args:
        tables: `[B]` STATE_DTYPE, not modified.
        rows: `[N]` int64.
        keys: `[B]` int64, the deck's key at each table.
        out: `[N]` int64; overwritten. Fixed by the deck's key, the seat and the move's number.
    """
    for j in range(rows.shape[0]):
        i = rows[j]
        out[j] = mix(mix(mix(keys[i], _AGENTS), int(tables[i]["seat"])), int(tables[i]["moves"]))


@jit
def show_rows(
    tables: Any, rows: Any, seats: Any, rules: Any, starts: Any, views: Any, observations: Any
) -> None:
    """Writes what a given seat observes at each of `rows`.

    Args:
        tables: `[B]` STATE_DTYPE, not modified.
        rows: `[N]` int64.
        seats: `[B]` int64, the viewer at each table.
        rules: `[R]` RULES_DTYPE.
        starts: `Layout.starts`, the same for all tables.
        views: `[1]` VIEW_DTYPE, scratch space.
        observations: `[N, size]` float32; overwritten, row j for table `rows[j]`.
    """
    for j in range(rows.shape[0]):
        view(tables, rows[j], seats[rows[j]], views, 0)
        observe(views, 0, rules, starts, observations, j)


@jit
def mask_rows(tables: Any, rules: Any, actions: Any, masks: Any) -> None:
    """Writes what the seat to move at each table may do into `masks` `[B, num_actions]` uint8.

    `actions` `[MAX_ACTIONS]` int16 is scratch space.
    """
    for i in range(tables.shape[0]):
        legal_mask(tables, i, rules, actions, masks, i)


@jit
def settle_rows(tables: Any, rows: Any, rules: Any, payments: Any) -> None:
    """Writes what each of `rows` `[N]`, all ended, pays into `payments` `[N, MAX_SEATS]` float64."""
    for j in range(rows.shape[0]):
        settle(tables, rows[j], rules, payments, j)
