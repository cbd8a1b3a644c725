"""Our solvers beside OpenSpiel's C++ ones, on Leduc poker, in one run.

    python benchmarks/solvers.py [--seconds 10]

Both sides make the same iterations (tests/learning/test_openspiel.py compares them), so that times can be put
beside each other: CFR+ as long as it takes to an exploitability of 0.001, and external sampling in nodes per
second, of which an iteration visits as many on both sides on average. Times are the process's own.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import pyspiel

from tonk_cli.doctor import cpu
from tonk_cli.speed import best_rate
from train.cfr.exact import METHODS, Cfr
from train.cfr.flat import flatten
from train.cfr.sampling import SampledCfr
from train.cfr.sequences import Sequences

GAME, TARGET = "leduc_poker", 0.001


def timed(work: Callable[[], None], times: int = 1) -> float:
    """Returns the seconds that some work takes."""
    start = time.process_time()
    for _ in range(times):
        work()
    return time.process_time() - start


def cfr_plus(repetitions: int) -> None:
    """Prints how long CFR+ takes to the target on both sides."""
    game = pyspiel.load_game(GAME)
    start = time.process_time()
    sequences = Sequences(flatten(game.new_initial_state()))
    setup = time.process_time() - start
    solver = Cfr(sequences, METHODS["cfr+"])
    while solver.iterations == 0 or sequences.exploitability(solver.average_policy()) > TARGET:
        solver.step()
    needed = solver.iterations
    ours = min(timed(Cfr(sequences, METHODS["cfr+"]).step, needed) for _ in range(repetitions))
    theirs = pyspiel.CFRPlusSolver(game)
    spent = timed(theirs.evaluate_and_update_policy, needed)
    reached = pyspiel.exploitability(game, theirs.tabular_average_policy())
    print(f"CFR+ on {GAME} to an exploitability of {TARGET}: {needed} iterations")
    print(f"  ours {ours:.4f} s, and {setup:.2f} s to flatten the game")
    print(f"  OpenSpiel's CFRPlusSolver {spent:.2f} s, to {reached:.6f}")
    print(f"  ratio {spent / ours:.0f}× ({spent / (ours + setup):.1f}× with flattening)")


def external_sampling(seconds: float) -> None:
    """Prints how many nodes external sampling visits in a second on both sides."""
    game = pyspiel.load_game(GAME)
    solver = SampledCfr(flatten(game.new_initial_state()), "external", seed=1, batch=1000)
    solver.step()

    def ours(amount: int) -> int:
        before = solver.visited
        for _ in range(amount):
            solver.step()
        return solver.visited - before

    theirs = pyspiel.ExternalSamplingMCCFRSolver(game, 1)

    def others(amount: int) -> int:
        for _ in range(1000 * amount):
            theirs.run_iteration()
        return 1000 * amount

    rate = best_rate(ours, seconds)
    per_iteration = solver.visited / solver.iterations
    peer = best_rate(others, seconds) * per_iteration
    print(f"External sampling on {GAME}: {per_iteration:.1f} nodes an iteration")
    print(f"  ours {rate:,.0f} nodes/s, OpenSpiel's ExternalSamplingMCCFRSolver {peer:,.0f} nodes/s")
    print(f"  ratio {rate / peer:.1f}×")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement of sampling")
    given = parser.parse_args()
    cfr_plus(repetitions=5)
    external_sampling(given.seconds)
    print(f"Measured on {cpu()[0]}, one thread, process time.")


if __name__ == "__main__":
    main()
