"""From rows to released numbers: every declared cell, in the stored layout of 0.1.0."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from oracle_engine import OracleEngine
from tenue.engine.request import RankRequest, Request
from tenue.errors import Refused
from tenue.noise import Seeded
from tenue.promise.loss import EpsilonDelta
from tenue.query.plan.make import make_plan
from tenue.query.read.parse import parse
from tenue.query.release import Released, ReleasedMany, release, release_many, true_numbers
from tenue.query.workload.plan import plan_workload
from tenue.schema import Schema

ROWS = [
    {"x": n % 10, "c": "red" if n % 3 else "blue", "g": "ab"[n % 2], "who": f"p{n // 2}"}
    for n in range(60)
]


def schema(**table: Any) -> Schema:
    return Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace", **table},
            "columns": {
                "x": {"type": "number", "bounds": [0, 10], "missing": 0},
                "c": {"type": "category", "categories": ["blue", "red"]},
                "g": {"type": "category", "categories": ["a", "b", "nobody"]},
                "who": {"type": "identifier"},
            },
        }
    )


class Watched:
    """An engine that knows what it was asked."""

    def __init__(self, described: Schema) -> None:
        self.inner = OracleEngine(described, ROWS)
        self.asked: list[Request | RankRequest] = []

    def measure(self, request: Request) -> Any:
        self.asked.append(request)
        return self.inner.measure(request)

    def ranks(self, request: RankRequest) -> Any:
        self.asked.append(request)
        return self.inner.ranks(request)


def drawn(sql: str, epsilon: int, **table: Any) -> tuple[Released, Watched]:
    described = schema(**table)
    engine = Watched(described)
    plan = make_plan(parse(sql, described), described, epsilon * EpsilonDelta(10**9))
    return release(plan, engine, described), engine  # type: ignore[arg-type]


def test_parts_have_a_tuple_each_and_selections_share_the_last() -> None:
    sql = "SELECT g, COUNT(*), MAX(x), MODE(c) FROM t GROUP BY g"
    found, engine = drawn(sql, 1000)
    assert found.cells == (((30,), (8, 1)), ((30,), (9, 1)), ((0,), found.cells[2][1]))
    assert len(engine.asked) == 3, "counts, ranks and votes are each read once"
    assert found.rows is None


def test_a_column_is_read_once_whatever_is_chosen_from_it() -> None:
    found, engine = drawn("SELECT MIN(x), MEDIAN(x), MAX(x) FROM t", 3000)
    ((chosen,),) = found.cells
    assert chosen[0] == 0
    assert chosen[2] == 9
    (request,) = engine.asked
    assert isinstance(request, RankRequest)
    assert len(request.windows) == 3


def test_the_public_number_of_rows_leaves_only_where_a_mean_needs_it() -> None:
    assert drawn("SELECT AVG(x) FROM t", 1)[0].rows == 60
    assert drawn("SELECT AVG(x) FROM t WHERE c = 'red'", 1)[0].rows is None
    assert drawn("SELECT AVG(x) FROM t", 1, neighbours="add-or-remove")[0].rows is None


def test_people_are_limited_in_every_request() -> None:
    sql = "SELECT COUNT(*), MODE(c), MAX(x) FROM t"
    _, engine = drawn(sql, 5, unit="who", rows_per_unit=1, groups_per_unit=1)
    assert {r.people.rows for r in engine.asked if r.people is not None} == {1}
    assert all(r.people is not None for r in engine.asked)


def test_what_left_is_stored_as_0_1_0_stored_it() -> None:
    found = Released((((1, -2), (3,)),), 7)
    stored = b'{"released": 1, "cells": [[[1, -2], [3]]], "rows": 7}'
    assert found.to_bytes() == stored
    assert Released.from_bytes(stored) == found
    many = ReleasedMany(((((1, 2), (3,)),),), (None, found))
    assert ReleasedMany.from_bytes(many.to_bytes()) == many
    earlier = b"[" + stored + b", " + stored + b"]"
    assert ReleasedMany.from_bytes(earlier) == ReleasedMany((), (found, found))


def test_one_noise_of_a_batch_is_handed_to_its_questions() -> None:
    described = schema(neighbours="add-or-remove")
    conditions = ["x > 4", "c = 'red'", "g = 'a'", "x > 2 OR g = 'b'"]
    counts = [f"SELECT COUNT(*) FROM t WHERE {c}" for c in conditions]  # noqa: S608
    texts = [*counts, "SELECT MAX(x) FROM t"]
    parsed = [parse(t, described) for t in texts]
    workload = plan_workload(parsed, texts, described, EpsilonDelta(10**11), "variance")
    box = next(way for way in workload.ways if way.boxed is not None)
    assert box.boxed is not None
    plans = tuple(box.boxed.plans.get(n) or plan for n, plan in enumerate(workload.plans))
    workload = replace(workload, chosen=box, plans=plans, components={})
    *shared, alone = release_many(workload, OracleEngine(described, ROWS), described).apart
    assert alone is not None
    assert shared[0] is not None
    ((numbers,),) = shared[0].cells
    assert set(shared) == {shared[0]}, "each holds all numbers of the shared noise"
    assert numbers == pytest.approx((30, 40, 30, 48), abs=2)
    assert alone.cells == (((9,),),)


def test_true_numbers_are_exact() -> None:
    described = schema()
    question = parse("SELECT SUM(x), COUNT(*), AVG(x) FROM t WHERE c = 'red'", described)
    numbers = true_numbers(question, OracleEngine(described, ROWS), described)
    assert (numbers.rows, numbers.present["x"]) == (40, 40)
    assert Fraction(numbers.total["x"]) == sum(r["x"] for r in ROWS if r["c"] == "red")  # type: ignore[misc]


def test_nothing_leaves_with_noise_that_can_be_repeated() -> None:
    described = schema()
    plan = make_plan(parse("SELECT COUNT(*) FROM t", described), described, EpsilonDelta(10**9))
    with pytest.raises(Refused, match="Seeded"):
        release(plan, OracleEngine(described, ROWS), described, Seeded(1))
