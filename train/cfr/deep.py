"""Deep CFR: networks in place of tables, so that what was never met is played like what is similar.

An iteration walks through many hands at once, level by level, and keeps samples of two things in memories:
what the moves of the seat that learns would have gained over its strategy (advantages), and the strategies
of the others. A network is trained on the first, and regret matching on what it says is the next strategy;
a second one, trained on the strategies, is the average, which converges, and ships. Samples of the t-th
iteration have weight t.

Source: Brown, Lerer, Gross and Sandholm 2019, arXiv 1811.00164.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from agents.neural.agent import NeuralAgent
from agents.neural.checkpoint import Manifest, write_checkpoint
from agents.neural.network import Trunk, Weights
from arena.anchors import evaluate
from tonk_env.batch import apply_rows, deal_hands, legal_rows, live_rows
from tonk_env.engine.state import STATE_DTYPE
from tonk_env.limits import MAX_SEATS
from tonk_env.observe import layout
from tonk_env.rules import lower
from tonk_env.stepping import settle_rows, show_rows
from tonk_env.view import VIEW_DTYPE
from train.cfr.policies import exact_exploitability, expanded
from train.config import DeepConfig
from train.game import check_anchors

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]

_ADVANTAGES, _AVERAGE = range(2)
"""What networks are trained for; also part of the seeds of their training."""
_CHUNK = 4096
"""Rows that go through a network at once: more leave the processor's cache."""


