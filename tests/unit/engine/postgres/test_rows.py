"""What only the holder hears of the rows; every row and type is in the suite of engines."""

from __future__ import annotations

import psycopg
import pytest

from postgres_server import Server
from tenue.engine.open import open_engine
from tenue.schema import Schema

pytestmark = pytest.mark.needs("postgres")
SCHEMA = Schema.from_dict(
    {
        "table": {"name": "rows", "unit": "record", "neighbours": "replace"},
        "columns": {
            "x": {"type": "number", "bounds": [0, 10]},
            "w": {"type": "number", "bounds": [0, 10], "missing": 3},
            "d": {"type": "date", "bounds": ["2000-01-01", "2000-12-31"]},
            "c": {"type": "category", "categories": ["a", "b"]},
        },
    }
)


def test_the_holder_hears_what_cannot_be_read_and_what_is_cut(postgres_server: Server) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute("CREATE TABLE public.rows (x float8, w text, d date, c text)")
        connection.execute(
            "INSERT INTO public.rows VALUES (1.5, '7', '2000-05-05', 'a'),"
            " ('NaN', 'seven', 'infinity', 'z'), ('-Infinity', NULL, '1999-01-01', NULL),"
            " (11, '12', NULL, 'b')"
        )
    engine = open_engine(f"{postgres_server.address()}#public.rows", SCHEMA)
    found = engine.validate()
    assert (found.rows, found.unreadable, found.rounded) == (4, {"w": 1, "c": 1}, {"x": 1})
    rows = engine.read_all()
    assert rows.unreadable == {"x": 0, "w": 1, "d": 0, "c": 1}
    assert rows.infinite == {"x": 1, "w": 0, "d": 1, "c": 0}
    assert rows.beyond == {"x": 2, "w": 1, "d": 2, "c": 0}
    assert rows.first == {"x": 3, "w": 2, "d": 2, "c": 2}
    assert rows.logical.column("w").to_pylist() == [7, None, None, 10], "nothing is filled in"
    assert [str(rows.types[name]) for name in "xwdc"] == ["double", "None", "date32[day]", "string"]
    engine.close()
