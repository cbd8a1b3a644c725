"""The Gymnasium environment keeps Gymnasium's and SB3's contracts, and the learner's seat."""

from __future__ import annotations

import copy
import pickle
import random
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.utils.env_checker import check_env

from agents.base import FORFEIT, Views
from tests.api.steering import choose
from tonk_env import TonkError
from tonk_env.engine.state import PHASES
from tonk_env.gym_env import TonkEnv
from tonk_env.rules import LoweredRules, lower

SEATS = range(2, 7)


class Uniform:
    """Plays at random, and remembers what it was asked."""

    name = "tests:Uniform"

    def __init__(self) -> None:
        self.started: list[tuple[LoweredRules, int, int]] = []
        self.seats: list[int] = []
        self.keys: list[int] = []
        self.ended = 0

    def start(self, rules: LoweredRules, num_players: int, seed: int) -> None:
        self.started.append((rules, num_players, seed))

    def act(
        self,
        views: Views,
        legal: npt.NDArray[np.int16],
        num_legal: npt.NDArray[np.int64],
        keys: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.int32]:
        assert (views["to_move"] == 0).all()
        self.seats += views["seat"].tolist()
        self.keys += keys.tolist()
        chosen: npt.NDArray[np.int32] = legal[np.arange(len(legal)), keys % num_legal].astype(np.int32)
        return chosen

    def end(self, payments: npt.NDArray[np.float64]) -> None:
        self.ended += 1


class Asked(Uniform):
    """Plays at random, and remembers in which phase it was asked, and whether out of turn."""

    name = "tests:Asked"

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[tuple[str, bool]] = Counter()

    def act(self, views: Views, legal: Any, num_legal: Any, keys: Any) -> npt.NDArray[np.int32]:
        for phase, turn_of in zip(views["phase"].tolist(), views["turn_of"].tolist(), strict=True):
            self.asked[PHASES[phase], turn_of != 0] += 1
        return super().act(views, legal, num_legal, keys)


class Cheat(Uniform):
    """Plays what is not legal."""

    name = "tests:Cheat"

    def act(self, views: Views, legal: Any, num_legal: Any, keys: Any) -> npt.NDArray[np.int32]:
        return np.full(len(views), 300, np.int32)


class Quitter(Uniform):
    """Gives up every hand."""

    name = "tests:Quitter"

    def act(self, views: Views, legal: Any, num_legal: Any, keys: Any) -> npt.NDArray[np.int32]:
        return np.full(len(views), FORFEIT, np.int32)


def play(env: Any, rng: random.Random) -> tuple[float, dict[str, Any], int]:
    """Plays an episode on; returns reward and info of its end, and how many decisions it took."""
    inner, steps, done = env.unwrapped, 0, False
    while not done:
        action = choose(inner.action_masks(), inner._game.rules, rng)
        _, reward, done, truncated, info = env.step(action)
        assert not truncated
        assert done or not reward
        steps += 1
    return reward, info, steps


@pytest.mark.parametrize("seats", SEATS)
def test_gymnasium_checker(seats: int) -> None:
    env = gymnasium.make("tonk_env.gym_env:Tonk-v0", num_players=seats, opponents="heuristic:drop=10")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)
        check_env(TonkEnv(num_players=seats, opponents="random", render_mode="ansi"), skip_render_check=True)


@pytest.mark.parametrize("seats", SEATS)
def test_stable_baselines_checker(seats: int) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(TonkEnv(num_players=seats, opponents="random"))


def test_made_by_name() -> None:
    env = gymnasium.make(
        "tonk_env.gym_env:Tonk-v0", rules="seattle", num_players=3, opponents=["random", "heuristic:drop=5"]
    )
    env.reset(seed=0)
    inner = env.unwrapped
    assert isinstance(inner, TonkEnv)
    assert inner._game.rules is lower("seattle")
    assert [agent.name for agent in inner._game.agents] == ["random", "heuristic:drop=5"]
    assert env.get_wrapper_attr("action_masks")().any()


