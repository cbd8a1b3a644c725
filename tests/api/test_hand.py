"""`tonk_env.Hand` as people, tests and search bots use it."""

from __future__ import annotations

import doctest
import random
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

import tonk_env
from tests.naive.strategy import random_chance, random_options, shuffled_deck, steered_move
from tonk_env.engine.state import STATE_DTYPE
from tonk_env.errors import TonkError
from tonk_env.hand import Hand
from tonk_env.notation import format_record, parse_record
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
        ({"called_suit": "x"}, "called_suit = 'x': one of c, d, h, s"),
        ({"called_suit": "cd"}, "called_suit = 'cd': one of c, d, h, s"),
        ({"called_suit": ""}, "called_suit = '': one of c, d, h, s"),
        ({"rules": {"deck": {"suits": 2}}, "called_suit": "h"}, "called_suit = 'h': one of c, d"),
        ({"slap_orders": [[0, 0]]}, "slap_orders: [0, 0] does not name each of 2 seats once"),
        ({"slap_orders": [[0, 1], [1]]}, "slap_orders: [1] does not name each of 2 seats once"),
        ({"slap_orders": [[0, 1, 2]]}, "slap_orders: [0, 1, 2] does not name each of 2 seats once"),
        ({"deals_since_won": {"suit": 0}}, "deals_since_won: suit = 0: suit or naturals, 1 or more"),
        ({"deals_since_won": {"clubs": 2}}, "deals_since_won: clubs = 2: suit or naturals, 1 or more"),
        (
            {"rules": {"slap": True}, "explicit": True},
            "explicit: only cards can be given at chance nodes, but slap is in force",
        ),
        (
            {"rules": {"side_bets": {"suit": 1}}, "explicit": True},
            "explicit: only cards can be given at chance nodes, but side_bets.suit is in force",
        ),
    ],
)
def test_what_cannot_be_dealt(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(TonkError) as refused:
        Hand(**arguments)  # type: ignore[arg-type]
    assert str(refused.value).startswith(says) and "\n" not in str(refused.value)


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


# ---- slaps

# Seat 0 lays three kings; seat 2 throws the fourth, which fits them.
SLAP_DECK = "Kc 9s Ks Kd 9h 4d Kh 7d 6h 2c 5c 8s 3c Ac Jd 2d Qs Ts Js 8d"
SLAP_MOVES = (
    *("stock", "spread KcKdKh", "discard Qs"),
    *("stock", "discard Ts"),
    *("stock", "discard Ks"),
)


def thrown(**arguments: Any) -> Hand:
    """A hand in which a discard of seat 2 is asked about."""
    hand = Hand({"slap": True}, 3, deck=SLAP_DECK, **arguments)
    for move in SLAP_MOVES:
        hand.apply(move)
    return hand


def test_slaps_are_asked_in_the_order_given() -> None:
    hand = thrown(slap_orders=[[1, 2, 0]])
    for seat in (1, 2):
        assert (hand.to_move, hand.turn_seat, hand.legal_moves()) == (seat, 2, ["slap", "pass"])
        assert hand.slap_orders == [[1, 2, 0]]
        hand.apply("pass")
    hand.apply("slap")
    assert hand.spreads[0] == ["KcKdKhKs"]
    assert (hand.to_move, hand.turn_seat, hand.legal_moves()) == (0, 2, ["discard 2c", "discard 3c"])
    assert hand.top == "Ts"  # the card beneath the one slapped
    hand.apply("discard 3c")
    # Play goes on left of the discarder.
    assert (hand.to_move, hand.turn_seat) == (0, 0)
    assert (hand.top, hand.hands[0]) == ("3c", ["2c"])
    assert hand.log(1)[-4:] == ["1 pass", "2 pass", "0 slap", "0 discard 3c"]


def test_the_discarder_slaps_without_a_discard() -> None:
    hand = thrown(slap_orders=[[2, 1, 0]])
    hand.apply("slap")
    assert (hand.to_move, hand.turn_seat, hand.top) == (0, 0, "Ts")
    assert len(hand.hands[2]) == 5


def test_all_pass() -> None:
    hand = thrown(slap_orders=[[0, 2, 1], [0, 1, 2]])
    for _ in range(3):
        hand.apply("pass")
    assert (hand.to_move, hand.turn_seat, hand.top) == (0, 0, "Ks")
    assert hand.slap_orders == [[0, 2, 1]]  # what is not used is not told


def test_a_hand_without_an_order_to_ask_by_stays_as_it_was() -> None:
    hand = Hand({"slap": True}, 3, deck=SLAP_DECK, slap_orders=[])
    for move in SLAP_MOVES[:-1]:
        hand.apply(move)
    before = hand.clone()
    for _ in range(2):
        with pytest.raises(TonkError, match="'discard Ks': slap_orders has no order 1") as refused:
            hand.apply("discard Ks")
        assert "\n" not in str(refused.value)
        assert hand._tables.tobytes() == before._tables.tobytes() and hand.events == before.events
        assert hand.slap_orders == []
    hand.apply("discard Jd")  # fits nothing: nobody is asked
    assert (hand.to_move, hand.turn_seat) == (0, 0)


def test_slap_orders_are_fixed_by_the_seed() -> None:
    rules = {"slap": True, "deck": {"ranks": "A234567", "packs": 2}, "deal": {"hand_size": 8}}
    seen = set()
    for seed in range(30):
        orders = []
        for _ in range(2):
            hand, rng = Hand(rules, 3, seed=seed), random.Random(seed)
            while not hand.ended and hand.num_moves < 60:
                hand.apply(steered_move(set(hand.legal_moves()), rng))
            orders.append(hand.slap_orders)
        assert orders[0] == orders[1]
        seen |= {tuple(order) for order in orders[0]}
    assert len(seen) == 6


def test_undoing_a_slap() -> None:
    hand = thrown(slap_orders=[[0, 1, 2]])
    before = hand._tables.tobytes()
    for _ in range(2):
        hand.apply("slap")
        hand.apply("discard 2c")
        end = hand._tables.tobytes()
        hand.undo()
        hand.undo()
        assert hand._tables.tobytes() == before and hand.slap_orders == [[0, 1, 2]]
        hand.undo()
        assert (hand.slap_orders, hand.turn_seat, hand.to_move) == ([], 2, 2)
        hand.apply("discard Ks")
        assert hand._tables.tobytes() == before
    hand.apply("slap")
    hand.apply("discard 2c")
    assert hand._tables.tobytes() == end


def test_nobody_left_to_ask() -> None:
    """Below the floor all hands may be empty: a discard that fits is then asked about by nobody."""
    rules = {
        "slap": True,
        "deck": {"ranks": "A2345"},
        "deal": {"hand_size": 8},
        "going_out": {"stock_floor": "players"},
    }
    deck = "Ac 4c Ad 4d Ah 4h 2c 4s 2d 5c 2h 5d 3c 5h 3d 5s 2s 3h As 3s"
    moves = (
        *("stock", "spread AcAdAh", "spread 2c2d2h", "spread 3c3d3h"),
        *("stock", "spread 4c4d4h4s", "spread 5c5d5h5s", "discard As"),
    )
    for orders in (None, [[0, 1]], [[1, 0]]):
        hand = Hand(rules, 2, deck=deck, slap_orders=orders)
        for move in moves:
            hand.apply(move)
        assert (hand.to_move, hand.turn_seat, hand.legal_moves()) == (0, 0, ["drop"])
        hand.apply("drop")
        assert (hand.ending, hand.payments) == ("caught", [-2.0, 2.0])
        assert parse_record(hand.to_record()).disagreement() is None


# ---- widows

WIDOW_DECK = "2c 9s 3c 9h 8h 7d Kd 5c Kh Ac Qd Qs Ks 4d"
"""DECK, with Qd and Qs as widows."""


def test_widows() -> None:
    hand = Hand({"deal": {"widow": True}}, deck=WIDOW_DECK)
    assert hand.widows == ["Qd", "Qs"] and hand.top == "Ks"
    assert hand.legal_moves() == [*(f"swap {card}" for card in hand.hands[0]), "keep"]
    hand.apply("swap 8h")
    assert hand.widows == [None, "Qs"]
    assert hand.hands[0] == ["2c", "3c", "Qd", "Kd", "Kh"]
    assert hand.counts[0] == 35
    for move in ("take", "spread KdKhKs", "discard Qd", "keep"):
        hand.apply(move)
    assert hand.widows == [None, "Qs"]  # kept where it lies
    hand.undo()
    assert (hand.widows, hand.to_move) == ([None, "Qs"], 1)
    assert Hand(deck=DECK).widows == [None, None]


def test_widows_are_hidden() -> None:
    """Nobody sees a widow before it is taken, nor what was put away for it but who did so."""

    def play(deck: str, away: str) -> Hand:
        hand = Hand({"deal": {"widow": True}}, deck=deck)
        hand.apply(f"swap {away}")
        return hand

    hand = play(WIDOW_DECK, "8h")
    assert hand.log(0)[-1] == "0 swap 8h Qd" and hand.log(1)[-1] == "0 swap ?? ??"
    unseen = Hand({"deal": {"widow": True}}, deck=WIDOW_DECK)
    for twin in (unseen, Hand({"deal": {"widow": True}}, deck=WIDOW_DECK.replace("Qd Qs", "Jd Js"))):
        assert not any(widow in line for line in twin.log(0) + twin.log(1) for widow in ("Qd", "Jd", "Qs"))
        for seat in range(2):
            assert twin.view(seat).tobytes() == unseen.view(seat).tobytes()
    # Another card put away, another widow: to seat 1 it is the same hand.
    other = play(WIDOW_DECK.replace("Qd", "Th"), "3c")
    assert other.log(1) == hand.log(1) and other.view(1).tobytes() == hand.view(1).tobytes()
    assert other.view(0).tobytes() != hand.view(0).tobytes()
    hand.apply("drop")
    assert "0 swap ?? ??" in hand.log(1) and "0 swap 8h Qd" in hand.log(0)


def test_widows_card_by_card() -> None:
    hand = Hand({"deal": {"widow": True}}, explicit=True)
    for card in WIDOW_DECK.split()[:-1]:
        assert hand.is_chance
        hand.apply_chance(card)
    assert hand.widows == ["Qd", "Qs"] and hand.to_move == 0
    hand.apply("swap 8h")
    assert hand.to_move == 0 and not hand.is_chance
    same = Hand({"deal": {"widow": True}}, deck=WIDOW_DECK)
    same.apply("swap 8h")
    assert hand.log(0) == same.log(0) and hand.log(1) == same.log(1)


# ---- side bets and the multiplier


def test_bets_and_multiplier_as_given() -> None:
    rules = {"side_bets": {"suit": 1, "naturals": 2}}
    hand = Hand(rules, deck=DECK, called_suit="s", deals_since_won={"naturals": 4}, multiplier=2)
    assert (hand.called_suit, hand.multiplier) == ("s", 2.0)
    assert hand.deals_since_won == {"suit": 1, "naturals": 4}
    assert hand.bet_winners == {"suit": 1, "naturals": None}
    assert hand.log(0)[3:] == ["called s; deals suit 1, naturals 4", "multiplier 2"]
    for move in MOVES:
        hand.apply(move)
    assert hand.bet_winners == {"suit": 1, "naturals": 0}
    # The drop pays 1 twice over; seat 1 holds 9s: 1; the kings of seat 0: 4 x 2.
    assert hand.payments == [2.0 - 1.0 + 8.0, -2.0 + 1.0 - 8.0]
    assert len(Hand(deck=DECK).log(0)) == 3


def test_the_suit_is_called_by_the_seed() -> None:
    rules = {"side_bets": {"suit": 1}}
    called = Counter(Hand(rules, seed=seed).called_suit for seed in range(200))
    assert set(called) == set("cdhs") and min(called.values()) > 25
    assert Hand(rules, seed=1).called_suit == Hand(rules, 5, seed=1).called_suit
    assert Hand(rules, seed=1, called_suit="d").called_suit == "d"
    few = {"side_bets": {"suit": 1}, "deck": {"suits": 2}}
    assert {Hand(few, seed=seed).called_suit for seed in range(50)} == {"c", "d"}


def test_a_bet_without_chance_may_be_explicit() -> None:
    assert Hand({"side_bets": {"naturals": 1}}, explicit=True).is_chance


# ---- everything at random


def facts(hand: Hand) -> dict[str, Any]:
    """All that counts of a hand: not what fixed the orders of asking, which a record does not say."""
    tables = hand._tables.view(np.uint8).copy().view(STATE_DTYPE)
    tables["lots"] = 0
    return {
        "tables": tables.tobytes(),
        "events": hand.events,
        "orders": hand.slap_orders,
        "payments": hand.payments,
    }


def any_move(hand: Hand, rng: random.Random) -> str:
    """A steered move, with now and then a discard that can be slapped."""
    legal = set(hand.legal_moves())
    fit = sorted({f"discard {move[4:]}" for move in legal if move.startswith("hit")} & legal)
    return rng.choice(fit) if fit and rng.random() < 0.4 else steered_move(legal, rng)


def random_hand(seed: int) -> tuple[Hand, random.Random]:
    """A hand under random rules, dealt from a deck and orders given, or by a seed."""
    rng = random.Random(seed)
    case = random_options(rng)
    options = {**case.options, "slap": rng.random() < 0.6}
    case = case._replace(options=options)
    chance = random_chance(case, rng)
    bets = lower(options).rules.side_bets
    if not (bets.suit or bets.naturals):
        del chance["deals_since_won"]
    if not bets.suit:
        del chance["called_suit"]
    if rng.random() < 0.5:
        return Hand(options, case.num_players, dealer=case.dealer, seed=seed), rng
    deck = shuffled_deck(case, rng)
    return Hand(options, case.num_players, dealer=case.dealer, deck="".join(deck), **chance), rng


def test_random_play_under_random_rules() -> None:
    """Clones and hands taken back have equal futures, and records read again are the hands written."""
    seen = Counter[str]()
    for seed in range(70):
        hand, rng = random_hand(seed)
        start = facts(hand)
        stop = rng.choice([10, 40, 80])
        while not hand.ended and hand.num_moves < stop:
            move = any_move(hand, rng)
            twin, before = hand.clone(), facts(hand)
            hand.apply(move)
            assert facts(twin) == before
            twin.apply(move)
            assert facts(twin) == facts(hand)
            seen[move.split()[0]] += 1
            if rng.random() < 0.2:
                after, events = facts(hand), hand.events
                back = rng.randint(1, min(6, hand.num_moves))
                for _ in range(back):
                    hand.undo()
                assert hand.events == events[:-back]
                for event in events[-back:]:
                    assert hand.to_move == event.seat
                    hand.apply(event.move)
                assert facts(hand) == after
            if rng.random() < 0.05:
                again = parse_record(hand.to_record())
                assert facts(again.hand) == facts(hand)
        if not hand.ended and rng.random() < 0.3:
            hand.forfeit(rng.randrange(hand.num_players))
        text = hand.to_record()
        record = parse_record(text)
        assert record.disagreement() is None and (record.found is None) != hand.ended
        assert facts(record.hand) == facts(hand)
        assert format_record(record.hand) == text
        for seat in range(hand.num_players):
            assert record.hand.log(seat) == hand.log(seat)
            assert record.hand.view(seat).tobytes() == hand.view(seat).tobytes()
        end, events = facts(hand), hand.events
        for _ in events:
            hand.undo()
        assert facts(hand) == start and hand.slap_orders == []
        for event in events:
            if event.move == "forfeit":
                hand.forfeit(event.seat)
            else:
                hand.apply(event.move)
        assert facts(hand) == end
    assert set(seen) >= {"slap", "pass", "swap", "keep", "target", "claim", "hit"} and seen["slap"] > 5


def test_logs_name_no_card_of_others() -> None:
    """Of what others drew, put away or took for it, a log says nothing."""
    swaps = 0
    for seed in range(90, 120):
        hand, rng = random_hand(seed)
        while not hand.ended and hand.num_moves < 40:
            hand.apply(any_move(hand, rng))
        for seat in range(hand.num_players):
            lines = [line for line in hand.log(seat) if line[:1].isdigit()]
            assert len(lines) == hand.num_moves
            for line, event in zip(lines, hand.events, strict=True):
                kind = event.move.split()[0]
                if event.seat != seat and kind in ("stock", "swap"):
                    assert line == f"{event.seat} {'stock ??' if kind == 'stock' else 'swap ?? ??'}"
                    swaps += kind == "swap"
                elif kind in ("stock", "swap"):
                    assert line.startswith(f"{seat} {event.move} ") and "??" not in line
                else:
                    assert line == f"{event.seat} {event.move}"
    assert swaps > 0


SMALL = {
    "base": "pagat",
    "deck": {"ranks": "A234", "suits": 2, "jokers": 1},
    "deal": {"hand_size": 2, "widow": True},
    "slap": True,
    "side_bets": {"suit": 1},
    "instant_wins": {"tiers": []},
    "turn_limit": 2,
}


@pytest.mark.parametrize("options", ["toy_2s4r", "toy_hits", SMALL], ids=["toy_2s4r", "toy_hits", "small"])
def test_logs_are_told_apart_by_their_fingerprints(options: str | dict[str, object]) -> None:
    """Two moments share a fingerprint exactly where a seat's log agrees, whoever deals."""
    rng = random.Random(3)
    texts: dict[int, set[str]] = {}
    fingerprints: dict[str, set[int]] = {}
    for _ in range(1500):
        hand = Hand(options, 2, dealer=rng.randrange(2), seed=rng.randrange(2**40))
        while not hand.ended:
            for seat in range(2):
                # Seats by the order in which they are dealt to, so that the dealer makes no difference.
                first = {str((hand.dealer + 1 + place) % 2): str(place) for place in range(2)}
                lines = [first.get(line[0], line[0]) + line[1:] for line in hand.log(seat)[1:]]
                text = "\n".join([first[str(seat)], *lines])
                text = re.sub(r"target (\d)", lambda found, first=first: f"target {first[found[1]]}", text)
                fingerprint = int(hand.view(seat)["log"])
                texts.setdefault(fingerprint, set()).add(text)
                fingerprints.setdefault(text, set()).add(fingerprint)
            hand.apply(any_move(hand, rng))
    assert len(texts) > 1000
    assert all(len(found) == 1 for found in texts.values())
    assert all(len(found) == 1 for found in fingerprints.values())