class Network(nn.Module):
    """Observation -> a number for each action, with the names that checkpoints of self-play have.

    Args:
        size: features of an observation.
        layers: widths of the trunk's layers.
        num_actions: action ids.
    """

    def __init__(self, size: int, layers: tuple[int, ...], num_actions: int) -> None:
        super().__init__()
        self.mlp_extractor = Trunk(size, layers)
        self.action_net = nn.Linear(layers[-1], num_actions)
        self.value_net = nn.Linear(layers[-1], 1)  # part of the format, and never asked
        for head in (self.action_net, self.value_net):
            nn.init.zeros_(head.weight)
            nn.init.zeros_(head.bias)

    def forward(self, observations: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        """`[N, size]` and action ids `[N, M]` -> `[N, M]`."""
        actions: torch.Tensor = self.action_net(self.mlp_extractor.forward_actor(observations))
        return actions.gather(1, legal)


class Memory:
    """A uniform sample of all the decisions that were ever added (reservoir sampling: Vitter 1985).

    Args:
        capacity: most that are kept.
        size: features of an observation.
    """

    def __init__(self, capacity: int, size: int) -> None:
        self.capacity, self.seen = capacity, 0
        self.observations = np.zeros((capacity, size), np.float16)
        self.legal = np.zeros((capacity, 0), np.int16)
        self.num_legal = np.zeros(capacity, np.int16)
        self.targets = np.zeros((capacity, 0), np.float32)
        self.weights = np.zeros(capacity, np.float32)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The rows that are kept."""
        used = min(self.seen, self.capacity)
        arrays = (self.observations, self.legal, self.num_legal, self.targets, self.weights)
        return tuple(array[:used] for array in arrays)

    def _widen(self, most: int) -> None:
        """Makes room for decisions among so many actions: few have nearly as many as the rules allow."""
        more = ((0, 0), (0, max(0, most - self.legal.shape[1])))
        self.legal, self.targets = np.pad(self.legal, more), np.pad(self.targets, more)

    def add(
        self,
        lots: np.random.Generator,
        observations: Floats,
        legal: NDArray[np.int16],
        num_legal: Ids,
        targets: NDArray[np.floating[Any]],
        weight: float,
    ) -> None:
        """Adds `N` decisions; each of those ever seen is kept with the same chance."""
        numbers = self.seen + np.arange(len(legal))
        drawn = (lots.random(len(legal)) * (numbers + 1)).astype(np.int64)
        places = np.where(numbers < self.capacity, numbers, drawn)
        kept = places < self.capacity
        if legal.shape[1] > self.legal.shape[1]:
            self._widen(legal.shape[1])
        places, most = places[kept], legal.shape[1]  # of two at one place the later one stays
        self.observations[places], self.num_legal[places] = observations[kept], num_legal[kept]
        self.legal[places, :most], self.targets[places, :most] = legal[kept], targets[kept]
        self.weights[places] = weight
        self.seen += len(legal)

    def state(self) -> dict[str, Any]:
        """Returns what `load_state` goes on from."""
        names = ("observations", "legal", "num_legal", "targets", "weights")
        return {"seen": self.seen, **dict(zip(names, self.arrays(), strict=True))}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes back to a state."""
        self.seen = int(state["seen"])
        self._widen(state["legal"].shape[1])
        for name, array in state.items():
            if name != "seen":
                getattr(self, name)[: len(array)] = array


class Level:
    """One table for each point that the hands of a walk have come to after equally many moves.

    Attributes:
        tables: `[N]` STATE_DTYPE; none once the level below is made.
        is_way: `[N]`, whether the seat that learns looks at all its moves here, or plays the hand out.
        branched: `[N]`, decisions above at which it did.
        parents: `[N]`, row in the level above.
        chances: `[N]`, by which the value counts in the parent's.
        columns: `[N]`, place of the move among the legal ones of the parent.
        values: `[N]`, of the seat that learns, in stakes; of ended hands, until the way back fills in others.
    """

    def __init__(self, tables: NDArray[np.void], parents: Ids, chances: Any, columns: Ids) -> None:
        self.tables, self.parents, self.chances, self.columns = tables, parents, chances, columns
        self.is_way = np.ones(len(tables), bool)
        self.branched = np.zeros(len(tables), np.int64)
        self.values = np.zeros(len(tables))
        rows = np.zeros(len(tables), np.int64)
        self.live = rows[: live_rows(tables, rows)]
        self.is_live = np.zeros(len(tables), bool)
        self.is_live[self.live] = True


def regret_matching(advantages: Floats, num_legal: Ids) -> Floats:
    """Returns strategies in proportion to positive advantages; where there are none, the best moves.

    Args:
        advantages: `[N, M]`, of which the first `num_legal[n]` of row n mean something.
        num_legal: `[N]`.

    Returns:
        `[N, M]`, each row sums to 1.
    """
    is_legal = np.arange(advantages.shape[1]) < num_legal[:, None]
    gains = np.where(is_legal, np.maximum(advantages, 0), 0)
    masked = np.where(is_legal, advantages, -np.inf)
    is_best = masked == masked.max(axis=1, keepdims=True)
    chances = np.where(gains.any(axis=1, keepdims=True), gains, is_best)
    return np.asarray(chances / chances.sum(axis=1, keepdims=True), np.float32)


class DeepCfr:
    """The solver: two memories and the network of advantages.

    Args:
        config: its game and options.

    Raises:
        TonkError: the game is not played by that many, too large to be measured exactly, or
            an anchor cannot play it.
    """

    suffix = ".zip"

    def __init__(self, config: DeepConfig) -> None:
        self.config, self.rules = config, lower(config.game.rules)
        self.layout = layout(self.rules, config.game.players)
        check_anchors(config.evaluation.anchors, self.rules, config.game.players)
        if config.evaluation.exact:
            expanded(self.rules, config.game.players)
        size, capacity = self.layout.size, config.deep.memory
        self.memories = Memory(capacity, size), Memory(capacity, size)
        self.iterations = self.visited = 0
        self.advantages = self._new_network()
        self._average: tuple[int, Network] | None = None

    def _new_network(self) -> Network:
        return Network(self.layout.size, self.config.deep.layers, self.rules.num_actions)

    # ----------------------------------------------------------------- a walk

    def step(self) -> None:
        """Walks through hands for each seat in turn, then trains the advantages anew."""
        self.iterations += 1
        lots = np.random.default_rng([self.config.run.seed, self.iterations])
        for seat in range(self.config.game.players):
            self._walk(seat, lots)
        self.advantages = self._train(_ADVANTAGES, self.config.deep.steps)

    def _walk(self, seat: int, lots: np.random.Generator) -> None:
        """Walks through hands and remembers what `seat` could have gained and what the others did."""
        count, players = self.config.deep.hands, self.config.game.players
        tables = np.zeros(count, STATE_DTYPE)
        zeros = np.zeros(count, np.int64)
        keys = lots.integers(2**62, size=count)
        # The last seat deals, so that seat 0 has the first turn.
        deal_hands(tables, self.rules.record, zeros, zeros + players, zeros + players - 1, keys)
        level = Level(tables, zeros, np.ones(count), zeros)
        back = []
        while True:
            self._pay(level, seat)
            if not len(level.live):
                break
            below, branching, seen = self._deepen(level, seat, lots)
            level.tables = np.zeros(0, STATE_DTYPE)  # they are the most of it, and of no more use
            back.append((level, branching, seen))
            level = below
        for above, branching, seen in reversed(back):
            above.values += np.bincount(level.parents, level.chances * level.values, len(above.values))
            if branching.any():
                self._remember(above, level, branching, seen, lots)
            level = above

    def _pay(self, level: Level, seat: int) -> None:
        ended = np.flatnonzero(~level.is_live)
        payments = np.zeros((len(ended), MAX_SEATS))
        settle_rows(level.tables, ended, self.rules.record, payments)
        level.values[ended] = payments[:, seat]
        self.visited += len(level.tables)

    def _deepen(self, level: Level, seat: int, lots: np.random.Generator) -> tuple[Any, ...]:
        """Makes moves at the live tables of a level: all where `seat` branches, else one by the strategy.

        Returns:
            The level below, which of the live tables branch, and what is seen there.
        """
        tables, live, record = level.tables, level.live, self.rules.record
        observations = np.zeros((len(live), self.layout.size), np.float32)
        legal = np.zeros((len(live), self.rules.max_legal), np.int16)
        num_legal = np.zeros(len(live), np.int64)
        movers = tables["seat"].astype(np.int64)
        show_rows(
            tables, live, movers, record, self.layout.starts, np.zeros(1, VIEW_DTYPE), observations
        )  # fmt: skip
        legal_rows(tables, live, record, legal, num_legal)
        legal = legal[:, : num_legal.max()]
        strategy = self._strategy(observations, legal, num_legal)
        is_way, is_own = level.is_way[live], movers[live] == seat
        others = is_way & ~is_own
        self.memories[_AVERAGE].add(
            lots, observations[others], legal[others], num_legal[others], strategy[others], self.iterations
        )

        branching = is_way & is_own
        sums = strategy.cumsum(axis=1)
        drawn = (sums <= lots.random((len(live), 1)) * sums[:, -1:]).sum(axis=1)
        columns = np.arange(legal.shape[1])
        is_made = np.where(branching[:, None], columns < num_legal[:, None], columns == drawn[:, None])
        rows, column = np.nonzero(is_made)
        made = tables[live[rows]]
        apply_rows(made, np.arange(len(made)), record, legal[rows, column].astype(np.int32))
        chances = np.where(branching[rows], strategy[rows, column], 1.0)
        below = Level(made, live[rows], chances, column)

        # Beyond the first branching decisions one move leads on; the others are played out by the strategy.
        explored = self.config.deep.exploration
        odds = (1 - explored) * chances + explored / num_legal[rows]
        times = lots.exponential(size=len(rows)) / np.maximum(odds, 1e-9)
        order = np.lexsort((times, rows))
        leads = np.zeros(len(rows), bool)
        leads[order[np.flatnonzero(np.diff(rows, prepend=-1))]] = True
        leads |= level.branched[live][rows] < self.config.deep.branches
        below.is_way = is_way[rows] & leads
        below.branched = level.branched[live][rows] + branching[rows]
        return below, branching, (observations[branching], legal[branching], num_legal[branching])

    def _remember(
        self, above: Level, below: Level, branching: NDArray[np.bool_], seen: Any, lots: np.random.Generator
    ) -> None:
        """Keeps what each move gains over the strategy where all were made."""
        place = np.full(len(above.values), -1)
        place[above.live[branching]] = np.arange(branching.sum())
        rows = place[below.parents]
        is_own = rows >= 0
        gains = np.zeros(seen[1].shape)
        gains[rows[is_own], below.columns[is_own]] = (below.values - above.values[below.parents])[is_own]
        observations, legal, num_legal = seen
        self.memories[_ADVANTAGES].add(lots, observations, legal, num_legal, gains, self.iterations)

    def _strategy(self, observations: Floats, legal: NDArray[np.int16], num_legal: Ids) -> Floats:
        """Asks the network what to do at many decisions."""
        advantages = np.zeros(legal.shape, np.float32)
        actions = torch.from_numpy(legal.astype(np.int64))
        with torch.no_grad():
            for first in range(0, len(legal), _CHUNK):
                rows = slice(first, first + _CHUNK)
                advantages[rows] = self.advantages(
                    torch.from_numpy(observations[rows]), actions[rows]
                ).numpy()
        return regret_matching(advantages, num_legal)

    # --------------------------------------------------------------- learning

    def _train(self, what: int, steps: int) -> Network:
        """Returns a network trained on a memory: always the same one after the same iterations."""
        options = self.config.deep
        observations, legal, num_legal, targets, weights = self.memories[what].arrays()
        lots = np.random.default_rng([self.config.run.seed, self.iterations, what])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(lots.integers(2**62)))
            network = self._new_network()
        if what == _ADVANTAGES and not options.anew:
            network.load_state_dict(self.advantages.state_dict())
        optimizer = torch.optim.Adam(network.parameters(), options.learning_rate)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, steps)
        columns = np.arange(legal.shape[1])
        for _ in range(steps):
            rows = lots.integers(len(legal), size=options.batch)
            says = network(
                torch.from_numpy(observations[rows].astype(np.float32)),
                torch.from_numpy(legal[rows].astype(np.int64)),
            )
            is_legal = torch.from_numpy(columns < num_legal[rows, None])
            target = torch.from_numpy(targets[rows])
            if what == _ADVANTAGES:
                losses = torch.where(is_legal, (says - target) ** 2, 0).sum(1)
            else:
                says = functional.log_softmax(says.masked_fill(~is_legal, -torch.inf), 1)
                losses = -torch.where(is_legal, target * says, 0).sum(1)
            # Linear CFR: the weight of a sample is the number of its iteration, here as a part of the last.
            loss = (torch.from_numpy(weights[rows]) / self.iterations * losses).mean()
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        return network

    def average(self) -> Network:
        """The network of the average strategy, trained once for each number of iterations."""
        if self._average is None or self._average[0] != self.iterations:
            self._average = self.iterations, self._train(_AVERAGE, self.config.deep.average_steps)
        return self._average[1]

    # ---------------------------------------------------------- as a `Solver`

    def measure(self) -> dict[str, float]:
        """Measures the average strategy exactly, or at the table, as the config says."""
        found = {
            f"samples_{name}": float(memory.seen)
            for name, memory in zip(("advantages", "strategy"), self.memories, strict=True)
        }
        options, game = self.config.evaluation, self.config.game
        weights = Weights.of_state(self.average().state_dict())
        agent = NeuralAgent(weights, self._manifest({"name": self.config.run.name}), self.config.run.name)
        if options.exact:
            found["exploitability"] = exact_exploitability(agent, self.rules, game.players)
        # Far from the seeds of walks' decks, and the same ones each time.
        seed = int(np.random.default_rng([self.config.run.seed, 1]).integers(2**40, 2**41))
        for one in evaluate(agent, options.anchors, self.rules, game.players, options.deals, seed):
            found[f"stake_vs_{one.anchor}"] = one.stakes_per_hand
            found[f"ci_half_{one.anchor}"] = one.ci_half
        return found

    def state(self) -> dict[str, Any]:
        """Returns all that the solver keeps."""
        return {
            "iterations": self.iterations,
            "visited": self.visited,
            **{
                f"{what}.{name}": value
                for what, memory in enumerate(self.memories)
                for name, value in memory.state().items()
            },
            **{f"network.{name}": value.numpy() for name, value in self.advantages.state_dict().items()},
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Goes back to a state."""
        self.iterations, self.visited = int(state["iterations"]), int(state["visited"])

        def part(of: str) -> dict[str, Any]:
            return {
                name.removeprefix(f"{of}."): value
                for name, value in state.items()
                if name.startswith(f"{of}.")
            }

        for what, memory in enumerate(self.memories):
            memory.load_state(part(str(what)))
        self.advantages.load_state_dict(
            {name: torch.from_numpy(value) for name, value in part("network").items()}
        )

    def _manifest(self, about: Mapping[str, Any]) -> Manifest:
        return Manifest(
            rules=self.config.game.rules,
            rules_options=self.rules.rules.model_dump(mode="json"),
            rules_fingerprint=self.rules.fingerprint,
            players=self.config.game.players,
            actions_fingerprint=self.rules.actions_fingerprint,
            observation_fingerprint=self.layout.fingerprint,
            decisions=self.visited,
            seed=self.config.run.seed,
            precision="fp32",
            **about,
        )

    def save_agent(self, path: Path, about: Mapping[str, Any]) -> None:
        """Writes the average strategy as a checkpoint, which plays like one of self-play."""
        with path.open("wb") as stream:
            write_checkpoint(stream, self._manifest(about), self.average().state_dict())
