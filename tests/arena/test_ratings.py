"""Secondary ratings; their packages are an optional extra, so most run by `make test-extras` only."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np
import pytest

from arena.ratings import Ratings, alpha_rank, nash_averaging, open_skill, payment_matrix

FIRM = 0.001  # half-width of intervals that leave no doubt


def tournament(payments: list[list[float]], half: float = FIRM) -> dict[str, Any]:
    names = "abcdef"[: len(payments)]
    pairs = [
        {
            "a": names[i],
            "b": names[j],
            "stakes_per_hand": payments[i][j],
            "ci95": [payments[i][j] - half, payments[i][j] + half],
        }
        for i, j in itertools.combinations(range(len(payments)), 2)
    ]
    return {"deals": 1000, "agents": [{"agent": name} for name in names], "pairs": pairs}


ORDERED = [[0, 0.1, 0.2], [-0.1, 0, 0.3], [-0.2, -0.3, 0]]
ROUND = [[0, 0.1, -0.2], [-0.1, 0, 0.3], [0.2, -0.3, 0]]


def scores(ratings: Ratings) -> dict[str, tuple[float, ...]]:
    assert ratings.scores is not None, ratings.reason
    return ratings.scores


def test_the_payment_matrix_is_antisymmetric() -> None:
    names, payments = payment_matrix(tournament(ROUND))
    assert names == ["a", "b", "c"]
    assert payments is not None
    assert (payments == np.array(ROUND)).all()
    assert (payments == -payments.T).all()
    _, resolved = payment_matrix(tournament(ROUND, half=0.15), resolved_only=True)
    assert resolved is not None
    assert resolved.tolist() == [[0, 0, -0.2], [0, 0, 0.3], [0.2, -0.3, 0]]


def test_without_all_pairs_there_are_no_ratings() -> None:
    results = tournament(ROUND)
    del results["pairs"][1]
    assert payment_matrix(results)[1] is None
    for ratings in (alpha_rank(results), nash_averaging(results)):
        assert ratings.scores is None
        assert "did not meet" in ratings.reason
        assert ratings.to_dict()["scores"] is None


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])

    monkeypatch.setattr(importlib, "import_module", missing)
    for ratings in (open_skill([]), alpha_rank(tournament(ORDERED)), nash_averaging(tournament(ORDERED))):
        assert ratings.scores is None
        assert "is not installed: pip install 'tonk[ratings]'" in ratings.reason


@pytest.mark.extras
def test_open_skill_rates_placements() -> None:
    pytest.importorskip("openskill", reason="needs openskill: pip install 'tonk[ratings]'")
    rng = np.random.default_rng(3)
    strength = {"weak": -0.5, "middling": 0.0, "strong": 0.5}
    games = [[(name, mean + rng.normal()) for name, mean in strength.items()] for _ in range(400)]
    rated = scores(open_skill(games))
    assert list(rated) == ["strong", "middling", "weak"]
    for mu, sigma, cautious in rated.values():
        assert cautious == pytest.approx(mu - 3 * sigma)
    assert open_skill(games) == open_skill(games)
    # Placements count, amounts do not.
    assert scores(open_skill([[(name, 7 * paid) for name, paid in game] for game in games])) == rated


@pytest.mark.extras
def test_open_skill_takes_the_mean_of_several_seats() -> None:
    pytest.importorskip("openskill", reason="needs openskill: pip install 'tonk[ratings]'")
    several = open_skill([[("a", 3.0), ("b", 1.0), ("a", -2.0)]])
    assert several == open_skill([[("a", 0.5), ("b", 1.0)]])
    assert open_skill([[("a", 1.0), ("a", -1.0)]]).scores is None


@pytest.mark.extras
def test_alpha_rank_finds_who_stays() -> None:
    pytest.importorskip("pyspiel", reason="needs OpenSpiel: pip install 'tonk[ratings]'")
    assert scores(alpha_rank(tournament(ORDERED)))["a"] == pytest.approx((1.0,), abs=1e-6)
    for (mass,) in scores(alpha_rank(tournament(ROUND))).values():
        assert mass == pytest.approx(1 / 3)
    # The first pair is not resolved, so both stay.
    even = scores(alpha_rank(tournament(ORDERED, half=0.15)))
    assert even["a"] == pytest.approx((0.5,), abs=1e-6)
    assert even["b"] == pytest.approx((0.5,), abs=1e-6)


@pytest.mark.extras
def test_nash_averaging_finds_the_mixture_that_none_beats() -> None:
    pytest.importorskip("pyspiel", reason="needs OpenSpiel: pip install 'tonk[ratings]'")
    pytest.importorskip("cvxpy", reason="needs cvxpy: pip install 'tonk[ratings]'")
    rated = scores(nash_averaging(tournament(ROUND)))
    # Each is played in proportion to what the other two win of each other.
    assert {name: mass for name, (mass, _) in rated.items()} == pytest.approx(
        {"a": 1 / 2, "b": 1 / 3, "c": 1 / 6}, abs=1e-6
    )
    assert all(abs(stakes) < 1e-6 for _, stakes in rated.values())
    ordered = scores(nash_averaging(tournament(ORDERED)))
    assert list(ordered) == ["a", "b", "c"]
    assert [stakes for _, stakes in ordered.values()] == pytest.approx([0, -0.1, -0.2], abs=1e-6)
