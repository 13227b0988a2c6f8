"""Groups are cut by schema, question and price alone: nobody's, where that is worth its noise."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from tenue.engine.request import People
from tenue.errors import Refused
from tenue.noise.criterion import VARIANCE
from tenue.promise.loss import EpsilonDelta
from tenue.query.family.strategy import Strategy, sizes
from tenue.query.plan.make import make_plan, setting_of
from tenue.query.plan.people import check_limited, people_of, spares, ways_to_keep
from tenue.query.plan.plan import Plan
from tenue.query.plan.ways import strategies
from tenue.query.read.parse import parse
from tenue.schema import Schema

ONE = EpsilonDelta.of(1)
WARDS = ["a", "b", "c", "d"]
ASKED = [
    "COUNT(*)",
    "SUM(x)",
    "SUM(y)",
    "AVG(x)",
    "COUNT(DISTINCT who)",
    "COUNT(DISTINCT who), COUNT(*)",
    "COUNT(*), SUM(x)",
    "MEDIAN(x)",
    "VARIANCE(x)",
]


def schema(groups: int | None, neighbours: str = "add-or-remove", rows: int = 3) -> Schema:
    table: dict[str, Any] = {"name": "t", "unit": "who", "neighbours": neighbours}
    table |= {"rows_per_unit": rows} | ({} if groups is None else {"groups_per_unit": groups})
    columns = {
        "who": {"type": "identifier"},
        "ward": {"type": "category", "categories": WARDS},
        "x": {"type": "number", "bounds": [0, 50]},
        "y": {"type": "number", "bounds": [0, 50], "bounds_per_unit": [0, 60]},
    }
    return Schema.from_dict({"table": table, "columns": columns})


def planned(asked: str, given: Schema, price: EpsilonDelta, **more: Any) -> Plan:
    question = parse(f"SELECT ward, {asked} FROM t GROUP BY ward", given)  # noqa: S608
    return make_plan(question, given, price, **more)


def lines(strategy: Strategy) -> list[str]:
    return [draw.line for draw in strategy.draws]


def check_rule(plan: Plan, given: Schema) -> None:
    """No group is cut, or to cut none has more than twice the error."""
    kept = ways_to_keep(plan.question, given)
    people = plan.request.people
    assert people in kept
    if len(kept) == 1:
        return
    errors = []
    for way in kept:
        setting = setting_of(plan.question, given, way)
        found = strategies(plan.question.aggregates(), setting, plan.price, VARIANCE)
        preferred = [one for one in found if one.preferred] or found
        names = [one for one in preferred if one.name == plan.chosen.mechanism]
        if way == people:
            assert names, "the draws are those for what is kept"
            assert any(lines(one) == lines(plan.strategy) for one in names)
        best = min(preferred, key=lambda one: sum(sizes(one, VARIANCE).values()))
        errors.append(sizes(best, VARIANCE))
    whole, cut = errors
    worth = all(size <= 2 * cut[a] + 0.5 for a, size in whole.items())
    assert (people == kept[0]) == worth


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize("asked", ASKED)
def test_groups_are_cut_only_where_that_halves_the_error(asked: str, neighbours: str) -> None:
    for groups, price in itertools.product([None, 1, 2, 4], [ONE // 10, ONE, 30 * ONE]):
        given = schema(groups, neighbours)
        check_rule(planned(asked, given, price), given)


def test_rows_are_not_kept_for_another_noise() -> None:
    """The mutant: the strategy of one limit, and the rows of another."""
    given = schema(1)
    plan = planned("SUM(x)", given, 40 * ONE)
    assert plan.request.people == People("who", 3, 1)
    wrong = replace(plan, request=replace(plan.request, people=People("who", 3, None)))
    with pytest.raises(AssertionError):
        check_rule(wrong, given)


def test_a_limit_of_groups_is_no_reason_to_cut_rows() -> None:
    """The mutant: as in 0.1.0, whatever is stated is cut."""
    given = schema(2)
    plan = planned("COUNT(*)", given, ONE)
    assert [limit.kind for limit in plan.limits] == ["rows"]
    stated = replace(plan, request=replace(plan.request, people=People("who", 3, 2)))
    with pytest.raises(AssertionError):
        check_rule(stated, given)


def test_sums_cut_by_person_keep_all_groups_where_that_at_most_doubles_the_noise() -> None:
    assert [limit.kind for limit in planned("SUM(y)", schema(2, rows=99), ONE).limits] == ["sum"]
    kinds = [limit.kind for limit in planned("SUM(y)", schema(1, rows=99), ONE).limits]
    assert kinds == ["sum", "groups"]


def test_a_mechanism_that_only_one_way_has_can_be_named() -> None:
    given = schema(1)
    assert planned("SUM(x)", given, ONE).chosen.mechanism == "discrete Laplace"
    named = planned("SUM(x)", given, ONE, mechanism="optimal")
    assert named.chosen.mechanism == "optimal"
    assert named.request.people == People("who", 3, 1)
    with pytest.raises(Refused):
        planned("SUM(x)", given, ONE, mechanism="magic")


def test_half_a_step_is_no_reason_to_cut() -> None:
    given = schema(1)
    question = parse("SELECT ward, COUNT(DISTINCT who) FROM t GROUP BY ward", given)
    (asked,) = question.aggregates()
    setting = setting_of(question, given, None)
    assert spares({asked: 0.5}, {asked: 0.0}, setting=setting)
    assert not spares({asked: 0.51}, {asked: 0.0}, setting=setting)
    assert spares({asked: 20.5}, {asked: 10.0}, setting=setting)
    assert not spares({asked: 20.6}, {asked: 10.0}, setting=setting)


def test_what_no_price_decides() -> None:
    given = schema(None)
    question = parse("SELECT ward, COUNT(DISTINCT who) FROM t GROUP BY ward", given)
    assert people_of(question, given) == People("who", 3, None)
    assert people_of(question, schema(1)) == People("who", 3, 1)
    assert ways_to_keep(parse("SELECT COUNT(*) FROM t", given), given) == [People("who", 3, None)]
    with pytest.raises(Refused):
        check_limited(replace(given, rows_per_unit=None))
