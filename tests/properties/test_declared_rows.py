"""COUNT(*) of a table whose number of rows is public and declared: exact, free, unread."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn

TABLE = pd.DataFrame({"x": range(50), "g": ["a", "b"] * 25})
COUNT = "SELECT COUNT(*) FROM t"


def session(**table: Any) -> Any:
    schema = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace", "rows": 50, **table},
        "columns": {
            "x": {"type": "number", "bounds": [0, 100], "missing": 0},
            "g": {"type": "category", "categories": ["a", "b"]},
            "id": {"type": "identifier"},
        },
        "budget": {"total": 5},
    }
    return tn.protect(TABLE.assign(id="p"), schema=schema, ledger=tn.ledger.Memory())


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        (COUNT, 50),
        ("SELECT COUNT(x) FROM t", 50),
        ("SELECT COUNT(*) * 2 + 1 AS n FROM t", 101),
        ("SELECT COUNT(*) FROM t HAVING COUNT(*) > 60", []),
    ],
)
def test_it_is_answered_from_the_schema_alone(
    sql: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session() as data:
        monkeypatch.setattr(data._dataset.engine, "measure", None)  # no row is read
        answer = data.ask(sql, epsilon=1)
        assert answer.value == value
        assert answer.price == data.budget.spent == 0
        assert answer.plan.free
        assert "no row was read" in str(answer)
        assert "is public" in str(data.explain(sql, epsilon=1))
        assert answer.certificate.promise == tn.Pure(0)
        assert not [e for e in data.ledger.entries() if e.kind == "reserved"]
        if value:
            assert answer.interval(0.99) == (value, value)


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        (COUNT, {"neighbours": "add-or-remove"}),
        (COUNT, {"unit": "id", "rows_per_unit": 1}),
        ("SELECT COUNT(*) FROM t WHERE x > 1", {}),
        ("SELECT g, COUNT(*) FROM t GROUP BY g", {}),
        ("SELECT COUNT(g) FROM t", {}),
    ],
)
def test_it_is_paid_for_where_the_number_is_not_public(sql: str, table: dict[str, Any]) -> None:
    with session(**table) as data:
        answer = data.ask(sql, epsilon=1)
        assert not answer.plan.free
        assert answer.price == data.budget.spent == 1


def test_it_is_paid_for_where_the_schema_does_not_say_it() -> None:
    schema = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {"x": {"type": "number", "bounds": [0, 100], "missing": 0}},
        "budget": {"total": 5},
    }
    with tn.protect(TABLE, schema=schema, ledger=tn.ledger.Memory()) as data:
        assert data.ask(COUNT, epsilon=1).price == 1


def test_other_aggregates_get_the_whole_price() -> None:
    with session() as data:
        answer: Any = data.ask("SELECT COUNT(*) AS n, SUM(x) AS s FROM t", epsilon=1)
        assert answer.value["n"] == 50
        (part,) = answer.plan.parts
        assert part.epsilon == 1
        ratio: Any = data.ask("SELECT SUM(x) / COUNT(*) FROM t", epsilon=1)
        assert ratio.expected_error is not None  # a constant divides: still one known noise


def test_a_batch_pays_for_the_others_only() -> None:
    with session() as data:
        free = data.ask_many([COUNT, "SELECT COUNT(x) FROM t"], epsilon=1)
        assert [a.value for a in free] == [50, 50]
        assert free.price == data.budget.spent == 0
        some = data.ask_many([COUNT, "SELECT SUM(x) FROM t"], epsilon=1)
        assert some[0].value == 50
        assert some[1].plan.strategy.epsilon == 1
        assert data.budget.spent == 1
        more = data.ask_many(
            [
                COUNT,
                "SELECT SUM(x) FROM t",
                "SELECT COUNT(*) FROM t WHERE x > 3",
                "SELECT MAX(x) FROM t",
            ],
            epsilon="1.5",
        )
        assert more[3].plan.strategy.epsilon == Fraction(1, 2)
        assert data.budget.spent == Fraction(5, 2)
