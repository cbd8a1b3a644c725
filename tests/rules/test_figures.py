"""Exact counts of dealt hands, and the odds of a drop on the deal (docs/RULES.md, "Figures")."""

from __future__ import annotations

import itertools
import math
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tonk_env._jit import jit
from tonk_env.cards import parse_cards
from tonk_env.engine.ending import tier_of
from tonk_env.engine.melds import holds_run_or_set
from tonk_env.engine.state import STATE_DTYPE
from tonk_env.errors import TonkError
from tonk_env.odds import Odds, drop_odds, exact_odds, subsets_by_count
from tonk_env.rules import LoweredRules, load_rules, lower
from tonk_env.rules.lower import MAX_COUNT

AT_MOST = (9, 11, 13, 14, 15)

# ---- dealt hands


@jit
def walk_hands(tables: Any, rules: Any, counted: Any, tiers: Any, spreads: Any, winners: Any) -> int:
    """Walks every hand of five cards of a deck of one pack.

    Args:
        tables: `[1]` STATE_DTYPE; its first hand is overwritten.
        rules: `[1]` RULES_DTYPE.
        counted: `[MAX_COUNT]` int64, hands by count.
        tiers: `[MAX_TIERS]` int64, hands by the tier that the engine finds.
        spreads: `[1]` int64, hands in which the engine finds a spread.
        winners: `[N]` int64, the hands of some tier, as masks.

    Returns:
        How many hands are of some tier.
    """
    types, values, size = rules[0]["types"], rules[0]["values"], int(rules[0]["num_types"])
    found = 0
    for a in range(size):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    for e in range(d):
                        count, cards = 0, 0
                        for at in (a, b, c, d, e):
                            count += values[types[at]]
                            cards |= 1 << types[at]
                        tables[0]["hands"][0, 0] = cards
                        tables[0]["counts"][0] = count
                        counted[count] += 1
                        if holds_run_or_set(cards, 0, rules, 0):
                            spreads[0] += 1
                        tier = tier_of(tables, 0, rules, 0, False)
                        if tier >= 0:
                            tiers[tier] += 1
                            winners[found] = cards
                            found += 1
    return found


@jit
def count_disjoint(hands: Any) -> int:
    """Counts ordered pairs of hands without a card in common."""
    pairs = 0
    for i in range(hands.shape[0]):
        for j in range(hands.shape[0]):
            pairs += hands[i] & hands[j] == 0
    return pairs


def walk(options: dict[str, Any]) -> tuple[npt.NDArray[np.int64], list[int], int, npt.NDArray[np.int64]]:
    """Returns hands by count, hands by tier, hands that hold a spread, and the hands of some tier."""
    rules = lower(options)
    counted, tiers, spreads = np.zeros(MAX_COUNT, np.int64), np.zeros(8, np.int64), np.zeros(1, np.int64)
    winners = np.zeros(60000, np.int64)
    found = walk_hands(np.zeros(1, STATE_DTYPE), rules.record, counted, tiers, spreads, winners)
    return counted, tiers.tolist(), int(spreads[0]), winners[:found]


def mean_and_sd(ways: dict[int, int]) -> tuple[float, float]:
    total = sum(ways.values())
    mean = sum(points * number for points, number in ways.items()) / total
    return mean, math.sqrt(sum((points - mean) ** 2 * number for points, number in ways.items()) / total)


def deck_values(rules: LoweredRules) -> list[int]:
    row = rules.record[0]
    return [int(row["values"][card]) for card in row["types"][: row["num_types"]]]


