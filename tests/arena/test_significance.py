from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from arena.significance import (
    LEVEL,
    deals_needed,
    error_of,
    holm,
    intransitive_triples,
    judge,
    judge_results,
    p_of_t,
    p_value,
)
from arena.statistics import t_quantile
from arena.tournament import run_tournament

# Two-sided tail probabilities to 15 digits, from integrals at 40 digits.
EXACT = [
    (0.5, 3, 0.651447964848151),
    (2.228138851964939, 10, 0.05000000000180864),
    (1.5, 99, 0.136796817715973),
    (1.8, 19999, 0.0718757027384834),
    (8.0, 19999, 1.311493306823192e-15),
    (36.0, 19999, 4.774489489290727e-275),
    (1.96, 10**6, 0.0499960675852698),
    (20.0, 10**6, 5.73308704739027e-89),
    (1.8, 10**9, 0.0718606385271254),
    (4.0, 10**9, 6.33424882164676e-5),
]


@pytest.mark.parametrize(("t", "degrees", "exact"), EXACT)
def test_tails_are_exact(t: float, degrees: int, exact: float) -> None:
    assert p_of_t(t, degrees) == pytest.approx(exact, rel=1e-9)
    assert p_of_t(-t, degrees) == p_of_t(t, degrees)


@pytest.mark.parametrize("t", [1e-9, 0.01, 1.0, 1.7, 3.0, 50.0, 1e6])
def test_tails_of_one_and_two_degrees_are_those_of_their_formulas(t: float) -> None:
    assert p_of_t(t, 1) == pytest.approx(2 / math.pi * math.atan(1 / t), rel=1e-12)
    root = math.sqrt(2 + t * t)
    assert p_of_t(t, 2) == pytest.approx(2 / (root * (root + t)), rel=1e-12)


def test_tails_at_the_ends() -> None:
    assert p_of_t(0.0, 5) == 1.0
    assert p_of_t(math.inf, 5) == 0.0
    assert p_of_t(37.0, 10**5) > 0
    for t, degrees in ((1.0, 0), (math.nan, 3)):
        with pytest.raises(ValueError, match="1 or more"):
            p_of_t(t, degrees)


@pytest.mark.parametrize("first", [98, 1_000_000])
@pytest.mark.parametrize("t", [0.1, 1.0, 2.5, 6.0])
def test_tails_do_not_jump_where_one_formula_takes_over_from_the_other(t: float, first: int) -> None:
    logs = np.log([p_of_t(t, degrees) for degrees in range(first - 2, first + 5)])
    # The step from one number of degrees to the next changes by far less than the step itself.
    assert np.abs(np.diff(logs, 2)).max() < np.abs(np.diff(logs)).max() * 0.1 + 1e-10


@pytest.mark.parametrize("degrees", [1, 2, 9, 100, 101, 4999, 10**7])
def test_an_interval_that_ends_at_zero_has_five_percent(degrees: int) -> None:
    assert p_value(0.3, error_of(0.3, degrees), degrees) == pytest.approx(0.05, rel=1e-6)


def test_p_values_without_spread() -> None:
    assert p_value(0.0, 0.0, 3) == 1.0
    assert p_value(-0.1, 0.0, 3) == 0.0
    with pytest.raises(ValueError, match="error = -1: a standard error is 0 or more"):
        p_value(0.1, -1, 3)


def test_holm_as_worked_by_hand() -> None:
    # In order: 4 x 0.005 = 0.02, 3 x 0.01 = 0.03, 2 x 0.03 = 0.06, and 1 x 0.04 not below the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.7, 0.6]) == [1.0, 1.0]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


def after(estimates: list[tuple[float, float]], deals: int, more: int) -> list[tuple[float, float]]:
    """The estimates as they are after more deals, if means and spreads stay."""
    total = deals + more
    shrunk = math.sqrt(deals / total) * t_quantile(total - 1) / t_quantile(deals - 1)
    return [(mean, half * shrunk) for mean, half in estimates]


@pytest.mark.parametrize("deals", [2, 30, 400])
def test_as_many_deals_as_are_needed_resolve_a_pair_and_one_less_does_not(deals: int) -> None:
    estimates = [(0.5, 0.1), (0.05, 0.06), (-0.03, 0.06), (0.011, 0.05), (0.0, 0.05), (0.03, 0.06)]
    judged = judge(estimates, deals)
    assert any(each.deals_needed for each in judged)
    for number, each in enumerate(judged):
        more = each.deals_needed
        assert each.is_resolved == (each.p_holm <= LEVEL)
        if more is None:
            assert each.is_resolved or estimates[number][0] == 0
            continue
        assert more > 0
        assert not each.is_resolved
        assert judge(after(estimates, deals, more), deals + more)[number].is_resolved
        if more > 1:
            assert not judge(after(estimates, deals, more - 1), deals + more - 1)[number].is_resolved


def test_no_number_of_deals() -> None:
    assert deals_needed([(0.0, 0.1), (1e-12, 0.1), (0.2, 0.0), (0.0, 0.0)], 100) == [None] * 4


def test_results_are_judged_from_their_intervals() -> None:
    results = run_tournament(["expert", "heuristic:drop=10", "heuristic:drop=15", "random"], deals=100)
    judged = judge_results(results.to_dict())
    assert len(judged) == len(results.pairs) == 6
    for pair, each in zip(results.pairs, judged, strict=True):
        low, high = pair.per_hand.ci95
        assert (each.p <= 0.05) == (low > 0 or high < 0)
        assert each.p_holm >= each.p


def pair(a: str, b: str, mean: float, p: float = 0.01) -> dict[str, Any]:
    return {"a": a, "b": b, "stakes_per_hand": mean, "p_holm": p}


def test_triples_that_go_round() -> None:
    pairs = [pair("rock", "paper", -0.1), pair("paper", "scissors", -0.2), pair("rock", "scissors", 0.3)]
    assert intransitive_triples(pairs) == [("rock", "scissors", "paper")]
    assert intransitive_triples([{**each, "p_holm": 0.06} for each in pairs]) == []
    assert intransitive_triples([*pairs[:2], pair("rock", "scissors", 0.3, p=0.2)]) == []
    assert intransitive_triples([*pairs[:2], pair("rock", "scissors", -0.3)]) == []
    assert intransitive_triples(pairs[:2]) == []


def test_each_triple_is_found_once() -> None:
    names = "abcde"
    # Each beats the next two round the circle: five of the ten triples go round.
    pairs = [
        pair(names[i], names[j], 0.1 if j - i <= 2 else -0.1) for i, j in itertools.combinations(range(5), 2)
    ]
    found = intransitive_triples(pairs)
    assert len(found) == len({frozenset(each) for each in found}) == 5
    wins = {
        (each["a"], each["b"]) if each["stakes_per_hand"] > 0 else (each["b"], each["a"]) for each in pairs
    }
    for a, b, c in found:
        assert {(a, b), (b, c), (c, a)} <= wins
        assert a == min(a, b, c)
