"""Numbers, dates and datetimes: bounds, grid, missing value, expression."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

import pytest

from tenue.schema import Bounded, Column, Date, Datetime, Number, Schema
from unit.schema.wrong import mistakes, places, with_column


def read(body: str) -> Column:
    return Schema.parse(with_column(body)).column("x")


def bounded(body: str) -> Bounded:
    column = read(body)
    assert isinstance(column, Bounded)
    return column


def test_decimals_are_exact() -> None:
    column = bounded('type = "number"\nbounds = [-0.3, 0.7]\ngrid = 0.1')
    assert (column.low, column.high, column.grid) == (
        Fraction(-3, 10),
        Fraction(7, 10),
        Fraction(1, 10),
    )
    assert column.steps == 10
    assert [column.to_steps(value) for value in (-0.3, "0.1", Fraction(7, 10))] == [0, 4, 10]


def test_binary_floats_would_not_be_on_the_grid() -> None:
    assert (Fraction(0.3) / Fraction(0.1)).denominator != 1  # what a wrong build would divide
    assert bounded('type = "number"\nbounds = [0, 0.3]\ngrid = 0.1').steps == 3


@pytest.mark.parametrize("grid", ["0.125", "1E-3", "4", "0.00000095367431640625", "1e2"])
def test_grids_are_decimals_or_powers_of_two(grid: str) -> None:
    assert bounded(f'type = "number"\nbounds = [0, 1000]\ngrid = {grid}').grid == Fraction(grid)


def test_whole_bounds_need_no_grid() -> None:
    assert bounded('type = "number"\nbounds = [0, 5]').grid == 1
    assert bounded('type = "number"\nbounds = [0.0, 5.0]').grid == 1
    assert places(with_column('type = "number"\nbounds = [0, 0.5]')) == [(6, "columns.x.grid")]


NUMBERS = [
    ("bounds = 5", 8, "columns.x.bounds"),
    ("bounds = [1]", 8, "columns.x.bounds"),
    ("bounds = [1, 2, 3]", 8, "columns.x.bounds"),
    ("bounds = [5, 1]", 8, "columns.x.bounds"),
    ("bounds = [5, 5]", 8, "columns.x.bounds"),
    ('bounds = ["0", 5]', 8, "columns.x.bounds[0]"),
    ("bounds = [0,\ntrue]", 9, "columns.x.bounds[1]"),
    ("bounds = [0, inf]", 8, "columns.x.bounds[1]"),
    ("bounds = [nan, 1]", 8, "columns.x.bounds[0]"),
    ("bounds = [0, 1e99999999999999999999]", 8, "columns.x.bounds[1]"),
    ("bounds = [0, 1e300]", 8, "columns.x.bounds[1]"),
    ("bounds = [0, 1e-300]", 8, "columns.x.bounds[1]"),
    ("bounds = [0, 0x1" + "0" * 9999 + "]", 8, "columns.x.bounds[1]"),
    ("bounds = [0, 2020-01-01]", 8, "columns.x.bounds[1]"),
    ("bounds = [0, 9223372036854775807]", 8, "columns.x.bounds"),
    ("bounds = [-9223372036854775807, 0]", 8, "columns.x.bounds"),
    ("bounds = [0, 10]\ngrid = 3", 8, "columns.x.bounds"),
    ("bounds = [1, 10]\ngrid = 2", 8, "columns.x.bounds"),  # the low one is off the grid too
    ("bounds = [1, 11]\ngrid = 2", 8, "columns.x.bounds"),  # and steps of 2 from low would fit
    ("bounds = [0, 10]\ngrid = 0", 9, "columns.x.grid"),
    ("bounds = [0, 10]\ngrid = -1", 9, "columns.x.grid"),
    ('bounds = [0, 10]\ngrid = "1"', 9, "columns.x.grid"),
    ("bounds = [0, 10]\ngrid = [1]", 9, "columns.x.grid"),
    ("bounds = [0, 10]\nmissing = 11", 9, "columns.x.missing"),
    ("bounds = [0, 10]\nmissing = -1", 9, "columns.x.missing"),
    ("bounds = [0, 10]\nmissing = 0.5", 9, "columns.x.missing"),
    ('bounds = [0, 10]\nmissing = "5"', 9, "columns.x.missing"),
    ("bounds = [0, 10]\nmissing = true", 9, "columns.x.missing"),
    ('bounds = [0, 10]\nexpression = ""', 9, "columns.x.expression"),
    ("bounds = [0, 10]\nexpression = 5", 9, "columns.x.expression"),
    ('bounds = [0, 10]\nexpression = "a +"', 9, "columns.x.expression"),
    ('bounds = [0, 10]\nexpression = "1 + 1"', 9, "columns.x.expression"),
    ('bounds = [0, 10]\nexpression = "x"', 9, "columns.x.expression"),
    ('bounds = [0, 10]\nexpression = "unknown"', 9, "columns.x.expression"),
    ("", 6, "columns.x.bounds"),
]


@pytest.mark.parametrize(("body", "line", "where"), NUMBERS)
def test_a_number_is_refused_with_its_line(body: str, line: int, where: str) -> None:
    assert places(with_column('type = "number"\n' + body)) == [(line, where)]


def test_a_refusal_says_how_to_fix_it() -> None:
    turned = mistakes(with_column('type = "number"\nbounds = [5, 1.5]\ngrid = 0.5'))[0]
    assert turned.what == "`bounds` is [5, 1.5]."
    assert turned.fix == "Write bounds = [1.5, 5]."
    off = mistakes(with_column('type = "number"\nbounds = [0, 10]\ngrid = 3'))[0]
    assert off.fix == "Use 9 or 12, or a finer grid."


def test_the_widest_bounds() -> None:
    assert bounded(f'type = "number"\nbounds = [{-(2**62)}, {2**62}]').steps == 2**63


def test_missing_has_the_type_of_the_column() -> None:
    assert read('type = "number"\nbounds = [0, 1]\ngrid = 0.1\nmissing = 0.3').missing == Fraction(
        3, 10
    )
    missing = read('type = "number"\nbounds = [0, 9]\nmissing = 3.0').missing
    assert missing == 3
    assert isinstance(missing, int)


def test_an_expression_uses_other_numbers_in_any_case() -> None:
    text = with_column('type = "number"\nbounds = [0, 10]\nexpression = "PRICE * quantity"')
    text += '[columns.price]\ntype = "number"\nbounds = [0, 2]\n'
    text += '[columns.Quantity]\ntype = "number"\nbounds = [0, 5]\n'
    column = Schema.parse(text).column("x")
    assert isinstance(column, Number)
    assert column.expression is not None
    assert column.expression.names == ("PRICE", "quantity")


def test_an_expression_cannot_use_derived_or_other_columns() -> None:
    text = with_column('type = "number"\nbounds = [0, 10]\nexpression = "y + z + w"')
    text += '[columns.y]\ntype = "number"\nbounds = [0, 2]\nexpression = "x"\n'
    text += '[columns.z]\ntype = "boolean"\n'
    text += '[columns.w]\ntype = "number"\nbounds = [0, 2]\n'
    assert places(text) == [
        (9, "columns.x.expression"),
        (9, "columns.x.expression"),
        (13, "columns.y.expression"),
    ]


def test_dates_count_days() -> None:
    column = bounded('type = "date"\nbounds = [1969-12-25, "1970-01-08"]\ngrid = 7')
    assert isinstance(column, Date)
    assert (column.low, column.high, column.grid, column.steps) == (-7, 7, 7, 2)
    assert column.bounds == (date(1969, 12, 25), date(1970, 1, 8))
    assert bounded('type = "date"\nbounds = [2020-01-01, 2020-01-02]').grid == 1
    assert read(
        'type = "date"\nbounds = [2020-01-01, 2020-01-09]\nmissing = "2020-01-02"'
    ).missing == date(2020, 1, 2)


@pytest.mark.parametrize(
    ("body", "line", "where"),
    [
        ("bounds = [2020-01-02, 2020-01-01]", 8, "columns.x.bounds"),
        ("bounds = [2020-01-01, 5]", 8, "columns.x.bounds[1]"),
        ('bounds = ["yesterday", 2020-01-01]', 8, "columns.x.bounds[0]"),
        ("bounds = [2020-01-01, 2020-01-02T00:00:00]", 8, "columns.x.bounds[1]"),
        ("bounds = [2020-01-01, 2020-01-09]\ngrid = 7", 8, "columns.x.bounds"),
        ("bounds = [2020-01-01, 2020-01-09]\ngrid = 700", 8, "columns.x.bounds"),
        ("bounds = [2020-01-01, 2020-01-09]\ngrid = 0.5", 9, "columns.x.grid"),
        ("bounds = [2020-01-01, 2020-01-09]\ngrid = 0", 9, "columns.x.grid"),
        ("bounds = [2020-01-01, 2020-01-09]\nmissing = 2021-01-01", 9, "columns.x.missing"),
        ("bounds = [2020-01-01, 2020-01-09]\nmissing = 3", 9, "columns.x.missing"),
        ("bounds = [2020-01-01, 2020-01-09]\nexpression = 'a'", 9, "columns.x.expression"),
        ("", 6, "columns.x.bounds"),
    ],
)
def test_a_date_is_refused_with_its_line(body: str, line: int, where: str) -> None:
    assert places(with_column('type = "date"\n' + body)) == [(line, where)]


PERSONS = """[table]
name = "t"
unit = "who"
neighbours = "replace"
rows_per_unit = 3

