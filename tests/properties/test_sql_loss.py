"""The exact joint loss of what SQL can compute, over every pair of neighbouring small tables.

The true numbers come from the oracle, which reads requests and knows no prices. Noise is
independent between cells and between parts, so losses add up; each comes from the law that is
really sampled.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from oracle_engine import OracleEngine
from properties.test_joint_loss import part_loss
from properties.test_joint_loss_more import chosen_masses
from tenue.ask import question as computed_room
from tenue.ask.aggregates.clip import Clip
from tenue.ask.aggregates.noise import DistinctNoise, SumNoise
from tenue.ask.explain import plan_for
from tenue.ask.paid_request import Terms
from tenue.ask.plan.plan import Plan
from tenue.ask.release import _Rows
from tenue.engine.request import Request
from tenue.noise import DiscreteLaplace
from tenue.schema import Number, Schema

Row = dict[str, Any]
PRICE = 0.7
CLOSE = 1 + 1e-9
KINDS = ("add-or-remove", "replace")


def schema(neighbours: str, rows_per_unit: int | None = None) -> Schema:
    """`y` and `b` are never missing, `x` and `p` may be."""
    table: dict[str, object] = {"name": "t", "neighbours": neighbours, "unit": "record"}
    columns: dict[str, object] = {
        "x": {"type": "number", "bounds": [-1, 2]},
        "y": {"type": "number", "bounds": [2, 4], "grid": 2, "missing": 2},
        "b": {"type": "boolean", "missing": False},
        "p": {"type": "boolean"},
        "g": {"type": "category", "categories": ["u", "v"], "missing": "u"},
    }
    if rows_per_unit is not None:
        table |= {"unit": "who", "rows_per_unit": rows_per_unit}
        columns["who"] = {"type": "identifier"}
    return Schema.from_dict({"table": table, "columns": columns})


ROWS: list[Row] = [
    dict(zip(("x", "y", "b", "p", "g"), values, strict=True))
    for values in itertools.product((None, -1, 2), (2, 4), (True, False), (None, True), ("u", "v"))
]
FEW = [row for row in ROWS if row["p"] and row["x"] is not None]
FEWER = [row for row in FEW if row["b"] and (row["y"] == 4 or row["x"] == 2)]


def units(rows: Sequence[Row], most: int) -> list[list[Row]]:
    """What one unit may hold: up to so many rows."""
    return [
        list(held)
        for size in range(1, most + 1)
        for held in itertools.combinations_with_replacement(rows, size)
    ]


def pairs(
    kind: str, most: int, rows: Sequence[Row], shared: Sequence[Row] = ()
) -> Iterator[tuple[list[Row], list[Row]]]:
    """Neighbouring tables: one unit more, or one in another's place."""

    def table(*held: Sequence[Row]) -> list[Row]:
        own = [{**row, "who": str(number)} for number, one in enumerate(held) for row in one]
        return [*own, *({**row, "who": f"s{i}"} for i, row in enumerate(shared))]

    everybody = units(rows, most)
    if kind == "add-or-remove":
        yield from ((table(), table(one)) for one in everybody)
    else:
        yield from ((table(one), table(two)) for one, two in itertools.combinations(everybody, 2))


def numbers(plan: Plan, given: Schema, rows: Sequence[Row]) -> _Rows:
    return _Rows(plan, OracleEngine(given, rows), given)  # type: ignore[arg-type]


def loss(plan: Plan, given: Schema, one: Sequence[Row], two: Sequence[Row]) -> float:
    """Of all cells and all draws together."""
    before, after = numbers(plan, given, one), numbers(plan, given, two)
    total = 0.0
    for draw in plan.strategy.draws:
        if isinstance(draw, Clip):
            total += clip_loss(draw, before, after)
            continue
        for cell in range(len(before.cells)):
            if isinstance(draw, DistinctNoise):
                shift = [after.distinct(draw.column)[cell] - before.distinct(draw.column)[cell]]
            else:
                assert isinstance(draw, SumNoise)
                atoms = [draw.atoms(found.measured[cell]) for found in (before, after)]
                shift = [c.of(atoms[1]) - c.of(atoms[0]) for c in draw.components]
            total += part_loss(draw, shift) if any(shift) else 0.0
    return total


def clip_loss(clip: Clip, before: _Rows, after: _Rows) -> float:
    """The worst cut: what its choice tells, and what the sums cut there tell besides."""
    masses = []
    for found in (before, after):
        profile = found.overall(clip.by_bound, dataclasses.replace(clip.window, reach=10**9))
        values = [step for step, _, many in profile.values for _ in range(many)]
        masses.append(chosen_masses(clip.selection, values))
    worst = 0.0
    for place, (p, q) in enumerate(zip(*masses, strict=True)):
        cut, low, total = clip.bounds[place], clip._own.low, abs(math.log(p / q))
        totals = [found.totals(clip.clipped(cut)) for found in (before, after)]
        for (many, one), (others, two) in zip(*totals, strict=True):
            shifts = [two - one]
            if clip.mean:
                shifts = [cut * (others - many) - (two - one), two - one - low * (others - many)]
            total += sum(clip.law_at(cut).loss(abs(s)) for s in shifts if s)
        worst = max(worst, total)
    return worst


