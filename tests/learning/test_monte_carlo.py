"""Monte Carlo CFR through an abstraction: its keys and moves, what it learns, and its tables at the table."""

from __future__ import annotations

import functools
import itertools
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.base import Agent
from agents.bot import make_tools
from agents.registry import make
from agents.tabular.abstracted import Abstracted
from agents.tabular.abstraction import FEATURES, LOG, NUM_FEATURES, Abstraction, key_of
from agents.tabular.moves import FIRST_ROW, NUM_MOVES, offer
from agents.tabular.table import read_table
from tests.agents.tables import Shown, permute_hidden, show, walk
from tests.learning.test_solver_runs import TINY
from tonk_env.errors import TonkError
from tonk_env.rules import LoweredRules, lower
from train.cfr.monte_carlo import MonteCarlo
from train.cfr.policies import exact_exploitability
from train.cfr.walks import add_up, match_regrets, walk_hands
from train.config import make_config

NAMES = [name for name in FEATURES if name != "log"]
EVERYTHING = Abstraction(
    draw={name: () for name in NAMES if "playing only" not in FEATURES[name]},
    play={name: () for name in NAMES if "drawing only" not in FEATURES[name]},
)
STEERS = ("heuristic:drop=0", "heuristic:drop=3,keep=5", "expert", "random")


def solver(rules: str = "pagat", players: int = 2, **sections: Any) -> MonteCarlo:
    """A small one that measures itself against nobody."""
    return MonteCarlo(
        make_config({
            "game": {"rules": rules, "players": players},
            "monte_carlo": {"hands": 200, "blocks": 2},
            "evaluation": {"anchors": []},
            **sections,
        })
    )  # fmt: skip


