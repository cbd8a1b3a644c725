"""`tonk_env.Hand` as people, tests and search bots use it."""

from __future__ import annotations

import doctest
from collections import Counter

import numpy as np
import pytest

import tonk_env
from tonk_env.engine.state import STATE_DTYPE
from tonk_env.errors import TonkError
from tonk_env.hand import Hand
from tonk_env.rules import lower
from tonk_env.view import VIEW_DTYPE

pytestmark = pytest.mark.uncompiled

DECK = "2c 9s 3c 9h 8h 7d Kd 5c Kh Ac Ks 4d"
MOVES = ("take", "spread KdKhKs", "discard 8h", "stock", "discard 9h", "drop")


def played(moves: int = len(MOVES)) -> Hand:
    hand = Hand(deck=DECK)
    for move in MOVES[:moves]:
        hand.apply(move)
    return hand


def test_docstring() -> None:
    import tonk_env.hand

    assert doctest.testmod(tonk_env.hand).failed == 0


def test_package_offers_it() -> None:
    assert tonk_env.Hand is Hand


def test_a_hand_from_deal_to_payments() -> None:
    hand = Hand("pagat", deck=DECK)
    assert hand.hands == [["2c", "3c", "Kd", "8h", "Kh"], ["Ac", "5c", "7d", "9h", "9s"]]
    assert (hand.top, hand.stock_size, hand.to_move, hand.counts) == ("Ks", 41, 0, [33, 31])
    assert hand.legal_moves() == ["drop", "stock", "take"]
    assert hand.payments is None and hand.ending is None and not hand.ended
    hand.apply("take")
    hand.apply("spread KsKdKh")  # cards in any order
    assert hand.spreads == [["KdKhKs"], []]
    assert hand.legal_moves() == ["discard 2c", "discard 3c", "discard 8h"]
    hand.apply(hand.legal_actions()[-1])
    assert hand.to_move == 1
    for move in MOVES[3:]:
        hand.apply(move)
    assert (hand.ended, hand.ending, hand.ending_seat, hand.to_move) == (True, "drop", 0, None)
    assert hand.payments == [1.0, -1.0] and hand.counts == [5, 26]
    assert hand.legal_actions() == [] and hand.num_moves == 6
    assert [f"{event.seat} {event.move}" for event in hand.events][-1] == "0 drop"


def test_spreads_are_written_as_they_lie() -> None:
    hand = Hand({"spreads": {"ace": "low_or_high"}}, deck="Qc Jc Kc 8d Ac 8s 2d 7d 3d 4s 6h 9s Th")
    for move in ("stock", "spread QcKcAc", "discard 9s", "stock", "hit Jc"):
        hand.apply(move)
    assert hand.spreads == [["JcQcKcAc"], []]


def test_dealer_and_players() -> None:
    hand = Hand(num_players=4, dealer=1, seed=3)
    assert (hand.to_move, hand.dealer, len(hand.hands)) == (2, 1, 4)
    assert Hand(num_players=3, seed=3).to_move == 0


def test_seeds() -> None:
    assert Hand(seed=5).hands == Hand(seed=5).hands != Hand(seed=6).hands
    drawn = Hand()
    assert drawn.seed is not None and Hand(seed=drawn.seed).hands == drawn.hands
    assert Hand().hands != Hand().hands
    assert Hand(seed=2**63 - 1).to_move is not None


def test_undo_restores_everything() -> None:
    hands = [played(moves) for moves in range(len(MOVES) + 1)]
    hand = played()
    for before in reversed(hands[:-1]):
        hand.undo()
        assert hand._tables.tobytes() == before._tables.tobytes()
        assert hand.events == before.events and hand.log(0) == before.log(0)
    with pytest.raises(TonkError, match="undo: no move has been made"):
        hand.undo()


def test_clones_go_their_own_ways() -> None:
    hand = played(3)
    twin = hand.clone()
    twin.apply("stock")
    assert (hand.num_moves, twin.num_moves) == (3, 4)
    assert "drop" in hand.legal_moves() and "drop" not in twin.legal_moves()
    hand.apply("stock")
    assert hand._tables.tobytes() == twin._tables.tobytes()
    twin.undo()
    twin.undo()
    assert (hand.num_moves, twin.num_moves) == (4, 2)


def test_log_shows_own_draws_only() -> None:
    hand = played()
    shared = ["upcard Ks", "0 take", "0 spread KdKhKs", "0 discard 8h"]
    assert hand.log(0) == [
        "seat 0 of 2, dealer 1",
        "hand 2c 3c Kd 8h Kh",
        *shared,
        "1 stock ??",
        "1 discard 9h",
        "0 drop",
        "end drop",
    ]
    assert hand.log(1)[1] == "hand Ac 5c 7d 9h 9s" and "1 stock 4d" in hand.log(1)


def test_view_is_a_record() -> None:
    view = played(3).view(1)
    assert view.dtype == VIEW_DTYPE
    assert (view["seat"], view["to_move"], view["count"], view["stock_size"]) == (1, 0, 31, 41)
    assert view["num_cards"].tolist()[:2] == [5, 2]


