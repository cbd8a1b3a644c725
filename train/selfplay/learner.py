"""One minibatch forward and backward, by hand: what autograd would compute, at a fifth of the cost.

The network is small, so most of the time of the ordinary way goes into work that is not needed: multiplying zeros of
the observation, logits of illegal actions, and moving activations in and out of memory. Here a minibatch goes through
in blocks whose activations stay in the cache, the first layer reads only non-zeros, and the heads only legal actions.
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
        self.signals = [torch.zeros(BLOCK, width) for width in self.weights.layers]
        self.logits = np.zeros((2, self.weights.num_actions), np.float32)

    def gradients(
        self, rollout: SparseRollout, rows: NDArray[np.int64], clip_range: float, entropy_coef: float, value_coef: float
    ) -> NDArray[np.float64]:
        """Overwrites the parameters' gradients with those of the mean loss over decisions `rows`.

        Returns:
            `[NUM_STATS]`, means over the batch of what `kernels` names.
        """
        for grad in self.all_grads:
            grad.zero_()
        advantages = rollout.advantages.ravel()[rows]
        scale = 1.0 / (float(advantages.std(ddof=1)) + 1e-8)
        stats = np.zeros(kernels.NUM_STATS)
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            activations = self.forward(rollout.indices, rollout.values_at, rollout.starts, block)
            self._heads(
                rollout, block, activations[-1], float(advantages.mean()), scale,
                clip_range, entropy_coef, value_coef, 1.0 / len(rows), stats,
            )  # fmt: skip
            self._trunk_backward(len(block), activations)
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
        """Adds the heads' gradients, and leaves the gradient of the last hidden layer in `signals[-1]`."""
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
            self.signals[-1].numpy(),
            grads.policy_weight.numpy(),
            grads.policy_bias.numpy(),
            grads.value_weight.numpy(),
            grads.value_bias.numpy(),
            self.logits,
            stats,
        )

    def _trunk_backward(self, count: int, activations: list[torch.Tensor]) -> None:
        """Takes `signals[-1]` down through the trunk, adding to the gradients on the way."""
        grads, forward = self.grads, self.forward
        with torch.no_grad():
            for layer in range(len(self.weights.hidden) - 1, -1, -1):
                weight_grad, bias_grad = grads.hidden[layer]
                signal, below = self.signals[layer + 1][:count], activations[layer][:count]
                kernels.rectifier_backward(signal.numpy(), activations[layer + 1].numpy(), bias_grad.numpy())
                if forward.low_precision:
                    low = signal.bfloat16()
                    weight_grad += torch.mm(low.t(), below.bfloat16())
                    self.signals[layer][:count] = torch.mm(low, forward.low[layer])
                else:
                    weight_grad.addmm_(signal.t(), below)
                    torch.mm(signal, self.weights.hidden[layer][0], out=self.signals[layer][:count])
            signal = self.signals[0][:count]
            kernels.rectifier_backward(signal.numpy(), activations[0].numpy(), grads.first_bias.numpy())
            kernels.transpose_rows(
                forward.indices, forward.values, forward.starts, count,
                self.transposed_rows, self.transposed_values, self.transposed_starts,
            )  # fmt: skip
            size = int(forward.starts[count])
            summed = torch.embedding_bag(
                signal,
                torch.from_numpy(self.transposed_rows[:size]),
                torch.from_numpy(self.transposed_starts),
                per_sample_weights=torch.from_numpy(self.transposed_values[:size]),
                include_last_offset=True,
            )[0]
            grads.first_weight.add_(summed)
