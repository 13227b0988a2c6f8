"""What is kept of a unit is its own affair: limits hold, whoever else is there and in any order.

A table's contents are five: a content j has the value 4096^j, so that the digits of a total in base
4096 say how often each was kept. Every property is a function of an engine; each is also shown to
fail on an engine that is wrong in one plausible way.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from engine_tables import arrow_of, examples, moments, people, requests
from oracle_engine import OracleEngine, Placed
from tenue.engine.contract import Engine
from tenue.engine.duckdb import DuckDB
from tenue.engine.request import Group, Measure, Missing, Not, People, Request
from tenue.engine.source import Relation
from tenue.errors import InvalidTable
from tenue.schema import Schema

CALM = settings(deadline=None, suppress_health_check=list(HealthCheck))
CONNECTION = duckdb.connect()
CELLS, CONTENTS, BASE = 3, 5, 4096
SCHEMA = Schema.from_dict(
    {
        "table": {
            "name": "t",
            "unit": "who",
            "neighbours": "add-or-remove",
            "rows_per_unit": 2,
        },
        "columns": {
            "who": {"type": "identifier"},
            "place": {"type": "category", "categories": [str(i) for i in range(CELLS)]},
            "x": {"type": "number", "bounds": [0, BASE ** (CONTENTS - 1)]},
            "seen": {"type": "boolean"},
        },
    }
)
Row = tuple[str | None, int | None, int, bool | None]
"""Who, in which place, with which content, seen or not."""
Opener = Callable[[Sequence[Row]], Engine]
Kept = Counter[tuple[tuple[int, ...], int]]
BY_PLACE = (Group("place", CELLS),)


def as_dict(row: Row) -> dict[str, Any]:
    who, place, content, seen = row
    cell = None if place is None else str(place)
    return {"who": who, "place": cell, "x": BASE**content, "seen": seen}


def opened(rows: Sequence[Row]) -> Engine:
    table = pa.Table.from_pylist(
        [as_dict(row) for row in rows],
        pa.schema(
            [("who", pa.string()), ("place", pa.string()), ("x", pa.int64()), ("seen", pa.bool_())]
        ),
    )
    return DuckDB(Relation(CONNECTION.from_arrow(table)), SCHEMA)


def oracle(rows: Sequence[Row]) -> Engine:
    return OracleEngine(SCHEMA, [as_dict(row) for row in rows])


def kept(opener: Opener, rows: Sequence[Row], limits: People, keyed: bool = True) -> Kept:
    """How often each content was kept in each cell."""
    keys = BY_PLACE if keyed else ()
    request = Request((Measure("total", "x"), Measure("rows")), None, keys, limits)
    found: Kept = Counter()
    for cell, (total, count) in opener(rows).measure(request).items():
        for content in range(CONTENTS):
            found[cell, content] += total // BASE**content % BASE
        assert count == sum(n for (other, _), n in found.items() if other == cell)
    return +found


def of_each(rows: Sequence[Row]) -> dict[str, list[Row]]:
    units: dict[str, list[Row]] = {}
    for row in rows:
        if row[0] is not None:
            units.setdefault(row[0], []).append(row)
    return units


def check_limits(opener: Opener, rows: Sequence[Row], limits: People) -> None:
    """Of each unit as many rows are kept as the limits allow, and they are rows that it has."""
    for own in of_each(rows).values():
        placed = Counter(((row[1],), row[2]) for row in own if row[1] is not None)
        found = kept(opener, own, limits)
        cells = {cell for cell, _ in found}
        everywhere = {cell for cell, _ in placed}
        assert found <= placed
        assert len(cells) <= len(everywhere)
        if limits.groups is None:
            assert found.total() == min(limits.rows, placed.total())
            continue
        assert len(cells) <= limits.groups
        choices = itertools.combinations(everywhere, min(limits.groups, len(everywhere)))
        sizes = {
            min(limits.rows, sum(n for (cell, _), n in placed.items() if cell in choice))
            for choice in choices
            if cells <= set(choice)
        }
        assert found.total() in sizes


def check_independence(opener: Opener, rows: Sequence[Row], limits: People) -> None:
    """Everybody's kept rows are those that would be kept if each unit were alone."""
    alone: Kept = Counter()
    for own in of_each(rows).values():
        alone += kept(opener, own, limits)
    assert kept(opener, rows, limits) == alone


def check_order(opener: Opener, rows: Sequence[Row], limits: People) -> None:
    found = kept(opener, rows, limits)
    for other in (rows[::-1], [*rows[1::2], *rows[::2]]):
        assert kept(opener, other, limits) == found


