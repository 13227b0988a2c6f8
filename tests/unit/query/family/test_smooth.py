"""A mechanism asked by name; smooth sensitivity through the whole journey."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, NotPromised, Refused
from tenue.query.family.smooth import smoothed_for
from tenue.query.family.strategy import Span
from tenue.query.question import Aggregate

TABLE = pd.DataFrame({"x": [3.5, 4, None, 6, 70, 1], "y": [1, 2, 3, 4, 5, 6], "g": ["a", "b"] * 3})
MEDIAN = "SELECT MEDIAN(x) FROM t"


def session(**table: Any) -> Any:
    schema = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace", **table},
        "columns": {
            "x": {"type": "number", "bounds": [0, 10], "grid": 0.5, "missing": 2},
            "y": {"type": "number", "bounds": [0, 10]},
            "g": {"type": "category", "categories": ["a", "b"]},
        },
        "budget": {"total": 50},
    }
    return tn.protect(TABLE, schema=schema, ledger=tn.ledger.Memory())


@pytest.mark.parametrize("gamma", range(2, 7))
def test_smooth_sensitivity_answers_by_name_and_tells_nothing_but_the_value(gamma: int) -> None:
    with session() as data:
        answer = data.ask(MEDIAN, epsilon=1, mechanism=f"smooth sensitivity {gamma}")
        assert 0 <= answer.value <= 10
        assert answer.exact % Fraction(1, 4) == 0  # an even median lies on half steps
        assert answer.interval(0.5) is None
        assert answer.expected_error is None
        assert answer.rank_error(0.5) is None
        with pytest.raises(NotPromised):
            answer.estimate(tn.prior.Uniform(0, 10))
        assert answer.price == data.budget.spent == 1
        assert answer.certificate.promise == tn.Pure(1)
        assert any("Bayes" in line for line in answer.certificate.does_not_promise)
        assert f"gamma = {gamma}" in answer.certificate.parameters["part 1"]
        assert "fact about the rows" in str(answer)


@pytest.mark.parametrize(
    ("sql", "statistic", "q"),
    [
        (MEDIAN, "median", None),
        ("SELECT QUANTILE(x, 0.3) FROM t", "quantile", Fraction(3, 10)),
        ("SELECT MAX(x) FROM t", "max", None),
        ("SELECT MIN(x) FROM t", "min", None),
    ],
)
def test_the_rows_of_the_logical_table_are_what_it_is_told(
    sql: str, statistic: str, q: Fraction | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def spy(*arguments: Any, **options: Any) -> Fraction:
        seen.append((arguments, options))
        return Fraction(7, 2)

    monkeypatch.setattr("tenue.mechanism.smooth.smooth_release", spy)
    with session() as data:
        assert data.ask(sql, epsilon=1, mechanism="smooth sensitivity 3").exact == Fraction(7, 4)
    ((arguments, options),) = seen
    assert arguments[0] == statistic
    assert arguments[1].tolist() == [2, 4, 7, 8, 12, 20]  # clamped, missing filled, in steps
    assert arguments[2:6] == (0, 20, 1, 3)
    assert options == {"rows_public": True, "q": q}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MEDIAN(x) FROM t WHERE y > 1",
        "SELECT g, MEDIAN(x) FROM t GROUP BY g",
        "SELECT MEDIAN(y) FROM t",
        "SELECT MEDIAN(x), MAX(x) FROM t",
        "SELECT COUNT(*) FROM t",
    ],
)
def test_it_is_refused_where_the_number_of_rows_is_not_public(sql: str) -> None:
    with session() as data:
        with pytest.raises(NotPromised, match="number of rows is public"):
            data.ask(sql, epsilon=1, mechanism="smooth sensitivity 3")
        assert data.budget.spent == 0
    with session(neighbours="add-or-remove") as data, pytest.raises(NotPromised):
        data.ask(MEDIAN, epsilon=1, mechanism="smooth sensitivity 3")


def test_it_takes_no_interval_and_no_accuracy() -> None:
    with session() as data:
        with pytest.raises(NotPromised):
            data.ask(MEDIAN, epsilon=1, mechanism="smooth sensitivity 3", interval=0.9)
        with pytest.raises(NotPromised):
            data.ask(MEDIAN, accuracy=("interval", 0.9, 1), mechanism="smooth sensitivity 3")
        assert data.budget.spent == 0


def test_unknown_names_are_refused_with_the_names_there_are() -> None:
    with session() as data:
        for name in ("laplace", "", "smooth sensitivity 7", "smooth sensitivity"):
            with pytest.raises(InvalidArgument, match='"selection", "smooth sensitivity 2"'):
                data.ask(MEDIAN, epsilon=1, mechanism=name)
        with pytest.raises(Refused, match="together"):
            data.ask(MEDIAN, epsilon=1, mechanism="selection", individual=True)


def test_a_named_mechanism_is_planned_drawn_and_cached_as_such() -> None:
    sql = "SELECT SUM(y) FROM t"
    with session() as data:
        assert data.ask(sql, epsilon=1).plan.chosen.mechanism == "optimal"
        answer = data.ask(sql, epsilon=1, mechanism="discrete Laplace")
        assert not answer.replayed
        assert isinstance(answer.plan.parts[0].law, tn.noise.DiscreteLaplace)
        assert data.ask(sql, epsilon=1, mechanism="discrete Laplace").replayed
        plan = data.explain(sql, epsilon=1, mechanism="discrete Laplace")
        assert "→  discrete Laplace" in str(plan)


def test_noise_that_cannot_be_drawn_is_not_offered() -> None:
    asked = Aggregate("max", "x")
    assert len(smoothed_for(asked, Span(0, 100, Fraction(1)), Fraction(1))) == 5
    assert smoothed_for(asked, Span(0, 2**61, Fraction(1)), Fraction(1)) == []
