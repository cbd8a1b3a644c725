"""Plots how fast solvers bring exploitability down on a toy, by iterations and by time.

python docs/plot_solvers.py toy_2s4r docs/solvers.png
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from train.cfr.exact import METHODS, Cfr
from train.cfr.expand import expand
from train.cfr.sampling import SAMPLERS, SampledCfr
from train.cfr.sequences import Sequences

SECONDS, GROWTH = 5.0, 1.3


def open_solver(sequences: Sequences, method: str) -> Cfr | SampledCfr:
    """Returns a solver that has made no iteration."""
    if method in METHODS:
        return Cfr(sequences, METHODS[method])
    return SampledCfr(sequences.game, method, seed=1, is_linear=True, batch=100)


def curve(sequences: Sequences, method: str) -> tuple[list[int], list[float], list[float]]:
    """Returns iterations, seconds of the process's time and exploitability, at growing distances."""
    open_solver(sequences, method).step()  # compiles
    solver = open_solver(sequences, method)
    iterations, seconds, found = [], [], []
    spent, due = 0.0, 1.0
    while spent < SECONDS:
        start = time.process_time()
        while solver.iterations < due:
            solver.step()
        spent += time.process_time() - start
        due = max(due * GROWTH, due + 1)
        iterations.append(solver.iterations)
        seconds.append(spent)
        found.append(sequences.exploitability(solver.average_policy()))
    return iterations, seconds, found


def plot(rules: str, target: Path) -> None:
    """Writes the curves as a picture, and their ends as text."""
    sequences = Sequences(expand(rules))
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained", sharey=True)
    for method in (*METHODS, *SAMPLERS):
        iterations, seconds, found = curve(sequences, method)
        print(f"{method}: {found[-1]:.2e} after {iterations[-1]:,} iterations, {seconds[-1]:.1f} s")
        if method in METHODS:
            axes[0].loglog(iterations, found, label=method)
        axes[1].loglog(seconds, found, label=method)
    axes[0].set(
        xlabel="iterations", ylabel="exploitability, stakes per hand", title=f"{rules}, by iterations"
    )
    axes[1].set(xlabel="seconds on one core", title="by time, with sampling")
    for each in axes:
        each.grid(alpha=0.3)
        each.legend(fontsize="small")
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    plot(sys.argv[1], Path(sys.argv[2]))
