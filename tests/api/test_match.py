"""Matches: who deals, what stands from hand to hand, when it is over; and episodes that are matches."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.api.steering import choose
from tonk_env import TonkError
from tonk_env._jit import mix
from tonk_env.cards import RANKS
from tonk_env.engine.state import GIVING, SLAPPING, TARGETING
from tonk_env.hand import Hand
from tonk_env.match import Match, cut_for_deal
from tonk_env.observe import layout
from tonk_env.rules import lower
from tonk_env.rules.lower import SLAP
from tonk_env.tonk_v0 import raw_env

pytestmark = pytest.mark.uncompiled

NO_BETS: dict[str, int | None] = {"suit": None, "naturals": None}
SLAPS = {"base": "pagat", "slap": True, "deal": {"hand_size": 8}, "instant_wins": {"tiers": []}}
"""Hands in which spreads abound, and with them discards that fit one."""


def of_match(**options: Any) -> dict[str, Any]:
    return {"base": "pagat", "match": options}


# ---- the course of a match


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_dealer_moves_left_after_every_hand(seats: int) -> None:
    match = Match(of_match(hands=12), seats, dealer=seats - 1)
    dealers = []
    for number in range(12):
        assert not match.is_over and match.number == number
        dealers.append(match.dealer)
        match.book([0.0] * seats, NO_BETS)  # void hands too
    assert dealers == [(seats - 1 + number) % seats for number in range(12)]
    assert match.is_over and match.winners == list(range(seats))


def test_hands_alone_end_it() -> None:
    match = Match(of_match(hands=3), 2)
    assert (match.hands, match.target) == (3, None)
    for _ in range(3):
        assert not match.is_over
        match.book([100.0, -100.0], NO_BETS)
    assert match.is_over and match.totals == [300.0, -300.0] and match.winners == [0]


def test_target_alone_ends_it() -> None:
    match = Match(of_match(target=5), 3)
    assert (match.hands, match.target) == (None, 5)
    for _ in range(200):
        match.book([0.0, 0.0, 0.0], NO_BETS)
        assert not match.is_over
    match.book([4.5, -2.25, -2.25], NO_BETS)
    assert not match.is_over
    match.book([0.5, 0.5, -1.0], NO_BETS)
    assert match.is_over and match.winners == [0]


def test_the_first_of_hands_and_target_ends_it() -> None:
    rules = of_match(hands=3, target=5)
    early, late = Match(rules, 2), Match(rules, 2)
    early.book([-5.0, 5.0], NO_BETS)
    assert early.is_over and early.number == 1 and early.winners == [1]
    for _ in range(3):
        assert not late.is_over
        late.book([1.0, -1.0], NO_BETS)
    assert late.is_over and late.winners == [0]


def test_losing_as_much_as_the_target_ends_nothing() -> None:
    match = Match(of_match(target=5), 3)
    match.book([-8.0, 4.0, 4.0], NO_BETS)
    assert not match.is_over


def test_a_match_is_one_hand_unless_rules_say_more() -> None:
    match = Match("pagat", 2)
    assert match.hands == 1 and match.multiplier == 1
    match.book([1.0, -1.0], NO_BETS)
    assert match.is_over


def test_hands_given_stand_in_place_of_the_rules() -> None:
    match = Match(of_match(hands=3, target=1), 2, hands=4)
    assert (match.hands, match.target) == (4, None)
    for _ in range(4):
        assert not match.is_over
        match.book([9.0, -9.0], NO_BETS)
    assert match.is_over


@pytest.mark.parametrize(
    ("options", "hands", "expected"),
    [
        ({"hands": 5, "last_hands_double": 2}, None, [1, 1, 1, 2, 2]),
        ({"hands": 2, "last_hands_double": 2}, None, [2, 2]),
        ({"hands": 5, "last_hands_double": 2}, 3, [1, 2, 2]),
        ({"hands": 5, "last_hands_double": 2}, 1, [2]),
        ({"hands": 3}, None, [1, 1, 1]),
        ({"target": 99}, None, [1, 1, 1]),
    ],
)
def test_last_hands_double(options: dict[str, Any], hands: int | None, expected: list[float]) -> None:
    match = Match(of_match(**options), 2, hands=hands)
    found = []
    for _ in expected:
        found.append(match.multiplier)
        match.book([0.0, 0.0], NO_BETS)
    assert found == expected


def test_equal_totals_share_the_win() -> None:
    match = Match(of_match(target=4), 4)
    match.book([4.0, -6.0, 6.0, -4.0], NO_BETS)
    match.book([2.0, 0.0, 0.0, -2.0], NO_BETS)
    assert match.is_over and match.totals == [6.0, -6.0, 6.0, -6.0]
    assert match.winners == [0, 2]


def test_the_highest_wins_where_several_reach_the_target() -> None:
    match = Match(of_match(target=4), 3)
    match.book([4.0, 5.0, -9.0], NO_BETS)
    assert match.winners == [1]


def test_push_ups_are_won_by_the_fewest_points() -> None:
    match = Match({"base": "push_ups", "match": {"target": 50}}, 3)
    match.book([-49.0, 0.0, -10.0], NO_BETS)
    assert not match.is_over and match.winners == [1]
    match.book([0.0, -25.0, -15.0], NO_BETS)
    assert not match.is_over
    match.book([-1.0, 0.0, 0.0], NO_BETS)
    assert match.is_over and match.totals == [-50.0, -25.0, -25.0]
    assert match.winners == [1, 2]


def test_bets_stand_until_they_are_won() -> None:
    match = Match({"base": "pagat", "side_bets": {"suit": 1, "naturals": 1}, "match": {"hands": 9}}, 2)
    stood = []
    for suit, naturals in ((None, None), (0, None), (None, 1), (None, None), (1, 0)):
        stood.append((match.deals_since_won["suit"], match.deals_since_won["naturals"]))
        match.book([0.0, 0.0], {"suit": suit, "naturals": naturals})
    assert stood == [(1, 1), (2, 2), (1, 3), (2, 1), (3, 2)]
    assert match.deals_since_won == {"suit": 1, "naturals": 1}


def test_a_pot_carried_over_two_void_hands() -> None:
    """Two hands with 50 against 50 are void and nobody holds the suit; the third pays for all three deals."""
    rules = {"base": "pagat", "side_bets": {"suit": 1, "naturals": 2}, "match": {"hands": 5}}
    match = Match(rules, 2, dealer=0)

    def deal(deck: str) -> Hand:
        return Hand(
            rules,
            2,
            dealer=match.dealer,
            deck=deck,
            called_suit="h",
            deals_since_won=match.deals_since_won,
            multiplier=match.multiplier,
        )

    for dealer in (0, 1):
        hand = deal("Tc Td Jc Jd Qc Qd Kc Kd Ts Js 2c")
        assert hand.dealer == match.dealer == dealer
        assert (hand.ending, hand.payments) == ("void", [0.0, 0.0])
        assert hand.bet_winners == NO_BETS
        assert hand.payments is not None
        match.book(hand.payments, hand.bet_winners)
    # Seat 1 is dealt three kings, seat 0 the only heart, 33 points in all.
    hand = deal("Kc 9h Kd 4d Ks 5d 2c 7s 3d 8c Qd 4c Js")
    assert hand.dealer == 0 and hand.deals_since_won == {"suit": 3, "naturals": 3}
    for move in ("stock", "spread KcKdKs", "discard 4c", "drop"):
        hand.apply(move)
    # Caught: 2 to seat 1; the suit: 3 x 1 to seat 0; the set: 3 x 2 to seat 1.
    assert (hand.ending, hand.payments) == ("caught", [-5.0, 5.0])
    assert hand.bet_winners == {"suit": 0, "naturals": 1}
    assert hand.payments is not None
    match.book(hand.payments, hand.bet_winners)
    assert match.totals == [-5.0, 5.0] and match.deals_since_won == {"suit": 1, "naturals": 1}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("pagat", 2, 2), "dealer = 2: seats are 0 to 1"),
        (("pagat", 2, -1), "dealer = -1: seats are 0 to 1"),
        (("pagat", 9, 0), "players = 9"),
        (("pagat", 2, 0, 0), "hands = 0"),
        (("whist", 2, 0), "whist"),
    ],
)
def test_bad_arguments_are_named(arguments: tuple[Any, ...], named: str) -> None:
    with pytest.raises(TonkError, match=named) as refused:
        Match(*arguments)
    assert "\n" not in str(refused.value)


# ---- the first dealer


KEYS = [mix(7, number) for number in range(300)]


@pytest.mark.parametrize("seats", [2, 4, 6])
def test_by_chance_every_seat_deals(seats: int) -> None:
    rules = lower(of_match(first_dealer="random")).rules
    found = [cut_for_deal(rules, seats, key) for key in KEYS]
    assert not any(cuts for _, cuts in found)
    dealers = Counter(dealer for dealer, _ in found)
    assert set(dealers) == set(range(seats))
    assert min(dealers.values()) > 0.5 * len(KEYS) / seats
    assert [cut_for_deal(rules, seats, key) for key in KEYS] == found


@pytest.mark.parametrize("seats", [2, 4, 6])
@pytest.mark.parametrize("how", ["high_card", "low_card"])
def test_the_cut_decides(how: str, seats: int) -> None:
    rules = lower(of_match(first_dealer=how)).rules
    dealers, cut_again = Counter[int](), 0
    for key in KEYS:
        dealer, cuts = cut_for_deal(rules, seats, key)
        left = list(range(seats))
        for turned in cuts:
            assert len(left) > 1
            places = [RANKS.index(rank) for rank in turned]  # the ace lowest
            assert len(places) == len(left)
            best = max(places) if how == "high_card" else min(places)
            left = [seat for seat, place in zip(left, places, strict=True) if place == best]
        assert left == [dealer]
        cut_again += len(cuts) > 1
        dealers[dealer] += 1
        assert cut_for_deal(rules, seats, key) == (dealer, cuts)
    assert set(dealers) == set(range(seats))
    assert min(dealers.values()) > 0.5 * len(KEYS) / seats
    assert 5 < cut_again < 0.5 * len(KEYS)


def test_an_ace_is_low() -> None:
    turned = {"high_card": Counter[str](), "low_card": Counter[str]()}
    for how, won in turned.items():
        rules = lower(of_match(first_dealer=how)).rules
        for key in KEYS:
            dealer, cuts = cut_for_deal(rules, 2, key)
            if len(cuts) == 1:
                won[cuts[0][dealer]] += 1
    assert "A" not in turned["high_card"] and turned["low_card"]["A"] > 0
    assert "K" not in turned["low_card"] and turned["high_card"]["K"] > 0


def test_a_dealer_by_name() -> None:
    rules = lower(of_match(first_dealer=3)).rules
    assert {cut_for_deal(rules, 4, key)[0] for key in KEYS[:20]} == {3}
    assert cut_for_deal(rules, 4, 1) == (3, [])
    with pytest.raises(TonkError, match=r"match\.first_dealer = 3: seats are 0 to 2") as refused:
        cut_for_deal(rules, 3, 1)
    assert "\n" not in str(refused.value)
    with pytest.raises(TonkError, match=r"match\.first_dealer = 3: seats are 0 to 2"):
        raw_env(of_match(first_dealer=3), num_players=3).reset(seed=0)


# ---- an episode is a match


class Mirror:
    """A match played with `Hand` and `Match`, to be compared with the environment's."""

    def __init__(self, env: raw_env, dealer: int, number: int) -> None:
        self.rules, self.stream, self.number = env.rules, env._stream, number
        self.match = Match(env.rules, env.num_players, dealer, env.hands)
        self.multipliers: list[float] = []
        self.dealers: list[int] = []
        self.deal()

    def deal(self) -> None:
        """Books hands as long as there is nobody to move, and deals the next."""
        while not self.match.is_over:
            match = self.match
            self.hand = Hand(
                self.rules,
                match.num_players,
                dealer=match.dealer,
                seed=mix(self.stream, self.number),
                deals_since_won=match.deals_since_won,
                multiplier=match.multiplier,
            )
            self.multipliers.append(match.multiplier)
            self.dealers.append(match.dealer)
            self.number += 1
            if not self.hand.ended:
                return
            self.book()

    def book(self) -> None:
        assert self.hand.payments is not None
        self.match.book(self.hand.payments, self.hand.bet_winners)

    def apply(self, action: int) -> None:
        self.hand.apply(action)
        if self.hand.ended:
            self.book()
            self.deal()


