"""The exact joint loss of whole workloads, over every pair of neighbouring small tables.

Everything that leaves is a true whole number plus a discrete Laplace draw of its own. So the
largest log-ratio of all that leaves is the sum of |shift|·rate, with the rates of the laws that are
really sampled; it is computed in Fractions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from oracle_engine import OracleEngine
from tenue.ask import release
from tenue.ask.release import measured_cells, release_many
from tenue.ask.sql.parse import parse
from tenue.ask.workload import range_strategies, select_strategy
from tenue.ask.workload.estimate import request_of
from tenue.ask.workload.measured_quantity import FINE, Block, Quantity
from tenue.ask.workload.plan import Workload, WorkloadWay, plan_workload
from tenue.engine.request import Measure, Request
from tenue.errors import Fault
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

PRICE = EpsilonDelta(700_000_001)
EPSILON = PRICE.epsilon
X, C = (None, 0, 1, 2, 3, 4, 5, 6), ("a", "b", None)
Row = tuple[int | None, str | None]
ROWS: list[Row] = list(itertools.product(X, C))


def schema(neighbours: str, rows_per_unit: int | None = None, low: int = 0) -> Schema:
    table: dict[str, Any] = {"name": "t", "unit": "record", "neighbours": neighbours}
    columns: dict[str, Any] = {
        "x": {"type": "number", "bounds": [low, 6]},
        "c": {"type": "category", "categories": ["a", "b"]},
    }
    if rows_per_unit is not None:
        table |= {"unit": "who", "rows_per_unit": rows_per_unit}
        columns["who"] = {"type": "identifier"}
    return Schema.from_dict({"table": table, "columns": columns, "budget": {"total": 9}})


def count(where: str = "") -> str:
    return f"SELECT COUNT(*) FROM t WHERE {where}" if where else "SELECT COUNT(*) FROM t"  # noqa: S608


WORKLOADS = {
    "prefixes": [count(f"x < {k}") for k in range(1, 7)],
    "ranges": [count(f"x BETWEEN {a} AND {b}") for a in range(6) for b in range(a, 6)],
    "total and parts": [count(), "SELECT c, COUNT(*) FROM t GROUP BY c"],
    "marginals": [
        "SELECT c, COUNT(*) FROM t GROUP BY c",
        "SELECT BIN(x, 2), COUNT(*) FROM t GROUP BY 1",
        "SELECT c, BIN(x, 2), COUNT(*) FROM t GROUP BY c, 2",
    ],
    "predicates": [
        count("x > 3 OR c = 'a'"),
        count("NOT x = 2"),
        count("c IS NULL"),
        count("x > 1"),
    ],
    "sums": ["SELECT SUM(x) FROM t WHERE c = 'a'", "SELECT SUM(x) FROM t WHERE x < 4"],
    "means": ["SELECT c, AVG(x) FROM t GROUP BY c", "SELECT AVG(x), COUNT(*) FROM t WHERE x > 0"],
    "mixed": [
        "SELECT COUNT(*), COUNT(x), SUM(x) FROM t",
        "SELECT c, SUM(x) FROM t GROUP BY c",
        count("x > 2"),
    ],
}
FAMILIES = ("atoms", "tree", "tents", "marginals", "questions and atoms")


def planned(name: str, described: Schema) -> Workload:
    texts = WORKLOADS[name]
    return plan_workload([parse(t, described) for t in texts], texts, described, PRICE)


def strategies(workload: Workload) -> list[WorkloadWay]:
    return [way for way in workload.ways if way.blocks]


Shift = list[tuple[Fraction, int]]


def moved(workload: Workload, way: WorkloadWay, row: Row, described: Schema) -> Shift:
    """By how much one row moves everything that leaves, each with the loss of one step."""
    request = request_of(workload.alone, way)
    engine = OracleEngine(described, [{"x": row[0], "c": row[1], "who": "w"}])
    measured = measured_cells(request, engine)
    return [
        (law.epsilon / law.sensitivity, value)
        for block in way.blocks
        for side in block.truth(measured, rows=1)
        for law, level in zip(block.laws, side, strict=True)
        for value in level
    ]


def largest_loss(
    workload: Workload,
    way: WorkloadWay,
    described: Schema,
    rows: Sequence[Row] = ROWS,
    most: int = 1,
) -> Fraction:
    """Over all neighbours: one unit of up to `most` rows more, or in place of another."""
    shifts = [moved(workload, way, row, described) for row in rows]
    rates = [rate for rate, _ in shifts[0]]
    bottom = math.lcm(*(rate.denominator for rate in rates))
    prices = np.array([int(rate * bottom) for rate in rates], dtype=object)
    each = np.array([[value for _, value in shift] for shift in shifts], dtype=np.int64)
    units = [np.zeros(each.shape[1], dtype=np.int64)]
    for many in range(1, most + 1):
        for chosen in itertools.combinations_with_replacement(range(len(each)), many):
            units.append(each[list(chosen)].sum(axis=0))
    distinct = np.unique(np.array(units), axis=0)
    if described.neighbours == "add-or-remove":
        return Fraction(max(np.abs(distinct).astype(object) @ prices), bottom)
    worst = 0
    floats = np.array([float(rate) for rate in rates])
    for one in distinct:
        away = np.abs(distinct - one)
        # floats find the worst pair; Fractions say what it costs
        place = int((away @ floats).argmax())
        worst = max(worst, int(away[place].astype(object) @ prices))
    return Fraction(worst, bottom)


@pytest.mark.parametrize("rows_per_unit", [None, 2])
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", WORKLOADS)
def test_no_workload_loses_more_than_its_price(
    name: str,
    family: str,
    neighbours: str,
    rows_per_unit: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    every = select_strategy.BlockSearch._candidates

    def only(*given: Any) -> list[Any]:
        return [one for one in every(*given) if one.strategy.name == family]

    monkeypatch.setattr(select_strategy.BlockSearch, "_candidates", only)
    monkeypatch.setattr(
        range_strategies, "_RADIX", (2,)
    )  # so that few atoms have trees of three levels
    described = schema(neighbours, rows_per_unit, low=-2 if name == "sums" else 0)
    workload = planned(name, described)
    found = strategies(workload)
    if family == "tree" and name in ("prefixes", "ranges"):
        assert {len(block.prices) for way in found for block in way.blocks} <= {2, 3}
        assert found
    for way in found:
        assert sum(block.price.units for block in way.blocks) <= PRICE.units
        loss = largest_loss(workload, way, described, most=rows_per_unit or 1)
        assert 0 < loss <= EPSILON, way.name
        if (
            len(way.blocks) == 1
            and neighbours == "add-or-remove"
            and way.blocks[0].quantity.span == 1
        ):
            assert loss > EPSILON * Fraction(99, 100), "no epsilon is left unused"


# -- the number of rows, where it is public --------------------------------------------------------


def public_numbers(
    workload: Workload, way: WorkloadWay, rows: Sequence[Row], described: Schema
) -> list[list[int]]:
    """What leaves without noise."""
    engine = OracleEngine(described, [{"x": x, "c": c, "who": "w"} for x, c in rows])
    chosen = replace(workload, chosen=way)
    drawn = release_many(chosen, engine, described)
    pairs = zip(way.blocks, drawn.blocks, strict=True)
    return [list(side[len(block.laws) :]) for block, left in pairs for side in left]


@pytest.mark.parametrize("rows_per_unit", [None, 2])
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_the_number_of_rows_leaves_only_where_it_is_public(
    name: str, neighbours: str, rows_per_unit: int | None
) -> None:
    described = schema(neighbours, rows_per_unit)
    workload = planned(name, described)
    public = neighbours == "replace" and rows_per_unit is None
    beside: list[Row] = [(2, "b"), (None, "a")]
    for way in strategies(workload):
        known = [block.strategy.sum_public for block in way.blocks]
        assert not any(known) or public
        counts = any(block.quantity.kind == "rows" for block in way.blocks)
        if public and counts and "marginals" not in way.name:
            assert any(known)
        if public:
            seen = [public_numbers(workload, way, [row, *beside], described) for row in ROWS]
            assert all(one == seen[0] for one in seen), "no neighbour moves it"
            assert all(side in ([], [(3,)]) for side in seen[0])


def test_a_number_of_rows_that_a_neighbour_moves_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutant: what leaves without noise is the number of rows that satisfy what all ask for."""
    described = schema("replace")
    texts = [f"SELECT BIN(x, {w}), COUNT(*) FROM t WHERE c = 'a' GROUP BY 1" for w in (2, 3)]  # noqa: S608
    workload = plan_workload([parse(t, described) for t in texts], texts, described, PRICE)
    (way, *_) = [way for way in strategies(workload) if way.blocks[0].strategy.sum_public]
    inside, outside = [(1, "a"), (2, "b")], [(1, "b"), (2, "b")]
    both = [public_numbers(workload, way, rows, described) for rows in (inside, outside)]
    assert both[0] == both[1] == [[(2,)]]
    kept = Request((Measure("rows"),), way.grid.where)
    monkeypatch.setattr(release, "_EVERY_ROW", kept)
    mutant = [public_numbers(workload, way, rows, described) for rows in (inside, outside)]
    assert mutant[0] != mutant[1]


