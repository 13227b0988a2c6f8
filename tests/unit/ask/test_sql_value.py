"""What is computed of one row."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.ask.cells import cell_labels
from tenue.ask.question import ComputedColumn, seen_by
from tenue.ask.sql.exact_expr import (
    Amount,
    added,
    chosen,
    coarsest,
    constant,
    multiplied,
    rounded_down,
    scaled,
)
from tenue.ask.sql.write import render
from tenue.engine.computed_column import (
    Among,
    Choice,
    DateField,
    Missing,
    Not,
    Product,
    Quotient,
    Steps,
    Sum,
    Within,
)
from tenue.engine.request import Bin, Group, Key
from tenue.schema import Number
from unit.ask.asked import CENSUS, ask, refused

F = Fraction
X, Y = Amount(F(1, 2), Steps("x")), Amount(F(3), Steps("y"))


def test_sums_live_on_the_coarsest_grid_that_holds_all_parts() -> None:
    assert added([X, constant(F(3))]) == Amount(F(1, 2), Sum(6, ((1, Steps("x")),)))
    assert added([scaled(X, F(4)), constant(F(6))]) == Amount(F(2), Sum(3, ((1, Steps("x")),)))
    assert (
        added([X, Y])
        == added([Y, X])
        == Amount(F(1, 2), Sum(0, ((1, Steps("x")), (6, Steps("y")))))
    )


def test_what_cancels_still_decides_what_is_missing() -> None:
    both = added([X, Y, scaled(X, F(-1))])
    assert both == Amount(F(3), Sum(0, ((0, Steps("x")), (1, Steps("y")))))
    assert (
        scaled(X, F(0)) == added([X, scaled(X, F(-1))]) == Amount(F(1), Sum(0, ((0, Steps("x")),)))
    )
    assert scaled(constant(F(3)), F(0)).number == 0
    assert scaled(scaled(X, F(-1)), F(-1)) == X
    assert added([X, X]) == scaled(X, F(2))


def test_grids_of_factors_multiply_and_signs_stand_outside() -> None:
    both = Amount(F(3, 2), Product((Steps("x"), Steps("y"))))
    assert multiplied(X, Y) == multiplied(Y, X) == both
    assert multiplied(scaled(X, F(-1)), Y) == scaled(both, F(-1))
    assert multiplied(scaled(X, F(-1)), scaled(Y, F(-1))) == both


def test_a_choice_lives_on_the_grid_of_all_that_may_be_chosen() -> None:
    condition = Within("z", 0, None)
    assert chosen([(condition, Y)], constant(F(0))) == Amount(
        F(3), Choice(((condition, Steps("y")),), Sum(0))
    )
    assert chosen([(condition, Y)], constant(F(2))) == Amount(
        F(1), Choice(((condition, Sum(0, ((3, Steps("y")),))),), Sum(2))
    )
    present = Not(Missing("x"))
    assert chosen([(present, X)], constant(F(1))).formula == Choice(
        ((present, Steps("x")),), Sum(2)
    )


def test_rounding_down_divides_whole_numbers() -> None:
    assert rounded_down(scaled(Y, F(1, 10))) == Amount(
        F(1), Quotient(Sum(0, ((3, Steps("y")),)), 10)
    )
    assert rounded_down(Y) == Y, "whole numbers stay"


@pytest.mark.parametrize(
    ("values", "grid"), [([F(1, 2), F(1, 3)], F(1, 6)), ([F(4), F(0), F(-6)], F(2)), ([F(0)], F(1))]
)
def test_the_coarsest_grid_is_the_greatest_common_divisor(values: list[F], grid: F) -> None:
    assert coarsest(values) == grid


# -- The text of an amount means the amount: what the parser makes of it is the same ---------------

TEXTS = [
    "2 * age",
    "age / 3",
    "2 * age / 3 - income + 1",
    "-age",
    "-rate - 0.5",
    "age * (income - 1) * (rate + age) / 7",
    "CASE WHEN age <= 17 THEN -income ELSE 0.3 END",
    "CASE WHEN sex = 'Male' OR age IS NULL THEN rate END",
    "FLOOR(income / 1000)",
    "3 * FLOOR(rate) - age",
    "EXTRACT(year FROM born) - EXTRACT(month FROM date)",
    "EXTRACT(hour FROM seen) * age",
    "age - age + income",
    "0 * (CASE WHEN employed = TRUE THEN 1 END) + age",
    "(CASE WHEN employed = TRUE THEN 1 END) - age",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_is_read_as_the_same(text: str) -> None:
    question = ask(f"SELECT SUM({text}) AS s FROM census")
    (computed,) = question.computed
    assert computed.name[0] + computed.name[-1] == "()"
    assert ask(render(question, CENSUS)) == question
    assert ask(f"SELECT SUM{computed.name} AS s FROM census") == question


def test_what_is_written_is_short() -> None:
    assert ask("SELECT SUM((1 + age) + 2 * (age * 1) - 4) FROM census").computed[0].name == (
        "(3 * age - 3)"
    )


def test_what_is_written_out_counts_each_time_it_is_named() -> None:
    def doubled(many: int) -> str:
        steps = "".join(
            f", a{i} AS (SELECT age, CASE WHEN age > {i} THEN v ELSE v + 1 END AS v FROM a{i - 1})"
            for i in range(1, many + 1)
        )
        return (
            f"WITH a0 AS (SELECT age, 2 * age AS v FROM census){steps} SELECT SUM(v) FROM a{many}"
        )

    assert len(ask(doubled(9)).computed) == 1
    refused(doubled(12), "too-long")
    refused(doubled(60), "too-long")


# -- What may be computed of a row, and what is refused with the nearest thing that works ----------

# ruff: noqa: S608 - these texts are what is tested


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
        ("CBRT(age)", "computed"),
        ("SQRT(-age)", "computed"),
        ("LN(age)", "computed"),
        ("EXP(income)", "computed"),
        ("LOG(3, income + 1)", "computed"),
        ("POWER(2, age)", "computed"),
        ("POWER(age, income)", "computed"),
        ("POWER(age, 0)", "computed"),
        ("POWER(income + 1, 100)", "computed"),
        ("SQRT(2)", "computed"),
        ("ROUND(age, income)", "function"),
        ("NULLIF(age, income)", "computed"),
        ("LEAST(age, sex)", "type"),
        ("age + CBRT(age)", "computed"),
        ("age + 'x'", "computed"),
        ("CASE WHEN age > 3 THEN 'x' ELSE 'y' END", "type"),
        ("CASE WHEN age > 3 THEN NULL ELSE 1 END", "computed"),
        ("age + (age > 3)", "computed"),
        ("sex + 1", "type"),
        ("date - 1", "type"),
        ("person + 1", "identifier"),
        ("COALESCE(age, income)", "computed"),
        ("COALESCE(age, 1, 2)", "computed"),
        ("EXTRACT(second FROM date)", "computed"),
        ("EXTRACT(minute FROM date)", "computed"),
        ("DAYNAME(date)", "type"),
        ("DAYNAME(age)", "computed"),
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


# -- Keys that are computed, and the cells they have -----------------------------------------------

# ruff: noqa: S608 - these texts are what is tested


BINS = "CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'old' END"


def key(text: str) -> Key:
    (found,) = ask(f"SELECT {text} AS k, COUNT(*) FROM census GROUP BY k").keys
    return found


def labels(text: str) -> list[object]:
    question = ask(f"SELECT {text} AS k, COUNT(*) FROM census GROUP BY ALL")
    return [label for (label,) in cell_labels(question, CENSUS)]


def test_a_floor_times_its_divisor_is_a_bin() -> None:
    assert key("FLOOR(age / 10) * 10") == key("BIN(age, 10)") == Bin("age", 10, 0, 13)
    assert key("FLOOR(rate / 0.5) * 0.5") == key("BIN(rate, 0.5)")
    assert labels("FLOOR(age / 50)") == [0, 1, 2]


def test_case_makes_groups_with_uneven_edges() -> None:
    assert key(BINS) == Group(f"[{BINS.replace('< 18', '<= 17').replace('< 65', '<= 64')}]", 3)
    assert labels(BINS) == ["minor", "adult", "old"]
    (computed,) = ask(f"SELECT {BINS}, COUNT(*) FROM census GROUP BY 1").computed
    cases = ((Within("age", None, 17), Sum(0)), (Within("age", None, 64), Sum(1)))
    assert computed.formula == Choice(cases, Sum(2))


def test_equal_names_are_one_group() -> None:
    assert labels("CASE WHEN age < 9 THEN 'x' WHEN age < 99 THEN 'y' ELSE 'x' END") == ["x", "y"]


def test_numbers_and_booleans_name_groups_too() -> None:
    assert labels("CASE WHEN age < 18 THEN 0 ELSE 18.5 END") == [0, Fraction(37, 2)]
    assert labels("CASE WHEN age < 18 THEN TRUE ELSE FALSE END") == [True, False]
    refused("SELECT CASE WHEN age < 18 THEN 0 ELSE 'x' END, COUNT(*) FROM census GROUP BY 1", "key")
    refused("SELECT CASE WHEN age < 18 THEN '' END, COUNT(*) FROM census GROUP BY 1", "key")


def test_fields_of_dates_and_buckets_have_declared_cells() -> None:
    assert labels("YEAR(date)") == [2020, 2021, 2022, 2023, 2024]
    assert labels("EXTRACT(quarter FROM date)") == [1, 2, 3, 4]
    assert len(labels("EXTRACT(hour FROM seen)")) == 24


def test_having_and_order_know_computed_keys() -> None:
    text = f"SELECT {BINS} AS k, COUNT(*) AS n FROM census GROUP BY k"
    assert ask(f"{text} HAVING k = 'old' ORDER BY k").having[0].value == "old"
    assert ask(f"{text} HAVING {BINS} <> 'old'").having[0].alias == "k"
    refused(f"{text} HAVING k > 'old'", "type")
    refused(f"{text} HAVING k = 3", "type")
    year = "SELECT YEAR(date) AS y, COUNT(*) FROM census GROUP BY y"
    assert ask(f"{year} HAVING y >= 2022").having[0].value == 2022


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("income * 2", "cells"),
        ("income * 1", "key"),
        ("SQRT(age)", "key"),
        ("CBRT(age)", "function"),
        ("CASE WHEN COUNT(*) > 3 THEN 1 END", "case"),
        ("FLOOR(SUM(age))", "function"),
    ],
)
def test_other_expressions_are_no_keys(text: str, reason: str) -> None:
    sql = f"SELECT {text} AS k, COUNT(*) FROM census GROUP BY k"
    refused(sql, reason)


# -- Functions of a row ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("ABS(-age)", "ABS(age)"),
        ("LEAST(age, 3, 7)", "LEAST(age, 3)"),
        ("GREATEST(7, age, 3)", "GREATEST(age, 7)"),
        ("ROUND(income, -3)", "1000 * ROUND(income / 1000)"),
        ("ROUND(income, 3)", "income"),
        ("income / (age + 1)", "income / (age + 1)"),
        ("income / -(age + 1) * 2", "2 * ((-income) / (age + 1))"),
        ("LOG(age + 1)", "LOG10(age + 1)"),
        ("POW(age, 0.5)", "SQRT(age)"),
        ("POWER(age + 1, -1)", "1 / (age + 1)"),
        ("POWER(age, 3)", "age * age * age"),
        ("DATE_PART('weekday', date)", 'EXTRACT(dow FROM "date")'),
        ("DAYOFMONTH(date)", 'EXTRACT(day FROM "date")'),
        ("WEEKOFYEAR(seen)", "EXTRACT(week FROM seen)"),
    ],
)
def test_functions_have_one_text_that_is_read_again(expression: str, text: str) -> None:
    question = ask(f"SELECT SUM({expression}) AS s FROM census")
    assert render(question, CENSUS) == f"SELECT SUM({text}) AS s FROM census"
    assert ask(render(question, CENSUS)) == question


def test_a_column_of_few_values_is_a_key() -> None:
    assert key("age") == Bin("age", 1, 0, 121)
    assert labels("DAYNAME(date)")[0] == "Monday"
    assert labels("MONTHNAME(seen)")[11] == "December"
    assert labels("WEEK(date)") == list(range(1, 54))


def test_a_condition_is_a_share_and_a_root_of_a_variance_a_deviation() -> None:
    share = ask("SELECT AVG(sex = 'Male') AS s FROM census")
    assert "WHEN sex = 'Male' THEN 1" in render(share, CENSUS)
    assert ask("SELECT SQRT(VARIANCE(age)) AS s FROM census") == ask(
        "SELECT STDDEV(age) AS s FROM census"
    )
    refused("SELECT SQRT(SUM(age)) FROM census", "aggregate")


@pytest.mark.parametrize(
    "expression", ["income / age", "LN(age)", "SQRT(0 - age)", "EXP(income)", "1 / (age - 5)"]
)
def test_the_bound_to_declare_is_named_and_the_fix_works(expression: str) -> None:
    fix = refused(f"SELECT AVG({expression}) FROM census", "computed").fix
    assert "let the holder declare" in fix
    instead = fix.removeprefix("Write ").removeprefix("Divide by ").split(", or let")[0]
    if " / " in expression:
        instead = f"{expression.split(' / ')[0]} / {instead}"
    ask(f"SELECT AVG({instead}) FROM census")
