"""The same rows leave the same marks, in any file, order or schema; other rows leave others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.errors import Conflict
from tenue.ledger import Memory, overlap
from tenue.ledger.overlap import overlapped
from tenue.microdata.mark import MARKED, WHOLE, marks_of
from tenue.microdata.original import read_original
from tenue.schema import Schema
from unit.microdata.census import people, schema


def marks(source: Any, declared: Schema | None = None) -> tuple[str, ...]:
    return marks_of(source, read_original(source, declared or schema()))


def meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return overlapped(" ".join(one), {f"1 {' '.join(other)}": 1}) is not None


def test_order_file_and_names_of_persons_do_not_matter(tmp_path: Path) -> None:
    table = people(300)
    found = marks(table)
    assert marks(table.take(list(range(299, -1, -1)))) == found
    assert marks(table.drop_columns(["name"]), schema(name=None)) == found
    pq.write_table(table, tmp_path / "a.parquet")
    pyarrow.csv.write_csv(table.drop_columns(["undeclared"]), tmp_path / "b.csv")
    for path in (tmp_path / "a.parquet", tmp_path / "b.csv"):
        assert set(found) < set(marks(path))
    finer = schema(age={"grid": 0.5}, note={"categories": ["-2", "plain", "=1+1"]})
    assert marks(table, finer) == found


def test_a_record_more_is_the_same_table_and_other_people_are_not() -> None:
    table = people(300)
    grown = pa.concat_tables([table, people(1, seed=9, name=["new"])])
    assert marks(grown)[0] != marks(table)[0]
    assert meet(marks(grown), marks(table))
    assert meet(marks(table.slice(0, 200)), marks(table))
    for seed in range(2, 12):
        assert not meet(marks(people(300, seed=seed)), marks(table))


def test_a_file_is_known_under_any_schema(tmp_path: Path) -> None:
    pq.write_table(people(300), tmp_path / "a.parquet")
    path = tmp_path / "a.parquet"
    assert meet(marks(path), marks(path, schema(job=None, note=None)))


def test_rows_that_many_have_leave_no_mark_of_their_own() -> None:
    small = schema(age=None, income=None, note=None)
    found = marks(people(300), small)
    assert [mark for mark in found if not mark.startswith(WHOLE)] == []
    assert not meet(found, marks(people(300, seed=2), small))


def test_the_ledger_reads_the_same_word() -> None:
    assert overlap.WHOLE == WHOLE


def test_a_mark_says_little_of_a_row() -> None:
    rows = [mark for mark in marks(people(2000)) if not mark.startswith(WHOLE)]
    assert MARKED * 0.8 < len(rows) <= MARKED
    assert all(len(mark) == len("row:") + 3 for mark in rows)  # twelve bits
    assert rows == sorted(rows)


@pytest.mark.parametrize("more", [0, 1])
def test_another_name_does_not_make_another_table(more: int) -> None:
    """The mutant knows tables by name: a record more under another name gives that record away."""
    ledger = Memory()
    tn.publish(people(200), schema=schema(), method="swap", k=4, ledger=ledger)
    renamed = schema().replace(table={"name": "people2"})
    table = pa.concat_tables([people(200), people(1, seed=5, name=["new"]).slice(0, more)])
    with pytest.raises(Conflict) as refused:
        tn.publish(table, schema=renamed, method="swap", k=4, ledger=ledger)
    assert refused.value.code == "second-release"
    assert ledger.datasets() == ["people"]
    others = people(200, seed=7)
    tn.publish(others, schema=renamed, method="swap", k=4, ledger=ledger)
    insisted = tn.publish(
        table,
        schema=schema().replace(table={"name": "people3"}),
        method="swap",
        k=4,
        ledger=ledger,
        override="second-release",
    )
    assert "row:" not in insisted.certificate.to_json()
    assert ledger.verify()


def test_a_connection_is_a_source_like_others() -> None:
    rows = people(100)
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        connection.execute("CREATE TABLE people AS SELECT * FROM rows")
        ledger = Memory()
        tn.publish(connection, schema=schema(), method="swap", k=4, ledger=ledger)
        renamed = schema().replace(table={"name": "others"})
        with pytest.raises(Conflict):
            tn.publish(rows, schema=renamed, method="swap", k=4, ledger=ledger)
