"""What is written is read again: a share of the domain for every text, and a refusal for others."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from typing import Any

import pytest

from tenue.errors import InvalidTable
from tenue.evaluate.group.recoded import Domain, anything, interval, one_of
from tenue.schema import Schema

TREE = {"any": {"water": ["sail", "surf"], "snow": ["ski", "sled"]}}
ODD = ["a, b", "{c}", 'say "d"', " e", "f … g", "h"]


def domain(**declared: Any) -> Domain:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    schema = Schema.from_dict({"table": table, "columns": {"x": declared}})
    return Domain(schema.columns["x"])


NUMBER = domain(type="number", bounds=[-10, 30], grid=0.5)


def test_ends_are_exact() -> None:
    assert interval(Fraction(-1, 2), Fraction(3)) == "[-0.5, 3]"
    assert interval(date(2020, 1, 2), date(2020, 3, 4)) == "[2020-01-02, 2020-03-04]"
    assert interval(datetime(2020, 1, 2, 3), datetime(2020, 1, 2, 4)).startswith("[2020-01-02T03")


@pytest.mark.parametrize(
    ("text", "share"),
    [("[-10, 30]", 1), ("[0, 10]", Fraction(1, 4)), ("[-0.5, -0.5]", 0), ("7", 0), ("*", 1)],
)
def test_an_interval_is_its_width_over_the_bounds(text: str, share: Fraction) -> None:
    assert NUMBER.penalty(text) == share


def test_dates_and_datetimes() -> None:
    days = domain(type="date", bounds=["2020-01-01", "2020-01-11"])
    assert days.penalty("[2020-01-01, 2020-01-06]") == Fraction(1, 2)
    hours = domain(type="datetime", bounds=["2020-01-01T00:00:00", "2020-01-01T10:00:00"], grid=60)
    assert hours.penalty("[2020-01-01T01:00:00, 2020-01-01T02:00:00]") == Fraction(1, 10)


def test_a_concept_is_the_share_of_categories_that_it_covers() -> None:
    sport = domain(type="category", taxonomy=TREE)
    assert [sport.penalty(name) for name in ("ski", "snow", "any")] == [0, Fraction(1, 2), 1]


def test_a_set_is_the_share_of_its_members_whatever_their_names() -> None:
    odd = domain(type="category", categories=ODD)
    for first in range(6):
        for last in range(first + 1, 6):
            part = ODD[first : last + 1]
            assert odd.penalty(one_of(part)) == Fraction(len(part), 6)
    assert all(odd.penalty(one_of([name])) == 0 for name in ODD)


def test_a_long_set_is_written_by_its_ends() -> None:
    many = [f"town {i}, …" for i in range(20)]
    text = one_of(many[3:17])
    assert "town 9" not in text
    assert domain(type="category", categories=many).penalty(text) == Fraction(14, 20)


def test_a_category_that_is_a_star_is_not_anything() -> None:
    stars = domain(type="category", categories=["*", "a", "b"])
    assert anything(["*", "a", "b"]) == "**"
    assert [stars.penalty(text) for text in ("*", "**")] == [0, 1]


def test_booleans() -> None:
    yes = domain(type="boolean")
    assert [yes.penalty(text) for text in ("true", "false", "*")] == [0, 0, 1]


@pytest.mark.parametrize("text", ["[0, 10", "[0, 99]", "ten", "{1, 2}", "[0.3, 1]", ""])
def test_what_is_neither_is_refused(text: str) -> None:
    with pytest.raises(InvalidTable, match="neither a number as declared nor a recoded one"):
        NUMBER.penalty(text)
    with pytest.raises(InvalidTable):
        domain(type="category", taxonomy=TREE).penalty(text)
    with pytest.raises(InvalidTable):
        domain(type="category", categories=["a", "b"]).penalty(text)
