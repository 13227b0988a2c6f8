"""The exact joint loss of workloads that compute columns, filter aggregates and join lookups."""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from properties.test_joint_loss import part_loss
from properties.test_sql_loss import numbers, worst
from properties.test_sql_loss import pairs as pairs_of
from properties.test_workload_loss import (
    EPSILON,
    PRICE,
    ROWS,
    broken,
    largest_loss,
    schema,
    strategies,
)
from tenue.ask.aggregates.noise import atoms_of
from tenue.ask.answer import Answer
from tenue.ask.paid_request import inquire_many
from tenue.ask.question import MOST_TOGETHER, KeyOutput, computed_by
from tenue.ask.release import ReleasedMany, measured_cells
from tenue.ask.sql.parse import parse
from tenue.ask.workload.plan import Workload, _made, plan_workload
from tenue.engine.computed_column import Sum
from tenue.engine.open import open_engine
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

CLOSE = 1 + 1e-9
KINDS = ("add-or-remove", "replace")
WORKLOADS = {
    "computed": [
        "SELECT SUM(2 * x + 1) FROM t WHERE c = 'a'",
        "SELECT AVG(2 * x + 1) FROM t",
        "SELECT COUNT(*) FROM t WHERE 2 * x + 1 > 5",
    ],
    "cases": [
        "SELECT CASE WHEN x < 2 THEN 'low' WHEN x < 5 THEN 'middle' ELSE 'rest' END, COUNT(*) "
        "FROM t GROUP BY 1",
        "SELECT COUNT(*) FROM t",
        "SELECT COUNT(*) FROM t WHERE x > 2",
    ],
    "filter": [
        "SELECT COUNT(*) FILTER (WHERE x > 3), COUNT(*) FROM t",
        "SELECT c, COUNT(*) FILTER (WHERE x > 3) FROM t GROUP BY c",
        "SELECT SUM(x) FILTER (WHERE c = 'b') FROM t",
    ],
    "lookup": [
        "SELECT name, COUNT(*) FROM t JOIN place USING (c) GROUP BY name",
        "SELECT COUNT(*) FROM t LEFT JOIN place USING (c) WHERE name = 'here'",
        "SELECT SUM(x) FROM t JOIN place USING (c)",
        "SELECT COUNT(*) FROM t",
    ],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "place.csv").write_text("c,name\na,here\n")
    return tmp_path


def described(folder: Path, neighbours: str, rows_per_unit: int | None = None) -> Schema:
    lookup = {"source": "place.csv", "key": "c", "columns": ["name"]}
    stated = schema(neighbours, rows_per_unit).to_dict()
    more = {"lookups": {"place": lookup}}
    return Schema.from_dict(stated | more, folder=folder)


def planned(texts: list[str], given: Schema) -> Workload:
    return plan_workload([parse(text, given) for text in texts], texts, given, PRICE)


@pytest.mark.parametrize("rows_per_unit", [None, 2])
@pytest.mark.parametrize("neighbours", KINDS)
@pytest.mark.parametrize("name", WORKLOADS)
def test_what_is_computed_loses_no_more_than_its_price(
    name: str, neighbours: str, rows_per_unit: int | None, folder: Path
) -> None:
    given = described(folder, neighbours, rows_per_unit)
    workload = planned(WORKLOADS[name], given)
    found = strategies(workload)
    assert found, "what is computed enters strategies"
    for way in found:
        assert set(way.shared) == set(range(len(WORKLOADS[name])))
        loss = largest_loss(workload, way, given, most=rows_per_unit or 1)
        assert 0 < loss <= EPSILON, way.name
        if rows_per_unit == 2:
            mutant = broken(way, rows_per_unit=1)
            assert largest_loss(workload, mutant, given, most=2) > EPSILON


@pytest.mark.parametrize("name", WORKLOADS)
def test_what_is_computed_is_right_without_noise(name: str, folder: Path) -> None:
    """Every strategy, released without noise, says what DuckDB itself says."""
    given, texts = described(folder, "add-or-remove"), WORKLOADS[name]
    table = pa.table({"x": pa.array([x for x, _ in ROWS], pa.int64()), "c": [c for _, c in ROWS]})
    workload = planned(texts, given)
    with duckdb.connect() as raw, closing(open_engine(table, given)) as engine:
        raw.register("t", table)
        raw.execute(f"CREATE TABLE place AS FROM '{folder / 'place.csv'}'")
        for way in strategies(workload):
            made = _made(workload.alone, workload.ways, way, way)
            measured = measured_cells(made.request, engine)
            exact = tuple(block.truth(measured) for block in made.blocks)
            stored = ReleasedMany(exact, (None,) * len(texts)).to_bytes()  # type: ignore[arg-type]
            for text, answer in zip(
                texts, inquire_many(made, given).read(stored, False), strict=True
            ):
                compare(answer, raw.sql(text).fetchall())


