"""What the rule bots earn from each other, on duplicate deals: every deck is played in both seats."""

from __future__ import annotations

import numpy as np
import pytest

from agents.registry import make
from arena.play import play_hands
from tonk_env._jit import mix
from tonk_env.rules import lower

STATED = {5: 0.207, 10: 0.217, 15: 0.206, 20: 0.190, 25: 0.143}
"""What `agents/data/reference_bot.toml` says, in stakes per hand, with a standard error of 0.0014."""
STATED_ERROR = 0.0014


def margin(one: str, other: str, deals: int = 20_000) -> tuple[float, float]:
    """Returns what one agent earns from another per hand, and the standard error."""
    agents, rules = [make(one), make(other)], lower("pagat")
    for agent in agents:
        agent.start(rules, 2, seed=0)
    keys = np.repeat(np.array([mix(11, deal) for deal in range(deals)], np.int64), 2)
    seating = np.tile(np.array([[0, 1], [1, 0]]), (deals, 1))
    dealers = np.repeat(np.arange(deals) % 2, 2)
    payments = play_hands(agents, seating, rules, keys, keys, dealers).payments
    earned = (payments[0::2, 0] + payments[1::2, 1]) / 2
    return float(earned.mean()), float(earned.std() / np.sqrt(deals))


@pytest.mark.parametrize("drop", STATED)
def test_reference_reproduces_its_margins(drop: int) -> None:
    earned, error = margin("reference", f"heuristic:drop={drop}")
    assert abs(earned - STATED[drop]) < 4 * np.hypot(error, STATED_ERROR)


@pytest.mark.parametrize("drop", [0, 5, 10, 15, 20, 25])
def test_expert_is_well_ahead_of_the_ladder(drop: int) -> None:
    earned, error = margin("expert", f"heuristic:drop={drop}")
    assert earned - 1.96 * error > 0.12


def test_expert_is_ahead_of_reference() -> None:
    earned, error = margin("expert", "reference")
    assert earned - 4 * error > 0


def test_keeping_live_cards_by_value_beats_never_breaking_them() -> None:
    for drop in (10, 25):
        earned, error = margin(f"heuristic:drop={drop},keep=5", f"heuristic:drop={drop}")
        assert 0.01 < earned < 0.07 and earned > 4 * error


def test_everyone_beats_chance() -> None:
    for spec in ("heuristic:drop=0", "heuristic:drop=25", "reference", "expert"):
        earned, error = margin(spec, "random", deals=2000)
        assert earned > 0.1 + 4 * error
