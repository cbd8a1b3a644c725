"""`tonk replay`, `tonk score` and `tonk odds`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

# ---- replay


def test_replay_shows_every_move(tonk: Any, golden: Path) -> None:
    said = tonk("replay", golden / "drop.toml")
    assert said.status == 0
    lines = said.out.splitlines()
    assert "drop.toml: pagat, 2 players, dealer 1" in lines[0]
    for part in ("is dealt", "upcard Ks", "spread KdKhKs", "discard 8h", "4d"):
        assert part in said.out
    assert lines[-1] == "drop: paid by seat +1, -1; counts 5, 26"


def test_replay_as_json(tonk: Any, golden: Path) -> None:
    files = [golden / "drop.toml", golden / "ace_low.toml", golden / "caught_table_of_its_own.toml"]
    said = tonk("replay", "--json", *files)
    first, second, third = map(json.loads, said.out.splitlines())
    assert said.status == 0
    assert first == {"file": str(files[0]), "ending": "drop", "payments": [1, -1], "counts": [5, 26]}
    assert second == {"file": str(files[1]), "ending": None, "payments": None, "counts": [20, 35]}
    assert third["payments"] == [-7.5, 8, 1, -0.5, -1]


def test_replay_of_a_hand_that_goes_on(tonk: Any, golden: Path) -> None:
    said = tonk("replay", golden / "ace_low.toml")
    assert said.status == 0
    assert "The record stops here: seat 0 is to move. Legal: drop, stock, take" in said.out


def test_replay_of_a_forfeit(tonk: Any, golden: Path) -> None:
    assert "forfeit: paid by seat +2, +2, -4" in tonk("replay", golden / "forfeit.toml").out


def test_replay_of_a_wrong_result(tonk: Any, golden: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text((golden / "drop.toml").read_text().replace("[1.0, -1.0]", "[2.0, -2.0]"))
    said = tonk("replay", "--json", wrong)
    assert said.status == 1
    assert (
        said.err == f"tonk: {wrong}: result: the record says drop, [2, -2], the engine finds drop, [1, -1]\n"
    )
    assert said.json["payments"] == [1, -1]


def test_replay_goes_on_after_a_bad_file(tonk: Any, golden: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text((golden / "drop.toml").read_text().replace("[1.0, -1.0]", "[2.0, -2.0]"))
    said = tonk("replay", "--json", golden / "refused" / "ace_high.toml", wrong, golden / "drop.toml")
    assert said.status == 2 and len(said.out.splitlines()) == 2
    refused, disagrees = said.err.splitlines()
    assert 'ace_high.toml: move 2, "0 spread QcKcAc": ' in refused and "wrong.toml: result: " in disagrees


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("dealer", "deeler", "deeler: not a key of a hand record"),
        (
            "9s 9h",
            "9s 2c",
            "hands[1]: 2c is dealt more often (hands[0], hands[1]) than the deck holds it (1)",
        ),
        ('"pagat"', '"whist"', "rules: no rules preset 'whist'"),
        ('"1 stock"', '"1 drop"', 'move 5, "1 discard 9h": the hand ended by caught at move 4'),
    ],
)
def test_replay_refuses_in_one_line(
    tonk: Any, golden: Path, tmp_path: Path, old: str, new: str, says: str
) -> None:
    file = tmp_path / "hand.toml"
    file.write_text((golden / "drop.toml").read_text().replace(old, new, 1))
    assert tonk("replay", file).refusal().startswith(f"{file}: {says}")


def test_replay_of_what_is_no_text(tonk: Any, tmp_path: Path) -> None:
    file = tmp_path / "hand.toml"
    file.write_bytes(b"\xff\xfe\x00")
    assert tonk("replay", file).refusal() == f"{file}: not UTF-8 text"
    assert tonk("replay", tmp_path).refusal() == f"{tmp_path}: Is a directory"


# ---- score


def test_score(tonk: Any) -> None:
    facts = ("score", "--rules", "pagat", "--ending", "caught", "--by", 0, "--counts", "8,6,8,20")
    assert tonk(*facts, "--json").out == '{"payments": [-4, 4, 1, -1]}\n'
    said = tonk(*facts)
    assert said.status == 0 and "pagat: caught" in said.out and "+4" in said.out


@pytest.mark.parametrize(
    ("arguments", "payments"),
    [
        ("--ending drop --by 0 --counts 8,6,8,20", [-4, 4, 1, -1]),
        ("--ending caught --by 1 --counts 9,5,7", [-1, 2, -1]),
        ("--ending tonk --by 2 --counts 9,5,0", [-2, -2, 4]),
        ("--ending tonk --by 2 --counts 9,5,0 --multiple 4", [-4, -4, 8]),
        ("--ending out --by 0 --counts 0,5", [1, -1]),
        ("--ending instant_win --by 0 --counts 49,5", [2, -2]),
        ("--ending claim --by 0 --counts 49,5 --multiple 1", [1, -1]),
        ("--ending forfeit --by 0 --counts 49,5", [-2, 2]),
        ("--ending stock_out --counts 4,5,6", [2, -1, -1]),
        ("--ending turn_limit --counts 4,5,6", [2, -1, -1]),
        ("--ending void --counts 50,49", [0, 0]),
        ("--rules newark --ending instant_win --by 1 --counts 50,50,20 --dealer 0", [-2, 4, -2]),
        ("--rules push_ups --ending drop --by 0 --counts 5,9", [0, -9]),
    ],
)
def test_score_of_every_ending(tonk: Any, arguments: str, payments: list[float]) -> None:
    assert tonk("score", *arguments.split(), "--json").json == {"payments": payments}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--ending drop --counts 8,6", "--by: ending drop needs a seat, 0 to 1"),
        ("--ending drop --by 0 --counts 8;6", "--counts 8;6: write whole numbers with commas between them"),
        ("--ending drop --by 0 --counts 8", "--counts: 1 seats; these rules are played by 2, 3, 4, 5, 6"),
        ("--ending won --by 0 --counts 8,6", "--ending = 'won': one of instant_win, claim, tonk"),
        ("--ending drop --by 5 --counts 8,6", "--by = 5: seats are 0 to 1"),
        ("--ending void --counts 8,6 --dealer 2", "--dealer = 2: seats are 0 to 1"),
        ("--ending claim --by 0 --counts 8,6", "--counts: 8 of seat 0 wins nothing if claimed"),
        ("--ending void --counts 8,6 --rules whist", "no rules preset 'whist'"),
    ],
)
def test_score_refuses_in_one_line(tonk: Any, arguments: str, says: str) -> None:
    assert tonk("score", *arguments.split()).refusal().startswith(says)


# ---- odds


def test_odds_as_json(tonk: Any) -> None:
    said = tonk("odds", "--opponents", "1,2", "--deals", 20000, "--seed", 3, "--json")
    odds = said.json["odds"]
    at = {(each["count"], each["opponents"]): each for each in odds}
    assert abs(at[30, 2]["caught"] - 0.598) < 5 * at[30, 2]["stderr"] < 0.1
    assert set(odds[0]) == {"count", "opponents", "caught", "stderr", "hands"}
    assert tonk("odds", "--opponents", "1,2", "--deals", 20000, "--seed", 3, "--json").out == said.out


def test_odds_as_a_table(tonk: Any) -> None:
    said = tonk("odds", "--deals", 1000)
    assert "1 opponent" in said.out and "3 opponents" in said.out and "±" in said.out


def test_odds_of_a_hand(tonk: Any) -> None:
    said = tonk("odds", "--hand", "2c 3d 4h 5s 8c")
    assert said.out == "A count of 22 is caught by one opponent 5.2741% of the time (exactly).\n"
    seen = tonk("odds", "--hand", "2c3d4h5s8c", "--upcard", "Ac", "--opponents", "1", "--json").json["odds"]
    assert [each["stderr"] for each in seen] == [0.0] and 0 < seen[0]["caught"] < 0.0527


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--opponents", "0"), "--opponents = 0: numbers from 1 to 5"),
        (("--opponents", "one"), "--opponents one: write whole numbers"),
        (("--deals", "0"), "--deals = 0: a number from 1 to 1000000000"),
        (("--seed", "-1"), "--seed = -1: 0 to"),
        (("--hand", "2c 3c"), "--hand: 2 cards, but these rules deal 5"),
        (("--hand", "2c 3c 4c 5c 5x"), "'5x' is not a card"),
        (
            ("--hand", "2c 3c 4c 5c 5c"),
            "--hand: the deck of these rules has no 5c, or none beside those named",
        ),
        (("--hand", "2c 3c 4c 5c 6c", "--upcard", "2c"), "--upcard: the deck of these rules has no 2c"),
        (("--hand", "2c 3c 4c 5c 6c", "--opponents", "2"), "--opponents 2: with --hand the odds are exact"),
        (("--upcard", "2c"), "--upcard: only together with --hand"),
        (("--rules", "toy_hits", "--opponents", "3"), "players = 4: these rules are played by 2"),
    ],
)
def test_odds_refuse_in_one_line(tonk: Any, arguments: tuple[str, ...], says: str) -> None:
    assert tonk("odds", *arguments).refusal().startswith(says)