def play_mirrored(env: raw_env, mirror: Mirror, rng: random.Random, drop: float = 0.1) -> dict[str, float]:
    """Plays an episode in both; returns what each agent's rewards add up to."""
    sums = dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        sums[agent] += reward
        assert observation is not None and not truncated
        assert terminated == mirror.match.is_over
        if terminated:
            env.step(None)
            continue
        hand, mask = mirror.hand, info["action_mask"]
        assert agent == f"player_{hand.to_move}"
        assert np.flatnonzero(mask).tolist() == hand.legal_actions()
        table = env._tables[0]
        assert (int(table["dealer"]), float(table["multiplier"])) == (hand.dealer, hand.multiplier)
        assert table["bet_deals"].tolist() == list(hand.deals_since_won.values())
        action = choose(mask, env.rules, rng, drop)
        env.step(action)
        mirror.apply(action)
    return sums


MATCHES: list[tuple[dict[str, Any], int, int | None]] = [
    (of_match(hands=4, last_hands_double=2), 2, None),
    (of_match(hands=8, last_hands_double=8), 3, None),
    (of_match(target=4), 2, None),
    (of_match(target=3, hands=6), 4, None),
    (of_match(target=1), 3, 5),
    (of_match(hands=3, first_dealer=2), 3, None),
    ({"base": "push_ups", "match": {"target": 60}}, 3, None),
    ({"base": "pagat", "side_bets": {"suit": 1, "naturals": 2}, "match": {"hands": 6}}, 2, None),
    (
        {
            "base": "pagat",
            "deck": {"ranks": "A2345678"},
            "instant_wins": {"tiers": [{"at_most": 18}]},
            "side_bets": {"suit": 1, "naturals": 1},
            "match": {"hands": 6, "last_hands_double": 3},
        },
        3,
        None,
    ),
    ({**SLAPS, "match": {"hands": 3}}, 4, None),
    ({"base": "pagat", "deal": {"widow": True}, "match": {"hands": 4}}, 5, None),
]


