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
from tenue.ledger import Memory
from tenue.ledger.transaction import holder
from tenue.ledger.transaction.holder import overlapped
from tenue.microdata.leave.mark import MARKED, WHOLE, NameMarks, marks_in_passes, marks_of
from tenue.microdata.table.coded import Coding
from tenue.microdata.table.original import open_original, read_original
from tenue.schema import Schema
from unit.microdata.census import COLUMNS, people, schema


def left(release: Any) -> None:
    assert release.table is not None


def marks(source: Any, declared: Schema | None = None) -> tuple[str, ...]:
    return marks_of(source, read_original(source, declared or schema()))


def strangers(size: int, seed: int) -> pa.Table:
    return people(size, seed=seed, name=[f"stranger {seed} {i}" for i in range(size)])


def meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return overlapped(" ".join(one), {f"1 {' '.join(other)}": 1}) is not None


def test_order_file_and_names_of_persons_do_not_matter(tmp_path: Path) -> None:
    table = people(300)
    found = marks(table)
    assert marks(table.take(list(range(299, -1, -1)))) == found
    unnamed = marks(table.drop_columns(["name"]), schema(name=None))
    assert unnamed == tuple(mark for mark in found if not mark.startswith("id:"))
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
        assert not meet(marks(strangers(300, seed)), marks(table))


def test_a_file_is_known_under_any_schema(tmp_path: Path) -> None:
    pq.write_table(people(300), tmp_path / "a.parquet")
    path = tmp_path / "a.parquet"
    assert meet(marks(path), marks(path, schema(job=None, note=None)))


def test_rows_that_many_have_leave_no_mark_of_their_own() -> None:
    small = schema(age=None, income=None, note=None)
    found = marks(people(300), small)
    assert [mark for mark in found if mark.startswith("row:")] == []
    assert not meet(found, marks(strangers(300, 2), small))


def test_the_ledger_reads_the_same_word() -> None:
    assert holder.WHOLE == WHOLE


def test_a_mark_says_little_of_a_row() -> None:
    for kind in ("row:", "id:"):
        some = [mark for mark in marks(people(2000)) if mark.startswith(kind)]
        assert MARKED * 0.8 < len(some) <= MARKED
        assert all(len(mark) == len(kind) + 3 for mark in some)  # twelve bits
        assert some == sorted(some)


def test_a_column_renamed_or_of_another_type_does_not_make_another_table() -> None:
    bare = people(200).drop_columns(["name"])
    found = marks(bare, schema(name=None))
    renamed = schema(name=None, note=None).to_dict()
    renamed["columns"]["memo"] = COLUMNS["note"]
    other = bare.rename_columns([{"note": "memo"}.get(n, n) for n in bare.column_names])
    assert meet(marks(other, Schema.from_dict(renamed)), found)
    ages = schema(name=None).to_dict()
    words = {"type": "category", "categories": [str(i) for i in range(121)]}
    ages["columns"]["age"] = {**words, "role": "quasi-identifier"}
    assert meet(marks(bare, Schema.from_dict(ages)), found)


@pytest.mark.parametrize("column", ["note", "age", "income"])
def test_a_column_less_does_not_make_another_table(column: str) -> None:
    bare = people(200).drop_columns(["name"])
    found, fewer = marks(bare, schema(name=None)), marks(bare, schema(name=None, **{column: None}))
    assert meet(fewer, found)
    assert not meet(marks(people(200, seed=4), schema(name=None, **{column: None})), found)


def test_persons_are_known_by_name_whatever_else_is_told_of_them() -> None:
    """The mutant knows rows only: with changed values the same people would leave again."""
    table = people(200)
    changed = people(190, seed=3)
    other = schema(income=None, age={"bounds": [20, 60]})
    assert meet(marks(changed, other), marks(table))
    assert not meet(marks(strangers(190, 3), other), marks(table))
    many = people(200, name=[f" PERSON {i}" for i in range(200)], seed=3)
    assert meet(marks(many), marks(table))


def test_numbers_that_count_rows_name_nobody() -> None:
    counted = people(200, name=[str(i) for i in range(1000, 1200)])
    assert not any(mark.startswith("id:") for mark in marks(counted))
    far = people(200, name=[str(i * 7919 % 10**6) for i in range(200)])
    assert any(mark.startswith("id:") for mark in marks(far))


@pytest.mark.parametrize("more", [0, 1])
def test_another_name_does_not_make_another_table(more: int) -> None:
    """The mutant knows tables by name: a record more under another name gives that record away."""
    ledger = Memory()
    left(tn.publish(people(200), schema=schema(), method="swap", k=4, ledger=ledger))
    renamed = schema().replace(table={"name": "people2"})
    table = pa.concat_tables([people(200), people(1, seed=5, name=["new"]).slice(0, more)])
    with pytest.raises(Conflict) as refused:
        tn.publish(table, schema=renamed, method="swap", k=4, ledger=ledger)
    assert refused.value.code == "second-release"
    assert ledger.datasets() == ["people"]
    others = strangers(200, 7)
    left(tn.publish(others, schema=renamed, method="swap", k=4, ledger=ledger))
    insisted = tn.publish(
        table,
        schema=schema().replace(table={"name": "people3"}),
        method="swap",
        k=4,
        ledger=ledger,
        override="second-release",
    )
    left(insisted)
    assert "row:" not in insisted.certificate.to_json()
    assert ledger.verify()


def test_a_connection_is_a_source_like_others() -> None:
    rows = people(100)
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        connection.execute("CREATE TABLE people AS SELECT * FROM rows")
        ledger = Memory()
        left(tn.publish(connection, schema=schema(), method="swap", k=4, ledger=ledger))
        renamed = schema().replace(table={"name": "others"})
        with pytest.raises(Conflict):
            tn.publish(rows, schema=renamed, method="swap", k=4, ledger=ledger)


def test_rows_that_stand_twice_are_the_same_rows() -> None:
    bare = people(200).drop_columns(["name"])
    twice = pa.concat_tables([bare, bare])
    assert meet(marks(twice, schema(name=None)), marks(bare, schema(name=None)))


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize("counted", [False, True])
def test_rows_in_passes_leave_the_same_marks(tmp_path: Path, doubled: bool, counted: bool) -> None:
    """With rows that have a double, and with names that merely count the rows, too."""
    table = people(300)
    if doubled:
        table = pa.concat_tables([table.slice(0, 100)] * 3)
    names = [str(i) if counted else f"somebody {i}" for i in range(300)]
    table = table.set_column(table.column_names.index("name"), "name", pa.array(names))
    path = tmp_path / "people.parquet"
    pq.write_table(table, path)
    coding, seen = Coding.of(schema()), NameMarks()
    with (
        open_original(path, schema()) as opened,
        opened.keep(coding.numbers, coding.sizes, 1 << 28, lambda _: None, seen.show) as kept,
    ):
        found = marks_in_passes(path, kept.passes, coding, seen)
    assert found == marks(path)
    assert any(mark.startswith("id:") for mark in found) != counted
    assert any(mark.startswith("row:") for mark in found) != doubled
