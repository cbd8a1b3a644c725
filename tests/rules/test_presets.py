"""The presets that ship hold the values that docs/RULES.md gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tonk_env.rules import Rules, load_preset, load_rules, preset_names
from tonk_env.rules.spec import CAUGHT_TABLES, Tier

SINGLE = {"going_out.spread": 1, "going_out.hit": 1}
RUNOUT = {
    **SINGLE,
    "deck.packs": "auto",
    "going_out.no_earlier_spread": 2,
    "stock_out.result": "must_drop",
    "match.first_dealer": "low_card",
}


def caught(name: str) -> dict[str, Any]:
    return {"drop.caught": CAUGHT_TABLES[name]}


def tiers(*given: Tier) -> dict[str, Any]:
    return {"instant_wins.tiers": given}


def toy(ranks: str, suits: int, hand_size: int, turn_limit: int) -> dict[str, Any]:
    return {
        "deck.ranks": ranks,
        "deck.suits": suits,
        "deal.hand_size": hand_size,
        "turn_limit": turn_limit,
        **tiers(),
    }


# What differs from `pagat`.
EXPECTED: dict[str, dict[str, Any]] = {
    "pagat": {},
    "pagat_waiting": {"waiting.after_spread": 3, "waiting.after_hit": 1, "waiting.after_own_hit": 1},
    "online_stakes": {**SINGLE, **caught("double_only")},
    "tonk_com": {**tiers(Tier(counts=(50,))), "drop.tie_with_dropper": "share", **caught("tonk_com")},
    "black_company": {
        **tiers(Tier(counts=(49, 50), at_most=15)),
        **SINGLE,
        "drop.tie_with_dropper": "dropper_wins",
        **caught("lower_only"),
    },
    "runout": RUNOUT,
    "seven_card": {**RUNOUT, "deal.hand_size": {2: 7, 3: 7, 4: 5, 5: 5, 6: 5}},
    "double_tonk": {**RUNOUT, **tiers(Tier(counts=(49, 50), at_most=11))},
    "jokers_wild_25": {**RUNOUT, "deck.jokers": 2, "deck.values": {"Jk": 25}},
    "three_spread_lock": {
        **{option: value for option, value in RUNOUT.items() if option != "stock_out.result"},
        **tiers(),
        "deal.hand_size": 10,
        "spreads.lock_after": 3,
    },
    "hittin_and_splittin": {**RUNOUT, "long_spread_bonus": 0.5},
    "widow": {**RUNOUT, "deal.widow": True},
    "wikipedia": {
        **tiers(),
        "deck.jokers": 2,
        "deal.hand_size": {2: 9, 3: 7, 4: 5},
        "waiting.after_hit": 1,
        **caught("wikipedia"),
    },
    "newark": {
        **tiers(Tier(counts=(50,)), Tier(counts=(49,)), Tier(at_most=13, lowest_first=True)),
        "instant_wins.tie": "nearest_left",
        "going_out.first_turn_two_spreads": 4,
    },
    "washington_dc": tiers(Tier(at_most=11, lowest_first=True), Tier(counts=(50,)), Tier(counts=(49,))),
    "baton_rouge": {"deck.ranks": "A234567JQK", **tiers(Tier(counts=(47, 50)))},
    "rushville": {
        **tiers(Tier(all_ranks="JQK")),
        "going_out.discard": 2,
        "going_out.stock_floor": "players",
        **caught("bump"),
    },
    "chicago": {
        **tiers(
            Tier(counts=(50,)),
            Tier(at_most=13, lowest_first=True),
            Tier(counts=(49,), pays=1, claim="first_turn"),
        ),
        **SINGLE,
        "deck.jokers": 2,
        "deck.wild_ranks": "2",
        "deal.upcard": False,
        "going_out.first_turn_two_spreads": 2,
        "going_out.after_hitting": 1,
        **caught("chicago"),
    },
    "washington_state": {
        **tiers(Tier(counts=(49, 50), at_most=14)),
        "instant_wins.tie": "all_paid",
        "waiting.after_hit": 1,
        **caught("washington"),
    },
    "push_ups": {"scoring": "push_ups"},
    "face_values": {"deck.values": {"J": 11, "Q": 12, "K": 13}, **tiers()},
    "dead_jokers": {"deck.jokers": 2, "deck.joker_role": "dead"},
    "seattle": {"deal.hand_size": 7},
    "vietnam": {"deal.hand_size": 7, "deck.ranks": "A234567JQK"},
    "scarne": {"deal.hand_size": 7, **tiers(Tier(all_ranks="TJQK"))},
    "no_upcard": {"deal.upcard": False},
    "must_spread": {"spreads.must_spread": "yes"},
    "slap": {"slap": True},
    "side_bets": {"side_bets.suit": 1, "side_bets.naturals": 1, "match.hands": 10},
    "big_one": {"match.hands": 10, "match.last_hands_double": 3},
    "toy_2s4r": toy("A234", 2, 3, 1),
    "toy_2s4r_long": toy("A234", 2, 3, 2),
    "toy_1s8r": toy("A2345678", 1, 3, 2),
    "toy_2s5r": toy("A2345", 2, 2, 1),
    "toy_hits": toy("A2345", 2, 4, 2),
}


def options(rules: Rules) -> Iterator[tuple[str, Any]]:
    for section, value in rules:
        if section in ("scoring", "slap", "long_spread_bonus", "discard_taken", "turn_limit", "forfeit"):
            yield section, value
        else:
            yield from ((f"{section}.{option}", each) for option, each in value)


STANDARD = dict(options(load_rules("pagat")))


def test_pagat_is_the_standard_game() -> None:
    differs = {option: value for option, value in options(Rules()) if value != STANDARD[option]}
    assert set(differs) == {"instant_wins.tiers", "match.first_dealer"}
    assert STANDARD["instant_wins.tiers"] == (Tier(counts=(49, 50), pays=2),)
    assert STANDARD["match.first_dealer"] == "high_card"


def test_every_preset_is_expected() -> None:
    assert sorted(EXPECTED) == preset_names()
    assert len(EXPECTED) >= 26


@pytest.mark.parametrize("name", EXPECTED)
def test_values(name: str) -> None:
    differs = {option: value for option, value in options(load_rules(name)) if value != STANDARD[option]}
    assert differs == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_every_preset_says_what_it_is_and_where_it_is_from(name: str) -> None:
    preset = load_preset(name)
    assert preset.summary.endswith(".") and "\n" not in preset.summary
    assert preset.source
    assert preset.rules.player_counts()


@pytest.mark.parametrize(
    ("name", "players"),
    [
        ("wikipedia", (2, 3, 4)),  # its table says nothing of more
        ("vietnam", (2, 3, 4, 5)),  # six hands of seven are more than forty cards
        ("three_spread_lock", (2, 3, 4, 5, 6)),  # from five players on there are two packs
        ("black_company", (2, 3, 4, 5, 6)),
    ],
)
def test_players(name: str, players: tuple[int, ...]) -> None:
    assert load_rules(name).player_counts() == players


@pytest.mark.parametrize("option", ["spreads.lock_after", "going_out.no_earlier_spread", "match.target"])
def test_none_sets_an_option_back(option: str) -> None:
    section, name = option.split(".")
    on = load_rules({"base": "three_spread_lock", "match": {"target": 50}})
    assert getattr(getattr(on, section), name) is not None
    own: dict[str, Any] = {"base": "three_spread_lock", "match": {"target": 50}}
    own[section] = {name: "none"}
    assert getattr(getattr(load_rules(own), section), name) is None


def test_a_target_lifts_the_limit_on_hands() -> None:
    assert load_rules({"match": {"target": 100}}).match.hands is None
    assert load_rules({"match": {"target": 100, "hands": 5}}).match.hands == 5
    assert load_rules({"base": "big_one", "match": {"target": 100}}).match.hands == 10
