"""Outside programs as agents: what they are told, what they may answer, what becomes of those that err."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.base import FORFEIT, Agent, Follower
from agents.lines import BYE, end_line, hello_line, move_line, moves_of, read_move, read_ready
from agents.pipes import CRASH, GARBAGE, ILLEGAL, IMPOSTOR, SILENCE, START, Pipes, Trouble, clean
from agents.process import ProcessAgent
from agents.registry import make
from arena.deals import agent_keys, deck_keys
from arena.play import play_hands
from tests.agents.tables import permute_hidden, show, walk
from tonk_env.engine.state import ENDINGS
from tonk_env.errors import TonkError
from tonk_env.hand import Hand
from tonk_env.rules import lower

ROOT = Path(__file__).resolve().parents[2]
BOTS = ROOT / "examples" / "bots"
SIMPLE = f"cmd:{sys.executable} {BOTS / 'simple_bot.py'}"


@pytest.fixture(scope="module")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> str:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler on this machine")
    program = tmp_path_factory.mktemp("bots") / "simple_bot"
    command = [compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-o", str(program), str(BOTS / "simple_bot.c")]
    subprocess.run(command, check=True, timeout=120)
    return f"cmd:{program}"


def script(folder: Path, body: str, *arguments: object) -> str:
    """A spec of a bot whose file begins as every bot must: it answers the hello."""
    file = folder / "bot.py"
    file.write_text(
        "import json, os, sys, time\n"
        "print(json.dumps({'ready': json.loads(input())['protocol']}), flush=True)\n"
        f"{body}\n"
    )
    return f"cmd:{sys.executable} {file} {' '.join(map(str, arguments))}"


def ask_about(hand: Hand, agent: ProcessAgent) -> int:
    seat = hand.to_move
    assert seat is not None
    return agent.ask(hand.view(seat), hand.legal_actions(), 0, None)


def moves(hand: Hand) -> tuple[Any, dict[str, int]]:
    assert hand.to_move is not None
    view = hand.view(hand.to_move)
    return view, moves_of(view, hand.rules, hand.legal_actions())


def question(hand: Hand) -> dict[str, Any]:
    view, legal = moves(hand)
    asked: dict[str, Any] = json.loads(move_line(view, hand.rules, legal, 1, 0))
    return asked


# ---- what a program is told


def exchange() -> list[str]:
    """The lines of the worked exchange, the rules left out."""
    text = (ROOT / "docs" / "BOTS.md").read_text(encoding="utf-8")
    block = re.search(r"```text\n(> .*?)```", text, re.DOTALL)
    assert block
    return block[1].splitlines()


def test_the_worked_exchange_is_what_is_said() -> None:
    hand = Hand("pagat", deck="2c 9s 3c 9h 8h 7d Kd 5c Kh Ac Ks 4d", dealer=1)
    hello = re.sub(r'"rules":\{.*\}\}$', '"rules":{…}}', hello_line(hand.rules, 2, 0, 5.0, 10.0, 7))
    lines = iter(exchange())
    assert next(lines) == f"> {hello}"
    read_ready(next(lines).removeprefix("< "))
    for number, other in enumerate([None, None, None, "stock", "discard 9h", None]):
        if other is not None:
            hand.apply(other)
            continue
        view, legal = moves(hand)
        assert next(lines) == f"> {move_line(view, hand.rules, legal, 1, 1000 + number << 32)}"
        hand.apply(read_move(next(lines).removeprefix("< "), view, hand.rules, legal, 1))
    assert hand.ending_seat == 0 and hand.payments is not None
    assert next(lines) == f"> {end_line(1, 0, str(hand.ending), hand.ending_seat, hand.payments)}"
    assert list(lines) == [f"> {BYE}"]


def test_the_example_answers_as_in_the_worked_exchange() -> None:
    lines = exchange()
    told = "".join(f"{line[2:].replace('{…}', '{}')}\n" for line in lines if line[0] == ">")
    done = subprocess.run(
        [sys.executable, str(BOTS / "simple_bot.py")], input=told, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [line[2:] for line in lines if line[0] == "<"]


@pytest.mark.parametrize(("preset", "players"), [("pagat", 4), ("slap", 3), ("widow", 3), ("side_bets", 2)])
def test_a_question_tells_nothing_hidden(preset: str, players: int) -> None:
    rules, checked = lower(preset), 0
    agents: list[Agent] = [make("random"), make("heuristic:drop=0")]
    for agent in agents:
        agent.start(rules, players, 0)
    for step, (tables, rows) in enumerate(walk(agents, rules, players, hands=12)):
        here = show(tables, rows, rules)
        there = show(permute_hidden(tables, rows, rules, seed=step), rows, rules)
        for at in range(len(rows)):
            one, other = (
                move_line(
                    shown.views[at],
                    rules,
                    moves_of(shown.views[at], rules, shown.legal[at, : shown.num_legal[at]].tolist()),
                    3,
                    int(shown.keys[at]),
                )
                for shown in (here, there)
            )
            assert one == other
            checked += 1
        if step > 25:
            break
    assert checked > 50


def test_a_question_is_asked_as_the_table_counts_seats() -> None:
    hand = Hand("pagat", 3, dealer=0, deck="2c 9s 3d 5c 9h Kd 8h 7d Kh 6h 5d Ks 9c Jc Qs 4d")
    hand.apply("stock")  # seat 1 draws the Jc, after the upcard 9c… whatever the order, as the hand has it
    asked = question(hand)
    assert asked["seat"] == asked["turn"] == hand.to_move == 1
    assert asked["dealer"] == 0 and asked["ask"] == "play"
    assert asked["cards"] == hand.hands[1] and asked["count"] == hand.counts[1]
    assert asked["held"] == [5, 6, 5] and asked["turns"] == [0, 1, 0]
    assert asked["top"] == hand.top and asked["stock"] == hand.stock_size
    assert asked["legal"] == hand.legal_moves()
    hand.apply(hand.legal_moves()[-1])
    thrown = hand.top
    asked = question(hand)
    assert asked["seat"] == 2 and asked["thrown"] == [[], [thrown], []]


def test_spreads_are_told_with_their_wilds(golden_wilds: Hand) -> None:
    asked = question(golden_wilds)
    assert asked["spreads"] == golden_wilds.spreads
    assert any("[" in spread for seat in asked["spreads"] for spread in seat)


@pytest.fixture
def golden_wilds() -> Hand:
    """A hand with a wild on the table: the first one found in which whoever can lays spreads."""
    for seed in range(500):
        hand = Hand("jokers_wild_25", 2, seed=seed)
        while not hand.ended:
            wanted = [move for move in hand.legal_moves() if "[" in move] or hand.legal_moves()[1:]
            hand.apply((wanted or hand.legal_moves())[0])
            if not hand.ended and any("[" in spread for seat in hand.spreads for spread in seat):
                return hand
    raise AssertionError("no wild was laid")


def test_rules_that_need_it_add_keys() -> None:
    for preset, players, key in (
        ("slap", 3, "passed"),
        ("widow", 2, "swapped"),
        ("side_bets", 2, "called_suit"),
    ):
        hand = Hand(preset, players, seed=3)
        assert key in question(hand), preset
        assert list(question(hand))[-1] == "legal"
    assert not {"passed", "swapped", "called_suit"} & question(Hand(seed=3)).keys()


# ---- what it may answer


def test_answers_are_taken_in_both_forms() -> None:
    hand = Hand("pagat", deck="2c 9s 3c 9h 8h 7d Kd 5c Kh Ac Ks")
    hand.apply("take")
    view, legal = moves(hand)
    for answer in (
        "spread KdKhKs",
        "spread KsKdKh",
        '{"move": "spread KhKsKd", "why": ["a", {}]}',
        '{"hand": 9, "seat": 0, "move": "spread KdKhKs"}',
    ):
        assert read_move(answer, view, hand.rules, legal, 9) == legal["spread KdKhKs"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("discard 9h", ILLEGAL),
        ("discard Ks", ILLEGAL),  # taken this turn
        ("drop", ILLEGAL),
        ("fold", GARBAGE),
        ("discard 1h", GARBAGE),
        ("target 9 0", GARBAGE),
        ("42", GARBAGE),
        ("[]", GARBAGE),
        ("{}", GARBAGE),
        ('{"move": 3}', GARBAGE),
        ('{"move": "discard 8h"', GARBAGE),
        ('{"a":' + "[" * 2000, GARBAGE),
        ('{"move": "discard 8h", "seat": 1}', IMPOSTOR),
        ('{"move": "discard 8h", "hand": 8}', IMPOSTOR),
        ('{"move": "discard 8h", "hand": "\\u001b[2J"}', IMPOSTOR),
    ],
)
def test_other_answers_are_trouble(answer: str, reason: str) -> None:
    hand = Hand("pagat", deck="2c 9s 3c 9h 8h 7d Kd 5c Kh Ac Ks")
    hand.apply("take")
    view, legal = moves(hand)
    with pytest.raises(Trouble) as trouble:
        read_move(answer, view, hand.rules, legal, 9)
    assert trouble.value.reason == reason and trouble.value.detail.isprintable()


@pytest.mark.parametrize("answer", ["ready", "tonk-bot/1", "ready tonk-bot/2", '{"ready": true}', "{", "[]"])
def test_another_protocol_is_refused(answer: str) -> None:
    with pytest.raises(Trouble):
        read_ready(answer)


def test_what_is_said_is_cleaned() -> None:
    assert clean(b"\x1b[31mred\x1b[0m\r\n\x07\xff tail\xe2\x80\xae") == "[31mred [0m � tail"
    assert clean("x" * 10_000, 10) == "x" * 10 + "…"


# ---- specs


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("cmd:", "write cmd:PROGRAM ARGUMENTS"),
        ("cmd:  ", "write cmd:PROGRAM ARGUMENTS"),
        ("cmd:''", "write cmd:PROGRAM ARGUMENTS"),
        ("cmd:./no-such-bot --flag", "./no-such-bot is no program"),
        ("cmd:/", "/ is no program"),
        ('cmd:python "unclosed', "No closing quotation"),
        ("cmd:python\x1b[2J", "without control characters"),
    ],
)
def test_specs_that_name_no_program_are_refused(spec: str, says: str) -> None:
    with pytest.raises(TonkError) as error:
        make(spec)
    assert says in str(error.value) and str(error.value).isprintable()


def test_the_registry_knows_programs() -> None:
    agent = make(SIMPLE)
    assert isinstance(agent, ProcessAgent) and isinstance(agent, Follower) and agent.name == SIMPLE
    assert not isinstance(make("random"), Follower)
    with pytest.raises(TonkError, match="cmd:PROGRAM ARGUMENTS"):
        make("whist")


def test_a_file_that_is_no_program_is_trouble(tmp_path: Path) -> None:
    (tmp_path / "bot").write_bytes(b"\x00\x01\x02")
    (tmp_path / "bot").chmod(0o755)
    with pytest.raises(Trouble) as trouble:
        Pipes([str(tmp_path / "bot")], 4096)
    assert trouble.value.reason == START


# ---- how it is played with


@pytest.mark.parametrize(
    ("preset", "players"),
    [("pagat", 2), ("slap", 3), ("widow", 2), ("jokers_wild_25", 4), ("double_tonk", 6), ("push_ups", 2)],
)
@pytest.mark.parametrize("language", ["python", "c"])
def test_the_examples_play(preset: str, players: int, language: str, request: pytest.FixtureRequest) -> None:
    agent = make(SIMPLE if language == "python" else request.getfixturevalue("in_c"))
    assert isinstance(agent, ProcessAgent)
    rules, asked = lower(preset), 0
    agent.start(rules, players, 0)
    steady = make("heuristic:drop=0")
    steady.start(rules, players, 0)
    try:
        for _, rows in walk([agent, steady], rules, players, hands=12):
            asked += len(rows)
            assert not agent.forfeits, agent.last_trouble
            if asked > 600:
                break
    finally:
        assert agent.stop() == []


def test_hands_are_told_apart_and_end(tmp_path: Path) -> None:
    log = tmp_path / "log"
    body = (
        f"log = open({str(log)!r} + str(os.getpid()), 'a')\n"
        "for line in sys.stdin:\n"
        "    print(line, end='', file=log, flush=True)\n"
        "    asked = json.loads(line)\n"
        "    if asked['type'] == 'move':\n"
        "        print(asked['legal'][-1], flush=True)\n"
    )
    agent, rules, hands = make(script(tmp_path, body)), lower("pagat"), 40
    agents = [agent, make("reference")]
    for each in agents:
        each.start(rules, 2, 1)
    seating = np.array([(0, 1), (1, 0)] * (hands // 2))
    played = play_hands(
        agents, seating, rules, deck_keys(8, 0, hands), agent_keys(8, 0, hands), np.ones(hands, np.int64)
    )
    agent.end(np.zeros(0))
    assert not agent.forfeits, agent.last_trouble  # type: ignore[attr-defined]
    runs = [[json.loads(line) for line in file.read_text().splitlines()] for file in tmp_path.glob("log*")]
    assert len(runs) == 2  # one for each seat
    ends: list[tuple[Any, ...]] = []
    for run in runs:
        assert run[-1] == {"type": "bye"} and len({line["seat"] for line in run[:-1]}) == 1
        asked = {line["hand"] for line in run if line["type"] == "move"}
        ended = [line for line in run if line["type"] == "end"]
        assert sorted(line["hand"] for line in ended) == sorted(asked)
        ends += [(line["seat"], line["ending"], line["by"], *line["payments"]) for line in ended]
        for hand in asked:
            told = [line for line in run if line.get("hand") == hand]
            assert [line["type"] for line in told] == ["move"] * (len(told) - 1) + ["end"]
            turns = [line["turns"] for line in told[:-1]]
            assert turns == sorted(turns)  # one hand, in order
    assert {end[0] for end in ends} == {0, 1}
    every = {
        (
            seat,
            ENDINGS[table["ending"]],
            int(table["ending_seat"]) if table["ending_seat"] >= 0 else None,
            *paid,
        )
        for table, paid, seat in zip(
            played.tables, played.payments[:, :2].tolist(), (seating == 0).argmax(1).tolist(), strict=True
        )
    }
    assert set(ends) <= every


def test_errors_are_counted_and_at_last_the_program_is_out(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    body = f"open({str(starts)!r}, 'a').write('x')\nfor line in sys.stdin: print('fold', flush=True)"
    agent, rules = ProcessAgent(script(tmp_path, body), max_forfeits=3), lower("pagat")
    agent.start(rules, 2, 0)
    tables, rows = next(walk([make("random")], rules, 2, hands=6))
    shown = show(tables, rows, rules)
    assert not agent.is_out
    assert agent.act(*shown).tolist() == [FORFEIT] * len(rows)
    assert agent.is_out and dict(agent.forfeits) == {GARBAGE: 3}
    assert agent.last_trouble == "garbage: said 'fold', which is not a move"
    agent.start(rules, 2, 0)
    assert agent.act(*shown).tolist() == [FORFEIT] * len(rows)
    assert starts.read_text() == "xxx"


def test_troubles_say_what_happened(tmp_path: Path) -> None:
    hand = Hand(seed=3)
    for body, reason, says in (
        (
            "input(); sys.exit('no\\x1b[31m cards')",
            CRASH,
            "ended with status 1; its last words: no [31m cards",
        ),
        ("input(); os.kill(os.getpid(), 9)", CRASH, "was ended by signal 9"),
        ("input(); time.sleep(600)", SILENCE, "did not answer within 0.4 seconds"),
        ("input(); sys.stdout.write('drop'); sys.stdout.flush(); time.sleep(600)", SILENCE, "did not answer"),
    ):
        agent = ProcessAgent(script(tmp_path, body), seconds=0.4 if reason == SILENCE else 20)
        agent.start(hand.rules, 2, 0)
        with pytest.raises(Trouble) as trouble:
            ask_about(hand, agent)
        assert trouble.value.reason == reason and says in trouble.value.detail


def test_more_may_be_told_than_a_pipe_holds(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import sys, time\n"
        "time.sleep(0.3)\n"
        "for number, line in enumerate(sys.stdin):\n"
        "    if line == 'well?\\n': print(number, flush=True)\n"
    )
    pipes = Pipes([sys.executable, str(bot)], 4096)
    for _ in range(3000):
        pipes.tell("x" * 100)
    assert pipes.ask("well?", 60) == "3000"
    assert pipes.ask("well?", 60) == "3001"
    for _ in range(3000):
        pipes.tell("x" * 100)
    assert pipes.stop("bye", 60) == []


def test_equal_seeds_are_told(tmp_path: Path) -> None:
    file = tmp_path / "hello"
    bot = tmp_path / "bot.py"
    bot.write_text(
        f"open({str(file)!r}, 'a').write(input() + '\\n'); print('ready tonk-bot/1', flush=True); input()"
    )
    for seed in (3, 3, 4):
        agent = ProcessAgent(f"cmd:{sys.executable} {bot}")
        agent.start(lower("pagat"), 2, seed)
        agent.greet(1)
        agent.stop()
    seeds = [json.loads(line)["seed"] for line in file.read_text().splitlines()]
    assert seeds[0] == seeds[1] != seeds[2] and all(0 <= seed < 2**31 for seed in seeds)
