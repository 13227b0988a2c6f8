"""DuckDB counts files, tables in its files and relations."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contracts.tally_suite import TallySuite
from tenue.errors import InvalidTable
from tenue.evaluate import check

_numbers = count()


class InDuckDB(TallySuite):
    engine = "DuckDB"
    tables = 20

    @pytest.fixture(autouse=True)
    def here(self, tmp_path: Path) -> None:
        self.folder = tmp_path


class TestFile(InDuckDB):
    def stored(self, table: pa.Table) -> object:
        path = self.folder / f"{next(_numbers)}.parquet"
        pq.write_table(table, path)
        return path

    def failing(self) -> object:
        path = self.folder / "failing.parquet"
        pq.write_table(pa.table({"a": ["canary"] * 99}), path, compression="none")
        written = path.read_bytes()
        path.write_bytes(written.replace(b"canary", b"\xff\xfeanary", 1))
        return path


class TestDatabase(InDuckDB):
    def stored(self, table: pa.Table) -> object:
        path = self.folder / f"{next(_numbers)}.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.register("given", table)
            connection.execute("CREATE TABLE people AS SELECT * FROM given")
        return f"duckdb://{path}#people"

    def failing(self) -> object:
        path = self.folder / "failing.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE t AS SELECT 'canary-' || i AS w FROM range(3) t(i)")
            connection.execute("CREATE VIEW people AS SELECT CAST(w AS INTEGER) AS a FROM t")
        return f"duckdb://{path}#people"

    def test_a_view_reaches_no_file(self) -> None:
        """The mutant opens a database that may read whatever the process may."""
        aside = self.folder / "aside.csv"
        aside.write_text("a\n1\n1\n")
        path = self.folder / "view.duckdb"
        sql = f"CREATE VIEW people AS SELECT * FROM read_csv('{aside}')"  # noqa: S608
        with duckdb.connect(str(path)) as connection:
            connection.execute(sql)
            assert connection.execute("SELECT COUNT(*) FROM people").fetchall() == [(2,)]
        with pytest.raises(InvalidTable):
            check(f"duckdb://{path}#people", quasi_identifiers=["a"])


class TestRelation(InDuckDB):
    def stored(self, table: pa.Table) -> object:
        self.connection = duckdb.connect()
        self.connection.register("given", table)
        return self.connection.table("given")

    def failing(self) -> object:
        self.connection = duckdb.connect()
        sql = "SELECT CAST('canary-' || i AS INTEGER) AS a FROM range(3) t(i)"
        return self.connection.sql(sql)
