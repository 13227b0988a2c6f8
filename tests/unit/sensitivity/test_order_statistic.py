"""Names stand for the ranks they document."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.errors import InvalidArgument
from tenue.sensitivity.order_statistic import OrderStatistic, order_statistic


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
