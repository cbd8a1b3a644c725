from __future__ import annotations

import copy
import json
import re
import stat
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from arena.page import command_of, page, write_page
from arena.page.parts import scale_of, signed, text
from arena.significance import judge_results
from arena.tournament import run_tournament
from tonk_env.errors import TonkError

AGENTS = ["expert", "heuristic:drop=10", "heuristic:drop=11", "random"]
HOSTILE = [
    '"><script>alert(1)</script>',
    "<img src=http://evil.example/x onerror=alert(1)>",
    "a' onclick='alert(1)\x1b[31m\x00\u202e",
    "javascript:" + "x" * 3000,
]
VOID = {"meta", "link", "br", "wbr", "line", "circle"}


class Tree(HTMLParser):
    """Reads a page: checks that tags close in order, and keeps tables as lists of rows of text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.words: list[str] = []
        self._caption = ""
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "caption":
            self._caption = ""
        if tag == "tr":
            self.tables.setdefault(self._caption, []).append([])
        if tag in ("td", "th"):
            self.tables[self._caption][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)
        if "caption" in self.open:
            self._caption += data
        elif {"td", "th"} & set(self.open) and "svg" not in self.open:
            self.tables[self._caption][-1][-1] += data

    @property
    def said(self) -> str:
        return "".join(self.words)


@pytest.fixture(scope="module")
def bare() -> dict[str, Any]:
    """The results of a tournament as they are, without what may be missing."""
    found = run_tournament(AGENTS, deals=40, seed=7).to_dict()
    for each in found["pairs"]:
        each.pop("p_holm", None)
        each.pop("deals_needed", None)
    for key in ("schedule", "until", "convergence", "triples", "blocks_left_out", "effects"):
        found.pop(key, None)
    return found


@pytest.fixture(scope="module")
def full(bare: dict[str, Any]) -> dict[str, Any]:
    """The same, with everything that results may hold."""
    found = copy.deepcopy(bare)
    for each, judged in zip(found["pairs"], judge_results(bare), strict=True):
        each.update(p_holm=judged.p_holm, deals_needed=judged.deals_needed)
    for agent in found["agents"]:
        agent.update(forfeits=0, withdrawn=False, adjusted=None)
    found["agents"][0]["adjusted"] = {"stakes_per_hand": 0.31234, "ci95": [0.3, 0.32468]}
    found["agents"][1]["forfeits"] = 1234
    found["agents"][3]["withdrawn"] = True
    names = [agent["agent"] for agent in found["agents"]]
    found.update(
        schedule="round_robin",
        until=0.01,
        blocks_left_out=12,
        triples=[names[:3]],
        convergence=[{"deals": n, "agents": {name: [0.1, 1 / n] for name in names}} for n in (10, 20, 40)],
        effects=[
            {"agent": a, "other": b, "stakes_per_hand": 0.125, "ci95": [-0.5, 0.75]}
            for a in names
            for b in names
            if a != b
        ],
    )
    return found


EXTRAS: dict[str, Any] = {
    "timing": {"seconds": 2.0, "agents": {"expert": 0.00025, "random": {"seconds_per_decision": 3e-9}}},
    "replays": [{"title": "Deal 3: expert <caught> random", "text": "1. throws KH\n2. & drops"}],
    "ratings": [
        {"kind": "alpha-rank", "columns": ["mass"], "scores": {"expert": [0.75]}, "reason": "who stays"},
        {"kind": "OpenSkill", "columns": ["mu"], "scores": None, "reason": "openskill is not installed"},
    ],
}


def test_every_agent_and_its_numbers_are_in_the_ranking(bare: dict[str, Any]) -> None:
    head, *rows = Tree(page(bare)).tables["Ranking"]
    assert head[:3] == ["#", "agent", "stakes per hand"]
    assert len(rows) == len(AGENTS)
    for place, (row, agent) in enumerate(zip(rows, bare["agents"], strict=True), 1):
        low, high = agent["ci95"]
        assert row[0] == str(place)
        assert row[1].startswith(agent["agent"])
        assert f"{agent['hands']:,} hands" in row[1]
        assert row[2] == f"{signed(agent['stakes_per_hand'])}±{(high - low) / 2:.4f}"


def test_the_crosstable_has_every_pair_twice_and_marks_what_is_not_resolved(bare: dict[str, Any]) -> None:
    rows = Tree(page(bare)).tables["Crosstable of pairs"]
    names = [agent["agent"] for agent in bare["agents"]]
    assert rows[0][1:] == [f"{place} {name}" for place, name in enumerate(names, 1)]
    assert [row[0] for row in rows[1:]] == rows[0][1:]
    judged = judge_results(bare)
    assert {each.is_resolved for each in judged} == {True, False}
    for pair, each in zip(bare["pairs"], judged, strict=True):
        a, b = names.index(pair["a"]) + 1, names.index(pair["b"]) + 1
        low, high = pair["ci95"]
        mark = "" if each.is_resolved else "? unresolved"
        assert rows[a][b] == f"{signed(pair['stakes_per_hand'], 3)}{mark}±{(high - low) / 2:.3f}"
        assert rows[b][a] == f"{signed(-pair['stakes_per_hand'], 3)}{mark}±{(high - low) / 2:.3f}"
    assert rows[1][1] == "·itself"


def test_endings_and_seats_are_those_of_the_results(bare: dict[str, Any]) -> None:
    tree = Tree(page(bare))
    endings = tree.tables["Shares of hands and mean stakes in them, by ending"]
    seats = tree.tables["Stakes by seat"]
    for row, seat_row, agent in zip(endings[1:], seats[1:], bare["agents"], strict=True):
        won = agent["endings"]["drop"]["own"]
        assert row[endings[0].index("dropped and won")] == (
            f"{won['share']:.2%}{signed(won['stakes_per_hand'], 2)}"
        )
        assert sum(cell != "–" for cell in row[1:]) == sum(len(by) for by in agent["endings"].values())
        for cell, seat in zip(seat_row[1:], agent["seats"], strict=False):
            assert cell.startswith(signed(seat["stakes_per_hand"], 3))
    widths = [float(found) for found in re.findall(r'class="part \w+" style="width:([\d.]+)%', page(bare))]
    assert sum(widths) == pytest.approx(100 * len(AGENTS), abs=0.01)


def test_sections_come_with_their_data(bare: dict[str, Any], full: dict[str, Any]) -> None:
    def sections(source: str) -> set[str | None]:
        return {attrs["id"] for tag, attrs in Tree(source).tags if tag == "section"}

    always = {"ranking", "pairs", "endings", "seats"}
    assert sections(page(bare)) == always
    assert sections(page(full, **EXTRAS)) == always | {
        "convergence",
        "effects",
        "ratings",
        "speed",
        "hands",
    }


def test_what_may_be_there_is_shown(full: dict[str, Any]) -> None:
    tree = Tree(page(full, **EXTRAS))
    said = tree.said
    for words in (
        "1,234 forfeits",
        "withdrawn",
        "12 deals left out",
        "+0.3123 ±0.0123",
        "Deal 3: expert <caught> random",
        "1. throws KH\n2. & drops",
        "openskill is not installed",
        "250 µs",
        "3 ns",
        "Going round: 1",
        full["rules_fingerprint"],
        full["versions"]["tonk"],
        "round_robin",
    ):
        assert words in said
    assert tree.tables["Other ratings"][1][1] == "0.750"
    assert tree.tables["Effects of company"][1][2].startswith("+0.125? unresolved")


def test_the_command_that_repeats_it(full: dict[str, Any]) -> None:
    command = command_of(full)
    assert command is not None
    assert command.startswith("tonk arena expert ")
    assert command.endswith(
        "--rules pagat --players 2 --schedule round_robin --deals 40 --until 0.01 --seed 7"
    )
    assert command in Tree(page(full)).said
    assert "tonk arena x.toml" in Tree(page(full, command="tonk arena x.toml")).said
    assert command_of({**full, "schedule": "field"}) is None
    assert "To play it again" not in Tree(page({**full, "schedule": "host"})).said
    spaced = {**full, "agents": [{"agent": "cmd:./bot --flag; rm"}]}
    assert "'cmd:./bot --flag; rm'" in (command_of(spaced) or "")


def test_hostile_names_stay_text(full: dict[str, Any]) -> None:
    names = [agent["agent"] for agent in full["agents"]]
    written = json.dumps(full)
    for name, hostile in zip(names, HOSTILE, strict=True):
        written = written.replace(json.dumps(name), json.dumps(hostile))
    results = json.loads(written)
    replays = [{"title": HOSTILE[0], "text": "</pre>" + HOSTILE[1]}]
    ratings = [
        {"kind": HOSTILE[1], "columns": [HOSTILE[0]], "scores": {HOSTILE[0]: [1]}, "reason": HOSTILE[2]}
    ]
    source = page(
        results, {"agents": {HOSTILE[1]: 1.0}}, replays=replays, ratings=ratings, command=HOSTILE[0]
    )
    tree = Tree(source)
    safe(tree, source)
    for row, hostile in zip(tree.tables["Ranking"][1:], HOSTILE, strict=True):
        assert row[1].startswith(re.sub("[\x00\x1b\u202e]", "�", hostile))
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", source)


def safe(tree: Tree, source: str) -> None:
    """Checks that a page loads nothing, runs nothing and links nowhere."""
    assert not {tag for tag, _ in tree.tags} & {"script", "img", "iframe", "object", "a", "form", "base"}
    for tag, attrs in tree.tags:
        assert not any(name.startswith("on") for name in attrs)
        assert set(attrs) & {"src", "href", "srcset", "action"} == ({"href"} if tag == "link" else set())
    assert [attrs["href"] for tag, attrs in tree.tags if tag == "link"] == ["data:,"]
    assert "default-src 'none'" in source
    assert not re.search(r"url\(|@import|@font-face", source)


def test_the_page_needs_nothing_from_outside(full: dict[str, Any]) -> None:
    source = page(full, **EXTRAS)
    safe(Tree(source), source)
    assert "//" not in source


def test_the_page_can_be_heard_and_found_in(full: dict[str, Any]) -> None:
    source = page(full, **EXTRAS)
    tree = Tree(source)
    tags = tree.tags
    assert ("html", {"lang": "en"}) in tags
    assert sum(tag == "h1" for tag, _ in tags) == 1
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {attrs["aria-labelledby"] for tag, attrs in tags if tag == "section"} <= set(ids)
    assert all("scope" in attrs for tag, attrs in tags if tag == "th")
    assert sum(tag == "caption" for tag, _ in tags) == sum(tag == "table" for tag, _ in tags)
    assert all(attrs.get("aria-label") or attrs.get("aria-hidden") for tag, attrs in tags if tag == "svg")
    assert "prefers-color-scheme: dark" in source
    assert "width=device-width" in source


def test_equal_results_give_equal_pages(full: dict[str, Any]) -> None:
    assert page(full, **EXTRAS) == page(json.loads(json.dumps(full)), **EXTRAS)


@pytest.mark.parametrize(
    "change",
    [
        lambda results: results.update(pairs=[]),
        lambda results: results["pairs"].pop(),
        lambda results: [agent.update(endings={}, seats=[]) for agent in results["agents"]],
        lambda results: results.update(convergence=[{"deals": 5, "agents": {}}] * 3),
        lambda results: [each.update(stakes_per_hand=0.0, ci95=[0.0, 0.0]) for each in results["pairs"]],
        lambda results: [each.update(stakes_per_hand=0.0, ci95=[0.0, 0.0]) for each in results["agents"]],
        lambda results: results["agents"][0]["endings"].update(
            {"new": {"own": {"share": 0.1, "stakes_per_hand": 1}}}
        ),
        lambda results: [
            each.update(stakes_per_hand=None, ci95=None, decisions_per_hand=None)
            for key in ("agents", "pairs", "effects")
            for each in results.get(key, ())
        ],
        lambda results: [each.update(stakes_per_hand=None, ci95=None) for each in results["pairs"][:2]],
        lambda results: [
            each.update(stakes_per_hand=None, ci95=None)
            for agent in results["agents"]
            for each in agent["seats"]
        ],
        lambda results: results.update(
            convergence=[
                {"deals": n, "agents": {"expert": [None, None], "random": [0.1, float("nan")]}}
                for n in (5, 9)
            ]
        ),
        lambda results: [results.pop(key) for key in ("versions", "rules_fingerprint", "seed", "format")],
    ],
)
def test_what_is_missing_or_empty_is_left_out(
    full: dict[str, Any], bare: dict[str, Any], change: Callable[[dict[str, Any]], Any]
) -> None:
    for results in (copy.deepcopy(full), copy.deepcopy(bare)):
        results.setdefault("convergence", [])
        change(results)
        assert all(agent["agent"] in Tree(page(results)).said for agent in results["agents"])


def test_three_players_read_half_the_difference() -> None:
    results = run_tournament(["expert", "random", "heuristic:drop=10"], players=3, deals=4).to_dict()
    assert "Half the difference" in Tree(page(results)).said
    assert "seat 3" in Tree(page(results)).said


def test_text_and_numbers() -> None:
    assert text("a<b>&\"'\x07\u202e") == "a&lt;b&gt;&amp;&quot;&#x27;��"
    assert signed(-0.25) == "−0.2500"
    assert signed(-0.00001) == signed(0.0) == "+0.0000"


@pytest.mark.parametrize("numbers", [[], [0.0], [0.1, -0.2], [1e-9], [-5.0, 700.0], [0.3, 0.4]])
def test_scales_hold_their_numbers_and_zero(numbers: list[float]) -> None:
    scale = scale_of(numbers)
    assert all(scale.low < number < scale.high for number in [0.0, *numbers])
    assert 2 <= len(scale.ticks) <= 6
    assert min(abs(tick) for tick in scale.ticks) < 1e-12
    assert 0 <= float(scale.at(0.0).rstrip("%")) <= 100


def test_the_page_is_written_whole(full: dict[str, Any], tmp_path: Path) -> None:
    written = write_page(tmp_path / "new", full, **EXTRAS)
    assert written == tmp_path / "new" / "report.html"
    assert written.read_text(encoding="utf-8") == page(full, **EXTRAS)
    write_page(tmp_path / "new", full)
    assert [path.name for path in written.parent.iterdir()] == ["report.html"]
    assert stat.S_IMODE(written.stat().st_mode) == 0o644


def test_a_place_that_cannot_be_written(full: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TonkError, match=r"file/report\.html: cannot be written: "):
        write_page(tmp_path / "file", full)
    (tmp_path / "report.html").mkdir()
    with pytest.raises(TonkError, match=r"report\.html: cannot be written: "):
        write_page(tmp_path, full)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "report.html"]
