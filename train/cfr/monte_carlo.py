"""Monte Carlo counterfactual regret minimisation on the whole game, through an abstraction.

Regrets are estimated on sampled hands (Lanctot, Waugh, Zinkevich, Bowling 2009), and they and the strategies
that are averaged count in proportion to the number of their batch (linear weights: Brown, Sandholm 2019). A
batch is walked in blocks, all by the strategies from before it, and what they find is added in the order of
the blocks: how many threads share them changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.bot import make_tools
from agents.reference import reference
from agents.tabular.abstracted import KIND, Abstracted
from agents.tabular.moves import NUM_MOVES
from agents.tabular.slots import fill_slots, make_slots
from agents.tabular.table import Manifest, write_table
from arena.anchors import evaluate
from tonk_env._jit import mix
from tonk_env.rules import lower
from train.cfr.walks import MAX_DEPTH, SCHEMES, Book, Desk, add_up, make_desk, walk_hands
from train.config import AbstractConfig

_ENTRIES_PER_HAND = 64
_LEAST_ENTRIES = 1 << 14
_ROOM = 1 << 12


class MonteCarlo:
    """The solver: sums of regrets and strategies by decision.

    Args:
        config: its game, abstraction and method.
    """

    suffix = ".npz"

    def __init__(self, config: AbstractConfig) -> None:
        self.config, self.rules = config, lower(config.game.rules)
        options = config.monte_carlo
        self.scheme = SCHEMES.index(options.method)
        self.branches = options.branches if options.method == "rollouts" else MAX_DEPTH
        self.tools = make_tools(self.rules, config.game.players)
        self.plan, self.styles = config.abstraction.compile()
        self.batches = self.visited = self.used = 0
        self._set_room(_ROOM)
        entries = max(_LEAST_ENTRIES, options.hands * _ENTRIES_PER_HAND)
        self._desks = [make_desk(self.rules, entries) for _ in range(options.blocks)]

    @property
    def iterations(self) -> int:
        """Hands walked through so far."""
        return self.batches * self.config.monte_carlo.hands * len(self._desks)

    def step(self) -> None:
        """Walks through a batch of hands and learns from it."""
        options, threads = self.config.monte_carlo, self.config.monte_carlo.threads
        if threads == 1:
            for block in range(options.blocks):
                self._walk(block)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(self._walk, range(options.blocks)))
        self.batches += 1
        for desk in self._desks:
            self._learn(desk)

    def _walk(self, block: int) -> None:
        options = self.config.monte_carlo
        book = Book(
            self.rules.record, self.tools, self.plan, self.styles, reference().style,
            self.slots, self.keys, self.regrets,
        )  # fmt: skip
        walk_hands(
            book, self._desks[block], self.config.game.players, self.scheme, self.branches,
            options.exploration, mix(self.config.run.seed, self.batches), block * options.hands,
            options.hands,
        )  # fmt: skip

    def _learn(self, desk: Desk) -> None:
        entries, visited = (int(count) for count in desk.counts)
        if self.used + entries > len(self.keys):
            self._set_room(2 * (self.used + entries), self._rows())
        self.used = add_up(
            desk.journal, entries, float(self.batches), self.slots, self.keys, self.used, self.regrets,
            self.strategy,
        )  # fmt: skip
        self.visited += visited

    def _rows(self) -> tuple[npt.NDArray[Any], ...]:
        return self.keys[: self.used], self.regrets[: self.used], self.strategy[: self.used]

    def _set_room(self, room: int, rows: tuple[npt.NDArray[Any], ...] | None = None) -> None:
        """Makes room for so many decisions, and puts in the rows of those there are."""
        self.slots, self.keys = make_slots(room), np.zeros(room, np.int64)
        self.regrets = np.zeros((room, NUM_MOVES), np.float32)
        self.strategy = np.zeros_like(self.regrets)
        if rows is not None:
            self.used = len(rows[0])
            self.keys[: self.used], self.regrets[: self.used], self.strategy[: self.used] = rows
            fill_slots(self.slots, self.keys, self.used)

    def measure(self) -> dict[str, float]:
        """Measures the average strategies at the table, and counts the decisions told apart."""
        arrays = (self.slots, self.keys, self.regrets, self.strategy)
        found = {
            "information_sets": float(self.used),
            "memory_mb": sum(array.nbytes for array in arrays) / 1e6,
        }
        options, game = self.config.evaluation, self.config.game
        if options.anchors:
            manifest = self._manifest({"name": self.config.run.name})
            agent = Abstracted(manifest, self._arrays(), Path(self.config.run.name))
            # Far from the seeds of walks' decks, and the same ones each time.
            seed = int(np.random.default_rng([self.config.run.seed, 1]).integers(2**40, 2**41))
            for one in evaluate(agent, options.anchors, self.rules, game.players, options.deals, seed):
                found[f"stake_vs_{one.anchor}"] = one.stakes_per_hand
                found[f"ci_half_{one.anchor}"] = one.ci_half
        return found

    def state(self) -> dict[str, Any]:
        """Returns all that the solver keeps."""
        keys, regrets, strategy = self._rows()
        return {
            "batches": self.batches,
            "visited": self.visited,
            "keys": keys.copy(),
            "regrets": regrets.copy(),
            "strategy": strategy.copy(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Goes back to a state."""
        self.batches, self.visited = int(state["batches"]), int(state["visited"])
        self._set_room(max(_ROOM, len(state["keys"])), (state["keys"], state["regrets"], state["strategy"]))

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        keys, _, strategy = self._rows()
        is_met = strategy.max(axis=1) > 0
        chances = strategy[is_met]
        # What is left of a move that was given up is noise (Ganzfried, Sandholm, Waugh 2012).
        chances[chances < self.config.monte_carlo.least * chances.max(axis=1, keepdims=True)] = 0
        return Abstracted.arrays(keys[is_met], chances)

    def _manifest(self, about: Mapping[str, Any]) -> Manifest:
        return Manifest(
            kind=KIND,
            method=f"mccfr {self.config.monte_carlo.method}",
            rules=self.config.game.rules,
            rules_options=self.rules.rules.model_dump(mode="json"),
            rules_fingerprint=self.rules.fingerprint,
            actions_fingerprint=self.rules.actions_fingerprint,
            players=self.config.game.players,
            iterations=self.iterations,
            seed=self.config.run.seed,
            details={"abstraction": self.config.abstraction.model_dump(mode="json")},
            **about,
        )

    def save_agent(self, path: Path, about: Mapping[str, Any]) -> None:
        """Writes the average strategies as a table."""
        with path.open("wb") as stream:
            write_table(stream, self._manifest(about), self._arrays())
