"""The network: one trunk that both heads share, written twice for the same weights.

`Trunk` is an ordinary torch module on dense observations. `SparseForward` runs the same weights on sparse
rows, in blocks of fixed size and without the heads, whose work at the legal actions is in `kernels`. Tests
compare the two.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from agents.neural import kernels

BLOCK = 512
"""Rows that go through the network together. Its activations stay in the cache of one core, and since the
size of a matrix product can change the last bits of its rows, a fixed size keeps results independent of how
rows are batched."""


class Trunk(nn.Module):
    """Observation -> hidden features, with rectifiers, shared by policy and value.

    The first weight is kept as `[observation_size, layers[0]]`, one row per feature, because a sparse
    observation reads few features and then reads whole rows.
    """

    def __init__(self, observation_size: int, layers: tuple[int, ...]):
        super().__init__()
        self.first_weight = nn.Parameter(torch.empty(observation_size, layers[0]))
        self.first_bias = nn.Parameter(torch.zeros(layers[0]))
        self.hidden = nn.ModuleList(nn.Linear(wide, out) for wide, out in itertools.pairwise(layers))
        self.latent_dim_pi = self.latent_dim_vf = layers[-1]
        nn.init.orthogonal_(self.first_weight, gain=2**0.5)

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """`[N, observation_size]` -> `[N, layers[-1]]`."""
        features = torch.relu(features @ self.first_weight + self.first_bias)
        for layer in self.hidden:
            features = torch.relu(layer(features))
        return features

    forward_critic = forward_actor

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The features for the policy and for the value: the same."""
        hidden = self.forward_actor(features)
        return hidden, hidden


@dataclass(frozen=True)
class Weights:
    """The tensors of trunk and heads, in the order of the computation; also used for their gradients.

    Attributes:
        first_weight: `[O, H0]`.
        first_bias: `[H0]`.
        hidden: for each further layer its weight `[H, H before]` and bias `[H]`.
        policy_weight: `[A, H]`.
        policy_bias: `[A]`.
        value_weight: `[1, H]`.
        value_bias: `[1]`.
    """

    first_weight: torch.Tensor
    first_bias: torch.Tensor
    hidden: tuple[tuple[torch.Tensor, torch.Tensor], ...]
    policy_weight: torch.Tensor
    policy_bias: torch.Tensor
    value_weight: torch.Tensor
    value_bias: torch.Tensor

    @classmethod
    def of_state(cls, state: Mapping[str, torch.Tensor]) -> Weights:
        """Reads the state dict of a policy; memory is shared with it.

        Raises:
            KeyError: a tensor is missing.
            ValueError: shapes do not fit together.
        """
        hidden: list[tuple[torch.Tensor, torch.Tensor]] = []
        while f"mlp_extractor.hidden.{len(hidden)}.weight" in state:
            layer = f"mlp_extractor.hidden.{len(hidden)}"
            hidden.append((state[f"{layer}.weight"], state[f"{layer}.bias"]))
        weights = cls(
            state["mlp_extractor.first_weight"],
            state["mlp_extractor.first_bias"],
            tuple(hidden),
            state["action_net.weight"],
            state["action_net.bias"],
            state["value_net.weight"],
            state["value_net.bias"],
        )
        weights.check()
        return weights

    def check(self) -> None:
        """Raises ValueError unless the shapes fit together and every tensor is contiguous float32."""
        width = self.first_weight.shape[-1]
        wanted = [(self.first_weight, (self.observation_size, width)), (self.first_bias, (width,))]
        for weight, bias in self.hidden:
            wanted += [(weight, (bias.shape[0], width)), (bias, (bias.shape[0],))]
            width = bias.shape[0]
        wanted += [(self.policy_weight, (self.num_actions, width)), (self.policy_bias, (self.num_actions,))]
        wanted += [(self.value_weight, (1, width)), (self.value_bias, (1,))]
        for tensor, shape in wanted:
            if tuple(tensor.shape) != shape:
                raise ValueError(f"a weight has shape {tuple(tensor.shape)}, not {shape}")
            if tensor.dtype != torch.float32 or not tensor.is_contiguous():
                raise ValueError("weights are not contiguous float32")

    def tensors(self) -> list[torch.Tensor]:
        """All of them, in order."""
        hidden = [tensor for layer in self.hidden for tensor in layer]
        first, heads = [self.first_weight, self.first_bias], [self.policy_weight, self.policy_bias]
        return [*first, *hidden, *heads, self.value_weight, self.value_bias]

    def is_finite(self) -> bool:
        """Whether no weight is infinite or not a number."""
        return all(bool(torch.isfinite(tensor).all()) for tensor in self.tensors())

    @property
    def observation_size(self) -> int:
        """Features of an observation."""
        return self.first_weight.shape[0]

    @property
    def num_actions(self) -> int:
        """Action ids."""
        return self.policy_weight.shape[0]

    @property
    def layers(self) -> tuple[int, ...]:
        """Widths of the hidden layers."""
        return (self.first_bias.shape[0], *(bias.shape[0] for _, bias in self.hidden))


