"""ROLLUP, CUBE and GROUPING SETS, expanded."""

from __future__ import annotations

import pytest

from tenue.errors import InvalidQuestion
from tenue.query.question import GroupingSets, Question
from tenue.query.read.group.sets import MOST_SETS
from tenue.query.read.parse import parse, parse_select
from tenue.schema import Schema

NAMES = "abcdefg"
SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {name: {"type": "boolean"} for name in NAMES},
    }
)


def sets(group: str, keys: str = "a, b, c") -> list[str]:
    found = parse_select(f"SELECT {keys}, COUNT(*) FROM t GROUP BY {group}", SCHEMA)  # noqa: S608
    assert isinstance(found, GroupingSets)
    names = [key.column for key in found.keys]
    return ["".join(names[place] for place in one) for one in found.sets]


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("ROLLUP (a, b, c)", "abc ab a -"),
        ("CUBE (a, b, c)", "abc ab ac bc a b c -"),
        ("a, ROLLUP (b, c)", "abc ab a"),
        ("ROLLUP (a), ROLLUP (b), c", "abc ac bc c"),
        ("ROLLUP ((a, b), c)", "abc ab -"),
        ("GROUPING SETS ((a, b), c)", "ab c"),
        ("GROUPING SETS (ROLLUP (a, b), c)", "ab a - c"),
        ("GROUPING SETS (GROUPING SETS ((a), (b)), CUBE (c), (a, b))", "a b c - ab"),
        ("c, GROUPING SETS ((a, b), (a))", "abc ac"),
    ],
)
def test_sets_are_those_of_sql(group: str, expected: str) -> None:
    assert [one or "-" for one in sets(group)] == expected.split()


@pytest.mark.parametrize(
    "group",
    ["ROLLUP (a, b, c), a", "GROUPING SETS ((a, b, c), (c, b, a))", "CUBE (a, b, c), ROLLUP (a)"],
)
def test_a_set_that_is_listed_twice_is_refused(group: str) -> None:
    with pytest.raises(InvalidQuestion, match="same keys"):
        sets(group)


def test_too_many_sets_are_refused_before_they_are_made() -> None:
    keys = ", ".join(NAMES)
    with pytest.raises(InvalidQuestion, match=f"at most {MOST_SETS}"):
        sets(f"CUBE ({keys})", keys)
    crossed = ", ".join(f"CUBE ({name})" for name in NAMES)
    with pytest.raises(InvalidQuestion, match=f"at most {MOST_SETS}"):
        sets(crossed, keys)


def test_one_set_is_an_ordinary_question() -> None:
    found = parse_select("SELECT a, COUNT(*) FROM t GROUP BY GROUPING SETS ((a))", SCHEMA)
    assert isinstance(found, Question)
    assert found == parse("SELECT a, COUNT(*) FROM t GROUP BY a", SCHEMA)


def test_where_one_table_is_asked_for_sets_are_refused() -> None:
    with pytest.raises(InvalidQuestion, match="one question for each set"):
        parse("SELECT a, COUNT(*) FROM t GROUP BY ROLLUP (a)", SCHEMA)
