"""OpenSpiel and ours agree: on the game, on how exploitable a policy is, and on every iterate of CFR."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from agents.registry import make
from tests.learning.small_games import tiny_rules
from train.cfr.exact import METHODS, Cfr
from train.cfr.expand import expand
from train.cfr.flat import FlatGame, Floats, flatten
from train.cfr.policies import agent_policy
from train.cfr.sampling import SampledCfr
from train.cfr.sequences import Sequences

pytestmark = pytest.mark.extras
pyspiel = pytest.importorskip("pyspiel")

TINY = """
base = "pagat"
turn_limit = 1
[deck]
ranks = "A234"
suits = 1
[deal]
hand_size = 1
[instant_wins]
tiers = []
"""
SMALL = tiny_rules(
    deck={"ranks": "A234", "suits": 1}, deal={"hand_size": 1}
)  # what TINY says; cards that are dealt one by one make larger trees
LEDUC_VALUE = -0.0856


@pytest.fixture(scope="module")
def tonk(tmp_path_factory: pytest.TempPathFactory) -> Any:
    import tonk_env.openspiel  # noqa: F401  registers the game

    path = tmp_path_factory.mktemp("rules") / "tiny.toml"
    path.write_text(TINY)
    return pyspiel.load_game("tonk", {"rules": str(path), "players": 2})


def test_openspiels_own_test_passes(tonk: Any) -> None:
    pyspiel.random_sim_test(tonk, num_sims=5, serialize=False, verbose=False)
    for rules, players in (("pagat", 2), ("chicago", 3), ("push_ups", 4), ("widow", 2), ("runout", 5)):
        game = pyspiel.load_game("tonk", {"rules": rules, "players": players})
        pyspiel.random_sim_test(game, num_sims=2, serialize=False, verbose=False)


def test_actions_are_told_in_words(tonk: Any) -> None:
    state = tonk.new_initial_state()
    assert state.action_to_string(state.legal_actions()[0]) == "Ac"
    for card in (0, 1, 2):
        state.apply_action(card)
    assert [state.action_to_string(action) for action in state.legal_actions()] == ["drop", "stock", "take"]
    assert state.information_state_string(0).splitlines() == [
        "seat 0 of 2, dealer 1",
        "hand Ac",
        "upcard 3c",
    ]


def policy_by_log(policy: Floats) -> Any:
    """A policy of ours, as a function of OpenSpiel's states."""
    game = expand(SMALL)
    rows = {int(key): at for at, key in enumerate(game.sets["key"])}

    def chances(state: Any) -> Mapping[int, float]:
        found = game.sets[rows[int(state.hand.view(state.current_player())["log"])]]
        places = slice(int(found["first"]), int(found["first"]) + int(found["num_actions"]))
        return dict(zip(game.actions[places].tolist(), policy[places].tolist(), strict=True))

    return chances


def policies() -> dict[str, Floats]:
    game = expand(SMALL)
    weights = np.random.default_rng(0).random(game.num_places) ** 4
    solver = Cfr(game, METHODS["cfr+"])
    for _ in range(20):
        solver.step()
    return {
        "uniform": game.uniform_policy(),
        "random": weights / np.repeat(np.add.reduceat(weights, game.sets["first"]), game.sets["num_actions"]),
        "cfr+": solver.average_policy(),
        "reference": agent_policy(game, make("reference")),
    }


def test_exploitability_is_openspiels(tonk: Any) -> None:
    from open_spiel.python import policy as spiel_policy
    from open_spiel.python.algorithms import expected_game_score, exploitability

    sequences = Sequences(expand(SMALL))
    for name, policy in policies().items():
        theirs = spiel_policy.tabular_policy_from_callable(tonk, policy_by_log(policy))
        assert sequences.exploitability(policy) == pytest.approx(
            exploitability.exploitability(tonk, theirs), rel=1e-9
        ), name
        values = expected_game_score.policy_value(tonk.new_initial_state(), [theirs, theirs])
        np.testing.assert_allclose(sequences.values(policy), values, rtol=1e-9, atol=1e-12)


