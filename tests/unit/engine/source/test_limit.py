"""Files that would grow too large are refused by what they say of themselves."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.open import open_engine
from tenue.engine.source import limit
from tenue.engine.source.limit import check_parquet, check_size
from tenue.errors import InvalidTable
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {"x": {"type": "number", "bounds": [0, 1]}},
    }
)


def test_each_limit_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"x" * 1000)
    check_parquet(path, rows=10**6, columns=limit.MOST_COLUMNS, decoded=limit.LARGEST_FILE)
    for wrong in (
        {"rows": limit.MOST_ROWS + 1},
        {"columns": limit.MOST_COLUMNS + 1},
        {"decoded": limit.LARGEST_FILE + 1},
        {"rows": 10**6 + 1},
    ):
        with pytest.raises(InvalidTable, match="too large"):
            check_parquet(path, **({"rows": 1, "columns": 1, "decoded": 1} | wrong))


def test_a_parquet_bomb_is_refused_before_a_row_is_decoded(tmp_path: Path) -> None:
    pieces = pa.table({"x": pa.array([0] * 2**20, pa.int8())})
    with pq.ParquetWriter(tmp_path / "bomb.parquet", pieces.schema, compression="zstd") as file:
        for _ in range(8):
            file.write_table(pieces, row_group_size=2**20)
    assert (tmp_path / "bomb.parquet").stat().st_size < 2**23 / limit.MOST_ROWS_PER_BYTE
    with pytest.raises(InvalidTable, match=r"bomb\.parquet is too large"):
        open_engine(tmp_path / "bomb.parquet", SCHEMA)


def test_a_compressed_file_counts_at_its_largest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(b"x" * 1000)
    monkeypatch.setattr(limit, "LARGEST_FILE", 500_000)
    check_size(path, zipped=False)
    with pytest.raises(InvalidTable, match="too large"):
        check_size(path, zipped=True)
