"""`tonk check-bot`, and `tonk play` against a program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tonk_env._jit import below, mix
from tonk_env.hand import Hand

ROOT = Path(__file__).resolve().parents[2]
SIMPLE = f"cmd:{sys.executable} {ROOT / 'examples' / 'bots' / 'simple_bot.py'}"
HOSTILE = ROOT / "tests" / "arena" / "bots"


def hostile(line: str) -> str:
    return f"cmd:{sys.executable} {HOSTILE}/{line}"


def test_a_good_bot_passes(tonk: Any) -> None:
    said = tonk("check-bot", SIMPLE, "--hands", 20)
    assert said.status == 0 and said.out.endswith("All right.\n")
    lines = said.out.splitlines()
    assert lines[0].startswith("ok    starts and is ready: after ")
    assert "ok    answers to 'draw': 10 legal moves of 10" in lines
    assert any(line.startswith("ok    plays 20 hands, many at once") for line in lines)
    assert "ok    ends when told, and leaves nothing behind: within a second" in lines
    assert not any(line.startswith("WRONG") for line in lines)


def test_every_kind_of_question_is_asked(tonk: Any) -> None:
    report = tonk("check-bot", SIMPLE, "--rules", "slap", "--players", 3, "--hands", 6, "--json").json
    assert (report["ok"], report["protocol"], report["rules"], report["players"]) == (
        True,
        "tonk-bot/1",
        "slap",
        3,
    )
    kinds = [check["check"] for check in report["checks"] if check["check"].startswith("answers to")]
    assert kinds == [f"answers to '{kind}'" for kind in ("draw", "play", "target", "slap", "give")]
    assert all(check["passed"] for check in report["checks"] if check["check"] in kinds)
    assert report["forfeits"] == {} and report["hands"] == 6
    assert 0 < report["seconds"]["median"] <= report["seconds"]["max"] < 5
    assert report["decisions"] > 60


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "crash_at_start.py",
            "WRONG starts and is ready: crash: ended with status 1; its last words: I lost my",
        ),
        ("hang_at_start.py", "WRONG starts and is ready: silence: did not answer within 1 seconds"),
        ("crash_mid_hand.py", "crash: was ended by signal 6"),
        ("hang.py", "silence: did not answer within 1.5 seconds"),
        ("illegal_move.py", "legal were"),
        ("another_seat.py", "another seat: answered for seat"),
        ("control_characters.py", "garbage: said '[2J"),
        (
            "stays.py",
            "WRONG ends when told, and leaves nothing behind: did not end within 1 s of being told to",
        ),
        ("forks.py", "WRONG ends when told, and leaves nothing behind: left processes behind"),
    ],
)
def test_what_is_wrong_is_said(tonk: Any, line: str, says: str) -> None:
    clock = {"hang.py": 1.5, "hang_at_start.py": 0.5}.get(line, 20)
    said = tonk("check-bot", hostile(line), "--hands", 2, "--seconds", clock)
    assert said.status == 1 and says in said.out
    assert said.out.endswith("Not ready for the arena.\n")
    assert said.out.replace("\n", "").isprintable()
    assert not said.err or "compiling" in said.err


def test_a_bot_of_whims_is_told_apart(tonk: Any, tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import json, random\n"
        "print('ready', json.loads(input())['protocol'], flush=True)\n"
        "while (asked := json.loads(input()))['type'] != 'bye':\n"
        "    if asked['type'] == 'move': print(random.choice(asked['legal']), flush=True)\n"
    )
    said = tonk("check-bot", f"cmd:{sys.executable} {bot}", "--hands", 3)
    assert said.status == 0
    assert "note  answers the same question alike: not " in said.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("expert",), "'expert' is no outside program: write cmd:PROGRAM ARGUMENTS"),
        (("cmd:./no-such-bot",), "agent 'cmd:./no-such-bot': ./no-such-bot is no program"),
        ((SIMPLE, "--rules", "whist"), "no rules preset 'whist'"),
        ((SIMPLE, "--players", "7"), "--players 7"),
        ((SIMPLE, "--rules", "toy_hits", "--players", "3"), "--players = 3: these rules are played by 2"),
        ((SIMPLE, "--hands", "0"), "--hands = 0: at least 1 is needed"),
        ((SIMPLE, "--seconds", "0"), "--seconds = 0: a clock of more than no time is needed"),
        ((), "Missing argument 'cmd:PROGRAM'"),
    ],
)
def test_refusals(tonk: Any, arguments: tuple[str, ...], says: str) -> None:
    assert tonk("check-bot", *arguments).refusal().startswith(says)


# ---- tonk play


def second_seat_seed() -> int:
    """A seed with which the other seat has the first turn."""
    return next(
        seed for seed in range(100) if below(mix(seed, 0), 2) == 0 and Hand(dealer=0, seed=seed).to_move == 1
    )


def test_play_against_a_program(tonk: Any) -> None:
    anything = "stock\n" + "".join(f"discard {rank}{suit}\n" for suit in "cdhs" for rank in "KQJT98765432A")
    said = tonk("play", "--against", SIMPLE, "--seed", second_seat_seed(), typed=anything * 40)
    assert said.status == 0 and "The hand ends: " in said.out


def test_a_program_that_fails_forfeits(tonk: Any) -> None:
    said = tonk("play", "--against", hostile("crash_at_start.py"), "--seed", second_seat_seed())
    assert said.status == 0
    assert "The hand ends: forfeit by seat 1." in said.out and "paid -2" in said.out
    assert "Seat 1 forfeits the hand (crash: ended with status 1" in said.out
    assert "\033" not in said.out
