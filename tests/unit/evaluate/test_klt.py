"""k, l and t are the same to the last digit whoever hands over the groups: rows that are read,
an engine that counts, rows in passes."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import partial
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.engine import held
from tenue.engine.held import Held
from tenue.engine.source import tally as statements
from tenue.errors import InvalidTable
from tenue.evaluate import counts
from tenue.evaluate.code import Codes
from tenue.evaluate.counts import Counted
from tenue.evaluate.facts import Asked, Loaded, Stored
from tenue.evaluate.group.count import Groups
from tenue.evaluate.group.count import counted as counted_values
from tenue.evaluate.group.diversity import distinct_values
from tenue.evaluate.in_passes import Secret, check_in_passes
from tenue.evaluate.klt import ConfidentialColumn, Part, Sizes, evaluate
from tenue.evaluate.rows import open_counted, open_rows
from tenue.evaluate.verdict import Check
from unit.evaluate.stated import schema

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
SCHEMA = schema(COLUMNS)
PERSONS = schema(COLUMNS, unit="who", rows_per_unit=40)


def table_of(rows: list[tuple[int, ...]]) -> pa.Table:
    return pa.table(
        {
            name: pa.array([pool[row[j]] for row in rows], kind)
            for j, (name, (kind, pool)) in enumerate(KINDS.items())
        }
    )


ASKED = Asked(("height", "town"), ("pay", "ill", "seen"), None, SCHEMA)
BY_PERSON = Asked(ASKED.known, ASKED.wanted, "who", PERSONS)
CONNECTION = duckdb.connect()


def in_rows(table: pa.Table, asked: Asked) -> dict[str, Any]:
    return facts(Loaded(open_rows(table), asked))


def counted(table: pa.Table, asked: Asked) -> dict[str, Any]:
    """By DuckDB, a few combinations at a time."""
    CONNECTION.register("handed", table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statements, "BATCH", 2048)
        patch.setattr(counts, "_MANY", 3)
        with open_counted(CONNECTION.table("handed")) as rows:
            assert rows.there is not None
            return facts(Counted(rows, rows.there, asked))


def facts(feeder: Stored) -> dict[str, Any]:
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
        column = SCHEMA.columns[name]
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
    secrets = [Secret(SCHEMA.columns[name], 2 + j) for j, name in enumerate(names)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held, "BATCH", batch)
        groups = lambda part: [part[:, 0], part[:, 1]]  # noqa: E731
        return check_in_passes(Held(rows), groups, ["height", "town"], secrets)


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

LABELS = np.array([0, 0, 1, 1, 1, 2, 2])
VALUES = {"ill": np.array([0, 0, 0, 1, 1, 1, 2]), "pay": np.array([0, 1, 0, 1, 1, 2, 2])}


def feeder(*ends: tuple[int, int], less: int = 0) -> Any:
    """Groups of seven rows, handed over in these pieces; `less` rows of the first are lost."""

    def parts(values: np.ndarray) -> Iterator[Part]:
        totals = np.bincount(values, minlength=3)
        for first, last in ends:
            here = (first <= LABELS) & (last > LABELS)
            groups = Groups(LABELS[here] - first, last - first)
            found = replace(counted_values(groups, Codes(values[here], 3)), totals=totals)
            sizes = groups.sizes - np.where(np.arange(groups.count) == 0, less, 0)
            yield Part(found, distinct_values(found), sizes)

    def confidential() -> Iterator[ConfidentialColumn]:
        for name, values in VALUES.items():
            yield ConfidentialColumn(name, False, partial(parts, values))

    sizes = np.bincount(LABELS)
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
