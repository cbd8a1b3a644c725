"""The long differential run: the compiled engine against the naive one over many steered random hands.

    python -m benchmarks.differential --hands 100000 --workers 2
    python -m benchmarks.differential --presets all --hands 20000 --workers 2

The first plays under random rules, prints how often each ending, option and status was reached, and fails
where one was reached fewer than a hundred times. The second plays so many hands under each preset, of all or
of those named, and prints how they ended. Both fail where the engines differ.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from tests.differential.test_engines import EXPECTED, run, run_preset
from tonk_env.rules import preset_names

CHUNK = 500


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hands", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--presets", nargs="+", metavar="PRESET")
    given = parser.parse_args()
    if given.presets:
        presets = preset_names() if given.presets == ["all"] else given.presets
        return _play_presets(presets, given.hands, given.seed, given.workers)
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


def _play_presets(presets: list[str], hands: int, seed: int, workers: int) -> int:
    chunks = [(preset, seed * 1_000_000 + chunk) for preset in presets for chunk in range(hands // CHUNK)]
    endings: dict[str, Counter[str]] = {preset: Counter() for preset in presets}
    differences = 0
    with ProcessPoolExecutor(workers) as pool:
        running = [(pool.submit(run_preset, *chunk, CHUNK), chunk) for chunk in chunks]
        for future, (preset, chunk_seed) in running:
            error = future.exception()
            if error is not None:
                differences += 1
                print(f"{preset}: a difference with seed {chunk_seed}: {error!r}", flush=True)
                continue
            reached = future.result()
            endings[preset].update(
                {
                    name.removeprefix("ending "): reached[name]
                    for name in reached
                    if name.startswith("ending ")
                }
            )
            if chunk_seed % 1_000_000 == hands // CHUNK - 1:
                counts = ", ".join(f"{name} {number}" for name, number in endings[preset].most_common())
                print(f"{preset}: {sum(endings[preset].values())} hands: {counts}", flush=True)
    print(f"{differences} differences in {len(chunks) * CHUNK} hands (seed {seed})")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
