"""A learned response: PPO in one seat, with the frozen agent in the others.

The learner is that of self-play, at tables where every decision it sees is its own. It starts from a trained
network where one plays these rules: the better of the agent itself and what ships. At ten points of its
budget the network is tried on the decks for choosing, drawing its moves and taking the likeliest.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import torch
from stable_baselines3.common.callbacks import BaseCallback

from agents.neural.agent import NeuralAgent
from agents.neural.checkpoint import Manifest, add_manifest
from agents.neural.network import Weights, choose_precision
from agents.registry import make
from tonk_env.resources import list_checkpoints
from train import folder
from train.best_response.search import Told, plays
from train.best_response.table import CHOOSING, TRAINING, Earnings, Response, Table, check_sound, stream_seed
from train.best_response.tables import AgainstTables
from train.config import make_config
from train.run import make_model
from train.selfplay.ppo import SelfPlayPPO
from train.selfplay.tables import TablesEnv
from train.session import one_thread

POINTS = 10
"""Times that the network is tried."""
_ENDLESS = 1 << 62

FRESH: dict[str, Any] = {}
"""Options of a network that starts from nothing, where they are not those of `tonk train`."""
WARM: dict[str, Any] = {"ppo": {"learning_rate": 7e-4, "entropy": 0.02}}
"""And of one that can play: it is not to forget that."""


class Watch(BaseCallback):
    """Spends the budget while the network learns, and tries it from time to time."""

    model: SelfPlayPPO

    def __init__(self, table: Table, tables: AgainstTables, tell: Told, source: str) -> None:
        super().__init__()
        self.table, self.tables, self.tell, self.source = table, tables, tell, source
        self.began = table.budget.used
        self.points = 0
        self.best = float("-inf")
        self.found: list[tuple[Response, Earnings]] = []

    def _on_step(self) -> bool:
        self.table.budget.spent += int(self.tables.decisions.sum())
        return self.table.budget.used < 1

    def _on_rollout_start(self) -> None:
        check_sound(self.table.agent)
        done = (self.table.budget.used - self.began) / max(1 - self.began, 1e-9)
        # What stable-baselines3 takes schedules from: the share that is left.
        self.model._current_progress_remaining = max(0.0, 1 - done)
        self.tell(f"PPO {self.source}: {self.best:+.3f}", self.table.budget.used)
        if int(POINTS * done) > self.points:
            self.points = int(POINTS * done)
            self.judge()
            self.tables.open()

    def judge(self) -> None:
        """Tries the network as it is, and keeps it if it is the best so far."""
        manifest, state = self._manifest(), {k: v.clone() for k, v in self.model.playing_state().items()}
        source = f"PPO {self.source}, {self.model.num_timesteps:,} decisions of its own"
        for greedy in (False, True):
            agent = NeuralAgent(Weights.of_state(state), manifest, source + ", greedy" * greedy, greedy)
            earned = self.table.earnings(agent, CHOOSING)
            if earned.mean() > self.best:
                self.best = float(earned.mean())
                self.found.append((Response(agent, agent.name, ".zip", self._file(manifest)), earned))

    def _file(self, manifest: Manifest) -> bytes:
        stream = io.BytesIO()
        self.model.save_playing(stream)
        add_manifest(stream, manifest)
        return stream.getvalue()

    def _manifest(self) -> Manifest:
        table = self.table
        return Manifest(
            name=f"response to {table.agent.name}",
            rules=table.rules_name,
            rules_options=table.rules.rules.model_dump(mode="json"),
            rules_fingerprint=table.rules.fingerprint,
            players=table.players,
            actions_fingerprint=table.rules.actions_fingerprint,
            observation_fingerprint=self.tables.layout.fingerprint,
            decisions=self.model.num_timesteps,
            seed=table.seed,
            precision=self.model.precision,
            versions=folder.versions(),
            commit=folder.commit(),
        )


def learn(table: Table, tell: Told) -> Iterator[tuple[Response, Earnings]]:
    """Yields the network each time it is better than before, with its earnings on the decks for choosing.

    Args:
        table: where the agent sits; the rest of its budget is used up.
        tell: what is told of progress.
    """
    start = network_to_start_from(table)
    options = FRESH if start is None else {**WARM, "network": {"layers": start.weights.layers}}
    seed = stream_seed(table.seed, TRAINING)
    config = make_config({**options, "run": {"seed": seed % 2**31}})
    tables = AgainstTables(table.rules, table.players, table.agent, config.rollout.tables, seed)
    with one_thread():
        model = make_model(config, TablesEnv(tables), choose_precision(config.network.precision))
        if start is not None:
            load_weights(model, start.weights)
        watch = Watch(table, tables, tell, f"from {start.name}" if start else "from nothing")
        model.learn(_ENDLESS, callback=watch)
        watch.judge()
    tables.close()
    yield from watch.found


def network_to_start_from(table: Table) -> NeuralAgent | None:
    """Returns the network that earns most of the agent: one that ships and plays these rules, or itself."""
    shipped = (make(name) for name in list_checkpoints())
    given = [table.agent, *(agent for agent in shipped if plays(agent, table))]
    networks = [agent for agent in given if isinstance(agent, NeuralAgent)]
    if len(networks) < 2:
        return networks[0] if networks else None
    return max(networks, key=lambda network: float(table.earnings(network, CHOOSING).mean()))


def load_weights(model: SelfPlayPPO, weights: Weights) -> None:
    """Sets the network of a learner to some weights."""
    with torch.no_grad():
        for mine, given in zip(model.learner.weights.tensors(), weights.tensors(), strict=True):
            mine.copy_(given)
    model.learner.forward.refresh()
