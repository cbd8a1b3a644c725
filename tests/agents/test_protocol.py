"""What every agent must do: play legally, by what it may know alone, whatever else is decided beside it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from agents.base import Agent, Mixed
from agents.registry import make
from tests.agents.tables import permute_hidden, show, walk
from tonk_env._jit import mix
from tonk_env.limits import MAX_LEGAL
from tonk_env.rules import load_preset, lower, preset_names

SPECS = ("random", "heuristic:drop=0", "heuristic:drop=3,keep=5", "heuristic:drop=15", "reference", "expert")
SETTINGS = [(preset, players) for preset in preset_names() for players in lower(preset).rules.player_counts()]


def started(preset: str, players: int) -> list[Agent]:
    agents = [make(spec) for spec in SPECS]
    for agent in agents:
        agent.start(lower(preset), players, seed=0)
    return agents


@pytest.mark.parametrize(("preset", "players"), SETTINGS)
def test_moves_are_legal_under_every_preset(preset: str, players: int) -> None:
    agents, rules = started(preset, players), lower(preset)
    for tables, rows in walk(agents, rules, players, hands=60):
        shown = show(tables, rows, rules)
        for agent in agents:
            actions = agent.act(*shown)
            assert actions.dtype == np.int32 and actions.shape == rows.shape, agent.name
            assert shown.is_legal(actions).all(), agent.name


@pytest.mark.parametrize(("preset", "players"), [("pagat", 2), ("pagat", 4), ("runout", 5), ("vietnam", 3)])
def test_hidden_cards_and_the_batch_change_no_decision(preset: str, players: int) -> None:
    agents, rules = started(preset, players), lower(preset)
    moved = 0
    for step, (tables, rows) in enumerate(itertools.islice(walk(agents, rules, players, hands=30), 40)):
        shown = show(tables, rows, rules)
        hidden = permute_hidden(tables, rows, rules, seed=step)
        moved += int((hidden["hands"] != tables["hands"]).any((1, 2)).sum())
        shown_else = show(hidden, rows, rules)
        backwards = np.arange(len(rows))[::-1]
        for agent in agents:
            actions = agent.act(*shown)
            assert np.array_equal(agent.act(*shown_else), actions), agent.name
            assert np.array_equal(agent.act(*shown.rows(backwards)), actions[backwards]), agent.name
            assert np.array_equal(agent.act(*shown.rows(slice(0, 1))), actions[:1]), agent.name
    assert moved > 200


def test_agents_keep_the_protocol() -> None:
    for spec in SPECS:
        agent = make(spec)
        assert isinstance(agent, Agent)
        assert agent.name == spec
        agent.start(lower(load_preset("pagat").rules), 2, seed=1)
        agent.end(np.zeros(3))


@pytest.mark.parametrize("spec", [*SPECS, "pagat_2p", "pagat_2p:greedy", "pagat_2p_mccfr"])
def test_moves_are_drawn_with_the_probabilities_stated(spec: str) -> None:
    agent, rules = make(spec), lower("pagat")
    assert isinstance(agent, Mixed)
    agent.start(rules, 2, seed=0)
    tables, rows = next(itertools.islice(walk(started("pagat", 2)[1:], rules, 2, hands=40), 7, None))
    shown, draws = show(tables, rows, rules), 4000
    stated = agent.probabilities(shown.views, shown.legal, shown.num_legal)
    assert stated.shape == shown.legal.shape and stated.sum(axis=1) == pytest.approx(1)
    assert not stated[np.arange(MAX_LEGAL) >= shown.num_legal[:, None]].any()
    many = shown.rows(np.repeat(np.arange(len(rows)), draws))
    keys = np.array([mix(9, draw) for draw in range(len(many.keys))], np.int64)
    actions = agent.act(many.views, many.legal, many.num_legal, keys).reshape(len(rows), draws)
    for row, chosen in enumerate(actions):
        drawn = (chosen[:, None] == shown.legal[row, : shown.num_legal[row]]).mean(axis=0)
        assert drawn == pytest.approx(stated[row, : shown.num_legal[row]], abs=0.04)


def test_random_draws_every_legal_move_alike() -> None:
    agents, rules = started("pagat", 2), lower("pagat")
    tables, rows = next(walk(agents, rules, 2, hands=3000))
    shown = show(tables, rows, rules)
    assert set(shown.num_legal) == {3}
    drawn = np.bincount(agents[0].act(*shown), minlength=3) / len(rows)
    assert np.abs(drawn - 1 / 3).max() < 0.04
