from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agents.registry import make
from arena.blocks import match_hands
from arena.deals import agent_keys, deck_keys, nth_keys, seatings
from arena.play import Standing, play_hands
from arena.tournament import run_tournament
from tonk_env.match import Match, bet_winners
from tonk_env.rules import lower

AGENTS = ["heuristic:drop=5", "reference", "random"]


@pytest.mark.parametrize(("rules", "players"), [("side_bets", 2), ("big_one", 3), ("big_one", 4)])
def test_a_block_is_whole_matches_on_the_same_decks(rules: str, players: int) -> None:
    lowered, deals, seed = lower(rules), 6, 2
    assert match_hands(lowered) == 10
    specs = [*AGENTS, "expert"][: max(2, players)]
    group = tuple(range(players))
    results = run_tournament(specs, rules=rules, players=players, deals=deals, seed=seed)
    agents = [make(spec) for spec in specs]
    for agent in agents:
        agent.start(lowered, players, 0)
    won = np.zeros(players)
    by_turn = np.zeros((players, players))
    for block in range(deals):
        deck, lots = deck_keys(seed, block, 1), agent_keys(seed, block, 1)
        for seating in seatings(group, seed, block, 1)[0]:
            match = Match(lowered, players, dealer=players - 1)
            while not match.is_over:
                bets = np.array([[match.deals_since_won["suit"], match.deals_since_won["naturals"]]])
                dealer, number = match.dealer, match.number
                played = play_hands(
                    agents,
                    seating[None],
                    lowered,
                    nth_keys(deck, number),
                    nth_keys(lots, number),
                    np.array([dealer]),
                    Standing(bets, match.multiplier),
                )
                paid = played.payments[0, :players]
                for seat in range(players):
                    won[seating[seat]] += paid[seat]
                    by_turn[seating[seat], (seat - dealer - 1) % players] += paid[seat]
                match.book(paid.tolist(), bet_winners(played.tables[0]))
            assert match.number == 10
    assert (results.match_hands, results.hands) == (10, deals * 10 * len(seatings(group, 0, 0, 1)[0]))
    for each in results.agents:
        number = specs.index(each.agent)
        assert each.stakes == pytest.approx(won[number])
        assert each.per_hand.mean == pytest.approx(won[number] / each.hands)
        for seat, estimate in enumerate(each.seats):
            assert estimate.mean == pytest.approx(by_turn[number, seat] / (each.hands / players))
    assert sum(each.stakes for each in results.agents) == 0.0


def test_an_agent_against_itself_wins_nothing_in_matches() -> None:
    one, other = make("heuristic:drop=9"), make("heuristic:drop=9")
    other.name = "other"
    results = run_tournament([one, other], rules="big_one", deals=10)
    assert all((each.per_hand.mean, each.per_hand.half) == (0, 0) for each in results.agents)


def test_matches_to_a_target_are_played_hand_by_hand(tmp_path: Path) -> None:
    preset = tmp_path / "target.toml"
    preset.write_text('base = "pagat"\n[match]\ntarget = 10\n', encoding="utf-8")
    assert match_hands(lower(str(preset))) == 1
    assert run_tournament(AGENTS[:2], rules=str(preset), deals=5).hands == 10
