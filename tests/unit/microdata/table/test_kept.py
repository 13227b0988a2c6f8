"""Rows of a stored table become whole numbers once each, and the holder is told what was odd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.engine.contract import HandedOver
from tenue.engine.open import open_engine
from tenue.errors import Fault
from tenue.microdata.table import kept
from tenue.microdata.table.kept import keep_table

SCHEMA = tn.Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "id": {"type": "identifier"},
            "x": {"type": "number", "bounds": [0, 9]},
            "c": {"type": "category", "categories": ["a", "b"]},
        },
    }
)


def numbers(cells: Any) -> Any:
    return np.stack([np.where(cells[n].present, cells[n].numbers, 10) for n in ("x", "c")], axis=1)


def table(folder: Path, ids: list[Any]) -> Path:
    path = folder / "t.parquet"
    x = [5.0, None, 99.0, 3.0, float("nan"), 1.0]
    pq.write_table(pa.table({"id": ids, "x": x, "c": ["a", "b", "?", "a", None, "b"]}), path)
    return path


def test_every_row_once_and_what_was_odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_MOST", 4)
    monkeypatch.setattr(kept, "_FEWEST", 4)
    engine = open_engine(table(tmp_path, [1, 2, 3, 4, 5, 5]), SCHEMA)
    told: list[int] = []
    with keep_table(engine, SCHEMA, numbers, (11, 11), 1 << 28, told.append) as found:
        assert found.passes.take(np.arange(6)).tolist() == [
            [5, 0],
            [10, 1],
            [9, 10],
            [3, 0],
            [10, 10],
            [1, 1],
        ]
        assert (found.columns, found.missing) == (2, {"x": 2, "c": 2})
        assert (found.told.beyond["x"], found.told.repeated) == (1, ("id",))
    assert told == [4, 6]
    engine.close()


def test_names_that_are_nobody_are_not_there_twice(tmp_path: Path) -> None:
    for ids in ([None, None, 1, 2, 3, 4], [float("nan"), float("nan"), 1.0, 2.0, 3.0, 4.0]):
        engine = open_engine(table(tmp_path, ids), SCHEMA)
        with keep_table(engine, SCHEMA, numbers, (11, 11), 1 << 28, lambda _: None) as found:
            assert found.told.repeated == ()
        engine.close()


def test_rows_that_are_lost_are_a_fault(tmp_path: Path) -> None:
    class Losing:
        def hand_over(self, take: Any, batch: int, *, names: bool = False) -> HandedOver:
            take(pa.record_batch({"x": [1], "c": [0]}))
            return HandedOver(2, (), {}, {}, {}, {}, {})

    with (
        pytest.raises(Fault),
        keep_table(Losing(), SCHEMA, numbers, (11, 11), 1 << 28, lambda _: None),  # type: ignore[arg-type]
    ):
        pass
