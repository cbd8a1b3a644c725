from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from arena.deals import hands_of_block, seatings
from arena.statistics import UNIT, Moments, t_quantile
from arena.tally import Tally
from tonk_env.engine.state import ENDINGS, STATE_DTYPE
from tonk_env.limits import MAX_SEATS

PUBLISHED_T = {
    1: 12.7062047362,
    2: 4.3026527297,
    3: 3.1824463053,
    4: 2.7764451052,
    9: 2.2621571628,
    10: 2.2281388520,
    30: 2.0422724563,
    100: 1.9839715185,
    120: 1.9799304051,
    1000: 1.9623390808,
    10**7: 1.9599642,
}


@pytest.mark.parametrize(("degrees", "expected"), PUBLISHED_T.items())
def test_quantiles_are_those_of_published_tables(degrees: int, expected: float) -> None:
    assert t_quantile(degrees) == pytest.approx(expected, abs=2e-7)


def test_quantiles_fall_where_one_formula_takes_over_from_the_other() -> None:
    falls = -np.diff([t_quantile(degrees) for degrees in range(90, 112)])
    assert (np.diff(falls) < 0).all()
    assert (falls > 0).all()


def test_moments_are_exact_whatever_the_cut() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(-(2**47), 2**47, (1000, 2))
    values[:, 1] //= 2**40
    whole, cut = Moments([1, 1]), Moments([1, 1])
    whole.add(values)
    for part in np.split(values, [1, 17, 500]):
        cut.add(part)
    for column in range(2):
        numbers = values[:, column].tolist()
        assert whole.total(column, [1]) == sum(numbers)
        estimate = whole.estimate(column, [1], UNIT, 1000)
        assert estimate == cut.estimate(column, [1], UNIT, 1000)
        assert estimate.mean == pytest.approx(np.mean(numbers) / UNIT, rel=1e-12)
        error = np.std(numbers, ddof=1) / np.sqrt(1000) / UNIT
        assert estimate.half == pytest.approx(t_quantile(999) * error, rel=1e-12)


def test_columns_of_a_family_are_weighed_afterwards() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(-(2**45), 2**45, (500, 5))
    moments, merged = Moments([2, 3]), Moments([2, 3])
    moments.add(values)
    for part in np.split(values, [123]):
        some = Moments([2, 3])
        some.add(part)
        exported = json.loads(json.dumps(some.export()))
        assert merged.fits(exported)
        merged.merge(exported, [True] * 5)
    assert merged.export() == moments.export()
    weights = [3, 0, -2]
    rows = values[:, 2:] @ np.array(weights)
    estimate = merged.estimate(1, weights, UNIT, 500)
    assert estimate.mean == pytest.approx(rows.mean() / UNIT, rel=1e-12)
    error = rows.std(ddof=1) / np.sqrt(500) / UNIT
    assert estimate.half == pytest.approx(t_quantile(499) * error, rel=1e-9)
    left_out = Moments([2, 3])
    left_out.merge(merged.export(), [True, True, True, False, True])
    assert left_out.estimate(1, weights, UNIT, 500) == merged.estimate(1, weights, UNIT, 500)
    assert left_out.total(1, [0, 1, 0]) == 0


def test_damaged_sums_do_not_fit() -> None:
    moments = Moments([2])
    totals, products = moments.export()
    for damaged in (None, {}, [totals], [totals, products[:-1]], [[1.0, 2], products], [[True, 2], products]):
        assert not moments.fits(damaged)
    assert moments.fits([totals, products])


def test_without_rows_there_is_no_estimate() -> None:
    moments = Moments([1])
    assert math.isnan(moments.estimate(0, [1], UNIT, 0).mean)
    moments.add(np.array([[UNIT]]))
    assert moments.estimate(0, [1], UNIT, 1).mean == 1
    assert math.isnan(moments.estimate(0, [1], UNIT, 1).half)


