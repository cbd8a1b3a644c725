"""One minibatch forward and backward, by hand: what autograd would compute, at a fifth of the cost.

The network is small, so most of the time of the ordinary way goes into work that is not needed: multiplying
zeros of the observation, logits of illegal actions, and moving activations in and out of memory. Here a
minibatch goes through in blocks whose activations stay in the cache, the first layer reads only non-zeros,
and the heads only legal actions.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from agents.neural.network import BLOCK, SparseForward, Weights
from train.selfplay import kernels
from train.selfplay.rollout import SparseRollout


class Learner:
    """Fills the gradients of a policy's parameters with those of PPO's loss.

    Args:
        parameters: the policy's named parameters; the weights are used in place.
        precision: "fp32", or "bf16" for the dense matrix products (weights and sums stay fp32).
    """

    def __init__(self, parameters: Iterable[tuple[str, nn.Parameter]], precision: str = "fp32"):
        named = dict(parameters)
        for parameter in named.values():
            parameter.grad = torch.zeros_like(parameter)
        self.weights = Weights.of_state({name: p.detach() for name, p in named.items()})
        self.grads = Weights.of_state({name: p.grad for name, p in named.items() if p.grad is not None})
        self.all_grads = [p.grad for p in named.values() if p.grad is not None]
        self.forward = SparseForward(self.weights, precision)
        capacity = BLOCK * self.weights.observation_size
        self.transposed_rows = np.zeros(capacity, np.int32)
        self.transposed_values = np.zeros(capacity, np.float32)
        self.transposed_starts = np.zeros(self.weights.observation_size + 1, np.int32)
        self.signals = [torch.zeros(BLOCK, width) for width in self.weights.layers[:-1]]
        self.hidden_grad = np.zeros(self.weights.layers[-1], np.float32)
        self.logits = np.zeros((2, self.weights.num_actions), np.float32)

    def gradients(
        self,
        rollout: SparseRollout,
        rows: NDArray[np.int64],
        clip_range: float,
        entropy_coef: float,
        value_coef: float,
    ) -> NDArray[np.float64]:
        """Overwrites the parameters' gradients with those of the mean loss over decisions `rows`.

        Returns:
            `[NUM_STATS]`, means over the batch of what `kernels` names.
        """
        for grad in self.all_grads:
            grad.zero_()
        advantages = rollout.advantages.ravel()[rows]
        scale = 1.0 / (float(advantages.std(ddof=min(1, len(rows) - 1))) + 1e-8)
        stats = np.zeros(kernels.NUM_STATS)
        with torch.no_grad():
            for start in range(0, len(rows), BLOCK):
                block = rows[start : start + BLOCK]
                whole = self.forward(rollout.indices, rollout.values_at, rollout.starts, block)
                activations = [layer[: len(block)] for layer in whole]
                self._heads(
                    rollout, block, activations[-1], float(advantages.mean()), scale,
                    clip_range, entropy_coef, value_coef, 1.0 / len(rows), stats,
                )  # fmt: skip
                self._trunk_backward(activations)
        return stats / len(rows)

    def _heads(
        self,
        rollout: SparseRollout,
        rows: NDArray[np.int64],
        hidden: torch.Tensor,
        advantage_mean: float,
        advantage_scale: float,
        clip_range: float,
        entropy_coef: float,
        value_coef: float,
        scale: float,
        stats: NDArray[np.float64],
    ) -> None:
        """Adds the heads' gradients, and turns `hidden` into the gradient at the last layer's input."""
        weights, grads = self.weights, self.grads
        kernels.policy_and_value_loss(
            rows,
            rollout.legal,
            rollout.legal_starts,
            rollout.actions.reshape(-1),
            rollout.log_probs.reshape(-1),
            rollout.advantages.reshape(-1),
            rollout.returns.reshape(-1),
            advantage_mean,
            advantage_scale,
            clip_range,
            entropy_coef,
            value_coef,
            scale,
            hidden.numpy(),
            weights.policy_weight.numpy(),
            weights.policy_bias.numpy(),
            weights.value_weight.numpy(),
            weights.value_bias.numpy(),
            (grads.hidden[-1][1] if grads.hidden else grads.first_bias).numpy(),
            grads.policy_weight.numpy(),
            grads.policy_bias.numpy(),
            grads.value_weight.numpy(),
            grads.value_bias.numpy(),
            self.logits,
            self.hidden_grad,
            stats,
        )

    def _trunk_backward(self, activations: list[torch.Tensor]) -> None:
        """Takes the gradient in `activations[-1]` down through the trunk, layer by layer, in place.

        On the way each layer's activations are used for the last time, and become the gradient at its input.
        """
        weights, grads, forward = self.weights, self.grads, self.forward
        for layer in range(len(weights.hidden) - 1, -1, -1):
            above, below, grad = activations[layer + 1], activations[layer], self.signals[layer]
            if forward.low_precision:
                low = above.bfloat16()
                grads.hidden[layer][0].add_(torch.mm(low.t(), below.bfloat16()))
                grad[: len(below)] = torch.mm(low, forward.low[layer])
            else:
                grads.hidden[layer][0].addmm_(above.t(), below)
                torch.mm(above, weights.hidden[layer][0], out=grad[: len(below)])
            bias_grad = grads.hidden[layer - 1][1] if layer else grads.first_bias
            kernels.rectifier_backward(grad.numpy(), below.numpy(), bias_grad.numpy())
        kernels.transpose_rows(
            forward.indices, forward.values, forward.starts, len(activations[0]),
            self.transposed_rows, self.transposed_values, self.transposed_starts,
        )  # fmt: skip
        size = int(self.transposed_starts[-1])
        summed = torch.embedding_bag(
            activations[0],
            torch.from_numpy(self.transposed_rows[:size]),
            torch.from_numpy(self.transposed_starts),
            per_sample_weights=torch.from_numpy(self.transposed_values[:size]),
            include_last_offset=True,
        )[0]
        grads.first_weight.add_(summed)
