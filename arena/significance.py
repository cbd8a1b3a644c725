"""Which differences are real: p-values, Holm's correction over the pairs, and what follows from them.

Everything is by Student's t on block means, as the intervals are: a pair's mean over its standard error has
one degree of freedom less than there are deals.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.statistics import t_quantile

LEVEL = 0.05
"""The chance, over all pairs of a tournament together, that one is called resolved whose true mean is 0."""
MOST_DEALS = 10**15
"""What would need more deals than this is as good as even."""

_SERIES_FROM = 50.0  # where the series below is exact to the last digit or two
_NORMAL_FROM = 1_000_000
_LEAST = 1e-300  # takes the place of a zero in Lentz's algorithm


@dataclass(frozen=True)
class Significance:
    """How sure it is that a pair's mean is not zero.

    Attributes:
        p: two-sided p-value of the pair alone.
        p_holm: the same, corrected for the number of pairs.
        deals_needed: further deals that would resolve the pair if means and spreads stayed as they are; None
            where it is resolved, or where no number would.
    """

    p: float
    p_holm: float
    deals_needed: int | None

    @property
    def is_resolved(self) -> bool:
        """Whether the difference is real, at 5% over all pairs together."""
        return self.p_holm <= LEVEL


def p_of_t(t: float, degrees: int) -> float:
    """Returns the probability that Student's t with that many degrees of freedom is farther from 0 than `t`.

    Exact to ten digits, and to seven in the farthest tail; 0.0 only where a float can hold no smaller number.

    Raises:
        ValueError: `degrees` is below 1, or `t` is not a number.
    """
    if degrees < 1 or math.isnan(t):
        raise ValueError(f"t = {t}, degrees = {degrees}: a number, and 1 or more, are needed")
    ratio = t * t / degrees
    if ratio == 0:
        return 1.0
    if math.isinf(ratio):
        return 0.0
    if degrees > _NORMAL_FROM:
        # The beta function's argument would be too close to 1 for a float (Wallace, 1959).
        z = math.sqrt(degrees * math.log1p(ratio)) * (8 * degrees + 1) / (8 * degrees + 3)
        return math.erfc(z / math.sqrt(2))
    # The regularised incomplete beta function I_x(a, 1/2) (Abramowitz and Stegun, 26.5.27).
    a, b, grown = degrees / 2, 0.5, math.log1p(ratio)
    front = math.exp(-a * grown + b * (math.log(ratio) - grown) - _log_beta_half(a))
    x, rest = 1 / (1 + ratio), ratio / (1 + ratio)
    if x < (a + 1) / (a + b + 2):
        return min(1.0, front * _fraction(a, b, x) / a)
    return max(0.0, 1 - front * _fraction(b, a, rest) / b)


def _log_beta_half(a: float) -> float:
    """The logarithm of the beta function B(a, 1/2)."""
    if a < _SERIES_FROM:
        return math.lgamma(a) + math.lgamma(0.5) - math.lgamma(a + 0.5)
    # The difference of two large logarithms of gamma would lose the digits that count.
    inverse = 1 / a
    square = inverse * inverse
    series = inverse * (-1 / 8 + square * (1 / 192 + square * (-1 / 640 + square * 17 / 14336)))
    return math.lgamma(0.5) - 0.5 * math.log(a) - series


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's algorithm."""
    upper, lower = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = lower
    for m in range(1, 100_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            lower = 1 / _not_zero(1 + numerator * lower)
            upper = _not_zero(1 + numerator / upper)
            change = lower * upper
            value *= change
        if abs(change - 1) < 1e-15:
            break
    return value


def _not_zero(number: float) -> float:
    return number if abs(number) > _LEAST else _LEAST


def p_value(mean: float, error: float, degrees: int) -> float:
    """Returns the two-sided p-value of a mean with that standard error.

    Raises:
        ValueError: the error is negative, or there is no degree of freedom.
    """
    if error < 0:
        raise ValueError(f"error = {error}: a standard error is 0 or more")
    return p_of_t(_t_of(mean, error), degrees)


def error_of(half: float, degrees: int) -> float:
    """Returns the standard error behind the half-width of a 95% interval."""
    return half / t_quantile(degrees)


def _t_of(mean: float, error: float) -> float:
    if mean == 0:
        return 0.0
    return mean / error if error > 0 else math.copysign(math.inf, mean)


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns p-values corrected by Holm's step-down method, in the order given.

    Where every corrected value up to 5% is called significant, the chance of even one false call is below 5%,
    however the tests depend on each other (Holm, 1979).
    """
    found, least = [0.0] * len(p_values), 0.0
    for step, index in enumerate(sorted(range(len(p_values)), key=lambda each: p_values[each])):
        least = max(least, min(1.0, (len(p_values) - step) * p_values[index]))
        found[index] = least
    return found


def deals_needed(
    estimates: Sequence[tuple[float, float]], deals: int, level: float = LEVEL
) -> list[int | None]:
    """Returns how many further deals would resolve each pair, if means and spreads stayed as they are.

    More deals are more for every pair, so Holm's order of the pairs stays: a pair is resolved once its own
    corrected p-value is small enough, and those of all clearer pairs.

    Args:
        estimates: mean and half-width of the 95% interval, of each pair.
        deals: played so far, at least 2.
        level: of all pairs together.

    Returns:
        In the order given: whole numbers from 1 on; None where a pair is resolved, where its mean is zero, or
        where it would take more than `MOST_DEALS`.
    """
    size = len(estimates)
    ts = [abs(_t_of(mean, error_of(half, deals - 1))) for mean, half in estimates]
    found: list[int | None] = [None] * size
    total: int | None = deals
    for step, index in enumerate(sorted(range(size), key=lambda each: -ts[each])):
        if total is not None:
            total = _least_deals(ts[index], deals, total, (size - step), level)
        if total is not None and total > deals:
            found[index] = total - deals
    return found


def _least_deals(t: float, deals: int, least: int, tests: int, level: float) -> int | None:
    """The least number of deals, `least` or more, that resolves a pair; None: more than `MOST_DEALS`."""

    def is_enough(number: int) -> bool:
        return tests * p_of_t(t * math.sqrt(number / deals), number - 1) <= level

    if is_enough(least):
        return least
    low, high = least, 2 * least
    while not is_enough(high):
        if high > MOST_DEALS:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def judge(estimates: Sequence[tuple[float, float]], deals: int) -> list[Significance]:
    """Returns the significance of all pairs of a tournament, in the order given.

    Args:
        estimates: mean and half-width of the 95% interval, of each pair.
        deals: behind every one of them, at least 2.
    """
    p_values = [p_value(mean, error_of(half, deals - 1), deals - 1) for mean, half in estimates]
    needed = deals_needed(estimates, deals)
    return [Significance(*each) for each in zip(p_values, holm(p_values), needed, strict=True)]


def judge_results(results: Mapping[str, Any]) -> list[Significance]:
    """Returns the significance of the pairs of `results.json`, in their order.

    `p_holm` and `deals_needed` are taken as they are where the pairs have them, and otherwise found from
    means and intervals. A pair without an interval is not resolved, and no number of deals is known to do it.
    """
    pairs = results.get("pairs", [])
    found = [Significance(1.0, 1.0, None)] * len(pairs)
    known = [number for number, pair in enumerate(pairs) if pair["ci95"] is not None]
    estimates = []
    for number in known:
        low, high = pairs[number]["ci95"]
        estimates.append((pairs[number]["stakes_per_hand"], (high - low) / 2))
    for number, judged in zip(known, judge(estimates, results["deals"]) if known else (), strict=True):
        p_holm = pairs[number].get("p_holm")
        if p_holm is not None:
            judged = Significance(judged.p, p_holm, pairs[number].get("deals_needed"))
        found[number] = judged
    return found


def intransitive_triples(
    pairs: Iterable[Mapping[str, Any]], level: float = LEVEL
) -> list[tuple[str, str, str]]:
    """Returns the triples of agents of whom each beats the next, and the last the first; all are resolved.

    Args:
        pairs: as in `results.json`: `a`, `b`, `stakes_per_hand` (a's against b) and `p_holm`.
        level: up to which a corrected p-value counts as resolved.

    Returns:
        Each triple once, beginning with the agent that `pairs` names first, in the order of the pairs.
    """
    names: dict[str, None] = {}
    wins: set[tuple[str, str]] = set()
    for pair in pairs:
        a, b, mean = str(pair["a"]), str(pair["b"]), pair["stakes_per_hand"]
        names.update({a: None, b: None})
        if pair["p_holm"] <= level and mean != 0:
            wins.add((a, b) if mean > 0 else (b, a))
    found = []
    for a, b, c in itertools.combinations(names, 3):
        for triple in ((a, b, c), (a, c, b)):
            if {(triple[i - 1], triple[i]) for i in range(3)} <= wins:
                found.append(triple)
    return found
