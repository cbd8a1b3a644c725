"""One table of Tonk as one record, and the codes its fields take.

A batch is an array `[B]` of `STATE_DTYPE`; a copy is a row copy; a saved state is its bytes. Hands and other
collections of cards are two 64-bit words: bit c of the first is set where there is at least one card of
type c, of the second where there are two (two packs). All fields are signed: Numba computes with unsigned
ones in uint64, which must never meet int64.
"""

from __future__ import annotations

import numpy as np

from tonk_env.limits import MAX_DECK, MAX_SEATS, MAX_SPREADS

PHASES = ("ended", "draw", "play", "target", "chance")
ENDED, DRAW, PLAY, TARGETING, CHANCE = range(len(PHASES))
"""Whose turn it is must: nothing, draw or drop, lay or discard, say which spread is hit; or a card is due."""

ENDINGS = (
    "none",
    "instant_win",
    "claim",
    "tonk",
    "out",
    "drop",
    "caught",
    "stock_out",
    "turn_limit",
    "void",
    "forfeit",
)
(
    NO_ENDING,
    INSTANT_WIN,
    CLAIM,
    TONK,
    OUT,
    DROPPED,
    CAUGHT,
    STOCK_OUT,
    LIMIT_REACHED,
    VOID_HAND,
    FORFEITED,
) = range(len(ENDINGS))

OK, ILLEGAL = 0, 1
"""Status that kernels return; an illegal move changes nothing."""

NOBODY = -1
NO_CARD = -1

STATE_DTYPE = np.dtype(
    [
        ("rules_index", np.int16),  # row of the rules this table is played by
        ("num_players", np.int8),
        ("dealer", np.int8),
        ("phase", np.int8),
        ("seat", np.int8),  # who is to move
        ("moves", np.int16),  # decisions made since the deal
        ("turns", np.int16),  # turns completed
        ("own_turns", np.int16, MAX_SEATS),  # turns begun by each seat
        # the turn in progress
        ("may_drop", np.int8),  # no wait forbids it
        ("must_drop", np.int8),  # the only move
        ("taken", np.int8),  # card taken from the pile and still held
        ("pending", np.int8),  # card whose target is to be named
        ("spreads_now", np.int8),  # laid this turn
        ("hits_now", np.int8),  # made this turn
        # the seats
        ("hands", np.int64, (MAX_SEATS, 2)),
        ("num_cards", np.int8, MAX_SEATS),
        ("counts", np.int16, MAX_SEATS),
        ("waits", np.int16, MAX_SEATS),
        ("hit_since", np.int8, MAX_SEATS),  # hit by another since the start of the seat's last turn
        ("blocked", np.int8, MAX_SEATS),  # may not go out on the next turn
        ("spread_before", np.int8, MAX_SEATS),  # laid a spread on an earlier turn
        ("hit_before", np.int8, MAX_SEATS),  # made a hit on an earlier turn
        # the table
        ("num_spreads", np.int8, MAX_SEATS),
        ("spread_kind", np.int8, (MAX_SEATS, MAX_SPREADS)),
        ("spread_row", np.int8, (MAX_SEATS, MAX_SPREADS)),  # rank of a set, suit of a run
        ("spread_start", np.int8, (MAX_SEATS, MAX_SPREADS)),  # first place of a run
        ("spread_size", np.int8, (MAX_SEATS, MAX_SPREADS)),
        ("spread_cards", np.int64, (MAX_SEATS, MAX_SPREADS, 2)),
        ("spread_fits", np.int64, (MAX_SEATS, MAX_SPREADS)),  # cards that hit it
        ("fits", np.int64),  # cards that hit any spread
        # what everybody saw
        ("seen", np.int64, 2),  # cards that have lain face up
        ("known", np.int64, (MAX_SEATS, 2)),  # cards seen going into a hand and not yet out of it
        ("thrown", np.int64, MAX_SEATS),  # types each seat has discarded
        # the cards
        ("deck", np.int8, MAX_DECK),
        ("deck_size", np.int8),
        ("next_card", np.int8),  # place in the deck of the next card
        ("pile", np.int8, MAX_DECK),
        ("pile_size", np.int8),
        ("explicit", np.int8),  # stop at chance nodes instead of following the deck's order
        # how the hand ended
        ("ending", np.int8),
        ("ending_seat", np.int8),  # who went out, dropped or forfeited
        ("emptied_by", np.int8),  # kind of the move that emptied the hand
        ("tiers", np.int8, MAX_SEATS),  # instant-win tier of each dealt hand; -1: none
        ("multiple", np.float64),  # what the win pays, where the hand decides it; settle reads it
    ],
    align=True,
)
