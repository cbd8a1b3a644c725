"""What pairs of agents show, taken together: the one place that says when a difference is resolved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from arena.significance import LEVEL, deals_needed, error_of, holm, p_value
from arena.statistics import Estimate


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
        Verdicts in the same order; p is 1 where there is no interval. Where pairs have different numbers of
        blocks (an agent was withdrawn), `deals_needed` goes by the fewest.
    """
    known = [number for number, (estimate, _) in enumerate(pairs) if not math.isnan(estimate.half)]
    verdicts = [Verdict(1.0, None)] * len(pairs)
    if known:
        judged = [pairs[number] for number in known]
        ps = [p_value(each.mean, error_of(each.half, blocks - 1), blocks - 1) for each, blocks in judged]
        fewest = min(blocks for _, blocks in judged)
        needed = deals_needed([(each.mean, each.half) for each, _ in judged], fewest)
        for number, p, more in zip(known, holm(ps), needed, strict=True):
            verdicts[number] = Verdict(p, None if p <= LEVEL else more)
    return verdicts
