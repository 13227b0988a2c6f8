"""What may be computed of a row, and what is refused with the nearest thing that works."""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.engine.formula import Choice, DateField, Sum
from tenue.engine.predicate import Among, Missing, Not, Within
from tenue.query.computed import seen_by
from tenue.query.question import ComputedColumn
from tenue.schema import Number
from unit.query.asked import CENSUS, ask, refused


def computed(expression: str) -> ComputedColumn:
    (found,) = ask(f"SELECT SUM({expression}) FROM census").computed
    return found


def bounds(expression: str) -> tuple[Fraction, Fraction, Fraction]:
    question = ask(f"SELECT SUM({expression}) FROM census")
    column = seen_by(question, CENSUS).columns[question.computed[0].name]
    assert isinstance(column, Number)
    return column.low, column.high, column.grid


@pytest.mark.parametrize(
    ("expression", "low", "high", "grid"),
    [
        ("age * 2 + 1", 1, 241, 1),
        ("age * rate", -120, 120, Fraction(1, 10)),
        ("CASE WHEN sex = 'Male' THEN age + 5 ELSE 0 END", 0, 125, 1),
        ("CASE WHEN sex = 'Male' THEN age + 5 END", 5, 125, 5 - 4),
        ("employed", 0, 1, 1),
        ("COALESCE(age, -7)", -7, 120, 1),
        ("EXTRACT(year FROM date)", 2020, 2024, 1),
        ("FLOOR(income / 1000)", 0, 200, 1),
        ("CEIL(rate)", -1, 1, 1),
        ("WIDTH_BUCKET(age, 10, 20, 5)", -4, 56, 1),
    ],
)
def test_bounds_follow_by_interval_arithmetic(
    expression: str, low: int, high: int, grid: Fraction
) -> None:
    assert bounds(expression) == (low, high, grid)


def test_a_condition_that_is_unknown_counts_as_else() -> None:
    found = computed("CASE WHEN age > 17 THEN 1 ELSE 0 END")
    assert found.formula == Choice(((Within("age", 18, None), Sum(1)),), Sum(0))


def test_case_with_a_value_compares_it() -> None:
    simple = "CASE sex WHEN 'Male' THEN 1 ELSE 0 END"
    assert computed(simple) == computed("CASE WHEN sex = 'Male' THEN 1 ELSE 0 END")


def test_a_boolean_is_missing_where_it_is_missing() -> None:
    cases = ((Among("employed", (True,)), Sum(1)), (Among("employed", (False,)), Sum(0)))
    assert computed("employed").formula == Choice(cases)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("age * 2 + 1", "1 + 2 * age"),
        ("age + age", "2 * age"),
        ("-(1 - age)", "age - 1"),
        ("YEAR(born)", "EXTRACT(year FROM born)"),
        ("DATE_PART('month', born)", "MONTH(born)"),
        ("IFNULL(age, 0)", "COALESCE(age, 0)"),
        ("CASE WHEN age IS NOT NULL THEN age ELSE 0 END", "COALESCE(age, 0)"),
        ("CEILING(rate)", "-FLOOR(-rate)"),
        ("age * rate", "rate * (age)"),
    ],
)
def test_texts_of_one_meaning_are_one_column(one: str, other: str) -> None:
    assert computed(one) == computed(other)


def test_fields_of_dates_are_numbers() -> None:
    assert computed("ISODOW(date)").formula == DateField("date", "isodow")


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("age / income", "computed"),
        ("1 / age", "computed"),
        ("age / 0", "division"),
        ("age * 1e-29 + 1", "computed"),
        ("age * 1e-30 + 1", "number"),
        ("1e29 * age * 10", "number"),
        ("SQRT(age)", "computed"),
        ("age > 40", "aggregate"),
        ("NOT employed", "aggregate"),
        ("age + SQRT(age)", "computed"),
        ("age + 'x'", "computed"),
        ("CASE WHEN age > 3 THEN 'x' ELSE 'y' END", "type"),
        ("CASE WHEN age > 3 THEN NULL ELSE 1 END", "computed"),
        ("age + (age > 3)", "computed"),
        ("sex + 1", "type"),
        ("date - 1", "type"),
        ("person + 1", "identifier"),
        ("COALESCE(age, income)", "computed"),
        ("COALESCE(age, 1, 2)", "computed"),
        ("EXTRACT(day FROM date)", "computed"),
        ("EXTRACT(hour FROM date)", "computed"),
        ("EXTRACT(year FROM age)", "computed"),
        ("WIDTH_BUCKET(age, 20, 10, 5)", "computed"),
        ("WIDTH_BUCKET(age, 0, 10, 0)", "computed"),
        ("WIDTH_BUCKET(age, 0, income, 5)", "computed"),
        ("age + (SELECT 1)", "computed"),
        ("SUM(age) + 1", "computed"),
        ("age % 2 + 1", "word"),
    ],
)
def test_the_rest_is_refused(expression: str, reason: str) -> None:
    refused(f"SELECT SUM({expression}) FROM census", reason)


def test_filter_leaves_rows_without_a_value() -> None:
    condition = Among("sex", ("Male",))
    (count,) = ask("SELECT COUNT(*) FILTER (WHERE sex = 'Male') FROM census").computed
    assert count.formula == Choice(((condition, Sum(1)),))
    assert ask("SELECT COUNT(CASE WHEN sex = 'Male' THEN 7 END) FROM census").computed[
        0
    ].formula == (count.formula)
    (total,) = ask("SELECT SUM(age) FILTER (WHERE sex = 'Male') FROM census").computed
    assert total == computed("CASE WHEN sex = 'Male' THEN age END")
    (there,) = ask("SELECT COUNT(occupation) FILTER (WHERE sex = 'Male') FROM census").computed
    both = there.formula
    assert isinstance(both, Choice)
    assert Not(Missing("occupation")) in both.cases[0][0].parts  # type: ignore[union-attr]
