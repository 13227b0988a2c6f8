"""k, l and t from rows, counts and passes.

an engine that counts, rows in passes.

`tests/contracts/tally_suite.py` says so of every engine; here is what only files or schemas have.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenue as tn
from contracts.tally_suite import asked, made, unread
from contracts.tally_suite import facts as counts_facts
from tenue.engine.passes import in_memory
from tenue.engine.passes.in_memory import InMemory
from tenue.engine.source import count_queries as statements
from tenue.errors import InvalidTable
from tenue.evaluate import klt, klt_by_counts, rows
from tenue.evaluate.check import check, check_groups
from tenue.evaluate.check_result import Check, Confidential, Reading
from tenue.evaluate.factorize import Codes
from tenue.evaluate.klt import (
    Asked,
    ConfidentialColumn,
    Fold,
    Loaded,
    Part,
    Secret,
    Sizes,
    check_in_passes,
    evaluate,
)
from tenue.evaluate.klt_by_counts import Counted
from tenue.evaluate.one_table.count import Counts, Groups
from tenue.evaluate.one_table.count import counted as counted_values
from tenue.evaluate.one_table.count import counted as facts_counted
from tenue.evaluate.one_table.diversity import distinct_values
from tenue.evaluate.rows import open_counted, open_rows
from unit.evaluate.stated import AGE, schema
from unit.evaluate.stated import ILL as COUNTS_ILL

NAN = math.nan
HEIGHT = [0.0, -0.0, NAN, None, 1.5]
TOWN = ["Ulm", "ulm", "Ulm ", "Bonn", "", None]
PAY = [0.0, -0.0, NAN, None, 1.0, 2.0, 5.0]
ILL = ["flu", "Flu ", "cold", "ulcer", "gastritis", None]
SEEN = [date(2020, 1, 1), date(2020, 1, 2), date(2020, 3, 1), None]
WHO = ["a", "b", "c", "A", None]
KINDS = {
    "height": (pa.float64(), HEIGHT),
    "town": (pa.string(), TOWN),
    "pay": (pa.float64(), PAY),
    "ill": (pa.string(), ILL),
    "seen": (pa.date32(), SEEN),
    "who": (pa.string(), WHO),
}
ROWS = st.lists(
    st.tuples(*(st.sampled_from(range(len(pool))) for _, pool in KINDS.values())),
    min_size=1,
    max_size=40,
)
TREE = {"any": {"infection": ["flu", "Flu ", "cold"], "stomach": ["ulcer", "gastritis"]}}
COLUMNS: dict[str, dict[str, Any]] = {
    "height": {"type": "number", "bounds": [0, 2], "grid": 0.5, "role": "quasi-identifier"},
    "town": {
        "type": "category",
        "categories": [town for town in TOWN if town],
        "role": "quasi-identifier",
    },
    "pay": {"type": "number", "bounds": [0, 5], "role": "confidential"},
    "ill": {"type": "category", "taxonomy": TREE, "role": "confidential"},
    "seen": {"type": "date", "bounds": ["2020-01-01", "2020-12-31"], "role": "confidential"},
    "who": {"type": "identifier"},
}
KLT_SCHEMA = schema(COLUMNS)
PERSONS = schema(COLUMNS, unit="who", rows_per_unit=40)


def table_of(rows: list[tuple[int, ...]]) -> pa.Table:
    return pa.table(
        {
            name: pa.array([pool[row[j]] for row in rows], kind)
            for j, (name, (kind, pool)) in enumerate(KINDS.items())
        }
    )


ASKED = Asked(("height", "town"), ("pay", "ill", "seen"), None, KLT_SCHEMA)
BY_PERSON = Asked(ASKED.known, ASKED.wanted, "who", PERSONS)
CONNECTION = duckdb.connect()


def in_rows(table: pa.Table, asked: Asked) -> dict[str, Any]:
    return facts(Loaded(open_rows(table), asked))


def counted(table: pa.Table, asked: Asked) -> dict[str, Any]:
    """By DuckDB, a few combinations at a time."""
    CONNECTION.register("handed", table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statements, "BATCH", 2048)
        patch.setattr(klt_by_counts, "_MANY", 3)
        with open_counted(CONNECTION.table("handed")) as rows:
            assert rows.there is not None
            return facts(Counted(rows, rows.there, asked))


def facts(feeder: Loaded | Counted) -> dict[str, Any]:
    found = evaluate(feeder)
    about = (feeder.respelled, feeder.renamed, [one.kind for one in feeder.columns])
    return {"check": found.check(ASKED.known), "merged": found.merged, "about": about}


def in_passes(table: pa.Table, batch: int) -> Check:
    """By the numbers of values: what rows show of height and town, and the declared domain."""

    def looks(name: str) -> np.ndarray:
        shown = [
            None if value is None else struct.pack("d", value) if name == "height" else value
            for value in table.column(name).to_pylist()
        ]
        order = sorted(set(shown), key=repr)
        return np.array([order.index(one) for one in shown])

    def domain(name: str) -> np.ndarray:
        column = KLT_SCHEMA.columns[name]
        if name == "ill":
            values: list[Any] = list(column.categories)  # type: ignore[attr-defined]
        else:
            values = sorted({one for one in KINDS[name][1] if one is not None and one == one})
        found = table.column(name).to_pylist()
        return np.array(
            [0 if one is None or one != one else values.index(one) + 1 for one in found]
        )

    names = ["pay", "ill", "seen"]
    rows = np.stack([looks("height"), looks("town"), *map(domain, names)], axis=1)
    secrets = [Secret(KLT_SCHEMA.columns[name], 2 + j) for j, name in enumerate(names)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_memory, "BATCH", batch)
        groups = lambda part: [part[:, 0], part[:, 1]]  # noqa: E731
        return check_in_passes(InMemory(rows), groups, ["height", "town"], secrets)


def agree_in_all(rows: list[tuple[int, ...]], batch: int) -> None:
    table = table_of(rows)
    expected = in_rows(table, ASKED)
    assert counted(table, ASKED) == expected
    assert replace(in_passes(table, batch), notes=()) == expected["check"]


def agree_on_persons(rows: list[tuple[int, ...]]) -> None:
    table = table_of(rows)
    expected = in_rows(table, BY_PERSON)
    assert counted(table, BY_PERSON) == expected
    names = sorted({row[5] for row in rows})
    persons = Codes(np.array([names.index(row[5]) for row in rows]), len(names))
    given = facts(Loaded(open_rows(table), ASKED, persons))
    assert given["check"] == expected["check"]


@settings(max_examples=8)
@given(ROWS, st.integers(1, 7))
def test_rows_counts_and_passes_agree_to_the_last_digit(
    rows: list[tuple[int, ...]], batch: int
) -> None:
    agree_in_all(rows, batch)


@settings(max_examples=8)
@given(ROWS)
def test_units_with_several_rows_are_counted_alike(rows: list[tuple[int, ...]]) -> None:
    agree_on_persons(rows)


@pytest.mark.slow
@settings(max_examples=300)
@given(ROWS, st.integers(1, 7))
def test_many_tables_agree(rows: list[tuple[int, ...]], batch: int) -> None:
    agree_in_all(rows, batch)
    agree_on_persons(rows)


# -- the evaluator ---------------------------------------------------------------------------------

KLT_LABELS = np.array([0, 0, 1, 1, 1, 2, 2])
KLT_VALUES = {"ill": np.array([0, 0, 0, 1, 1, 1, 2]), "pay": np.array([0, 1, 0, 1, 1, 2, 2])}


def feeder(*ends: tuple[int, int], less: int = 0) -> Any:
    """Groups of seven rows, handed over in these pieces; `less` rows of the first are lost."""

    def parts(values: np.ndarray) -> Iterator[Part]:
        totals = np.bincount(values, minlength=3)
        for first, last in ends:
            here = (first <= KLT_LABELS) & (last > KLT_LABELS)
            groups = Groups(KLT_LABELS[here] - first, last - first)
            found = replace(counted_values(groups, Codes(values[here], 3)), totals=totals)
            sizes = groups.sizes - np.where(np.arange(groups.count) == 0, less, 0)
            yield Part(found, distinct_values(found), sizes)

    def confidential() -> Iterator[ConfidentialColumn]:
        for name, values in KLT_VALUES.items():
            yield ConfidentialColumn(name, False, partial(parts, values))

    sizes = np.bincount(KLT_LABELS)
    return SimpleNamespace(
        confidential=confidential, sizes=lambda: Sizes(sizes, sizes, np.ones(3, int))
    )


@pytest.mark.parametrize("ends", [[(0, 3)], [(0, 1), (1, 2), (2, 3)], [(0, 2), (2, 3)]])
def test_groups_that_show_one_value_of_some_column_are_counted_once(
    ends: list[tuple[int, int]],
) -> None:
    """Group 0 shows its illness, group 2 its pay: four of seven rows, whatever the pieces.

    The mutants count the groups of the last column only (2 rows), or add the columns up.
    """
    found = evaluate(feeder(*ends))
    assert (found.homogeneous_groups, found.homogeneous_rows) == (2, 4)
    assert [one.homogeneous_groups for one in found.confidential] == [1, 1]


@pytest.mark.parametrize(
    ("ends", "less"), [([(0, 2)], 0), ([(0, 3), (2, 3)], 0), ([(0, 3)], 1), ([(0, 1), (0, 3)], 0)]
)
def test_groups_that_do_not_belong_together_are_refused(
    ends: list[tuple[int, int]], less: int
) -> None:
    """The mutant measures whatever it is handed."""
    with pytest.raises(InvalidTable, match="changed while it was read"):
        evaluate(feeder(*ends, less=less))


# -- Facts do not depend on how groups are handed over, as long as each is whole -------------------

LABELS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3])
VALUES = np.array([0, 1, 2, 0, 2, 0, 1, 1, -1, 1, 2])


def part(first: int, last: int) -> tuple[Counts, np.ndarray]:
    """The counts of some groups, beside the totals of the whole table."""
    here = (first <= LABELS) & (last > LABELS)
    groups = Groups(LABELS[here] - first, last - first)
    totals = np.bincount(VALUES[VALUES >= 0], minlength=3)
    return replace(facts_counted(groups, Codes(VALUES[here], 3)), totals=totals), groups.sizes


def folded(*parts: tuple[int, int], ordered: bool) -> Confidential:
    fold = Fold("x", ordered=ordered)
    for ends in parts:
        counts, sizes = part(*ends)
        fold.add(Part(counts, distinct_values(counts), sizes))
    return fold.measured(LABELS.size)


@pytest.mark.parametrize("ordered", [True, False])
def test_parts_and_their_order_change_nothing(ordered: bool) -> None:
    whole = folded((0, 4), ordered=ordered)
    assert folded((0, 1), (1, 2), (2, 4), ordered=ordered) == whole
    assert folded((2, 4), (0, 2), ordered=ordered) == whole
    assert whole.l == 2
    assert folded((0, 2), ordered=ordered) != whole  # a group that is left out is missed


def test_facts_of_rows_are_those_of_each_group() -> None:
    rows = open_rows([[30, 1], [30, 2], [40, 1], [40, 1], [40, 1]])
    found = evaluate(Loaded(rows, Asked(("0",), ("1",), None, None)))
    assert (found.sizes.rows, found.sizes.groups, found.sizes.sizes.tolist()) == (5, 2, [2, 3])
    assert (found.homogeneous_groups, found.homogeneous_rows) == (1, 3)


# -- Counts that come in order give what the whole table gives, group by group ---------------------

SCHEMA = tn.Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "age": {"type": "number", "bounds": [0, 9], "role": "quasi-identifier"},
            "town": {"type": "category", "categories": ["a", "b"], "role": "quasi-identifier"},
            "pay": {"type": "number", "bounds": [0, 99], "role": "confidential"},
            "ill": {
                "type": "category",
                "categories": ["flu", "Flu ", "cold"],
                "role": "confidential",
            },
        },
    }
)
ROW = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 6), st.integers(0, 3))


def arrow(rows: np.ndarray) -> pa.Table:
    """What the numbers of rows stand for."""

    def column(j: int, values: list[Any]) -> pa.Array:
        return pa.array([values[code - 1] if code else None for code in rows[:, j].tolist()])

    return pa.table(
        {
            "age": column(0, list(range(10))),
            "town": column(1, ["a", "b"]),
            "pay": column(2, list(range(100))),
            "ill": column(3, ["flu", "Flu ", "cold"]),
        }
    )


def streamed(rows: np.ndarray) -> Any:
    secrets = [Secret(SCHEMA.columns["pay"], 2), Secret(SCHEMA.columns["ill"], 3)]
    groups = lambda part: [part[:, 0], part[:, 1]]  # noqa: E731
    return check_in_passes(InMemory(rows), groups, ["age", "town"], secrets)


@given(st.lists(ROW, min_size=1, max_size=25), st.integers(1, 5))
def test_k_l_and_t_are_those_of_the_table(given: list[tuple[int, ...]], batch: int) -> None:
    rows = np.array(given)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_memory, "BATCH", batch)
        found = streamed(rows)
    expected = check_groups(arrow(rows), SCHEMA)
    sizes = [one.size_of_farthest for one in (*found.confidential, *expected.confidential)]
    same = [replace(one, size_of_farthest=0) for one in found.confidential]
    wanted = [replace(one, size_of_farthest=0) for one in expected.confidential]
    assert all(size > 0 for size in sizes)  # which of two that are equally far is not said
    for one, other in zip(same, wanted, strict=True):
        assert one.l_entropy == pytest.approx(other.l_entropy)
        assert replace(one, l_entropy=0) == replace(other, l_entropy=0)
    assert replace(found, confidential=()) == replace(expected, confidential=())


def test_a_group_that_is_cut_by_a_batch_would_look_smaller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant takes batches as they come."""
    rows = np.array([[1, 1, pay, 1] for pay in (1, 2, 3, 4)])
    monkeypatch.setattr(in_memory, "BATCH", 2)
    assert streamed(rows).confidential[0].l == 4
    monkeypatch.setattr(klt, "whole_runs", lambda batches, keys: map(list, batches))
    with pytest.raises((AssertionError, ValueError)):
        assert streamed(rows).confidential[0].l == 4


