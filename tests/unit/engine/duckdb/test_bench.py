"""A database of our own: what is handed over is measured, and nothing else can be reached."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from tenue.engine.duckdb.bench import Bench

TABLE = pa.table({"x": [1, 2, 3]})


def test_what_was_handed_over_is_gone_after_the_question() -> None:
    bench = Bench()
    assert bench.select(TABLE, "SELECT SUM(x) FROM handed") == [(6,)]
    with pytest.raises(duckdb.Error):
        bench._connection.execute("SELECT * FROM handed")
    bench.close()


def test_parts_add_up_until_they_are_cleared() -> None:
    bench = Bench()
    assert bench.gathered("SELECT * FROM gathered") == []
    for _ in range(2):
        bench.gather(TABLE, "SELECT x FROM handed WHERE x > 1")
    assert bench.gathered("SELECT SUM(x) FROM gathered") == [(10,)]
    bench.clear()
    assert bench.gathered("SELECT * FROM gathered") == []
    bench.gather(TABLE, "SELECT 'other' AS y FROM handed")
    assert bench.gathered("SELECT COUNT(y) FROM gathered") == [(3,)]
    bench.close()


def test_no_file_can_be_reached(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    bench = Bench()
    with pytest.raises(duckdb.Error):
        bench.select(TABLE, f"SELECT * FROM '{tmp_path / 'secret.csv'}'")  # noqa: S608
    bench.close()


def test_its_folder_goes_with_it() -> None:
    bench = Bench()
    folder = bench._scratch.path
    assert folder.exists()
    bench.close()
    assert not folder.exists()
