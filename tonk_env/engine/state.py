"""One table of Tonk as one record, and the codes its fields take.

A batch is an array `[B]` of `STATE_DTYPE`; a copy is a row copy; a saved state is its bytes. Hands and other
collections of cards are two 64-bit words (see `tonk_env.cards`). All fields are signed: Numba computes with
unsigned ones in uint64, which must never meet int64.
"""

from __future__ import annotations

import numpy as np

from tonk_env.limits import MAX_DECK, MAX_SEATS, MAX_SPREADS, MAX_WILDS

PHASES = ("ended", "draw", "play", "target", "chance", "widow", "slap", "give")
ENDED, DRAW, PLAY, TARGETING, CHANCE, WIDOW, SLAPPING, GIVING = range(len(PHASES))
"""The seat to move must: nothing, draw or drop, lay or discard, say which spread is hit, (a card is due,)
swap for the widow or keep, slap or pass, discard after a slap."""

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
    CLAIMED,
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
        ("turn_seat", np.int8),  # whose turn it is; not who is to move while slaps are asked
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
        # slaps
        ("lots", np.int64),  # fixes the orders of asking
        ("num_asks", np.int16),  # cards asked about so far
        ("ask_order", np.int8, MAX_SEATS),  # in which seats are asked about the card
        ("ask_at", np.int8),  # place in it of who is asked
        ("thrower", np.int8),  # who discarded the card
        ("slapper", np.int8),  # who slapped it and is not done; else NOBODY
        ("slapped", np.int8),  # bit for each seat that slapped since its last turn began
        # the seats
        ("hands", np.int64, (MAX_SEATS, 2)),
        ("num_cards", np.int8, MAX_SEATS),
        ("counts", np.int16, MAX_SEATS),
        ("waits", np.int16, MAX_SEATS),
        ("hit_since", np.int8, MAX_SEATS),  # hit by another since the start of the seat's last turn
        ("blocked", np.int8, MAX_SEATS),  # may not go out on the next turn
        ("spread_before", np.int8, MAX_SEATS),  # laid a spread on an earlier turn
        ("hit_before", np.int8, MAX_SEATS),  # made a hit on an earlier turn
        ("widows", np.int8, MAX_SEATS),  # face-down cards; NO_CARD once taken
        ("put_away", np.int8, MAX_SEATS),  # card swapped for the widow
        ("swapped", np.int8),  # bit for each seat that swapped
        # the table
        ("num_spreads", np.int8, MAX_SEATS),
        ("spread_kind", np.int8, (MAX_SEATS, MAX_SPREADS)),
        ("spread_row", np.int8, (MAX_SEATS, MAX_SPREADS)),  # rank of a set, suit of a run
        ("spread_start", np.int8, (MAX_SEATS, MAX_SPREADS)),  # first place of a run
        ("spread_size", np.int8, (MAX_SEATS, MAX_SPREADS)),
        ("spread_cards", np.int64, (MAX_SEATS, MAX_SPREADS, 2)),
        ("spread_fits", np.int64, (MAX_SEATS, MAX_SPREADS)),  # cards that hit it
        ("fits", np.int64),  # cards that hit any spread
        ("num_wilds", np.int8),  # wilds on the table, and of each:
        ("wild_card", np.int8, MAX_WILDS),  # what it is
        ("wild_as", np.int8, MAX_WILDS),  # what it stands for
        ("wild_seat", np.int8, MAX_WILDS),  # whose spread it lies in
        ("wild_place", np.int8, MAX_WILDS),
        # what everybody saw
        ("seen", np.int64, 2),  # cards that have lain face up
        ("known", np.int64, (MAX_SEATS, 2)),  # cards seen going into a hand and not yet out of it
        ("thrown", np.int64, MAX_SEATS),  # types each seat has discarded
        ("log", np.int64),  # fingerprint of the events that everybody saw
        ("own_log", np.int64, MAX_SEATS),  # of what each seat alone saw: its cards as dealt and drawn
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
        ("long_laid", np.int8),  # bit for each seat that laid four cards or more at once
        ("locked", np.int8),  # bit for each seat whose spreads are closed to others
        ("called_suit", np.int8),  # of the side bet; -1: none
        ("suit_winner", np.int8),  # who wins the side bets; else NOBODY
        ("naturals_winner", np.int8),
        ("bet_deals", np.int16, 2),  # deals since the bets (suit, naturals) were last won, with this one
        ("multiplier", np.float64),  # of everything but the side bets
        ("multiple", np.float64),  # what the win pays, where the hand decides it; settle reads it
    ],
    align=True,
)
