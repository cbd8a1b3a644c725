"""The learner's hand-written gradients, and the sparse forward, against plain torch on dense arrays."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agents.neural.network import BLOCK, SparseForward, Weights, choose_precision
from tests.learning.toys import Interleaved
from train.selfplay import kernels
from train.selfplay.ppo import SelfPlayPPO
from train.selfplay.tables import TablesEnv

pytestmark = pytest.mark.boundscheck

CLIP, ENTROPY, VALUE = 0.2, 0.07, 0.5


def collected(
    layers: tuple[int, ...], precision: str = "fp32"
) -> tuple[SelfPlayPPO, dict[str, torch.Tensor]]:
    """A model with a rollout in its buffer, and the same rollout as dense arrays."""
    model = SelfPlayPPO(
        env=TablesEnv(Interleaved(num_tables=40, observation_size=96)),
        n_steps=16, batch_size=640, layers=layers, precision=precision, seed=3,
    )  # fmt: skip
    model.learn(2 * 640)  # some updates, so that the weights are not special
    tables = model.env.tables
    observations, masks = [], []
    step = tables.step

    def noted_step(actions: np.ndarray) -> None:
        observations.append(tables.observations.copy())
        masks.append(tables.masks.copy())
        step(actions)

    tables.step = noted_step
    callback = model._init_callback(None)
    model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
    rollout = model.rollout_buffer
    # Ratios of one would leave the clipping untested, and advantages tell of their own normalisation.
    rollout.log_probs += np.random.default_rng(0).normal(0, 0.3, rollout.log_probs.shape).astype(np.float32)
    dense = {
        "observations": np.concatenate(observations), "masks": np.concatenate(masks),
        "actions": rollout.actions.reshape(-1).astype(np.int64), "old": rollout.log_probs.reshape(-1),
        "advantages": rollout.advantages.reshape(-1), "returns": rollout.returns.reshape(-1),
    }  # fmt: skip
    return model, {name: torch.from_numpy(array.copy()) for name, array in dense.items()}


def reference_loss(
    model: SelfPlayPPO, dense: dict[str, torch.Tensor], rows: np.ndarray
) -> dict[str, torch.Tensor]:
    """PPO's loss as stable-baselines3 writes it, on the dense policy."""
    batch = {name: tensor[rows] for name, tensor in dense.items()}
    values, log_prob, entropy = model.policy.evaluate_actions(
        batch["observations"], batch["actions"], batch["masks"]
    )
    advantages = batch["advantages"]
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    ratio = torch.exp(log_prob - batch["old"])
    policy = -torch.min(advantages * ratio, advantages * torch.clamp(ratio, 1 - CLIP, 1 + CLIP)).mean()
    value = torch.nn.functional.mse_loss(batch["returns"], values.flatten())
    return {
        "loss": policy - ENTROPY * entropy.mean() + VALUE * value,
        "policy": policy, "value": value, "entropy": entropy.mean(),
        "clipped": (torch.abs(ratio - 1) > CLIP).float().mean(),
        "kl": (ratio - 1 - torch.log(ratio)).mean(),
    }  # fmt: skip


@pytest.mark.parametrize("layers", [(32,), (48, 32), (32, 24, 16)])
def test_gradients_agree_with_autograd(layers: tuple[int, ...]) -> None:
    model, dense = collected(layers)
    rows = np.random.default_rng(1).permutation(640)[
        : BLOCK + 77
    ]  # more than a block, and not a whole number
    stats = model.learner.gradients(model.rollout_buffer, rows, CLIP, ENTROPY, VALUE)
    got = {name: p.grad.clone() for name, p in model.policy.named_parameters()}
    for parameter in model.policy.parameters():
        parameter.grad = None
    wanted = reference_loss(model, dense, rows)
    wanted["loss"].backward()
    for name, parameter in model.policy.named_parameters():
        torch.testing.assert_close(
            got[name], parameter.grad, rtol=1e-3, atol=2e-6, msg=lambda m, n=name: f"{n}: {m}"
        )
    order = (kernels.PG_LOSS, kernels.VALUE_LOSS, kernels.ENTROPY, kernels.CLIPPED, kernels.KL)
    np.testing.assert_allclose(
        stats[list(order)],
        [wanted[n].item() for n in ("policy", "value", "entropy", "clipped", "kl")],
        rtol=1e-3,
    )


