"""Questions about one person: told from the text, names in one form."""

from __future__ import annotations

from typing import Any

import pytest

from tenue.errors import InvalidQuestion
from tenue.query.belief.person import Personal, read_personal
from tenue.schema import Schema

COLUMNS: dict[str, Any] = {
    "id": {"type": "identifier"},
    "age": {"type": "number", "bounds": [0, 120]},
    "sick": {"type": "boolean"},
}


def schema(unit: str = "id") -> Schema:
    table: dict[str, Any] = {"name": "patients", "unit": unit, "neighbours": "replace"}
    if unit != "record":
        table["rows_per_unit"] = 3
    return Schema.from_dict({"table": table, "columns": COLUMNS})


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("SELECT age FROM patients WHERE id = 17", "17"),
        ("select AGE from Patients where 17 = (ID)", "17"),
        ("SELECT age FROM patients WHERE id = '17'", "17"),
        ("SELECT age FROM patients WHERE patients.id = 017", "17"),
        ("SELECT age FROM patients WHERE id = '017'", "017"),
        ("SELECT age FROM patients WHERE id = 'Ann'", "Ann"),
        ("SELECT age FROM patients WHERE id = 'ann'", "ann"),
    ],
)
def test_the_text_says_who(sql: str, name: str) -> None:
    assert read_personal(sql, schema()) == Personal("patients", ("age",), "id", name)
    assert read_personal(sql, schema("record")) == Personal("patients", ("age",), "id", name)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM patients WHERE age = 17",
        "SELECT AVG(age) FROM patients",
        "SELECT sick, COUNT(*) FROM patients GROUP BY sick",
    ],
)
def test_other_questions_are_none(sql: str) -> None:
    assert read_personal(sql, schema()) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT age FROM patients WHERE age = 17",
        "SELECT age FROM others WHERE id = 17",
        "SELECT id FROM patients WHERE id = 17",
        "SELECT age FROM patients WHERE id = 1.5",
        "SELECT age FROM patients WHERE id = TRUE",
        "SELECT age FROM patients WHERE id = id",
        "SELECT age FROM patients WHERE id = CAST('17' AS INT)",
        "SELECT age FROM patients WHERE id = 17 + 0",
        "SELECT DISTINCT age FROM patients WHERE id = 17",
        "SELECT age FROM patients TABLESAMPLE 1 WHERE id = 17",
        "SELECT weight FROM patients WHERE id = 17",
    ],
)
def test_what_only_looks_like_it_is_refused(sql: str) -> None:
    with pytest.raises(InvalidQuestion):
        read_personal(sql, schema())