def worst(
    plan: Plan, given: Schema, kind: str, most: int, rows: Sequence[Row], shared: Sequence[Row] = ()
) -> float:
    return max(loss(plan, given, one, two) for one, two in pairs(kind, most, rows, shared))


def planned(sql: str, given: Schema, **more: Any) -> Plan:
    return plan_for(sql, given, Terms(epsilon=PRICE, **more))


RECORDS = [
    "SELECT SUM(x * 2 + 1) FROM t",
    "SELECT SUM(CASE WHEN b THEN y ELSE 0 END) FROM t",
    "SELECT SUM(CASE WHEN p THEN y END) FROM t",
    "SELECT AVG(CASE WHEN p THEN 1 ELSE 0 END) FROM t",
    "SELECT AVG(p) FROM t",
    "SELECT COUNT(*) FILTER (WHERE p) FROM t",
    "SELECT COUNT(*) FILTER (WHERE b) AS n, SUM(y) FILTER (WHERE b) AS s FROM t",
    "SELECT AVG(y) FILTER (WHERE b) FROM t",
    "SELECT AVG(y) FILTER (WHERE b), COUNT(*) FROM t",
    "SELECT SUM(x * y - 1) FROM t",
    "SELECT SUM(COALESCE(x, 2)) FROM t",
    "SELECT g, SUM(x * y) FROM t GROUP BY g",
    "SELECT CASE WHEN x > 0 THEN 'h' WHEN p THEN 'm' END AS k, SUM(y) AS s FROM t GROUP BY k",
    "SELECT FLOOR(y / 4) AS k, COUNT(*) AS n FROM t WHERE x * 2 > 1 GROUP BY k",
    "SELECT COUNT(DISTINCT x) FROM t",
    "SELECT g, COUNT(DISTINCT x) FROM t GROUP BY g",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sql", RECORDS)
def test_what_is_computed_of_a_record_costs_its_price(sql: str, kind: str) -> None:
    given = schema(kind)
    plan = planned(sql, given)
    assert plan.epsilon == Fraction(7, 10)
    for shared in ([], [ROWS[0]], [ROWS[-1], ROWS[3]]) if "DISTINCT" in sql else ([],):
        assert worst(plan, given, kind, 1, ROWS, shared) <= PRICE * CLOSE


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(x * y) FROM t",
        "SELECT AVG(CASE WHEN b THEN x END) FROM t",
        "SELECT COUNT(DISTINCT x) FROM t",
        "SELECT g, COUNT(DISTINCT x) FROM t GROUP BY g",
        "SELECT CASE WHEN x > 0 THEN 'h' ELSE 'l' END AS k, COUNT(*) AS n FROM t GROUP BY k",
        "SELECT AVG(v) FROM (SELECT who, SUM(x) AS v FROM t GROUP BY who)",
        "SELECT COUNT(*) AS n, SUM(v) AS s FROM "
        "(SELECT who, MAX(x * y) AS v FROM t WHERE b GROUP BY who) WHERE v > -2",
        "SELECT BIN(n, 1) AS k, SUM(m) AS s FROM "
        "(SELECT who, COUNT(*) AS n, AVG(x) AS m FROM t GROUP BY who) GROUP BY k",
    ],
)
def test_what_is_computed_of_a_person_costs_its_price(sql: str, kind: str) -> None:
    given = schema(kind, rows_per_unit=2)
    plan = planned(sql, given)
    rows = FEWER if kind == "replace" else FEW
    # persons of a derived table may have more rows than are stated: all of them count
    most = 3 if "GROUP BY who" in sql and kind == "add-or-remove" else 2
    assert worst(plan, given, kind, most, FEWER if most == 3 else rows) <= PRICE * CLOSE


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(3 * x + 1) FROM t",
        "SELECT AVG(3 * x + 1) FROM t",
        "SELECT g, SUM(x + 1) FROM t GROUP BY g",
    ],
)
def test_a_cut_and_what_is_cut_cost_their_price_together(sql: str, kind: str) -> None:
    given = schema(kind)
    plan = planned(sql, given, clip="auto")
    for shared in ([], [ROWS[-1]], FEW[:3]):
        assert worst(plan, given, kind, 1, ROWS[::2], shared) <= PRICE * CLOSE


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_for_persons_costs_its_price(kind: str) -> None:
    given = schema(kind, rows_per_unit=2)
    plan = planned("SELECT SUM(3 * x + 1) FROM t", given, clip="auto")
    assert worst(plan, given, kind, 2, FEWER, FEW[:1]) <= PRICE * CLOSE


# -- plausible mistakes, each of which costs more than its price


def changed(plan: Plan, draw: Any) -> Plan:
    return dataclasses.replace(plan, strategy=dataclasses.replace(plan.strategy, draws=(draw,)))


def mistaken(monkeypatch: pytest.MonkeyPatch, sql: str, given: Schema, **fields: object) -> Plan:
    """The plan, if computed columns had other properties."""
    right = computed_room.column_of

    def wrong(*asked: Any) -> Any:
        column = right(*asked)
        return dataclasses.replace(column, **fields) if isinstance(column, Number) else column

    with monkeypatch.context() as patch:
        patch.setattr(computed_room, "column_of", wrong)
        return planned(sql, given)


