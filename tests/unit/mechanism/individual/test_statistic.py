"""True values on a grid, public ranges, and how they bound the local sensitivity."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.errors import NotPromised
from tenue.mechanism.individual.statistic import Statistic, _nearest_root, columns_of
from unit.sensitivity import oracle

VALUES: list[tuple[Statistic, Callable]] = [
    (Statistic("median"), oracle.median),
    (Statistic("max"), oracle.maximum),
    (Statistic("min"), lambda t: Fraction(min(t))),
    (Statistic("kth-largest", k=1), oracle.maximum),
    (Statistic("kth-smallest", k=1), lambda t: Fraction(min(t))),
    (Statistic("quantile", q="1/2"), lambda t: Fraction(sorted(t)[(len(t) - 1) // 2])),
    (Statistic("mean"), oracle.mean),
    (Statistic("sum"), lambda t: Fraction(sum(t))),
    (Statistic("variance"), oracle.variance),
    (Statistic("range-count", between=(1, 3)), lambda t: Fraction(sum(1 <= x <= 3 for x in t))),
]


@pytest.mark.parametrize("grid", [Fraction(1), Fraction(1, 2), Fraction(3, 7)])
@pytest.mark.parametrize(("statistic", "value"), VALUES, ids=lambda x: getattr(x, "name", ""))
def test_the_nearest_step_of_every_small_table(statistic, value, grid):
    for table in oracle.small_tables():
        columns = columns_of(statistic.name, list(table), oracle.BOUNDS)
        wanted = math.floor(value(table) / grid + Fraction(1, 2))
        assert statistic.nearest(columns, grid) == wanted
        low, high = statistic.ends(columns)
        assert low <= value(table) <= high
        assert statistic.local(columns) <= statistic.widest(columns)


def test_the_public_bounds_are_reached():
    """A bound that no table comes near would refuse grids without need."""
    for statistic, value in VALUES:
        tables = list(oracle.tables(4))
        columns = [columns_of(statistic.name, list(table), oracle.BOUNDS) for table in tables]
        low, high = statistic.ends(columns[0])
        assert {min(map(value, tables)), max(map(value, tables))} == {low, high}
        widest = max(statistic.local(table) for table in columns)
        assert widest == pytest.approx(statistic.widest(columns[0]), rel=0.01)


PAIRS = list(product(range(3), range(3)))


def moments(table):
    n = len(table)
    mean_x, mean_y = (Fraction(sum(row[i] for row in table), n) for i in (0, 1))
    xx = sum((x - mean_x) ** 2 for x, _ in table)
    xy = sum((x - mean_x) * (y - mean_y) for x, y in table)
    yy = sum((y - mean_y) ** 2 for _, y in table)
    return xx, xy, yy


def test_slopes_and_correlations_of_every_small_table():
    slope, correlation, grid = Statistic("slope", ridge="1/3"), Statistic("correlation"), "1/50"
    step = Fraction(grid)
    for table in combinations_with_replacement(PAIRS, 3):
        columns = columns_of("slope", list(table), ((0, 2), (0, 2)))
        xx, xy, yy = moments(table)
        exact = xy / (xx + Fraction(1, 3))
        assert slope.nearest(columns, step) == math.floor(exact / step + Fraction(1, 2))
        found = correlation.nearest(columns, step) * step
        value = float(xy) / math.sqrt(xx * yy) if xx * yy else 0.0
        assert abs(float(found) - value) <= float(step) / 2 + 1e-12
        for statistic, truth in ((slope, exact), (correlation, value)):
            low, high = statistic.ends(columns)
            assert low <= truth <= high + Fraction(1, 10**12)
            assert statistic.local(columns) <= statistic.widest(columns)


@given(
    st.fractions(-1, 1, max_denominator=60),
    st.fractions(Fraction(1, 40), 2, max_denominator=40),
)
def test_roots_are_rounded_as_rationals_are(root, grid):
    """Perfect squares hit the halves exactly: there rounding up and down differ."""
    assert _nearest_root(root * abs(root), grid) == math.floor(root / grid + Fraction(1, 2))


def test_halves_go_up_on_both_sides():
    assert [_nearest_root(Fraction(s), Fraction(2)) for s in (1, -1, 9, -9, 0)] == [1, 0, 2, -1, 0]


def test_sums_beyond_64_bits_are_exact():
    rows = [2**40 + i for i in range(5)]
    columns = columns_of("variance", rows, (0, 2**41))
    assert Statistic("variance").nearest(columns, Fraction(1)) == 2
    (column,) = columns_of("median", np.array([2**70, 2**70 + 2], dtype=object), (0, 2**71))
    assert Statistic("median").nearest((column,), Fraction(1)) == 2**70 + 1


def test_a_slope_without_ridge_is_refused_before_rows_are_looked_at():
    with pytest.raises(NotPromised):
        Statistic("slope")
