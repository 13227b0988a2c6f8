"""The exact loss of whole answers with ranks, moments, people and batches, on small tables.

Every table of a small domain and every neighbour of it: the loss of all that is released together
is computed from the laws' own masses and never exceeds the price.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tenue.ask.aggregates.mode import Ballot
from tenue.ask.aggregates.strategy import Range, Setting, Span
from tenue.ask.plan.plan import Plan
from tenue.ask.plan.planner import make_plan, strategies
from tenue.ask.question import Aggregate
from tenue.ask.sql.parse import parse
from tenue.ask.sql.write import render
from tenue.ask.workload.plan import plan_workload
from tenue.mechanism.exponential_mechanism import Exponential, Selection
from tenue.mechanism.moment_basis import Bernstein, powers_of
from tenue.noise.box.law import OptimalBox
from tenue.noise.criterion import VARIANCE
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

ONE = EpsilonDelta.of(1)
XS, GROUPS = range(3), ("a", "b")
ROWS = list(itertools.product(XS, GROUPS))
Row = tuple[int, str]
TableOf = tuple[Row, ...]


def schema(neighbours: str, rows_per_unit: int = 1) -> Schema:
    table: dict[str, Any] = {"name": "t", "unit": "record", "neighbours": neighbours}
    columns: dict[str, Any] = {
        "x": {"type": "number", "bounds": [0, 2], "grid": 1},
        "g": {"type": "category", "categories": list(GROUPS)},
    }
    if rows_per_unit > 1:
        table |= {"unit": "id", "rows_per_unit": rows_per_unit}
        columns["id"] = {"type": "identifier"}
    return Schema.from_dict({"table": table, "columns": columns})


def tables(most: int) -> Iterator[TableOf]:
    for n in range(most + 1):
        yield from itertools.combinations_with_replacement(ROWS, n)


def neighbours_of(table: TableOf, kind: str, rows_per_unit: int) -> Iterator[TableOf]:
    """One unit more; or one unit's rows for another's."""
    units = [u for n in range(1, rows_per_unit + 1) for u in _units(n)]
    if kind == "add-or-remove":
        for unit in units:
            yield (*table, *unit)
        return
    for size in range(1, rows_per_unit + 1):
        for gone in itertools.combinations(range(len(table)), size):
            rest = tuple(row for i, row in enumerate(table) if i not in gone)
            yield from ((*rest, *unit) for unit in units)


def _units(n: int) -> Iterator[TableOf]:
    return itertools.combinations_with_replacement(ROWS, n)


def chosen_masses(selection: Selection, values: Sequence[int]) -> list[float]:
    n = len(values)
    weights = []
    for v in range(selection.low, selection.high + 1):
        score = selection.score.of(n, sum(x < v for x in values), sum(x <= v for x in values))
        spared = selection.low if selection.score.spared == "low" else selection.high
        score = 0 if v == spared and selection.score.spares(n) else score
        weights.append(math.exp(-float(selection.law.fall) * min(score, selection.reach)))
    return [w / sum(weights) for w in weights]


def vote_masses(vote: Exponential, table: TableOf, cell: str | None) -> list[float]:
    """MODE(g) of a cell: the categories are those of the groups."""
    votes = [sum(g == c and cell in (None, g) for _, g in table) for c in GROUPS]
    weights = [0.0] * len(votes)
    for score, places in vote.classes(votes).items():
        for place in places:
            weights[place] = math.exp(-float(vote.fall) * score)
    return [w / sum(weights) for w in weights]


def loss(plan: Plan, one: TableOf, other: TableOf) -> float:
    """Of all cells and all parts together: cells are drawn independently, so losses add up."""
    cells = [None] if not plan.question.keys else list(GROUPS)
    total = 0.0
    for cell in cells:
        xs = [[x for x, g in t if cell is None or g == cell] for t in (one, other)]
        for choice in (draw for draw in plan.strategy.draws if draw.chosen):
            if isinstance(choice, Ballot):
                p, q = (vote_masses(choice.vote, t, cell) for t in (one, other))
            else:
                p, q = (chosen_masses(choice.selection, values) for values in xs)
            total += max(abs(math.log(a / b)) for a, b in zip(p, q, strict=True))
        for part in plan.parts:
            assert isinstance(part.law, tuple)
            for component, law in zip(part.components, part.law, strict=True):
                assert isinstance(component, Bernstein)
                a, b = (component.of_moments(moments(v, component)) for v in xs)
                total += law.loss(abs(a - b))
    return total


def moments(values: Sequence[int], component: Bernstein) -> dict[tuple[int, ...], int]:
    return {p: sum(x ** p[0] for x in values) for p in powers_of(1, component.degree)}


def worst(plan: Plan, kind: str, rows_per_unit: int, most: int) -> float:
    return max(
        loss(plan, table, other)
        for table in tables(most)
        for other in neighbours_of(table, kind, rows_per_unit)
    )


@pytest.mark.parametrize("kind", ["add-or-remove", "replace"])
@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MEDIAN(x) FROM t",
        "SELECT QUANTILE(x, 0.25), MAX(x) FROM t",
        "SELECT g, MEDIAN(x) FROM t GROUP BY g",
        "SELECT g, MIN(x), VARIANCE(x) FROM t GROUP BY g",
        "SELECT STDDEV(x), VAR_POP(x) FROM t",
        "SELECT MODE(g) FROM t",
        "SELECT MODE(g), MEDIAN(x) FROM t",
        "SELECT g, MODE(g), MIN(x) FROM t GROUP BY g",
    ],
)
def test_ranks_and_moments_cost_no_more_than_their_price(
    sql: str, kind: str, rows_per_unit: int
) -> None:
    given = schema(kind, rows_per_unit)
    plan = make_plan(parse(sql, given), given, 2 * ONE)
    assert plan.strategy.epsilon <= 2
    most = 3 if rows_per_unit == 1 else 2
    assert worst(plan, kind, rows_per_unit, most) <= 2 * (1 + 1e-9)


BOUGHT = [
    "SELECT MEDIAN(x) FROM t",
    "SELECT QUANTILE(x, 0.25), MAX(x) - MIN(x) FROM t",
    "SELECT g, MEDIAN(x), MIN(x) FROM t GROUP BY g",
]


@pytest.mark.parametrize("kind", ["add-or-remove", "replace"])
@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize("sql", BOUGHT)
def test_values_with_their_intervals_cost_no_more_than_their_price(
    sql: str, kind: str, rows_per_unit: int
) -> None:
    given = schema(kind, rows_per_unit)
    plan = make_plan(parse(sql, given), given, 2 * ONE, interval="0.9")
    assert plan.strategy.epsilon <= 2
    most = 3 if rows_per_unit == 1 else 2
    assert worst(plan, kind, rows_per_unit, most) <= 2 * (1 + 1e-9)


def test_intervals_that_do_not_split_epsilon_would_cost_three_times_as_much() -> None:
    """Mutant: each of the three selections at the whole price."""
    given = schema("add-or-remove")
    plan = make_plan(parse("SELECT MEDIAN(x) FROM t", given), given, 2 * ONE, interval="0.9")
    whole = tuple(
        replace(c, selection=replace(c.selection, epsilon=Fraction(2))) for c in plan.strategy.draws
    )
    mutant = replace(plan, strategy=replace(plan.strategy, draws=whole))
    assert worst(mutant, "add-or-remove", 1, 3) > 2.5


def test_a_unit_with_two_rows_would_cost_too_much_for_one_row() -> None:
    """Mutant: the plan for records, asked of people."""
    given = schema("add-or-remove")
    plan = make_plan(parse("SELECT VARIANCE(x) FROM t", given), given, 2 * ONE)
    assert worst(plan, "add-or-remove", 2, 1) > 3


def test_a_vote_under_replace_would_cost_too_much_without_halving() -> None:
    """Mutant: the plan for a row more or less, asked of rows that change."""
    given = schema("add-or-remove")
    plan = make_plan(parse("SELECT MODE(g) FROM t", given), given, 2 * ONE)
    assert worst(plan, "replace", 1, 3) > 2.5


def test_groups_under_replace_would_cost_twice_without_halving() -> None:
    """Mutant: under replace a row leaves one cell and enters another."""
    given = schema("add-or-remove")
    plan = make_plan(parse("SELECT g, VARIANCE(x) FROM t GROUP BY g", given), given, 2 * ONE)
    assert worst(plan, "replace", 1, 2) > 3


# -- counts and sums of people, and batches --------------------------------------------------------


def truth(sql_atoms: Sequence[tuple[str, Any]], table: TableOf) -> list[int]:
    """(kind, condition): counts of rows or sums of x over the rows that satisfy the condition."""
    return [
        sum(1 if kind == "count" else row[0] for row in table if holds(row))
        for kind, holds in sql_atoms
    ]


BATCHES: list[tuple[list[str], list[tuple[str, Any]]]] = [
    (
        ["SELECT COUNT(*) FROM t WHERE x > 0", "SELECT COUNT(*) FROM t", "SELECT SUM(x) FROM t"],
        [("count", lambda r: r[0] > 0), ("count", lambda r: True), ("sum", lambda r: True)],
    ),
    (
        ["SELECT COUNT(*), SUM(x) FROM t WHERE g = 'a'", "SELECT SUM(x) FROM t WHERE x < 2"],
        [
            ("count", lambda r: r[1] == "a"),
            ("sum", lambda r: r[1] == "a"),
            ("sum", lambda r: r[0] < 2),
        ],
    ),
]


@pytest.mark.parametrize("kind", ["add-or-remove", "replace"])
@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize(("questions", "atoms"), BATCHES)
def test_a_batch_in_one_noise_costs_no_more_than_its_price(
    questions: list[str], atoms: list[tuple[str, Any]], kind: str, rows_per_unit: int
) -> None:
    given = schema(kind, rows_per_unit)
    parsed = [parse(sql, given) for sql in questions]
    batch = plan_workload(parsed, [render(q, given) for q in parsed], given, ONE, VARIANCE)
    assert batch.together is not None
    seen = 0.0
    for table in tables(2):
        for other in neighbours_of(table, kind, rows_per_unit):
            moved = [a - b for a, b in zip(truth(atoms, table), truth(atoms, other), strict=True)]
            seen = max(seen, batch.together.box.loss(moved))
    assert 0 < seen <= 1 + 1e-9


def test_one_sided_noise_would_not_do_under_replace() -> None:
    """Mutant: a same-sign box at the full price, though a row may leave one count for another."""
    law = OptimalBox(sensitivities=[1, 1], epsilon=1, signs="same").on_grid(1)
    assert law.loss([1, -1]) > 1


@pytest.mark.parametrize("kind", ["add-or-remove", "replace"])
def test_people_in_many_groups_cost_no_more_than_their_price(kind: str) -> None:
    """COUNT and SUM by group: all cells' components together, L1 over cells."""
    limit = 2
    setting = Setting(
        kind,
        True,
        False,
        {"x": Range(0, 2, Fraction(1), False)},
        spans={"x": Span(0, 2, Fraction(1))},
        rows_per_unit=limit,
        persons=True,
    )
    asked = (Aggregate("count"), Aggregate("sum", "x"), Aggregate("avg", "x"))
    for strategy in strategies(asked, setting, ONE, VARIANCE):
        worst_seen = 0.0
        for table in tables(2):
            for other in neighbours_of(table, kind, limit):
                total = 0.0
                for part in strategy.parts:
                    laws = part.law if isinstance(part.law, tuple) else (part.law,)
                    for cell in GROUPS:
                        values = [[x for x, g in t if g == cell] for t in (table, other)]
                        for component, law in zip(part.components, laws, strict=True):
                            a, b = (component.of(atoms_of(v)) for v in values)
                            total += law.loss(abs(a - b))  # type: ignore[union-attr, arg-type]
                worst_seen = max(worst_seen, total)
        assert worst_seen <= 1 + 1e-9, strategy.name


def atoms_of(values: list[int]) -> Any:
    from tenue.mechanism.additive_noise import Atoms

    return Atoms(len(values), Counter({"x": len(values)}), Counter({"x": sum(values)}))
