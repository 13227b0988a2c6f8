"""One number for each unit, of all of its rows, whoever else is there."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from oracle_engine import OracleEngine
from tenue.engine.contract import Profile
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.people.contribution import contributions
from tenue.engine.request import (
    Contribution,
    ContributionRequest,
    Group,
    People,
    Predicate,
    Window,
    Within,
)
from tenue.engine.source.location import Relation
from tenue.errors import Refused
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "who", "neighbours": "replace", "rows_per_unit": 1},
        "columns": {
            "who": {"type": "identifier"},
            "c": {"type": "category", "categories": ["0", "1", "2"]},
            "n": {"type": "number", "bounds": [-100, 100]},
        },
    }
)
EVERYTHING = Window(1, 0, 10**6, -(10**6), 10**6)
ASKED = [
    Contribution("rows"),
    Contribution("cells"),
    *(Contribution("rows", columns=names) for names in (("n",), ("c",), ("c", "n"))),
    *(Contribution("cells", columns=names) for names in (("n",), ("c", "n"))),
    Contribution("least", "n"),
    Contribution("largest", "n"),
    Contribution("beyond", "n", -20, 30),
]
NAMES = ["-".join([asked.kind, *asked.columns]) for asked in ASKED]
Rows = list[dict[str, Any]]
Found = Callable[[Rows, ContributionRequest], Profile]
STORED = pa.schema([("who", pa.int64()), ("c", pa.string()), ("n", pa.int64())])


def rows_of(seed: int, people: int = 6) -> Rows:
    made = random.Random(seed)
    return [
        {
            "who": made.choice([None, *range(people)]),
            "c": made.choice(["0", "1", "2", "else", None]),
            "n": made.choice([None, *range(-150, 150, 7)]),
        }
        for _ in range(made.randrange(40))
    ]


def found(rows: Rows, request: ContributionRequest) -> Profile:
    with duckdb.connect() as connection:
        relation = connection.from_arrow(pa.Table.from_pylist(rows, STORED))
        engine = DuckDB(Relation(relation), SCHEMA)
        assert engine._store is not None
        return contributions(request, engine._table, engine._store.run)


def numbers(profile: Profile) -> Counter[int]:
    return Counter({value: count for value, _, count in profile.values})


@pytest.mark.parametrize("asked", ASKED, ids=NAMES)
def test_contributions_are_those_of_the_oracle(asked: Contribution) -> None:
    wheres: list[Predicate | None] = [None, Within("n", 0, None)]
    for seed, where, keys in itertools.product(range(4), wheres, [(), (Group("c", 3),)]):
        rows = rows_of(seed)
        request = ContributionRequest(asked, "who", (EVERYTHING,), -70, 90, where, keys)
        assert found(rows, request) == OracleEngine(SCHEMA, rows).contributions(request)


def check_one_number(measured: Found, asked: Contribution, seed: int) -> None:
    """Whoever leaves takes one number with them, and changes no other."""
    rows, keys = rows_of(seed), (Group("c", 3),)
    request = ContributionRequest(asked, "who", (EVERYTHING,), 0, 5, None, keys)
    everybody = numbers(measured(rows, request))
    for person in range(6):
        rest = numbers(measured([row for row in rows if row["who"] != person], request))
        assert rest <= everybody
        assert (everybody - rest).total() <= 1


@pytest.mark.parametrize("asked", ASKED, ids=NAMES)
def test_a_person_is_one_number(asked: Contribution) -> None:
    for seed in range(3):
        check_one_number(found, asked, seed)


def test_a_number_for_each_row_is_seen() -> None:
    """The mutant: what a row adds, in place of what a person adds."""

    def by_row(rows: Rows, request: ContributionRequest) -> Profile:
        marked = [row | {"who": 6 * i + (row["who"] or 0)} for i, row in enumerate(rows)]
        return OracleEngine(SCHEMA, marked).contributions(request)

    with pytest.raises(AssertionError):
        check_one_number(by_row, Contribution("cells"), 1)


def test_a_number_of_cut_rows_is_not_that_of_all() -> None:
    """The mutant: contributions after the limit that they shall help to choose."""
    rows = [{"who": 1, "c": "0", "n": i} for i in range(9)]
    oracle = OracleEngine(SCHEMA, rows)
    cut = [
        row for _, row in oracle.kept(People("who", 3, None), oracle._rows(None, ()), keyed=False)
    ]
    request = ContributionRequest(Contribution("rows"), "who", (EVERYTHING,), 1, 100)
    assert numbers(found(rows, request)) == {9: 1}
    assert numbers(OracleEngine(SCHEMA, cut).contributions(request)) == {3: 1}


def test_a_row_without_a_value_is_none_of_the_column() -> None:
    """The most rows with one of the columns, not the rows with any of them; who has none is out."""
    rows = [{"who": 1, "c": c, "n": n} for c, n in [("0", None), (None, 1), (None, 2), ("x", None)]]
    rows += [{"who": 2, "c": None, "n": None}] * 3
    for names, most in [
        ((), {4: 1, 3: 1}),
        (("n",), {2: 1}),
        (("c", "n"), {2: 1}),
        (("c",), {1: 1}),
    ]:
        asked = Contribution("rows", columns=names)
        assert numbers(found(rows, ContributionRequest(asked, "who", (EVERYTHING,), 0, 9))) == most


def test_a_column_without_a_sum_and_a_window_without_ranks_are_refused() -> None:
    with pytest.raises(Refused):
        found([], ContributionRequest(Contribution("largest", "c"), "who", (), 0, 1))
    with pytest.raises(Refused):
        found([], ContributionRequest(Contribution("rows"), "who", (Window(1, 2, 0, 0, 1),), 0, 1))
