"""MODE with differential privacy, through the whole journey."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.errors import InvalidQuestion
from tenue.query.family.mode import VOTE

TABLE = pd.DataFrame(
    {
        "c": ["red"] * 60 + ["blue"] * 30 + ["green"] * 9 + [None],
        "g": (["a"] * 60) + (["b"] * 40),
        "id": [f"p{i // 2}" for i in range(100)],
    }
)


def session(**table: Any) -> Any:
    schema = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace", **table},
        "columns": {
            "c": {"type": "category", "categories": ["blue", "green", "red"]},
            "g": {"type": "category", "categories": ["a", "b", "nobody"]},
            "id": {"type": "identifier"},
        },
        "budget": {"total": 1000},
    }
    return tn.protect(TABLE, schema=schema, ledger=tn.ledger.Memory())


def test_the_most_frequent_category_is_found_where_epsilon_is_large() -> None:
    with session() as data:
        answer = data.ask("SELECT MODE(c) FROM t", epsilon=20)
        assert answer.value == "red"
        assert answer.interval(0.95) is None
        assert answer.plan.chosen.mechanism == VOTE
        assert "rows behind" in str(answer)
        assert "rows behind" in str(answer.plan)
        assert "categories of c" in answer.certificate.parameters["part 1"]
        assert data.budget.spent == 20


def test_groups_filters_and_other_aggregates() -> None:
    with session(neighbours="add-or-remove") as data:
        rows = data.ask("SELECT g, MODE(c) AS m, COUNT(*) AS n FROM t GROUP BY g", epsilon=60).value
        assert [row["m"] for row in rows][:2] == ["red", "blue"]
        assert rows[2]["m"] in ("blue", "green", "red")  # nobody: any of them
        assert data.ask("SELECT MODE(c) FROM t WHERE c <> 'red'", epsilon=40).value == "blue"
        kept = data.ask(
            "SELECT g, MODE(c) AS m FROM t GROUP BY g HAVING m = 'blue' ORDER BY m", epsilon=60
        )
        assert "b" in [row["g"] for row in kept.value]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MODE(c) + 1 FROM t",
        "SELECT MODE(id) FROM t",
        "SELECT MODE(*) FROM t",
        "SELECT MODE(c) FROM t HAVING MODE(c) > 3",
        "SELECT MODE(c) FROM t HAVING MODE(c) = 'pink'",
        "SELECT MODE(c) FROM t HAVING MODE(c) > 'blue'",
    ],
)
def test_what_has_no_meaning_is_refused(sql: str) -> None:
    with session() as data:
        with pytest.raises(InvalidQuestion):
            data.ask(sql, epsilon=1)
        assert data.budget.spent == 0


@pytest.mark.parametrize(
    ("table", "per_row"),
    [
        ({"neighbours": "add-or-remove"}, Fraction(1)),
        ({}, Fraction(1, 2)),
        ({"neighbours": "add-or-remove", "unit": "id", "rows_per_unit": 2}, Fraction(1, 2)),
        ({"unit": "id", "rows_per_unit": 2}, Fraction(1, 4)),
    ],
)
def test_a_row_pays_its_share(table: dict[str, Any], per_row: Fraction) -> None:
    with session(**table) as data:
        answer = data.ask("SELECT MODE(c) FROM t", epsilon=1)
        (ballot,) = answer.plan.strategy.draws
        assert ballot.vote.epsilon == per_row
        assert ballot.epsilon == 1
        assert answer.value in ("blue", "green", "red")
