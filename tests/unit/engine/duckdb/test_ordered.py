"""A pass sorts, groups and writes, keeps rows apart by number, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.contract import FAULT
from tenue.engine.duckdb.ordered import order
from tenue.engine.source.location import Files
from tenue.errors import EngineFault

MEMORY = 128 << 20


def stored(folder: Path, **columns: Any) -> Files:
    path = folder / "t.parquet"
    pq.write_table(pa.table(columns), path)
    return Files("parquet", (path,))


def by_row(rows: Any) -> Any:
    return rows


def test_values_come_in_order_and_ties_decide(tmp_path: Path) -> None:
    source = stored(tmp_path, x=[3, 1, 3, 2, 3])
    with order(source, memory=MEMORY, batch=2048) as ordered:
        assert ordered.names == ("x",)
        assert ordered.take("x", lambda rows: -rows) == (5, 0, 3.0)
        ((rows, ties, values),) = ordered.sort()
        assert (rows.tolist(), values.tolist()) == ([1, 3, 4, 2, 0], [1, 2, 3, 3, 3])
        assert ties.tolist() == [-1, -3, -4, -2, 0]


def test_many_batches_are_one_table(tmp_path: Path) -> None:
    numbers = np.random.default_rng(5).permutation(10_000)
    out = tmp_path / "out.parquet"
    with order(stored(tmp_path, x=numbers), memory=MEMORY, batch=2048) as ordered:
        assert ordered.take("x", by_row) == (10_000, 0, 9999.0)
        batches = list(ordered.sort())
        assert len(batches) > 1
        assert np.concatenate([values for _, _, values in batches]).tolist() == list(range(10_000))
        # labels of 100 values each, handed over in the order of values
        labels = ((rows, (values // 100).astype(np.int64)) for rows, _, values in batches)
        grouped = pa.concat_tables(ordered.group(labels))
        assert (np.diff(grouped.column("label").to_numpy()) >= 0).all()
        values, rows = grouped.column("value").to_numpy(), grouped.column("row").to_numpy()
        assert (numbers[rows] == values).all()
        ordered.write(
            out, "half", iter([(rows[:4000], values[:4000]), (rows[4000:], values[4000:])])
        )
        assert ordered.folder.is_dir()
    assert pq.read_table(out).to_pydict() == {"half": numbers.tolist()}
    assert not ordered.folder.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "t.parquet"]


def test_what_has_no_finite_number_is_counted(tmp_path: Path) -> None:
    source = stored(tmp_path, x=[1.0, None, float("nan"), float("inf")], word=["a"] * 4)
    with order(source, memory=MEMORY, batch=2048) as ordered:
        assert ordered.take("word", by_row) is None
        found = ordered.take("x", by_row)
        assert found is not None
        assert found[:2] == (4, 3)


def test_a_failure_has_one_text_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    (tmp_path / "bad.parquet").write_bytes(b"canary")
    with (
        pytest.raises(EngineFault, match=FAULT),
        order(Files("parquet", (tmp_path / "bad.parquet",)), memory=MEMORY, batch=2048),
    ):
        pass
    with (
        pytest.raises(EngineFault, match=FAULT),
        order(stored(tmp_path, x=[1]), memory=MEMORY, batch=2048),
    ):
        raise duckdb.Error("canary")
    assert list(scratch.iterdir()) == []
