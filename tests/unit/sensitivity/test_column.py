"""One column of rows, exactly, and what a statistic is given besides."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.arguments import exact
from tenue.errors import InvalidArgument, InvalidTable
from tenue.sensitivity.column import exact_column, exact_pair
from tenue.sensitivity.parameters import STATISTICS, OrderStatistic, Parameters, order_statistic


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


# Parameters of statistics: what is lacking and what is too much is refused, without rows.


@pytest.mark.parametrize("statistic", STATISTICS)
def test_each_statistic_takes_its_own_and_no_other(statistic: str) -> None:
    own = dict.fromkeys(STATISTICS[statistic], 1)
    bounds = None if statistic == "mode" else (0, 1)
    Parameters(**own).check(statistic, bounds)
    for extra in {"k", "q", "low", "high", "ridge", "categories"} - set(own):
        with pytest.raises(InvalidArgument, match=f"has no `{extra}`"):
            Parameters(**own, **{extra: 1}).check(statistic, bounds)
    for lacking in set(own) - {"ridge"}:
        with pytest.raises(InvalidArgument, match=f"needs `{lacking}`"):
            Parameters(**{n: v for n, v in own.items() if n != lacking}).check(statistic, bounds)
    with pytest.raises(InvalidArgument, match="bounds"):
        Parameters(**own).check(statistic, (0, 1) if bounds is None else None)


def test_what_is_not_given_is_not_stated() -> None:
    assert Parameters(k=0, low=1).stated() == {"k": 0, "low": 1}
    with pytest.raises(InvalidArgument, match="is not a statistic"):
        Parameters().check("medium", (0, 1))


# -- Names stand for the ranks they document -------------------------------------------------------


@pytest.mark.parametrize(
    ("statistic", "n", "given", "first", "count"),
    [
        ("median", 1, {}, 1, 1),
        ("median", 2, {}, 1, 2),
        ("median", 5, {}, 3, 1),
        ("median", 6, {}, 3, 2),
        ("max", 5, {}, 5, 1),
        ("min", 5, {}, 1, 1),
        ("second-max", 5, {}, 4, 1),
        ("kth-largest", 5, {"k": 2}, 4, 1),
        ("kth-smallest", 5, {"k": 2}, 2, 1),
        ("quantile", 10, {"q": 0.3}, 3, 1),
        ("quantile", 10, {"q": 0.31}, 4, 1),
        ("quantile", 10, {"q": "1e-9"}, 1, 1),
        ("quantile", 10, {"q": Fraction(999, 1000)}, 10, 1),
    ],
)
def test_ranks(statistic, n, given, first, count):
    given = {"k": None, "q": None, **given}
    assert order_statistic(statistic, n, **given) == OrderStatistic(first, count)


def test_a_quantile_is_not_moved_by_binary_rounding():
    # 0.07 * 100 is 7.000000000000001 in floating point, which would be rank 8
    assert order_statistic("quantile", 100, k=None, q=0.07).first == 7


def test_windows_are_one_rank_below_and_one_above():
    assert OrderStatistic(3).windows == ((2, 3), (3, 4))
    assert OrderStatistic(3, 2).windows == ((2, 4), (3, 5))


@pytest.mark.parametrize("k", [0, -1, 6, 1.5, "x", None])
def test_ranks_outside_the_table_are_refused(k):
    with pytest.raises(InvalidArgument):
        order_statistic("kth-largest", 5, k=k, q=None)
