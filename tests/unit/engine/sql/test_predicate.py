"""Predicates fold what no column can hold, and know three truths."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from tenue.engine.duckdb.dialect import DUCKDB, storage
from tenue.engine.request import All, Among, Any_, Missing, Not, Predicate, Within
from tenue.engine.sql.logical import Held, Logical, Stored
from tenue.engine.sql.predicate import truth
from tenue.errors import InvalidArgument
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "n": {"type": "number", "bounds": [-2, 5]},
            "c": {"type": "category", "categories": ["a", "b"]},
            "f": {"type": "boolean"},
        },
    }
)
ROWS = "(VALUES (-9, 'a', true), (0, 'b', false), (5, 'x', NULL), (NULL, NULL, true)) AS t(n, c, f)"
HELD = {
    "n": Held(SCHEMA.column("n"), "n", storage("INTEGER")),
    "c": Held(SCHEMA.column("c"), "c", storage("VARCHAR"), "ENUM('a', 'b')"),
    "f": Held(SCHEMA.column("f"), "f", storage("BOOLEAN")),
}
CONNECTION = duckdb.connect()


def truths(predicate: Predicate) -> list[Any]:
    logical = Logical(Stored(ROWS, HELD, SCHEMA.columns, DUCKDB))
    sql = logical.select([truth(predicate, logical)])
    return [row[0] for row in CONNECTION.execute(sql).fetchall()]


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (Within("n", -2, 0), [True, True, False, None]),
        (Within("n", None, 10**40), [True, True, True, None]),
        (Within("n", 6, 9), [False, False, False, None]),
        (Not(Within("n", 6, 9)), [True, True, True, None]),
        (Among("c", ("b", "undeclared")), [False, True, None, None]),
        (Among("c", ()), [False, False, None, None]),
        (Among("f", (False,)), [False, True, None, False]),
        (Missing("c"), [False, False, True, True]),
        (All((Among("f", (True,)), Within("n", 0, 5))), [False, False, None, None]),
        (Any_((Among("f", (True,)), Within("n", 0, 5))), [True, True, True, True]),
        (All(()), [True] * 4),
        (Any_(()), [False] * 4),
    ],
)
def test_each_predicate_is_true_false_or_unknown(
    predicate: Predicate, expected: list[bool | None]
) -> None:
    assert truths(predicate) == expected


def test_what_a_column_has_not_is_refused() -> None:
    for predicate in (Within("c", 0, 1), Among("n", ("a",)), Missing("nobody")):
        with pytest.raises(InvalidArgument):
            truths(predicate)
