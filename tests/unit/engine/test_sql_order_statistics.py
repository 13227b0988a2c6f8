"""Values near some ranks are counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from engine_tables import arrow_of, examples, rank_requests
from oracle_engine import OracleEngine
from tenue.engine.contract import Profile, Profiles
from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.request import RankRequest, Window
from tenue.engine.source.location import Relation
from tenue.engine.sql.order_statistics import near_counts, profiles, profiles_in_full, running
from tenue.errors import InvalidArgument, InvalidTable
from tenue.schema import Schema


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


# The quick way finds what counting everything finds, and gives way to it where it may be wrong.

CALM = settings(deadline=None, suppress_health_check=list(HealthCheck))
CONNECTION = duckdb.connect()
SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "n": {"type": "number", "bounds": [-(2**62), 2**62]},
            "c": {"type": "category", "categories": ["a"]},
        },
    }
)
ALL = Window(1, 0, 10**9, -(10**9), 10**9)


def opened(values: Sequence[int | None]) -> DuckDB:
    table = pa.table({"n": pa.array(values, pa.int64()), "c": ["a"] * len(values)})
    return DuckDB(Relation(CONNECTION.from_arrow(table)), SCHEMA)


def oracle(values: Sequence[int | None]) -> OracleEngine:
    return OracleEngine(SCHEMA, [{"n": value, "c": "a"} for value in values])


def in_full(engine: DuckDB, request: RankRequest) -> Profiles:
    return profiles_in_full(request, engine._table, engine._run)


def quantile(percent: int, reach: int) -> Window:
    return Window(100, percent, 0, 0, reach)


@given(st.data())
@settings(CALM, max_examples=40)
def test_any_table_has_the_profiles_of_the_oracle(data: st.DataObject) -> None:
    example = data.draw(examples(most_rows=20))
    request = data.draw(rank_requests(example.schema))
    try:
        engine = DuckDB(Relation(CONNECTION.from_arrow(arrow_of(example))), example.schema)
    except InvalidTable as refused:
        assume("cannot be computed exactly" not in refused.what)
        raise
    expected = OracleEngine(example.schema, example.rows).ranks(request)
    assert engine.ranks(request) == expected
    assert in_full(engine, request) == expected


WINDOWS = st.builds(
    Window,
    st.sampled_from([1, 2, 7, 10**30]),
    st.just(0) | st.just(1),
    st.integers(-12, 12),
    st.integers(-12, 12),
    st.integers(0, 9) | st.just(10**31),
)


@given(
    st.lists(st.none() | st.integers(-3, 3) | st.sampled_from([2**62, -(2**62)]), max_size=25),
    st.lists(WINDOWS, max_size=3),
)
@settings(CALM, max_examples=120)
def test_ties_windows_that_overlap_and_windows_turned_round(
    values: list[int | None], windows: list[Window]
) -> None:
    request = RankRequest("n", tuple(windows))
    engine, expected = opened(values), oracle(values).ranks(request)
    assert engine.ranks(request) == expected
    assert in_full(engine, request) == expected


@pytest.mark.parametrize("values", [[5] * 1000, [1, 2] * 500, [None] * 9 + [3], list(range(10))])
def test_few_different_values(values: list[int | None]) -> None:
    for reach in (1, 100, 10**6):
        request = RankRequest("n", tuple(quantile(p, reach) for p in (0, 1, 50, 99, 100)))
        assert opened(values).ranks(request) == oracle(values).ranks(request)


def test_many_values_are_not_told_beyond_the_windows() -> None:
    engine = opened([(i * 7919) % 50_000 for i in range(50_000)])
    found = engine.ranks(RankRequest("n", (quantile(25, 1000), quantile(75, 1000))))[()]
    assert found.rows == 50_000
    near = [*range(12_490, 12_510), *range(37_490, 37_510)]
    assert found.values == tuple((value, value, 1) for value in near)


def test_a_window_is_no_window_unless_its_quantile_is_one() -> None:
    for window in (Window(0, 0, 0, 0, 1), Window(2, 3, 0, 0, 1), Window(2, -1, 0, 0, 1)):
        with pytest.raises(InvalidArgument):
            opened([1]).ranks(RankRequest("n", (window,)))
    with pytest.raises(InvalidArgument):
        opened([1]).ranks(RankRequest("c", (ALL,)))


@pytest.mark.parametrize("shift", [-1, 1, 300, -300])
def test_ends_that_are_not_far_enough_are_found_out(shift: int) -> None:
    """A selection that is some ranks off, as if the table had changed in between."""
    values = [i // 3 for i in range(1000)]
    engine = opened(values)
    asked: list[str] = []

    def off(sql: str) -> list[tuple[Any, ...]]:
        asked.append(sql)
        rows = engine._run(sql)
        if "quantile_disc" not in sql:
            return rows
        return [([value + shift for value in rows[0][0]],)]

    request = RankRequest("n", (quantile(50, 500),))
    found = profiles(request, engine._table, off)
    assert found == oracle(values).ranks(request)
    assert len(asked) == 4, "the fourth statement counts everything"


def test_a_table_that_grew_after_it_was_counted_is_told_as_it_is_now() -> None:
    small, large = opened(list(range(10))), opened(list(range(1000)))
    first = True

    def growing(sql: str) -> list[tuple[Any, ...]]:
        nonlocal first
        engine, first = (small if first else large), False
        return engine._run(sql)

    request = RankRequest("n", (quantile(50, 1000),))
    found = profiles(request, large._table, growing)
    assert found == oracle(list(range(1000))).ranks(request)


def test_no_value_is_not_the_same_as_no_row_in_the_window() -> None:
    assert opened([None, None]).ranks(RankRequest("n", (ALL,))) == {}
    nothing = Window(1, 1, 5, 50, 1)
    assert opened([1, 2]).ranks(RankRequest("n", (nothing,))) == {(): Profile(2, ())}