[columns.who]
type = "identifier"

[columns.x]
type = "number"
bounds = [0, 10]
grid = 0.5
bounds_per_unit = {ends}
"""


def test_the_sum_of_one_person_has_ends_of_its_own() -> None:
    column = Schema.parse(PERSONS.format(ends="[-2.5, 40]")).column("x")
    assert isinstance(column, Number)
    assert column.bounds_per_unit == (Fraction(-5, 2), 40)
    assert "a person's sum -2.5 to 40" in str(Schema.parse(PERSONS.format(ends="[-2.5, 40]")))


@pytest.mark.parametrize("ends", ["[5, 5]", "[5, 1]", "[0.25, 5]", "40", "[0, 1e30]", '[0, "x"]'])
def test_ends_of_a_sum_that_are_none_are_refused(ends: str) -> None:
    (found,) = places(PERSONS.format(ends=ends))
    assert found[0] == 14
    assert found[1].startswith("columns.x.bounds_per_unit")


def test_a_record_has_no_sum_of_its_own() -> None:
    text = with_column('type = "number"\nbounds = [0, 10]\nbounds_per_unit = [0, 5]')
    (mistake,) = mistakes(text)
    assert "every record is a unit" in mistake.what


def test_a_date_off_the_grid_is_told_the_last_that_fits() -> None:
    text = with_column('type = "date"\nbounds = [2020-01-01, 2020-01-09]\ngrid = 7')
    assert mistakes(text)[0].fix == "End at 2020-01-08, or choose a finer grid."


def test_datetimes_count_seconds() -> None:
    text = 'type = "datetime"\nbounds = [1970-01-01 00:00:01, "1970-01-01T00:00:02.5"]\ngrid = 0.5'
    column = bounded(text)
    assert isinstance(column, Datetime)
    assert (column.low, column.high, column.steps) == (1, Fraction(5, 2), 3)
    assert column.from_steps(1) == datetime(1970, 1, 1, 0, 0, 1, 500000)


@pytest.mark.parametrize(
    ("body", "line", "where"),
    [
        ("bounds = [2020-01-01T00:00:00, 2020-01-01T00:00:00]", 8, "columns.x.bounds"),
        ("bounds = [2020-01-01, 2020-01-02T00:00:00]", 8, "columns.x.bounds[0]"),
        ('bounds = ["2020-01-01", 2020-01-02T00:00:00]', 8, "columns.x.bounds[0]"),
        ("bounds = [2020-01-01T00:00:00Z, 2020-01-02T00:00:00]", 8, "columns.x.bounds[0]"),
        ('bounds = [2020-01-01T00:00:00, "2020-01-02T00:00:00+02:00"]', 8, "columns.x.bounds[1]"),
        ("bounds = [00:00:00, 2020-01-02T00:00:00]", 8, "columns.x.bounds[0]"),
        ("bounds = [2020-01-01T00:00:00, 2020-01-01T00:00:09]\ngrid = 2", 8, "columns.x.bounds"),
        ("bounds = [2020-01-01T00:00:00, 2020-01-01T00:00:09]\ngrid = 1e-7", 9, "columns.x.grid"),
        ("bounds = [2020-01-01T00:00:00, 2020-01-01T00:00:09]\ngrid = 0", 9, "columns.x.grid"),
    ],
)
def test_a_datetime_is_refused_with_its_line(body: str, line: int, where: str) -> None:
    assert places(with_column('type = "datetime"\n' + body)) == [(line, where)]


def test_an_offset_is_refused_clearly() -> None:
    text = with_column('type = "datetime"\nbounds = [2020-01-01T00:00:00Z, 2020-01-02T00:00:00]')
    mistake = mistakes(text)[0]
    assert mistake.what == "2020-01-01T00:00:00+00:00 has an offset."
    assert "without offset" in mistake.allowed
