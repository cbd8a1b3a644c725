from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import arena.blocks
from arena.play import Played, play_hands
from arena.schedule import SCHEDULES, make_groups
from arena.tournament import run_tournament
from tonk_env.errors import TonkError

AGENTS = ["heuristic:drop=5", "random", "reference"]


def test_groups() -> None:
    assert make_groups("all_pairs", 3, 3) == [
        (0, 0, 1),
        (0, 1, 1),
        (0, 0, 2),
        (0, 2, 2),
        (1, 1, 2),
        (1, 2, 2),
    ]
    assert make_groups("field", 3, 4) == [(0, 1, 1, 1), (0, 2, 2, 2)]
    assert make_groups("host", 3, 4) == [(0, 0, 0, 1), (0, 0, 0, 2)]
    assert make_groups("field", 5, 2, entrants=2) == [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)]
    for agents in (2, 4):
        assert make_groups("all_pairs", agents, 2) == make_groups("round_robin", agents, 2)
        assert make_groups("host", agents, 2) == make_groups("field", agents, 2)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("players", [2, 3, 4, 6])
def test_everyone_sits_everywhere_equally_often_on_the_same_decks(
    schedule: str, players: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[Any, Any, Any]] = []

    def watched(agents: Any, seating: Any, rules: Any, decks: Any, *rest: Any, **options: Any) -> Played:
        played = play_hands(agents, seating, rules, decks, *rest, **options)
        seen.append((seating, decks, played.payments))
        return played

    monkeypatch.setattr(arena.blocks, "play_hands", watched)
    results = run_tournament(AGENTS, players=players, deals=6, schedule=schedule)
    assert sum(each.stakes for each in results.agents) == 0.0
    assert results.hands == sum(len(seating) for seating, *_ in seen)
    every_deck = Counter(seen[0][1].tolist())
    assert len(every_deck) == 6
    total = 0.0
    for seating, decks, payments in seen:
        assert Counter(decks.tolist()) == every_deck
        total += payments.sum()
        for agent in set(seating.ravel().tolist()):
            for deck in every_deck:
                assert len(set((seating[decks == deck] == agent).sum(0).tolist())) == 1
    assert total == 0.0
    hands = {each.agent: each.hands for each in results.agents}
    assert sum(hands.values()) == players * results.hands
    if schedule in ("round_robin", "all_pairs"):
        assert len(set(hands.values())) == 1
    else:
        assert hands["random"] == hands["reference"]
        assert len(results.pairs) == 2


def test_three_different_agents_share_every_deck() -> None:
    results = run_tournament(AGENTS, players=3, deals=10)
    assert [each.hands for each in results.agents] == [60, 60, 60]
    assert results.effects == ()  # nobody is ever away


def test_a_field_of_its_own() -> None:
    field = ["reference", "heuristic:drop=25"]
    both = run_tournament(["expert", "random"], deals=20, schedule="field", field=field)
    met = {frozenset((pair.a, pair.b)) for pair in both.pairs}
    assert met == {frozenset((entrant, other)) for entrant in ("expert", "random") for other in field}
    alone = run_tournament(["expert"], deals=20, schedule="field", field=field)
    (mine,) = (each for each in alone.agents if each.agent == "expert")
    assert mine.per_hand == next(each for each in both.agents if each.agent == "expert").per_hand
    everyone = run_tournament(["expert", *field], deals=20)
    assert everyone.pair("expert", "reference").per_hand == alone.pair("expert", "reference").per_hand


def test_effects_of_company_against_means_taken_by_hand() -> None:
    specs = ["heuristic:drop=5", "heuristic:drop=25", "random", "reference"]
    deals = 30
    results = run_tournament(specs, players=3, deals=deals)
    assert len(results.effects) == 12
    means: dict[tuple[str, ...], dict[str, float]] = {}
    for left_out in specs:
        trio = [spec for spec in specs if spec != left_out]
        alone = run_tournament(trio, players=3, deals=deals)
        means[tuple(trio)] = {each.agent: each.per_hand.mean for each in alone.agents}
    for effect in results.effects:
        mine = {trio: row[effect.agent] for trio, row in means.items() if effect.agent in trio}
        with_other = [mean for trio, mean in mine.items() if effect.other in trio]
        without = [mean for trio, mean in mine.items() if effect.other not in trio]
        assert (len(with_other), len(without)) == (2, 1)
        assert effect.per_hand.mean == pytest.approx(np.mean(with_other) - without[0])
        assert effect.per_hand.half > 0


@pytest.mark.parametrize(
    ("agents", "options", "message"),
    [
        (["random", "reference"], {"schedule": "swiss"}, "schedule = 'swiss': Input should be"),
        ([], {"schedule": "field", "field": ["random", "reference"]}, "agents: none given, and schedule"),
        (["random"], {"schedule": "field", "field": ["random"]}, "agents: random is there twice"),
        (["random", "reference"], {"until": -1.0}, "until = -1.0: "),
        (["random", "reference"], {"workers": 0}, "workers = 0: "),
    ],
)
def test_mistakes_take_one_line(agents: list[str], options: dict[str, Any], message: str) -> None:
    with pytest.raises(TonkError, match=message) as caught:
        run_tournament(agents, deals=4, **options)
    assert "\n" not in str(caught.value)
