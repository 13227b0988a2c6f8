"""What a file says about its own columns."""

from __future__ import annotations

import gzip
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.duckdb.describe import Described, describe
from tenue.errors import InvalidTable

TABLE = pa.table(
    {
        "n": pa.array([3, 9], pa.int32()),
        "x": [0.5, 2.25],
        "c": ["b", "a"],
        "t": [True, None],
        "d": [date(2020, 1, 1), date(2021, 1, 1)],
        "same": [4, 4],
    }
)


def test_types_come_without_values(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    assert describe(tmp_path / "t.parquet") == [
        Described("n", "number", whole=True),
        Described("x", "number"),
        Described("c", "category"),
        Described("t", "boolean"),
        Described("d", "date"),
        Described("same", "number", whole=True),
    ]


def test_values_come_only_when_asked_for(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    n, x, c, _, d, same = describe(tmp_path / "t.parquet", values=True)
    assert (n.bounds, x.bounds, c.categories) == ((3, 9), (0.5, 2.25), ("a", "b"))
    assert d.bounds == (date(2020, 1, 1), date(2021, 1, 1))
    assert same.bounds is None  # one value is no interval


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"PAR1 and then nothing"])
def test_what_is_no_table_is_refused_without_quoting_it(tmp_path: Path, content: bytes) -> None:
    for name in ("t.parquet", "t.txt"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidTable) as refused:
            describe(tmp_path / name)
        assert "nothing" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("twice.csv", b"a,A\n1,2\n"),
        ("wide.csv", b",".join(b"c%d" % i for i in range(10_001)) + b"\n"),
    ],
)
def test_what_could_not_be_asked_is_not_described(
    tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidTable):
        describe(tmp_path / name)


def test_zipped_files_are_described(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a;b\n1;x\n2;y\n"))
    assert [c.name for c in describe(path)] == ["a", "b"]
