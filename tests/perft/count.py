"""Counts move sequences from a deal, level by level, on copies of rows."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from tonk_env.batch import apply_rows, legal_rows
from tonk_env.hand import Hand
from tonk_env.rules import lower
from tonk_env.rules.lower import ACTION_KINDS, DISCARD, HIT, SLAP, SPREAD, STOCK, SWAP, TARGET

COUNTS = Path(__file__).parent / "counts.toml"
SEEDS = (1, 2, 3)
MOST_NODES = 2000
"""A level larger than this is not counted, nor any after it."""
MOST_LEVELS = 16

OPENING = 20
"""Moves made to get from a deal to where a hand is in full swing."""
BACK = 5
"""Moves taken back where it ended before that."""

PresetCounts = dict[str, dict[str, list[list[int]]]]
"""By where one starts and number of players (as text: a key of TOML), the counts of each seed."""


def perft(hand: Hand) -> list[int]:
    """How many sequences of 1, 2 … moves go on from a hand; a hand that is over goes on by none."""
    rules, tables, counts = hand.rules, hand._tables.copy(), []
    while len(counts) < MOST_LEVELS:
        rows = np.arange(len(tables))
        legal = np.zeros((len(tables), rules.max_legal), np.int16)
        num_legal = np.zeros(len(tables), np.int64)
        legal_rows(tables, rows, rules.record, legal, num_legal)
        total = int(num_legal.sum())
        if not total or total > MOST_NODES:
            break
        counts.append(total)
        tables = tables[np.repeat(rows, num_legal)]
        actions = legal[np.arange(rules.max_legal) < num_legal[:, None]].astype(np.int32)
        assert apply_rows(tables, np.arange(total), rules.record, actions) == -1, "a legal action is refused"
    return counts


def open_up(hand: Hand) -> Hand:
    """The hand some moves later, spreads and hits first: to where there is more to choose from."""
    hand, last = hand.clone(), len(ACTION_KINDS)
    kinds = hand.rules.record[0]["action_kind"]
    rank = {kind: place for place, kind in enumerate((SPREAD, HIT, TARGET, SLAP, SWAP, STOCK, DISCARD))}
    while not hand.ended and hand.num_moves < OPENING:
        # Of the discards, and of what else is alike, the last: high cards go first.
        hand.apply(min(reversed(hand.legal_actions()), key=lambda action: rank.get(int(kinds[action]), last)))
    for _ in range(min(BACK, hand.num_moves) if hand.ended else 0):
        hand.undo()
    return hand


def count_preset(preset: str) -> PresetCounts:
    """The counts of a preset, from the deal and from later on, by the fewest and the most players."""
    allowed = lower(preset).rules.player_counts()
    found: PresetCounts = {"deal": {}, "later": {}}
    for players in sorted({allowed[0], allowed[-1]}):
        hands = [Hand(preset, players, seed=seed) for seed in SEEDS]
        found["deal"][str(players)] = [perft(hand) for hand in hands]
        found["later"][str(players)] = [perft(open_up(hand)) for hand in hands]
    return found


def expected() -> dict[str, Any]:
    """The counts on file, by preset."""
    return tomllib.loads(COUNTS.read_text(encoding="utf-8"))
