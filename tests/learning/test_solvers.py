"""Solvers against known values: Kuhn poker, matrix-like games by hand, and each other."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

from agents.random import RandomAgent
from agents.registry import make
from tests.learning.small_games import Kuhn, tiny_rules
from tonk_env.errors import TonkError
from train.cfr.exact import METHODS, Cfr, discount
from train.cfr.expand import TonkGame, expand
from train.cfr.flat import CHANCE, TERMINAL, FlatGame, Floats, flatten
from train.cfr.policies import agent_policy, exact_exploitability
from train.cfr.sampling import SAMPLERS, SampledCfr
from train.cfr.sequences import Sequences


@functools.cache
def kuhn() -> Sequences:
    return Sequences(flatten(Kuhn()))


@functools.cache
def tiny() -> TonkGame:
    return expand(tiny_rules())


def walked_values(game: FlatGame, policy: Floats, node: int = 0) -> Floats:
    """What each seat wins on average, by walking the tree."""
    found = game.nodes[node]
    if found["seat"] == TERMINAL:
        return game.payoffs[found["index"]]
    first, count = int(found["first_child"]), int(found["num_children"])
    chances = game.nodes["chance"][first : first + count]
    if found["seat"] != CHANCE:
        start = int(game.sets["first"][found["index"]])
        chances = policy[start : start + count]
    return sum(chances[at] * walked_values(game, policy, first + at) for at in range(count))


def some_policy(game: FlatGame, seed: int) -> Floats:
    weights = np.random.default_rng(seed).random(game.num_places) ** 3
    return weights / np.repeat(np.add.reduceat(weights, game.sets["first"]), game.sets["num_actions"])


def test_values_are_those_of_the_tree() -> None:
    for game in (kuhn().game, tiny()):
        policy = some_policy(game, 1)
        np.testing.assert_allclose(Sequences(game).values(policy), walked_values(game, policy), atol=1e-12)


def test_no_pure_policy_beats_the_best_response() -> None:
    """All 64 pure policies of either player of Kuhn poker are tried."""
    game, policy = kuhn().game, some_policy(kuhn().game, 2)
    won, response = kuhn().best_responses(policy)
    for seat in range(2):
        best = -np.inf
        sets = np.flatnonzero(game.sets["seat"] == seat)
        for choices in itertools.product(range(2), repeat=len(sets)):
            tried = policy.copy()
            for index, choice in zip(sets, choices, strict=True):
                first = int(game.sets["first"][index])
                tried[first : first + 2] = np.eye(2)[choice]
            best = max(best, kuhn().values(tried)[seat])
        assert won[seat] == pytest.approx(best)
        mine = np.repeat(game.sets["seat"] == seat, game.sets["num_actions"])
        assert kuhn().values(np.where(mine, response, policy))[seat] == pytest.approx(best)


@pytest.mark.parametrize(
    ("method", "within"), [("cfr", 0.01), ("cfr+", 0.001), ("lcfr", 0.001), ("dcfr", 0.001)]
)
def test_kuhn_is_solved(method: str, within: float) -> None:
    solver = Cfr(kuhn(), METHODS[method])
    for _ in range(1000):
        solver.step()
    policy = solver.average_policy()
    assert 0 <= kuhn().exploitability(policy) < within
    assert kuhn().values(policy)[0] == pytest.approx(-1 / 18, abs=within)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("is_linear", [False, True])
def test_kuhn_is_solved_by_sampling(sampler: str, is_linear: bool) -> None:
    solver = SampledCfr(kuhn().game, sampler, seed=3, is_linear=is_linear, batch=200_000)
    solver.step()
    policy = solver.average_policy()
    assert kuhn().exploitability(policy) < 0.02
    assert kuhn().values(policy)[0] == pytest.approx(-1 / 18, abs=0.02)


def test_samplers_solve_tonk() -> None:
    exploitability = {
        sampler: Sequences(tiny()).exploitability(_sampled(sampler).average_policy()) for sampler in SAMPLERS
    }
    uniform = Sequences(tiny()).exploitability(tiny().uniform_policy())
    assert exploitability["external"] < 0.05 * uniform and exploitability["outcome"] < 0.3 * uniform


def _sampled(sampler: str) -> SampledCfr:
    solver = SampledCfr(tiny(), sampler, seed=1, is_linear=True, batch=100_000)
    solver.step()
    return solver


def test_batches_do_not_matter() -> None:
    one, other = (SampledCfr(kuhn().game, "external", seed=7, batch=batch) for batch in (600, 200))
    one.step()
    for _ in range(3):
        other.step()
    assert (one.iterations, one.visited) == (other.iterations, other.visited)
    assert np.array_equal(one.regrets, other.regrets) and np.array_equal(one.sums, other.sums)


def test_discounts_have_their_limits() -> None:
    assert [discount(1, power) for power in (np.inf, -np.inf, 0.0, 1.0)] == [1.0, 0.0, 0.5, 0.5]
    assert discount(4, 1.5) == pytest.approx(8 / 9)


def test_tonk_is_solved_and_saved_policies_are_measured_alike() -> None:
    sequences = Sequences(tiny())
    solver = Cfr(sequences, METHODS["cfr+"])
    before = sequences.exploitability(solver.average_policy())
    for _ in range(300):
        solver.step()
    assert sequences.exploitability(solver.average_policy()) < 0.001 < 0.1 < before


def test_agents_are_measured_exactly() -> None:
    rules = tiny_rules()
    uniform = Sequences(tiny()).exploitability(tiny().uniform_policy())
    assert exact_exploitability(RandomAgent(), rules) == pytest.approx(uniform, rel=1e-12)
    assert exact_exploitability(make("heuristic:drop=3"), rules) > 0


def test_who_sits_where_does_not_matter_to_an_agent() -> None:
    """The policy asked for in a seat is the one that is played there."""
    policy = agent_policy(tiny(), make("reference"))
    certain = np.add.reduceat(policy**2, tiny().sets["first"])
    np.testing.assert_allclose(certain, 1)


def test_three_seats_are_measured() -> None:
    rules = tiny_rules(deal={"hand_size": 1})
    assert exact_exploitability(RandomAgent(), rules, 3) > 0


def test_agents_that_cannot_say_are_refused() -> None:
    class Mute:
        name = "mute"
        start = act = end = None

    with pytest.raises(TonkError, match="mute: only its moves are seen"):
        agent_policy(tiny(), Mute())  # type: ignore[arg-type]


def test_probabilities_that_are_none_are_refused() -> None:
    class Wrong(RandomAgent):
        def probabilities(self, views, legal, num_legal):  # type: ignore[no-untyped-def]
            return 0.9 * super().probabilities(views, legal, num_legal)

    with pytest.raises(TonkError, match=r"add up to 0\.9"):
        agent_policy(tiny(), Wrong())