def test_five_of_52() -> None:
    tiers = [{"at_most": count, "pays": 1} for count in AT_MOST] + [{"counts": [50]}, {"counts": [49]}]
    counted, by_tier, spreads, _ = walk({"base": "pagat", "instant_wins": {"tiers": tiers}})
    assert counted.sum() == math.comb(52, 5) == 2_598_960
    # Each tier counts the hands that meet none before it.
    assert list(itertools.accumulate(by_tier[:5])) == [364, 1_768, 5_812, 9_596, 15_320]
    assert by_tier[5:7] == [4_368, 7_280]
    assert [counted[: count + 1].sum() for count in AT_MOST] == [364, 1_768, 5_812, 9_596, 15_320]
    assert (counted[50], counted[49]) == (4_368, 7_280) and counted[51:].sum() == 0
    assert spreads == 108_708
    mean, sd = mean_and_sd(dict(enumerate(counted.tolist())))
    assert (round(mean, 3), round(sd, 3)) == (32.692, 6.768)
    assert sum(deck_values(lower("pagat"))) == 340


def test_two_winning_hands() -> None:
    winners = walk({"base": "pagat"})[3]
    assert len(winners) == 4_368 + 7_280
    assert count_disjoint(winners) == 24_360_336


def test_five_of_40() -> None:
    counted, by_tier, spreads, _ = walk({"base": "baton_rouge"})
    assert counted.sum() == math.comb(40, 5) == 658_008
    assert (counted[50], counted[49]) == (792, 0)
    assert by_tier[0] == counted[50] + counted[47]
    assert spreads == 45_576
    assert round(mean_and_sd(dict(enumerate(counted.tolist())))[0], 3) == 29.000
    with pytest.raises(TonkError, match="no dealt hand can meet it"):
        load_rules({"base": "baton_rouge", "instant_wins": {"tiers": [{"counts": [49], "pays": 2}]}})


def test_seven_of_52() -> None:
    mean, sd = mean_and_sd(subsets_by_count(deck_values(lower("seattle")), 7))
    assert (round(mean, 3), round(sd, 3)) == (45.769, 7.836)


def test_subsets_are_those_of_the_walk() -> None:
    counted = walk({"base": "pagat"})[0]
    ways = subsets_by_count(deck_values(lower("pagat")), 5)
    assert ways == {points: int(number) for points, number in enumerate(counted) if number}


# ---- odds of a drop on the deal, exactly

CLASSES = 10  # 1 … 10 points
CARDS = (4,) * 9 + (16,)
COMBINATIONS = np.array([[math.comb(n, k) for k in range(17)] for n in range(17)], np.int64)


@jit
def fill_caught_by_one(cards: Any, choose: Any, top: int, ways: Any, caught: Any) -> None:
    """Counts, for each count below `top`, the hands of five of those cards that add up to it or to less.

    Args:
        cards: `[N, CLASSES]` int64, how many cards of 1 … 10 points a deck holds.
        choose: `[17, 17]` int64, binomial coefficients.
        top: one more than the largest count that matters.
        ways: `[6, top]` int64, scratch.
        caught: `[N, top]` int64, overwritten.
    """
    for row in range(cards.shape[0]):
        ways[:, :] = 0
        ways[0, 0] = 1
        for value in range(CLASSES):
            for held in range(5, 0, -1):
                for points in range(top - 1, -1, -1):
                    for taken in range(1, min(held, int(cards[row, value])) + 1):
                        before = points - taken * (value + 1)
                        if before >= 0:
                            ways[held, points] += (
                                ways[held - taken, before] * choose[cards[row, value], taken]
                            )
        total = 0
        for points in range(top):
            total += ways[5, points]
            caught[row, points] = total


def hands_by_class() -> npt.NDArray[np.int8]:
    """Every way to take five cards, as how many of 1 … 10 points: `[H, CLASSES]`."""
    hands = []
    for values in itertools.combinations_with_replacement(range(CLASSES), 5):
        held = Counter(values)
        if all(number <= CARDS[value] for value, number in held.items()):
            hands.append([held[value] for value in range(CLASSES)])
    return np.array(hands, np.int8)