@pytest.mark.boundscheck
@pytest.mark.uncompiled
@pytest.mark.parametrize("seats", SEATS)
def test_episodes(seats: int) -> None:
    env = TonkEnv(num_players=seats, opponents="heuristic:drop=5")
    rng, sat, total = random.Random(seats), set(), 0.0
    for episode in range(60):
        observation, info = env.reset(seed=seats if not episode else None)
        assert env.observation_space.contains(observation)
        assert np.array_equal(info["action_mask"], env.action_masks())
        assert info["action_mask"].any()
        assert int(env._game.tables["seat"][0]) == info["seat"]
        sat.add(info["seat"])
        reward, end, _ = play(env, rng)
        assert reward == end["payments"][end["seat"]]
        assert end["seat"] == info["seat"]
        assert len(end["payments"]) == seats
        assert sum(end["payments"]) == pytest.approx(0)
        assert not env.action_masks().any()
        total += abs(reward)
    assert sat == set(range(seats))
    assert total > 20


def test_seat_is_kept() -> None:
    agent = Uniform()
    env = TonkEnv(num_players=3, opponents=agent, seat=2)
    dealers = set()
    for episode in range(30):
        _, info = env.reset(seed=None if episode else 1)
        assert info["seat"] == 2
        dealers.add(int(env._game.dealers[0]))
        play(env, random.Random(episode))
    assert set(agent.seats) == {0, 1}
    assert dealers == {0, 1, 2}


def test_each_opponent_sits_where_it_was_put() -> None:
    left, right = Uniform(), Uniform()
    env = TonkEnv(num_players=3, opponents=[left, right], seat=1)
    env.reset(seed=0)
    for _ in range(10):
        play(env, random.Random(0))
        env.reset()
    assert set(left.seats) == {2}
    assert set(right.seats) == {0}
    assert len(left.started) == 1
    assert left.started[0][:2] == (lower("pagat"), 3)
    env.close()
    env.close()
    assert (left.ended, right.ended) == (1, 1)


def test_keys_of_decisions_do_not_repeat() -> None:
    agent = Uniform()
    env = TonkEnv(num_players=4, opponents=agent)
    for episode in range(20):
        env.reset(seed=None if episode else 5)
        play(env, random.Random(episode))
    assert len(set(agent.keys)) == len(agent.keys) > 50


def test_seeds_and_streams() -> None:
    def run(env: TonkEnv, seed: int | None) -> list[Any]:
        observation, info = env.reset(seed=seed)
        return [observation.tobytes(), info["seat"], *play(env, random.Random(3))[0:1]]

    one, two = TonkEnv(num_players=3), TonkEnv(num_players=3)
    first = [run(one, 4), run(one, None), run(one, None)]
    assert first == [run(two, 4), run(two, None), run(two, None)]
    assert first == [run(one, 4), run(one, None), run(one, None)]
    assert first[0] != first[1] != first[2]
    assert run(two, 5) != first[0]