class SparseForward:
    """Runs the trunk on sparse rows; working space is made once and used again by every call.

    Args:
        weights: shared, so that an optimiser's steps are seen (in bf16: after `refresh`).
        precision: "fp32", or "bf16" for the dense matrix products.
    """

    def __init__(self, weights: Weights, precision: str = "fp32"):
        self.weights = weights
        self.low_precision = precision == "bf16"
        capacity = BLOCK * weights.observation_size
        self.indices = np.zeros(capacity, np.int32)
        self.values = np.zeros(capacity, np.float32)
        self.starts = np.zeros(BLOCK + 1, np.int32)
        self.activations = [torch.zeros(BLOCK, width) for width in weights.layers]
        self.refresh()

    def refresh(self) -> None:
        """Takes over changed weights."""
        self.low = [weight.bfloat16() for weight, _ in self.weights.hidden] if self.low_precision else []

    def __call__(
        self,
        indices: NDArray[np.uint16],
        values: kernels.Floats,
        starts: NDArray[np.int64],
        rows: NDArray[np.int64],
    ) -> list[torch.Tensor]:
        """Computes every layer's activations for up to `BLOCK` rows of a list.

        Returns:
            One `[BLOCK, width]` tensor per layer, overwritten by the next call. What lies beyond `len(rows)`
            means nothing.
        """
        count = len(rows)
        size = kernels.take_rows(indices, values, starts, rows, self.indices, self.values, self.starts)
        self.starts[count + 1 :] = self.starts[count]  # the rest of the block is empty rows
        weights, activations = self.weights, self.activations
        with torch.no_grad():
            summed = torch.embedding_bag(
                weights.first_weight,
                torch.from_numpy(self.indices[:size]),
                torch.from_numpy(self.starts),
                per_sample_weights=torch.from_numpy(self.values[:size]),
                include_last_offset=True,
            )[0]
            activations[0] = summed.add_(weights.first_bias).relu_()
            for layer, (weight, bias) in enumerate(weights.hidden):
                below, above = activations[layer], activations[layer + 1]
                if self.low_precision:
                    torch.add(torch.mm(below.bfloat16(), self.low[layer].t()), bias, out=above)
                else:
                    torch.addmm(bias, below, weight.t(), out=above)
                above.relu_()
        return activations


def product_gflops(width: int = 256) -> dict[str, float]:
    """Times a hidden layer's products, on one thread as in training: GFLOPS by precision."""
    gflops, threads = {}, torch.get_num_threads()
    torch.set_num_threads(1)
    for name, precision in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        matrices = torch.ones(BLOCK, width, dtype=precision), torch.ones(width, width, dtype=precision)
        torch.mm(*matrices)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            torch.mm(*matrices)
            times.append(time.perf_counter() - start)
        gflops[name] = 2e-9 * BLOCK * width**2 / min(times)
    torch.set_num_threads(threads)
    return gflops


def choose_precision(wanted: str, width: int = 256) -> str:
    """Resolves "auto": to "bf16" where this machine multiplies such matrices clearly faster, else "fp32"."""
    if wanted != "auto":
        return wanted
    gflops = product_gflops(width)
    return "bf16" if gflops["bf16"] > 1.25 * gflops["fp32"] else "fp32"
