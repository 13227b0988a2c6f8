"""Aggregates, and exact arithmetic on them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.query.family.registry import FAMILY_OF
from tenue.query.question import Aggregate, Arithmetic, Constant, Expression, Output
from tenue.query.read.aggregate import AGGREGATES, FUNCTIONS
from tenue.query.read.arithmetic import has_aggregate
from tenue.query.write.question import render
from unit.query.asked import CENSUS, ask, refused


def expression(text: str) -> Expression:
    (output,) = ask(f"SELECT {text} FROM census").outputs  # noqa: S608
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
    question = ask(f"SELECT {text} FROM census")  # noqa: S608
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
    assert refusal.what == 'The function "APPROX" cannot be asked.'
    assert refusal.allowed.startswith("COUNT, SUM, AVG, MEDIAN, QUANTILE, MIN, MAX, VARIANCE")
    assert all(f"`{name}`" in refusal.fix for name in sorted(FUNCTIONS)[:12])


@pytest.mark.parametrize(
    ("text", "hint"),
    [("CUONT(age)", "COUNT"), ("BINN(age, 3)", "BIN"), ("DATETRUNK(age)", "DATE_TRUNC")],
)
def test_a_misspelled_function_gets_a_hint(text: str, hint: str) -> None:
    assert refused(f"SELECT {text} FROM census", "function").fix == f"Did you mean `{hint}`?"  # noqa: S608


@pytest.mark.parametrize("name", ["sex", "date", "seen"])
@pytest.mark.parametrize("function", ["SUM", "AVG"])
def test_sums_are_of_numbers(function: str, name: str) -> None:
    refusal = refused(f"SELECT {function}({name}) FROM census", "type")  # noqa: S608
    assert function in refusal.what
    assert ask(f"SELECT COUNT({name}) FROM census").aggregates() == (Aggregate("count", name),)  # noqa: S608