def check_units_differ(opener: Opener, rows: Sequence[Row], limits: People) -> None:
    """Two units with the same rows do not always keep the same."""
    twins = [[(name, 0, content, True) for content in range(CONTENTS)] for name in "ab"]
    seeds = [People("who", 1, None, seed) for seed in range(20)]
    assert any(kept(opener, twins[0], seed) != kept(opener, twins[1], seed) for seed in seeds)


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "A", "a ", None]),
        st.sampled_from([0, 1, 2, 2, None]),
        st.integers(0, CONTENTS - 1),
        st.just(True),
    ),
    max_size=14,
)


@given(ROWS, people())
@settings(CALM, max_examples=12)
def test_limits_hold_for_each_unit_alone_and_together(rows: list[Row], limits: People) -> None:
    for opener in (opened, oracle):
        check_limits(opener, rows, limits)
        check_independence(opener, rows, limits)
        check_order(opener, rows, limits)


def test_units_choose_for_themselves() -> None:
    for opener in (opened, oracle):
        check_units_differ(opener, [], People("who", 1, None, 0))


class FirstRows(OracleEngine):
    def kept(self, people: People, found: Any, named: Any, *, keyed: bool) -> list[Placed]:
        taken: Counter[Any] = Counter()
        chosen = []
        for key, row in found:
            unit = self.unit(people.unit, row)
            if unit is not None and taken[unit] < people.rows:
                taken[unit] += 1
                chosen.append((key, row))
        return chosen


class HashWithoutUnit(OracleEngine):
    def kept(self, people: People, found: Any, named: Any, *, keyed: bool) -> list[Placed]:
        chosen = []
        for name in {self.unit(people.unit, row) for _, row in found} - {None}:
            own = [
                (key, {**row, "who": "anybody"})
                for key, row in found
                if self.unit(people.unit, row) == name
            ]
            chosen += super().kept(people, own, named, keyed=keyed)
        return chosen


class CellsOfEverybody(OracleEngine):
    def kept(self, people: People, found: Any, named: Any, *, keyed: bool) -> list[Placed]:
        everywhere = sorted({key for key, _ in found})[: people.groups]
        own = [(key, row) for key, row in found if key in everywhere]
        return super().kept(people, own, named, keyed=False)


class RowsOfEachCell(OracleEngine):
    def kept(self, people: People, found: Any, named: Any, *, keyed: bool) -> list[Placed]:
        chosen = []
        for cell in {key for key, _ in found}:
            own = [(key, row) for key, row in found if key == cell]
            chosen += super().kept(people, own, named, keyed=keyed)
        return chosen


class OneTooMany(OracleEngine):
    def kept(self, people: People, found: Any, named: Any, *, keyed: bool) -> list[Placed]:
        more = People(people.unit, people.rows + 1, people.groups, people.seed)
        return super().kept(more, found, named, keyed=keyed)


class NobodyIsSomebody(OracleEngine):
    def unit(self, name: str, row: Any) -> Any:
        return row[name] or "nobody"


class CaseFolded(OracleEngine):
    def unit(self, name: str, row: Any) -> Any:
        return None if row[name] is None else row[name].strip().lower()


class SeedPerTable(OracleEngine):
    def kept(self, people: People, found: Any, named: Any, *, keyed: bool) -> list[Placed]:
        other = People(people.unit, people.rows, people.groups, people.seed + len(found))
        return super().kept(other, found, named, keyed=keyed)


CROWD: list[Row] = [
    (who, place, content, True)
    for who in ("a", "b", "A", "a ", None)
    for place in (0, 1, 2, None)
    for content in range(3)
]


@pytest.mark.parametrize(
    ("wrong", "check"),
    [
        (FirstRows, check_order),
        (HashWithoutUnit, check_units_differ),
        (CellsOfEverybody, check_independence),
        (RowsOfEachCell, check_limits),
        (OneTooMany, check_limits),
        (NobodyIsSomebody, check_independence),
        (CaseFolded, check_independence),
        (SeedPerTable, check_independence),
    ],
)
def test_a_wrong_choice_is_found(wrong: type[OracleEngine], check: Any) -> None:
    def mutant(rows: Sequence[Row]) -> Engine:
        return wrong(SCHEMA, [as_dict(row) for row in rows])

    crowd = [row for row in CROWD if not (wrong is CellsOfEverybody and row[:2] == ("a", 0))]
    limits = People("who", 2, 1, 5)
    check(opened, crowd, limits)
    check(oracle, crowd, limits)
    with pytest.raises(AssertionError):
        check(mutant, crowd, limits)


