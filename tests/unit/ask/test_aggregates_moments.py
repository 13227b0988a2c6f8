"""Statistics read off joint moments: exact without noise, covered with it, refused if too fine."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import tenue as tn
from tenue.ask.aggregates.moments import JointMoments, MomentReading, refuse_too_fine
from tenue.ask.aggregates.strategy import Range
from tenue.ask.plan.planner import make_plan
from tenue.ask.sql.parse import parse
from tenue.errors import InvalidQuestion, NotPromised
from tenue.mechanism.moment_basis import Axis, basis, powers_of
from tenue.privacy.loss import EpsilonDelta

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
    spread = MomentReading("regr_slope", 0, axes, grids, over)
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
        plan = make_plan(parse(sql, schema), schema, EpsilonDelta.of(1))
        slope = plan.readings[0]
        assert isinstance(slope, MomentReading)
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


def fine_schema(x: object, y: object) -> tn.Schema:
    given: dict[str, Any] = {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {
            "income": {"type": "number", "bounds": [0, 200_000], "grid": x},
            "wealth": {"type": "number", "bounds": [-100_000, 100_000], "grid": y},
        },
    }
    return tn.Schema.from_dict(given)


def planned(sql: str, x: object, y: object, price: EpsilonDelta) -> None:
    described = fine_schema(x, y)
    make_plan(parse(sql, described), described, price)


@pytest.mark.parametrize("epsilon", ["1", "0.001"])
@pytest.mark.parametrize(
    "sql", ["SELECT CORR(income, wealth) FROM t", "SELECT REGR_SLOPE(income, wealth) FROM t"]
)
def test_the_grids_that_it_names_would_do(sql: str, epsilon: str) -> None:
    price = EpsilonDelta.of(epsilon)
    with pytest.raises(NotPromised, match=r"`income`.*`wealth`") as refusal:
        planned(sql, 1, 0.01, price)
    named = dict(re.findall(r"grid = (\S+) for `(\w+)`", refusal.value.fix))
    x, y = (next(g for g, name in named.items() if name == c) for c in ("income", "wealth"))
    assert float(x) > 1
    assert float(y) > 0.01
    planned(sql, float(x), float(y), price)
    with pytest.raises(NotPromised):
        planned(sql, float(x) / 10, float(y) / 10, price)


def test_what_is_coarse_enough_passes() -> None:
    ranges = {"x": Range(0, 100, Fraction(1), never_missing=False)}
    refuse_too_fine(ranges, 2, 100**2, Fraction(1))
    with pytest.raises(NotPromised, match="grid = 1000 for `x`"):
        refuse_too_fine(ranges, 2, 10**22, Fraction(1))


# -- REGR_INTERCEPT --------------------------------------------------------------------------------


@pytest.mark.parametrize("over", [0, 1])
def test_an_intercept_without_noise_is_that_of_least_squares(over: int) -> None:
    axes = (Axis("x", -4, 10), Axis("y", 7, 10))
    grids = (Fraction(1, 2), Fraction(3))
    reading = MomentReading("regr_intercept", 0, axes, grids, over)
    found = reading.value([components(ROWS, axes)], None)
    scaled = (np.array(ROWS) + np.array([-4, 7])) * [0.5, 3]
    slope, intercept = np.polyfit(scaled[:, over], scaled[:, 1 - over], 1)
    assert float(found or 0) == pytest.approx(intercept)
    assert abs(slope * intercept) > 1, "neither is hidden by the other"
    assert reading.value([components([(4, 4)] * 5, axes)], None) is None


@pytest.mark.parametrize("lows", [(-4, 7), (-5, -5)], ids=["slope decides", "means decide"])
@pytest.mark.parametrize("over", [0, 1])
def test_an_intercept_is_held_wherever_the_noise_is_inside_its_box(
    over: int, lows: tuple[int, int]
) -> None:
    """Every component off by all that the box allows: the true line is still inside."""
    axes = (Axis("x", lows[0], 10), Axis("y", lows[1], 10))
    made = np.random.default_rng(over)
    rows = [
        (int(x), int(np.clip(x + made.integers(-1, 2), 0, 10))) for x in made.integers(0, 11, 5000)
    ]
    law = tn.noise.DiscreteLaplace(sensitivity=100, epsilon=1)
    part = JointMoments("joint moments", basis(axes, 2), (law,) * 9, Fraction(1))
    reading = MomentReading("regr_intercept", 0, axes, (Fraction(1, 2), Fraction(3)), over)
    true = components(rows, axes)
    truth = reading.value([true], None)
    level = Fraction(99, 100)
    half = int(law.interval(1 - (1 - level) / 9)[1])
    ends = []
    for _ in range(300):
        noisy = [
            c + half * int(sign) for c, sign in zip(true, made.choice([-1, 1], 9), strict=True)
        ]
        found = reading.interval((part,), level, [noisy], None)
        assert found is not None
        assert found[0] <= truth <= found[1]  # type: ignore[operator]
        ends.append((truth - found[0]) / (found[1] - found[0]))  # type: ignore[operator]
    assert min(ends) < 0.4 < 0.6 < max(ends), "the box is felt on both sides"
    assert reading.interval((part,), level, [components(rows[:3], axes)], None) is None


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_an_intercept_costs_what_its_moments_cost_and_shares_them_with_the_slope(
    neighbours: str,
) -> None:
    given = {**SCHEMA, "table": {**SCHEMA["table"], "neighbours": neighbours}}
    schema = tn.Schema.from_dict(given)

    def draws(sql: str) -> Any:
        found = make_plan(parse(sql, schema), schema, EpsilonDelta.of(1)).strategy.draws
        return [(type(draw), draw.line, draw.epsilon, draw.measures) for draw in found]

    slope = draws("SELECT REGR_SLOPE(y, x) FROM t")
    assert draws("SELECT REGR_INTERCEPT(y, x) FROM t") == slope
    assert draws("SELECT REGR_INTERCEPT(y, x), REGR_SLOPE(y, x), CORR(x, y) FROM t") == slope


def test_a_noisy_intercept_lies_near_that_of_duckdb_and_in_its_interval() -> None:
    made = np.random.default_rng(6)
    x = made.integers(0, 21, 20_000) / 2
    y = np.clip(np.round(0.6 * x + made.normal(2, 1, x.size)), 0, 10)
    table = pd.DataFrame({"x": x, "y": y})
    with duckdb.connect() as connection:
        connection.register("frame", table)
        ((truth, turned),) = connection.sql(
            "SELECT regr_intercept(y, x), regr_intercept(x, y) FROM frame"
        ).fetchall()
    with tn.protect(table, schema=SCHEMA, ledger=tn.ledger.Memory()) as data:
        answer: Any = data.ask("SELECT REGR_INTERCEPT(y, x) AS b FROM t", epsilon=50)
        low, high = answer.interval(0.999999)
        assert low <= truth <= high
        assert answer.value == pytest.approx(truth, abs=0.02)
        other: Any = data.ask("SELECT REGR_INTERCEPT(x, y) FROM t", epsilon=500)
        assert other.value == pytest.approx(turned, abs=0.02)
        assert other.columns == ("regr_intercept_x_y",)
        assert answer.expected_error is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT REGR_INTERCEPT(y) FROM t",
        "SELECT REGR_INTERCEPT(y, 1) FROM t",
        "SELECT REGR_INTERCEPT(*) FROM t",
        "SELECT REGR_INTERCEPT(DISTINCT y, x) FROM t",
    ],
)
def test_an_intercept_is_of_two_columns(sql: str) -> None:
    schema = tn.Schema.from_dict(SCHEMA)
    for function in ("REGR_INTERCEPT", "REGR_SLOPE"):
        with pytest.raises(InvalidQuestion):
            parse(sql.replace("REGR_INTERCEPT", function), schema)


@pytest.mark.parametrize("kind", ["variance", "var_pop", "covar_samp", "covar_pop"])
def test_no_noise_makes_a_spread_that_no_rows_have(kind: str) -> None:
    """101.8 was said of values in [0, 10], where 25 is the most, or 50 for two rows as a sample."""
    random = np.random.default_rng(11)
    pair = kind.startswith("cov")
    axes = (Axis("x", 0, 10), Axis("y", 0, 10))[: 2 if pair else 1]
    grids = (Fraction(1),) * len(axes)
    reading = MomentReading(kind, 0, axes, grids)
    most = 25 * (1 if kind.endswith("_pop") else 2)
    seen = []
    for _ in range(500):
        noisy = random.integers(-30, 60, len(basis(axes, 1 if pair else 2))).tolist()
        found = reading.value([noisy], None)
        if found is not None:
            seen.append(float(found))
    assert max(map(abs, seen)) == most  # so the clamp was needed, and is where it must be