def test_bf16_gradients_point_the_same_way() -> None:
    model, _ = collected((48, 32), precision="bf16")
    rows = np.arange(640)
    model.learner.gradients(model.rollout_buffer, rows, CLIP, ENTROPY, VALUE)
    low = torch.cat([p.grad.flatten().clone() for p in model.policy.parameters()])
    model.learner.forward.low_precision = False
    model.learner.gradients(model.rollout_buffer, rows, CLIP, ENTROPY, VALUE)
    full = torch.cat([p.grad.flatten() for p in model.policy.parameters()])
    assert torch.cosine_similarity(low, full, dim=0) > 0.99


def test_rollout_notes_what_the_dense_policy_would_say() -> None:
    model, dense = collected((48, 32))
    rollout = model.rollout_buffer
    values, log_prob, _ = model.policy.evaluate_actions(
        dense["observations"], dense["actions"], dense["masks"]
    )
    np.testing.assert_allclose(rollout.values.reshape(-1), values.detach().flatten(), atol=1e-5)
    rollout.log_probs -= np.random.default_rng(0).normal(0, 0.3, rollout.log_probs.shape).astype(np.float32)
    np.testing.assert_allclose(rollout.log_probs.reshape(-1), log_prob.detach(), atol=1e-5)


def test_actions_are_drawn_with_the_stated_probabilities() -> None:
    from agents.neural.kernels import choose, fill_keys

    draws = 20_000
    hidden = np.tile(np.array([[1.0, -0.5]], np.float32), (draws, 1))
    weight = np.array([[0.3, 0.1], [9, 9], [1.0, 0.2], [-1, 0.4]], np.float32)
    bias = np.zeros(4, np.float32)
    legal = np.tile(np.array([0, 2, 3], np.uint16), draws)
    starts = np.arange(0, 3 * draws + 1, 3)
    keys, actions = np.zeros(draws, np.int64), np.zeros(draws, np.int32)
    log_probs, logits = np.zeros(draws, np.float32), np.zeros(4, np.float32)
    fill_keys(5, 7, keys)
    choose(hidden, legal, starts, 0, weight, bias, keys, False, logits, actions, log_probs)
    wanted = np.exp((hidden[0] @ weight.T)[[0, 2, 3]])
    wanted /= wanted.sum()
    shares = np.bincount(actions, minlength=4)[[0, 2, 3]] / draws
    np.testing.assert_allclose(shares, wanted, atol=0.015)  # four standard errors
    np.testing.assert_allclose(np.exp(log_probs[actions == 2][0]), wanted[1], rtol=1e-5)
    choose(hidden, legal, starts, 0, weight, bias, keys, True, logits, actions, log_probs)
    assert (actions == 2).all()


def test_forward_does_not_depend_on_the_batch() -> None:
    model, _ = collected((48, 32))
    rollout = model.rollout_buffer
    forward = SparseForward(Weights.of_state(model.policy.state()))
    rows = np.arange(300)
    together = forward(rollout.indices, rollout.values_at, rollout.starts, rows)[-1][:300].clone()
    for at in (0, 1, 17, 299):
        alone = forward(rollout.indices, rollout.values_at, rollout.starts, rows[at : at + 1])[-1][0]
        assert torch.equal(together[at], alone)


def test_precision_is_chosen_once_and_by_name() -> None:
    assert choose_precision("bf16") == "bf16"
    assert choose_precision("auto") in ("fp32", "bf16")