def test_without_the_outside_a_public_number_of_rows_would_bias(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Mutant: the atoms of the questions are said to be all rows."""
    described = schema("replace")

    def off() -> list[float]:
        workload = planned("prefixes", described)
        found = []
        for way in strategies(workload):
            (block,) = way.blocks
            rows = [{"x": x, "c": c} for x, c in [*ROWS, *[(6, "a")] * 50]]
            engine = OracleEngine(described, rows)
            measured = measured_cells(request_of(workload.alone, way), engine)
            (levels,) = block.truth(measured, len(rows))
            (near,) = block.estimates([[*levels, [len(rows)]]])
            truth = [
                sum(row["x"] is not None and row["x"] < k for row in rows) for k in range(1, 7)
            ]
            found.append(max(abs(n / FINE - t) for n, t in zip(near, truth, strict=True)))
        return found

    assert max(off()) < 1e-4
    monkeypatch.setattr(select_strategy, "with_outside", lambda atoms, grid: atoms)
    assert min(off()) > 1


def test_every_family_is_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(range_strategies, "_RADIX", (2,))
    seen = {
        candidate.strategy.name
        for name in WORKLOADS
        for workload in [planned(name, schema("add-or-remove"))]
        for way in strategies(workload)
        for block in way.blocks
        for search in [
            select_strategy.BlockSearch(
                way.layout,
                way.grid,
                workload.alone.questions,
                select_strategy.BlockSetting(PRICE, False, 1),
            )
        ]
        for candidate in search._candidates(
            block.quantity, way.layout.allowed(block.quantity, _bars(workload)), False
        )
    }
    assert seen >= set(FAMILIES)


def _bars(workload: Workload) -> dict[Any, float]:
    alone = workload.alone
    return {(n, a): v for n in range(len(alone.questions)) for a, v in alone.variances(n).items()}


def test_a_loss_is_that_of_the_masses() -> None:
    """The loss of one step is the log-ratio of the masses that are drawn."""
    for way in strategies(planned("prefixes", schema("add-or-remove"))):
        for law in (law for block in way.blocks for law in block.laws):
            rate = float(law.epsilon / law.sensitivity)
            ratio = math.log(law.mass(3) / law.mass(4))
            assert ratio == pytest.approx(rate, rel=1e-9)


# -- mutants: each breaks one rule, and the enumeration sees it ------------------------------------


def broken(way: WorkloadWay, **changed: Any) -> WorkloadWay:
    """The way with blocks that are not checked when they are made."""
    blocks = []
    for block in way.blocks:
        mutant = object.__new__(Block)
        mutant.__dict__.update({k: v for k, v in block.__dict__.items() if k in _FIELDS} | changed)
        blocks.append(mutant)
    found = object.__new__(WorkloadWay)
    found.__dict__.update(way.__dict__ | {"blocks": tuple(blocks)})
    return found


_FIELDS = set(Block.__dataclass_fields__)


def test_the_outside_dropped_under_replace_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutant: rows only move between atoms, which all are in the total: that seems to be free."""
    every = select_strategy.BlockSearch._candidates

    def only(*given: Any) -> list[Any]:
        return [one for one in every(*given) if one.strategy.name == "questions and atoms"]

    monkeypatch.setattr(select_strategy.BlockSearch, "_candidates", only)
    described = schema("replace", 1)
    texts = [count("x < 3"), "SELECT c, COUNT(*) FROM t WHERE x < 3 GROUP BY c"]
    workload = plan_workload([parse(t, described) for t in texts], texts, described, PRICE)
    way = next(way for way in strategies(workload) if len(way.blocks[0].prices) == 2)
    prices = (PRICE.units // 5, PRICE.units // 5 * 4)  # for the parts, and for the total
    top, bottom = way.blocks[0].strategy.largest_cost(prices)
    between_atoms = Fraction(2 * prices[0] * bottom, top)
    right = broken(way, prices=prices, swap=max(between_atoms, Fraction(1)))
    assert largest_loss(workload, right, described) <= EPSILON
    mutant = broken(way, prices=prices, swap=between_atoms)
    inside = [row for row in ROWS if row[0] is not None and row[0] < 3]
    assert largest_loss(workload, mutant, described) > 2 * EPSILON
    shifts = {row: moved(workload, mutant, row, described) for row in inside}
    hidden = max(
        sum(rate * abs(v - w) for (rate, v), (_, w) in zip(one, other, strict=True))
        for one in shifts.values()
        for other in shifts.values()
    )
    assert hidden <= EPSILON, "between atoms alone, nothing is seen"


def test_pairs_within_one_atom_forgotten_for_sums_are_caught() -> None:
    """Mutant: under replace a sum is charged as if the row had to change its atom."""
    described = schema("replace", low=-2)
    workload = planned("sums", described)
    within = [row for row in ROWS if row[1] == "a" and row[0] is not None and row[0] >= 4]
    extreme: list[Row] = [*within, (-2, "a"), (-2, "b"), (6, "a"), (None, None)]
    for way in strategies(workload):
        assert largest_loss(workload, way, described, [*ROWS, *extreme]) <= EPSILON
        mutant = broken(way, swap=Fraction(1))
        assert largest_loss(workload, mutant, described, [*ROWS, *extreme]) > EPSILON


def test_the_zero_column_forgotten_for_persons_is_caught() -> None:
    """Mutant: a person with two rows is replaced by one whose rows are in other atoms only."""
    described = schema("replace", 2)
    workload = planned("prefixes", described)
    for way in strategies(workload):
        mutant = broken(way, swap=Fraction(1))
        assert largest_loss(workload, mutant, described, most=2) > EPSILON


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_row_weight_forgotten_is_caught(neighbours: str) -> None:
    described = schema(neighbours, 2)
    workload = planned("marginals", described)
    for way in strategies(workload):
        mutant = broken(way, rows_per_unit=1)
        assert largest_loss(workload, mutant, described, most=2) > EPSILON * Fraction(3, 2)


def test_budgets_rounded_up_are_caught() -> None:
    described = schema("add-or-remove")
    workload = planned("prefixes", described)
    way = strategies(workload)[0]
    (block,) = way.blocks
    more = tuple(price + 2 for price in block.prices)
    assert largest_loss(workload, broken(way, prices=more), described) > EPSILON
    with pytest.raises(Fault):
        Block(**{name: getattr(block, name) for name in _FIELDS} | {"prices": more})


class BeforeNoise(Block):
    """Mutant: what leaves are the estimates of the true numbers, each with the strategy's noise."""

    def truth(self, measured: Any, rows: int = 0) -> list[list[list[int]]]:
        exact = self.estimates(super().truth(measured, rows))
        return [[[round(Fraction(value, FINE)) for value in side]] for side in exact]


@pytest.mark.parametrize("name", ["prefixes", "ranges", "marginals"])
def test_least_squares_before_noise_is_caught(name: str) -> None:
    """Its noise would be the strategy's, and a row moves many answers: nothing pays for them."""
    described = schema("add-or-remove")
    workload = planned(name, described)
    for way in strategies(workload):
        (block,) = way.blocks
        mutant = object.__new__(BeforeNoise)
        mutant.__dict__.update({field: getattr(block, field) for field in _FIELDS})
        mutant.__dict__.update(estimator=block.estimator, laws=(block.laws[0],))
        changed = object.__new__(WorkloadWay)
        changed.__dict__.update(way.__dict__ | {"blocks": (mutant,)})
        assert largest_loss(workload, way, described) <= EPSILON
        assert largest_loss(workload, changed, described) > EPSILON


def test_a_sum_moves_by_its_largest_value_and_a_pair_by_its_width() -> None:
    assert Quantity("total", "x", -7, 5).span == 7
    assert Quantity("pair", "x", -7, 5).span == 12
    assert Quantity("rows").span == 1
