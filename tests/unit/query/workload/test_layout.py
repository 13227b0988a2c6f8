"""Counts, sums and means are given to blocks, and their variances follow from one side's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tenue.query.question import Aggregate
from tenue.query.workload.layout import is_linear, layouts
from unit.query.workload.small import asked, schema

COUNT, SUM, AVG = Aggregate("count"), Aggregate("sum", "pay"), Aggregate("avg", "pay")


def test_what_is_linear() -> None:
    yes = asked("SELECT COUNT(*), SUM(x), AVG(y), COUNT(y) FROM t")
    no = asked("SELECT MEDIAN(x) FROM t", "SELECT COUNT(*), MAX(x) FROM t")
    no += asked("SELECT COUNT(DISTINCT who) FROM t", described=schema(rows_per_unit=2))
    assert all(map(is_linear, yes))
    assert not any(map(is_linear, no))


def test_one_column_without_gaps_counts_its_rows() -> None:
    apart, pair = layouts(dict(enumerate(asked("SELECT COUNT(*), AVG(pay) FROM t"))), schema())
    assert [q.kind for q in apart.needs] == ["rows", "pair"]
    assert [q.kind for q in pair.needs] == ["pair"]
    gaps = list(layouts(dict(enumerate(asked("SELECT COUNT(*), AVG(y) FROM t"))), schema()))
    assert len(gaps) == 1, "rows without a value are in no pair"


@pytest.mark.parametrize("value", [0, 13, 50])
def test_factors_are_those_of_the_pair(value: int) -> None:
    """Var of count and sum from two independent sides of variance 1."""
    _, pair = layouts(
        dict(enumerate(asked("SELECT COUNT(*), SUM(pay), AVG(pay) FROM t"))), schema()
    )
    ((quantity, needs),) = pair.needs.items()
    factors = {need.aggregate: need.factor for need in needs}
    above, below = 50 - value, value
    assert (above + below) / quantity.span == 1
    assert factors[COUNT] == Fraction(2, 50**2)
    assert factors[SUM] == 1
    assert factors[AVG] == Fraction(1, 2)


def test_rows_of_a_slice_have_the_strictest_bar() -> None:
    (question,) = asked("SELECT c, COUNT(*), COUNT(x) FROM t GROUP BY c")
    (layout,) = layouts({0: question}, schema())
    ((quantity, _),) = layout.needs.items()
    bars = {(0, COUNT): 5.0, (0, Aggregate("count", "x")): 3.0}
    assert layout.allowed(quantity, bars).tolist() == [3.0, 3.0, 3.0]
    assert layout.questions(quantity).tolist() == [0, 0, 0]
    assert np.isfinite(layout.allowed(quantity, bars)).all()