@pytest.mark.parametrize(
    ("move", "says"),
    [
        ("drop", "'drop' is not legal for seat 0; legal: spread KdKhKs, discard 2c"),
        ("hit 2c", "'hit 2c' is not legal for seat 0; legal: "),
        ("fold", "'fold' is not a move: moves are drop, stock, take, spread CARDS"),
        ("discard 9", "'9' is not a card"),
        (0, "action 0 (drop) is not legal for seat 0; legal: spread KdKhKs"),
        (9999, "action 9999 is not legal for seat 0"),
        (-1, "action -1 is not legal for seat 0"),
    ],
)
def test_an_illegal_move_is_named_and_changes_nothing(move: int | str, says: str) -> None:
    hand = played(1)
    before = hand.clone()
    with pytest.raises(TonkError) as refused:
        hand.apply(move)
    message = str(refused.value)
    assert message.startswith(says) and "legal" in message
    assert hand._tables.tobytes() == before._tables.tobytes() and hand.events == before.events


def test_no_move_after_the_end() -> None:
    with pytest.raises(TonkError, match=r"'stock': the hand has ended \(drop\), no move is legal"):
        played().apply("stock")
    with pytest.raises(TonkError, match="forfeit: the hand has ended"):
        played().forfeit(0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"rules": "whist"}, "no rules preset 'whist'"),
        ({"num_players": 9}, "players = 9: these rules are played by 2, 3, 4, 5, 6"),
        ({"dealer": 2}, "dealer = 2: seats are 0 to 1"),
        ({"seed": -1}, "seed = -1: 0 to"),
        ({"seed": 1, "deck": "2c"}, "seed, deck and explicit exclude each other"),
        ({"deck": "2c 2c"}, "deck: 2c is named 2 times, but the deck holds 1"),
        ({"deck": "Jk"}, "deck: Jk is not in the deck of these rules"),
        ({"deck": [52, 77]}, "77 is not a card type: 0 to 52"),
    ],
)
def test_what_cannot_be_dealt(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(TonkError) as refused:
        Hand(**arguments)  # type: ignore[arg-type]
    assert str(refused.value).startswith(says)


def test_decks_as_types_or_text() -> None:
    assert Hand(deck=[1, 47]).hands[0] == ["Ac", "2c", "4c", "6c", "8c"]
    assert Hand(deck=["2c", "9s"]).hands == Hand(deck="2c9s").hands == Hand(deck=[1, 47]).hands


def test_unknown_seats() -> None:
    for ask in (Hand(seed=1).view, Hand(seed=1).log, Hand(seed=1).forfeit):
        with pytest.raises(TonkError, match="seat 2: seats are 0 to 1"):
            ask(2)


def test_explicit_chance() -> None:
    hand = Hand(explicit=True)
    assert hand.is_chance and hand.to_move is None and hand.legal_actions() == []
    outcomes = hand.chance_outcomes()
    assert len(outcomes) == 52 and sum(share for _, share in outcomes) == pytest.approx(1)
    for card in DECK.split()[:-1]:
        hand.apply_chance(card)
    assert hand.to_move == 0
    with pytest.raises(TonkError, match="chance_outcomes: no card is due"):
        hand.chance_outcomes()
    with pytest.raises(TonkError, match="'4d': no card is due"):
        hand.apply_chance("4d")
    for move in MOVES[:4]:
        hand.apply(move)
    assert hand.is_chance and "1 stock ??" in hand.log(1)
    with pytest.raises(TonkError, match="'discard 9h': a card is due, no move is legal"):
        hand.apply("discard 9h")
    with pytest.raises(TonkError, match="to_record: a card is due"):
        hand.to_record()
    with pytest.raises(TonkError, match="Ks cannot come next; left are "):
        hand.apply_chance("Ks")
    assert dict(hand.chance_outcomes())["4d"] == pytest.approx(1 / 41)
    hand.apply_chance("4d")
    assert "1 stock 4d" in hand.log(1) and "1 stock ??" in hand.log(0)
    hand.undo()
    assert hand.is_chance and hand.events[-1].drawn is None
    hand.apply_chance("4d")
    for move in MOVES[4:]:
        hand.apply(move)
    same = played()
    assert hand.payments == same.payments and hand.log(0) == same.log(0)
    assert hand.to_record() == same.to_record()


def test_chance_outcomes_of_two_packs() -> None:
    hand = Hand({"deck": {"packs": 2}}, explicit=True)
    assert dict(hand.chance_outcomes())["Kc"] == pytest.approx(2 / 104)
    hand.apply_chance("Kc")
    assert dict(hand.chance_outcomes())["Kc"] == pytest.approx(1 / 103)


def test_repr_says_where_it_stands() -> None:
    assert repr(played(1)) == "<Hand of 2 players, 1 moves, seat 0 to move>"
    assert repr(played()) == "<Hand of 2 players, 6 moves, ended by drop>"
    assert repr(Hand(explicit=True)) == "<Hand of 2 players, 0 moves, a card is due>"


def test_rules_given_as_anything() -> None:
    assert Hand(lower("pagat"), seed=1).hands == Hand("pagat", seed=1).hands
    assert Hand({"base": "pagat"}, seed=1).rules is Hand("pagat", seed=1).rules


def test_same_deal_as_the_batch() -> None:
    """A seed means the same deck as a key does to the kernels for batches."""
    from tonk_env.batch import deal_hands

    tables = np.zeros(8, STATE_DTYPE)
    one = np.ones(8, np.int64)
    deal_hands(tables, lower("pagat").record, one * 0, one * 2, one, np.arange(8))
    for seed in range(8):
        assert Hand(seed=seed)._tables.tobytes() == tables[seed : seed + 1].tobytes()


def test_every_seed_deals_every_card_somewhere() -> None:
    first = Counter(card for seed in range(300) for card in Hand(seed=seed).hands[0])
    assert len(first) == 52