def by_string(game: FlatGame, policy: Floats, root: Any) -> dict[str, list[float]]:
    """A policy by information state, as OpenSpiel names them."""
    found: dict[str, list[float]] = {}

    def walk(node: int, state: Any) -> None:
        at = game.nodes[node]
        if at["seat"] >= 0:
            first, count = int(game.sets["first"][at["index"]]), int(at["num_children"])
            found[state.information_state_string()] = policy[first : first + count].tolist()
        for child in range(int(at["num_children"])):
            label = int(game.nodes["label"][at["first_child"] + child])
            walk(int(at["first_child"]) + child, state.child(label))

    walk(0, root)
    return found


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
@pytest.mark.parametrize(("method", "theirs"), [("cfr", "CFRSolver"), ("cfr+", "CFRPlusSolver")])
def test_iterates_are_openspiels(name: str, method: str, theirs: str) -> None:
    spiel = pyspiel.load_game(name)
    game = flatten(spiel.new_initial_state())
    ours, other = Cfr(game, METHODS[method]), getattr(pyspiel, theirs)(spiel)
    sequences = Sequences(game)
    for _ in range(25):
        ours.step()
        other.evaluate_and_update_policy()
        if ours.iterations in (1, 2, 25):
            average = other.tabular_average_policy()
            table = by_string(game, ours.average_policy(), spiel.new_initial_state())
            assert table.keys() == average.policy_table().keys()
            for key, chances in table.items():
                expected = [chance for _, chance in average.policy_table()[key]]
                np.testing.assert_allclose(chances, expected, atol=1e-9, err_msg=key)
            assert sequences.exploitability(ours.average_policy()) == pytest.approx(
                pyspiel.exploitability(spiel, average), rel=1e-9
            )


@pytest.mark.parametrize(("method", "alpha_beta_gamma"), [("lcfr", (1, 1, 1)), ("dcfr", (1.5, 0, 2))])
def test_discounted_iterates_are_openspiels(
    method: str, alpha_beta_gamma: tuple[float, float, float]
) -> None:
    from open_spiel.python.algorithms import discounted_cfr

    spiel = pyspiel.load_game("kuhn_poker")
    game = flatten(spiel.new_initial_state())
    alpha, beta, gamma = alpha_beta_gamma
    ours, other = Cfr(game, METHODS[method]), discounted_cfr.DCFRSolver(spiel, alpha, beta, gamma)
    for _ in range(20):
        ours.step()
        other.evaluate_and_update_policy()
    average = other.average_policy()
    for key, chances in by_string(game, ours.average_policy(), spiel.new_initial_state()).items():
        np.testing.assert_allclose(chances, average.policy_for_key(key), atol=1e-9, err_msg=key)


def test_tonk_is_solved_by_openspiel_too(tonk: Any) -> None:
    """OpenSpiel's CFR on OpenSpiel's Tonk, where cards are dealt one by one, has our iterates."""
    from open_spiel.python import policy as spiel_policy
    from open_spiel.python.algorithms import cfr, exploitability

    other, ours = cfr.CFRPlusSolver(tonk), Cfr(expand(SMALL), METHODS["cfr+"])
    for _ in range(3):
        other.evaluate_and_update_policy()
        ours.step()
    mine = spiel_policy.tabular_policy_from_callable(tonk, policy_by_log(ours.average_policy()))
    theirs = other.average_policy()
    # Where actions are worth the same, rounding decides, and their deals are added up in another order.
    is_same = np.isclose(mine.action_probability_array, theirs.action_probability_array, rtol=0, atol=1e-9)
    assert is_same.mean() > 0.99
    assert ours.sequences.exploitability(ours.average_policy()) == pytest.approx(
        exploitability.exploitability(tonk, theirs), rel=0.02
    )


def test_sampling_and_search_of_openspiel_run_on_tonk(tonk: Any) -> None:
    from open_spiel.python.algorithms import external_sampling_mccfr, mcts

    solver = external_sampling_mccfr.ExternalSamplingSolver(tonk)
    for _ in range(3):
        solver.iteration()
    assert solver.average_policy() is not None
    state = pyspiel.load_game("tonk", {"rules": "pagat"}).new_initial_state()
    draw = np.random.RandomState(1)
    while state.is_chance_node():
        state.apply_action(int(draw.choice([card for card, _ in state.chance_outcomes()])))
    bot = mcts.MCTSBot(state.get_game(), 1.5, 10, mcts.RandomRolloutEvaluator(1, draw), random_state=draw)
    assert bot.step(state) in state.legal_actions()


def test_leduc_is_solved() -> None:
    solver = Cfr(flatten(pyspiel.load_game("leduc_poker").new_initial_state()), METHODS["cfr+"])
    for _ in range(1500):
        solver.step()
    policy = solver.average_policy()
    assert solver.sequences.exploitability(policy) < 0.001
    assert solver.sequences.values(policy)[0] == pytest.approx(LEDUC_VALUE, abs=0.001)


def test_sampling_learns_leduc_as_fast_as_openspiels() -> None:
    spiel = pyspiel.load_game("leduc_poker")
    game = flatten(spiel.new_initial_state())
    sequences, ours, theirs = Sequences(game), [], []
    for seed in range(4):
        solver = SampledCfr(game, "external", seed=seed, batch=3000)
        solver.step()
        ours.append(sequences.exploitability(solver.average_policy()))
        other = pyspiel.ExternalSamplingMCCFRSolver(spiel, seed)
        for _ in range(3000):
            other.run_iteration()
        theirs.append(pyspiel.exploitability(spiel, other.average_policy()))
    spread = np.hypot(np.std(ours), np.std(theirs))
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * spread / 2 + 0.02
