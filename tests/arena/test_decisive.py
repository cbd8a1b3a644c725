"""Decisive hands: found while hands are played, and played again to be read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.random import RandomAgent
from agents.registry import make
from arena.blocks import GroupHands, match_hands, play_blocks
from arena.config import ArenaConfig
from arena.deals import hands_of_block
from arena.decisive import MOST, Swings, decisive, fits
from arena.replays import play_again
from arena.run import run
from arena.schedule import make_groups
from arena.tally import Tally
from arena.tournament import run_tournament
from tonk_env.rules import lower

AGENTS = ("expert", "random", "heuristic:drop=15", "reference")
BOTS = Path(__file__).parent / "bots"


class Erratic(RandomAgent):
    """Decides by what is not shown to it: how often it was started. It drops from the second session on."""

    name = "erratic"
    sessions = 0

    def start(self, rules: Any, num_players: int, seed: int) -> None:
        super().start(rules, num_players, seed)
        type(self).sessions += 1

    def act(self, views: Any, legal: Any, num_legal: Any, keys: Any) -> Any:
        first_or_last = 0 if self.sessions > 1 else num_legal - 1
        return legal[np.arange(len(legal)), first_or_last].astype(np.int32)


@pytest.mark.parametrize(("rules", "players"), [("pagat", 2), ("pagat", 3), ("big_one", 2)])
def test_the_largest_swing_against_all_hands(rules: str, players: int) -> None:
    groups, lowered, swings = make_groups("round_robin", 3, players), lower(rules), Swings()
    paid: dict[tuple[Any, int, int, int], list[float]] = {}

    def watch(hands: GroupHands) -> None:
        for row in range(len(hands.seating)):
            block = hands.first + row // hands.seatings
            for seat in range(players):
                key = hands.group, block, hands.number, seat
                paid.setdefault(key, []).append(float(hands.played.payments[row, seat]))

    tally = Tally(groups, 3, hands_of_block(groups[0]), match_hands(lowered))
    agents = [make(spec) for spec in AGENTS[:3]]
    play_blocks(agents, groups, lowered, players, 7, 5, 20, tally, at_once=3, watchers=[swings, watch])
    exported = swings.export(groups)
    assert fits(exported, groups)
    for found in decisive([exported], groups, range(3), frozenset()):
        every = {key[1:]: each for key, each in paid.items() if key[0] == found.group}
        # Of equal swings that of the first block, and in it of the first hand and seat.
        first = min(every, key=lambda key: (min(every[key]) - max(every[key]), *key))
        swing, stakes = found.swing, every[first]
        assert (swing.block, swing.number, swing.seat) == first
        assert (swing.best / 1e6, swing.worst / 1e6) == (max(stakes), min(stakes))
        assert (swing.best_seating, swing.worst_seating) == (np.argmax(stakes), np.argmin(stakes))


def test_decisive_deals_do_not_depend_on_how_they_were_played(tmp_path: Path) -> None:
    options: dict[str, Any] = {"deals": 60, "seed": 2, "batch": 20}
    one = run_tournament(AGENTS, **options).decisive
    assert len(one) == MOST
    assert run_tournament(AGENTS, **options, workers=2).decisive == one
    assert run_tournament(AGENTS, **options, batch_blocks=7).decisive == one
    assert run_tournament(AGENTS, **options, out=tmp_path).decisive == one
    assert run_tournament(AGENTS, **options, out=tmp_path).decisive == one  # from what was kept


def test_groups_of_the_best_come_first() -> None:
    results = run_tournament(AGENTS, deals=60, seed=2)
    place = {each.agent: number for number, each in enumerate(results.agents)}
    places = [sorted(place[AGENTS[member]] for member in each.group) for each in results.decisive]
    assert places[0] == [0, 1] and places[1] == [0, 2]
    assert [sum(each) for each in places] == sorted(map(sum, places))


@pytest.mark.parametrize(
    ("rules", "players", "agents"),
    [
        ("pagat", 2, (*AGENTS[:2], "pagat_2p")),
        ("pagat", 4, AGENTS),
        ("big_one", 3, AGENTS[:3]),
        ("slap", 3, AGENTS[:2]),
    ],
)
def test_hands_are_played_again(rules: str, players: int, agents: tuple[str, ...]) -> None:
    config = ArenaConfig(agents=agents, rules=rules, players=players, deals=150)
    results = run(config)
    replays = play_again(config, results.decisive)
    assert len(replays) == 2 * len(results.decisive) > 0
    for best, worst in zip(replays[::2], replays[1::2], strict=True):
        assert best.hand is not None and worst.hand is not None, (best.reason, worst.reason)
        assert (best.block, best.number, best.seat) == (worst.block, worst.number, worst.seat)
        for each in (best, worst):
            assert each.hand is not None and each.hand.payments is not None
            assert each.hand.payments[each.seat] == pytest.approx(each.stakes)
        best_deck, worst_deck = best.hand._deck(), worst.hand._deck()
        assert best_deck == worst_deck
        assert best.stakes > worst.stakes and best.agents != worst.agents
        assert sorted(best.agents) == sorted(worst.agents)


def test_what_cannot_be_played_again_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    config = ArenaConfig(agents=("test_decisive:Erratic", "expert"), deals=50)
    best, worst = play_again(config, run(config).decisive)
    for replay in (best, worst):
        assert replay.hand is None
        assert replay.reason.startswith("played again, it was another hand")
    monkeypatch.chdir(BOTS)
    program = f"cmd:{sys.executable} stays.py"
    config = ArenaConfig(agents=(program, "expert"), deals=10)
    replays = play_again(config, run(config).decisive)
    assert {replay.reason.removeprefix(program) for replay in replays} == {
        " is a program, which may decide otherwise when it is asked again"
    }


def test_forfeits_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BOTS)
    config = ArenaConfig(agents=(f"cmd:{sys.executable} crash_at_start.py", "expert"), deals=4)
    assert run(config).decisive == ()


@pytest.mark.parametrize("exported", [None, [], [[]], [[], [1, 2]], [[], [1.0] * 9], [[], 3]])
def test_what_is_not_exported_swings(exported: Any) -> None:
    groups = [(0, 1), (0, 2)]
    assert not fits(exported, groups)
    assert fits([[], [1] * 9], groups)
