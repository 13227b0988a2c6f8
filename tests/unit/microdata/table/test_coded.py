"""Values become whole numbers and come back as they were."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from tenue.microdata.table.coded import Coding, table_of
from tenue.microdata.table.original import read_original
from tenue.schema import Schema
from unit.microdata.method.stored import people, schema

SCHEMA = Schema.from_dict(schema())


def test_numbers_stand_for_the_values() -> None:
    original = read_original(people(), SCHEMA)
    coding = Coding.of(SCHEMA)
    assert coding.names == tuple(original.cells)
    numbers = coding.numbers(original.cells)
    assert numbers.min() == 0  # what is missing
    assert (numbers.max(axis=0) < coding.sizes).all()
    typed = replace(coding, types={name: held.type for name, held in original.cells.items()})
    assert table_of(typed.cells(numbers), SCHEMA).equals(table_of(original.cells, SCHEMA))
    assert coding.places(("pay", "age")) == [3, 0]


def test_what_is_declared_takes_the_place_of_what_is_missing() -> None:
    declared = Schema.from_dict(
        schema(age={"type": "number", "bounds": [0, 9], "missing": 7, "role": "other"})
    )
    coding = Coding.of(declared)
    empty = np.zeros((1, len(coding.columns)), np.int64)
    assert coding.filled(empty)[0].tolist() == [8, 0, 0, 0, 0, 0]


def test_names_of_persons_and_derived_columns_are_not_there() -> None:
    more = {"twice": {"type": "number", "expression": "note * 2", "bounds": [0, 18]}}
    declared = Schema.from_dict(schema(**more))
    assert Coding.of(declared).names == ("age", "town", "born", "pay", "ill", "note")
    hidden = Schema.from_dict(
        schema(age={"type": "number", "bounds": [0, 99], "role": "identifier"})
    )
    cells = Coding.of(hidden).cells(np.ones((2, 6), np.int64))
    assert table_of(cells, hidden).column_names == ["town", "born", "pay", "ill", "note"]
    assert isinstance(table_of(cells, hidden), pa.Table)