def random_hands(
    rng: np.random.Generator, hands: int, players: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    payments = np.zeros((hands, MAX_SEATS))
    payments[:, :players] = rng.integers(-8, 9, (hands, players)) / 4
    tables = np.zeros(hands, STATE_DTYPE)
    tables["ending"] = rng.integers(1, len(ENDINGS), hands)
    tables["ending_seat"] = rng.integers(-1, players, hands)
    tables["moves"] = rng.integers(0, 90, hands)
    tables["dealer"] = players - 1  # so that seats are counted from the first
    return payments, tables


@pytest.mark.parametrize(
    ("groups", "num_agents"),
    [
        ([(0, 1), (0, 2), (1, 2)], 3),
        ([(0, 1, 2), (0, 1, 3), (1, 2, 3)], 4),
        ([(0, 0, 1), (0, 1, 1)], 2),
        ([(0, 0, 0, 0, 1, 1), (0, 0, 1, 1, 1, 2), (0, 1, 2, 2, 2, 2)], 3),
    ],
)
def test_a_tally_against_brute_force(groups: list[tuple[int, ...]], num_agents: int) -> None:
    rng = np.random.default_rng(1)
    players, each = len(groups[0]), hands_of_block(groups[0])
    tally = Tally(groups, num_agents, each)
    # Lists of (block, value) that every estimate is a mean of.
    per_hand: dict[Any, list[tuple[int, float]]] = {}
    endings: dict[Any, list[float]] = {}
    moves: dict[int, list[int]] = {agent: [] for agent in range(num_agents)}
    for first, blocks in ((0, 5), (5, 8)):
        tally.open_batch(blocks)
        for group in groups:
            seating = np.ascontiguousarray(seatings(group, 0, first, blocks)).reshape(-1, players)
            payments, tables = random_hands(rng, len(seating), players)
            tally.add(group, seating, payments, tables)
            for hand, seats in enumerate(seating.tolist()):
                block, paid = first + hand // each, payments[hand]
                by = int(tables["ending_seat"][hand])
                for seat, agent in enumerate(seats):
                    who = "nobody" if by < 0 else "own" if by == seat else "others"
                    per_hand.setdefault(agent, []).append((block, paid[seat]))
                    per_hand.setdefault((agent, "seat", seat), []).append((block, paid[seat]))
                    key = (agent, ENDINGS[tables["ending"][hand]], who)
                    endings.setdefault(key, []).append(paid[seat])
                    moves[agent].append(int(tables["moves"][hand]))
                for a, b in itertools.combinations(sorted(set(group)), 2):
                    means = [
                        np.mean([paid[s] for s in range(players) if seats[s] == agent]) for agent in (a, b)
                    ]
                    per_hand.setdefault((a, b), []).append((block, (means[0] - means[1]) / 2))
        tally.close_batch()

    def check(found: Any, values: list[tuple[int, float]]) -> None:
        by_block = [np.mean([value for block, value in values if block == number]) for number in range(13)]
        assert found.mean == pytest.approx(np.mean(by_block), abs=1e-9)
        error = np.std(by_block, ddof=1) / np.sqrt(13)
        assert found.half == pytest.approx(t_quantile(12) * error, rel=1e-6)

    assert tally.blocks == 13
    for agent in range(num_agents):
        check(tally.per_hand(agent), per_hand[agent])
        assert tally.hands(agent) == len(per_hand[agent])
        assert tally.stakes(agent) == sum(value for _, value in per_hand[agent])
        assert tally.decisions_per_hand(agent) == pytest.approx(np.mean(moves[agent]))
        for seat in range(players):
            check(tally.per_hand_in_seat(agent, seat), per_hand[agent, "seat", seat])
        found = {
            (agent, ending, who): cell
            for ending, row in tally.endings(agent).items()
            for who, cell in row.items()
        }
        expected = {key: values for key, values in endings.items() if key[0] == agent}
        assert found.keys() == expected.keys()
        for key, (hands, stakes) in found.items():
            assert hands == len(expected[key])
            assert stakes == pytest.approx(np.mean(expected[key]))
    assert tally.pairs == sorted(key for key in per_hand if isinstance(key, tuple) and len(key) == 2)
    for number, pair in enumerate(tally.pairs):
        check(tally.pair_per_hand(number), per_hand[pair])
        assert tally.pair_hands(number) == len(per_hand[pair])


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    """Three agents of known strength whose luck in a block follows them from group to group."""
    rng = np.random.default_rng(2)
    strength = np.array([0.3, 0.0, -0.2])
    groups, blocks, repeats = [(0, 1), (0, 2), (1, 2)], 12, 2500
    seating = [np.ascontiguousarray(seatings(group, 0, 0, blocks)).reshape(-1, 2) for group in groups]
    tables = np.zeros(2 * blocks, STATE_DTYPE)
    tables["ending_seat"] = -1
    payments = np.zeros((2 * blocks, MAX_SEATS))
    truth = {
        agent: np.mean([strength[agent] - strength[b] for b in range(3) if b != agent]) for agent in range(3)
    }
    covered = np.zeros(6, np.int64)
    too_narrow = 0
    for _ in range(repeats):
        # Each agent's luck in a block, the same in all of its hands, and the luck of the first seat.
        luck = rng.normal(0, 1, (blocks, 3)).repeat(2, 0)
        first_seat = rng.normal(0.1, 0.5, blocks).repeat(2)
        tally = Tally(groups, 3, 2)
        tally.open_batch(blocks)
        hands_of_0 = []
        for group, seats in zip(groups, seating, strict=True):
            rows = np.arange(2 * blocks)
            won = strength[seats[:, 0]] - strength[seats[:, 1]] + first_seat + rng.normal(0, 0.3, 2 * blocks)
            won += luck[rows, seats[:, 0]] - luck[rows, seats[:, 1]]
            payments[:, 0], payments[:, 1] = won, -won
            tally.add(group, seats, payments, tables)
            hands_of_0 += [won[seats[:, 0] == 0], -won[seats[:, 1] == 0]]
        tally.close_batch()
        intervals = [(tally.per_hand(agent), truth[agent]) for agent in range(3)]
        intervals += [
            (tally.pair_per_hand(i), strength[a] - strength[b]) for i, (a, b) in enumerate(tally.pairs)
        ]
        for i, (estimate, true) in enumerate(intervals):
            low, high = estimate.ci95
            covered[i] += low <= true <= high
        singles = np.concatenate(hands_of_0)
        half = 1.96 * singles.std(ddof=1) / np.sqrt(len(singles))
        too_narrow += abs(singles.mean() - truth[0]) > half
    # Three standard errors of a share of 0.95 among so many.
    tolerance = 3 * np.sqrt(0.95 * 0.05 / repeats)
    np.testing.assert_allclose(covered / repeats, 0.95, atol=tolerance)
    assert too_narrow / repeats > 0.2  # what intervals on single hands would have missed
