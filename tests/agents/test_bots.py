"""The rules that rule bots play by, one hand at a time."""

from __future__ import annotations

import numpy as np
import pytest

from agents.bot import live_types, make_tools, num_outs, num_ways, points_of
from agents.registry import make
from tonk_env.cards import card_id, parse_cards
from tonk_env.hand import Hand
from tonk_env.limits import MAX_LEGAL
from tonk_env.rules import lower


def choice(spec: str, hand: Hand, rules: str = "pagat") -> str:
    """What an agent does at a hand, as text."""
    agent, lowered = make(spec), lower(rules)
    seat = hand.to_move
    assert seat is not None
    agent.start(lowered, 2, seed=0)
    legal = np.zeros((1, MAX_LEGAL), np.int16)
    found = hand.legal_actions()
    legal[0, : len(found)] = found
    views = np.array([hand.view(seat)])
    return hand.action_text(int(agent.act(views, legal, np.array([len(found)]), np.array([7]))[0]))


SPARE = "Kc Qd Jh 8s 6c Ks Qh Jc 8d 6h 4s"


def dealt(first: str, upcard: str, stock: str = "", moves: tuple[str, ...] = (), second: str = "") -> Hand:
    """A hand of two seats, the first to move; the second holds some cards not named, unless it is told."""
    ones, after = first.split(), [upcard, *stock.split()]
    twos = second.split() or [card for card in SPARE.split() if card not in (*ones, *after)][:5]
    deck = [card for pair in zip(ones, twos, strict=True) for card in pair] + after
    hand = Hand(deck=deck, num_players=2)
    for move in moves:
        hand.apply(move)
    return hand


def test_drops_at_its_count_and_not_above() -> None:
    hand = dealt("Ac 2d 4h 5c 9s", "Kd")  # 21
    assert choice("heuristic:drop=21", hand) == "drop"
    assert choice("heuristic:drop=20", hand) == "stock"


def test_reference_drops_by_seat_turn_and_cards() -> None:
    assert choice("reference", dealt("Ac 2d 4h Tc Ks", "Kd")) == "drop"  # 27, first seat, first turn
    assert choice("reference", dealt("Ac 2d 5h Tc Ks", "Kd")) == "stock"  # 28
    second = dealt("Kc Qd Jh Tc 8s", "Kd", "9h", ("stock", "discard Kc"), second="Ac 2d 3h 8d Ks")
    assert choice("reference", second) == "drop"  # 24, other seat
    second = dealt("Kc Qd Jh Tc 8s", "Kd", "9h", ("stock", "discard Kc"), second="Ac 2d 4h 8d Ks")
    assert choice("reference", second) == "stock"  # 25


@pytest.mark.parametrize("spec", ["heuristic:drop=0", "heuristic:drop=0,keep=5", "reference", "expert"])
def test_takes_a_discard_to_complete_a_spread(spec: str) -> None:
    assert choice(spec, dealt("9c 9d 4h 7c Ks", "9s")) == "take"
    assert choice(spec, dealt("9c Tc 4h 7c Ks", "Jc")) == "take"
    assert choice(spec, dealt("9c Jc 4h 7d Ks", "Td")) == "stock"


@pytest.mark.parametrize("spec", ["heuristic:drop=0", "reference"])
def test_takes_no_discard_for_less_than_it_can_lay_already(spec: str) -> None:
    assert choice(spec, dealt("Kd Ks Kh 2c 3c", "Ac")) == "stock"
    assert choice(spec, dealt("4d 4s 4h 9c Tc", "Jc")) == "take"


@pytest.mark.parametrize("spec", ["heuristic:drop=0", "reference", "expert"])
def test_takes_a_discard_to_hit_and_hits_with_it_first(spec: str) -> None:
    moves = ("stock", "spread 9c9d9h", "discard 9s")
    hand = dealt("9c 9d 9s 2s 7c", "3d", "9h Qh", moves, second="8s Jd 4h 6c Qs")
    assert choice(spec, hand) == "take"
    hand.apply("take")
    assert choice(spec, hand) == "hit 9s"


