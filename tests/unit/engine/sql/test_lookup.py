"""The rows of one person, found by an exact name, whatever the source stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tenue.engine.open import open_engine
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "id", "neighbours": "replace", "rows_per_unit": 2},
        "columns": {
            "id": {"type": "identifier"},
            "age": {"type": "number", "bounds": [0, 100]},
            "kind": {"type": "category", "categories": ["a", "b"]},
        },
    }
)
AGES = {"age": [10, 20, 30, 31, 32, None], "kind": ["a", "b", "a", "a", "b", "zzz"]}


def found(ids: list[Any], name: str, column: str = "age") -> list[int | None]:
    engine = open_engine(pd.DataFrame({"id": ids, **AGES}), SCHEMA)
    try:
        return engine.look_up("id", name, column)
    finally:
        engine.close()


NUMBERS = [1, 2, 3, 3, 3, 4]
TEXTS = ["1", "Ann", "017", "017", "017", "it's"]


@pytest.mark.parametrize(
    ("name", "ages"),
    [("1", [10]), ("2", [20]), ("4", [None]), ("01", []), ("1.0", []), ("x", []), ("", [])],
)
def test_numbers_are_found_by_their_shortest_decimal(name: str, ages: list[int | None]) -> None:
    assert found(NUMBERS, name) == ages
    assert found([float(n) for n in NUMBERS], name) == ages


def test_two_rows_are_as_good_as_many() -> None:
    assert len(found(NUMBERS, "3")) == 2


@pytest.mark.parametrize(
    ("name", "ages"),
    [("1", [10]), ("Ann", [20]), ("ann", []), ("Ann ", []), ("17", []), ("it's", [None])],
)
def test_texts_are_found_byte_by_byte(name: str, ages: list[int | None]) -> None:
    assert found(TEXTS, name) == ages


def test_categories_are_numbers_and_undeclared_ones_are_missing() -> None:
    assert found(NUMBERS, "1", "kind") == [0]
    assert found(NUMBERS, "4", "kind") == [None]


def test_files_of_text_are_searched_as_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,age,kind\n1,10,a\n01,20,b\n")
    engine = open_engine(path, SCHEMA)
    assert engine.look_up("id", "1", "age") == [10]
    assert engine.look_up("id", "01", "age") == [20]
    engine.close()
