"""Estimates with intervals, from sums that are exact.

The hands of a block share a deck, and so do the groups of agents that play it: they are not independent,
blocks are. So every interval here is one for the mean of block means, whatever the hands and groups that a
block's mean is taken over. Payments are summed as whole millionths of a stake: sums are exact, and the same
in whatever order, batch or process they are formed.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

UNIT = 1_000_000
"""Parts of a stake that payments are counted in."""

_Z = 1.959963984540054  # 97.5% of the normal distribution lies below
_SPLIT = 24


@functools.cache
def t_quantile(degrees: int) -> float:
    """Returns the 97.5% quantile of Student's t with that many degrees of freedom (1 or more)."""
    if degrees > 100:
        # Cornish-Fisher; what is left out is below 1e-7 here (Abramowitz and Stegun, 26.7.5).
        z = _Z
        first = (z**3 + z) / 4
        second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        return z + first / degrees + second / degrees**2 + third / degrees**3
    low, high = 0.0, 20.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if _t_within(middle, degrees) > 0.95 else (middle, high)
    return (low + high) / 2


def _t_within(t: float, degrees: int) -> float:
    """The probability that Student's t is between -t and t (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine, odd = math.cos(angle), degrees % 2
    term = cosine if odd else 1.0
    total = term if degrees > 1 else 0.0
    for k in range(2 + odd, degrees - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    total *= math.sin(angle)
    return (angle + total) * 2 / math.pi if odd else total


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its 95% interval; NaN where there is nothing to take them from."""

    mean: float
    half: float

    @property
    def ci95(self) -> tuple[float, float]:
        """The interval's ends."""
        return self.mean - self.half, self.mean + self.half

    def reversed(self) -> Estimate:
        """Returns the estimate of minus the same."""
        return Estimate(0.0 - self.mean, self.half)


class Moments:
    """Running sums, and sums of products, of columns of whole numbers, one row for each block.

    Columns come in families: those of a family can be added up with weights before a mean is taken, so what
    is to be counted need not be known when rows are added.

    Args:
        widths: how many columns each family has.

    Attributes:
        columns: of all families together.
    """

    def __init__(self, widths: Sequence[int]) -> None:
        self.columns = sum(widths)
        self._widths = tuple(widths)
        self._first = np.cumsum([0, *widths]).tolist()
        # Within a family the product of each column with itself and with those after it.
        pairs = [
            (first + i, first + j)
            for first, width in zip(self._first, widths, strict=False)
            for i in range(width)
            for j in range(i, width)
        ]
        self._left, self._right = np.array(pairs, np.int64).reshape(-1, 2).T
        self._number = {pair: number for number, pair in enumerate(pairs)}
        self._totals: list[int] = [0] * self.columns
        self._products: list[int] = [0] * len(pairs)

    def add(self, values: npt.NDArray[np.int64]) -> None:
        """Adds rows: `[rows, columns]` int64, each below 2**48 in size, 2**14 of them at most."""
        # Products of the upper and lower halves: 64 bits hold their sums, where they may not hold those of
        # the whole.
        upper, lower = values >> _SPLIT, values & ((1 << _SPLIT) - 1)
        left, right = self._left, self._right
        parts = [
            (one[:, left] * other[:, right]).sum(0).tolist()
            for one, other in ((upper, upper), (upper, lower), (lower, upper), (lower, lower))
        ]
        for column, total in enumerate(values.sum(0).tolist()):
            self._totals[column] += total
        for number, (high, middle, other, low) in enumerate(zip(*parts, strict=True)):
            self._products[number] += (high << 2 * _SPLIT) + (middle + other << _SPLIT) + low

    def export(self) -> list[list[int]]:
        """Returns the sums as plain data: the columns' totals, and the sums of products."""
        return [list(self._totals), list(self._products)]

    def merge(self, exported: Sequence[Sequence[int]], keep: Sequence[bool]) -> None:
        """Adds what was exported from sums of the same shape; columns for which `keep` is false are not."""
        totals, products = exported
        for column, total in enumerate(totals):
            if keep[column]:
                self._totals[column] += total
        for number, (i, j) in enumerate(self._number):
            if keep[i] and keep[j]:
                self._products[number] += products[number]

    def fits(self, exported: Any) -> bool:
        """Tells whether data has the shape that `export` gives."""
        shapes = len(self._totals), len(self._products)
        return (
            isinstance(exported, list)
            and len(exported) == 2
            and all(
                isinstance(row, list) and len(row) == size and all(type(number) is int for number in row)
                for row, size in zip(exported, shapes, strict=True)
            )
        )

    def total(self, family: int, weights: Sequence[int]) -> int:
        """Returns the sum of a family's columns, each times its weight."""
        first = self._first[family]
        return sum(weight * self._totals[first + i] for i, weight in enumerate(weights))

    def estimate(self, family: int, weights: Sequence[int], scale: int, rows: int) -> Estimate:
        """Returns the mean over rows of a family's columns, each times its weight, by Student's t.

        Args:
            family: which.
            weights: one for each column of the family.
            scale: what each row's sum is divided by.
            rows: rows that were added; those that columns were not kept of are left out.

        Returns:
            A mean without an interval (half-width NaN) where there is one row, and NaN where there is none.
        """
        n, first, total = rows, self._first[family], self.total(family, weights)
        if n < 2 or not scale:
            return Estimate(total / scale if n and scale else math.nan, math.nan)
        squares = 0
        for i, j in itertools.combinations_with_replacement(range(self._widths[family]), 2):
            times = weights[i] * weights[j] * (1 if i == j else 2)
            if times:
                squares += times * self._products[self._number[first + i, first + j]]
        spread = n * squares - total * total  # n (n - 1) variances, exactly
        error = math.sqrt(spread / (n * n * (n - 1))) / scale
        return Estimate(total / (n * scale), t_quantile(n - 1) * error)
