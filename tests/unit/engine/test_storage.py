"""A column is readable, or not, by its storage type alone."""

from __future__ import annotations

import duckdb
import pytest

from tenue.engine.duckdb.dialect import storage
from tenue.engine.storage import (
    Nothing,
    Opaque,
    Text,
    Written,
    read_as,
)
from tenue.errors import InvalidTable
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "id", "neighbours": "replace", "rows_per_unit": 1},
        "columns": {
            "id": {"type": "identifier"},
            "n": {"type": "number", "bounds": [0, 1]},
            "c": {"type": "category", "categories": ["a"]},
            "b": {"type": "boolean"},
            "d": {"type": "date", "bounds": ["2000-01-01", "2000-01-02"]},
            "s": {"type": "datetime", "bounds": ["2000-01-01T00:00:00", "2000-01-01T00:00:01"]},
        },
    }
)
TYPES = {
    "TINYINT": "ncb",
    "UBIGINT": "ncb",
    "HUGEINT": "ncb",
    "UHUGEINT": "ncb",
    "DECIMAL(18, 3)": "nb",
    "FLOAT": "nb",
    "DOUBLE": "nb",
    "BOOLEAN": "ncb",
    "VARCHAR": "ncbds",
    "ENUM('x', 'y')": "ncbds",
    "UUID": "cb",
    "DATE": "ds",
    "TIMESTAMP": "ds",
    "TIMESTAMP_S": "ds",
    "TIMESTAMP_MS": "ds",
    "TIMESTAMP_NS": "ds",
    "TIMESTAMPTZ": "ds",
    "TIME": "",
    "BLOB": "",
    "INTEGER[]": "",
    "STRUCT(a INTEGER)": "",
    "INTERVAL": "",
}


@pytest.mark.parametrize("kind", TYPES)
def test_each_type_of_duckdb_is_read_where_it_fits_and_refused_elsewhere(kind: str) -> None:
    with duckdb.connect() as connection:
        rows = connection.execute(f"DESCRIBE SELECT CAST(NULL AS {kind}) AS x").fetchall()
    stored = storage(rows[0][1])
    read_as(SCHEMA.column("id"), stored)
    for name in "ncbds":
        column = SCHEMA.column(name)
        if name in TYPES[kind]:
            read_as(column, stored)
        else:
            with pytest.raises(
                InvalidTable, match=f"`{name}` is a {column.type} column"
            ) as refused:
                read_as(column, stored)
            assert refused.value.column == name


def test_a_column_of_nothing_and_written_values_fit_every_column() -> None:
    for name in "ncbds":
        read_as(SCHEMA.column(name), Nothing())
        read_as(SCHEMA.column(name), Written())


def test_text_is_read_like_a_written_field_where_something_else_is_declared() -> None:
    for name in "nds":
        assert read_as(SCHEMA.column(name), Text()) == Written()
        assert read_as(SCHEMA.column(name), Text("ENUM")) == Written()
    for name in ("id", "c", "b"):
        assert read_as(SCHEMA.column(name), Text()) == Text()


def test_a_number_stored_as_a_list_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(InvalidTable) as refused:
        read_as(SCHEMA.column("n"), Opaque())
    assert "the source stores something" in refused.value.what
    assert "whole numbers" in refused.value.allowed
    assert "view" in refused.value.fix
