"""From rows to chosen rows: parts, units of every kind, limits that are none."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import duckdb
import pyarrow as pa
import pytest

from alarm import claim, mean_within
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.people import crowd as people
from tenue.engine.people.crowd import CHOSEN, Reader, crowd, passes
from tenue.engine.request import Group, Measure, People, Request, Within
from tenue.engine.source.location import Relation
from tenue.engine.sql.logical import Logical
from tenue.errors import InvalidArgument
from tenue.noise.source import SYSTEM
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "who", "neighbours": "replace", "rows_per_unit": 1},
        "columns": {
            "who": {"type": "identifier"},
            "c": {"type": "category", "categories": ["0", "1", "2"]},
            "n": {"type": "number", "bounds": [0, 10**6]},
        },
    }
)
TABLE = "SELECT i % 97 AS who, CAST(i % 3 AS VARCHAR) AS c, i AS n FROM range(5000) AS r(i)"
ASKED = (Measure("rows"), Measure("total", "n"), Measure("units"))


def opened(connection: duckdb.DuckDBPyConnection) -> DuckDB:
    return DuckDB(Relation(connection.sql(TABLE)), SCHEMA)


def asked(limits: People) -> Request:
    return Request(ASKED, None, (Group("c", 3),), limits)


@pytest.mark.parametrize(
    "limits",
    [
        People("who", 0, None),
        People("who", 1, 0),
        People("who", 1.5, None),  # type: ignore[arg-type]
    ],
)
def test_limits_that_are_none_are_refused(limits: People) -> None:
    with duckdb.connect() as connection:
        for request in (asked(limits), Request((Measure("units"),), people=limits)):
            with pytest.raises(InvalidArgument):
                opened(connection).measure(request)


def test_a_connection_that_does_not_keep_the_order_of_rows_keeps_as_many() -> None:
    with duckdb.connect() as connection:
        for setting in (
            "preserve_insertion_order = false",
            "default_order = 'DESC'",
            "default_null_order = 'NULLS FIRST'",
            "threads = 1",
        ):
            connection.execute(f"SET {setting}")
            for groups, rows in ((None, 291), (1, 291), (2, 291)):
                found = opened(connection).measure(asked(People("who", 3, groups)))
                assert sum(cell[0] for cell in found.values()) == rows


UNITS = {
    "numbers side by side": "i % 97",
    "numbers far apart": "(i % 97) * 90000000000000000 - 4000000000000000000",
    "unsigned numbers": "CAST(18446744073709551615 AS UBIGINT) - i % 97",
    "wide numbers": "CAST(i % 97 AS HUGEINT) * 100000000000000000000000000",
    "the ends of their type": "CASE WHEN i % 97 < 50 THEN -9223372036854775808 + i % 97 "
    "ELSE 9223372036854775807 - i % 97 END",
    "text": "'person ' || (i % 97)",
    "fractions": "(i % 97) / 8",
    "decimals": "CAST((i % 97) / 10 AS DECIMAL(9, 1))",
    "days": "make_date(CAST(i % 97 AS INTEGER))",
    "moments": "make_timestamp((i % 97) * 1000000)",
}


def reader(connection: duckdb.DuckDBPyConnection) -> Reader:
    return Reader(
        lambda sql: connection.execute(sql).fetchall(),
        lambda sql: connection.sql(sql).to_arrow_table(),
    )


@pytest.mark.parametrize("unit", UNITS.values(), ids=list(UNITS))
@pytest.mark.parametrize("most", [10**6, 700])
def test_every_kind_of_unit_in_one_part_and_in_several(unit: str, most: int) -> None:
    table = f"SELECT {unit} AS who, CAST(i % 3 AS VARCHAR) c, i AS n FROM range(5000) AS r(i)"  # noqa: S608
    with duckdb.connect() as connection:
        engine = DuckDB(Relation(connection.sql(table)), SCHEMA)
        logical = Logical(replace(engine._table, sql=f"({table})"))
        limits = People("who", 4, 2)
        rows = crowd(limits, logical, where=None, keys=(Group("c", 3),), columns=["n"])
        parts = list(passes(limits, rows, reader(connection), SYSTEM, most))
        assert (len(parts) > 1) == (most == 700)
        met: set[int] = set()
        for part in parts:
            chosen = part.filter(part[CHOSEN])
            owners: dict[int, list[tuple[int, int, int]]] = {}
            columns = [chosen[name].to_pylist() for name in chosen.column_names[:3]]
            for u, k, n in zip(*columns, strict=True):
                owners.setdefault(u, []).append((n % 97, k, n))
            for own in owners.values():
                assert len(own) == 4
                assert len({who for who, _, _ in own}) == 1, "a number is one unit's"
                assert len({k for _, k, _ in own}) <= 2
                assert own[0][0] not in met, "a unit is in one part only"
                met.add(own[0][0])
                assert all(k == n % 3 for _, k, n in own)
        assert met == set(range(97))


def test_units_whose_hashes_meet_are_numbered_by_a_join() -> None:
    """All hashes are equal, as an intruder might wish."""
    table = "SELECT 'p' || (i % 7) AS who, '0' AS c, i AS n FROM range(70) AS r(i)"
    with duckdb.connect() as connection:
        engine = DuckDB(Relation(connection.sql(table)), SCHEMA)
        logical = Logical(replace(engine._table, sql=f"({table})"))
        limits = People("who", 2, None)
        rows = crowd(limits, logical, where=None, keys=(), columns=["n"])
        real = reader(connection)
        joined = []

        def arrow(sql: str) -> pa.Table:
            joined.append("JOIN" in sql)
            return real.arrow(sql.replace("hash(u) AS u", "CAST(1 AS UBIGINT) AS u"))

        (part,) = passes(limits, rows, Reader(real.run, arrow), SYSTEM)
        assert joined == [False, True]
        chosen = part.filter(part[CHOSEN])
        assert Counter(n % 7 for n in chosen.column(1).to_pylist()) == dict.fromkeys(range(7), 2)


def test_more_cells_than_a_word_counts() -> None:
    """Keys whose numbers, put together, have more than 62 bits."""
    shape = [2**31, 2**31, 4]
    table = pa.table(
        {
            "k0": pa.array([0, 2**31 - 1, 0, 0], pa.uint32()),
            "k1": pa.array([5, 5, 5, 6], pa.uint32()),
            "k2": pa.array([1, 1, 1, 1], pa.uint8()),
        }
    )
    cells = people._cells(table, shape).tolist()
    assert cells[0] == cells[2]
    assert len(set(cells)) == 3


@pytest.mark.random
def test_each_row_is_as_likely_as_any_other_though_some_are_equal() -> None:
    """99 equal rows and one other: by contents alone it would be kept half the time."""
    rows = "SELECT 1 AS who, '0' AS c, 100 * CAST(i = 0 AS INT) AS n FROM range(100) AS r(i)"
    claim("elsewhere", "test_engine_people: equal rows")
    with duckdb.connect() as connection:
        engine = DuckDB(Relation(connection.sql(rows)), SCHEMA)
        request = Request((Measure("total", "n"),), people=People("who", 10, None))
        kept = [engine.measure(request)[()][0] == 100 for _ in range(200)]
    assert sum(kept) < 200 * (0.1 + mean_within(200, 0.09, 1))


def test_counting_units_alone_needs_no_choice() -> None:
    with duckdb.connect() as connection:
        alone = Request((Measure("units"),), Within("n", 50, 500), people=People("who", 1, 1))
        both = replace(alone, measures=(Measure("units"), Measure("rows")))
        engine = opened(connection)
        assert engine.measure(alone) == {(): (97,)}
        assert engine.measure(both) == {(): (97, 97)}
        by_cell = replace(alone, keys=(Group("c", 3),))
        assert sum(count for (count,) in engine.measure(by_cell).values()) == 97
