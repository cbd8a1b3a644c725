"""How often the arena's 95% intervals cover the truth: many small tournaments against one long one.

    python -m benchmarks.coverage

plays 4,000 tournaments of a fixed number of deals, and 4,000 that stop by themselves (`until`), each on decks
of its own, and counts how many intervals, of agents and of pairs, hold the mean of a long run. About ten
minutes on two cores; `--repeats 400` is a quick look.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from arena.results import Results
from arena.tournament import run_tournament

AGENTS = ("expert", "heuristic:drop=10", "heuristic:drop=25")
TRUTH_SEED = 10**9
"""Not one of the small tournaments' seeds, which count from 1."""


def estimates(results: Results) -> dict[str, tuple[float, float]]:
    """Returns mean and half-width of every interval; pairs in the order of their names."""
    found = {each.agent: (each.per_hand.mean, each.per_hand.half) for each in results.agents}
    for pair in results.pairs:
        each = pair if pair.a < pair.b else pair.reversed()
        found[f"{each.a} against {each.b}"] = each.per_hand.mean, each.per_hand.half
    return found


def play(seed: int, agents: Sequence[str], players: int, options: dict[str, Any]) -> tuple[int, Any]:
    """Plays a small tournament; returns its deals and its estimates."""
    results = run_tournament(agents, players=players, seed=seed, **options)
    return results.deals, estimates(results)


def count(
    agents: Sequence[str], players: int, repeats: int, truth_deals: int, workers: int, **options: Any
) -> tuple[dict[str, float], float, float]:
    """Plays many tournaments.

    Returns:
        The share of intervals that cover the truth, by what they are of; of all of them; and the mean deals.
    """
    truth = estimates(
        run_tournament(agents, players=players, deals=truth_deals, seed=TRUTH_SEED, workers=workers)
    )
    call = partial(play, agents=agents, players=players, options=options)
    seeds = range(1, repeats + 1)
    if workers > 1:
        with multiprocessing.get_context("spawn").Pool(workers) as pool:
            played = pool.map(call, seeds, chunksize=max(1, repeats // (20 * workers)))
    else:
        played = [call(seed) for seed in seeds]
    covered = {
        name: sum(abs(found[name][0] - mean) <= found[name][1] for _, found in played) / repeats
        for name, (mean, _) in truth.items()
    }
    return covered, sum(covered.values()) / len(covered), sum(deals for deals, _ in played) / repeats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=4000)
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--deals", type=int, default=100, help="of a tournament of fixed length")
    parser.add_argument("--until", type=float, default=0.026)
    parser.add_argument("--min-deals", type=int, default=2000, help="under --until")
    parser.add_argument("--batch", type=int, default=250, help="under --until")
    parser.add_argument("--truth", type=int, default=4_000_000, help="deals of the long run")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    stopping = {
        "deals": 10 * given.min_deals,
        "until": given.until,
        "min_deals": given.min_deals,
        "batch": given.batch,
    }
    for title, options in (
        (f"{given.deals} deals", {"deals": given.deals}),
        (f"until {given.until}, {given.min_deals} deals at least", stopping),
    ):
        covered, together, deals = count(
            AGENTS, given.players, given.repeats, given.truth, given.workers, **options
        )
        error = math.sqrt(0.95 * 0.05 / given.repeats)
        print(f"{given.repeats} tournaments, {title} ({deals:.0f} on average): {together:.2%} covered")
        for name, share in covered.items():
            print(f"  {share:.2%} ± {error:.2%}  {name}")


if __name__ == "__main__":
    main()
