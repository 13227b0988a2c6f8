"""Rows become exact steps: no float is rounded, nothing overflows, nothing of a row is quoted."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import InvalidArgument, InvalidTable
from tenue.number import exact
from tenue.sensitivity.column import exact_column, exact_pair


def meant(column):
    return [int(step) * column.step for step in column.steps]


def clamped(values, low, high):
    return [min(max(x, Fraction(low)), Fraction(high)) for x in values]


class TestMeaning:
    @settings(deadline=None)
    @given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
    def test_a_float_means_its_shortest_decimal(self, values):
        wanted = clamped([exact(x, "x") for x in values], -1000, "1000.5")
        for given_as in (values, np.array(values)):
            assert meant(exact_column(given_as, (-1000, "1000.5"))) == wanted

    @settings(deadline=None)
    @given(
        st.lists(
            st.decimals(-10000, 10000, places=3).map(float),
            min_size=1,
            max_size=20,
        )
    )
    def test_short_decimals_stay_in_machine_integers(self, values):
        column = exact_column(np.array(values), (-10000, 10000))
        assert column.steps.dtype == np.int64
        assert meant(column) == [exact(x, "x") for x in values]

    def test_binary_rounding_would_be_noticed(self):
        # 0.1 + 0.2 is not 0.3, and a float is not its binary expansion
        column = exact_column([0.1, 0.1 + 0.2], (0, 1))
        assert meant(column) == [Fraction(1, 10), Fraction("0.30000000000000004")]
        assert meant(column)[0] != Fraction(0.1)

    def test_small_floats_mean_their_own_decimal(self):
        assert meant(exact_column(np.array([0.1], dtype=np.float32), (0, 1))) == [Fraction(1, 10)]

    def test_mixed_columns_keep_large_integers(self):
        values = [2**60 + 1, 0.5, Fraction(1, 3), Decimal("0.25"), "1/7"]
        wanted = [2**60 + 1, Fraction(1, 2), Fraction(1, 3), Fraction(1, 4), Fraction(1, 7)]
        assert meant(exact_column(values, (0, 2**62))) == wanted

    @settings(deadline=None)
    @given(st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=10))
    def test_integers_of_any_size(self, values):
        low, high = Fraction(-(2**66), 3), 2**66
        assert meant(exact_column(values, (low, high))) == clamped(values, low, high)


class TestClamping:
    @settings(deadline=None)
    @given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=10))
    def test_signed_arrays(self, values):
        array = np.array(values, dtype=np.int64)
        for bounds in (
            (0, 10),
            (Fraction(-7, 2), Fraction(7, 2)),
            (-(2**65), 2**65),
            (2**64, 2**65),
        ):
            assert meant(exact_column(array, bounds)) == clamped(values, *bounds)

    @settings(deadline=None)
    @given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=10))
    def test_unsigned_arrays(self, values):
        array = np.array(values, dtype=np.uint64)
        for bounds in ((0, 10), (-9, -3), (Fraction(1, 3), 2**40), (0, 2**64)):
            assert meant(exact_column(array, bounds)) == clamped(values, *bounds)

    def test_infinities_go_to_the_ends(self):
        inf = float("inf")
        for values in ([inf, -inf, 0.5], np.array([inf, -inf, 0.5]), [inf, -inf, Fraction(1, 2)]):
            assert meant(exact_column(values, (0, "0.7"))) == [Fraction(7, 10), 0, Fraction(1, 2)]
        assert meant(exact_column([Decimal("Infinity"), 1], (0, 2))) == [2, 1]

    def test_a_float_beside_a_bound_that_no_float_meets(self):
        third = Fraction(1, 3)
        above, below = np.nextafter(1 / 3, 1), 1 / 3  # the decimal of 1/3 is below the bound
        assert meant(exact_column(np.array([above, below]), (0, third))) == [
            third,
            exact(below, "x"),
        ]

    def test_bounds_beyond_every_float(self):
        assert meant(exact_column(np.array([1e300, -1.0]), (0, 10**320))) == [10**300, 0]


class TestRefusals:
    @pytest.mark.parametrize(
        "values",
        [
            [1, None],
            [1, float("nan")],
            np.array([1.0, np.nan]),
            [Decimal("NaN"), 1],
            [Decimal("sNaN"), 1],
            np.ma.masked_array([1, 2], mask=[False, True]),
        ],
    )
    def test_missing_values(self, values):
        with pytest.raises(InvalidTable, match="missing"):
            exact_column(values, (0, 10))

    @pytest.mark.parametrize(
        "values", [["secret"], [True, 1], np.array([True]), [[1], [2]], [1j], np.array(["x"])]
    )
    def test_rows_that_are_not_numbers_are_not_quoted(self, values):
        with pytest.raises(InvalidTable) as refusal:
            exact_column(values, (0, 10))
        assert "secret" not in str(refusal.value)

    @pytest.mark.parametrize("values", [[], (), np.array([]), np.zeros((2, 2)), 5, None, "123"])
    def test_what_is_not_a_column(self, values):
        with pytest.raises(InvalidTable):
            exact_column(values, (0, 10))

    @pytest.mark.parametrize("bounds", [None, 3, (1,), (1, 2, 3), (2, 1), ("a", "b"), (0, None)])
    def test_what_is_not_a_domain(self, bounds):
        with pytest.raises(InvalidArgument):
            exact_column([1], bounds)


def test_pairs_keep_each_column_exact():
    x, y = exact_pair([(1, 0.1), (2**60 + 1, 0.2)], ((0, 2**61), (0, 1)))
    assert meant(x) == [1, 2**60 + 1]
    assert meant(y) == [Fraction(1, 10), Fraction(1, 5)]


def test_totals_are_exact_where_machine_integers_would_wrap():
    column = exact_column(np.full(100, 2**60, dtype=np.int64), (0, 2**60))
    assert column.steps.dtype == np.int64
    assert column.total() == 100 * 2**60
