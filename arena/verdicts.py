"""What pairs of agents show, taken together: the one place that says when a difference is resolved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from arena.statistics import Estimate, t_quantile

LEVEL = 0.05


@dataclass(frozen=True)
class Verdict:
    """What is known of a pair.

    Attributes:
        p_holm: two-sided p-value, adjusted for the number of pairs by Holm's procedure.
        deals_needed: further deals that would resolve it, if the mean stays; None where it is resolved or
            the mean is zero.
    """

    p_holm: float
    deals_needed: int | None


def judge(pairs: Sequence[tuple[Estimate, int]]) -> list[Verdict]:
    """Judges pairs together.

    Args:
        pairs: each one's estimate, and the blocks it is taken from.

    Returns:
        Verdicts in the same order; p is 1 where there is no interval.
    """
    ps = [_p_value(estimate, blocks) for estimate, blocks in pairs]
    order = sorted(range(len(ps)), key=lambda number: ps[number])
    adjusted, largest = [1.0] * len(ps), 0.0
    for rank, number in enumerate(order):
        largest = max(largest, min(1.0, ps[number] * (len(ps) - rank)))
        adjusted[number] = largest
    return [
        Verdict(p, None if p <= LEVEL else _deals_needed(estimate, blocks))
        for p, (estimate, blocks) in zip(adjusted, pairs, strict=True)
    ]


def _p_value(estimate: Estimate, blocks: int) -> float:
    if not estimate.half > 0:
        return 1.0 if estimate.mean == 0 or math.isnan(estimate.half) else 0.0
    degrees = blocks - 1
    t = abs(estimate.mean) / estimate.half * t_quantile(degrees)
    # Abramowitz and Stegun, 26.7.8.
    z = t * (1 - 1 / (4 * degrees)) / math.sqrt(1 + t * t / (2 * degrees))
    return math.erfc(z / math.sqrt(2))


def _deals_needed(estimate: Estimate, blocks: int) -> int | None:
    if not estimate.half > 0 or estimate.mean == 0:
        return None
    return max(1, math.ceil(blocks * (estimate.half / estimate.mean) ** 2) - blocks)


def cycles(beats: Sequence[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Returns all (a, b, c) of which a beats b, b beats c and c beats a, each once: a is its first name."""
    won = set(beats)
    names = sorted({name for pair in won for name in pair})
    return [
        (a, b, c)
        for a in names
        for b in names
        for c in names
        if a < min(b, c) and {(a, b), (b, c), (c, a)} <= won
    ]