@pytest.mark.parametrize(("rules", "seats", "hands"), MATCHES)
def test_episodes_are_matches(rules: dict[str, Any], seats: int, hands: int | None) -> None:
    env = raw_env(rules, num_players=seats, hands=hands)
    named = env.rules.rules.match.first_dealer
    rng, stood, doubled = random.Random(seats), Counter[tuple[int, ...]](), 0
    for seed in range(3):
        first, number = cut_for_deal(env.rules.rules, seats, seed)[0], 0
        for episode in range(3):
            env.reset(seed=None if episode else seed)
            # From one match to the next the dealer moves left, unless the rules name who deals first.
            dealer = first if isinstance(named, int) else (first + number) % seats
            mirror = Mirror(env, dealer, number)
            while mirror.match.is_over:  # nobody got to decide anything: another is dealt
                number = mirror.number
                mirror = Mirror(env, first if isinstance(named, int) else (first + number) % seats, number)
            sums = play_mirrored(env, mirror, rng)
            assert list(sums.values()) == pytest.approx(mirror.match.totals)
            assert env._match.totals == mirror.match.totals
            if hands is not None or "target" not in rules["match"]:
                assert mirror.match.number == (hands or rules["match"]["hands"])
            number = mirror.number
            stood[tuple(mirror.match.deals_since_won.values())] += 1
            doubled += mirror.multipliers.count(2.0)
    double = env.rules.rules.match.last_hands_double
    assert doubled == 9 * double


