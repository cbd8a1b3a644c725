"""The vectorised environment keeps SB3's contract, and stock MaskablePPO trains on it."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor

from tests.api.steering import choose
from tests.api.test_gym import Quitter, Uniform
from tonk_env import TonkError
from tonk_env.engine.state import ENDED
from tonk_env.sb3_env import TonkVecEnv

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def pick(env: Any, rng: random.Random) -> np.ndarray:
    """A steered legal action for every table."""
    rules = env.unwrapped._game.rules
    return np.array([choose(mask, rules, rng) for mask in env.env_method("action_masks")[0]])


@pytest.mark.parametrize("seats", range(2, 7))
def test_steps(seats: int) -> None:
    env = TonkVecEnv(num_players=seats, opponents="heuristic:drop=5", num_tables=12, seed=seats)
    game, rng = env._game, random.Random(seats)
    observations: Any = env.reset()
    sums, lengths, hands = np.zeros(12), np.zeros(12, int), 0
    seen: set[tuple[int, int]] = set()
    for _ in range(150):
        assert observations.shape == (12, game.layout.size)
        assert observations.dtype == np.float32
        assert (game.tables["phase"] != ENDED).all()
        assert (game.tables["seat"] == game.learners).all()
        assert env.action_masks().any(axis=1).all()
        kept, copied = observations, observations.copy()
        masks = env.action_masks()
        masks_copied = masks.copy()
        observations, rewards, dones, infos = env.step(pick(env, rng))
        assert np.array_equal(kept, copied)
        assert np.array_equal(masks, masks_copied)
        assert (str(rewards.dtype), str(dones.dtype), len(infos)) == ("float32", "bool", 12)
        assert not rewards[~dones].any()
        sums += rewards
        lengths += 1
        for row in range(12):
            if not dones[row]:
                assert infos[row] == {}
                continue
            info = infos[row]
            assert env.observation_space.contains(info["terminal_observation"])
            assert info["episode"]["r"] == sums[row] == info["payments"][info["seat"]]
            assert info["episode"]["l"] == lengths[row]
            assert sum(info["payments"]) == pytest.approx(0)
            assert not info["TimeLimit.truncated"]
            sums[row], lengths[row], hands = 0, 0, hands + 1
            seen.add((int(game.learners[row]), int(game.dealers[row])))
    assert hands > 50
    # Hands without a decision of the learner's fall out, so not every pair may have come up.
    assert len(seen) > seats * seats - 4


def test_equal_seeds_give_equal_steps() -> None:
    shown = []
    for start in (3, 99):
        env = TonkVecEnv(num_players=3, opponents=["random", "reference"], num_tables=8, seed=start)
        env.reset()
        if start != 3:
            env.step(pick(env, random.Random(0)))
            env.seed(3)
        observations: Any = env.reset()
        rng, seen = random.Random(7), []
        if start == 3:
            env.seed(3)
            observations = env.reset()
        for _ in range(60):
            seen.append(observations.tobytes() + env.action_masks().tobytes())
            observations, rewards, dones, _ = env.step(pick(env, rng))
            seen.append(rewards.tobytes() + dones.tobytes())
        shown.append(seen)
    assert shown[0] == shown[1]


def test_a_table_does_not_depend_on_the_others() -> None:
    """The first tables of a large batch play as those of a small one."""
    small, large = (TonkVecEnv(opponents="random", num_tables=size, seed=1) for size in (3, 20))
    one: Any = small.reset()
    two: Any = large.reset()
    for _ in range(40):
        assert one.tobytes() == two[:3].tobytes()
        actions = np.array([np.flatnonzero(mask)[-1] for mask in large.action_masks()])
        one, two = small.step(actions[:3])[0], large.step(actions)[0]


def test_a_reset_goes_on_with_the_next_hands() -> None:
    env = TonkVecEnv(opponents="random", num_tables=4)
    first, second = env.reset(), env.reset()
    assert first.tobytes() != second.tobytes()
    env.seed(0)
    assert env.reset().tobytes() == first.tobytes()


def test_masks_come_in_one_array() -> None:
    env: Any = VecMonitor(TonkVecEnv(opponents="random", num_tables=5))
    env.reset()
    assert is_masking_supported(env)
    (whole,) = env.env_method("action_masks")
    assert whole.shape == (5, env.action_space.n)
    assert get_action_masks(env).shape == (1, 5, env.action_space.n)
    assert np.array_equal(env.env_method("action_masks", indices=[3, 1]), whole[[3, 1]])
    assert np.array_equal(env.env_method("action_masks", indices=2)[0], whole[2])
    assert env.env_is_wrapped(VecMonitor) == [False] * 5
    assert not env.has_attr("spec")
    with pytest.raises(AttributeError, match="undo"):
        env.env_method("undo")


def test_an_illegal_action_raises_and_changes_nothing() -> None:
    env = TonkVecEnv(opponents="random", num_tables=3)
    env.reset()
    before = env._game.tables.tobytes()
    for bad in (300, -1, 10**6):
        with pytest.raises(TonkError, match=rf"actions\[1\] = {bad}: not legal there; legal are \[0, 1, 2\]"):
            env.step(np.array([1, bad, 1]))
    for shape in ([1, 1], [1.0, 1.0, 1.0]):
        with pytest.raises(TonkError, match="shape"):
            env.step(np.array(shape))
    assert env._game.tables.tobytes() == before
    env.step(np.array([1, 1, 1]))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({"num_tables": 0}, "num_tables = 0"), ({"seed": -1}, "seed = -1"), ({"opponents": "whist"}, "whist")],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(TonkError, match=named):
        TonkVecEnv(**arguments)


def test_agents_are_started_and_ended() -> None:
    agent = Uniform()
    env = TonkVecEnv(opponents=agent, num_tables=4, seed=5)
    env.reset()
    env.reset()
    assert [seed for _, _, seed in agent.started] == [5]
    env.close()
    assert agent.ended == 1


def test_an_opponent_may_forfeit_the_hand() -> None:
    env = TonkVecEnv(opponents=Quitter(), num_tables=8, seed=5)
    env.reset()
    ended: list[dict[str, Any]] = []
    for _ in range(6):
        last_legal = np.array([np.flatnonzero(mask)[-1] for mask in env.action_masks()])  # never a drop
        _, rewards, dones, infos = env.step(last_legal)
        ended += [info for info, done in zip(infos, dones, strict=True) if done]
        assert rewards[dones].tolist() == [2.0] * int(dones.sum())
    assert len(ended) >= 8
    assert all(info["ending"] == "forfeit" and info["payments"][info["seat"]] == 2 for info in ended)


def test_stock_maskable_ppo_trains_and_is_evaluated() -> None:
    env = TonkVecEnv(num_players=3, opponents="heuristic:drop=15", num_tables=16)
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1, policy_kwargs={"net_arch": [16]}, seed=0
    )
    model.learn(600)
    assert model.ep_info_buffer is not None
    assert len(model.ep_info_buffer) > 10
    rewards, lengths = evaluate_policy(
        model, VecMonitor(env), n_eval_episodes=40, return_episode_rewards=True
    )
    assert isinstance(rewards, list)
    assert isinstance(lengths, list)
    assert len(rewards) == 40
    assert all(-8 <= reward <= 4 for reward in rewards)
    assert min(lengths) >= 1


@pytest.mark.parametrize(
    ("script", "arguments", "says"),
    [("aec_loop.py", [], "stakes of the match"), ("maskable_ppo.py", ["128", "8"], "stakes per hand lately")],
)
def test_examples_run(script: str, arguments: list[str], says: str) -> None:
    command = [sys.executable, str(EXAMPLES / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=EXAMPLES.parent, timeout=300)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout
