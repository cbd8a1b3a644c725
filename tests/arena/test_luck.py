"""Luck taken out of payments: the mean stays, whatever rules and agents, and intervals are narrower."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from agents.base import FORFEIT, Agent
from agents.bot import Bot
from agents.registry import make
from arena.blocks import play_blocks, policy_of
from arena.deals import agent_keys, deck_keys, hands_of_block, seatings
from arena.luck import Luck
from arena.play import play_hands
from arena.tally import Tally
from arena.tournament import run_tournament
from tonk_env.rules import lower

Stakes = npt.NDArray[np.float64]


def block_means(
    agents: list[Agent], preset: str, group: tuple[int, ...], blocks: int, rollouts: int, seed: int
) -> tuple[Stakes, Stakes]:
    """The first agent's stakes per hand by block, as paid and with luck taken out."""
    rules, players, each = lower(preset), len(group), hands_of_block(group)
    for agent in agents:
        agent.start(rules, players, 0)
    drawing = [number for number, agent in enumerate(agents) if policy_of(agent) == "sampled"]
    decks, lots = (np.repeat(keys(seed, 0, blocks), each) for keys in (deck_keys, agent_keys))
    seating = np.ascontiguousarray(seatings(group, seed, 0, blocks)).reshape(-1, players)
    luck = Luck(rules, players, rollouts, agents, drawing)
    dealers = np.full(len(decks), players - 1)
    played = play_hands(agents, seating, rules, decks, lots, dealers, luck=luck)
    if preset != "push_ups":
        assert np.abs(played.adjusted.sum(axis=1)).max() < 1e-9
    assert not np.array_equal(played.adjusted, played.payments)
    first, held = seating == 0, group.count(0) * each // players
    return tuple(
        np.where(first, paid[:, :players], 0).sum(1).reshape(blocks, each).sum(1) / held
        for paid in (played.payments, played.adjusted)
    )  # type: ignore[return-value]


CASES: list[tuple[tuple[str, ...], str, tuple[int, ...], int]] = [
    (("expert", "reference"), "pagat", (0, 1), 700),
    (("random", "heuristic:drop=10"), "pagat", (0, 1), 700),
    (("heuristic:drop=15", "random", "expert"), "wikipedia", (0, 1, 2), 120),
    (("heuristic:drop=5", "heuristic:drop=20"), "slap", (0, 0, 1, 1), 200),
    (("heuristic:drop=5", "random"), "widow", (0, 1), 400),
    (("heuristic:drop=15", "heuristic:drop=20"), "push_ups", (0, 1), 300),
]


@pytest.mark.parametrize(("specs", "preset", "group", "blocks"), CASES, ids=lambda each: str(each))
def test_the_mean_stays(specs: tuple[str, ...], preset: str, group: tuple[int, ...], blocks: int) -> None:
    """Over several seeds the corrections are zero on average, within what their own spread allows."""
    found = [block_means([make(spec) for spec in specs], preset, group, blocks, 8, seed) for seed in range(3)]
    corrections = np.concatenate([adjusted - paid for paid, adjusted in found])
    error = corrections.std() / math.sqrt(len(corrections))
    assert 0.001 < error < 0.5
    assert abs(corrections.mean()) < 3.3 * error


def test_intervals_are_narrower() -> None:
    paid, adjusted = block_means([make("expert"), make("heuristic:drop=10")], "pagat", (0, 1), 300, 64, 4)
    assert adjusted.std() < 0.65 * paid.std()


def test_an_agent_against_itself_wins_exactly_nothing() -> None:
    twin = Bot("twin", make("reference").style)  # type: ignore[attr-defined]
    _, adjusted = block_means([make("reference"), twin], "pagat", (0, 1), 40, 16, 5)
    assert np.abs(adjusted).max() < 1e-12


def test_a_forfeit_ends_a_hand_here_too() -> None:
    class GivesUp(Bot):
        def act(self, views: Any, legal: Any, num_legal: Any, keys: Any) -> Any:
            actions = super().act(views, legal, num_legal, keys)
            return np.where(views["own_turns"][:, 0] >= 2, FORFEIT, actions).astype(np.int32)

    weak = GivesUp("weak", make("heuristic:drop=0").style)  # type: ignore[attr-defined]
    paid, adjusted = block_means([weak, make("heuristic:drop=3")], "pagat", (0, 1), 60, 8, 6)
    assert paid.mean() < -0.5 and adjusted.mean() < -0.5


def test_matches_are_adjusted_hand_by_hand() -> None:
    agents, rules = [make("heuristic:drop=15"), make("heuristic:drop=20")], lower("big_one")
    plain, adjusted = (Tally([(0, 1)], 2, 2, rules.rules.match.hands or 1) for _ in range(2))
    play_blocks(agents, [(0, 1)], rules, 2, 3, 0, 40, plain, adjusted=adjusted, rollouts=16)
    assert plain.hands(0) == adjusted.hands(0) == 800
    assert plain.per_hand(0).mean != adjusted.per_hand(0).mean
    assert adjusted.per_hand(0).half < plain.per_hand(0).half
    assert adjusted.per_hand(0).mean == pytest.approx(-adjusted.per_hand(1).mean, abs=1e-6)


def test_results_are_the_same_at_any_number_of_workers() -> None:
    options: dict[str, Any] = {"deals": 60, "batch": 20, "seed": 3, "luck": 8}
    one, two = (
        run_tournament(["expert", "reference", "random"], workers=workers, **options) for workers in (1, 2)
    )
    assert one.to_json() == two.to_json()
    data = json.loads(one.to_json())
    assert data["luck"] == 8
    for each in (*data["agents"], *data["pairs"]):
        assert set(each["adjusted"]) == {"stakes_per_hand", "ci95", "width"}
        ends, plain = each["adjusted"]["ci95"], each["ci95"]
        assert each["adjusted"]["width"] == pytest.approx((ends[1] - ends[0]) / (plain[1] - plain[0]))
    ranked = [each["adjusted"]["stakes_per_hand"] for each in data["agents"]]
    assert ranked == sorted(ranked, reverse=True)


def test_until_is_decided_without_luck() -> None:
    options: dict[str, Any] = {"deals": 2000, "batch": 50, "seed": 3, "until": 0.045, "min_deals": 100}
    plain = run_tournament(["expert", "heuristic:drop=10"], **options)
    adjusted = run_tournament(["expert", "heuristic:drop=10"], luck=64, **options)
    assert adjusted.deals < plain.deals
    assert all(each.adjusted is not None and each.adjusted.half < 0.045 for each in adjusted.agents)


def test_without_it_nothing_is_adjusted() -> None:
    results = run_tournament(["expert", "random"], deals=20)
    assert results.luck == 0 and all(each["adjusted"] is None for each in results.to_dict()["agents"])