def test_one_more_unit_never_changes_more_than_the_limits_in_any_small_table() -> None:
    """Every table in which each of two rows of one unit and four of another is there or not."""
    others = subsets([("a", 0, 0, True), ("a", 1, 0, True)])
    more = subsets([("b", 0, 0, True), ("b", 0, 1, True), ("b", 1, 0, True), ("b", 2, 0, True)])
    for limits in (People("who", 2, 1, 3), People("who", 2, None, 4)):
        worst_rows = worst_cells = 0
        for rows in others:
            before = kept(opened, rows, limits)
            for added in more:
                after = kept(opened, [*added, *rows], limits)
                assert before <= after, "what is kept of others stays"
                changed = after - before
                worst_rows = max(worst_rows, changed.total())
                worst_cells = max(worst_cells, len({cell for cell, _ in changed}))
        assert worst_rows == limits.rows, "the limit is reached, and not passed"
        assert worst_cells == (limits.groups or limits.rows)


def subsets(rows: list[Row]) -> list[list[Row]]:
    chosen = itertools.product([False, True], repeat=len(rows))
    return [list(itertools.compress(rows, there)) for there in chosen]


@pytest.mark.parametrize("groups", [None, 1, 2])
def test_a_person_with_ten_thousand_rows_in_every_cell(groups: int | None) -> None:
    crowd: list[Row] = [(f"p{i}", i % 3, i % CONTENTS, True) for i in range(40)]
    flood: list[Row] = [("b", i % 3, i % 4, True) for i in range(10_000)]
    limits = People("who", 5, groups, 11)
    before, after = kept(opened, crowd, limits), kept(opened, crowd + flood, limits)
    changed = after - before
    assert before <= after
    assert changed.total() == 5
    assert groups is None or len({cell for cell, _ in changed}) <= groups


def test_limits_beyond_what_a_stream_remembers() -> None:
    rows: list[Row] = [("b", i % 3, i % 4, True) for i in range(30)] * 200
    rows += [("c", 1, 1, True)] * 7
    asked = (Measure("rows"), Measure("units"))
    for limit, expected in ((5000, 5007), (10**30, 6007), (2047, 2054), (2048, 2055), (2049, 2056)):
        limits = People("who", limit, 10**30, 1)
        assert opened(rows).measure(Request(asked, people=limits)) == {(): (expected, 2)}


def test_a_filter_comes_before_the_limit() -> None:
    rows: list[Row] = [("a", 0, 0, None)] * 20 + [("a", 0, 1, True)] * 2
    request = Request((Measure("total", "x"),), Not(Missing("seen")), people=People("who", 2, 1, 0))
    assert opened(rows).measure(request) == {(): (2 * BASE,)}


SOME = [f"p{i}" for i in range(500)]


def test_every_content_of_a_unit_is_as_likely_as_any_other() -> None:
    rows: list[Row] = [(who, 0, content, True) for who in SOME for content in range(5)]
    engine = opened(rows)
    for limit in (1, 3):
        found: Kept = Counter()
        for seed in range(8):
            found += kept(lambda _: engine, rows, People("who", limit, None, seed * 2**60 + seed))
        # of 4000 choices: the standard deviation is below 31
        assert all(abs(found[(0,), j] - 800 * limit) < 180 for j in range(5))


def test_every_cell_of_a_unit_is_as_likely_as_any_other() -> None:
    rows: list[Row] = [(who, place, 0, True) for who in SOME for place in range(3)]
    rows += [(who, 2, 1, True) for who in SOME for _ in range(20)]
    engine, cells = opened(rows), Counter[tuple[int, ...]]()
    for seed in range(6):
        for (cell, _), count in kept(lambda _: engine, rows, People("who", 1, 1, seed)).items():
            cells[cell] += count
    # of 3000 choices: the standard deviation is 26
    assert all(abs(cells[(place,)] - 1000) < 160 for place in range(3)), "rows do not weigh"


@given(st.data())
@settings(CALM, max_examples=20)
def test_where_nobody_exceeds_the_limits_every_engine_says_the_same(data: st.DataObject) -> None:
    example = data.draw(examples())
    asked = data.draw(requests(example.schema))
    limits = People("who", 12, 12, data.draw(st.integers(0, 2**64 - 1)))
    more = (Measure("units"), data.draw(moments(example.schema)))
    asked = Request((*asked.measures, *more), asked.where, asked.keys, limits)
    try:
        engine = DuckDB(Relation(CONNECTION.from_arrow(arrow_of(example))), example.schema)
    except InvalidTable as refused:
        assume("cannot be computed exactly" not in refused.what)
        raise
    assert engine.measure(asked) == OracleEngine(example.schema, example.rows).measure(asked)
