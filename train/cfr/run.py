"""A solver's run in its folder: start or resume it, measure it, end it cleanly.

runs/<name>-<n>/
    config.toml        every option, written out
    manifest.json      rules, fingerprints, seeds, versions, commit, command
    train.log          what happened, by iterations; times.jsonl has when
    events.*           TensorBoard
    latest.npz         the last policy, an agent (.zip of Deep CFR); checkpoints/ has all
    state.pt           what --resume needs beside them
    result.json        what was measured at the end
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from stable_baselines3.common.logger import Logger

from agents.neural.checkpoint import replace_file
from tonk_env.errors import TonkError
from train import folder
from train.cfr.solvers import Solver, open_solver
from train.config import AnyConfig, dump_config, load_config
from train.curves import Curves
from train.session import Journal, Stopped, ctrl_c, make_progress, one_thread

Open = Callable[[AnyConfig], Solver]


def _to_tensors(state: dict[str, Any]) -> dict[str, Any]:
    return {
        name: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        for name, value in state.items()
    }


def _to_arrays(state: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.numpy() if isinstance(value, torch.Tensor) else value for name, value in state.items()
    }


class SolverRun:
    """What happens around the solving: checkpoints, measurements, log, progress.

    Args:
        path: the run's folder.
        config: its config, whose section `run` is a `SolverRunSection`.
        solver: what solves.
        console: where to show progress.
    """

    def __init__(self, path: Path, config: Any, solver: Solver, console: Console) -> None:
        self.path, self.options, self.solver = path, config.run, solver
        self.about = folder.read_manifest(path)
        self.journal, self.progress = Journal(path, "iterations", console), make_progress(console)
        self.bar = self.progress.add_task(self.options.name, total=self.options.total_iterations, note="")
        self.measured: dict[str, float] = {}
        self.measured_at = self.saved_at = 0
        self.stop = False

    def log(self, message: str) -> None:
        """Writes a line to the screen and to train.log."""
        self.journal.log(self.solver.iterations, message)

    @property
    def is_over(self) -> bool:
        """Whether the budget is spent or the target reached."""
        is_reached = self.measured.get("exploitability", np.inf) <= self.options.target
        return bool(is_reached or self.solver.iterations >= self.options.total_iterations)

    def go(self) -> None:
        """Makes iterations until the run is over.

        Raises:
            Stopped: `stop` was set; there is a checkpoint.
        """
        self.logger = Logger(str(self.path), [Curves(self.path, self.solver.iterations)])
        self._mark()
        while not self.is_over:
            before = self.solver.iterations
            self.solver.step()
            if self._is_due(before, self.options.measure_every):
                self.measure()
            if self.stop or self._is_due(before, self.options.checkpoint_every):
                self.save()
            self.progress.update(self.bar, completed=self.solver.iterations)
            if self.stop:
                raise Stopped
        self.measure()
        self.save()
        folder.write_json(
            self.path / folder.RESULT, {"iterations": self.solver.iterations, "measured": self.measured}
        )
        self.log(f"done: {self.latest}")

    @property
    def latest(self) -> Path:
        """The last policy, as an agent."""
        return self.path / f"latest{self.solver.suffix}"

    def _is_due(self, before: int, interval: int) -> bool:
        return self.solver.iterations // interval > before // interval

    def _mark(self) -> None:
        self.marked = time.perf_counter(), self.solver.iterations, self.solver.visited

    def measure(self) -> None:
        """Draws how good the policy is and how fast the solver was since the last measurement."""
        now = self.solver.iterations
        if now == self.measured_at:
            return
        started, iterations, visited = self.marked
        seconds = max(time.perf_counter() - started, 1e-9)
        speed = (now - iterations) / seconds
        self.measured, self.measured_at = self.solver.measure(), now
        for name, value in self.measured.items():
            self.logger.record(f"solver/{name}", value)
        self.logger.record("time/iterations_per_second", speed)
        self.logger.record("time/nodes_per_second", (self.solver.visited - visited) / seconds)
        self.logger.dump(now)
        self.log(", ".join(f"{name} {value:.6g}" for name, value in self.measured.items()))
        self.progress.update(self.bar, note=f"{speed:,.0f} iterations/s")
        self._mark()

    def save(self) -> None:
        """Writes a checkpoint: an agent, and all that `resume` needs."""
        now = self.solver.iterations
        if now == self.saved_at:
            return
        self.saved_at = now
        about = {"name": self.path.name, "versions": self.about["versions"], "commit": self.about["commit"]}
        for place in (self.path / folder.CHECKPOINTS / f"{now}{self.solver.suffix}", self.latest):
            made = place.with_name(f".{place.name}.part")
            self.solver.save_agent(made, about)
            replace_file(place, made)
        # Last, and in one piece: until it is in place the run is taken up from the checkpoint before.
        state = {
            "iterations": now,
            "measured": self.measured,
            "measured_at": self.measured_at,
            "solver": _to_tensors(self.solver.state()),
        }
        folder.write_state(self.path / folder.STATE, state)

    def resume(self) -> None:
        """Goes on from the last checkpoint."""
        state = folder.read_state(self.path / folder.STATE)
        self.solver.load_state(_to_arrays(state["solver"]))
        self.measured, self.measured_at = state["measured"], state["measured_at"]
        self.saved_at = state["iterations"]
        self.progress.update(self.bar, completed=self.saved_at)

    def close(self) -> None:
        """Closes the files."""
        self.journal.close()
        self.logger.close()


def _describe(config: Any, solver: Solver) -> dict[str, Any]:
    """The manifest of a new run."""
    return {
        "format": "tonk-run/1",
        "command": folder.command(),
        "config": config.model_dump(),
        "seed": config.run.seed,
        "rules": {
            "fingerprint": solver.rules.fingerprint,
            "options": solver.rules.rules.model_dump(mode="json"),
        },
        "actions_fingerprint": solver.rules.actions_fingerprint,
        "versions": folder.versions(),
        "commit": folder.commit(),
    }


def _check_same_game(path: Path, about: dict[str, Any], solver: Solver) -> None:
    then = about["rules"]["fingerprint"], about["actions_fingerprint"]
    if then != (solver.rules.fingerprint, solver.rules.actions_fingerprint):
        raise TonkError(f"{path}: cannot resume: its rules or actions are not those of this version")


def solve(
    config: AnyConfig | None = None,
    out: Path | None = None,
    resume: Path | None = None,
    open_solver: Open = open_solver,
    console: Console | None = None,
) -> Path:
    """Solves a game, or goes on with a run that was stopped.

    Args:
        config: the options of a new run; a run that is taken up again has its own.
        out: the folder that run folders go in; `runs` by default.
        resume: the folder of the run to go on with.
        open_solver: makes the solver.
        console: where to show progress; standard error by default.

    Returns:
        The run's folder.

    Raises:
        TonkError: the game cannot be solved, the folder cannot be written, or there is nothing to resume.
        KeyboardInterrupt: Ctrl-C; all iterations are saved, and the run can be resumed.
    """
    console = console or Console(stderr=True)
    if resume is not None:
        path = Path(resume)
        about = folder.read_manifest(path)
        config = load_config(path / folder.CONFIG)
        solver = open_solver(config)
        _check_same_game(path, about, solver)
    elif config is not None:
        solver = open_solver(config)
        path = folder.new_folder(Path(out or "runs"), config.run.name)
        folder.write_text(path / folder.CONFIG, dump_config(config))
        folder.write_json(path / folder.MANIFEST, _describe(config, solver))
    else:
        raise TonkError("solve: a config to start with or a run to resume is needed")
    with one_thread():
        _solve(path, SolverRun(path, config, solver, console), resume is not None)
    return path


def _solve(path: Path, run: SolverRun, again: bool) -> None:
    total = run.options.total_iterations
    if again:
        run.resume()
        run.log(f"resumed {path} at {run.solver.iterations:,} of {total:,} iterations")
        run.journal.note_versions(run.solver.iterations, run.about["versions"])
    else:
        run.log(f"{path}: {total:,} iterations; curves: tensorboard --logdir {path.parent}")
    try:
        with ctrl_c(lambda: setattr(run, "stop", True)), run.progress:
            run.go()
    except Stopped:
        run.log(f"stopped; go on with: tonk train --resume {os.path.relpath(path)}")
        raise KeyboardInterrupt from None
    finally:
        run.close()
