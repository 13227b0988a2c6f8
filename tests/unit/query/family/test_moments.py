"""Slopes read off joint moments: exact without noise, and covered with it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tenue as tn
from tenue.mechanism.bernstein import Axis, basis, powers_of
from tenue.query.family.moments import Spread
from tenue.query.plan.make import make_plan
from tenue.query.read.parse import parse

ROWS = [(0, 1), (2, 2), (4, 5), (9, 7), (10, 10), (3, 3)]
SCHEMA: dict[str, Any] = {
    "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
    "columns": {
        "x": {"type": "number", "bounds": [0, 10], "grid": 0.5},
        "y": {"type": "number", "bounds": [0, 10]},
    },
    "budget": {"total": 1000},
}


def components(rows: list[tuple[int, int]], axes: tuple[Axis, ...]) -> list[int]:
    moments = {
        powers: sum(math.prod(v**p for v, p in zip(row, powers, strict=True)) for row in rows)
        for powers in powers_of(2, 2)
    }
    return [component.of_moments(moments) for component in basis(axes, 2)]


@pytest.mark.parametrize("over", [0, 1])
def test_a_slope_without_noise_is_that_of_least_squares(over: int) -> None:
    axes = (Axis("x", 0, 10), Axis("y", 0, 10))
    grids = (Fraction(1, 2), Fraction(3))
    spread = Spread("regr_slope", 0, axes, grids, over)
    found = spread.value([components(ROWS, axes)], None)
    scaled = np.array(ROWS) * [0.5, 3]
    expected = np.polyfit(scaled[:, over], scaled[:, 1 - over], 1)[0]
    assert float(found or 0) == pytest.approx(expected)
    flat = components([(4, 4)] * 5, axes)
    assert spread.value([flat], None) is None


def test_the_two_columns_of_a_slope_are_not_exchanged() -> None:
    schema = tn.Schema.from_dict(SCHEMA)
    for sql, over in (
        ("SELECT REGR_SLOPE(y, x), CORR(x, y) FROM t", "x"),
        ("SELECT REGR_SLOPE(x, y), CORR(x, y) FROM t", "y"),
    ):
        plan = make_plan(parse(sql, schema), schema, 10**9)
        slope = plan.readings[0]
        assert isinstance(slope, Spread)
        assert slope.axes[slope.over].column == over
        assert len(plan.parts) == 1  # shared with the correlation


def test_a_noisy_slope_lies_near_the_true_one_and_in_its_interval() -> None:
    made = np.random.default_rng(5)
    x = made.integers(0, 21, 20_000) / 2
    y = np.clip(np.round(0.6 * x + made.normal(2, 1, x.size)), 0, 10)
    truth = np.polyfit(x, y, 1)[0]
    table = pd.DataFrame({"x": x, "y": y})
    with tn.protect(table, schema=SCHEMA, ledger=tn.ledger.Memory()) as data:
        answer: Any = data.ask("SELECT REGR_SLOPE(y, x) FROM t", epsilon=50)
        low, high = answer.interval(0.999999)
        assert low <= truth <= high
        assert answer.value == pytest.approx(truth, abs=0.02)
