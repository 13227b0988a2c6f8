"""A source is found from the schema's folder, and opened or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.open import open_engine
from tenue.engine.request import Measure, Request
from tenue.errors import InvalidArgument, InvalidTable
from tenue.schema import Schema

STATED = {
    "table": {"name": "t", "unit": "record", "neighbours": "replace", "source": "t.csv"},
    "columns": {"x": {"type": "number", "bounds": [0, 10]}},
}


def test_a_relative_path_starts_at_the_folder(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n4\n")
    schema = Schema.from_dict(STATED, folder=tmp_path)
    for source, folder in ((schema.location, None), ("t.csv", tmp_path)):
        engine = open_engine(source, schema, folder)
        assert isinstance(engine, DuckDB)
        assert engine.measure(Request((Measure("total", "x"),))) == {(): (4,)}
        engine.close()


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    schema = Schema.from_dict(STATED, folder=tmp_path)
    with pytest.raises(InvalidArgument, match="`t` has no source"):
        open_engine(None, schema)
    with pytest.raises(InvalidTable, match="no folder of such files"):
        open_engine("spark://local", schema)
    with pytest.raises(InvalidTable, match="does not exist"):
        open_engine(schema.location, schema)
