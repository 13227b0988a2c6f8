"""Columns of each type, and the arithmetic of derived ones."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.errors import InvalidArgument
from tenue.schema import Bounded, Date, Datetime, Number
from tenue.schema.expression import Constant, Expression, Name, Negative, Operation, Tree


def number(low: Fraction, grid: Fraction, steps: int) -> Number:
    return Number(name="x", role="other", low=low, high=low + steps * grid, grid=grid)


@given(
    st.integers(-(10**6), 10**6),
    st.sampled_from(["1", "0.1", "0.25", "1e-9", "100"]),
    st.integers(1, 10**9),
    st.data(),
)
def test_steps_go_there_and_back(low: int, text: str, steps: int, data: st.DataObject) -> None:
    grid = Fraction(text)
    column = number(low * grid, grid, steps)
    step = data.draw(st.integers(0, steps))
    value = column.from_steps(step)
    assert column.steps == steps
    assert column.to_steps(value) == step
    assert value == low * grid + step * grid
    assert isinstance(value, int) == (grid.denominator == 1)
    assert column.bounds == (column.low, column.high)


def test_one_third_of_the_way_is_not_on_the_grid() -> None:
    column = number(Fraction(0), Fraction(1, 10), 10)
    for value in (Fraction(1, 3), 0.30000000000000004, -0.1, 1.1, "1e9", Decimal("0.05")):
        with pytest.raises(InvalidArgument) as refused:
            column.to_steps(value)
        assert "0 to 1 in steps of 0.1" in refused.value.allowed
    with pytest.raises(InvalidArgument, match=r"The nearest is 0\.3"):
        column.to_steps(0.33)
    with pytest.raises(InvalidArgument, match=r"The nearest is 1\."):
        column.to_steps(55)


@pytest.mark.parametrize("value", [None, True, "x", float("nan"), float("inf"), [1], b"1"])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgument):
        number(Fraction(0), Fraction(1), 9).to_steps(value)


@pytest.mark.parametrize("steps", [-1, 10, 0.5, True, None, "x"])
def test_steps_outside_are_refused(steps: int) -> None:
    with pytest.raises(InvalidArgument):
        number(Fraction(0), Fraction(1), 9).from_steps(steps)


@given(st.dates(), st.integers(1, 40), st.integers(1, 1000), st.data())
def test_days_go_there_and_back(low: date, grid: int, steps: int, data: st.DataObject) -> None:
    start = Date.number(low)
    if start + grid * steps > Date.number(date.max):
        return
    column = Date(name="x", role="other", low=start, high=start + grid * steps, grid=Fraction(grid))
    step = data.draw(st.integers(0, steps))
    value = column.from_steps(step)
    assert type(value) is date
    assert (value - low).days == step * grid
    assert column.to_steps(value) == column.to_steps(value.isoformat()) == step
    if grid > 1 and step < steps:
        with pytest.raises(InvalidArgument):
            column.to_steps(date.fromordinal(value.toordinal() + 1))


@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9990, 1, 1)), st.integers(0, 99)
)
def test_moments_go_there_and_back_to_the_microsecond(low: datetime, step: int) -> None:
    start = Datetime.number(low)
    column = Datetime(name="x", role="other", low=start, high=start + 1, grid=Fraction(1, 100))
    value = column.from_steps(step)
    assert type(value) is datetime
    assert (value - low).microseconds == step * 10_000
    assert column.to_steps(value) == column.to_steps(value.isoformat()) == step


@pytest.mark.parametrize(
    ("value", "fix"),
    [
        (date(2015, 1, 31), "Write 2015-01-31T00:00:00."),
        ("2015-01-31", "Write 2015-01-31T00:00:00."),
        ("2015-01-31T10:00:00+02:00", "Write 2015-01-31T10:00:00."),
        ("soon", "Write 2024-12-31T23:59:59."),
    ],
)
def test_a_day_is_told_how_to_be_a_moment(value: object, fix: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        Datetime.number(value)
    assert refused.value.fix == fix


def test_days_and_moments_are_not_mixed() -> None:
    day = Date(name="d", role="other", low=Fraction(0), high=Fraction(9), grid=Fraction(1))
    moment = Datetime(name="m", role="other", low=Fraction(0), high=Fraction(9), grid=Fraction(1))
    wrong: list[tuple[Bounded, object]] = [
        (day, datetime(1970, 1, 2)),
        (day, 3),
        (day, "1970-01-02T00:00:00"),
        (moment, date(1970, 1, 1)),
        (moment, "1970-01-01"),
        (moment, "1970-01-01T00:00:01+00:00"),
        (moment, 3),
    ]
    for column, value in wrong:
        with pytest.raises(InvalidArgument):
            column.to_steps(value)


# -- Arithmetic of derived columns: what it means, and that nothing else can be said ---------------


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