def test_doubled_hands_pay_double_but_for_side_bets() -> None:
    """The last hands pay what they would alone, twice over; what the bets move stays single."""
    bets = {"suit": 1, "naturals": 3}
    rules = {"base": "pagat", "side_bets": bets, "match": {"hands": 4, "last_hands_double": 2}}
    plain = lower({**rules, "side_bets": {}, "match": {}})
    env = raw_env(rules, num_players=3)
    rng = random.Random(0)
    compared = {1.0: 0, 2.0: 0}
    moved = 0
    for seed in range(10):
        env.reset(seed=seed)
        mirror = Mirror(env, cut_for_deal(env.rules.rules, 3, seed)[0], 0)
        while not mirror.match.is_over:
            hand, number = mirror.hand, mirror.number
            # The same hand for plain stakes: action ids are the same, since bets bring no moves.
            alone = Hand(plain, 3, dealer=hand.dealer, seed=hand.seed)
            before = mirror.match.totals
            while mirror.number == number and not mirror.match.is_over:
                action = choose(env.infos[env.agent_selection]["action_mask"], env.rules, rng, drop=0.05)
                alone.apply(hand.action_text(action))
                env.step(action)
                mirror.apply(action)
            if mirror.number > number + 1:
                continue  # another hand has been won on the deal since
            paid = np.subtract(mirror.match.totals, before)
            for bet, winner in hand.bet_winners.items():
                if winner is not None:
                    moved += 1
                    stake = bets[bet] * hand.deals_since_won[bet]
                    paid -= [2 * stake if seat == winner else -stake for seat in range(3)]
            assert alone.payments is not None
            assert paid.tolist() == pytest.approx([hand.multiplier * amount for amount in alone.payments])
            compared[hand.multiplier] += 1
        assert list(env._match.totals) == pytest.approx(mirror.match.totals)
    assert min(compared.values()) > 10 and moved > 30