def test_bounds_without_the_0_after_else(monkeypatch: pytest.MonkeyPatch) -> None:
    given = schema("replace")
    sql = "SELECT SUM(CASE WHEN b THEN y ELSE 0 END) FROM t"
    plan = mistaken(monkeypatch, sql, given, low=Fraction(2))
    assert worst(plan, given, "replace", 1, ROWS) > PRICE * CLOSE


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(CASE WHEN p THEN y END) FROM t",  # no ELSE, and a condition that may be unknown
        "SELECT AVG(y) FILTER (WHERE b) FROM t",
        "SELECT AVG(p + 1) FROM t",
    ],
)
def test_a_filter_whose_rows_are_taken_as_public(monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    given = schema("replace")
    assert not planned(sql, given).needs_row_count
    plan = mistaken(monkeypatch, sql, given, missing=Fraction(0))
    assert worst(plan, given, "replace", 1, ROWS) > PRICE * CLOSE


def test_a_filtered_count_taken_as_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    given = schema("replace").replace(table={"rows": 3})
    sql = "SELECT COUNT(*) FILTER (WHERE p) FROM t"
    assert not planned(sql, given).free
    assert mistaken(monkeypatch, sql, given, missing=Fraction(0)).free, "the mistake would be free"


def test_different_values_by_group_at_half_the_noise() -> None:
    given = schema("replace", rows_per_unit=2)
    plan = planned("SELECT g, COUNT(DISTINCT x) FROM t GROUP BY g", given)
    (draw,) = plan.parts
    law = DiscreteLaplace(sensitivity=2, epsilon=Fraction(7, 10))
    wrong = changed(plan, dataclasses.replace(draw, law=law))
    assert worst(wrong, given, "replace", 2, FEWER) > PRICE * CLOSE


def test_a_product_bounded_like_one_of_its_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    given = schema("add-or-remove")
    plan = mistaken(
        monkeypatch, "SELECT SUM(x * y) FROM t", given, low=Fraction(-4), high=Fraction(4)
    )
    assert worst(plan, given, "add-or-remove", 1, ROWS) > PRICE * CLOSE


def test_a_person_whose_value_is_not_cut() -> None:
    """Without the ends of a person's sum, three rows move it further than two."""
    given = schema("add-or-remove", rows_per_unit=2)
    plan = planned("SELECT SUM(v) FROM (SELECT who, SUM(x) AS v FROM t GROUP BY who)", given)
    units_ = plan.request.units
    assert units_ is not None
    open_ends = tuple(dataclasses.replace(value, low=-99, high=99) for value in units_.values)
    request: Request = dataclasses.replace(
        plan.request, units=dataclasses.replace(units_, values=open_ends)
    )
    wrong = dataclasses.replace(plan, request=request)
    assert worst(plan, given, "add-or-remove", 3, FEWER) <= PRICE * CLOSE
    assert worst(wrong, given, "add-or-remove", 3, FEWER) > PRICE * CLOSE


def test_a_cut_that_is_not_paid_for() -> None:
    given = schema("add-or-remove")
    plan = planned("SELECT SUM(x * 3) FROM t", given, clip="auto")
    (clip,) = plan.strategy.draws
    assert isinstance(clip, Clip)
    wrong = changed(plan, dataclasses.replace(clip, law_epsilon=clip.epsilon))
    assert worst(wrong, given, "add-or-remove", 1, ROWS, FEW[:3]) > PRICE * CLOSE


def test_a_cut_for_one_row_where_a_person_has_two() -> None:
    given = schema("replace", rows_per_unit=2)
    plan = planned("SELECT SUM(3 * x + 1) FROM t", given, clip="auto")
    (clip,) = plan.strategy.draws
    assert isinstance(clip, Clip)
    selection = dataclasses.replace(clip.selection, epsilon=clip.choosing)
    wrong = changed(plan, dataclasses.replace(clip, selection=selection, rows_per_unit=1))
    assert worst(wrong, given, "replace", 2, FEWER, FEW[:1]) > PRICE * CLOSE


def test_an_inner_join_whose_rows_are_taken_as_public(tmp_path: Path) -> None:
    (tmp_path / "place.csv").write_text("g,name\nu,here\n")
    place = {"source": "place.csv", "key": "g", "columns": ["name"]}
    stated = schema("replace").to_dict() | {"lookups": {"place": place}}
    given = Schema.from_dict(stated, folder=tmp_path)
    plan = planned("SELECT SUM(y) FROM t JOIN place USING (g)", given)
    assert worst(plan, given, "replace", 1, ROWS) <= PRICE * CLOSE
    public = planned("SELECT SUM(y) FROM t LEFT JOIN place USING (g)", given)
    assert worst(public, given, "replace", 1, ROWS) <= PRICE * CLOSE
    wrong = dataclasses.replace(public, request=plan.request)  # the noise of a public n
    assert worst(wrong, given, "replace", 1, ROWS) > PRICE * CLOSE
