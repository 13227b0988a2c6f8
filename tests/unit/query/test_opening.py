from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tenue.errors import InvalidArgument
from tenue.ledger import Memory, SQLite
from tenue.query.opening import given_ledger, given_schema
from tenue.schema import Schema

DECLARED: dict[str, Any] = {
    "table": {"name": "t", "unit": "record", "neighbours": "replace"},
    "columns": {"x": {"type": "number", "bounds": [0, 1]}},
}


def test_a_schema_is_itself_a_mapping_or_a_file(tmp_path: Path) -> None:
    schema = Schema.from_dict(DECLARED)
    path = tmp_path / "t.toml"
    schema.save(path)
    assert given_schema(schema) == (schema, None)
    assert given_schema(DECLARED)[0].digest == schema.digest
    loaded, where = given_schema(str(path))
    assert (loaded.digest, where) == (schema.digest, path)
    with pytest.raises(InvalidArgument):
        given_schema(17)


def test_a_ledger_is_itself_a_path_or_beside_the_schema(tmp_path: Path) -> None:
    memory = Memory()
    assert given_ledger(memory, None) is memory
    with given_ledger(None, tmp_path / "census.toml") as beside:
        assert isinstance(beside, SQLite)
    assert (tmp_path / "census.ledger").exists()
    for wrong in (None, 17):
        with pytest.raises(InvalidArgument):
            given_ledger(wrong, None)
