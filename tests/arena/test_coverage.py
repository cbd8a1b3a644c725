"""The benchmark of coverage in a small form: intervals hold the truth about as often as they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.coverage import AGENTS, count


@pytest.mark.parametrize(
    "options",
    [{"deals": 50}, {"deals": 3000, "until": 0.1, "min_deals": 150, "batch": 30}],
    ids=["fixed", "until"],
)
def test_intervals_cover_the_truth(options: dict[str, Any]) -> None:
    repeats = 400
    covered, together, deals = count(AGENTS, 2, repeats, truth_deals=40_000, workers=1, **options)
    assert 50 <= deals < 1000
    assert len(covered) == 6
    # Three standard errors for each; together they are at least as sure as one.
    tolerance = 3 * np.sqrt(0.95 * 0.05 / repeats)
    assert all(abs(share - 0.95) < tolerance for share in covered.values()), covered
    assert abs(together - 0.95) < tolerance
