"""Aggregates, arithmetic on answers, HAVING, ORDER BY, LIMIT."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.ask.aggregates.registry import FAMILY_OF
from tenue.ask.question import (
    Aggregate,
    Applied,
    Arithmetic,
    Comparison,
    Constant,
    Expression,
    Order,
    Output,
)
from tenue.ask.sql.aggregate import (
    AGGREGATES,
    FUNCTIONS,
    ZERO,
    computed,
    has_aggregate,
    levels,
    needs_parentheses,
)
from tenue.ask.sql.write import render
from tenue.errors import InvalidQuestion
from unit.ask.asked import CENSUS, ask, refused

ROWS, SUM = Aggregate("count"), Aggregate("sum", "x")
TWO, THREE = Constant(Fraction(2)), Constant(Fraction(3))


def test_constants_are_computed() -> None:
    assert computed("-", TWO, THREE) == Constant(Fraction(-1))
    assert computed("/", TWO, THREE) == Constant(Fraction(2, 3))


def test_the_sides_of_a_sum_stand_in_one_order_and_those_of_a_difference_as_written() -> None:
    assert computed("+", SUM, ROWS) == computed("+", ROWS, SUM)
    assert computed("*", TWO, ROWS) == computed("*", ROWS, TWO)
    assert computed("-", SUM, ROWS) != computed("-", ROWS, SUM)


def test_nothing_is_divided_by_zero() -> None:
    with pytest.raises(InvalidQuestion):
        computed("/", ROWS, ZERO)


def test_what_is_asked_of_the_table_is_found_inside() -> None:
    assert has_aggregate(Applied("round", Arithmetic("+", TWO, ROWS), Fraction(0)))
    assert not has_aggregate(Applied("round", Arithmetic("+", TWO, THREE), Fraction(0)))


def test_a_sum_in_a_product_needs_parentheses() -> None:
    total = Arithmetic("+", ROWS, SUM)
    assert needs_parentheses(Arithmetic("*", total, TWO), total)
    assert not needs_parentheses(Arithmetic("-", total, TWO), total)
    assert levels(Arithmetic("*", total, TWO)) > levels(Arithmetic("-", total, TWO))


# -- What an aggregate takes: one column that fits, with or without FILTER -------------------------

# ruff: noqa: S608 - these texts are what is tested


def test_a_column_stays_itself_until_something_is_computed() -> None:
    assert ask("SELECT SUM((age)) FROM census").aggregates() == (Aggregate("sum", "age"),)
    assert ask("SELECT SUM(age * 1) FROM census").aggregates() == (Aggregate("sum", "age"),)
    assert ask("SELECT SUM(age * 1) FROM census").computed == ()
    assert ask("SELECT SUM(age * 2) FROM census").aggregates() == (Aggregate("sum", "(2 * age)"),)


def test_booleans_have_means_and_counts() -> None:
    (mean,) = ask("SELECT AVG(employed) FROM census").aggregates()
    assert (mean.kind, mean.column) == (
        "avg",
        "(CASE WHEN employed = TRUE THEN 1 WHEN employed = FALSE THEN 0 END)",
    )
    assert ask("SELECT COUNT(employed) FROM census").aggregates() == (
        Aggregate("count", "employed"),
    )


@pytest.mark.parametrize("function", ["MEDIAN", "MIN", "VARIANCE", "STDDEV", "AVG"])
def test_every_aggregate_of_numbers_takes_an_expression(function: str) -> None:
    (asked,) = ask(f"SELECT {function}(age + 1) FILTER (WHERE employed) FROM census").aggregates()
    assert asked.column == "(CASE WHEN employed = TRUE THEN age + 1 END)"


def test_what_has_no_numbers_takes_no_filter() -> None:
    refused("SELECT MODE(sex) FILTER (WHERE employed) FROM census", "filter")
    refused("SELECT MAX(date) FILTER (WHERE employed) FROM census", "filter")
    refused("SELECT COUNT(DISTINCT person) FILTER (WHERE employed) FROM census", "filter")
    refused("SELECT MODE(age + 1) FROM census", "type")
    refused("SELECT AVG(2 - 1) FROM census", "aggregate")


# -- Aggregates, and exact arithmetic on them ------------------------------------------------------


def expression(text: str) -> Expression:
    (output,) = ask(f"SELECT {text} FROM census").outputs
    assert isinstance(output, Output)
    return output.expression


def value(tree: Expression, count: Fraction, total: Fraction) -> Fraction:
    if isinstance(tree, Constant):
        return tree.value
    if isinstance(tree, Aggregate):
        return count if tree.kind == "count" else total
    left, right = value(tree.left, count, total), value(tree.right, count, total)
    operations = {"+": left + right, "-": left - right, "*": left * right}
    return operations[tree.operator] if tree.operator != "/" else left / right


ARITHMETIC = st.recursive(
    st.sampled_from(["COUNT(*)", "SUM(age)", "2", "0.5", "7"]),
    lambda inner: (
        st.builds("{} {} {}".format, inner, st.sampled_from(["+", "-", "*"]), inner)
        | st.builds("({})".format, inner)
        | st.builds("- {}".format, inner)
        | st.builds("{} / 4".format, inner)
        | st.builds("({}) / SUM(age)".format, inner)
    ),
    max_leaves=10,
).map("COUNT(*) * ({})".format)


@given(ARITHMETIC)
def test_arithmetic_means_what_it_says(text: str) -> None:
    python = (
        (text.replace("COUNT(*)", "n").replace("SUM(age)", "s").replace("2", "F(2)"))
        .replace("0.5", "F(1,2)")
        .replace("7", "F(7)")
        .replace("/ 4", "/ F(4)")
    )
    n, s = Fraction(11), Fraction(301)
    assert value(expression(text), n, s) == eval(python, {"F": Fraction, "n": n, "s": s})  # noqa: S307


@given(ARITHMETIC)
def test_the_text_of_arithmetic_means_the_same(text: str) -> None:
    question = ask(f"SELECT {text} FROM census")
    assert ask(render(question, CENSUS)) == question


def test_constants_are_computed_and_sides_put_in_order() -> None:
    assert expression("COUNT(*) + 1 / 3") == expression("(2 - 1) * (1 / 3) + COUNT(*)")
    assert expression("COUNT(*) * SUM(age)") == expression("SUM(age) * COUNT(*)")
    assert expression("COUNT(*) - SUM(age)") != expression("SUM(age) - COUNT(*)")
    assert expression("-COUNT(*)") == Arithmetic("-", Constant(Fraction(0)), Aggregate("count"))


def test_an_output_needs_an_aggregate() -> None:
    assert has_aggregate(expression("1 - (2 + COUNT(age))"))
    assert not has_aggregate(Arithmetic("+", Constant(Fraction(1)), Constant(Fraction(2))))
    refused("SELECT COUNT(*), 3 FROM census", "constant")


def test_chains_and_numbers_have_a_longest() -> None:
    assert expression("COUNT(*)" + " + SUM(age)" * 100)
    refused("SELECT COUNT(*)" + " + SUM(age)" * 101 + " FROM census", "too-deep")
    assert expression("SUM(age) - (" * 14 + "COUNT(*)" + ")" * 14)
    refused("SELECT " + "SUM(age) - (" * 16 + "COUNT(*)" + ")" * 16 + " FROM census", "too-deep")
    refused("SELECT COUNT(*) * " + "(9e99 * " * 4 + "1" + ")" * 4 + " FROM census", "number")


def test_all_aggregates_are_listed_in_one_place() -> None:
    kinds = {rule.kind for rule in AGGREGATES.values()}
    assert kinds == set(FAMILY_OF) - {"units", "distinct", "clipped_sum", "clipped_avg"}
    refusal = refused("SELECT APPROX(age) FROM census", "function")
    assert refusal.what == 'The function "APPROX" is not available.'
    assert refusal.allowed.startswith("COUNT, SUM, AVG, MEDIAN, QUANTILE, MIN, MAX, VARIANCE")
    assert all(f"`{name}`" in refusal.fix for name in sorted(FUNCTIONS)[:12])


@pytest.mark.parametrize(
    ("text", "hint"),
    [("CUONT(age)", "COUNT"), ("BINN(age, 3)", "BIN"), ("DATETRUNK(age)", "DATE_TRUNC")],
)
def test_a_misspelled_function_gets_a_hint(text: str, hint: str) -> None:
    fix = refused(f"SELECT {text} FROM census", "function").fix
    assert fix.startswith(f"Did you mean `{hint}`?")


@pytest.mark.parametrize("name", ["sex", "date", "seen"])
@pytest.mark.parametrize("function", ["SUM", "AVG"])
def test_sums_are_of_numbers(function: str, name: str) -> None:
    refusal = refused(f"SELECT {function}({name}) FROM census", "type")
    assert function in refusal.what
    assert ask(f"SELECT COUNT({name}) FROM census").aggregates() == (Aggregate("count", name),)


# -- HAVING, ORDER BY and LIMIT see columns of the answer, and nothing else ------------------------

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
        sql = f"SELECT DATE_TRUNC('{part}', {column}) AS k, COUNT(*) FROM census GROUP BY k"
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