def test_a_named_dealer_starts_each_match() -> None:
    env = raw_env(of_match(hands=2, first_dealer=1), num_players=3)
    rng = random.Random(0)
    for episode in range(4):
        env.reset(seed=None if episode else 9)
        number, dealers = env._match.number, [int(env._tables["dealer"][0])]
        assert dealers == [(1 + number) % 3]
        for _ in env.agent_iter():
            terminated, mask = env.last()[2], env.last()[4]["action_mask"]
            env.step(None if terminated else choose(mask, env.rules, rng))
            if not env._is_over and env._match.number > number:
                number = env._match.number
                assert int(env._tables["dealer"][0]) == (1 + number) % 3


# ---- slaps: agents are asked out of turn


def plane(env: raw_env, agent: str, name: str) -> list[float]:
    """The features of a plane that stands for no seat, as an agent observes it."""
    found = next(p for p in layout(env.rules, env.num_players).planes if p.name == name and p.seat is None)
    features: list[float] = env.observe(agent)["observation"][found.first : found.first + found.size].tolist()
    return features


@pytest.mark.parametrize("seats", [2, 4, 6])
def test_slaps_ask_out_of_turn(seats: int) -> None:
    """Who is asked is selected, with whose turn it is in view; then play goes on left of the discarder."""
    rules = {**SLAPS, "deck": {"ranks": "A234567", "packs": 2}, "match": {"hands": 100}}
    env = raw_env(rules, num_players=seats)
    rng = random.Random(seats)
    env.reset(seed=seats)
    asked, slapped, out_of_turn, resumed = 0, 0, 0, 0
    turn, number, was_asking = -1, -1, False
    while not env._is_over and asked < 60:
        table = env._tables[0]
        phase, seat = int(table["phase"]), int(table["seat"])
        agent = env.agent_selection
        assert agent == env.possible_agents[seat]
        is_asking = phase in (SLAPPING, GIVING) or (phase == TARGETING and int(table["slapper"]) >= 0)
        for viewer, other in enumerate(env.possible_agents if is_asking or was_asking else ()):
            seen = env.observe(other)
            assert bool(seen["action_mask"].any()) == (other == agent)
            assert np.array_equal(env.infos[other]["action_mask"], seen["action_mask"])
            turn_of = plane(env, other, "turn_of")
            assert turn_of.index(1.0) == (int(table["turn_seat"]) - viewer) % seats and sum(turn_of) == 1
        if is_asking:
            if was_asking:
                assert (turn, number) == (int(table["turn_seat"]), env._match.number)
            turn, number = int(table["turn_seat"]), env._match.number
            asked += phase == SLAPPING
            out_of_turn += seat != turn
            assert plane(env, agent, "question") == [0.0, float(phase == SLAPPING), float(phase == GIVING)]
        elif was_asking and env._match.number == number:
            assert seat == int(table["turn_seat"]) == (turn + 1) % seats
            resumed += 1
        else:
            assert seat == int(table["turn_seat"])
        was_asking = is_asking
        action = choose(env.infos[agent]["action_mask"], env.rules, rng, drop=0.0)
        slapped += env.rules.record[0]["action_kind"][action] == SLAP
        env.step(action)
    assert asked >= 60 and slapped > 5 and out_of_turn > 20 and resumed > 5
