"""Different values: what one unit moves, and what is drawn."""

from __future__ import annotations

import pandas as pd
import pytest

import tenue as tn
from tenue.promise.loss import EpsilonDelta
from tenue.query.family.distinct import DISTINCT, MOST_VALUES
from tenue.query.plan.make import make_plan
from tenue.query.read.parse import parse
from tenue.schema import Schema
from unit.query.asked import CENSUS, refused


def schema(neighbours: str) -> Schema:
    return CENSUS.replace(table={"neighbours": neighbours})


@pytest.mark.parametrize(
    ("neighbours", "sql", "moved"),
    [
        ("add-or-remove", "SELECT COUNT(DISTINCT age) FROM census", 3),
        ("replace", "SELECT COUNT(DISTINCT age) FROM census", 3),
        ("add-or-remove", "SELECT sex, COUNT(DISTINCT age) FROM census GROUP BY sex", 3),
        ("replace", "SELECT sex, COUNT(DISTINCT age) FROM census GROUP BY sex", 6),
    ],
)
def test_a_person_moves_all_counts_by_its_rows(neighbours: str, sql: str, moved: int) -> None:
    given = schema(neighbours)
    plan = make_plan(parse(sql, given), given, EpsilonDelta(10**9))
    (draw,) = plan.strategy.draws
    assert draw.law.sensitivity == moved  # type: ignore[attr-defined]
    assert draw.required == "age"
    assert "different values of age" in draw.line


def test_different_values_are_counted_in_each_group() -> None:
    given = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {
                "x": {"type": "number", "bounds": [0, 10], "grid": 2},
                "c": {"type": "category", "categories": ["a", "b", "z"]},
                "b": {"type": "boolean"},
            },
            "budget": {"total": 100_000},
        }
    )
    rows = pd.DataFrame(
        {
            "x": [0, 1, 5, 99, None],
            "c": ["a", "a", "a", "b", "b"],
            "b": [True, True, None, None, None],
        }
    )
    with tn.protect(rows, schema=given, ledger=tn.ledger.Memory()) as data:
        found = data.ask(
            "SELECT c, COUNT(DISTINCT x) AS n, COUNT(DISTINCT b) AS m FROM t GROUP BY c",
            epsilon=5000,
        )
        # 1 becomes 2, and 99 becomes the bound
        assert found.value == [
            {"c": "a", "n": 3, "m": 1},
            {"c": "b", "n": 1, "m": 0},
            {"c": "z", "n": 0, "m": 0},
        ]


def test_columns_with_too_many_values_are_refused() -> None:
    assert DISTINCT.kinds == {"distinct"}
    assert MOST_VALUES == 10**6
    refusal = refused("SELECT COUNT(DISTINCT income * 10 + age) FROM census", "distinct")
    assert "FLOOR" in refusal.fix
