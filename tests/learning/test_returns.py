"""Returns of every seat across interleaved turns, against a plain reading of the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from train.selfplay.kernels import returns_per_seat

pytestmark = pytest.mark.boundscheck


def brute_force(case: dict[str, Any], discount: float, trace: float) -> np.ndarray:
    """Advantages by following, for each decision, the same seat's later decisions one by one."""
    seats, values, ended, payments = case["seats"], case["values"], case["ended"], case["payments"]
    steps, tables = seats.shape
    advantages = np.zeros((steps, tables))
    for b in range(tables):
        for t in range(steps):
            seat, total, weight, at = seats[t, b], 0.0, 1.0, t
            while True:
                end = next((u for u in range(at, steps) if ended[u, b]), None)
                later = [u for u in range(at + 1, steps) if seats[u, b] == seat and (end is None or u <= end)]
                if later:
                    total += weight * (discount * values[later[0], b] - values[at, b])
                    weight *= discount * trace
                    at = later[0]
                    continue
                if end is not None:
                    total += weight * (payments[end, b, seat] - values[at, b])
                elif case["last_seats"][b] == seat:
                    total += weight * (discount * case["last_values"][b] - values[at, b])
                break  # else nothing is known of what follows: the decision's own value stands
            advantages[t, b] = total
    return advantages


def random_case(rng: np.random.Generator, steps: int, tables: int, num_players: int) -> dict[str, Any]:
    ended = (rng.random((steps, tables)) < 0.25).astype(np.uint8)
    payments = rng.normal(size=(steps, tables, num_players)) * ended[..., None]
    return {
        "seats": rng.integers(num_players, size=(steps, tables), dtype=np.int8),
        "values": rng.normal(size=(steps, tables)).astype(np.float32),
        "ended": ended,
        "payments": payments.astype(np.float32),
        "last_seats": rng.integers(num_players, size=tables, dtype=np.int8),
        "last_values": rng.normal(size=tables).astype(np.float32),
    }


def run(case: dict[str, Any], discount: float, trace: float) -> tuple[np.ndarray, np.ndarray]:
    advantages, returns = np.zeros_like(case["values"]), np.zeros_like(case["values"])
    seats = case["payments"].shape[2]
    scratch = np.zeros(seats, np.int8), np.zeros(seats), np.zeros(seats)
    returns_per_seat(*case.values(), discount, trace, *scratch, advantages, returns)
    return advantages, returns


@pytest.mark.parametrize("num_players", [2, 3, 6])
@pytest.mark.parametrize(("discount", "trace"), [(1.0, 0.95), (1.0, 1.0), (0.9, 0.5), (1.0, 0.0)])
def test_returns_agree_with_brute_force(num_players: int, discount: float, trace: float) -> None:
    case = random_case(np.random.default_rng(num_players), 24, 16, num_players)
    advantages, returns = run(case, discount, trace)
    np.testing.assert_allclose(advantages, brute_force(case, discount, trace), atol=1e-5)
    np.testing.assert_allclose(returns, advantages + case["values"], atol=1e-5)


def hand(seats: list[int], ends: dict[int, list[float]], last: tuple[int, float]) -> np.ndarray:
    """Returns (lambda 1) of one table whose value estimates are 10, 11, 12 and so on."""
    steps = len(seats)
    case = {
        "seats": np.array(seats, np.int8)[:, None],
        "values": 10 + np.arange(steps, dtype=np.float32)[:, None],
        "ended": np.zeros((steps, 1), np.uint8),
        "payments": np.zeros((steps, 1, 2), np.float32),
        "last_seats": np.array([last[0]], np.int8),
        "last_values": np.array([last[1]], np.float32),
    }
    for t, paid in ends.items():
        case["ended"][t], case["payments"][t, 0] = 1, paid
    return run(case, 1.0, 1.0)[1][:, 0]


def test_every_seats_last_decision_gets_its_own_payment() -> None:
    np.testing.assert_allclose(hand([0, 1, 0], {2: [3, -3]}, (1, 99)), [3, -3, 3])


def test_hands_do_not_leak_into_each_other() -> None:
    np.testing.assert_allclose(hand([0, 1, 0, 1], {1: [1, -1], 3: [-2, 2]}, (0, 99)), [1, -1, -2, 2])


def test_rollout_end_bootstraps_from_each_seats_own_value() -> None:
    # Seat 0 is to move next, worth 5; seat 1 is not, and stands by its last own value, 11.
    np.testing.assert_allclose(hand([0, 1], {}, (0, 5)), [5, 11])


def test_payment_without_a_decision_in_the_rollout_is_dropped() -> None:
    # Seat 1 made its decisions of the first hand before this rollout began.
    np.testing.assert_allclose(hand([0, 1], {0: [1, -1]}, (1, 7)), [1, 7])