def ways_to_take(hands: npt.NDArray[np.int8], left: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """How many hands of cards each row of `hands` stands for, taken from what is left."""
    ways = np.ones(np.broadcast_shapes(hands.shape, left.shape)[:-1], np.int64)
    for value in range(CLASSES):
        ways *= COMBINATIONS[left[..., value], hands[..., value]]
    return ways


@pytest.fixture(scope="module")
def exact() -> dict[tuple[int, int], float]:
    """The share of deals in which a count is caught, by count and number of opponents (one and two)."""
    top = 33
    deck, hands = np.array(CARDS, np.int8), hands_by_class()
    points = hands @ np.arange(1, CLASSES + 1)
    weights = ways_to_take(hands, deck)
    scratch = np.zeros((6, top), np.int64)
    alone = np.zeros((len(hands), top), np.int64)
    fill_caught_by_one((deck - hands).astype(np.int64), COMBINATIONS, top, scratch, alone)
    # Pairs of an own hand of less than `top` points and an opponent's of more than the own one, and what is
    # left for the other opponent; that depends only on the ten cards together.
    firsts, seconds = np.nonzero((points[:, None] < top) & (points[:, None] < points))
    possible = (hands[firsts] + hands[seconds] <= deck).all(axis=1)
    firsts, seconds = firsts[possible], seconds[possible]
    together = hands[firsts] + hands[seconds]
    codes = hands @ 17 ** np.arange(CLASSES)
    _, index, inverse = np.unique(codes[firsts] + codes[seconds], return_index=True, return_inverse=True)
    other = np.zeros((len(index), top), np.int64)
    fill_caught_by_one((deck - together[index]).astype(np.int64), COMBINATIONS, top, scratch, other)
    pairs = ways_to_take(hands[seconds], deck - hands[firsts])

    found: dict[tuple[int, int], float] = {}
    for count in range(5, top):
        mine = points == count
        dealt = int(weights[mine].sum())
        if not dealt:
            continue
        first = int((weights[mine] * alone[mine, count]).sum())
        found[count, 1] = first / (dealt * math.comb(47, 5))
        # Caught by neither: the first opponent is above, and so is the second, given the first.
        above = points[firsts] == count
        ways = weights[firsts[above]].astype(float) * pairs[above]
        free = ways * (math.comb(42, 5) - other[inverse[above], count])
        found[count, 2] = 1 - free.sum() / (float(dealt) * math.comb(47, 5) * math.comb(42, 5))
    return found


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).with_name("odds.toml")).read_text())


@pytest.fixture(scope="module")
def simulated() -> dict[tuple[int, int], Odds]:
    return {(each.count, each.opponents): each for each in drop_odds("pagat", (1, 2, 3), 8_000_000, seed=1)}


def test_exact_odds_of_single_counts(exact: dict[tuple[int, int], float]) -> None:
    assert round(100 * exact[30, 2], 4) == 59.8105
    assert round(100 * exact[12, 1], 4) == 0.0186


@pytest.mark.parametrize("opponents", [1, 2])
def test_published_odds_against_exact_ones(
    opponents: int, exact: dict[tuple[int, int], float], published: dict[str, Any]
) -> None:
    for count, shares in published["caught"].items():
        assert abs(100 * exact[int(count), opponents] - shares[opponents - 1]) <= published["tolerance"]


def test_published_odds_against_simulated_ones(
    simulated: dict[tuple[int, int], Odds], published: dict[str, Any]
) -> None:
    figures = 0
    for count, shares in published["caught"].items():
        for opponents, share in enumerate(shares, start=1):
            figures += 1
            assert abs(100 * simulated[int(count), opponents].caught - share) <= published["tolerance"]
    assert figures == 63


def test_simulation_is_as_exact_as_it_says(
    simulated: dict[tuple[int, int], Odds], exact: dict[tuple[int, int], float]
) -> None:
    """Errors in units of the stated standard error are about normal: none beyond 4.5, squares about 1."""
    errors = [
        (found.caught - exact[key]) / found.stderr
        for key, found in simulated.items()
        if key in exact and found.hands * exact[key] > 50
    ]
    assert len(errors) > 30 and max(map(abs, errors)) < 4.5
    assert 0.4 < sum(error * error for error in errors) / len(errors) < 2


def test_more_opponents_catch_more(simulated: dict[tuple[int, int], Odds]) -> None:
    for count in range(15, 40):
        one, two, three = (simulated[count, opponents].caught for opponents in (1, 2, 3))
        assert one < two < three


