"""HAVING, ORDER BY and LIMIT see columns of the answer, and nothing else."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.query.question import Comparison, Order
from unit.query.asked import ask, refused

BY_SEX = "SELECT sex, COUNT(*) AS n, AVG(age) FROM census GROUP BY sex"


@pytest.mark.parametrize(
    ("having", "comparisons"),
    [
        ("n > 5", [Comparison("n", ">", Fraction(5))]),
        ("5 <= COUNT(*)", [Comparison("n", ">=", Fraction(5))]),
        ("-0.5 = avg_age", [Comparison("avg_age", "=", Fraction(-1, 2))]),
        ("sex <> 'Male'", [Comparison("sex", "<>", "Male")]),
        (
            "COUNT(*) BETWEEN 1 AND 9",
            [Comparison("n", "<=", Fraction(9)), Comparison("n", ">=", Fraction(1))],
        ),
        ("n > 1 AND ((n > 1) AND 1 < n)", [Comparison("n", ">", Fraction(1))]),
    ],
)
def test_having_compares_columns_of_the_answer(having: str, comparisons: list[Comparison]) -> None:
    assert list(ask(f"{BY_SEX} HAVING {having}").having) == comparisons


def test_calendar_keys_are_compared_by_their_begin() -> None:
    def compared(part: str, column: str, value: str) -> object:
        sql = f"SELECT DATE_TRUNC('{part}', {column}) AS k, COUNT(*) FROM census GROUP BY k"  # noqa: S608
        (comparison,) = ask(f"{sql} HAVING k < {value}").having
        return comparison.value

    assert compared("month", "date", "'2020-02-01'") == 18_293
    assert compared("month", "seen", "DATE '2020-02-01'") == 18_293
    assert compared("month", "seen", "'2020-02-01 12:00'") == Fraction(36_587, 2)
    assert compared("hour", "seen", "'2020-02-01 12:00'") == 18_293 * 86_400 + 43_200


@pytest.mark.parametrize(
    ("having", "reason"),
    [
        ("n > 1 OR n < 0", "having"),
        ("NOT n > 1", "having"),
        ("n IN (1, 2)", "having"),
        ("n IS NULL", "having"),
        ("n > avg_age", "having"),
        ("TRUE", "having"),
        ("1 = 1", "having"),
        ("SUM(age) > 1", "not-selected"),
        ("age > 1", "not-selected"),
        ("employed = TRUE", "not-selected"),
        ("BIN(age, 10) = 10", "not-selected"),
        ("n = 'x'", "type"),
        ("n = TRUE", "type"),
        ("sex = 3", "type"),
        ("sex < 'Male'", "type"),
        ("sex = 'male'", "unknown-category"),
        ("other.n > 3", "unknown-table"),
        ("n > NULL", "null"),
    ],
)
def test_having_refuses_everything_else(having: str, reason: str) -> None:
    refused(f"{BY_SEX} HAVING {having}", reason)


def test_having_has_100_comparisons_at_most() -> None:
    assert len(ask(f"{BY_SEX} HAVING {' AND '.join(f'n > {i}' for i in range(100))}").having) == 100
    refused(f"{BY_SEX} HAVING {' AND '.join(f'n > {i}' for i in range(101))}", "too-many-parts")


@pytest.mark.parametrize(
    ("order", "orders"),
    [
        ("n", [Order("n")]),
        ("2 DESC, sex", [Order("n", True), Order("sex")]),
        ("COUNT(*) ASC, n DESC", [Order("n")]),
        ("AVG(age) DESC, census.sex", [Order("avg_age", True), Order("sex")]),
    ],
)
def test_order_by_sorts_by_columns_of_the_answer(order: str, orders: list[Order]) -> None:
    assert list(ask(f"{BY_SEX} ORDER BY {order}").order) == orders


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ("age", "not-selected"),
        ("SUM(age)", "not-selected"),
        ("4", "position"),
        ("'n'", "position"),
        ("n NULLS LAST", "nulls-order"),
        ("n NULLS FIRST", "word"),
        ("n + 1", "unknown-column"),
        ("ALL", "word"),
    ],
)
def test_order_by_refuses_everything_else(order: str, reason: str) -> None:
    refused(f"{BY_SEX} ORDER BY {order}", reason)


def test_limit_keeps_some_rows_or_says_nothing() -> None:
    assert ask(f"{BY_SEX} LIMIT 1").limit == 1
    assert ask(f"{BY_SEX} LIMIT 0").limit == 0
    assert ask(f"{BY_SEX} LIMIT 2").limit is None
    assert ask("SELECT COUNT(*) FROM census LIMIT 1").limit is None
    for limit in ("-1", "1.5", "'1'", "n", "1 + 1", "TRUE"):
        refused(f"{BY_SEX} LIMIT {limit}", "limit")
    refused("SELECT COUNT(*) FROM census LIMIT 0", "limit")


def test_the_first_of_equal_columns_stands_for_all() -> None:
    sql = "SELECT sex AS a, sex AS b, COUNT(*) AS c, COUNT(1) AS d FROM census GROUP BY sex"
    question = ask(f"{sql} HAVING d > 3 AND b = 'Male' ORDER BY d, b")
    assert question == ask(f"{sql} HAVING COUNT(*) > 3 AND sex = 'Male' ORDER BY c, a")