@pytest.mark.parametrize("twin", [copy.deepcopy, copy.copy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_have_equal_futures(twin: Callable[[Any], Any]) -> None:
    env = TonkEnv(num_players=3, opponents="random")
    env.reset(seed=2)
    env.step(int(env.action_masks().argmax() + 1))
    other = twin(env)
    ends = []
    for each in (env, other):
        rng = random.Random(0)
        ends.append([play(each, rng)[::2], each.reset()[0].tobytes(), play(each, rng)[::2]])
    assert ends[0] == ends[1]
    assert other._game.rules is env._game.rules


def test_an_illegal_move_forfeits_the_hand() -> None:
    env = TonkEnv(num_players=4, opponents="random")
    env.reset(seed=0)
    observation, reward, done, truncated, info = env.step(300)
    assert (reward, done, truncated) == (-6.0, True, False)
    assert info["ending"] == "forfeit"
    assert info["illegal"].startswith("300 discard ")
    assert info["payments"][info["seat"]] == -6.0
    assert env.observation_space.contains(observation)
    with pytest.raises(TonkError, match="reset"):
        env.step(0)
    env.reset()
    assert env.step(-1)[4]["illegal"] == "-1"


def test_an_illegal_move_may_raise_instead() -> None:
    env = TonkEnv(opponents="random", illegal="raise")
    env.reset(seed=0)
    before = env._game.tables.tobytes()
    with pytest.raises(TonkError, match=r"action 300 \(discard .*\) is not legal; legal are 0 drop, 1 stock"):
        env.step(300)
    assert env._game.tables.tobytes() == before
    env.step(1)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"num_players": 7}, "players = 7"),
        ({"opponents": "whist"}, "whist"),
        ({"num_players": 4, "opponents": ["random", "random"]}, "2 given; 4 players"),
        ({"seat": 2}, "seat = 2"),
        ({"illegal": "ignore"}, "ignore"),
        ({"render_mode": "rgb_array"}, "rgb_array"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(TonkError, match=named) as caught:
        TonkEnv(**arguments)
    assert "\n" not in str(caught.value)


def test_an_agent_that_cheats_is_named() -> None:
    env = TonkEnv(opponents=Cheat())
    with pytest.raises(TonkError, match="agent tests:Cheat chose action 300"):
        for seed in range(5):
            env.reset(seed=seed)


def test_an_opponent_may_forfeit_the_hand() -> None:
    env = TonkEnv(num_players=3, opponents=["random", Quitter()])
    seen = set()
    for seed in range(30):
        env.reset(seed=seed)
        _, info, _ = play(env, random.Random(seed))
        if info["ending"] == "forfeit":
            quitter = (info["seat"] + 2) % 3
            assert info["payments"] == [-4.0 if seat == quitter else 2.0 for seat in range(3)]
            seen.add(info["seat"])
    assert seen == {0, 1, 2}
    # A hand that it gives up before the learner's first decision is dealt again.
    env = TonkEnv(opponents=Quitter(), seat=0)
    for seed in range(10):
        env.reset(seed=seed)
        assert env._game.dealers[0] == 1


def test_rules_that_leave_nothing_to_decide() -> None:
    env = TonkEnv({"base": "pagat", "instant_wins": {"tiers": [{"at_most": 50}]}}, opponents="random")
    with pytest.raises(TonkError, match="before the learner could decide"):
        env.reset(seed=0)


def test_render_shows_what_the_learner_knows(capsys: pytest.CaptureFixture[str]) -> None:
    env = TonkEnv(opponents="random", render_mode="ansi", seat=0)
    env.reset(seed=0)
    text = env.render()
    assert text is not None
    assert "player_1: 5 cards" in text
    assert "0 drop" in text
    env = TonkEnv(opponents="random", render_mode="human", seat=0)
    env.reset(seed=0)
    assert capsys.readouterr().out == text + "\n"


def test_opponents_are_asked_to_slap_and_swap() -> None:
    """They answer out of turn too, between two decisions of the learner's; and so does the learner."""
    rules = {
        "base": "pagat",
        "slap": True,
        "deck": {"ranks": "A234567", "packs": 2},
        "deal": {"hand_size": 7, "widow": True},
        "drop": {"allowed": False},
    }
    agent = Asked()
    env = TonkEnv(rules, num_players=3, opponents=agent)
    checker = TonkEnv(rules, num_players=3, opponents="random")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(checker, skip_render_check=True)
    rng, learner = random.Random(0), Counter[tuple[str, bool]]()
    for episode in range(25):
        observation, info = env.reset(seed=None if episode else 3)
        done = False
        while not done:
            table = env._game.tables[0]
            assert int(table["seat"]) == info["seat"] and info["action_mask"].any()
            assert env.observation_space.contains(observation)
            learner[PHASES[int(table["phase"])], int(table["turn_seat"]) != info["seat"]] += 1
            action = choose(env.action_masks(), env._game.rules, rng)
            observation, reward, done, _, info = env.step(action)
        assert reward == info["payments"][info["seat"]]
        assert sum(info["payments"]) == pytest.approx(0)
    for asked in (agent.asked, learner):
        assert asked["slap", True] > 10 and asked["slap", False] > 0 and asked["give", True] > 0
        assert asked["widow", False] > 10 and not asked["widow", True]
        assert {phase for phase, out_of_turn in asked if out_of_turn} <= {"slap", "give", "target"}


@pytest.mark.parametrize(
    ("rules", "seats"),
    [({"slap": True}, 4), ({"deal": {"widow": True}}, 2), ({"side_bets": {"suit": 1}, "slap": True}, 3)],
)
def test_gymnasium_checker_under_variants(rules: dict[str, Any], seats: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(TonkEnv({"base": "pagat", **rules}, seats, "random"), skip_render_check=True)


def test_an_opponent_that_forfeits_pays_for_it() -> None:
    class Quitter(Uniform):
        def act(self, views: Views, *others: Any) -> npt.NDArray[np.int32]:
            return np.full(len(views), FORFEIT, np.int32)

    env = TonkEnv("pagat", 2, Quitter(), seat=0)
    env.reset(seed=3)
    terminated = False
    while not terminated:
        last_legal = int(np.flatnonzero(env.action_masks())[-1])
        _, reward, terminated, _, info = env.step(last_legal)
    assert (info["ending"], reward, info["payments"]) == ("forfeit", 2.0, [2.0, -2.0])
