from __future__ import annotations

import duckdb
import pytest

from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.sql.histogram import near_counts, running


def counts(values: list[int | None], ends: tuple[int, int], near: str) -> list[tuple[int, int]]:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (v BIGINT)")
    connection.executemany("INSERT INTO t VALUES (?)", [[v] for v in values])
    sql = near_counts("t", 0, ends, near, DUCKDB)
    return sorted(connection.execute(sql).fetchall())


def test_values_far_from_a_window_are_counted_with_their_bucket() -> None:
    values = [0, 1, 1, 5000, 9000, 9001, 9001, 16383, None]
    # buckets are 4 wide: 16384 values in 4096 of them
    near = "l < 5 AND l + c >= 5"  # whatever bucket holds the fifth value
    assert counts(values, (0, 16383), near) == [(0, 3), (5000, 1), (9000, 1), (9001, 2), (16380, 1)]


@pytest.mark.parametrize("low", [-20_000, -5, 0, 7])
def test_buckets_start_anywhere_and_keep_their_order(low: int) -> None:
    values = list(range(low, low + 20_000, 37))
    found = counts(values, (low, low + 20_000), "FALSE")
    assert sum(count for _, count in found) == len(values)
    assert len(found) <= 4097
    assert [v for v, _ in found] == sorted({v for v, _ in found})


def test_a_small_domain_needs_no_buckets() -> None:
    assert counts([3, 3, 1, None], (0, 100), "FALSE") == [(1, 1), (3, 2)]


def test_counts_run_within_each_cell() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (k0 INTEGER, v INTEGER, c INTEGER)")
    connection.execute("INSERT INTO t VALUES (0, 5, 2), (0, 3, 1), (1, 4, 7)")
    sql = running("SELECT * FROM t", ["k0"], "v", DUCKDB)
    assert sorted(connection.execute(sql).fetchall()) == [
        (0, 3, 1, 0, 3),
        (0, 5, 2, 1, 3),
        (1, 4, 7, 0, 7),
    ]
