"""Constants are exact, and of the type of the column they stand beside."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

import pytest
import sqlglot

from tenue.errors import InvalidQuestion
from tenue.query.read.constant import Constant, instant, limited, number, read_constant
from tenue.query.read.tree import Tree
from tenue.schema import Bounded
from unit.query.asked import CENSUS, refused_where


def constant(text: str) -> Constant | None:
    root = sqlglot.parse_one(text, read="duckdb")
    return read_constant(Tree(root), root)


def column(name: str) -> Bounded:
    found = CENSUS.column(name)
    assert isinstance(found, Bounded)
    return found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", Fraction(3)),
        ("-0.1", Fraction(-1, 10)),
        ("- - 2", Fraction(2)),
        ("((1e3))", Fraction(1000)),
        ("'it''s'", "it's"),
        ("TRUE", True),
        ("DATE '2020-02-29'", date(2020, 2, 29)),
        ("TIMESTAMP '2020-02-29 12:30'", datetime(2020, 2, 29, 12, 30)),
        ("age", None),
        ("age + 1", None),
        ("-age", None),
        ("-'x'", None),
        ("-TRUE", None),
        ("(1, 2)", None),
    ],
)
def test_constants_are_read_and_nothing_else(text: str, value: object) -> None:
    found = constant(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "NULL",
        "DATE '2021-02-29'",
        "DATE 'now'",
        "TIMESTAMP '2020-01-01 00:00:00Z'",
        "CAST('3' AS INT)",
        "CAST(7 AS DATE)",
    ],
)
def test_what_is_almost_a_constant_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuestion):
        constant(text)


def test_a_number_has_300_digits_at_most() -> None:
    assert number("9" * 300) == 10**300 - 1
    assert number("1e-299") == Fraction(1, 10**299)
    for text in ("1" + "0" * 300, "1e300", "1e-300", "1e400", "1e999999999", "9" * 5000):
        with pytest.raises(InvalidQuestion):
            number(text)
    with pytest.raises(InvalidQuestion):
        limited(Fraction(1, 10**300))


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("age", Fraction(1, 3), Fraction(1, 3)),
        ("date", "1970-01-03", Fraction(2)),
        ("date", date(1969, 12, 31), Fraction(-1)),
        ("seen", "1970-01-02", Fraction(86400)),
        ("seen", date(1970, 1, 2), Fraction(86400)),
        ("seen", "1970-01-01T00:00:00.5", Fraction(1, 2)),
        ("seen", datetime(1970, 1, 1, 0, 1), Fraction(60)),
    ],
)
def test_a_constant_has_a_place_on_the_scale_of_its_column(
    name: str, value: Constant, place: Fraction
) -> None:
    assert instant(column(name), value) == place


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("age", "3"),
        ("age", True),
        ("age", date(2020, 1, 1)),
        ("date", Fraction(3)),
        ("date", datetime(2020, 1, 1)),
        ("date", "2020-01-01T00:00:00"),
        ("date", "2020-13-01"),
        ("date", False),
        ("seen", Fraction(3)),
        ("seen", "2020-01-01T00:00:00+01:00"),
        ("seen", "noon"),
    ],
)
def test_a_constant_of_another_type_has_none(name: str, value: Constant) -> None:
    with pytest.raises(InvalidQuestion):
        instant(column(name), value)


def test_the_refusal_shows_how_to_write_it() -> None:
    fixes = {
        "age = 'x'": "Write a number, such as 0.",
        "date = 'x'": "Write DATE '2020-01-15'.",
        "seen = 'x'": "Write TIMESTAMP '2020-01-01 00:00:30'.",
        "sex = 3": "Write a declared category in quotes, such as 'Female'.",
        "employed = 3": "Write TRUE or FALSE.",
    }
    for condition, fix in fixes.items():
        assert refused_where(condition, "type").fix == fix