@pytest.mark.parametrize("spec", ["heuristic:drop=0", "reference", "expert"])
def test_lays_the_dearest_spread_and_the_taken_card_first(spec: str) -> None:
    hand = dealt("7c 8c 9c 9d Ks", "9s", "2h", ("take",))
    assert choice(spec, hand) == "spread 9c9d9s"
    hand = dealt("9c 9d 4h 5h 6h", "9s", "2h", ("stock",))
    assert choice(spec, hand) == "spread 4h5h6h"
    hand = dealt("9c 9d Jd Qd Kd", "9s", "2h", ("take",))
    assert choice(spec, hand) == "spread 9c9d9s"
    hand = dealt("9c 9d Jd Qd Kd", "2s", "9s", ("stock",))
    assert choice(spec, hand) == "spread JdQdKd"


def test_ladder_throws_the_highest_loose_card() -> None:
    # Kc Kd a pair, 7h 9h a partial run with a gap, 8s and 3d loose.
    hand = dealt("Kc Kd 7h 9h 3d", "Qs", "8s", ("stock",))
    assert choice("heuristic:drop=0", hand) == "discard 8s"
    # All in pairs or partial runs: the highest.
    hand = dealt("Kc Kd 7h 9h 3d", "Qs", "3s", ("stock",))
    assert choice("heuristic:drop=0", hand) == "discard Kc"


def test_keep_weighs_a_pair_against_the_value() -> None:
    hand = dealt("Kc Kd 7h 2h 3d", "Qs", "8s", ("stock",))
    assert choice("heuristic:drop=0,keep=1", hand) == "discard Kc"
    assert choice("heuristic:drop=0,keep=5", hand) == "discard 8s"


def test_a_dead_pair_is_not_kept() -> None:
    moves = ("stock", "discard Ks", "stock", "discard Kh", "stock")
    hand = dealt("Kc Kd 7h 2h 3d", "Qs", "Ks Ts 8s", moves, second="Ac 5d Kh 5c 6s")
    assert choice("heuristic:drop=0,keep=5", hand) == "discard Kc"
    assert choice("heuristic:drop=0", hand) == "discard 8s"


def test_expert_takes_a_low_discard_for_a_high_card() -> None:
    hand = dealt("Kc 4d 7h 9s Qd", "As")
    assert choice("expert", hand) == "take"
    assert choice("reference", hand) == "stock"
    assert choice("expert", dealt("Kc 4d 7h 9s Qd", "8c")) == "stock"


def test_points_outs_and_ways() -> None:
    tools = make_tools(lower("pagat"), 2)

    def types(text: str) -> int:
        return sum(1 << card for card in parse_cards(text))

    assert points_of(types("Ac Td Kh 7s"), tools) == 28
    hand = types("7h 8h Tc")
    assert num_outs(hand, 0, card_id("8h"), 0, tools) == 2  # 6h and 9h
    assert num_outs(hand, 0, card_id("8h"), types("6h"), tools) == 1
    assert num_outs(hand, 0, card_id("Tc"), 0, tools) == 0
    assert num_outs(types("Kc Kd Ah 2h"), 0, card_id("Kc"), types("Kh"), tools) == 1
    assert num_outs(types("Kc Kd Ah 2h"), 0, card_id("Ah"), 0, tools) == 1  # 3h: aces are low
    assert num_ways(card_id("8h"), types("8c 8d 8s"), tools) == 3
    assert num_ways(card_id("8h"), types("6h 7h 9h Th 8s"), tools) == 3
    assert num_ways(card_id("Kh"), types("Ah Qh"), tools) == 0


def test_two_packs_count_copies() -> None:
    tools = make_tools(lower("runout"), 5)
    assert tools["copies"] == 2
    pair = 1 << card_id("Kc")
    assert num_outs(pair, pair, card_id("Kc"), 0, tools) == 3  # Kd Kh Ks


def test_live_types_are_those_with_outs() -> None:
    """The quick way for standard packs agrees with counting card by card."""
    rng = np.random.default_rng(5)
    tools = make_tools(lower("pagat"), 2)
    assert tools["is_standard"][0] and not make_tools(lower("runout"), 5)["is_standard"][0]
    seen = 0
    for _ in range(3000):
        cards = rng.permutation(52)[: rng.integers(2, 40)]
        hand, gone = cards[: min(len(cards), rng.integers(1, 9))], cards[9:]
        low = sum(1 << int(card) for card in hand)
        lost = sum(1 << int(card) for card in gone)
        slow = sum(1 << int(card) for card in hand if num_outs(low, 0, int(card), lost, tools) > 0)
        assert live_types(low, lost, tools) == slow
        seen += slow > 0
    assert seen > 1000
