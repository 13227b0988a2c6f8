"""Questions beside atoms: a total and its parts, and conditions that overlap."""

from __future__ import annotations

import numpy as np
import pytest

from tenue.query.workload.strategy.grouped import grouped
from tenue.query.workload.strategy.least_squares import least_squares
from tenue.query.workload.strategy.level import largest_cost
from tenue.query.workload.strategy.runs import Reals, Runs


def errors(rows: Runs, of: list[int], allowed: float, bounded: bool) -> Reals:
    bars = np.full(len(rows), allowed)
    ((_, (levels, prices)),) = grouped(rows, np.array(of), bars, bounded=bounded)
    top, bottom = largest_cost(levels, [int(p * 10**6) for p in prices])
    assert top / bottom <= 1.001 * 10**6
    noise = [2 * (level.height / p) ** 2 for level, p in zip(levels, prices, strict=True)]
    return least_squares(levels, noise).variances(rows) / allowed


@pytest.mark.parametrize("many", [10, 400])
def test_a_total_is_no_worse_than_alone(many: int) -> None:
    rows = Runs.of_ends(many, [(0, many), *((i, i + 1) for i in range(many))])
    of = [0] + [1] * many
    fair = errors(rows, of, 8.0, bounded=True)
    free = errors(rows, of, 8.0, bounded=False)
    assert fair.max() <= 1
    assert free.mean() < fair.mean() < 1
    assert free.max() > 1, "the least mean is paid for by the total"


def test_what_is_asked_by_atoms_alone_needs_nothing_else() -> None:
    rows = Runs.of_ends(3, [(0, 1), (1, 2), (2, 3)])
    assert grouped(rows, np.zeros(3, dtype=np.int64), np.ones(3), bounded=True) == []
