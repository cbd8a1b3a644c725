"""Solvers as the run loop drives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from agents.tabular.solution import KIND, Solution
from agents.tabular.table import Manifest, write_table
from tonk_env.errors import TonkError
from tonk_env.rules import LoweredRules, lower
from train.cfr.deep import DeepCfr
from train.cfr.exact import METHODS, Cfr
from train.cfr.expand import expand
from train.cfr.monte_carlo import MonteCarlo
from train.cfr.sampling import SampledCfr
from train.cfr.sequences import Sequences
from train.config import AbstractConfig, AnyConfig, DeepConfig, SolverConfig


class Solver(Protocol):
    """Something that gets better by iterations.

    Attributes:
        rules: of the game.
        suffix: of the files that `save_agent` writes.
    """

    rules: LoweredRules
    suffix: str

    @property
    def iterations(self) -> int:
        """How many were made."""

    @property
    def visited(self) -> int:
        """Nodes of the game that they visited."""

    def step(self) -> None:
        """Makes some iterations, always the same ones after the same state."""

    def measure(self) -> dict[str, float]:
        """Returns what is drawn as curves. `exploitability`, where it is there, may end the run."""

    def state(self) -> dict[str, Any]:
        """Returns arrays and plain numbers from which `load_state` goes on exactly."""

    def load_state(self, state: dict[str, Any]) -> None:
        """Goes back to a state."""

    def save_agent(self, path: Path, about: Mapping[str, Any]) -> None:
        """Writes what has been learned as an agent.

        Args:
            path: where.
            about: of the run, for the agent's manifest: `name`, `versions` and `commit`.
        """


class FlatSolver:
    """CFR of any kind on a game that is expanded as a whole.

    Args:
        config: its game and method.

    Raises:
        TonkError: the game cannot be expanded.
    """

    suffix = ".npz"

    def __init__(self, config: SolverConfig) -> None:
        self.config, self.rules = config, lower(config.game.rules)
        self.game = expand(self.rules, config.game.players)
        self.sequences = Sequences(self.game)
        options = config.solver
        self.solver: Cfr | SampledCfr
        if options.method in METHODS:
            self.solver = Cfr(self.sequences, METHODS[options.method])
        else:
            self.solver = SampledCfr(
                self.game, options.method, config.run.seed, options.linear, options.exploration, options.batch
            )

    @property
    def iterations(self) -> int:
        """How many were made."""
        return self.solver.iterations

    @property
    def visited(self) -> int:
        """Nodes of the game that they visited; of the exact methods the ends, which are all they visit."""
        return self.solver.visited

    def step(self) -> None:
        """Makes an iteration, or a batch of sampling ones."""
        self.solver.step()

    def measure(self) -> dict[str, float]:
        """Measures the average policy."""
        policy = self.solver.average_policy()
        game, form, solver = self.game, self.sequences, self.solver
        arrays = (
            game.nodes,
            game.sets,
            game.payoffs,
            form.ends,
            form.worth,
            policy,
            solver.regrets,
            solver.sums,
        )
        is_met = np.add.reduceat(solver.sums, game.sets["first"]) > 0
        found = {
            "exploitability": form.exploitability(policy),
            "nodes": float(len(game.nodes)),
            "information_sets": float(is_met.sum()),
            "memory_mb": sum(array.nbytes for array in arrays) / 1e6,
        }
        for seat, value in enumerate(form.values(policy).tolist()):
            found[f"value_seat_{seat}"] = value
        return found

    def state(self) -> dict[str, Any]:
        """Returns all that the solver keeps."""
        return self.solver.state()

    def load_state(self, state: dict[str, Any]) -> None:
        """Goes back to a state."""
        self.solver.load_state(state)

    def save_agent(self, path: Path, about: Mapping[str, Any]) -> None:
        """Writes the average policy as a table."""
        manifest = Manifest(
            kind=KIND,
            method=self.config.solver.method,
            rules=self.config.game.rules,
            rules_options=self.rules.rules.model_dump(mode="json"),
            rules_fingerprint=self.rules.fingerprint,
            actions_fingerprint=self.rules.actions_fingerprint,
            players=self.config.game.players,
            iterations=self.iterations,
            seed=self.config.run.seed,
            **about,
        )
        arrays = Solution.arrays(
            self.game.sets["key"],
            self.game.sets["num_actions"],
            self.game.actions,
            self.solver.average_policy(),
        )
        with path.open("wb") as stream:
            write_table(stream, manifest, arrays)


_SOLVERS: Mapping[type[AnyConfig], Callable[[Any], Solver]] = {
    SolverConfig: FlatSolver,
    AbstractConfig: MonteCarlo,
    DeepConfig: DeepCfr,
}


def open_solver(config: AnyConfig) -> Solver:
    """Returns the solver that a config asks for.

    Raises:
        TonkError: it cannot solve that game.
    """
    if type(config) not in _SOLVERS:
        raise TonkError("solve: a config of a solver is needed")
    return _SOLVERS[type(config)](config)
