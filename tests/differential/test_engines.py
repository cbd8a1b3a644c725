"""The compiled engine against the naive one: random rules, steered random play, compared after every step."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.differential.harness import play_pair
from tests.naive.options import complete
from tests.naive.strategy import Case, cases, random_options
from tonk_env.rules import lower, preset_names

MUST_REACH = 1
"""At this test's size; `benchmarks/differential.py` asks for a hundred of each in a long run."""

EXPECTED = (
    *(f"move {kind}" for kind in ("drop", "stock", "take", "spread", "hit", "discard", "target")),
    *(
        f"ending {word}"
        for word in ("instant_win", "tonk", "out", "drop", "caught", "stock_out", "turn_limit")
    ),
    *(f"players {seats}" for seats in range(2, 7)),
    *(f"tie with the dropper: {ruling}" for ruling in ("caught", "share", "dropper_wins")),
    *(f"stock tie: {ruling}" for ruling in ("void", "share", "nearest_left")),
    *(f"stock_out, {result}" for result in ("lowest_wins", "void")),
    *(f"emptied by {kind}" for kind in ("spread", "hit", "discard")),
    *(f"ace {ace}" for ace in ("low", "low_or_high", "wrap")),
    *(f"several catchers, lowest_tie {ruling}" for ruling in ("each", "nearest_left")),
    *(f"caught, lowest_times {times}" for times in ("one", "opponents", "players")),
    "ending void",
    "instant_win, tie all_paid",
    "instant_win, tie nearest_left",
    "packs 1",
    "packs 2",
    "forced drop",
    "drop barred by a wait",
    "blocked from going out",
    "going out paid otherwise",
    "drop under push-ups",
    "caught under push-ups",
    *(f"move {kind}" for kind in ("claim", "swap", "keep", "slap", "pass", "target low", "target high")),
    *(f"spread with {wilds}" for wilds in ("a joker", "a wild rank", "several wilds")),
    *(f"spread with wilds, {number} naturals needed" for number in (1, 2)),
    *(f"wild in a {kind}" for kind in ("run", "set")),
    *(f"{move} of a {role} joker" for move in ("discard", "take") for role in ("wild", "dead")),
    *(f"must_spread {ruling} forbids a discard" for ruling in ("yes", "except_aces")),
    *(f"slap {how}" for how in ("by another", "by the discarder", "in a chain")),
    *(f"bet on {bet} won" for bet in ("the suit", "naturals")),
    "ending claim",
    "hit with a wild",
    "wild rank as itself",
    "no more hits this turn",
    "taken card must be melded",
    "take refused",
    "drop refused by a lock",
    "locked stock-out",
    "a hand went on empty",
    "empty hand must drop",
    "widow paid for",
    "long-spread bonus",
    "multiplied",
)


def run(seed: int, hands: int, hands_each: int = 5) -> Counter[Any]:
    """Plays hands under random rules; returns what was reached."""
    rng = random.Random(seed)
    reached: Counter[Any] = Counter()
    for number in range(hands // hands_each):
        case = random_options(rng)
        for _ in range(hands_each):
            play_pair(case, rng, reached, explicit=number % 4 == 0)
    return reached


def run_preset(preset: str, seed: int, hands: int, drop: float = 0.05) -> Counter[Any]:
    """Plays hands under a preset, by every number of players in turn; returns what was reached."""
    lowered_rules = lower(preset)
    rules = lowered_rules.rules
    options = complete(rules.model_dump(mode="json", exclude_none=True))
    rng = random.Random(f"{preset} {seed}")
    reached: Counter[Any] = Counter()
    for number in range(hands):
        players = rng.choice(rules.player_counts())
        case = Case(options, players, number % players)
        play_pair(case, rng, reached, lowered_rules=lowered_rules, drop=drop)
    return reached


def test_engines_agree_under_random_rules() -> None:
    reached = run(seed=1, hands=2000, hands_each=2)
    missing = {name: reached[name] for name in EXPECTED if reached[name] < MUST_REACH}
    assert not missing


@pytest.mark.uncompiled
@pytest.mark.boundscheck
def test_engines_agree_under_random_rules_in_a_few_hands() -> None:
    reached = run(seed=2, hands=150, hands_each=2)
    assert sum(reached[f"players {seats}"] for seats in range(2, 7)) == 150


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=cases(), seed=st.integers(0, 2**32))
def test_engines_agree_under_drawn_rules(case: Case, seed: int) -> None:
    play_pair(case, random.Random(seed), Counter())


@pytest.mark.parametrize("preset", preset_names())
def test_engines_agree_on_presets(preset: str) -> None:
    reached = run_preset(preset, 0, 8)
    assert sum(count for name, count in reached.items() if name.startswith("ending")) == 8
