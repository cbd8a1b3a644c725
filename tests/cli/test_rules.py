"""`tonk rules`: the list, the options, the description and the schema."""

from __future__ import annotations

import json
import operator
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tonk_cli import rules as command
from tonk_env import tonk_v0
from tonk_env.resources import configs_dir
from tonk_env.rules import load_rules, preset_names
from tonk_env.rules.describe import SECTIONS, describe

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "RULES.md"
GOLDEN = ROOT / "tests" / "golden"

MINE = """\
base = "tonk_com"
summary = "Seven cards, and nobody hits a player with two spreads."
source = "our kitchen table"

[deal]
hand_size = 7

[spreads]
lock_after = 2

[match]
target = 50
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.toml"
    file.write_text(MINE)
    return file


def test_a_file_of_ones_own_is_played(mine: Path) -> None:
    env = tonk_v0.env(rules=str(mine))
    env.reset(seed=1)
    assert env.unwrapped.rules.rules == load_rules(mine)


# ---- the list


def test_rules_are_listed(tonk: Any) -> None:
    said = tonk("rules")
    assert said.status == 0 and all(name in said.out for name in preset_names())
    listed = tonk("rules", "--json").json
    assert set(listed) == {"presets"}
    assert [each["name"] for each in listed["presets"]] == preset_names()
    assert {"name", "summary", "source", "players"} == set(listed["presets"][0])
    players = {each["name"]: each["players"] for each in listed["presets"]}
    assert players["wikipedia"] == [2, 3, 4]


# ---- the options


@pytest.mark.parametrize("name", preset_names())
def test_rules_are_shown(tonk: Any, name: str) -> None:
    said = tonk("rules", "show", name)
    assert said.status == 0 and "drop.tie_with_dropper" in said.out
    shown = tonk("rules", "show", name, "--json").json
    assert shown["name"] == name and shown["options"]["deck"]["ranks"]
    starred = re.findall(r"^│ \* *│ ([a-z_.]+)", said.out, flags=re.MULTILINE)
    assert starred == shown["differs"]
    assert bool(shown["differs"]) == (name != "pagat")


def test_what_differs_is_marked(tonk: Any, mine: Path) -> None:
    shown = tonk("rules", "show", mine, "--json").json
    assert shown["differs"] == [
        "deal.hand_size",
        "spreads.lock_after",
        "instant_wins.tiers",
        "drop.tie_with_dropper",
        "drop.caught",
        "match.hands",
        "match.target",
    ]
    said = tonk("rules", "show", mine).out
    assert "*: differs from the preset pagat." in said and "Source: our kitchen table" in said
    assert "As the preset pagat." in tonk("rules", "show", "pagat").out


def test_a_file_with_a_slip(tonk: Any, tmp_path: Path) -> None:
    file = tmp_path / "typo.toml"
    file.write_text('base = "pagat"\n[drop]\npayz = 7\n')
    for word in ("show", "describe"):
        refusal = tonk("rules", word, file).refusal()
        assert refusal.startswith(
            f"{file}: drop.payz: no such option (did you mean pays?); there are allowed"
        )


# ---- the description


def test_rules_are_described(tonk: Any) -> None:
    said = tonk("rules", "describe", "chicago", "--players", 4)
    assert said.status == 0
    first, _, *rest = said.out.splitlines()
    assert first.startswith("chicago: Deuces and two jokers")
    assert "\n".join(rest).startswith(describe(load_rules("chicago"), 4))
    assert rest[-1] == "Source: seed 000, item 15"


def test_a_file_of_ones_own_is_described(tonk: Any, mine: Path) -> None:
    said = tonk("rules", "describe", mine)
    assert said.out.startswith(f"{mine}: Seven cards, and nobody hits")
    for part in ("until everybody has seven cards", "A player with two spreads is locked", "50 stakes up"):
        assert part in said.out


def test_a_description_is_wrapped_on_a_terminal(tonk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    monkeypatch.setattr(command, "stdout", lambda: Console(force_terminal=True, width=60))
    lines = tonk("rules", "describe", "newark").out.splitlines()
    assert max(map(len, lines)) <= 60
    assert [line for line in lines if line in SECTIONS] == list(SECTIONS)
    assert any(line.startswith("  ") for line in lines)
    monkeypatch.undo()
    assert max(map(len, tonk("rules", "describe", "newark").out.splitlines())) > 120


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("whist",), "no rules preset 'whist'"),
        (("pagatt",), "no rules preset 'pagatt' (did you mean pagat?)"),
        (("nosuch.toml",), "no rules preset 'nosuch.toml'"),
        (("wikipedia", "--players", 5), "players = 5: these rules are played by 2, 3, 4"),
        (("pagat", "--players", 9), "--players 9: Tonk is played by 2 to 6"),
        (("pagat", "--players", "two"), "Invalid value for '--players'"),
    ],
)
def test_describe_refuses_in_one_line(tonk: Any, arguments: tuple[object, ...], says: str) -> None:
    assert tonk("rules", "describe", *arguments).refusal().startswith(says)


# ---- the schema

COMPARED = {
    "minimum": operator.ge,
    "exclusiveMinimum": operator.gt,
    "maximum": operator.le,
    "exclusiveMaximum": operator.lt,
}


def fits(value: Any, schema: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Whether a value meets a schema, of the words that preset schemas use."""
    kinds = {
        "string": str,
        "boolean": bool,
        "integer": int,
        "number": int | float,
        "object": dict,
        "array": list,
    }
    # The type first: the other words are about values of it.
    for word, wanted in sorted(schema.items(), key=lambda item: item[0] != "type"):
        if word == "$ref":
            good = fits(value, whole["$defs"][wanted.removeprefix("#/$defs/")], whole)
        elif word == "anyOf":
            good = any(fits(value, each, whole) for each in wanted)
        elif word == "enum":
            good = any(value == each and type(value) is type(each) for each in wanted)
        elif word == "const":
            good = value == wanted
        elif word == "type":
            good = isinstance(value, kinds[wanted]) and (wanted == "boolean" or not isinstance(value, bool))
        elif word in COMPARED:
            good = COMPARED[word](value, wanted)
        elif word in ("minLength", "maxLength", "maxItems"):
            good = len(value) >= wanted if word == "minLength" else len(value) <= wanted
        elif word == "items":
            good = all(fits(each, wanted, whole) for each in value)
        elif word == "additionalProperties":
            others = [each for name, each in value.items() if name not in schema.get("properties", {})]
            good = not others if wanted is False else all(fits(each, wanted, whole) for each in others)
        elif word == "properties":
            good = all(fits(each, wanted[name], whole) for name, each in value.items() if name in wanted)
        else:
            assert word in {"$schema", "$defs", "title", "description", "default", "source"}, word
            good = True
        if not good:
            return False
    return True


