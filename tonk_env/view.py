"""What one seat may know of a table: the only door out of the engine.

Seats are counted from the viewer: row 0 of a field is the viewer, row 1 the player to the viewer's left, and
so on. Everything here follows from the public course of the hand and the viewer's own cards; it assumes
perfect memory of what was seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tonk_env._jit import jit
from tonk_env.engine.state import ENDED, NO_CARD, NOBODY
from tonk_env.limits import MAX_SEATS, MAX_SPREADS

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
        ("spreads_now", np.int8),
        ("hits_now", np.int8),
        ("hand", np.int64, 2),  # the viewer's cards
        ("count", np.int16),  # the viewer's count
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
        ("fits", np.int64),  # cards that hit any spread
        ("top", np.int8),  # top discard; -1: no pile
        ("pile_size", np.int8),
        ("stock_size", np.int8),
        ("seen", np.int64, 2),  # cards that have lain face up
        ("known", np.int64, (MAX_SEATS, 2)),  # cards seen going into a hand and not yet out of it
        ("thrown", np.int64, MAX_SEATS),  # types each seat has discarded
        ("ending", np.int8),
        ("ending_seat", np.int8),  # counted from the viewer
    ],
    align=True,
)


@jit
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
    views[row]["dealer"] = (int(tables[i]["dealer"]) + n - seat) % n
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
    views[row]["fits"] = tables[i]["fits"]
    size = int(tables[i]["pile_size"])
    views[row]["top"] = tables[i]["pile"][size - 1] if size > 0 else NO_CARD
    views[row]["pile_size"] = size
    views[row]["stock_size"] = int(tables[i]["deck_size"]) - int(tables[i]["next_card"])
    for word in range(2):
        views[row]["hand"][word] = tables[i]["hands"][seat, word]
        views[row]["seen"][word] = tables[i]["seen"][word]
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
    views[row]["ending"] = tables[i]["ending"]
    by = int(tables[i]["ending_seat"])
    views[row]["ending_seat"] = NOBODY if by < 0 else (by + n - seat) % n
