"""What one seat may know of a table: the only door out of the engine.

Seats are counted from the viewer: row 0 of a field is the viewer, row 1 the player to the viewer's left, and
so on. Everything here follows from the public course of the hand and the viewer's own cards; it assumes
perfect memory of what was seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tonk_env._jit import fold, jit, jit_inline
from tonk_env.engine.melds import open_fits
from tonk_env.engine.state import ENDED, NO_CARD, NOBODY
from tonk_env.limits import MAX_SEATS, MAX_SPREADS, MAX_WILDS

VIEW_DTYPE = np.dtype(
    [
        ("rules_index", np.int16),
        ("num_players", np.int8),
        ("seat", np.int8),  # the viewer's seat at the table
        ("dealer", np.int8),  # counted from the viewer
        ("to_move", np.int8),  # counted from the viewer; -1: nobody
        ("phase", np.int8),
        ("moves", np.int16),
        ("turns", np.int16),
        ("own_turns", np.int16, MAX_SEATS),
        ("may_drop", np.int8),  # of the seat to move: no wait forbids it
        ("must_drop", np.int8),
        ("taken", np.int8),  # card taken from the pile this turn and still held, by the seat to move
        ("pending", np.int8),  # card whose target is to be named
        ("turn_of", np.int8),  # whose turn it is, counted from the viewer; slaps are asked out of turn
        ("thrower", np.int8),  # who discarded the card that may be slapped, counted from the viewer; -1: none
        ("slapper", np.int8),  # who slapped it and names its target, counted from the viewer; -1: nobody
        ("passed", np.int8, MAX_SEATS),  # whether each has been asked and has passed
        ("spreads_now", np.int8),
        ("hits_now", np.int8),
        ("hand", np.int64, 2),  # the viewer's cards
        ("count", np.int16),  # the viewer's count
        ("put_away", np.int8),  # the card that the viewer swapped for the widow; -1: none
        ("swapped", np.int8, MAX_SEATS),  # whether each has swapped
        ("num_cards", np.int8, MAX_SEATS),
        ("waits", np.int16, MAX_SEATS),
        ("hit_since", np.int8, MAX_SEATS),
        ("blocked", np.int8, MAX_SEATS),
        ("spread_before", np.int8, MAX_SEATS),
        ("hit_before", np.int8, MAX_SEATS),
        ("num_spreads", np.int8, MAX_SEATS),
        ("spread_kind", np.int8, (MAX_SEATS, MAX_SPREADS)),
        ("spread_row", np.int8, (MAX_SEATS, MAX_SPREADS)),
        ("spread_start", np.int8, (MAX_SEATS, MAX_SPREADS)),
        ("spread_size", np.int8, (MAX_SEATS, MAX_SPREADS)),
        ("spread_fits", np.int64, (MAX_SEATS, MAX_SPREADS)),
        ("spread_cards", np.int64, (MAX_SEATS, MAX_SPREADS, 2)),
        ("fits", np.int64),  # cards with which the viewer can hit some spread
        ("locked", np.int8, MAX_SEATS),  # whether the spreads of each are closed to others
        ("num_wilds", np.int8),  # wilds on the table, and of each:
        ("wild_card", np.int8, MAX_WILDS),  # what it is
        ("wild_as", np.int8, MAX_WILDS),  # what it stands for
        ("wild_seat", np.int8, MAX_WILDS),  # whose spread it lies in, counted from the viewer
        ("wild_place", np.int8, MAX_WILDS),
        ("top", np.int8),  # top discard; -1: no pile
        ("pile_size", np.int8),
        ("stock_size", np.int8),
        ("seen", np.int64, 2),  # cards that have lain face up
        ("known", np.int64, (MAX_SEATS, 2)),  # cards seen going into a hand and not yet out of it
        ("thrown", np.int64, MAX_SEATS),  # types each seat has discarded
        ("called_suit", np.int8),  # of the side bet
        ("naturals_winner", np.int8),  # who has won the bet on naturals, counted from the viewer; -1: nobody
        ("bet_deals", np.int16, 2),  # deals since the bets (suit, naturals) were last won, with this one
        ("multiplier", np.float64),  # of the hand's payments
        ("log", np.int64),  # fingerprint of all that the viewer saw since the deal, in its order
        ("ending", np.int8),
        ("ending_seat", np.int8),  # counted from the viewer
    ],
    align=True,
)


@jit_inline
def view(tables: Any, i: int, seat: int, views: Any, row: int) -> None:
    """Copies what `seat` may know of table `i` into row `row` of `views`.

    Args:
        tables: `[B]` STATE_DTYPE, not modified.
        i: the table.
        seat: the viewer.
        views: `[N]` VIEW_DTYPE; row `row` is overwritten, and must hold zeros or an earlier view.
        row: which row.
    """
    n = int(tables[i]["num_players"])
    # What stands in a row of a seat that is not taken is zero, in the table and in the view: only seats and
    # spreads that are there, or were in the view before, are copied.
    seats = max(n, int(views[row]["num_players"]))
    views[row]["rules_index"] = tables[i]["rules_index"]
    views[row]["num_players"] = n
    views[row]["seat"] = seat
    views[row]["dealer"] = _from_viewer(int(tables[i]["dealer"]), seat, n)
    views[row]["to_move"] = NOBODY if tables[i]["phase"] == ENDED else (int(tables[i]["seat"]) + n - seat) % n
    views[row]["phase"] = tables[i]["phase"]
    views[row]["moves"] = tables[i]["moves"]
    views[row]["turns"] = tables[i]["turns"]
    views[row]["may_drop"] = tables[i]["may_drop"]
    views[row]["must_drop"] = tables[i]["must_drop"]
    views[row]["taken"] = tables[i]["taken"]
    views[row]["pending"] = tables[i]["pending"]
    views[row]["spreads_now"] = tables[i]["spreads_now"]
    views[row]["hits_now"] = tables[i]["hits_now"]
    views[row]["count"] = tables[i]["counts"][seat]
    views[row]["fits"] = open_fits(tables, i, seat)
    views[row]["turn_of"] = _from_viewer(int(tables[i]["turn_seat"]), seat, n)
    views[row]["thrower"] = _from_viewer(int(tables[i]["thrower"]), seat, n)
    views[row]["slapper"] = _from_viewer(int(tables[i]["slapper"]), seat, n)
    views[row]["called_suit"] = tables[i]["called_suit"]
    views[row]["naturals_winner"] = _from_viewer(int(tables[i]["naturals_winner"]), seat, n)
    views[row]["multiplier"] = tables[i]["multiplier"]
    views[row]["put_away"] = tables[i]["put_away"][seat]
    views[row]["log"] = fold(int(tables[i]["log"]), int(tables[i]["own_log"][seat]))
    _view_wilds(tables, i, seat, views, row)
    size = int(tables[i]["pile_size"])
    views[row]["top"] = tables[i]["pile"][size - 1] if size > 0 else NO_CARD
    views[row]["pile_size"] = size
    views[row]["stock_size"] = int(tables[i]["deck_size"]) - int(tables[i]["next_card"])
    for word in range(2):
        views[row]["hand"][word] = tables[i]["hands"][seat, word]
        views[row]["seen"][word] = tables[i]["seen"][word]
        views[row]["bet_deals"][word] = tables[i]["bet_deals"][word]
    for other in range(seats):
        at = (seat + other) % n if other < n else other
        views[row]["own_turns"][other] = tables[i]["own_turns"][at]
        views[row]["num_cards"][other] = tables[i]["num_cards"][at]
        views[row]["waits"][other] = tables[i]["waits"][at]
        views[row]["hit_since"][other] = tables[i]["hit_since"][at]
        views[row]["blocked"][other] = tables[i]["blocked"][at]
        views[row]["spread_before"][other] = tables[i]["spread_before"][at]
        views[row]["hit_before"][other] = tables[i]["hit_before"][at]
        views[row]["thrown"][other] = tables[i]["thrown"][at]
        views[row]["known"][other, 0] = tables[i]["known"][at, 0]
        views[row]["known"][other, 1] = tables[i]["known"][at, 1]
        views[row]["swapped"][other] = tables[i]["swapped"] >> at & 1
        views[row]["locked"][other] = tables[i]["locked"] >> at & 1
        views[row]["passed"][other] = 0
        before = int(views[row]["num_spreads"][other])
        laid = int(tables[i]["num_spreads"][at])
        views[row]["num_spreads"][other] = laid
        for place in range(max(before, laid)):
            views[row]["spread_kind"][other, place] = tables[i]["spread_kind"][at, place]
            views[row]["spread_row"][other, place] = tables[i]["spread_row"][at, place]
            views[row]["spread_start"][other, place] = tables[i]["spread_start"][at, place]
            views[row]["spread_size"][other, place] = tables[i]["spread_size"][at, place]
            views[row]["spread_fits"][other, place] = tables[i]["spread_fits"][at, place]
            views[row]["spread_cards"][other, place, 0] = tables[i]["spread_cards"][at, place, 0]
            views[row]["spread_cards"][other, place, 1] = tables[i]["spread_cards"][at, place, 1]
    for at in range(int(tables[i]["ask_at"])):
        asked = int(tables[i]["ask_order"][at])
        views[row]["passed"][_from_viewer(asked, seat, n)] = tables[i]["num_cards"][asked] > 0
    views[row]["ending"] = tables[i]["ending"]
    views[row]["ending_seat"] = _from_viewer(int(tables[i]["ending_seat"]), seat, n)


@jit
def _from_viewer(seat: int, viewer: int, num_players: int) -> int:
    """Counts a seat from the viewer's; nobody stays nobody. Division, which `%` would be, is slow."""
    if seat < 0:
        return NOBODY
    return seat - viewer if seat >= viewer else seat - viewer + num_players


@jit
def _view_wilds(tables: Any, i: int, seat: int, views: Any, row: int) -> None:
    laid, before = int(tables[i]["num_wilds"]), int(views[row]["num_wilds"])
    views[row]["num_wilds"] = laid
    for at in range(laid):
        views[row]["wild_card"][at] = tables[i]["wild_card"][at]
        views[row]["wild_as"][at] = tables[i]["wild_as"][at]
        owner = int(tables[i]["wild_seat"][at])
        views[row]["wild_seat"][at] = _from_viewer(owner, seat, int(tables[i]["num_players"]))
        views[row]["wild_place"][at] = tables[i]["wild_place"][at]
    for at in range(laid, before):
        views[row]["wild_card"][at] = 0
        views[row]["wild_as"][at] = 0
        views[row]["wild_seat"][at] = 0
        views[row]["wild_place"][at] = 0
