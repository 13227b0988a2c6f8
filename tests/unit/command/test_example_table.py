"""The made-up table is the same everywhere and fits its schema."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

import tenue as tn
from tenue.command.example_table import PANEL_ROWS, ROWS, write_panel, write_people


def test_the_table_is_repeatable_and_fits_its_schema(tmp_path: Path) -> None:
    schema = tn.Schema.load(write_people(tmp_path / "one"))
    write_people(tmp_path / "two")
    one, two = (pq.read_table(tmp_path / name / "people.parquet") for name in ("one", "two"))
    assert one.equals(two)
    assert one.num_rows == ROWS
    assert set(schema.columns) == set(one.column_names)
    for name in ("age", "income"):
        low, high = schema.column(name).bounds  # type: ignore[attr-defined]
        assert low <= pc.min(one[name]).as_py()
        assert pc.max(one[name]).as_py() <= high
    assert set(one["region"].to_pylist()) == set(schema.column("region").categories)  # type: ignore[attr-defined]


def test_the_panel_has_other_people_whose_number_is_public(tmp_path: Path) -> None:
    assert tn.Schema.load(write_people(tmp_path)).neighbours == "add-or-remove"
    assert tn.Schema.load(write_panel(tmp_path)).neighbours == "replace"
    people, panel = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("people", "panel"))
    assert panel.num_rows == PANEL_ROWS
    assert panel.schema == people.schema
    assert not panel.equals(people.slice(0, PANEL_ROWS))
