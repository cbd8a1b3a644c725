"""Self-play PPO, top to bottom: collect with the current network in every seat, learn, repeat.

A subclass of sb3-contrib's MaskablePPO: its zip files, logger, callbacks, `load` and `predict` are kept; how
it collects and how it learns are replaced. Differences that matter for learning:

- every seat's decisions train one network, and returns follow each seat's own decisions (`returns_per_seat`);
- the only reward is the payment when a hand ends, so nothing is discounted (gamma 1);
- the entropy coefficient is annealed: high first, so that play does not settle on never dropping;
- an average of the weights over time can be kept, and is then what plays.

All chance comes from counters: (seed, step, table) for actions, (seed, update, epoch) for the order of
minibatches. A run that is stopped between two updates therefore continues exactly, given weights, optimiser
and tables.
"""

from __future__ import annotations

import io
import time
from collections import defaultdict
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.type_aliases import MaybeCallback
from stable_baselines3.common.utils import LinearSchedule, explained_variance
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from agents.neural import kernels
from agents.neural.network import BLOCK
from train.selfplay import kernels as loss_kernels
from train.selfplay.learner import Learner
from train.selfplay.policy import TonkPolicy
from train.selfplay.rollout import SparseRollout
from train.selfplay.tables import TablesEnv


class SelfPlayPPO(MaskablePPO):
    """PPO on `TablesEnv`; defaults are for Tonk, and explained in `train.config`.

    Args:
        policy: kept for stable-baselines3; `TonkPolicy`.
        env: the tables. None only to load a model for `predict`.
        learning_rate: at the start and at the end of the run; linear between.
        entropy_coef: at the start and at the end of the run; linear between.
        n_steps: decisions per table in one rollout.
        batch_size: decisions per minibatch.
        n_epochs: passes over a rollout.
        layers: widths of the trunk's layers.
        average_decay: of the running average of weights, per update; 0 keeps none.
        precision: "fp32" or "bf16", of the dense matrix products.
        kwargs: passed on to MaskablePPO.
    """

    policy: TonkPolicy
    rollout_buffer: SparseRollout  # type: ignore[assignment]

    def __init__(
        self,
        policy: str | type[TonkPolicy] = TonkPolicy,
        env: TablesEnv | None = None,
        *,
        learning_rate: tuple[float, float] = (1.5e-3, 0.0),
        entropy_coef: tuple[float, float] = (0.08, 0.005),
        n_steps: int = 64,
        batch_size: int = 4096,
        n_epochs: int = 2,
        gamma: float = 1.0,
        gae_lambda: float = 0.95,
        layers: tuple[int, ...] = (256, 256),
        average_decay: float = 0.0,
        precision: str = "fp32",
        device: str = "cpu",
        **kwargs: Any,
    ):
        self.entropy_schedule = LinearSchedule(*entropy_coef, 1.0)
        self.average_decay = average_decay
        self.precision = precision
        self.seconds: defaultdict[str, float] = defaultdict(float)  # spent on forward, tables and learner
        self.last_record: dict[str, Any] = {}  # what was logged of the last update
        kwargs.setdefault("policy_kwargs", {"layers": layers})
        if env is not None:
            kwargs["rollout_buffer_kwargs"] = {"num_players": env.tables.num_players}
        super().__init__(
            policy,
            env,  # type: ignore[arg-type]  # None is what `load` gives
            learning_rate=LinearSchedule(*learning_rate, 1.0),
            n_steps=n_steps,
            batch_size=batch_size,
            n_epochs=n_epochs,
            gamma=gamma,
            gae_lambda=gae_lambda,
            rollout_buffer_class=SparseRollout,  # type: ignore[arg-type]
            device=device,
            **kwargs,
        )

    def _setup_model(self) -> None:
        super()._setup_model()
        self.learner = Learner(self.policy.named_parameters(), self.precision)
        self.average = {name: value.clone() for name, value in self.policy.state().items()}

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "learner", "average", "seconds", "last_record", "_last_obs"]

    @property
    def tables_env(self) -> TablesEnv:
        """The environment, which is always of this kind."""
        assert isinstance(self.env, TablesEnv)
        return self.env

    @property
    def updates(self) -> int:
        """Rollouts learned from so far."""
        return self.num_timesteps // (self.n_steps * self.n_envs)

    def playing_state(self) -> dict[str, torch.Tensor]:
        """The weights that are evaluated and shipped: the average if one is kept, else the current."""
        return self.average if self.average_decay > 0 else self.policy.state()

    def save_playing(self, stream: io.BufferedIOBase) -> None:
        """Saves a zip whose policy is the one that plays, also where an average of weights is kept."""
        learning = {name: value.clone() for name, value in self.policy.state().items()}
        self._set_weights(self.playing_state())
        try:
            self.save(stream)
        finally:
            self._set_weights(learning)

    def training_state(self) -> dict[str, Any]:
        """What continues exactly, beside the number of decisions: tensors and plain numbers."""
        return {
            "policy": self.policy.state(),
            "average": self.average,
            "optimizer": self.policy.optimizer.state_dict(),
            "n_updates": self._n_updates,
        }

    def set_training_state(self, decisions: int, state: dict[str, Any]) -> None:
        """Takes up such a state, made after `decisions`; the tables are set by the caller."""
        self._set_weights(state["policy"])
        self.average = state["average"]
        self.policy.optimizer.load_state_dict(state["optimizer"])
        self._n_updates, self.num_timesteps = state["n_updates"], decisions
        self._last_obs = self.tables_env.tables.observations  # so that `learn` does not deal anew

    def set_parameters(self, *args: Any, **kwargs: Any) -> None:
        """As stable-baselines3's; the average of weights starts again from what is loaded."""
        super().set_parameters(*args, **kwargs)
        self.average = {name: value.clone() for name, value in self.policy.state().items()}

    def _set_weights(self, state: dict[str, torch.Tensor]) -> None:
        with torch.no_grad():
            for name, parameter in self.policy.named_parameters():
                parameter.copy_(state[name])

    def learn(  # type: ignore[override]
        self,
        total_timesteps: int,
        callback: MaybeCallback = None,
        log_interval: int = 1,
        tb_log_name: str = "SelfPlayPPO",
        reset_num_timesteps: bool = True,
        use_masking: bool = True,
        progress_bar: bool = False,
    ) -> Self:
        """Collects and learns in turn until `total_timesteps` more decisions are made.

        As stable-baselines3's, but with the schedules advanced before an update and logs written after it.
        """
        total, callback = self._setup_learn(
            total_timesteps, callback, reset_num_timesteps, tb_log_name, progress_bar
        )
        callback.on_training_start(locals(), globals())
        while self.num_timesteps < total:
            before = sum(self.seconds.values())
            self._update_current_progress_remaining(self.num_timesteps, total)
            if not self.collect_rollouts(self.tables_env, callback, self.rollout_buffer, self.n_steps):
                break
            self.train()
            speed = self.n_steps * self.n_envs / (sum(self.seconds.values()) - before)
            self.logger.record("time/decisions_per_second", speed)
            self.last_record = dict(self.logger.name_to_value)
            if self.updates % log_interval == 0:
                self.dump_logs(self.updates)
        callback.on_training_end()
        return self

    # ---------------------------------------------------------------- collect

    def collect_rollouts(  # type: ignore[override]
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: SparseRollout,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Plays `n_rollout_steps` moves at every table, the current network in every seat.

        Returns:
            False if the callback ended the training.
        """
        assert isinstance(env, TablesEnv)
        tables, rollout, count = env.tables, rollout_buffer, self.n_envs
        keys = np.zeros(count, np.int64)
        hands, decisions, endings = 0, 0, np.zeros(256, np.int64)
        self.policy.set_training_mode(False)
        self.learner.forward.refresh()
        callback.on_rollout_start()
        for t in range(n_rollout_steps):
            start = time.perf_counter()
            rollout.add_observations(t * count, tables)
            rollout.add_legal(t * count, tables)
            kernels.fill_keys(self.seed or 0, self.num_timesteps // count, keys)
            self._act(t, keys)
            rollout.seats[t] = tables.seats
            middle = time.perf_counter()
            tables.step(rollout.actions[t])
            end = time.perf_counter()
            rollout.ended[t] = tables.ended
            rollout.payments[t] = tables.payments
            over = np.flatnonzero(tables.ended)
            hands += len(over)
            decisions += int(tables.decisions[over].sum())
            endings += np.bincount(tables.endings[over], minlength=256)
            self.num_timesteps += count
            self.seconds["forward"] += middle - start
            self.seconds["tables"] += end - middle
            if not callback.on_step():
                return False
        start = time.perf_counter()
        rollout.add_observations(rollout.size, tables)
        last_values = np.zeros(count, np.float32)
        self._values(np.arange(rollout.size, rollout.size + count), last_values)
        rollout.finish(tables.seats, last_values)
        self.seconds["forward"] += time.perf_counter() - start
        self._record_game(hands, decisions, endings)
        callback.on_rollout_end()
        return True

    def _act(self, t: int, keys: NDArray[np.int64]) -> None:
        """Chooses the actions of step `t`, and notes their log probabilities and values."""
        rollout, weights = self.rollout_buffer, self.learner.weights
        for first in range(0, self.n_envs, BLOCK):
            block = slice(first, min(first + BLOCK, self.n_envs))
            rows = np.arange(t * self.n_envs + block.start, t * self.n_envs + block.stop)
            hidden = self._values(rows, rollout.values[t, block])
            kernels.choose(
                hidden.numpy()[: len(rows)],
                rollout.legal,
                rollout.legal_starts,
                int(rows[0]),
                weights.policy_weight.numpy(),
                weights.policy_bias.numpy(),
                keys[block],
                False,
                self.learner.logits[0],
                rollout.actions[t, block],
                rollout.log_probs[t, block],
            )

    def _values(self, rows: NDArray[np.int64], values: kernels.Floats) -> torch.Tensor:
        """Writes the values of rows of the rollout; returns the last block's hidden features."""
        rollout, weights = self.rollout_buffer, self.learner.weights
        for first in range(0, len(rows), BLOCK):
            block = rows[first : first + BLOCK]
            hidden = self.learner.forward(rollout.indices, rollout.values_at, rollout.starts, block)[-1]
            value = torch.addmv(weights.value_bias, hidden, weights.value_weight[0])
            values[first : first + BLOCK] = value.numpy()[: len(block)]
        return hidden

    def _record_game(self, hands: int, decisions: int, endings: NDArray[np.int64]) -> None:
        """Logs how the rollout's hands ended."""
        if not hands:
            return
        shares = {
            name: float(endings[code]) / hands for code, name in enumerate(self.tables_env.ending_names)
        }
        for name, share in shares.items():
            self.logger.record(f"game/ending_{name}", share)
        if "drop" in shares:
            self.logger.record("game/drop_rate", shares["drop"] + shares.get("caught", 0.0))
        self.logger.record("game/decisions_per_hand", decisions / hands)

    # ------------------------------------------------------------------ learn

    def train(self) -> None:
        """Learns from the rollout: `n_epochs` passes of minibatches in random order."""
        start = time.perf_counter()
        rollout, parameters = self.rollout_buffer, list(self.policy.parameters())
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        self.ent_coef = self.entropy_schedule(self._current_progress_remaining)
        clip_range = self.clip_range(self._current_progress_remaining)  # type: ignore[operator]
        batch = self.batch_size or rollout.size
        stats = []
        for epoch in range(self.n_epochs):
            order = np.random.default_rng([self.seed or 0, self.updates, epoch]).permutation(rollout.size)
            for first in range(0, rollout.size, batch):
                rows = order[first : first + batch]
                stats.append(self.learner.gradients(rollout, rows, clip_range, self.ent_coef, self.vf_coef))
                nn.utils.clip_grad_norm_(parameters, self.max_grad_norm)
                self.policy.optimizer.step()
                self.learner.forward.refresh()
        self._n_updates += self.n_epochs
        if self.average_decay > 0:
            self._average()
        self.seconds["learner"] += time.perf_counter() - start

        mean = np.mean(stats, axis=0)
        entropy, value_loss = mean[loss_kernels.ENTROPY], mean[loss_kernels.VALUE_LOSS]
        self.logger.record("train/entropy_loss", -entropy)
        self.logger.record("train/policy_gradient_loss", mean[loss_kernels.PG_LOSS])
        self.logger.record("train/value_loss", value_loss)
        self.logger.record("train/approx_kl", mean[loss_kernels.KL])
        self.logger.record("train/clip_fraction", mean[loss_kernels.CLIPPED])
        self.logger.record(
            "train/loss", mean[loss_kernels.PG_LOSS] - self.ent_coef * entropy + self.vf_coef * value_loss
        )
        self.logger.record(
            "train/explained_variance", explained_variance(rollout.values.ravel(), rollout.returns.ravel())
        )
        self.logger.record("train/entropy_coef", self.ent_coef)
        self.logger.record("train/clip_range", clip_range)
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")

    def _average(self) -> None:
        """Moves the average of weights towards the current ones.

        Early on the average is that of all weights so far, so that it does not hang on to the random start.
        """
        decay = min(self.average_decay, self.updates / (self.updates + 1))
        with torch.no_grad():
            for name, value in self.policy.state().items():
                self.average[name].lerp_(value, 1 - decay)
