from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.duckdb import tally
from tenue.engine.duckdb.tally import open_tally
from tenue.engine.source.location import Files, locate
from tenue.errors import InvalidTable

MEMORY = 1 << 28


def files(path: Path) -> Files:
    found = locate(path, "table")
    assert isinstance(found, Files)
    return found


def test_columns_may_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({'a "b"': [1, 1, 2], "select": ["x", "x", "y"]}), path)
    counted = open_tally(files(path), MEMORY)
    (found,) = counted.tally(['a "b"', "select"])
    assert [column.to_pylist() for column in found.columns] == [[1, 2], ["x", "y"], [2, 1]]


def test_a_line_that_is_no_row_is_refused_without_a_word_of_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\ncanary\n3,4\n")
    with pytest.raises(InvalidTable, match="Line 3") as refused:
        open_tally(files(path), MEMORY).sizes(["a"])
    assert "canary" not in str(refused.value)


def test_a_file_that_changes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 9)
    counted = open_tally(files(path), MEMORY)
    assert [part.tolist() for part in counted.sizes(["a"])] == [[9], [1]]
    path.write_text("a,b\n" + "1,2\n" * 8 + "1,3\n")
    with pytest.raises(InvalidTable, match="changed while it was read"):
        counted.sizes(["a"])


def test_counts_come_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "_BATCH", 2048)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": range(10_000)}), path)
    parts = list(open_tally(files(path), MEMORY).tally(["a"]))
    assert len(parts) > 1
    assert pa.concat_tables(parts).column("a").to_pylist() == list(range(10_000))
