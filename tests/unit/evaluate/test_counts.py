"""Counts that are made where the rows are give the facts of the rows, to the last digit.

`tests/contracts/tally_suite.py` says so of every engine; here is what only files or schemas have.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from contracts.tally_suite import asked, facts, made, unread
from tenue.engine.source import tally as statements
from tenue.errors import InvalidTable
from tenue.evaluate import counts, rows
from tenue.evaluate.check import check
from tenue.evaluate.verdict import Reading
from unit.evaluate.stated import AGE, ILL, schema


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts as large, and a few combinations are looked at together."""
    monkeypatch.setattr(rows, "LARGE", 0)
    monkeypatch.setattr(statements, "BATCH", 2048)
    monkeypatch.setattr(counts, "_MANY", 3)


@pytest.mark.parametrize("number", range(20))
def test_a_large_text_is_measured_like_a_small_one(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(number)
    table, how = made(draw), asked(draw)
    path = tmp_path / "table.csv"
    pyarrow.csv.write_csv(table, path)
    expected = facts(check(path, **how))
    monkeypatch.setattr(rows, "LARGE", 0)
    monkeypatch.setattr(counts, "_MANY", 3)
    unread(monkeypatch)
    assert facts(check(path, **how)) == expected


def test_a_schema_says_the_same_of_a_large_file(tmp_path: Path, large: None) -> None:
    declared = schema({"age": AGE, "ill": ILL})
    table = pa.table(
        {"age": [30, 30, 40, 40], "ill": ["flu", "Flu", None, "cold"], "more": [[1], [2], [3], []]}
    )
    path = tmp_path / "table.parquet"
    pq.write_table(table, path)
    found = check(path, declared)
    assert facts(found) == facts(check(table, declared))
    # lists cannot be compared there; that they are no names, one of them tells
    assert found.reading == Reading("DuckDB", counts=11, rows=4)
    other = {"type": "category", "categories": ["a"], "role": "other"}
    open_to_all = schema({"age": AGE, "ill": ILL, "more": other})
    seen = check(path, open_to_all)
    assert facts(seen) == facts(check(table, open_to_all))
    assert seen.reading == Reading("DuckDB", counts=11, rows=4, columns=("more",))


@pytest.mark.parametrize("names", [["17", "017", "18", "18"], ["17", "017", "x", "18"]])
def test_names_that_are_declared_numbers_are_such_if_all_of_them_are(
    names: list[str], tmp_path: Path, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant looks at one group at a time, where 17 and 017 are one even beside an x."""
    table = pa.table({"age": [30, 30, 40, 40], "who": names, "ill": ["flu", "cold"] * 2})
    path = tmp_path / "table.csv"
    pyarrow.csv.write_csv(table, path)
    number = {"type": "number", "bounds": [0, 99]}
    declared = schema({"age": AGE, "who": number, "ill": ILL})
    expected = facts(check(table, declared, unit="who"))
    assert facts(check(path, declared, unit="who")) == expected
    monkeypatch.setattr(counts.Counted, "_needs_every", lambda self, name: name != "who")
    assert (facts(check(path, declared, unit="who")) == expected) == ("x" not in names)


def test_names_of_persons_are_not_held_while_groups_are_looked_at(
    tmp_path: Path, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, many = tmp_path / "table.parquet", 20_000
    ages, ills = [i // 4 for i in range(many)], [i % 2 for i in range(many)]
    people = [f"person {i}" for i in range(many)]
    pq.write_table(pa.table({"age": ages, "ill": ills, "who": people}), path)
    together = []
    parts = counts.Counted._parts

    def counting(self: counts.Counted, others: list[str], most: int) -> Iterator[Any]:
        for part in parts(self, others, most):
            together.append(len(part.table))
            yield part

    monkeypatch.setattr(counts.Counted, "_parts", counting)
    found = check(path, quasi_identifiers=["age"], confidential=["ill"], unit="who")
    assert (found.k, found.l) == (4, 2)
    assert max(together) < many / 4


def test_a_table_that_changes_between_two_statements_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant adds up counts of two states."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 30 + i % 2 AS age FROM range(6) r(i)")
    sizes = statements.Tally.sizes

    def meanwhile(self: statements.Tally, names: list[str]) -> Any:
        connection.execute("INSERT INTO t VALUES (30)")
        return sizes(self, names)

    monkeypatch.setattr(statements.Tally, "sizes", meanwhile)
    with pytest.raises(InvalidTable, match="changed while it was read"):
        check(connection.table("t"), quasi_identifiers=["age"])


def test_a_relation_that_can_be_read_once_is_refused() -> None:
    table = pa.table({"age": [30, 30, 40, 40]})
    stream = duckdb.connect().from_arrow(table.to_reader())
    with pytest.raises(InvalidTable):
        check(stream, quasi_identifiers=["age"])
    assert check(table.to_reader(), quasi_identifiers=["age"]).k == 2


def test_a_value_that_was_not_there_before_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant takes its number for that of another value, or finds no place for it."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 30 AS age, i % 2 AS ill FROM range(6) r(i)")
    sizes = statements.Tally.sizes

    def meanwhile(self: statements.Tally, names: list[str]) -> Any:
        found = sizes(self, names)
        connection.execute("UPDATE t SET ill = 9 WHERE ill = 1")
        return found

    monkeypatch.setattr(statements.Tally, "sizes", meanwhile)
    with pytest.raises(InvalidTable, match="changed while it was read"):
        check(connection.table("t"), quasi_identifiers=["age"], confidential=["ill"])
