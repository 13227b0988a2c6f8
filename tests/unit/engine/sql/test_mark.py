"""Where a stored value is a mark there is none: for questions, for releases, for every storage."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import tenue as tn
from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.open import open_engine
from tenue.engine.request import Measure, Request
from tenue.engine.sql.mark import unmarked
from tenue.engine.storage import Integer, Text
from tenue.schema import Schema

TABLE = {"name": "t", "unit": "record", "neighbours": "replace"}
NUMBER = {"type": "number", "bounds": [-10, 1000]}


def schema(stated: dict[str, Any], **table: Any) -> Schema:
    return Schema.from_dict({"table": {**TABLE, **table}, "columns": {"x": stated}})


def read(values: Any, stated: dict[str, Any], **table: Any) -> list[Any]:
    """What a release would read, and the same number of values for a question."""
    engine = open_engine(pa.table({"x": values}), schema(stated, **table))
    try:
        rows = engine.read_all()
        assert rows.unreadable == {"x": 0}
        ((present,),) = engine.measure(Request((Measure("present", "x"),))).values()
        found: list[Any] = rows.logical.column("x").to_pylist()
        filled = "missing" in stated and not isinstance(stated["missing"], list)
        assert present == (len(found) if filled else len(found) - found.count(None))
        return found
    finally:
        engine.close()


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (pa.array([-9, 5, 999], pa.int16()), [None, 5, None]),
        (pa.array([5, 9], pa.uint8()), [5, 9]),
        (pa.array([-9.0, 5, 999.0]), [None, 5, None]),
        (pa.array([-9, 5], pa.float32()), [None, 5]),
        (pa.array([Decimal("-9.00"), Decimal("5.00")], pa.decimal128(9, 2)), [None, 5]),
        (pa.array(["-9", " -9.0 ", "5", "999"]), [None, None, 5, None]),
    ],
)
def test_numbers_that_mark_are_missing_in_every_storage(values: Any, found: list[Any]) -> None:
    assert read(values, {**NUMBER, "missing": [-9, 999]}) == found


def test_a_mark_is_stored_as_its_source_stores_numbers() -> None:
    stated = {"type": "number", "bounds": [0, 1], "grid": Decimal("0.1"), "missing": [0.1]}
    assert read(pa.array([0.1, 0.2], pa.float32()), stated) == [None, 2]


def test_texts_are_compared_without_the_spaces_around_them_and_exactly() -> None:
    stated = {"type": "category", "categories": ["a", "na"], "missing": ["?", "NA"]}
    values = pa.array(["a", " ? ", "NA", "na"])
    assert read(values, stated) == [0, None, None, 1]
    assert read(values.dictionary_encode(), stated) == [0, None, None, 1]
    codes = {"type": "category", "categories": ["1", "2"], "missing": ["9"]}
    assert read(pa.array([1, 9, 2]), codes) == [0, None, 1]


def test_marks_of_the_table_hold_for_each_column_that_has_no_list() -> None:
    assert read(pa.array(["?", "5"]), NUMBER, missing=["?"]) == [None, 5]
    day = {"type": "date", "bounds": ["2020-01-01", "2020-12-31"]}
    assert read(pa.array(["?", "2020-01-03"]), day, missing=["?"]) == [None, 2]
    assert read(pa.array(["?", "yes"]), {"type": "boolean"}, missing=["?", -9]) == [None, 1]


def test_a_column_has_marks_and_a_value_for_what_is_missing() -> None:
    engine = open_engine(
        pa.table({"x": ["?", "5", None]}), schema({**NUMBER, "missing": 7}, missing=["?"])
    )
    ((total, present),) = engine.measure(
        Request((Measure("total", "x"), Measure("present", "x")))
    ).values()
    assert (total, present) == (19, 3)
    engine.close()


def test_enumerations_and_collated_texts_of_a_database_are_read_alike() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TYPE e AS ENUM ('5', 'x', '7')")
        connection.execute("CREATE TABLE t (x e, c VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES ('5', 'a'), ('x', 'A'), ('7', 'na'), (NULL, 'NA')")
        words = {"type": "category", "categories": ["a", "na"], "missing": ["NA"]}
        columns = {"x": {**NUMBER, "missing": [7]}, "c": words}
        engine = open_engine(connection, Schema.from_dict({"table": TABLE, "columns": columns}))
        rows = engine.read_all()
        assert rows.logical.column("x").to_pylist() == [5, None, None, None]
        assert rows.logical.column("c").to_pylist() == [0, None, 1, None]
        assert rows.unreadable == {"x": 1, "c": 1}


def test_an_identifier_that_is_a_mark_names_nobody() -> None:
    described = Schema.from_dict(
        {
            "table": {**TABLE, "unit": "id", "rows_per_unit": 1, "missing": ["NA"]},
            "columns": {"id": {"type": "identifier"}, "x": NUMBER},
        }
    )
    engine = open_engine(pa.table({"id": ["NA", "NA", "b"], "x": [1, 2, 3]}), described)
    people = tn.engine.request.People("id", 1, None)
    ((units,),) = engine.measure(Request((Measure("units"),), people=people)).values()
    assert units == 1
    engine.close()


def test_a_column_without_marks_is_read_as_it_is() -> None:
    assert unmarked(schema(NUMBER).column("x"), Text(), "x", DUCKDB) == "x"
    other = schema({**NUMBER, "missing": ["?", Fraction(1, 2)]}).column("x")
    assert unmarked(other, Integer("INTEGER", -(2**31), 2**31 - 1), "x", DUCKDB) == "x"
