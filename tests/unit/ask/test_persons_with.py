"""How many people with: HAVING of a derived table that is grouped by the unit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pandas as pd
import pytest

import tenue as tn
from tenue.errors import InvalidQuestion

CONTACTS = pd.DataFrame(
    [
        {"person": person, "mdu": (3 * person + 7 * row) % 19, "sex": "fm"[person % 2]}
        for person in range(400)
        for row in range(1 + person % 4)
    ]
)
SCHEMA: dict[str, Any] = {
    "table": {
        "name": "contacts",
        "unit": "person",
        "neighbours": "add-or-remove",
        "rows_per_unit": 4,
    },
    "columns": {
        "person": {"type": "identifier"},
        "mdu": {"type": "number", "bounds": [0, 20], "bounds_per_unit": [0, 80]},
        "sex": {"type": "category", "categories": ["f", "m"]},
    },
    "budget": {"total": 1_000_000},
}


@pytest.fixture(scope="module")
def data() -> Iterator[Any]:
    with tn.protect(CONTACTS, schema=SCHEMA, ledger=tn.ledger.Memory()) as opened:
        yield opened


# ruff: noqa: S608 - these texts are what is tested

PEOPLE = [
    "SELECT COUNT(*) FROM (SELECT person FROM contacts GROUP BY person HAVING SUM(mdu) > 20)",
    "SELECT COUNT(*) FROM (SELECT person FROM contacts GROUP BY person)",
    "SELECT COUNT(*) FROM (SELECT person, SUM(mdu) AS s FROM contacts WHERE sex = 'f' "
    "GROUP BY person HAVING s > 20 AND COUNT(*) >= 2) AS x",
    "SELECT AVG(s) FROM (SELECT person, SUM(mdu) AS s FROM contacts GROUP BY person "
    "HAVING SUM(mdu) BETWEEN 5 AND 20 OR MAX(mdu) = 18)",
    "WITH heavy AS (SELECT person FROM contacts GROUP BY person HAVING NOT MIN(mdu) < 3) "
    "SELECT COUNT(*) FROM heavy",
    "SELECT COUNT(*) FROM (SELECT person FROM contacts GROUP BY person "
    "HAVING COUNT(*) FILTER (WHERE mdu > 10) >= 2)",
]


@pytest.mark.parametrize("sql", PEOPLE)
def test_people_are_kept_by_their_values(data: Any, sql: str) -> None:
    connection = duckdb.connect()
    try:
        connection.register("contacts", CONTACTS)
        ((truth,),) = connection.sql(sql).fetchall()
    finally:
        connection.close()
    assert data.ask(sql, epsilon=5_000).value == pytest.approx(truth, abs=0.01)
    plan = data.explain(sql, epsilon=1)
    assert data.explain(plan.sql, epsilon=1).question == plan.question


def test_having_and_where_outside_are_one_question(data: Any) -> None:
    inside = data.explain(
        "SELECT COUNT(*) AS n FROM (SELECT person, SUM(mdu) AS sum_0 FROM contacts GROUP BY person "
        "HAVING SUM(mdu) > 20)",
        epsilon=1,
    )
    outside = data.explain(
        "SELECT COUNT(*) AS n FROM (SELECT person, SUM(mdu) AS sum_0 FROM contacts "
        "GROUP BY person) WHERE sum_0 > 20",
        epsilon=1,
    )
    assert inside.question == outside.question


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("n > 20", "unknown-column"),
        ("mdu > 3", "unknown-column"),
        ("MEDIAN(mdu) > 3", "derived-value-not-number"),
        ("COUNT(*) > (SELECT 1)", "unsupported-subquery"),
        ("COUNT(*, 2) > 1", "unsupported-arguments"),
        ("SUM(mdu) > COUNT(*)", "two-columns-compared"),
    ],
)
def test_other_conditions_are_refused(data: Any, condition: str, code: str) -> None:
    sql = f"SELECT COUNT(*) FROM (SELECT person FROM contacts GROUP BY person HAVING {condition})"
    with pytest.raises(InvalidQuestion) as refused:
        data.explain(sql, epsilon=1)
    assert refused.value.code == code
