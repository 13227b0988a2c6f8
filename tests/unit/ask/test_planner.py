"""Every way to answer a question, and the best one."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.ask.aggregates.strategy import Range, Setting, Span, Strategy, score_of, sizes
from tenue.ask.plan import planner
from tenue.ask.plan.planner import build_plan, epsilon_for, make_plan, strategies
from tenue.ask.question import Aggregate, Output
from tenue.ask.sql.parse import parse
from tenue.engine.request import Measure
from tenue.errors import InvalidArgument, NotPromised
from tenue.ledger import Memory
from tenue.noise.criterion import VARIANCE, criterion
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema
from unit.ask.stated import AVG, BY_REGION, FILTERED, MEAN, ONE_COUNT, SUM, asked
from unit.ask.stated import COUNT as MAKE_COUNT
from unit.ask.stated import schema as accuracy_schema
from unit.ask.stated import schema as make_schema

PLAN_ONE = EpsilonDelta.of(1)


def schema(**table: Any) -> Schema:
    columns: dict[str, Any] = {
        "who": {"type": "identifier"},
        "x": {"type": "number", "bounds": [0, 50], "grid": 0.5, "bounds_per_unit": [0, 60]},
        "g": {"type": "category", "categories": ["a", "b"]},
    }
    stated = {"name": "t", "unit": "who", "neighbours": "add-or-remove", "rows_per_unit": 4}
    return Schema.from_dict({"table": stated | table, "columns": columns})


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT COUNT(*) FROM t", "at most 4 rows of each who count, chosen at random"),
        ("SELECT MEDIAN(x) FROM t", "at most 4 rows of each who count, chosen at random"),
        (
            "SELECT SUM(x) FROM t",
            "the sum of `x` of each who, over all rows, counts from 0 to 60",
        ),
        (
            "SELECT SUM(x), COUNT(*) FROM t",
            "the sum of `x` of each who, over all rows, counts from 0 to 60, "
            "and at most 4 rows of each who count, chosen at random",
        ),
        ("SELECT COUNT(DISTINCT who) FROM t", ""),
        (
            "SELECT g, COUNT(*) FROM t GROUP BY g",
            "at most 4 rows of each who count, chosen at random",
        ),
    ],
)
def test_what_counts_is_said_in_plan_and_certificate(sql: str, said: str) -> None:
    given = schema(groups_per_unit=1)
    plan = make_plan(parse(sql, given), given, PLAN_ONE)
    nobody = "rows without a `who` count nowhere"
    said = f"{said}, and {nobody}" if said else said
    assert plan.counted == said
    assert plan.to_dict()["counted"] == said
    assert not said or said[1:20] in str(plan)


def test_an_offer_says_its_price_and_what_it_tells() -> None:
    given = schema()
    plan = make_plan(parse("SELECT COUNT(*) FROM t", given), given, PLAN_ONE)
    assert plan.to_dict()["measure_cut"] == {
        "share": "0.1",
        "epsilon": "0.1",
        "interval_95": 30,
        "bought": False,
    }
    said = " ".join(str(plan).split())
    assert "Offer: with measure_cut 0.1, epsilon 0.1 of 1 measures how many persons" in said
    assert "not rows" in said
    bought = make_plan(parse("SELECT COUNT(*) FROM t", given), given, PLAN_ONE, measure_cut=0.25)
    assert bought.to_dict()["measure_cut"] | {"interval_95": 0} == {
        "share": "0.25",
        "epsilon": "0.25",
        "interval_95": 0,
        "bought": True,
    }
    assert bought.epsilon == 1
    assert bought.strategy.epsilon + bought.cut.epsilon == 1  # type: ignore[union-attr]
    assert bought.offer is None
    assert "Measured: with measure_cut 0.25" in str(bought)
    nobody = make_plan(parse("SELECT COUNT(DISTINCT who) FROM t", given), given, PLAN_ONE)
    assert nobody.offer is None
    assert nobody.to_dict()["measure_cut"] is None
    assert make_plan(parse("SELECT COUNT(*) FROM t", given), given, EpsilonDelta(9)).offer is None


def test_a_record_counts_whole() -> None:
    given = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {"x": {"type": "number", "bounds": [0, 50]}},
        }
    )
    assert make_plan(parse("SELECT SUM(x) FROM t", given), given, PLAN_ONE).counted == ""


# -- Several aggregates in one SELECT: none is worse than asked alone for an equal part ------------

RANGES = {
    "x": Range(0, 1000, Fraction(1), never_missing=False),
    "y": Range(-5, 50, Fraction(1, 2), never_missing=True),
}
SPANS = {name: Span(r.low, r.high, r.grid) for name, r in RANGES.items()}
COUNT, COUNT_X = Aggregate("count"), Aggregate("count", "x")
SUM_X, SUM_Y = Aggregate("sum", "x"), Aggregate("sum", "y")
AVG_X, AVG_Y = Aggregate("avg", "x"), Aggregate("avg", "y")
MIN_X, MAX_X = Aggregate("min", "x"), Aggregate("max", "x")
MEDIAN = Aggregate("quantile", "y", q=Fraction(1, 2))
SPREAD = Aggregate("variance", "x")
MODE = Aggregate("mode", "c")
ASKED = [
    (COUNT, SUM_X),
    (COUNT, AVG_X),
    (AVG_X, AVG_Y, MAX_X),
    (COUNT, SUM_X, AVG_X, MIN_X, MAX_X),
    (COUNT, COUNT_X, SUM_Y, MEDIAN, SPREAD),
    (SUM_X, SUM_Y, MODE),
    (MIN_X, MAX_X, MEDIAN),
]
SETTINGS = [
    ("add-or-remove", False, 1),
    ("replace", False, 1),
    ("replace", True, 1),
    ("add-or-remove", True, 3),
]


def setting(kind: str, grouped: bool, rows: int) -> Setting:
    return Setting(
        kind,
        grouped,
        False,
        RANGES,
        frozenset("y"),
        SPANS,
        {"c": 4},
        rows_per_unit=rows,
        persons=rows > 1,
    )


ONE = EpsilonDelta.of(1)


def chosen(
    asked: tuple[Aggregate, ...], given: Setting, price: EpsilonDelta, **more: object
) -> Strategy:
    wanted = criterion(more.get("minimise", "variance"))
    found = strategies(asked, given, price, wanted)
    return min(found, key=lambda s: (not s.preferred, score_of(s, wanted)))


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("given", SETTINGS, ids=str)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "12"])
def test_no_answer_is_worse_than_asked_alone(
    asked: tuple[Aggregate, ...], given: tuple[str, bool, int], epsilon: str
) -> None:
    price = EpsilonDelta.of(epsilon)
    described = setting(*given)
    best = chosen(asked, described, price)
    assert best.preferred
    assert best.epsilon <= Fraction(epsilon)
    found = sizes(best, VARIANCE)
    assert set(found) == set(asked)
    for one in asked:
        alone = chosen((one,), described, price // len(asked))
        assert found[one] <= sizes(alone, VARIANCE)[one] * (1 + 1e-5), one


def test_extremes_get_what_a_shared_noise_does_not_need() -> None:
    """Count, sum and mean come from one pair, which leaves more than a fifth for each extreme."""
    described = setting("add-or-remove", grouped=False, rows=1)
    best = chosen((COUNT, SUM_X, AVG_X, MIN_X, MAX_X), described, ONE)
    prices = [choice.epsilon for choice in best.draws if choice.chosen]
    assert prices[0] == prices[1] > Fraction(1, 4)
    assert best.epsilon <= 1


def test_equal_parts_for_blocks_would_be_worse_for_means() -> None:
    """Mutant: half for two means together and half for the maximum."""
    described = setting("add-or-remove", grouped=False, rows=1)
    (naive, *_) = strategies((AVG_X, AVG_Y), described, ONE // 2, VARIANCE)
    alone = chosen((AVG_X,), described, ONE // 3)
    assert sizes(naive, VARIANCE)[AVG_X] > 1.2 * sizes(alone, VARIANCE)[AVG_X]


def test_other_criteria_keep_the_promise() -> None:
    described = setting("replace", grouped=False, rows=1)
    for minimise, each_asked in itertools.product(["absolute-error", ("interval", 0.9)], ASKED[:4]):
        best = chosen(each_asked, described, ONE, minimise=minimise)
        assert best.preferred


def test_a_count_beside_a_sum_and_a_mean_is_kept_aside_under_replace() -> None:
    """One pair would be worse for the count; one by one would be worse for sum and mean."""
    described = setting("replace", grouped=False, rows=1)
    best = chosen((COUNT, SUM_X, AVG_X, MAX_X), described, ONE)
    assert best.name == "discrete Laplace + same-sign pair + selection"
    found = sizes(best, VARIANCE)
    alone = chosen((AVG_X,), described, ONE // 4)
    assert found[AVG_X] < 0.9 * sizes(alone, VARIANCE)[AVG_X]


# -- Plans: candidates, the chosen one, and nothing about rows -------------------------------------

HALF = EpsilonDelta.of("0.5")


def test_the_chosen_candidate_has_the_least_error() -> None:
    plan = make_plan(asked(Output("total", SUM)), make_schema(), HALF)
    assert len(plan.candidates) == 2
    errors = {c.mechanism: c.expectations[0].standard_deviation for c in plan.candidates}
    assert plan.chosen.mechanism == min(errors, key=lambda name: errors[name] or 0)


def test_the_criterion_changes_the_choice_of_shape() -> None:
    question = asked(Output("total", SUM))
    variance = make_plan(question, make_schema(), HALF, "variance").chosen.expectations[0]
    narrow = make_plan(question, make_schema(), HALF, ("interval", 0.95)).chosen.expectations[0]
    assert narrow.half_width is not None
    assert variance.half_width is not None
    assert narrow.half_width <= variance.half_width


def test_only_what_is_needed_is_measured() -> None:
    assert make_plan(ONE_COUNT, make_schema(), HALF).request.measures == (Measure("rows"),)
    assert set(make_plan(MEAN, make_schema(), HALF).request.measures) == {
        Measure("present", "income"),
        Measure("total", "income"),
    }
    assert make_plan(FILTERED, make_schema(), HALF).request.where == FILTERED.where
    assert make_plan(BY_REGION, make_schema(), HALF).request.keys == BY_REGION.keys


def test_means_tell_their_error_before_only_with_public_rows() -> None:
    assert make_plan(MEAN, make_schema(), HALF).chosen.expectations[0].expected_error is None
    known = make_plan(MEAN, make_schema(rows=500), HALF).chosen.expectations[0].expected_error
    assert known is not None
    more = make_plan(MEAN, make_schema(rows=5000), HALF).chosen.expectations[0].expected_error
    assert more == pytest.approx(known / 10)


def test_a_person_with_five_rows_moves_a_count_five_times_as_far() -> None:
    people = make_schema().replace(
        table={"unit": "pid", "rows_per_unit": 5}, columns={"pid": {"type": "identifier"}}
    )
    one, five = (make_plan(ONE_COUNT, s, HALF).chosen for s in (make_schema(), people))
    errors = [c.expectations[0].expected_error or 0 for c in (one, five)]
    assert errors[1] / errors[0] == pytest.approx(5, rel=0.05)


def test_plans_speak_to_people_and_programs() -> None:
    plan = make_plan(
        asked(Output("n", MAKE_COUNT), Output("mean", AVG)), make_schema(), HALF, sql="SELECT …"
    )
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
        assert ("not stated" in str(plan)) is shown


def test_a_plan_is_built_from_its_strategy_alone() -> None:
    """Of the builder: one way, what it measures, and what is shown of it."""
    whole = make_plan(MEAN, make_schema(rows=500), HALF)
    built = build_plan(
        *(MEAN, make_schema(rows=500), whole.strategy, whole.price, whole.criterion, "SELECT …"),
        people=None,
    )
    assert built.candidates == (built.chosen,) == (whole.chosen,)
    assert built.request == whole.request
    assert built.readings == whole.readings
    less = build_plan(
        *(MEAN, make_schema(), whole.strategy, HALF, whole.criterion, ""),
        people=None,
        measures=[Measure("rows")] * 2,
    )
    assert less.request.measures == (Measure("rows"),)


# -- The least epsilon for a wanted accuracy -------------------------------------------------------

LEVEL = Fraction(19, 20)
TOTAL = asked(Output("total", SUM))


def reach(price: EpsilonDelta) -> float:
    plan = make_plan(ONE_COUNT, accuracy_schema(), price)
    error = plan.readings[0].before_rows(plan.parts, None)
    assert error is not None
    return error.half_width(LEVEL)


def test_the_epsilon_found_reaches_and_a_smaller_one_does_not() -> None:
    price = epsilon_for(("interval", 0.95, 10), ONE_COUNT, accuracy_schema(), "variance")
    assert reach(price) <= 10
    assert reach(price.part(0.99)) > 10


def test_means_and_nonsense_are_refused() -> None:
    with pytest.raises(NotPromised):
        epsilon_for(("interval", 0.95, 10), MEAN, accuracy_schema(), "variance")
    for wrong in (None, ("interval", 0.95), ("width", 0.95, 1), ("interval", 2, 1), 3):
        with pytest.raises(InvalidArgument):
            epsilon_for(wrong, ONE_COUNT, accuracy_schema(), "variance")


def test_an_epsilon_that_promises_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "LARGEST", EpsilonDelta.of(1))
    with pytest.raises(NotPromised, match="above 1"):
        epsilon_for(("interval", 0.95, 1), TOTAL, accuracy_schema(), "variance")


@pytest.mark.parametrize("wanted", [1e3, 1e5, 1e7])
def test_a_wide_reach_costs_little(wanted: float) -> None:
    """± 10^5 cost 170 times what it needs, for nothing below a thousandth was tried."""
    price = epsilon_for(("interval", 0.95, wanted), ONE_COUNT, accuracy_schema(), "variance")
    assert reach(price) <= wanted
    assert price.units == 1 or reach(price.part(0.99)) > wanted
    assert price.epsilon < 4 / wanted


def test_a_mean_of_all_rows_has_an_accuracy_where_their_number_is_stated() -> None:
    people = {"name": "t", "unit": "record", "neighbours": "replace", "rows": 1000}
    number = {"type": "number", "bounds": [0, 100], "missing": 0}
    given = {"table": people, "columns": {"x": number, "y": {**number}}, "budget": {"total": 9}}
    del given["columns"]["y"]["missing"]
    with tn.protect(frame(1000), schema=given, ledger=Memory()) as data:
        accuracy = ("interval", 0.95, 0.5)
        found = data.ask("SELECT AVG(x) AS m FROM t", accuracy=accuracy)
        low, high = found.interval(0.95)
        assert high - low <= 1
        assert found.price < Fraction(1)
        for other in ("SELECT AVG(y) FROM t", "SELECT AVG(x) FROM t WHERE x > 3"):
            with pytest.raises(NotPromised):
                data.ask(other, accuracy=accuracy)


def test_questions_asked_together_have_an_accuracy_too() -> None:
    table = {"name": "t", "unit": "record", "neighbours": "add-or-remove"}
    given = {
        "table": table,
        "columns": {"x": {"type": "number", "bounds": [0, 100]}},
        "budget": {"total": 9},
    }
    asked = ["SELECT COUNT(*) AS n FROM t", "SELECT COUNT(*) AS n FROM t WHERE x > 50"]
    with tn.protect(frame(100), schema=given, ledger=Memory()) as data:
        found = data.ask_many(asked, accuracy=("interval", 0.95, 20))
        assert all(high - low <= 40 for low, high in (one.interval(0.95) for one in found))
        alone = data.explain(asked[0], accuracy=("interval", 0.95, 20)).epsilon
        assert alone < found.price <= 2 * alone * Fraction(101, 100)
        with pytest.raises(InvalidArgument):
            data.ask_many(asked)
        with pytest.raises(InvalidArgument):
            data.ask_many(asked, epsilon=1, accuracy=("interval", 0.95, 20))


def frame(rows: int) -> pd.DataFrame:
    return pd.DataFrame({"x": [i % 100 for i in range(rows)], "y": [i % 100 for i in range(rows)]})