def table_of(solved: MonteCarlo) -> Abstracted:
    """The agent that a solver writes, as it is read again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npz"
        solved.save_agent(path, {"name": "table"})
        agent = make(str(path))
    assert isinstance(agent, Abstracted)
    return agent


@functools.cache
def trained(rules: str = "pagat", players: int = 2) -> Abstracted:
    solved = solver(rules, players)
    for _ in range(3):
        solved.step()
    return table_of(solved)


def steers(rules: LoweredRules, players: int) -> list[Agent]:
    agents = [make(spec) for spec in STEERS]
    for agent in agents:
        agent.start(rules, players, seed=0)
    return agents


class Choices:
    """What an abstraction makes of views."""

    def __init__(self, abstraction: Abstraction, rules: LoweredRules, players: int) -> None:
        self.plan, self.styles = abstraction.compile()
        self.rules, self.tools = rules.record, make_tools(rules, players)
        self.moves, self.facts = np.zeros((1, NUM_MOVES), np.int64), np.zeros(NUM_FEATURES, np.int64)

    def offered(self, shown: Shown, j: int) -> list[int]:
        """The actions that macro moves stand for."""
        count = int(shown.num_legal[j])
        found = offer(
            shown.views, j, shown.legal, count, self.rules, self.plan, self.styles, self.tools,
            np.zeros_like(shown.legal), self.moves, FIRST_ROW,
        )  # fmt: skip
        actions = [int(action) for action in self.moves[0] if action >= 0]
        assert len(actions) == found
        return actions

    def key(self, shown: Shown, j: int) -> int:
        """The key of a decision; `facts` then holds its features."""
        key = key_of(
            shown.views, j, self.moves, FIRST_ROW, self.rules, self.plan, self.styles, self.tools, self.facts
        )
        return int(key)


SETTINGS = [
    ("pagat", 2), ("pagat_waiting", 3), ("jokers_wild_25", 2), ("slap", 3), ("widow", 2), ("chicago", 4),
    ("must_spread", 2), ("seven_card", 2), ("runout", 6), ("three_spread_lock", 3),
]  # fmt: skip


@pytest.mark.parametrize(("preset", "players"), SETTINGS)
def test_every_macro_move_is_another_legal_action(preset: str, players: int) -> None:
    rules = lower(preset)
    choices, met = Choices(EVERYTHING, rules, players), 0
    for tables, rows in walk(steers(rules, players), rules, players, hands=20):
        shown = show(tables, rows, rules)
        for j in range(len(rows)):
            actions = choices.offered(shown, j)
            assert set(actions) <= set(shown.legal[j, : shown.num_legal[j]].tolist())
            assert len(set(actions)) == len(actions)
            met += len(actions) > 1
    assert met > 100


@pytest.mark.parametrize(("preset", "players"), [("pagat", 2), ("pagat_waiting", 4), ("jokers_wild_25", 3)])
def test_keys_depend_on_the_view_alone(preset: str, players: int) -> None:
    rules = lower(preset)
    choices, moved = Choices(EVERYTHING, rules, players), 0
    for step, (tables, rows) in enumerate(
        itertools.islice(walk(steers(rules, players), rules, players, 30), 30)
    ):
        shown, hidden = show(tables, rows, rules), permute_hidden(tables, rows, rules, seed=step)
        shown_else = show(hidden, rows, rules)
        moved += int((hidden["hands"] != tables["hands"]).any((1, 2)).sum())
        for j in range(len(rows)):
            if len(choices.offered(shown, j)) > 1:
                key, facts = choices.key(shown, j), choices.facts.copy()
                choices.offered(shown_else, j)
                assert choices.key(shown_else, j) == key
                assert np.array_equal(np.delete(choices.facts, LOG), np.delete(facts, LOG))
    assert moved > 200


def test_edges_part_numbers_into_buckets() -> None:
    rules = lower("pagat")
    for edges in ((), (20, 30)):
        choices = Choices(Abstraction(draw={"count": edges}, play={"count": edges}), rules, 2)
        keys: dict[tuple[int, int], set[int]] = {}
        for tables, rows in walk(steers(rules, 2), rules, 2, hands=60):
            shown = show(tables, rows, rules)
            for j in range(len(rows)):
                if len(choices.offered(shown, j)) > 1:
                    count = int(shown.views[j]["count"])
                    bucket = sum(edge <= count for edge in edges) if edges else count
                    keys.setdefault((int(shown.views[j]["phase"]), bucket), set()).add(choices.key(shown, j))
        assert all(len(found) == 1 for found in keys.values())
        assert len(set.union(*keys.values())) == len(keys) > 5


@pytest.mark.parametrize(
    ("abstraction", "message"),
    [
        ({"draw": {"luck": []}}, "'luck' is no feature when drawing: there are log, moves"),
        ({"draw": {"left": []}}, "'left' is no feature when drawing"),
        ({"play": {"top_use": []}}, "'top_use' is no feature when playing"),
        ({"play": {"count": [10**30]}}, "abstraction.play.count[0]"),
        ({"play": {"count": [3, 3]}}, "count: edges ascend"),
        ({"discards": []}, "abstraction.discards"),
        ({"discards": [{"luck": 1}]}, "abstraction.discards[0].luck: no such option"),
        ({"discards": [{"keep": 1e9}]}, "abstraction.discards[0].keep"),
    ],
)
def test_a_wrong_abstraction_is_refused_in_one_line(abstraction: dict[str, Any], message: str) -> None:
    with pytest.raises(TonkError, match=re.escape(message)) as caught:
        make_config({"monte_carlo": {}, "abstraction": abstraction})
    assert "\n" not in str(caught.value)


def test_regrets_are_matched_over_what_is_offered() -> None:
    regrets = np.array([[3, 9, -1, 1, 0], [-1, -1, 5, -2, -3]], np.float32)
    moves = np.array([[7, -1, 8, 9, 9]])
    chances = np.zeros((1, NUM_MOVES))
    for known, wanted in (
        (0, [0.75, 0, 0, 0.25, 0]),
        (1, [0, 0, 1, 0, 0]),
        (-1, [0.25, 0, 0.25, 0.25, 0.25]),
    ):
        match_regrets(regrets, known, moves, chances, 0)
        assert chances[0].tolist() == wanted


LOSSLESS = {
    "draw": {"log": ()}, "play": {"log": ()}, "take_swap": -1000,
    "discards": [{}, {"keep": 1000}, {"danger": 1000}, {"keep": -1000}],
}  # fmt: skip


@pytest.fixture(scope="module")
def tiny_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("rules") / "tiny.toml"
    path.write_text(TINY)
    return str(path)


@pytest.mark.parametrize(
    ("method", "batches", "bound"), [("external", 40, 0.1), ("rollouts", 40, 0.1), ("outcome", 80, 0.2)]
)
def test_a_small_game_is_nearly_solved(method: str, batches: int, bound: float, tiny_file: str) -> None:
    options = {"method": method, "hands": 500, "exploration": 0.6}
    solved = solver(tiny_file, monte_carlo=options, abstraction=LOSSLESS)
    solved.step()
    at_first = exact_exploitability(table_of(solved), lower(tiny_file))
    for _ in range(batches):
        solved.step()
    found = exact_exploitability(table_of(solved), lower(tiny_file))
    assert found < min(bound, at_first)


def test_resumed_equals_unbroken_with_any_number_of_threads() -> None:
    unbroken, stopped = solver(), solver()
    resumed = solver(monte_carlo={"hands": 200, "blocks": 2, "threads": 2})
    for _ in range(3):
        unbroken.step()
    stopped.step()
    resumed.load_state(stopped.state())
    for _ in range(2):
        resumed.step()
    assert resumed.iterations == unbroken.iterations == 1200
    for name, value in unbroken.state().items():
        assert np.array_equal(value, resumed.state()[name]), name


def test_moves_given_up_are_left_out_of_tables(tmp_path: Path) -> None:
    options = {"hands": 200, "blocks": 2}
    whole, pruned = solver(), solver(monte_carlo={**options, "least": 0.5})
    found = []
    for solved in (whole, pruned):
        for _ in range(3):
            solved.step()
        solved.save_agent(tmp_path / "table.npz", {"name": "table"})
        found.append(read_table(tmp_path / "table.npz")[1]["chances"])
    assert np.array_equal(found[1], np.where(found[0] < 127.5, 0, found[0]))
    assert (found[0] != found[1]).any()


def test_what_a_table_lacks_is_played_as_reference() -> None:
    rules, solved = lower("pagat"), solver()
    solved.step()
    solved.keys += 1  # no decision has such keys
    agent, rule = table_of(solved), make("reference")
    agents: list[Agent] = [agent, rule]
    for one in agents:
        one.start(rules, 2, 0)
    for tables, rows in itertools.islice(walk(steers(rules, 2), rules, 2, hands=40), 12):
        shown = show(tables, rows, rules)
        several = [len(Choices(Abstraction(), rules, 2).offered(shown, j)) != 1 for j in range(len(rows))]
        assert np.array_equal(agent.act(*shown)[several], rule.act(*shown)[several])


@pytest.mark.parametrize(("preset", "players"), [("pagat", 2), ("pagat", 4), ("slap", 3)])
def test_tables_play_legally_and_state_their_probabilities(preset: str, players: int) -> None:
    agent, rules = trained(preset, players), lower(preset)
    agent.start(rules, players, 0)
    for tables, rows in walk([agent, *steers(rules, players)], rules, players, hands=40):
        shown = show(tables, rows, rules)
        chances = agent.probabilities(shown.views, shown.legal, shown.num_legal)
        assert chances.sum(axis=1) == pytest.approx(1)
        actions = agent.act(*shown)
        assert shown.is_legal(actions).all()
        chosen = (shown.legal == actions[:, None]) & (chances > 0)
        assert chosen.any(axis=1).all()


def test_greedy_takes_the_likeliest(tmp_path: Path) -> None:
    path, rules = tmp_path / "table.npz", lower("pagat")
    solved = solver()
    solved.step()
    solved.save_agent(path, {"name": "table"})
    drawn, greedy = make(str(path)), make(f"{path}:greedy")
    for agent in (drawn, greedy):
        agent.start(rules, 2, 0)
    tables, rows = next(itertools.islice(walk(steers(rules, 2), rules, 2, hands=40), 3, None))
    shown = show(tables, rows, rules)
    assert isinstance(drawn, Abstracted)
    likeliest = drawn.probabilities(shown.views, shown.legal, shown.num_legal).argmax(axis=1)
    assert np.array_equal(greedy.act(*shown), shown.legal[np.arange(len(rows)), likeliest])


def test_another_game_is_played_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="another game than in training; it was trained on pagat with 2"):
        trained().start(lower("pagat"), 3, 0)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"keys": [5, 3], "chances": [1] * 10}, "its keys are none"),
        ({"keys": [3, 5], "chances": [1] * 9}, "its array chances is uint8 of shape"),
        ({"keys": [3, 5]}, "holds no array chances"),
    ],
)
def test_damaged_tables_are_refused(arrays: dict[str, list[int]], message: str) -> None:
    types = {"keys": np.int64, "chances": np.uint8}
    given = {name: np.array(values, types[name]) for name, values in arrays.items()}
    with pytest.raises(TonkError, match=message):
        Abstracted(trained().manifest, given, Path("table.npz"))


def test_a_table_of_an_unknown_abstraction_is_refused() -> None:
    manifest = trained().manifest.model_copy(update={"details": {"abstraction": {"draw": {"luck": []}}}})
    with pytest.raises(TonkError, match=r"manifest: abstraction\.draw: .*'luck' is no feature"):
        Abstracted(manifest, {}, Path("table.npz"))


def test_each_kernel_is_compiled_once(tiny_file: str) -> None:
    for solved in (solver(), solver(tiny_file, 3)):
        solved.step()
    for kernel in (walk_hands, add_up):
        assert len(getattr(kernel, "signatures", [()])) == 1
