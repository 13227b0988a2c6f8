"""Arithmetic of derived columns: what it means, and that nothing else can be said."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.errors import InvalidArgument
from tenue.schema.expression import Constant, Expression, Name, Negative, Operation, Tree


def value(tree: Tree, row: dict[str, Fraction]) -> Fraction:
    if isinstance(tree, Constant):
        return tree.value
    if isinstance(tree, Name):
        return row[tree.name]
    if isinstance(tree, Negative):
        return -value(tree.of, row)
    left, right = value(tree.left, row), value(tree.right, row)
    return {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "/": lambda: left / right,
    }[tree.sign]()


ARITHMETIC: st.SearchStrategy[str] = st.recursive(
    st.sampled_from(["a", "b", "7", "2"]),
    lambda inner: (
        st.builds("{}{}{}".format, inner, st.sampled_from(["+", " - ", "*"]), inner)
        | st.builds("({})".format, inner)
        | st.builds("-{}".format, inner)
        | st.builds("{} / 4".format, inner)
    ),
    max_leaves=12,
)


@given(ARITHMETIC, st.integers(-9, 9), st.integers(-9, 9))
def test_it_means_what_arithmetic_means(text: str, a: int, b: int) -> None:
    row = {"a": Fraction(a), "b": Fraction(b)}
    python = eval(  # noqa: S307
        text.replace("7", "F(7)").replace("2", "F(2)").replace("4", "F(4)"), {"F": Fraction}, row
    )
    expression = Expression.parse(text)
    assert value(expression.tree, row) == python
    again = Expression.parse(str(expression.tree))
    assert value(again.tree, row) == python


def test_numbers_are_exact() -> None:
    assert Expression.parse("0.1").tree == Constant(Fraction(1, 10))
    assert Expression.parse(".5e-1").tree == Constant(Fraction(1, 20))
    assert Expression.parse("2.").tree == Constant(Fraction(2))


def test_names_are_listed_once_as_written() -> None:
    expression = Expression.parse('Price * 2 + price - "capital-gain" / año')
    assert expression.names == ("Price", "price", "capital-gain", "año")
    assert expression.text == 'Price * 2 + price - "capital-gain" / año'


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "a +",
        "* a",
        "a b",
        "a, b",
        "(a",
        "a)",
        "()",
        "a ** b",
        "a // b",
        "a % 2",
        "a = b",
        "a < b",
        "abs(a)",
        "a; DROP TABLE t",
        "a /* comment */ + b",
        "'text'",
        '""',
        '"a',
        "[a]",
        "a.b",
        "1e999",
        "1_000",
        "a / 0",
        "a / (0.00)",
        "CASE WHEN a THEN 1 END",
        "SELECT 1",
        "a\0b",
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        Expression.parse(text)
    assert refused.value.fix


@given(st.text(max_size=30) | st.text('ab1()+-*/ ."e', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        expression = Expression.parse(text)
    except InvalidArgument:
        return
    assert value(expression.tree, dict.fromkeys(expression.names, Fraction(1))) is not None


def test_two_minus_signs_are_arithmetic_and_no_comment() -> None:
    assert Expression.parse("a --b").tree == Operation("-", Name("a"), Negative(Name("b")))
    assert str(Expression.parse("a --b").tree) == '("a" - (-"b"))'


def test_depth_and_length_are_limited() -> None:
    assert Expression.parse("(" * 49 + "a" + ")" * 49)
    assert Expression.parse("a+" * 99 + "a").names == ("a",)
    for text in ["(" * 51 + "a" + ")" * 51, "-" * 60 + "a", "a+" * 150 + "a", "a " + " " * 1000]:
        with pytest.raises(InvalidArgument):
            Expression.parse(text)