def test_odds_of_one_hand() -> None:
    """By the walk over every hand the opponent can hold."""
    hand = parse_cards("2c 3d 4h 5s 8c")
    values = lower("pagat").record[0]["values"]
    left = [card for card in range(52) if card not in hand]
    lower_or_equal = sum(
        sum(int(values[card]) for card in other) <= 22 for other in itertools.combinations(left[::2], 5)
    )
    half = subsets_by_count([int(values[card]) for card in left[::2]], 5)
    assert sum(number for points, number in half.items() if points <= 22) == lower_or_equal
    found = exact_odds("pagat", hand)
    assert (found.count, found.opponents, found.stderr, found.hands) == (22, 1, 0.0, math.comb(47, 5))
    whole = subsets_by_count([int(values[card]) for card in left], 5)
    assert found.caught == sum(number for points, number in whole.items() if points <= 22) / math.comb(47, 5)
    # A low card in view is one less for the opponent; and without ties there is less to fear.
    assert exact_odds("pagat", hand, parse_cards("Ac")[0]).caught < found.caught
    assert exact_odds("black_company", hand).caught < found.caught
    assert exact_odds("black_company", parse_cards("Ac Ad Ah As 2c")).caught == 0


@pytest.mark.parametrize("count", [12, 15, 18])
def test_average_of_hands_is_the_odds_of_their_count(count: int, exact: dict[tuple[int, int], float]) -> None:
    suits = [[rank + 13 * suit for suit in range(4)] for rank in range(9)]
    suits.append([rank + 13 * suit for suit in range(4) for rank in range(9, 13)])
    hands = [hand for hand in hands_by_class() if hand @ np.arange(1, CLASSES + 1) == count]
    weights = [int(ways_to_take(hand, np.array(CARDS, np.int8))) for hand in hands]
    shares = [
        exact_odds("pagat", [card for value in range(CLASSES) for card in suits[value][: hand[value]]]).caught
        for hand in hands
    ]
    assert np.average(shares, weights=weights) == pytest.approx(exact[count, 1], rel=1e-12)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: drop_odds("pagat", (0,)), "opponents = 0: numbers from 1 to 5"),
        (lambda: drop_odds("pagat", ()), "opponents = : numbers from 1 to 5"),
        (lambda: drop_odds("toy_hits", (2,)), "players = 3: these rules are played by 2"),
        (lambda: drop_odds("pagat", (1,), 0), "deals = 0: a number from 1 to 1000000000"),
        (lambda: drop_odds("pagat", (1,), 1, -1), "seed = -1: 0 to 2"),
        (lambda: exact_odds("pagat", [0, 1]), "hand: 2 cards, but these rules deal 5"),
        (
            lambda: exact_odds("pagat", [0, 1, 2, 3, 3]),
            "hand: the deck of these rules has no 4c, or none beside",
        ),
        (
            lambda: exact_odds("pagat", [0, 1, 2, 3, 4], 4),
            "upcard: the deck of these rules has no 5c, or none",
        ),
    ],
)
def test_odds_that_cannot_be(call: Any, says: str) -> None:
    with pytest.raises(TonkError) as refused:
        call()
    assert str(refused.value).startswith(says)


def test_odds_by_rules() -> None:
    """Hand sizes and packs that differ by players are dealt apart; ties not caught count for less."""
    found = drop_odds("seven_card", (1, 3), 20_000)
    assert max(each.count for each in found if each.opponents == 1) > 50  # seven cards
    assert max(each.count for each in found if each.opponents == 3) <= 50  # five
    strict = {each.count: each.caught for each in drop_odds("black_company", (1,), 200_000, seed=2)}
    loose = {each.count: each.caught for each in drop_odds("pagat", (1,), 200_000, seed=2)}
    assert strict.keys() == loose.keys() and strict[30] < loose[30]
    assert drop_odds("pagat", (1,), 1000, seed=3) == drop_odds("pagat", (1,), 1000, seed=3)
