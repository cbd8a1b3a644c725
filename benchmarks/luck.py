"""How much narrower intervals are with luck taken out, at equal hands and at equal processor time.

    python -m benchmarks.luck
    python -m benchmarks.luck --pairs "pagat_2p,expert" --rollouts 64 256 --deals 2000

For each pair the same deals are played as they are and with luck taken out. The width is that of the 95%
interval beside the plain one; at equal time it is what as many hands as cost the same would give.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time

from arena.config import make_config
from arena.run import run

PAIRS = ("expert,reference", "pagat_2p,expert", f"cmd:{sys.executable} examples/bots/simple_bot.py,expert")


def seconds() -> float:
    """Processor time of this process and of those that it has ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def measure(pair: list[str], deals: int, seed: int, rollouts: int) -> tuple[float, float, float, float]:
    """Plays a pair; returns the mean and half-width that decide, the plain half-width, and seconds a hand."""
    begun = seconds()
    config = make_config({"agents": pair, "deals": deals, "seed": seed, "luck": rollouts})
    results = run(config)
    best, plain = results.pairs[0].best, results.pairs[0].per_hand
    return best.mean, best.half, plain.half, (seconds() - begun) / results.hands


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", nargs="+", default=PAIRS, help="agents, two with a comma between them")
    parser.add_argument("--rollouts", nargs="+", type=int, default=[16, 64, 256])
    parser.add_argument("--deals", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for pair in given.pairs:
        agents = pair.split(",")
        for rollouts in (0, 1):
            measure(agents, 100, given.seed, rollouts)  # whatever has to be compiled or loaded
        _, _, plain, cost = measure(agents, given.deals, given.seed, 0)
        print(
            f"{pair}: {given.deals} deals, seed {given.seed}: plain ±{plain:.4f}, {1e3 * cost:.3f} ms a hand"
        )
        for rollouts in given.rollouts:
            mean, half, _, dearer = measure(agents, given.deals, given.seed, rollouts)
            width = half / plain
            equal = width * (dearer / cost) ** 0.5
            print(
                f"  {rollouts:4d} rollouts: {mean:+.4f} ±{half:.4f}, width ×{width:.2f} at equal hands, "
                f"×{equal:.2f} at equal time ({1e3 * dearer:.3f} ms a hand)",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
