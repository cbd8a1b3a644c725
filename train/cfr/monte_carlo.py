"""Monte Carlo counterfactual regret minimisation on the whole game, through an abstraction.

Regrets are estimated on sampled hands (Lanctot, Waugh, Zinkevich, Bowling 2009) and, as the strategies that are
averaged, counted in proportion to the number of their batch (linear weights: Brown, Sandholm 2019). A batch is walked in
blocks, all by the strategies from before it, and what they learned is added in the order of the blocks: how
many threads share them changes nothing.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from agents.tabular.abstracted import AbstractedAgent, Manifest, write_table
from agents.tabular.abstraction import Abstraction
from agents.tabular.moves import NUM_MOVES
from agents.tabular.slots import EMPTY, make_slots, put_all
from tonk_env._jit import mix
from tonk_env.rules import LoweredRules
from train.cfr.walks import MAX_DEPTH, SCHEMES, Desk, add_up, make_book, make_desk, walk_hands


class MonteCarlo:
    """The solver: sums of regrets and strategies by decision, and how many batches they are of.

    Args:
        rules: the rules.
        players: seats at the table; with more than two nothing is known of the average's worth.
        abstraction: what decisions tell apart, and their moves.
        scheme: one of SCHEMES.
        branches: decisions of the learner that are looked into one below the other.
        explore: probability that the learner's own path takes a move at random.
        hands: per block.
        blocks: per batch.
        threads: that share the blocks.
        seed: of all that is random.
    """

    def __init__(
        self,
        rules: LoweredRules,
        players: int,
        abstraction: Abstraction,
        scheme: str = "rollouts",
        branches: int = 1,
        explore: float = 0.5,
        hands: int = 1000,
        blocks: int = 2,
        threads: int = 1,
        seed: int = 1,
    ) -> None:
        self.rules, self.players, self.abstraction, self.seed = rules, players, abstraction, seed
        self.scheme = SCHEMES.index(scheme)
        self.branches = branches if scheme == "rollouts" else MAX_DEPTH
        self.explore, self.hands, self.threads = explore, hands, threads
        self.batches = self.decisions = self.lost = 0
        self._set_sums(make_slots(1 << 12))
        self._desks = [make_desk(rules, hands * _ENTRIES_PER_HAND) for _ in range(blocks)]

    def _set_sums(self, slots: Any) -> None:
        self.slots = slots
        self.regrets = np.zeros((len(slots), NUM_MOVES), np.float32)
        self.strategy = np.zeros_like(self.regrets)

    @property
    def num_hands(self) -> int:
        """Hands walked through so far."""
        return self.batches * self.hands * len(self._desks)

    def step(self) -> None:
        """Walks through a batch of hands and learns from it."""
        key = mix(self.seed, self.batches)
        book = make_book(self.rules, self.players, self.abstraction, self.slots, self.regrets)

        def walk(block: int) -> None:
            first = self.hands * block
            walk_hands(
                book, self._desks[block], self.players, self.scheme, self.branches, self.explore, key, first, self.hands
            )

        if self.threads == 1:
            for block in range(len(self._desks)):
                walk(block)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(walk, range(len(self._desks))))
        self.batches += 1
        for desk in self._desks:
            self._learn(desk)

    def _learn(self, desk: Desk) -> None:
        entries, decisions = (int(count) for count in desk.counts)
        self._make_room(entries)
        add_up(desk.journal, entries, float(self.batches), self.slots, self.regrets, self.strategy)
        self.decisions += decisions

    def _make_room(self, entries: int) -> None:
        """Makes sure that so many new decisions leave half the slots empty."""
        used = np.flatnonzero(self.slots != EMPTY)
        wanted = make_slots(len(used) + entries)
        if len(wanted) > len(self.slots):
            self.load_state(self.state(), wanted)

    def measure(self) -> dict[str, float]:
        """Returns what a run logs: decisions told apart, those walked through, bytes."""
        arrays = (self.slots, self.regrets, self.strategy)
        return {
            "infosets": float((self.slots != EMPTY).sum()),
            "decisions": float(self.decisions),
            "hands": float(self.num_hands),
            "bytes": float(sum(array.nbytes for array in arrays)),
        }

    def state(self) -> dict[str, Any]:
        """Returns all that `load_state` needs to go on as if never stopped."""
        used = np.flatnonzero(self.slots != EMPTY)
        return {
            "batches": self.batches,
            "decisions": self.decisions,
            "keys": self.slots[used],
            "regrets": self.regrets[used],
            "strategy": self.strategy[used],
        }

    def load_state(self, state: dict[str, Any], slots: Any = None) -> None:
        """Goes on from what `state` returned; `slots` are empty ones to fill, where not just enough will do."""
        keys = np.asarray(state["keys"])
        self._set_sums(make_slots(len(keys)) if slots is None else slots)
        places = np.zeros(len(keys), np.int64)
        put_all(self.slots, keys, places)
        self.regrets[places], self.strategy[places] = state["regrets"], state["strategy"]
        self.batches, self.decisions = int(state["batches"]), int(state["decisions"])

    def manifest(self, name: str, rules: str, **about: Any) -> Manifest:
        """Returns what a table made now says of itself."""
        return Manifest(
            name=name,
            rules=rules,
            rules_options=self.rules.rules.model_dump(mode="json"),
            rules_fingerprint=self.rules.fingerprint,
            players=self.players,
            abstraction=self.abstraction,
            hands=self.num_hands,
            seed=self.seed,
            **about,
        )

    def save_agent(self, path: Path, manifest: Manifest) -> None:
        """Writes the average strategies as a table that plays."""
        met = np.flatnonzero(self.strategy.max(axis=1) > 0)
        write_table(path, manifest, self.slots[met], self.strategy[met])


_ENTRIES_PER_HAND = 64