def compare(answer: Answer, true: list[tuple[Any, ...]]) -> None:
    """Every declared cell, with 0 where there are no rows."""
    outputs = answer.plan.question.outputs
    keys = [place for place, output in enumerate(outputs) if isinstance(output, KeyOutput)]
    expected = {tuple(row[place] for place in keys): row for row in true}
    for row in answer.to_arrow().to_pylist():
        own = list(row.values())
        wanted = expected.get(tuple(own[place] for place in keys), [0] * len(own))
        for place, value in enumerate(own):
            if place not in keys:
                assert value == pytest.approx(wanted[place] or 0, abs=1e-3), answer.plan.sql


@pytest.mark.parametrize("neighbours", KINDS)
def test_persons_and_distinct_values_stay_by_themselves(neighbours: str) -> None:
    """Each of them loses no more than its share; the blocks no more than theirs."""
    given = schema(neighbours, rows_per_unit=2)
    stated = given.to_dict()
    stated["columns"]["x"]["bounds_per_unit"] = [0, 9]
    given = Schema.from_dict(stated)
    texts = [
        "SELECT COUNT(*) FROM t WHERE x > 2",
        "SELECT c, COUNT(*) FROM t GROUP BY c",
        "SELECT COUNT(DISTINCT x) FROM t",
        "SELECT SUM(v) FROM (SELECT who, SUM(x) AS v FROM t GROUP BY who)",
    ]
    workload = planned(texts, given)
    assert all(set(way.shared) <= {0, 1} for way in workload.ways)
    boxed = set(workload.owners)
    apart = [p for n, p in enumerate(workload.plans) if n not in {*workload.shared, *boxed}]
    price = PRICE - sum((plan.price for plan in apart), start=EpsilonDelta())
    few = [{"x": x, "c": c} for x, c in ROWS if c != "b" and x in (None, 0, 3, 6)]
    for plan in apart:
        assert worst(plan, given, neighbours, 2, few) <= plan.epsilon * CLOSE
    if boxed:
        assert _largest_of_box(workload, given, few) <= price.epsilon * CLOSE
    else:
        loss = largest_loss(workload, workload.chosen, given, most=2)
        assert 0 < loss <= price.epsilon


def _largest_of_box(workload: Workload, given: Schema, rows: list[dict[str, Any]]) -> float:
    """Over all neighbours, of the one noise that several questions share."""
    noise = workload.together
    assert noise is not None

    def truth(table: Sequence[dict[str, Any]]) -> list[int]:
        own = {n: numbers(workload.plans[n], given, table).measured[0] for n in workload.owners}
        pairs = zip(noise.components, workload.owners, strict=True)
        return [component.of(atoms_of(own[owner])) for component, owner in pairs]

    largest = 0.0
    for one, two in pairs_of(given.neighbours, 2, rows):
        shift = [b - a for a, b in zip(truth(one), truth(two), strict=True)]
        largest = max(largest, part_loss(noise, shift) if any(shift) else 0.0)
    return largest


def test_a_name_that_means_two_columns_is_not_shared() -> None:
    given = schema("add-or-remove")
    one = parse("SELECT COUNT(*) FROM t WHERE 2 * x + 1 > 5", given)
    (column,) = one.computed
    other = replace(one, computed=(replace(column, formula=Sum(3)),))
    found, columns = computed_by({0: one, 1: other, 2: one})
    assert found == [0, 2]
    assert columns == [column]


def test_too_many_computed_columns_leave_plain_questions_together() -> None:
    given = schema("add-or-remove")
    plain = [f"SELECT COUNT(*) FROM t WHERE x < {k}" for k in range(1, 7)]
    many = [f"SELECT SUM(x + {k}) FROM t" for k in range(1, MOST_TOGETHER + 2)]
    workload = planned([*plain, *many], given)
    assert {way.shared for way in strategies(workload)} == {tuple(range(6))}
