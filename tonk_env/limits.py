"""Sizes of tables and records, and the versions of what is written to disk."""

from __future__ import annotations

MAX_SEATS = 6
MAX_HAND = 13
MAX_DECK = 108
MAX_SPREADS = 4
"""Spreads one seat can lay in a hand: each takes three cards, and a turn never adds more than one."""
MAX_TIERS = 8
MAX_JOKERS = 4
MAX_WILD_RANKS = 2
MAX_WILDS = MAX_JOKERS + 8 * MAX_WILD_RANKS
"""Cards that can lie in spreads as wilds: the jokers, and the cards of the wild ranks in two packs."""
MAX_TURN_LIMIT = 1000
MAX_BET_DEALS = 10_000
MAX_TABLE_SPREADS = 1152
"""Rows of the largest table of spreads: two packs, hands of 13, aces high and low."""
MAX_ACTIONS = 1536
MAX_LEGAL = 192
"""Most actions legal at once: a hand of 14 holds fewer than a hundred spreads, 14 hits and 14 discards."""

ENGINE_VERSION = 1
RECORD_FORMAT = "tonk-hand/1"
CHECKPOINT_FORMAT = "tonk-checkpoint/1"
