"""A trained network at the table."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from agents.base import certain
from agents.neural import kernels
from agents.neural.checkpoint import Manifest, read_checkpoint
from agents.neural.network import BLOCK, SparseForward, Weights
from tonk_env.errors import TonkError
from tonk_env.observe import layout
from tonk_env.rules import LoweredRules


class NeuralAgent:
    """Plays by a policy network: draws from its probabilities, or takes the likeliest action.

    Always computes in fp32 and in blocks of one size, so that a decision depends on the view, the legal
    actions and the key alone, and not on what else is in the batch.

    Args:
        weights: the network.
        manifest: what it was trained for.
        name: the spec string it goes by.
        greedy: take the likeliest action.
    """

    def __init__(self, weights: Weights, manifest: Manifest, name: str, greedy: bool = False):
        self.name, self.greedy = name, greedy
        self.weights, self.manifest = weights, manifest
        self.forward = SparseForward(weights)
        self.logits = np.zeros(weights.num_actions, np.float32)
        size = BLOCK * weights.observation_size
        self.observations = np.zeros((BLOCK, weights.observation_size), np.float32)
        self.indices = np.zeros(size + 1, np.uint16)
        self.values = np.zeros(size + 1, np.float32)
        self.starts = np.zeros(BLOCK + 1, np.int64)
        self.legal = np.zeros(BLOCK * weights.num_actions, np.uint16)
        self.legal_starts = np.zeros(BLOCK + 1, np.int64)

    @classmethod
    def load(cls, path: str | Path, greedy: bool = False) -> Self:
        """Reads a checkpoint.

        Raises:
            TonkError: it is not there, damaged or foreign.
        """
        manifest, weights = read_checkpoint(Path(path))
        return cls(weights, manifest, f"{path}:greedy" if greedy else str(path), greedy)

    def start(self, rules: LoweredRules, num_players: int, seed: int) -> None:
        """Begins a session; see `agents.base.Agent`.

        Warns where the rules are not those of the training but can be played.

        Raises:
            TonkError: these rules have another action table or other observations.
        """
        planes = layout(rules, num_players)
        trained = f"it was trained on {self.manifest.rules} with {self.manifest.players} players"
        if rules.actions_fingerprint != self.manifest.actions_fingerprint:
            raise TonkError(f"{self.name}: these rules have another action table; {trained}")
        if planes.fingerprint != self.manifest.observation_fingerprint:
            raise TonkError(
                f"{self.name}: {num_players} players at these rules see other observations; {trained}"
            )
        if (self.weights.num_actions, self.weights.observation_size) != (rules.num_actions, planes.size):
            raise TonkError(f"{self.name}: damaged: its network does not fit what its manifest says")
        if rules.fingerprint != self.manifest.rules_fingerprint:
            warnings.warn(f"{self.name}: other rules than in training; {trained}", stacklevel=2)
        self.record, self.plane_starts = rules.record, planes.starts

    def act(
        self,
        views: NDArray[np.void],
        legal: NDArray[np.int16],
        num_legal: NDArray[np.int64],
        keys: NDArray[np.int64],
    ) -> NDArray[np.int32]:
        """Chooses a move for each view; see `agents.base.Agent`."""
        actions = np.zeros(len(views), np.int32)
        log_probs = np.zeros(len(views), np.float32)
        for first in range(0, len(views), BLOCK):
            block = slice(first, first + BLOCK)
            kernels.observe_rows(views[block], self.record, self.plane_starts, self.observations)
            kernels.pack_legal(legal[block], num_legal[block], self.legal, self.legal_starts)
            self._choose(len(views[block]), keys[block], actions[block], log_probs[block])
        return actions

    def probabilities(
        self, views: NDArray[np.void], legal: NDArray[np.int16], num_legal: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Returns the probability of each legal move; see `agents.base.Mixed`."""
        if self.greedy:
            return certain(self.act(views, legal, num_legal, num_legal), legal, num_legal)
        weight = self.weights.policy_weight.numpy().astype(np.float64)
        bias = self.weights.policy_bias.numpy()
        logits = np.full(legal.shape, -np.inf)
        for first in range(0, len(views), BLOCK):
            block = slice(first, first + BLOCK)
            kernels.observe_rows(views[block], self.record, self.plane_starts, self.observations)
            hidden = self._hidden(len(views[block])).astype(np.float64)
            logits[block] = np.take_along_axis(hidden @ weight.T + bias, legal[block].astype(np.int64), 1)
        logits[np.arange(legal.shape[1]) >= num_legal[:, None]] = -np.inf
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances: NDArray[np.float64] = odds / odds.sum(axis=1, keepdims=True)
        return chances

    def _hidden(self, count: int) -> kernels.Floats:
        """Returns the trunk's last layer for the first `count` rows of `observations`."""
        kernels.append_observations(self.observations[:count], self.indices, self.values, self.starts, 0)
        hidden: kernels.Floats = self.forward(self.indices, self.values, self.starts, np.arange(count))[
            -1
        ].numpy()[:count]
        return hidden

    def _choose(
        self, count: int, keys: NDArray[np.int64], actions: NDArray[np.int32], log_probs: kernels.Floats
    ) -> None:
        """Draws actions for the first `count` rows of `observations` and `legal`."""
        kernels.choose(
            self._hidden(count),
            self.legal,
            self.legal_starts,
            0,
            self.weights.policy_weight.numpy(),
            self.weights.policy_bias.numpy(),
            keys,
            self.greedy,
            self.logits,
            actions,
            log_probs,
        )

    def end(self, payments: NDArray[np.float64]) -> None:
        """Nothing is learned from results."""
