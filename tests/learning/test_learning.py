"""PPO learns what there is to learn on toys, in seconds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from tests.learning.toys import Interleaved, OneDecision
from train.selfplay.ppo import SelfPlayPPO
from train.selfplay.tables import TablesEnv


def share_of_best_moves(model: SelfPlayPPO) -> float:
    """How often the policy, sampled through the ordinary `predict`, does what is best."""
    tables, right, steps = model.env.tables, 0, 32
    for _ in range(steps):
        actions, _ = model.predict(tables.observations, action_masks=tables.masks)
        right += int((actions == tables.best_actions()).sum())
        tables.step(actions)
    return right / (steps * tables.num_tables)


def test_the_one_decision_toy_is_solved() -> None:
    model = SelfPlayPPO(
        env=TablesEnv(OneDecision(num_tables=64)), n_steps=16, batch_size=256, layers=(32,),
        entropy_coef=(0.02, 0.0), learning_rate=(5e-3, 1e-3), seed=1,
    )  # fmt: skip
    model.learn(60_000)
    assert share_of_best_moves(model) > 0.97
    # Worth a stake to the one who moves, and known to be.
    assert np.abs(model.rollout_buffer.values - 1).mean() < 0.1


def test_three_interleaving_seats_learn_from_payments_at_the_end_only() -> None:
    model = SelfPlayPPO(
        env=TablesEnv(Interleaved(num_players=3, num_tables=128, observation_size=40)), n_steps=32,
        batch_size=1024, layers=(32, 32), entropy_coef=(0.01, 0.0), learning_rate=(5e-3, 1e-3), seed=1,
    )  # fmt: skip
    before = share_of_best_moves(model)
    model.learn(200_000)
    assert before < 0.25
    assert share_of_best_moves(model) > 0.6


def test_a_saved_model_goes_on_learning(tmp_path: Path) -> None:
    def tables() -> TablesEnv:
        return TablesEnv(OneDecision(num_tables=64))

    model = SelfPlayPPO(
        env=tables(),
        n_steps=16,
        batch_size=256,
        layers=(32,),
        entropy_coef=(0.02, 0.0),
        learning_rate=(5e-3, 1e-3),
        average_decay=0.5,
        seed=1,
    )
    model.learn(30_000)
    model.save(tmp_path / "model")
    loaded = SelfPlayPPO.load(tmp_path / "model", env=tables())
    for name, value in model.policy.state().items():
        assert torch.equal(loaded.policy.state()[name], value)
        assert torch.equal(loaded.average[name], value)
    before = share_of_best_moves(loaded)
    loaded.learn(30_000)
    assert share_of_best_moves(loaded) > max(before, 0.9)


def test_stock_maskable_ppo_runs_on_the_same_tables() -> None:
    model = MaskablePPO(
        "MlpPolicy", TablesEnv(Interleaved(num_tables=16)), n_steps=4, batch_size=32, n_epochs=1
    )
    model.learn(64)
    assert model.num_timesteps == 64
