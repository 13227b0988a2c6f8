"""Few rows of each unit, chosen uniformly and measured apart."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alarm import claim, mean_within
from every_order import law
from oracle_engine import OracleEngine
from tenue.engine.computed_column import Among, Computed, Predicate, Steps, Sum, Within
from tenue.engine.contract import Profile
from tenue.engine.contribution_bounds import measure, rows_by_unit
from tenue.engine.contribution_bounds import rows_by_unit as people
from tenue.engine.contribution_bounds.measure import Place, measure_people, rank_people
from tenue.engine.contribution_bounds.rows_by_unit import (
    CHOSEN,
    Reader,
    dense,
    few,
    few_cells,
    passes,
    unit_rows,
)
from tenue.engine.contribution_bounds.unit_totals import contributions
from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.duckdb.sandbox import ArrowBench
from tenue.engine.open import open_engine
from tenue.engine.request import (
    Bin,
    Contribution,
    ContributionRequest,
    Group,
    Measure,
    People,
    RankRequest,
    Request,
    Units,
    UnitValue,
    Window,
)
from tenue.engine.source.location import Relation
from tenue.engine.sql.logical_table import Logical, Stored
from tenue.errors import InvalidArgument, Refused
from tenue.noise.source import SYSTEM, Seeded, Source
from tenue.schema import Schema

Chooser = Callable[[npt.NDArray[Any], int, Source], npt.NDArray[np.bool_]]


def whole(numbers: list[int]) -> npt.NDArray[np.uint32]:
    return np.array(numbers, dtype=np.uint32)


class Given:
    """Hands out these words, whatever they are asked for."""

    safe = False

    def __init__(self, *words: list[int]) -> None:
        self.left = list(words)

    def words(self, count: int, bits: int = 64) -> npt.NDArray[Any]:
        words = self.left.pop(0)
        assert len(words) == count
        return np.array(words, dtype=np.uint32 if bits == 32 else np.uint64)


@given(st.lists(st.integers(0, 4), max_size=30), st.integers(1, 6))
def test_as_many_rows_of_each_unit_are_kept_as_may_be(units: list[int], limit: int) -> None:
    kept = few(whole(units), limit, SYSTEM)
    found = Counter(itertools.compress(units, kept))
    assert found == {unit: min(count, limit) for unit, count in Counter(units).items()}


def uniform(units: list[int], limit: int) -> dict[Any, Fraction]:
    """For each unit each of its sets is as likely as any other, whatever the others keep."""
    places = [[i for i, other in enumerate(units) if other == unit] for unit in sorted({*units})]
    sets = [list(itertools.combinations(own, min(limit, len(own)))) for own in places]
    every = list(itertools.product(*sets))
    return {frozenset(itertools.chain(*chosen)): Fraction(1, len(every)) for chosen in every}


def law_of(chooser: Chooser, units: list[int], limit: int) -> dict[Any, Fraction]:
    return law(
        lambda orders: frozenset(np.flatnonzero(chooser(whole(units), limit, orders)).tolist())
    )


def first_rows(units: npt.NDArray[Any], limit: int, source: Source) -> npt.NDArray[np.bool_]:
    return few(units, limit, Given([0] * len(units), list(range(len(units)))))


def one_order_for_all(units: npt.NDArray[Any], limit: int, source: Source) -> npt.NDArray[np.bool_]:
    """The first of each unit shares its tag with the first of any other, and so on."""
    tags = source.words(max(Counter(units.tolist()).values()), 32)
    met: Counter[int] = Counter()
    shared = []
    for unit in units.tolist():
        shared.append(int(tags[met[unit]]))
        met[unit] += 1
    return few(units, limit, Given(shared))


def without_units(units: npt.NDArray[Any], limit: int, source: Source) -> npt.NDArray[np.bool_]:
    return few(np.zeros_like(units), limit, source)


TABLES = [[0, 0], [3, 3, 3], [0, 1, 0, 1], [2, 2, 5, 2, 5], [0, 0, 0, 0], [7, 1, 1, 1, 2]]


@pytest.mark.parametrize("units", TABLES, ids=str)
@pytest.mark.parametrize("limit", [1, 2])
def test_every_choice_is_exactly_as_likely_as_any_other(units: list[int], limit: int) -> None:
    assert law_of(few, units, limit) == uniform(units, limit)


@pytest.mark.parametrize("wrong", [first_rows, one_order_for_all, without_units])
def test_a_wrong_choice_has_another_law(wrong: Chooser) -> None:
    units = [0, 1, 0, 1]
    assert law_of(wrong, units, 1) != uniform(units, 1)


@given(st.lists(st.integers(0, 3), min_size=3, max_size=20), st.randoms(use_true_random=False))
def test_what_a_unit_keeps_depends_on_its_own_words(units: list[int], random: Any) -> None:
    """With the words of its rows, alone or among others, it keeps the same."""
    words = [tag << 20 for tag in random.sample(range(2**12), len(units))]
    together = few(whole(units), 2, Given(words))
    for unit in set(units):
        own = [i for i, other in enumerate(units) if other == unit]
        alone = few(whole([unit] * len(own)), 2, Given([words[i] for i in own]))
        assert together[own].tolist() == alone.tolist()


def test_equal_tags_are_drawn_again_so_that_no_row_is_preferred() -> None:
    same = [9] * 3
    kept = Counter(
        int(np.flatnonzero(few(whole([0] * 3), 1, Given(same, list(again))))[0])
        for again in itertools.permutations([5, 6, 7])
    )
    assert kept == {0: 2, 1: 2, 2: 2}
    # two of the new words are equal: all are drawn once more
    once_more = Given(same, [5, 5, 7], [3, 2, 1])
    assert np.flatnonzero(few(whole([0] * 3), 1, once_more)).tolist() == [2]


def test_ties_left_alone_would_prefer_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_by_unit, "_untie", lambda *_: None)
    assert few(whole([0] * 3), 1, Given([9] * 3)).tolist() == [True, False, False]


def test_many_rows_in_several_blocks() -> None:
    units = Seeded(3).words(300_000, 32) % 60_000
    kept = few(units, 3, SYSTEM)
    whole_counts = np.bincount(units, minlength=60_000)
    assert (np.bincount(units[kept], minlength=60_000) == np.minimum(whole_counts, 3)).all()
    one = np.zeros(200_000, dtype=np.uint8)
    for limit in (1, 2**16 - 1, 2**16, 2**16 + 1, 199_999):
        assert few(one, limit, SYSTEM).sum() == limit


def test_units_too_wide_to_be_packed_are_numbered_first() -> None:
    units = np.array([2**63, 5, 2**63, 5, 2**63], dtype=np.uint64)
    kept = few(units, 1, SYSTEM)
    assert Counter(units[kept].tolist()) == {2**63: 1, 5: 1}


# -- cells -----------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 2, 2**40])), max_size=25),
    st.integers(1, 3),
)
def test_as_many_cells_of_each_unit_are_kept_as_may_be(
    rows: list[tuple[int, int]], limit: int
) -> None:
    units, cells = (np.array([row[i] for row in rows], dtype=np.int64) for i in (0, 1))
    kept = few_cells(units, cells, limit, SYSTEM)
    for unit in set(units.tolist()):
        own = {cell for who, cell in rows if who == unit}
        left = {
            cell for (who, cell), there in zip(rows, kept, strict=True) if there and who == unit
        }
        assert len(left) == min(limit, len(own))
        for (who, cell), there in zip(rows, kept, strict=True):
            if who == unit:
                assert there == (cell in left), "a cell is kept whole or not at all"


def test_cells_are_as_likely_however_many_rows_they_have() -> None:
    units, cells = whole([4] * 5), whole([0, 1, 1, 1, 2])
    found = law(lambda orders: frozenset(cells[few_cells(units, cells, 2, orders)].tolist()))
    assert found == {
        frozenset(pair): Fraction(1, 3) for pair in itertools.combinations(range(3), 2)
    }


def test_cells_and_units_too_wide_to_be_packed() -> None:
    units = np.array([2**40, 1, 2**40, 1], dtype=np.int64)
    cells = np.array([2**40, 3, 5, 3], dtype=np.int64)
    kept = few_cells(units, cells, 1, SYSTEM)
    assert kept[[1, 3]].all()
    assert kept[[0, 2]].sum() == 1


# -- numbering -------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([0, 1, 2, 2**32, 2**63 - 1, -1, -(2**63)]), max_size=30))
def test_equal_numbers_and_only_those_get_the_same_place(numbers: list[int]) -> None:
    codes = dense(np.array(numbers, dtype=np.int64)).tolist()
    assert len(set(codes)) == len(set(numbers)) == len(set(zip(codes, numbers, strict=True)))
    assert sorted(set(codes)) == list(range(len(set(numbers))))


def test_numbers_that_share_their_high_bits_are_told_apart() -> None:
    """Values whose stirred words differ in the low bits only, which the sort does not see."""
    back = pow(int(rows_by_unit._ODD), -1, 2**64)
    values = np.array([(2**60 + i % 3) * back % 2**64 for i in range(60)], dtype=np.uint64)
    stirred = values * rows_by_unit._ODD
    assert len({int(word) >> 6 for word in stirred.tolist()}) == 1
    codes = dense(values)
    assert sorted(Counter(codes.tolist()).values()) == [20, 20, 20]
    assert all(len(set(codes[i::3].tolist())) == 1 for i in range(3))


# -- From rows to chosen rows: parts, units of every kind, limits that are none --------------------

CROWD_SCHEMA = Schema.from_dict(
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
CROWD_ASKED = (Measure("rows"), Measure("total", "n"), Measure("units"))


def opened(connection: duckdb.DuckDBPyConnection) -> DuckDB:
    return DuckDB(Relation(connection.sql(TABLE)), CROWD_SCHEMA)


def asked(limits: People) -> Request:
    return Request(CROWD_ASKED, None, (Group("c", 3),), limits)


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


def crowd_reader(connection: duckdb.DuckDBPyConnection) -> Reader:
    return Reader(
        lambda sql: connection.execute(sql).fetchall(),
        lambda sql: connection.sql(sql).to_arrow_table(),
    )


@pytest.mark.parametrize("unit", UNITS.values(), ids=list(UNITS))
@pytest.mark.parametrize("most", [10**6, 700])
def test_every_kind_of_unit_in_one_part_and_in_several(unit: str, most: int) -> None:
    table = f"SELECT {unit} AS who, CAST(i % 3 AS VARCHAR) c, i AS n FROM range(5000) AS r(i)"  # noqa: S608
    with duckdb.connect() as connection:
        engine = DuckDB(Relation(connection.sql(table)), CROWD_SCHEMA)
        logical = Logical(replace(engine._table, sql=f"({table})"))
        limits = People("who", 4, 2)
        rows = unit_rows(limits.unit, logical, where=None, keys=(Group("c", 3),), columns=["n"])
        parts = list(passes(limits, rows, crowd_reader(connection), SYSTEM, most))
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
        engine = DuckDB(Relation(connection.sql(table)), CROWD_SCHEMA)
        logical = Logical(replace(engine._table, sql=f"({table})"))
        limits = People("who", 2, None)
        rows = unit_rows(limits.unit, logical, where=None, keys=(), columns=["n"])
        real = crowd_reader(connection)
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
        engine = DuckDB(Relation(connection.sql(rows)), CROWD_SCHEMA)
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


# -- One row for each unit, whatever its rows hold -------------------------------------------------

PERSONS_SCHEMA = Schema.from_dict(
    {
        "table": {
            "name": "t",
            "unit": "who",
            "neighbours": "add-or-remove",
            "rows_per_unit": 2,
        },
        "columns": {
            "who": {"type": "identifier"},
            "x": {"type": "number", "bounds": [-3, 9]},
            "c": {"type": "category", "categories": ["a", "b"]},
        },
    }
)
PERSONS_ROWS = [
    {"who": who, "x": x, "c": c}
    for who, x, c in [
        ("p", 9, "a"),
        ("p", 8, "a"),
        ("p", -3, "b"),
        ("q", -3, "a"),
        ("q", None, "b"),
        ("r", None, "a"),
        (None, 5, "a"),
        ("s", 100, "b"),
        ("s", -2, None),
    ]
]
VALUES = (
    UnitValue("n", "rows", None, 0, 2),
    UnitValue("there", "present", "x", 0, 2),
    UnitValue("sum", "total", "x", -2, 12),
    UnitValue("low", "least", "x", -3, 9),
    UnitValue("top", "largest", "x", -3, 9),
    UnitValue("mean", "mean", "x", -3, 9),
    UnitValue("twice", "total", "(twice)", -6, 20),
)
TWICE = (Computed("(twice)", Sum(0, ((2, Steps("x")),))),)


@pytest.mark.parametrize("where", [None, Among("c", ("a",)), Within("x", 50, 60)])
def test_persons_are_measured_like_rows(where: object) -> None:
    units = Units("who", VALUES, where, TWICE)  # type: ignore[arg-type]
    measures = [Measure("rows"), *(Measure("total", value.name) for value in VALUES)]
    measures += [Measure("present", value.name) for value in VALUES]
    asked = Request(tuple(measures), units=units)
    engine, oracle = (
        open_engine(pd.DataFrame(PERSONS_ROWS), PERSONS_SCHEMA),
        OracleEngine(PERSONS_SCHEMA, PERSONS_ROWS),
    )
    assert engine.measure(asked) == oracle.measure(asked)
    by_sum = Request((Measure("rows"),), Within("n", 2, None), (Bin("sum", 5, -1, 4),), units=units)
    assert engine.measure(by_sum) == oracle.measure(by_sum)
    ranks = RankRequest("sum", (Window(1, 0, 99, -99, 1),), units=units)
    assert engine.ranks(ranks) == oracle.ranks(ranks)
    engine.close()


def test_sums_are_cut_and_nobody_is_nobody() -> None:
    engine = open_engine(pd.DataFrame(PERSONS_ROWS), PERSONS_SCHEMA)
    measures = (Measure("rows"), Measure("total", "sum"), Measure("total", "n"))
    found = engine.measure(Request(measures, units=Units("who", VALUES[:4])))
    # p: 14 becomes 12, q: -3 becomes -2, r has none, s: 9 - 2; p's three rows count as two
    assert found == {(): (4, 12 - 2 + 7, 2 + 2 + 1 + 2)}
    engine.close()


def test_a_mean_is_rounded_half_up() -> None:
    rows = [{"who": "p", "x": x, "c": "a"} for x in (-1, 0)]
    engine = open_engine(pd.DataFrame(rows), PERSONS_SCHEMA)
    asked = Request((Measure("total", "mean"),), units=Units("who", (VALUES[5],)))
    assert engine.measure(asked) == {(): (0,)}, "-0.5 becomes 0"
    engine.close()


def test_what_has_no_order_has_no_sum() -> None:
    engine = open_engine(pd.DataFrame(PERSONS_ROWS), PERSONS_SCHEMA)
    with pytest.raises(Refused):
        engine.measure(
            Request((Measure("rows"),), units=Units("who", (UnitValue("v", "total", "c", 0, 1),)))
        )
    engine.close()


# -- One number for each unit, of all of its rows, whoever else is there ---------------------------

CONTRIBUTION_SCHEMA = Schema.from_dict(
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
        engine = DuckDB(Relation(relation), CONTRIBUTION_SCHEMA)
        assert engine._session is not None
        return contributions(request, engine._table, engine._session.run)


def numbers(profile: Profile) -> Counter[int]:
    return Counter({value: count for value, _, count in profile.values})


@pytest.mark.parametrize("asked", ASKED, ids=NAMES)
def test_contributions_are_those_of_the_oracle(asked: Contribution) -> None:
    wheres: list[Predicate | None] = [None, Within("n", 0, None)]
    for seed, where, keys in itertools.product(range(4), wheres, [(), (Group("c", 3),)]):
        rows = rows_of(seed)
        request = ContributionRequest(asked, "who", (EVERYTHING,), -70, 90, where, keys)
        assert found(rows, request) == OracleEngine(CONTRIBUTION_SCHEMA, rows).contributions(
            request
        )


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
        return OracleEngine(CONTRIBUTION_SCHEMA, marked).contributions(request)

    with pytest.raises(AssertionError):
        check_one_number(by_row, Contribution("cells"), 1)


def test_a_number_of_cut_rows_is_not_that_of_all() -> None:
    """The mutant: contributions after the limit that they shall help to choose."""
    rows = [{"who": 1, "c": "0", "n": i} for i in range(9)]
    oracle = OracleEngine(CONTRIBUTION_SCHEMA, rows)
    cut = [
        row for _, row in oracle.kept(People("who", 3, None), oracle._rows(None, ()), keyed=False)
    ]
    request = ContributionRequest(Contribution("rows"), "who", (EVERYTHING,), 1, 100)
    assert numbers(found(rows, request)) == {9: 1}
    assert numbers(OracleEngine(CONTRIBUTION_SCHEMA, cut).contributions(request)) == {3: 1}


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


# -- What is chosen of each unit is measured apart, pass by pass, and nothing else is --------------

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
        assert engine._session is not None
        yield engine._table, Reader(engine._session.run, engine._session.arrow)


def nowhere() -> ArrowBench:
    raise AssertionError("there is nothing to choose")


def small_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    def passes(*given: Any) -> Iterator[pa.Table]:
        return rows_by_unit.passes(*given, most=20)

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
    bench = ArrowBench()
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
