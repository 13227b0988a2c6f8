"""A schema, its parts or its file; and the file, by which a ledger is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenue.errors import InvalidArgument
from tenue.schema import Schema
from tenue.schema.given import given_schema

PARTS = {
    "table": {"name": "t", "unit": "record", "neighbours": "replace"},
    "columns": {"age": {"type": "number", "bounds": [0, 120]}},
}


def test_only_a_file_is_a_file(tmp_path: Path) -> None:
    schema = Schema.from_dict(PARTS)
    schema.save(tmp_path / "t.toml")
    assert given_schema(schema) == (schema, None)
    assert given_schema(PARTS) == (schema, None)
    for given in (tmp_path / "t.toml", str(tmp_path / "t.toml")):
        found, file = given_schema(given)
        assert found.digest == schema.digest
        assert file == tmp_path / "t.toml"


@pytest.mark.parametrize("given", [3, None, ["t.toml"], b"t.toml"])
def test_anything_else_is_refused(given: object) -> None:
    with pytest.raises(InvalidArgument, match=f"`schema` is of type {type(given).__name__}"):
        given_schema(given)
