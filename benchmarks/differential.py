"""The long differential run: the compiled engine against the naive one over many steered random hands.

    python -m benchmarks.differential --hands 100000 --workers 2

Prints how often each ending, option and status was reached, and fails where one was reached fewer than a
hundred times or the engines differ. Seeds are printed, so that a difference can be played again.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from tests.differential.test_engines import EXPECTED, run

CHUNK = 500


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hands", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    reached: Counter[Any] = Counter()
    seeds = [given.seed * 1_000_000 + chunk for chunk in range(given.hands // CHUNK)]
    with ProcessPoolExecutor(given.workers) as pool:
        for done, counts in enumerate(pool.map(run, seeds, [CHUNK] * len(seeds), [2] * len(seeds)), 1):
            reached += counts
            if done % 20 == 0:
                print(f"{done * CHUNK} hands", file=sys.stderr, flush=True)
    for name in sorted(reached):
        print(f"{reached[name]:9d}  {name}")
    print(f"{len(seeds) * CHUNK} hands without a difference (seed {given.seed})")
    missing = [name for name in EXPECTED if reached[name] < 100]
    if missing:
        print(f"reached fewer than a hundred times: {', '.join(missing)}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
