"""The number of move sequences from fixed deals stays what it is, under every preset."""

from __future__ import annotations

import pytest

from tests.perft.count import COUNTS, MOST_LEVELS, MOST_NODES, SEEDS, count_preset, expected, perft
from tonk_env.hand import Hand
from tonk_env.rules import preset_names

HOW_TO = "`python -m tests.perft.generate` writes it anew"


@pytest.mark.parametrize("preset", preset_names())
def test_counts_stay(preset: str) -> None:
    on_file = expected()
    if preset not in on_file:
        pytest.fail(f"{COUNTS.name} has no counts of {preset}; {HOW_TO}")
    found = count_preset(preset)
    assert found == on_file[preset], f"counts of {preset} differ; where that is meant, {HOW_TO}"


def test_counts_are_of_positions_that_differ() -> None:
    """Later on there are other things to do than at the deal, and hands go on there."""
    for preset, found in expected().items():
        for players, by_seed in found["deal"].items():
            later = found["later"][players]
            assert len(by_seed) == len(later) == len(SEEDS)
            assert [bool(counts) for counts in by_seed] == [bool(counts) for counts in later], preset
            assert any(by_seed)


def test_no_counts_of_presets_that_are_gone() -> None:
    assert set(expected()) <= set(preset_names()), HOW_TO


def test_counts_are_those_of_hands_played_one_by_one() -> None:
    """The level-wise count on rows is what trying every move of a `Hand` finds."""

    def count(hand: Hand, depth: int) -> int:
        if depth == 0:
            return 1
        found = 0
        for action in hand.legal_actions():
            hand.apply(action)
            found += count(hand, depth - 1)
            hand.undo()
        return found

    for preset, players in (("pagat", 2), ("toy_2s4r", 2)):
        hand = Hand(preset, players, seed=SEEDS[0])
        levels = perft(hand)
        assert 3 <= len(levels) <= MOST_LEVELS
        assert max(levels) <= MOST_NODES
        assert [count(hand, depth) for depth in (1, 2, 3)] == levels[:3]