@pytest.fixture
def schema(tonk: Any) -> dict[str, Any]:
    said = tonk("rules", "schema")
    assert said.status == 0
    printed: dict[str, Any] = json.loads(said.out)
    return printed


def test_every_preset_meets_the_schema(schema: dict[str, Any], mine: Path) -> None:
    assert schema["additionalProperties"] is False
    assert {"base", "summary", "source", "deck", "match", "slap"} <= set(schema["properties"])
    files = [mine, *sorted((configs_dir() / "rules").glob("*.toml"))]
    assert len(files) > 26
    for file in files:
        assert fits(tomllib.loads(file.read_text()), schema, schema), file


@pytest.mark.parametrize(
    "text",
    [
        "bases = 'pagat'",
        "base = 3",
        "slap = 'yes'",
        "deck.packs = 3",
        "deck.jokers = 5",
        "deck.joker = 1",
        "deal.hand_size = 'many'",
        "deal.hand_size = { 2 = 14 }",
        "drop.caught = 'pagatt'",
        "drop.caught = { highest = 1 }",
        "drop.max_count = 'some'",
        "instant_wins.tiers = [{ count = [50] }]",
        "match.first_dealer = 6",
        "match.target = 0",
    ],
)
def test_the_schema_refuses(schema: dict[str, Any], text: str) -> None:
    assert not fits(tomllib.loads(text), schema, schema)


@pytest.mark.parametrize(
    "text",
    [
        "drop.max_count = 'none'",
        "match.hands = 'none'",
        "drop.caught = 'bump'",
        "drop.caught = { lowest = 3 }",
        "deal.hand_size = { 2 = 7, 3 = 5 }",
        "match.first_dealer = 2",
        "deck.packs = 'auto'",
        "deck.values = { Jk = 25 }",
        "instant_wins.tiers = [{ counts = [50], all_ranks = 'JQK', at_most = 'none' }]",
    ],
)
def test_the_schema_takes(schema: dict[str, Any], text: str) -> None:
    assert fits(tomllib.loads(text), schema, schema)


# ---- the documentation


def documented() -> list[str]:
    return re.findall(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_examples_in_the_documentation(tonk: Any, tmp_path: Path, schema: dict[str, Any]) -> None:
    assert documented()
    for index, text in enumerate(documented()):
        file = tmp_path / f"example{index}.toml"
        file.write_text(text)
        assert fits(tomllib.loads(text), schema, schema)
        assert tonk("rules", "describe", file).status == 0


def test_the_documentation_names_every_option_and_preset(tonk: Any) -> None:
    page = DOCS.read_text(encoding="utf-8")
    shown = tonk("rules", "show", "pagat", "--json").json["options"]
    for section, value in shown.items():
        for option in value if isinstance(value, dict) else [section]:
            assert f"`{option}`" in page or f"`{section}.{option}`" in page, (section, option)
    assert [name for name in preset_names() if f"`{name}`" not in page] == []


def test_the_documentation_names_records_that_exist() -> None:
    page = DOCS.read_text(encoding="utf-8").partition("## Where the sources are covered")[2]
    rows = [line.split("|") for line in page.splitlines() if line.count("|") == 6]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row[5])}
    assert len(rows) > 40 and {"ace_wrap", "no_upcard"} <= named
    assert sorted(name for name in named if not (GOLDEN / f"{name}.toml").is_file()) == []
    presets = {name for row in rows for name in re.findall(r"`(\w+)`", row[4])}
    assert presets <= set(preset_names())
