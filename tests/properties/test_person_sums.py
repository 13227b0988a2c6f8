"""The exact loss of sums that are cut by person: whatever rows a person has, however many."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

import tenue as tn
from tenue.ask.plan.plan import Plan
from tenue.ask.plan.planner import make_plan
from tenue.ask.sql.parse import parse
from tenue.ask.workload.plan import plan_workload
from tenue.mechanism.additive_noise import Component, Part
from tenue.noise.box.law import OptimalBox
from tenue.noise.optimal import Optimal
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

ONE = EpsilonDelta.of(1)
GROUPS = ("a", "b", "c")
Row = tuple[int, str]


def schema(neighbours: str, ends: Sequence[int], groups: int | None = None) -> Schema:
    table: dict[str, Any] = {
        "name": "t",
        "unit": "who",
        "neighbours": neighbours,
        "rows_per_unit": 2,
    }
    if groups is not None:
        table["groups_per_unit"] = groups
    columns = {
        "who": {"type": "identifier"},
        "x": {"type": "number", "bounds": [-2, 4], "bounds_per_unit": list(ends)},
        "g": {"type": "category", "categories": list(GROUPS)},
    }
    return Schema.from_dict({"table": table, "columns": columns, "budget": {"total": 9}})


def persons(most: int) -> Iterator[tuple[Row, ...]]:
    """Everybody who has at most so many rows: more than `rows_per_unit`."""
    rows = list(itertools.product((-2, 0, 1, 4), GROUPS))
    for n in range(most + 1):
        yield from itertools.combinations_with_replacement(rows, n)


def cut(person: Sequence[Row], cell: str | None, component: Component) -> int:
    """What a person adds to a component in a cell; counts stop at the limit of rows."""
    own = [x for x, g in person if cell is None or g == cell]
    if component.kind == "rows":
        return min(len(own), 2)
    assert component.kind == "unit-total"
    return min(max(sum(own), component.low), component.high) if own else 0


def loss(part: Part, moved: Sequence[int]) -> float:
    if isinstance(part.law, OptimalBox):
        return part.box.loss(moved)
    assert not isinstance(part.law, tuple)
    return part.law.loss(abs(moved[0]))


def worst(plan: Plan, groups: int | None) -> float:
    """Over every person who comes or goes, and every set of cells kept of them."""
    found = 0.0
    keyed = bool(plan.question.keys)
    for person in persons(3):
        cells: list[Any] = list(GROUPS) if keyed else [None]
        there = {g for _, g in person} if keyed else {None}
        most = len(there) if groups is None or not keyed else min(groups, len(there))
        for kept in itertools.combinations(sorted(there, key=str), most):
            total = sum(
                loss(part, [cut(person, cell, c) for c in part.components])  # type: ignore[arg-type]
                for cell in cells
                if cell in kept
                for part in plan.parts
            )
            found = max(found, total)
    return found


def planned(sql: str, given: Schema, mechanism: str) -> Plan:
    plan = make_plan(parse(sql, given), given, ONE)
    assert plan.chosen.mechanism == mechanism
    return plan


ALONE = "SELECT SUM(x) FROM t"


@pytest.mark.parametrize("ends", [(0, 3), (-2, 3), (1, 3), (-5, -1), (-1, 5)])
def test_a_person_costs_the_price_and_no_more(ends: tuple[int, int]) -> None:
    plan = planned(ALONE, schema("add-or-remove", ends), "optimal, sums cut by person")
    assert worst(plan, None) == pytest.approx(1, abs=1e-12)


def test_under_replace_one_persons_sum_takes_the_place_of_anothers() -> None:
    given = schema("replace", (-2, 3))
    (part,) = planned(ALONE, given, "optimal, sums cut by person").parts
    sums = {cut(person, None, part.components[0]) for person in persons(3)}  # type: ignore[arg-type]
    moves = {abs(one - other) for one in sums for other in sums}
    assert max(moves) == 5
    assert max(loss(part, [move]) for move in moves) == pytest.approx(1, abs=1e-12)


def test_counts_and_sums_in_one_box() -> None:
    sql = "SELECT COUNT(*), SUM(x) FROM t"
    plan = planned(sql, schema("add-or-remove", (0, 3)), "same-sign box, sums cut by person")
    assert worst(plan, None) == pytest.approx(1, abs=1e-9)
    # with a sum below zero the signs differ, and the ball of same signs would not hold
    mixed = planned(sql, schema("add-or-remove", (-1, 3)), "box, sums cut by person")
    assert worst(mixed, None) <= 1 + 1e-9


def test_a_batch_of_sums_in_one_box() -> None:
    given = schema("add-or-remove", (0, 3))
    texts = ["SELECT SUM(x) FROM t", "SELECT COUNT(*) FROM t WHERE x > 0"]
    questions = [parse(text, given) for text in texts]
    batch = plan_workload(questions, texts, given, ONE, "variance")
    assert batch.together is not None
    assert batch.plans[0].chosen.mechanism == "same-sign box, sums cut by person"
    total, count = batch.together.components
    found = []
    for person in persons(3):
        positive = tuple(row for row in person if row[0] > 0)
        moved = [cut(person, None, total), cut(positive, None, count)]  # type: ignore[arg-type]
        found.append(loss(batch.together, moved))
    assert max(found) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("groups", [1, 2])
def test_a_person_in_several_groups(groups: int) -> None:
    given = schema("add-or-remove", (0, 3), groups)
    plan = make_plan(parse("SELECT g, SUM(x) FROM t GROUP BY g", given), given, ONE)
    assert plan.chosen.mechanism.endswith("sums cut by person")
    assert plan.request.people is not None
    kept = plan.request.people.groups
    assert kept == (1 if groups == 1 else None), "to keep all three costs less than twice of two"
    assert worst(plan, kept) == pytest.approx(1, abs=1e-12)


def test_without_a_limit_of_groups_a_person_may_be_in_all() -> None:
    given = schema("add-or-remove", (0, 2))
    plan = make_plan(parse("SELECT g, SUM(x) FROM t GROUP BY g", given), given, ONE)
    assert plan.chosen.mechanism == "discrete Laplace, sums cut by person"
    assert worst(plan, None) == pytest.approx(1, abs=1e-12)


def test_wrong_ways_cost_more_than_the_price() -> None:
    given = schema("add-or-remove", (0, 3), 2)
    (part,) = make_plan(parse("SELECT g, SUM(x) FROM t GROUP BY g", given), given, ONE).parts
    staircase = Optimal(sensitivity=9, epsilon=1).on_grid(1)
    plan = make_plan(parse("SELECT g, SUM(x) FROM t GROUP BY g", given), given, ONE)
    wrong = replace(plan, strategy=replace(plan.strategy, draws=(replace(part, law=staircase),)))
    assert worst(wrong, None) == pytest.approx(3), "a staircase pays for every cell"
    few = Optimal(sensitivity=6, epsilon=1).on_grid(1)
    cut = replace(plan, strategy=replace(plan.strategy, draws=(replace(part, law=few),)))
    assert worst(cut, 2) == pytest.approx(2), "for two of them, if two are kept"
    unlimited = planned(ALONE, schema("add-or-remove", (0, 3)), "optimal, sums cut by person")
    assert loss(unlimited.parts[0], [4 * 3]) > 2, "three rows of 4, not cut"


def test_asked_through_the_whole_journey() -> None:
    """Two persons' sums are cut, whatever limit of rows there is; a big epsilon shows the truth."""
    import pandas as pd

    rows = pd.DataFrame(
        {"who": ["p"] * 5 + ["q"] * 2, "x": [4, 4, 4, 4, 4, 1, -2], "g": ["a"] * 4 + ["b"] * 3}
    )
    given = schema("add-or-remove", (-1, 7), 3)
    table = {**given.stated["table"], "rows_per_unit": 30}
    given = tn.Schema.from_dict({**given.stated, "table": table, "budget": {"total": 9000}})
    with tn.protect(rows, schema=given, ledger=tn.ledger.Memory()) as data:
        answer = data.ask("SELECT SUM(x) FROM t", epsilon=60)
        assert answer.value == 7 - 1
        assert "clipped to -1 and 7" in answer.certificate.parameters["part 1"]
        many = data.ask_many(["SELECT SUM(x) FROM t", "SELECT COUNT(*) FROM t"], epsilon=60)
        assert [one.value for one in many] == [7 - 1, 7]
        assert all("sums cut by person" in one.certificate.mechanism for one in many)
        by_group = data.ask("SELECT g, SUM(x) AS s FROM t GROUP BY g", epsilon=180)
        assert [row["s"] for row in by_group.value] == [7, 4 - 1, 0]