# Counts that are made where the rows are give the facts of the rows, to the last digit.


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts as large, and a few combinations are looked at together."""
    monkeypatch.setattr(rows, "LARGE", 0)
    monkeypatch.setattr(statements, "BATCH", 2048)
    monkeypatch.setattr(klt_by_counts, "_MANY", 3)


@pytest.mark.parametrize("number", range(20))
def test_a_large_text_is_measured_like_a_small_one(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(number)
    table, how = made(draw), asked(draw)
    path = tmp_path / "table.csv"
    pyarrow.csv.write_csv(table, path)
    expected = counts_facts(check(path, **how))
    monkeypatch.setattr(rows, "LARGE", 0)
    monkeypatch.setattr(klt_by_counts, "_MANY", 3)
    unread(monkeypatch)
    assert counts_facts(check(path, **how)) == expected


def test_a_schema_says_the_same_of_a_large_file(tmp_path: Path, large: None) -> None:
    declared = schema({"age": AGE, "ill": COUNTS_ILL})
    table = pa.table(
        {"age": [30, 30, 40, 40], "ill": ["flu", "Flu", None, "cold"], "more": [[1], [2], [3], []]}
    )
    path = tmp_path / "table.parquet"
    pq.write_table(table, path)
    found = check(path, declared)
    assert counts_facts(found) == counts_facts(check(table, declared))
    # lists cannot be compared there; that they are no names, one of them tells
    assert found.reading == Reading("DuckDB", counts=11, rows=4)
    other = {"type": "category", "categories": ["a"], "role": "other"}
    open_to_all = schema({"age": AGE, "ill": COUNTS_ILL, "more": other})
    seen = check(path, open_to_all)
    assert counts_facts(seen) == counts_facts(check(table, open_to_all))
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
    declared = schema({"age": AGE, "who": number, "ill": COUNTS_ILL})
    expected = counts_facts(check(table, declared, unit="who"))
    assert counts_facts(check(path, declared, unit="who")) == expected
    monkeypatch.setattr(klt_by_counts.Counted, "_needs_every", lambda self, name: name != "who")
    assert (counts_facts(check(path, declared, unit="who")) == expected) == ("x" not in names)


def test_names_of_persons_are_not_held_while_groups_are_looked_at(
    tmp_path: Path, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, many = tmp_path / "table.parquet", 20_000
    ages, ills = [i // 4 for i in range(many)], [i % 2 for i in range(many)]
    people = [f"person {i}" for i in range(many)]
    pq.write_table(pa.table({"age": ages, "ill": ills, "who": people}), path)
    together = []
    parts = klt_by_counts.Counted._parts

    def counting(self: klt_by_counts.Counted, others: list[str], most: int) -> Iterator[Any]:
        for part in parts(self, others, most):
            together.append(len(part.table))
            yield part

    monkeypatch.setattr(klt_by_counts.Counted, "_parts", counting)
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
