"""Descriptions say what every option does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from tonk_env.errors import TonkError
from tonk_env.rules import Rules, load_rules, preset_names
from tonk_env.rules.describe import NO_EFFECT, SECTIONS, describe
from tonk_env.rules.spec import Caught, Tier, make_rules

EVERYTHING: dict[str, Any] = {
    # Rules under which every option matters.
    "deck": {"jokers": 2, "wild_ranks": "2"},
    "instant_wins": {
        "tiers": [
            {"counts": [50], "pays": 3},
            {"at_most": 13, "lowest_first": True},
            {"all_ranks": "JQK", "pays": 1, "claim": "first_turn"},
        ]
    },
    "waiting": {"after_spread": 3, "after_hit": 1, "after_own_hit": 1},
}
BASES: dict[str, Any] = {
    "everything": EVERYTHING,
    "nobody drops": {"base": "pagat", "drop": {"allowed": False}},
    "all paid, for points": {"base": "washington_state", "scoring": "push_ups"},
    **{
        name: {"base": name}
        for name in ("pagat", "chicago", "push_ups", "widow", "three_spread_lock", "rushville", "toy_1s8r")
    },
}
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, 3, 7, 0.5, 2.5, 40.0, "", "3", "A2345678TJQK"),
    *({"K": 13}, {"2": 9, "3": 7, "4": 3}, [], [49], [{"counts": [49]}]),
)
Path = tuple[str | int, ...]


def literals(annotation: Any) -> Iterator[Any]:
    """The values that an annotation names one by one."""
    for part in get_args(annotation):
        yield part if isinstance(part, str | int) else None
        yield from literals(part)


def options_of(model: Any, where: Path) -> Iterator[tuple[Path, Any]]:
    for name, field in model.model_fields.items():
        if hasattr(field.annotation, "model_fields"):
            yield from options_of(field.annotation, (*where, name))
        else:
            yield (*where, name), field.annotation


OPTIONS = dict(options_of(Rules, ()))
TIER_OPTIONS = {
    path: annotation
    for index in range(3)
    for path, annotation in options_of(Tier, ("instant_wins", "tiers", index))
    if (index, path[-1]) != (2, "lowest_first")  # claims are not compared
}


def changed(rules: Rules, path: Path, annotation: Any) -> Iterator[Rules]:
    """These rules with every other value of one option that is tried and that they may have."""
    for value in (*VALUES, *literals(annotation)):
        options = rules.model_dump(mode="json")
        place: Any = options
        for part in path[:-1]:
            place = place[part]
        old = place[path[-1]]
        place[path[-1]] = value
        try:
            other = make_rules(options)
        except TonkError:
            continue
        place = other.model_dump(mode="json")
        for part in path:
            place = place[part]
        if place != old:
            yield other


def name_of(path: Path) -> str:
    return ".".join(map(str, path))


@pytest.mark.parametrize("path", [*OPTIONS, *TIER_OPTIONS], ids=name_of)
def test_every_option_has_its_sentence(path: Path) -> None:
    rules = make_rules(EVERYTHING)
    text = describe(rules)
    assert NO_EFFECT not in text
    others = list(changed(rules, path, OPTIONS.get(path, TIER_OPTIONS.get(path))))
    assert others, "add a value of this option to VALUES"
    told = [describe(other).partition(NO_EFFECT)[0].strip() for other in others]
    assert text.strip() not in told
    # So do any two other values.
    assert len(set(told)) == len({other.model_dump_json() for other in others})


@pytest.mark.parametrize("base", BASES)
def test_changing_any_option_changes_the_text(base: str) -> None:
    rules = make_rules(BASES[base])
    text = describe(rules)
    tried = 0
    for path, annotation in OPTIONS.items():
        for other in changed(rules, path, annotation):
            assert describe(other) != text, (base, name_of(path))
            tried += 1
    assert tried > 60


@pytest.mark.parametrize("name", preset_names())
def test_texts_are_plain(name: str) -> None:
    rules = load_rules(name)
    for players in (None, *rules.player_counts()):
        text = describe(rules, players)
        assert not re.search(r"None|True|False|[{}\[\]_`]|  |\.\.|,,", text)
        lines = text.splitlines()
        assert [line for line in lines if line in SECTIONS] == list(SECTIONS)
        assert all(line.endswith((".", ":")) for line in lines if line and line not in SECTIONS)
        assert not any(line[0].islower() for line in lines if line)


def test_shipped_presets_set_nothing_in_vain() -> None:
    assert [name for name in preset_names() if NO_EFFECT in describe(load_rules(name))] == []


def test_all_texts_differ() -> None:
    assert len({describe(load_rules(name)) for name in preset_names()}) == len(preset_names())


@pytest.mark.parametrize(
    ("name", "players", "says"),
    [
        ("wikipedia", None, "nine cards with two, seven cards with three and five cards with four players"),
        ("wikipedia", 3, "until everybody has seven cards."),
        ("runout", None, "One pack of 52 cards for two to four players, and two packs of 52 cards"),
        ("runout", 4, "One pack of 52 cards: ace to king"),
        ("runout", 5, "Two packs of 52 cards, shuffled together: ace to king"),
        ("washington_state", None, "2 stakes for each player at the table to each lowest"),
        ("washington_state", 4, "8 stakes (four times 2 stakes, once for each player at the table)"),
        ("rushville", None, "no more cards than there are players"),
        ("rushville", 3, "holds three cards or fewer"),
        ("pagat", 4, "50 turns (200 in all)"),
        ("push_ups", 2, "each loser adds twice the count still held"),
        ("baton_rouge", None, "the 7 is next to the jack"),
        ("jokers_wild_25", None, "joker 25"),
        ("pagat_waiting", None, "You must wait three turns for each spread you lay, one turn for each hit"),
        ("scarne", None, "a hand of nothing but tens, jacks, queens and kings"),
        ("hittin_and_splittin", None, "is paid half a stake, once a hand, by the winners"),
        ("toy_1s8r", None, "there are no sets, with only one card of each rank"),
    ],
)
def test_numbers_in_words(name: str, players: int | None, says: str) -> None:
    assert says in describe(load_rules(name), players)


def test_own_caught_table_with_multiples() -> None:
    rules = load_rules({"drop": {"caught": {"lowest": 1, "lowest_times": "opponents", "higher": 0.5}}})
    assert (
        "the dropper pays 3 stakes (three times 1 stake, once for each opponent of the dropper)"
        in describe(rules, 4)
    )
    assert "half a stake to each player with a higher count" in describe(rules)


def test_options_without_effect_are_named() -> None:
    rules = load_rules({"base": "pagat", "deck": {"joker_role": "dead", "values": {"Jk": 25}}})
    told = describe(rules).partition(NO_EFFECT)[2]
    assert "deck.joker_role = dead: there are no jokers" in told
    assert "deck.values.Jk = 25: the deck has no such card" in told
    rules = load_rules({"scoring": "push_ups", "drop": {"caught": "bump"}})
    assert "drop.caught = bump: losers add their counts" in describe(rules)
    rules = load_rules({"scoring": "push_ups", "drop": {"caught": Caught(lowest=3).model_dump()}})
    assert "drop.caught = lowest 3, lower 2, equal 2" in describe(rules)


def test_a_number_of_players_that_cannot_play() -> None:
    with pytest.raises(TonkError, match="players = 5: these rules are played by 2, 3, 4"):
        describe(load_rules("wikipedia"), 5)
