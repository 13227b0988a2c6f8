from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parquet_lies import spliced
from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.duckdb.tally import open_tally
from tenue.engine.source import tally as statements
from tenue.engine.source.location import Database, Files, Relation, locate
from tenue.errors import InvalidTable

MEMORY = 1 << 28


def located(source: object) -> Files | Database | Relation:
    found = locate(source, "table")
    assert isinstance(found, Files | Database | Relation)
    return found


def test_a_line_that_is_no_row_is_refused_without_a_word_of_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\ncanary\n3,4\n")
    with (
        open_tally(located(path), MEMORY) as counted,
        pytest.raises(InvalidTable, match="Line 3") as refused,
    ):
        counted.sizes(["a"])
    assert "canary" not in str(refused.value)


def test_a_file_that_changes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 9)
    with open_tally(located(path), MEMORY) as counted:
        assert [part.tolist() for part in counted.sizes(["a"])] == [[9], [1]]
        path.write_text("a,b\n" + "1,2\n" * 8 + "1,3\n")
        with pytest.raises(InvalidTable, match="changed while it was read"):
            counted.sizes(["a"])


def test_counts_come_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "BATCH", 2048)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": range(10_000)}), path)
    with open_tally(located(path), MEMORY) as counted:
        parts = list(counted.tally(["a"]))
    assert len(parts) > 1
    assert pa.concat_tables(parts).column("a").to_pylist() == list(range(10_000))


def test_statistics_that_lie_are_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant believes them: two zeros are one value, for no zero is there, and k doubles."""
    path, many = tmp_path / "t.parquet", 2000
    zeros, other = [0.0, -0.0] * many, [1.0, 2.0] * many
    spliced(path, data=pa.table({"x": zeros}), footer=pa.table({"x": other}))
    with open_tally(located(path), MEMORY) as counted:
        assert [part.tolist() for part in counted.sizes(["x"])] == [[many], [2]]
    whole = [i % 7 * 1_000_003 for i in range(many)]
    spliced(path, data=pa.table({"x": whole}), footer=pa.table({"x": [1] * many}))
    with open_tally(located(path), MEMORY) as counted:
        assert counted.different("x") == 7
    spliced(path, data=pa.table({"x": zeros}), footer=pa.table({"x": other}))
    monkeypatch.setattr(type(DUCKDB), "stored", lambda self, name, kind: name)
    with open_tally(located(path), MEMORY) as counted:
        assert [part.tolist() for part in counted.sizes(["x"])] == [[2 * many], [1]]


def test_types_of_a_database_are_counted_as_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT CAST(printf('%032x', i % 2) AS UUID) AS u,"
            " CAST(i % 3 AS HUGEINT) AS h, CAST(i % 2 AS DECIMAL(9, 2)) AS d,"
            " CAST(['b', 'a'][1 + i % 2] AS ENUM ('b', 'a')) AS e, [i] AS l FROM range(6) t(i)"
        )
    with open_tally(located(f"duckdb://{path}#t"), MEMORY) as counted:
        assert [name for name in counted.names if counted.can_tell(name)] == ["u", "h", "d", "e"]
        for name, many in (("u", 2), ("h", 3), ("d", 2), ("e", 2)):
            assert counted.different(name) == many
            (found,) = counted.tally([name])
            assert found.schema.field(name).type == counted.load([name]).schema.field(name).type


def test_the_connection_of_a_relation_is_left_as_it_was() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT i % 2 AS a FROM range(6) t(i)")
    with open_tally(located(connection.table("t")), MEMORY) as counted:
        assert counted.different("a") == 2
        connection.execute("INSERT INTO t VALUES (7)")
        assert counted.different("a") == 3
    assert connection.execute("SELECT COUNT(*) FROM t").fetchall() == [(7,)]


def test_what_was_put_on_disk_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    with open_tally(located(path), MEMORY):
        assert len(list(tmp_path.glob("tenue-scratch-*"))) == 1
    assert list(tmp_path.glob("tenue-scratch-*")) == []


def test_counts_that_do_not_fit_are_refused_as_such(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [f"{i:0200d}" for i in range(200_000)]}), path)
    with open_tally(located(path), 4 << 20) as counted, pytest.raises(InvalidTable, match="1 GiB"):
        list(counted.tally(["a"]))
