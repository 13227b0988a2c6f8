"""What is chosen of each unit is measured apart, pass by pass, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from oracle_engine import OracleEngine
from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.duckdb.sandbox import Bench
from tenue.engine.people import crowd, measure
from tenue.engine.people.crowd import Reader
from tenue.engine.people.measure import Place, measure_people, rank_people
from tenue.engine.request import Group, Measure, People, RankRequest, Request, Window
from tenue.engine.source.location import Relation
from tenue.engine.sql.logical import Stored
from tenue.noise.source import SYSTEM
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "who", "neighbours": "replace", "rows_per_unit": 1},
        "columns": {
            "who": {"type": "identifier"},
            "c": {"type": "category", "categories": ["0", "1"]},
            "n": {"type": "number", "bounds": [0, 100]},
        },
    }
)
ROWS = [{"who": i % 7, "c": str(i % 2), "n": i} for i in range(70)]
ORACLE = OracleEngine(SCHEMA, ROWS)


@pytest.fixture
def reader() -> Iterator[tuple[Stored, Reader]]:
    with duckdb.connect() as connection:
        relation = connection.from_arrow(pa.Table.from_pylist(ROWS))
        engine = DuckDB(Relation(relation), SCHEMA)
        assert engine._store is not None
        yield engine._table, Reader(engine._store.run, engine._store.arrow)


def nowhere() -> Bench:
    raise AssertionError("there is nothing to choose")


def small_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    def passes(*given: Any) -> Iterator[pa.Table]:
        return crowd.passes(*given, most=20)

    monkeypatch.setattr(measure, "passes", passes)


@pytest.mark.parametrize("keys", [(), (Group("c", 2),)])
def test_several_passes_add_up_to_the_oracles_measures(
    keys: Sequence[Group], reader: tuple[Stored, Reader], monkeypatch: pytest.MonkeyPatch
) -> None:
    small_passes(monkeypatch)
    people = People("who", 10, 2)
    asked = (
        Measure("units"),
        Measure("unit-total", "n", low=300, high=340),
        Measure("rows"),
        Measure("total", "n"),
    )
    bench = Bench()
    request = Request(asked, keys=tuple(keys), people=people)
    assert measure_people(request, Place(*reader, lambda: bench, DUCKDB, SYSTEM)) == ORACLE.measure(
        request
    )
    ranks = RankRequest("n", (Window(1, 0, 99, -99, 99),), keys=tuple(keys), people=people)
    assert rank_people(ranks, Place(*reader, lambda: bench, DUCKDB, SYSTEM)) == ORACLE.ranks(ranks)
    bench.close()


def test_units_alone_are_counted_without_a_choice(reader: tuple[Stored, Reader]) -> None:
    people = People("who", 1, None)
    request = Request((Measure("units"),), people=people)
    assert measure_people(request, Place(*reader, nowhere, DUCKDB, SYSTEM)) == {(): (7,)}
    both = Request((Measure("units"), Measure("rows")), people=people)
    with pytest.raises(AssertionError):
        measure_people(both, Place(*reader, nowhere, DUCKDB, SYSTEM))
