"""Placements of the first deals, which OpenSkill rates."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from agents.registry import make
from arena import placements
from arena.blocks import GroupHands, match_hands, play_blocks
from arena.deals import hands_of_block
from arena.placements import Placements, fits, games
from arena.schedule import make_groups
from arena.tally import Tally
from arena.tournament import run_tournament
from tonk_env.rules import lower

AGENTS = ["expert", "random", "heuristic:drop=15"]


@pytest.mark.parametrize(
    ("rules", "players", "agents"), [("pagat", 2, 3), ("pagat", 3, 2), ("big_one", 4, 3)]
)
def test_placements_against_payments_added_up_by_hand(rules: str, players: int, agents: int) -> None:
    groups = make_groups("round_robin", agents, players)
    lowered, watched = lower(rules), Placements(3, 8)
    paid: dict[tuple[int, Any], dict[int, list[Fraction]]] = {}

    def watch(hands: GroupHands) -> None:
        for row, seats in enumerate(hands.seating.tolist()):
            game = paid.setdefault((hands.first + row // hands.seatings, hands.group), {})
            for seat, member in enumerate(seats):
                payment = Fraction(round(float(hands.played.payments[row, seat]) * 10**6), 10**6)
                game.setdefault(member, []).append(payment)

    tally = Tally(groups, agents, hands_of_block(groups[0]), match_hands(lowered))
    members = [make(spec) for spec in AGENTS[:agents]]
    play_blocks(members, groups, lowered, players, 7, 3, 8, tally, at_once=3, watchers=[watched, watch])
    exported = watched.export(groups)
    assert fits(exported, groups, 3, 8)
    expected = []
    for _, game in sorted(paid.items()):
        means = {member: sum(each, Fraction()) / len(each) for member, each in game.items()}
        beaten = {member: sum(mean > other for other in means.values()) for member, mean in means.items()}
        expected.append(tuple((AGENTS[member], float(beaten[member])) for member in sorted(means)))
    assert list(games([exported], groups, AGENTS, frozenset())) == expected
    assert len({points for game in expected for _, points in game}) > 1


def test_games_are_the_same_in_batches_of_any_size_and_any_number_of_processes() -> None:
    options: dict[str, Any] = {"deals": 60, "seed": 2}
    one = run_tournament(AGENTS, **options)
    assert len(one.games) == 60 * 3
    assert [name for name, _ in one.games[1]] == [AGENTS[0], AGENTS[2]]
    assert run_tournament(AGENTS, batch=7, **options).games == one.games
    assert run_tournament(AGENTS, batch=50, workers=2, **options).games == one.games


def test_the_first_deals_alone_are_rated(monkeypatch: pytest.MonkeyPatch) -> None:
    every = run_tournament(AGENTS, deals=30, batch=10).games
    monkeypatch.setattr(placements, "RATED_DEALS", 14)
    assert run_tournament(AGENTS, deals=30, batch=10).games == every[: 14 * 3]


@pytest.mark.parametrize("damaged", [None, [], ["0110"], ["0110", ""], ["01100", ""], ["01a0", ""], [1, 2]])
def test_what_is_not_exported_placements(damaged: Any) -> None:
    groups = [(0, 1), (0, 2)]
    assert fits(damaged, groups, 0, 2) == (damaged == ["0110", ""])
