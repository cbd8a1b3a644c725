"""Hostile bots: none stops or skews a tournament, leaves a process behind or costs another bot a hand."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from agents.base import Agent
from agents.leash import marked
from agents.pipes import CRASH, FLOOD, GARBAGE, ILLEGAL, IMPOSTOR, REASONS, SILENCE, UNASKED
from agents.process import ProcessAgent
from agents.registry import make
from arena.deals import agent_keys, deck_keys
from arena.play import Played, play_hands
from arena.tournament import run_tournament
from tonk_env.engine.state import ENDED, FORFEITED
from tonk_env.rules import lower

BOTS = Path(__file__).parent / "bots"
HOSTILE = {
    "crash_at_start.py": {CRASH},
    "crash_mid_hand.py": {CRASH},
    "hang.py": {SILENCE},
    "hang_at_start.py": {SILENCE},
    "garbage.py": {GARBAGE},
    "flood.py 20": {FLOOD},
    "flood_of_lines.py 20": {UNASKED},
    "flood_of_errors.py 20": {FLOOD},
    "another_seat.py": {IMPOSTOR},
    "illegal_move.py": {ILLEGAL, GARBAGE},  # by these rules no discard is a move before a card is drawn
    "chatter.py": {GARBAGE},
    "keeps_pipes.py": {CRASH},
    "deaf.py": {CRASH, SILENCE},  # it may close its input before or after it is asked
    "control_characters.py": {GARBAGE},
}
WELL_BEHAVED = ("forks.py", "stays.py")
"""These keep to the protocol, and only want to outlive it."""


@pytest.fixture
def left_behind(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Checks after a test that no process is left of those it started."""
    name, token = "TONK_TEST", secrets.token_hex(8)
    monkeypatch.setenv(name, token)
    mark, found = f"{name}={token}".encode(), list[int]()
    yield found
    found += marked(mark)
    assert not found


def bot(line: str, **settings: float) -> ProcessAgent:
    clocks = {"seconds": 1.0, "first_seconds": 0.3 if line == "hang_at_start.py" else 20.0, **settings}
    return ProcessAgent(f"cmd:{sys.executable} {BOTS}/{line}", max_forfeits=4, **clocks)  # type: ignore[arg-type]


def play(agents: list[Agent], seating: list[tuple[int, int]]) -> Played:
    """Plays a hand for each seating, the same decks in every call."""
    hands, rules = len(seating), lower("pagat")
    for agent in agents:
        agent.start(rules, 2, seed=1)
    keys = deck_keys(3, 0, hands), agent_keys(3, 0, hands)
    try:
        return play_hands(agents, np.array(seating), rules, *keys, np.ones(hands, np.int64))
    finally:
        for agent in agents:
            agent.end(np.zeros(0))


PAIRS = [(0, 1), (1, 2), (2, 0), (2, 1)] * 8
"""Agent 0 is the hostile one; every other hand is between 1 and 2."""


@pytest.fixture(scope="module")
def undisturbed() -> Played:
    """The same hands with a bot that keeps quiet in the place of the hostile one."""
    return play([make("heuristic:drop=0"), make("expert"), make("random")], PAIRS)


@pytest.mark.parametrize("line", HOSTILE)
def test_none_stops_or_skews_a_tournament(line: str, left_behind: list[int], undisturbed: Played) -> None:
    hostile, begun = bot(line), time.monotonic()
    played = play([hostile, make("expert"), make("random")], PAIRS)
    assert time.monotonic() - begun < 60
    assert (played.tables["phase"] == ENDED).all()
    assert not played.payments.sum(1).any()
    others = np.array([0 not in pair for pair in PAIRS])
    for field in played.tables.dtype.names or ():
        np.testing.assert_array_equal(played.tables[field][others], undisturbed.tables[field][others], field)
    assert hostile.is_out and set(hostile.forfeits) <= HOSTILE[line] <= set(REASONS), hostile.last_trouble
    # From some hand on all are forfeited, at the hostile bot's expense alone.
    forfeited = played.tables["ending"] == FORFEITED
    seats = np.array([pair.index(0) if 0 in pair else -1 for pair in PAIRS])
    assert forfeited.sum() >= 4 and not forfeited[others].any()
    assert (played.tables["ending_seat"][forfeited] == seats[forfeited]).all()
    assert (played.payments[forfeited, seats[forfeited]] == -2).all()
    assert hostile.last_trouble.isprintable() and len(hostile.last_trouble) < 1000


@pytest.mark.parametrize("line", WELL_BEHAVED)
def test_nothing_outlives_a_tournament(line: str, left_behind: list[int]) -> None:
    agent, begun = bot(line, seconds=20), time.monotonic()
    played = play([agent, make("expert"), make("random")], PAIRS[:8])
    assert time.monotonic() - begun < 60
    assert not agent.forfeits and not (played.tables["ending"] == FORFEITED).any()


def test_a_whole_tournament_by_spec(left_behind: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BOTS)
    results = run_tournament([f"cmd:{sys.executable} crash_mid_hand.py", "expert"], deals=8, seed=5)
    assert sum(agent.stakes for agent in results.agents) == 0
    shares = {agent.agent: agent.endings["forfeit"] for agent in results.agents}
    assert shares["expert"]["others"].stakes_per_hand == 2


def test_a_killed_arena_leaves_no_bot_behind(left_behind: list[int]) -> None:
    code = (
        "from tests.arena.test_hostile import bot, play\n"
        "from agents.registry import make\n"
        "play([bot('hang.py', seconds=600.0), make('expert')], [(0, 1)] * 4)\n"
    )
    root = Path(__file__).resolve().parents[2]
    arena = subprocess.Popen(
        [sys.executable, "-c", code], cwd=root, env={**os.environ, "PYTHONPATH": str(root)}
    )
    mark = f"TONK_TEST={os.environ['TONK_TEST']}".encode()
    try:
        wait_until(lambda: len(marked(mark)) >= 3)  # the arena, a bot and its guard
    finally:
        arena.send_signal(signal.SIGKILL)
        arena.wait()
    wait_until(lambda: not marked(mark))


def wait_until(is_so: object, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_flood_costs_no_time(left_behind: list[int]) -> None:
    begun = time.monotonic()
    hostile = bot("flood.py 100")
    play([hostile, make("expert")], [(0, 1), (1, 0)] * 4)
    assert hostile.forfeits == {FLOOD: 4}
    assert time.monotonic() - begun < 30
