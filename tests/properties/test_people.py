"""What is kept of a unit is its own affair: limits hold, whoever else is there and in any order.

A table's contents are five: a content j has the value 4096^j, so that the digits of a total in base
4096 say how often each was kept. Every property is a function of an engine; each is also shown to
fail on an engine that is wrong in one plausible way. Laws are exact: all that may be drawn is gone
through (`every_order.py`).
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from engine_tables import arrow_of, examples, moments, people, requests
from every_order import Orders, law
from oracle_engine import OracleEngine, Placed
from tenue.engine.computed_column import Missing, Not
from tenue.engine.contract import Engine
from tenue.engine.duckdb.engine import DuckDB
from tenue.engine.request import Bin, Group, Measure, People, Request
from tenue.engine.source.location import Relation
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
Law = dict[frozenset[tuple[tuple[tuple[int, ...], int], int]], Fraction]
BY_PLACE = (Group("place", CELLS),)
LIMITS = (People("who", 2, 1), People("who", 2, None))


def as_dict(row: Row) -> dict[str, Any]:
    who, place, content, seen = row
    cell = None if place is None else str(place)
    return {"who": who, "place": cell, "x": BASE**content, "seen": seen}


def opened(rows: Sequence[Row]) -> Engine:
    return _opened(tuple(rows))


@functools.lru_cache(maxsize=4)
def _opened(rows: tuple[Row, ...]) -> Engine:
    """An engine answers many questions about its rows: what it draws, it draws for each anew."""
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


def defined(rows: Sequence[Row], limits: People) -> Law:
    """The law of what is kept, as `People` defines it: for each unit by itself a set of its cells,
    then a set of its rows in those, each as likely as any other."""
    law: dict[Any, Fraction] = {frozenset(): Fraction(1)}
    for own in of_each(rows).values():
        placed = [((row[1],), row[2]) for row in own if row[1] is not None]
        cells = sorted({cell for cell, _ in placed})
        groups = len(cells) if limits.groups is None else min(limits.groups, len(cells))
        after: dict[Any, Fraction] = {}
        choices = list(itertools.combinations(cells, groups))
        for choice in choices:
            there = [row for row in placed if row[0] in choice]
            sets = list(itertools.combinations(there, min(limits.rows, len(there))))
            for chosen, (before, likely) in itertools.product(sets, law.items()):
                both = frozenset((Counter(dict(before)) + Counter(chosen)).items())
                share = likely / len(choices) / len(sets)
                after[both] = after.get(both, Fraction(0)) + share
        law = after
    return law


def check_law(engine: Callable[[Sequence[Row], Orders], Engine], rows: Sequence[Row]) -> None:
    """The law of what is kept is the defined one, in any order of the rows."""
    for limits in (People("who", 1, None), People("who", 2, 1)):
        expected = defined(rows, limits)
        for order in (rows, rows[::-1]):
            found = law(
                lambda orders, order=order, limits=limits: frozenset(  # type: ignore[misc]
                    kept(lambda _: engine(order, orders), order, limits).items()
                )
            )
            assert found == expected


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
def test_limits_hold_for_each_unit(rows: list[Row], limits: People) -> None:
    for opener in (opened, oracle):
        check_limits(opener, rows, limits)


SMALL: list[list[Row]] = [
    [("a", 0, 0, True), ("a", 0, 1, True), ("a", 1, 2, True)],
    [("a", 0, 0, True), ("b", 0, 0, True), ("a", 1, 1, True), ("b", 1, 1, True)],
    [("a", 2, 0, True), ("a", 2, 0, True), ("a", 2, 1, True), (None, 2, 1, True)],
    [("a", 0, 0, True), ("A", 0, 1, True), ("a ", 1, 2, True), ("a", None, 3, True)],
]


@pytest.mark.parametrize("rows", SMALL)
def test_the_law_of_what_is_kept_is_the_defined_one(
    rows: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawing(order: Sequence[Row], orders: Orders) -> Engine:
        monkeypatch.setattr("tenue.engine.sql_engine.SYSTEM", orders)
        return opened(order)

    check_law(drawing, rows)
    check_law(
        lambda order, orders: OracleEngine(SCHEMA, [as_dict(r) for r in order], orders.order), rows
    )


class FirstRows(OracleEngine):
    def kept(self, people: People, found: Any, *, keyed: bool) -> list[Placed]:
        self.order = lambda n: list(range(n))
        return super().kept(people, found, keyed=keyed)


class OneOrderForAll(OracleEngine):
    def kept(self, people: People, found: Any, *, keyed: bool) -> list[Placed]:
        drawn: dict[int, list[int]] = {}
        real = self.order
        self.order = lambda n: drawn[n] if n in drawn else drawn.setdefault(n, real(n))
        return super().kept(people, found, keyed=keyed)


class CellsOfEverybody(OracleEngine):
    def kept(self, people: People, found: Any, *, keyed: bool) -> list[Placed]:
        everywhere = sorted({key for key, _ in found})
        chosen = {everywhere[i] for i in self.order(len(everywhere))[: people.groups]}
        own = [(key, row) for key, row in found if key in chosen]
        return super().kept(people, own, keyed=False)


class RowsOfEachCell(OracleEngine):
    def kept(self, people: People, found: Any, *, keyed: bool) -> list[Placed]:
        chosen = []
        for cell in {key for key, _ in found}:
            own = [(key, row) for key, row in found if key == cell]
            chosen += super().kept(people, own, keyed=keyed)
        return chosen


class DifferentContents(OracleEngine):
    """A content is kept or not, however many rows have it."""

    def kept(self, people: People, found: Any, *, keyed: bool) -> list[Placed]:
        seen, other = set(), []
        for key, row in found:
            if (self.unit(people.unit, row), key, row["x"]) not in seen:
                other.append((key, row))
            seen.add((self.unit(people.unit, row), key, row["x"]))
        return super().kept(people, other, keyed=keyed)


class CellsByRows(OracleEngine):
    """A cell is the likelier, the more rows are in it."""

    def kept(self, people: People, found: Any, *, keyed: bool) -> list[Placed]:
        own = super().kept(People(people.unit, 99, None), found, keyed=False)
        if keyed and people.groups == 1:
            first: dict[Any, Any] = {}
            for i in self.order(len(own)):
                first.setdefault(self.unit(people.unit, own[i][1]), own[i][0])
            own = [(key, row) for key, row in own if first[self.unit(people.unit, row)] == key]
        return super().kept(People(people.unit, people.rows, None), own, keyed=False)


class OneTooMany(OracleEngine):
    def kept(self, people: People, found: Any, *, keyed: bool) -> list[Placed]:
        more = People(people.unit, people.rows + 1, people.groups)
        return super().kept(more, found, keyed=keyed)


class NobodyIsSomebody(OracleEngine):
    def unit(self, name: str, row: Any) -> Any:
        return row[name] or "nobody"


class CaseFolded(OracleEngine):
    def unit(self, name: str, row: Any) -> Any:
        return None if row[name] is None else row[name].strip().lower()


@pytest.mark.parametrize(
    ("wrong", "rows"),
    [
        (FirstRows, SMALL[0]),
        (OneOrderForAll, SMALL[1]),
        (CellsOfEverybody, SMALL[1]),
        (RowsOfEachCell, SMALL[1]),
        (DifferentContents, SMALL[2]),
        (CellsByRows, SMALL[0]),
        (OneTooMany, SMALL[1]),
        (NobodyIsSomebody, SMALL[2]),
        (CaseFolded, SMALL[3]),
    ],
)
def test_a_wrong_choice_is_found(wrong: type[OracleEngine], rows: list[Row]) -> None:
    with pytest.raises(AssertionError):
        check_law(
            lambda order, orders: wrong(SCHEMA, [as_dict(r) for r in order], orders.order), rows
        )


def test_one_more_unit_never_changes_more_than_the_limits_in_any_small_table() -> None:
    """Every table in which each of four rows of one unit is there or not, beside two others."""
    others = subsets([("a", 0, 0, True), ("c", 1, 0, True)])
    more = subsets([("b", 0, 0, True), ("b", 0, 1, True), ("b", 1, 0, True), ("b", 2, 0, True)])
    worst_rows: Counter[People] = Counter()
    worst_cells: Counter[People] = Counter()
    for rows in others:
        before = {limits: kept(opened, rows, limits) for limits in LIMITS}
        for added, limits in itertools.product(more, LIMITS):
            after = kept(opened, [*added, *rows], limits)
            assert before[limits] <= after, "what is kept of others stays"
            changed = after - before[limits]
            worst_rows[limits] = max(worst_rows[limits], changed.total())
            worst_cells[limits] = max(worst_cells[limits], len({cell for cell, _ in changed}))
    for limits in LIMITS:
        assert worst_rows[limits] == limits.rows, "the limit is reached, and not passed"
        assert worst_cells[limits] == (limits.groups or limits.rows)


@given(ROWS, st.integers(-3, 3 * BASE), st.integers(0, 2 * BASE))
@settings(CALM, max_examples=15)
def test_sums_of_each_person_are_those_of_the_oracle(rows: list[Row], low: int, more: int) -> None:
    asked = Request(
        (Measure("unit-total", "x", low=low, high=low + more), Measure("rows")),
        keys=BY_PLACE,
        people=People("who", 99, None),
    )
    assert opened(rows).measure(asked) == oracle(rows).measure(asked)


def test_one_more_person_moves_a_sum_of_persons_within_its_ends() -> None:
    """Every table in which each of five rows of one unit is there or not, beside another unit."""
    other: list[Row] = [("a", 0, 1, True), ("a", 1, 2, True)]
    more = subsets([("b", 0, 0, True), ("b", 0, 3, True), ("b", 1, 2, True), ("b", 2, 1, True)])
    low, high, groups = -5, 2 * BASE, 2
    asked = Request(
        (Measure("unit-total", "x", low=low, high=high),),
        keys=BY_PLACE,
        people=People("who", 1, groups),
    )
    before = opened(other).measure(asked)
    worst = 0
    for added in more:
        after = opened([*added, *other]).measure(asked)
        moved = [
            after.get((cell,), (0,))[0] - before.get((cell,), (0,))[0] for cell in range(CELLS)
        ]
        assert all(min(low, 0) <= change <= max(high, 0) for change in moved)
        assert sum(change != 0 for change in moved) <= groups
        worst = max(worst, sum(map(abs, moved)))
    assert worst <= groups * high


def subsets(rows: list[Row]) -> list[list[Row]]:
    chosen = itertools.product([False, True], repeat=len(rows))
    return [list(itertools.compress(rows, there)) for there in chosen]


@pytest.mark.parametrize("groups", [None, 1, 2])
def test_a_person_with_ten_thousand_rows_in_every_cell(groups: int | None) -> None:
    crowd: list[Row] = [(f"p{i}", i % 3, i % CONTENTS, True) for i in range(40)]
    flood: list[Row] = [("b", i % 3, i % 4, True) for i in range(10_000)]
    limits = People("who", 5, groups)
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
        limits = People("who", limit, 10**30)
        assert opened(rows).measure(Request(asked, people=limits)) == {(): (expected, 2)}


def test_cells_that_no_word_of_64_bits_numbers_are_told_apart() -> None:
    rows: list[Row] = [("a", 0, 0, None), ("a", 1, 1, None), ("b", 1, 1, True)]
    keys = tuple(Bin("x", 1, first, 2**62) for first in (0, -5))
    for some in (keys[:1], keys):
        request = Request((Measure("rows"),), keys=some, people=People("who", 2, 2))
        assert opened(rows).measure(request) == oracle(rows).measure(request)


def test_a_filter_comes_before_the_limit() -> None:
    rows: list[Row] = [("a", 0, 0, None)] * 20 + [("a", 0, 1, True)] * 2
    request = Request((Measure("total", "x"),), Not(Missing("seen")), people=People("who", 2, 1))
    assert opened(rows).measure(request) == {(): (2 * BASE,)}


@given(st.data())
@settings(CALM, max_examples=20)
def test_where_nobody_exceeds_the_limits_every_engine_says_the_same(data: st.DataObject) -> None:
    example = data.draw(examples())
    asked = data.draw(requests(example.schema))
    limits = People("who", 12, 12)
    more = (Measure("units"), data.draw(moments(example.schema)))
    asked = Request((*asked.measures, *more), asked.where, asked.keys, limits)
    try:
        engine = DuckDB(Relation(CONNECTION.from_arrow(arrow_of(example))), example.schema)
    except InvalidTable as refused:
        assume("cannot be computed exactly" not in refused.what)
        raise
    assert engine.measure(asked) == OracleEngine(example.schema, example.rows).measure(asked)
