"""Action tables: ids, keys and text say the same, under every preset and a few rules beside them."""

from __future__ import annotations

import itertools
import random

import pytest

from tonk_env.actions import Key, action_table
from tonk_env.cards import CARD_TEXT, NUM_RANKS
from tonk_env.errors import TonkError
from tonk_env.rules import LoweredRules, lower, preset_names
from tonk_env.rules.lower import ACTION_KINDS

pytestmark = pytest.mark.uncompiled

OTHERS = [
    {"spreads": {"ace": "low_or_high"}},
    {"spreads": {"ace": "wrap"}, "deck": {"packs": 2}},
    {"spreads": {"ace": "wrap"}, "deck": {"ranks": "A2345", "suits": 2}, "deal": {"hand_size": 4}},
    {"deck": {"packs": 2}, "deal": {"hand_size": 13}},
    {"deck": {"ranks": "3579JK"}},
]
RULES = [pytest.param(name, id=name) for name in preset_names()]
RULES += [pytest.param(options, id=f"own_{number}") for number, options in enumerate(OTHERS)]


@pytest.fixture(params=RULES)
def rules(request: pytest.FixtureRequest) -> LoweredRules:
    return lower(request.param)


def test_ids_and_keys_are_a_bijection(rules: LoweredRules) -> None:
    table = action_table(rules)
    assert len(table.keys) == len(table.texts) == rules.num_actions
    assert [table.ids[key] for key in table.keys] == list(range(rules.num_actions))
    for action, key in enumerate(table.keys):
        assert ACTION_KINDS[rules.record[0]["action_kind"][action]] == key.kind
        assert list(key.what) == sorted(key.what) or key.kind.startswith("target")


def test_ids_and_texts_are_a_bijection(rules: LoweredRules) -> None:
    table = action_table(rules)
    for num_players in rules.rules.player_counts():
        for seat in range(num_players):
            written = [
                action
                for action, key in enumerate(table.keys)
                if not key.kind.startswith("target") or key.what[0] < num_players
            ]
            texts = [table.text(action, seat, num_players) for action in written]
            assert len(set(texts)) == len(texts)
            assert [table.parse(text, seat, num_players) for text in texts] == written


def test_spreads_parse_in_any_order(rules: LoweredRules) -> None:
    table = action_table(rules)
    shuffle = random.Random(0).shuffle
    for action, key in enumerate(table.keys):
        if key.kind == "spread":
            cards = [CARD_TEXT[card] for card in key.what]
            assert sorted(table.texts[action].removeprefix("spread ")) == sorted("".join(cards))
            shuffle(cards)
            assert table.parse("spread " + "".join(cards), 0, 2) == action
            assert table.parse("spread  " + " ".join(cards), 0, 2) == action


def test_spreads_are_written_in_order() -> None:
    """Sets by suit with twins together, runs as they run, a high ace at the end."""
    texts = set(action_table(lower({"spreads": {"ace": "low_or_high"}, "deck": {"packs": 2}})).texts)
    assert {"spread KcKcKd", "spread KcKdKd", "spread AcAdAh", "spread Ac2c3c", "spread QsKsAs"} <= texts
    texts = set(action_table(lower({"spreads": {"ace": "wrap"}})).texts)
    assert {"spread KsAs2s", "spread QsKsAs", "spread As2s3s"} <= texts
    assert "spread 6d7dJd" in action_table(lower("baton_rouge")).texts


def test_same_key_means_the_same_everywhere() -> None:
    pagat, toy = action_table(lower("pagat")), action_table(lower("toy_hits"))
    shared = set(pagat.keys) & set(toy.keys)
    assert Key("spread", (0, 1, 2)) in shared and Key("hit", (0,)) in shared
    assert all(
        pagat.text(pagat.ids[key], 1, 2) == toy.text(toy.ids[key], 1, 2)
        for key in shared
        if key.kind != "target" or key.what[0] < 2
    )


def test_table_is_made_once() -> None:
    assert action_table(lower("pagat")) is action_table(lower("push_ups"))
    assert action_table(lower("pagat")) is not action_table(lower("seattle"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "'' is not a move: moves are drop, stock, take, spread CARDS"),
        ("fold", "'fold' is not a move"),
        ("drop 8h", "these rules have no such move (drop)"),
        ("hit", "these rules have no such move (hit CARD)"),
        ("hit 8h 9h", "these rules have no such move (hit CARD)"),
        ("hit 8x", "'8x' is not a card"),
        ("spread KdKh", "these rules have no such move (spread CARDS)"),
        ("discard Jk", "these rules have no such move (discard CARD)"),
        ("target 1", "write target SEAT INDEX"),
        ("target 2 0", "seat 2 is not one of 0 to 1"),
        ("target 1 ²", "write target SEAT INDEX"),
        ("target 1 9", "these rules have no such move (target SEAT INDEX)"),
    ],
)
def test_no_move(text: str, says: str) -> None:
    with pytest.raises(TonkError) as refused:
        action_table(lower("pagat")).parse(text, 0, 2)
    assert says in str(refused.value)


def test_targets_name_seats_of_the_table() -> None:
    table = action_table(lower("pagat"))
    for seat, owner in itertools.product(range(3), repeat=2):
        action = table.parse(f"target {owner} 1", seat, 3)
        assert table.keys[action] == Key("target", ((owner - seat) % 3, 1))


def test_ranks_and_suits_of_the_longest_run() -> None:
    """A hand of thirteen can lay a whole suit, as one spread, whichever ace it is said to start from."""
    table = action_table(lower({"spreads": {"ace": "wrap"}, "deal": {"hand_size": 13}}))
    whole = [key for key in table.keys if key.kind == "spread" and len(key.what) == NUM_RANKS]
    assert len(whole) == len(set(whole)) == 4
