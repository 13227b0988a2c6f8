"""Plans: candidates, the chosen one, and nothing about rows."""

from __future__ import annotations

import json

import pytest

from tenue.engine.request import Measure
from tenue.promise.loss import EpsilonDelta
from tenue.query.plan.make import build_plan, make_plan
from tenue.query.question import Output
from tenue.query.read.parse import parse
from tenue.schema import Schema
from unit.query.stated import AVG, BY_REGION, COUNT, FILTERED, MEAN, ONE_COUNT, SUM, asked, schema

HALF = EpsilonDelta.of("0.5")


def test_the_chosen_candidate_has_the_least_error() -> None:
    plan = make_plan(asked(Output("total", SUM)), schema(), HALF)
    assert len(plan.candidates) == 2
    errors = {c.mechanism: c.expectations[0].standard_deviation for c in plan.candidates}
    assert plan.chosen.mechanism == min(errors, key=lambda name: errors[name] or 0)


def test_the_criterion_changes_the_choice_of_shape() -> None:
    question = asked(Output("total", SUM))
    variance = make_plan(question, schema(), HALF, "variance").chosen.expectations[0]
    narrow = make_plan(question, schema(), HALF, ("interval", 0.95)).chosen.expectations[0]
    assert narrow.half_width is not None
    assert variance.half_width is not None
    assert narrow.half_width <= variance.half_width


def test_only_what_is_needed_is_measured() -> None:
    assert make_plan(ONE_COUNT, schema(), HALF).request.measures == (Measure("rows"),)
    assert set(make_plan(MEAN, schema(), HALF).request.measures) == {
        Measure("present", "income"),
        Measure("total", "income"),
    }
    assert make_plan(FILTERED, schema(), HALF).request.where == FILTERED.where
    assert make_plan(BY_REGION, schema(), HALF).request.keys == BY_REGION.keys


def test_means_tell_their_error_before_only_with_public_rows() -> None:
    assert make_plan(MEAN, schema(), HALF).chosen.expectations[0].expected_error is None
    known = make_plan(MEAN, schema(rows=500), HALF).chosen.expectations[0].expected_error
    assert known is not None
    more = make_plan(MEAN, schema(rows=5000), HALF).chosen.expectations[0].expected_error
    assert more == pytest.approx(known / 10)


def test_a_person_with_five_rows_moves_a_count_five_times_as_far() -> None:
    people = schema().replace(
        table={"unit": "pid", "rows_per_unit": 5}, columns={"pid": {"type": "identifier"}}
    )
    one, five = (make_plan(ONE_COUNT, s, HALF).chosen for s in (schema(), people))
    errors = [c.expectations[0].expected_error or 0 for c in (one, five)]
    assert errors[1] / errors[0] == pytest.approx(5, rel=0.05)


def test_plans_speak_to_people_and_programs() -> None:
    plan = make_plan(asked(Output("n", COUNT), Output("mean", AVG)), schema(), HALF, sql="SELECT …")
    given = json.loads(plan.to_json())
    assert given["epsilon"] == "0.5"
    assert given["chosen"] in given["candidates"]
    text = str(plan)
    assert "→" in text
    assert "after" in text  # the mean's error is told with the answer


def test_smooth_sensitivity_is_shown_where_the_number_of_rows_is_public_and_never_chosen() -> None:
    given = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "x": {"type": "number", "bounds": [0, 9], "missing": 0},
            "y": {"type": "number", "bounds": [0, 9]},
        },
    }
    public = Schema.from_dict(given)
    for sql, shown in (
        ("SELECT MEDIAN(x) FROM t", True),
        ("SELECT MEDIAN(y) FROM t", False),
        ("SELECT MEDIAN(x) FROM t WHERE x > 1", False),
        ("SELECT AVG(x) FROM t", False),
    ):
        plan = make_plan(parse(sql, public), public, HALF)
        names = [candidate.mechanism for candidate in plan.candidates]
        assert [n for n in names if n.startswith("smooth")] == [
            f"smooth sensitivity {gamma}" for gamma in range(2, 7) if shown
        ]
        assert not plan.chosen.mechanism.startswith("smooth")
        assert ("untold" in str(plan)) is shown


def test_a_plan_is_built_from_its_strategy_alone() -> None:
    """Of the builder: one way, what it measures, and what is shown of it."""
    whole = make_plan(MEAN, schema(rows=500), HALF)
    built = build_plan(
        *(MEAN, schema(rows=500), whole.strategy, whole.price, whole.criterion, "SELECT …"),
        people=None,
    )
    assert built.candidates == (built.chosen,) == (whole.chosen,)
    assert built.request == whole.request
    assert built.readings == whole.readings
    less = build_plan(
        *(MEAN, schema(), whole.strategy, HALF, whole.criterion, ""),
        people=None,
        measures=[Measure("rows")] * 2,
    )
    assert less.request.measures == (Measure("rows"),)
