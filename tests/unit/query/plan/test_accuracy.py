"""The least epsilon for a wanted accuracy."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, NotPromised
from tenue.ledger import Memory
from tenue.promise.loss import EpsilonDelta
from tenue.query.plan import accuracy
from tenue.query.plan.accuracy import epsilon_for
from tenue.query.plan.make import make_plan
from tenue.query.question import Output
from unit.query.stated import MEAN, ONE_COUNT, SUM, asked, schema

LEVEL = Fraction(19, 20)
TOTAL = asked(Output("total", SUM))


def reach(price: EpsilonDelta) -> float:
    plan = make_plan(ONE_COUNT, schema(), price)
    error = plan.readings[0].before_rows(plan.parts, None)
    assert error is not None
    return error.half_width(LEVEL)


def test_the_epsilon_found_reaches_and_a_smaller_one_does_not() -> None:
    price = epsilon_for(("interval", 0.95, 10), ONE_COUNT, schema(), "variance")
    assert reach(price) <= 10
    assert reach(price.part(0.99)) > 10


def test_means_and_nonsense_are_refused() -> None:
    with pytest.raises(NotPromised):
        epsilon_for(("interval", 0.95, 10), MEAN, schema(), "variance")
    for wrong in (None, ("interval", 0.95), ("width", 0.95, 1), ("interval", 2, 1), 3):
        with pytest.raises(InvalidArgument):
            epsilon_for(wrong, ONE_COUNT, schema(), "variance")


def test_an_epsilon_that_promises_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "LARGEST", EpsilonDelta.of(1))
    with pytest.raises(NotPromised, match="above 1"):
        epsilon_for(("interval", 0.95, 1), TOTAL, schema(), "variance")


@pytest.mark.parametrize("wanted", [1e3, 1e5, 1e7])
def test_a_wide_reach_costs_little(wanted: float) -> None:
    """± 10^5 cost 170 times what it needs, for nothing below a thousandth was tried."""
    price = epsilon_for(("interval", 0.95, wanted), ONE_COUNT, schema(), "variance")
    assert reach(price) <= wanted
    assert price.units == 1 or reach(price.part(0.99)) > wanted
    assert price.epsilon < 4 / wanted


def test_a_mean_of_all_rows_has_an_accuracy_where_their_number_is_stated() -> None:
    people = {"name": "t", "unit": "record", "neighbours": "replace", "rows": 1000}
    number = {"type": "number", "bounds": [0, 100], "missing": 0}
    given = {"table": people, "columns": {"x": number, "y": {**number}}, "budget": {"total": 9}}
    del given["columns"]["y"]["missing"]
    with tn.protect(frame(1000), schema=given, ledger=Memory()) as data:
        accuracy = ("interval", 0.95, 0.5)
        found = data.ask("SELECT AVG(x) AS m FROM t", accuracy=accuracy)
        low, high = found.interval(0.95)
        assert high - low <= 1
        assert found.price < Fraction(1)
        for other in ("SELECT AVG(y) FROM t", "SELECT AVG(x) FROM t WHERE x > 3"):
            with pytest.raises(NotPromised):
                data.ask(other, accuracy=accuracy)


def test_questions_asked_together_have_an_accuracy_too() -> None:
    table = {"name": "t", "unit": "record", "neighbours": "add-or-remove"}
    given = {
        "table": table,
        "columns": {"x": {"type": "number", "bounds": [0, 100]}},
        "budget": {"total": 9},
    }
    asked = ["SELECT COUNT(*) AS n FROM t", "SELECT COUNT(*) AS n FROM t WHERE x > 50"]
    with tn.protect(frame(100), schema=given, ledger=Memory()) as data:
        found = data.ask_many(asked, accuracy=("interval", 0.95, 20))
        assert all(high - low <= 40 for low, high in (one.interval(0.95) for one in found))
        alone = data.explain(asked[0], accuracy=("interval", 0.95, 20)).epsilon
        assert alone < found.price <= 2 * alone * Fraction(101, 100)
        with pytest.raises(InvalidArgument):
            data.ask_many(asked)
        with pytest.raises(InvalidArgument):
            data.ask_many(asked, epsilon=1, accuracy=("interval", 0.95, 20))


def frame(rows: int) -> pd.DataFrame:
    return pd.DataFrame({"x": [i % 100 for i in range(rows)], "y": [i % 100 for i in range(rows)]})
