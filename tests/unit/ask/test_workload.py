"""Many questions at one price."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenue as tn
from tenue.ask.explain import explain_many
from tenue.ask.question import Aggregate
from tenue.ask.session import Session
from tenue.ask.workload.estimate import Alone, estimated
from tenue.ask.workload.measured_quantity import FINE
from tenue.ask.workload.plan import all_disjoint, boxes, disjoint
from tenue.ask.workload.workloads import prefixes, ranges
from tenue.engine.computed_column import All, Among, Any_, Not, Predicate, Within
from tenue.errors import Fault, OverBudget, Refused
from tenue.noise import DiscreteLaplace, Laplace
from tenue.noise.box.law import OptimalBox
from tenue.noise.criterion import VARIANCE
from tenue.noise.source import SYSTEM
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema
from unit.ask.small import asked, planned, session, thresholds
from unit.ask.small import schema as alone_schema
from unit.ask.small import schema as box_schema
from unit.ask.small import schema as explain_schema


def test_alike_questions_are_planned_once() -> None:
    texts = thresholds(20)
    alone = Alone(asked(*texts), texts, alone_schema(), EpsilonDelta.of(1), VARIANCE)
    assert alone.share == EpsilonDelta.of("0.05")
    law = DiscreteLaplace(sensitivity=1, epsilon="0.05")
    assert alone.variances(7) == {Aggregate("count"): pytest.approx(law.variance)}
    assert len(alone._plans) == 2, "one to see that nothing is free, one at the share"
    assert alone.plan(3).sql == texts[3]


def test_what_is_public_has_no_share() -> None:
    given = alone_schema("replace")
    stated = type(given).from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace", "rows": 600},
            "columns": {"x": {"type": "number", "bounds": [0, 39], "missing": 0}},
            "budget": {"total": 9},
        }
    )
    texts = ["SELECT COUNT(*) FROM t", *thresholds(2)]
    alone = Alone(asked(*texts, described=stated), texts, stated, EpsilonDelta.of(1), VARIANCE)
    assert alone.free == [True, False, False]
    assert alone.share == EpsilonDelta.of("0.5")


# -- What a certificate says of a workload's noise -------------------------------------------------


def test_a_certificate_names_every_level_and_scale() -> None:
    with session() as data:
        answer = data.ask_many(thresholds(), epsilon=1)[3]
    said = answer.certificate.to_json()
    (block,) = planned(*thresholds()).blocks
    for many, law in zip(block.strategy.lengths, block.laws, strict=True):
        assert f"{many:,} of scale {law.scale:.6g}" in said
    assert "tents" in said
    assert "2010" in said


def test_a_certificate_says_what_has_no_noise() -> None:
    with session("replace") as data:
        said = data.ask_many(thresholds(), epsilon=1)[3].certificate.to_json()
    assert "number of all rows, which is public, without noise" in said


def test_it_is_drawn_by_its_blocks_alone() -> None:
    (draw,) = planned(*thresholds()).plans[0].strategy.draws
    assert draw.epsilon == Fraction(1)
    with pytest.raises(Fault):
        draw.released(None, [0], SYSTEM)  # type: ignore[arg-type]


# From what is stored to the cells of every question: totals are sums of parts, exactly.

ESTIMATE_TEXTS = [
    "SELECT COUNT(*) FROM t WHERE x < 20",
    "SELECT c, COUNT(*) FROM t WHERE x < 20 GROUP BY c",
    "SELECT c, BIN(x, 10), COUNT(*) FROM t WHERE x < 20 GROUP BY c, 2",
]


@pytest.mark.parametrize("minimise", ["variance", "mean"])
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_totals_are_the_sums_of_their_parts(neighbours: str, minimise: str) -> None:
    with session(neighbours) as data:
        total, parts, cells = data.ask_many(ESTIMATE_TEXTS, epsilon=1, minimise=minimise)
    assert total.exact == sum(row["count"] for row in parts.exact)
    for row in parts.exact:
        own = [cell["count"] for cell in cells.exact if cell["c"] == row["c"]]
        assert sum(own) == row["count"]


def test_true_answers_come_back() -> None:
    workload = planned(*ESTIMATE_TEXTS)
    measured = {
        cell: {workload.request.measures[0]: 1} for cell in range(len(workload.blocks[0].labels))
    }
    drawn = [block.truth(measured) for block in workload.blocks]
    found = estimated(workload, drawn)
    ((count,), (cell, slack)) = found[0][0]
    atoms = int((workload.blocks[0].labels >= 0).sum())
    assert count == pytest.approx(atoms * FINE, abs=slack)
    assert cell == 0
    assert 0 < slack < FINE / 100


# -- disjoint --------------------------------------------------------------------------------------

SEXES, AGES = ("f", "m"), range(4)
within = st.builds(
    Within, st.just("age"), st.none() | st.integers(0, 3), st.none() | st.integers(0, 3)
)
among = st.builds(
    lambda values: Among("sex", tuple(values)), st.lists(st.sampled_from(SEXES), max_size=2)
)
conditions = st.recursive(
    within | among,
    lambda inner: st.one_of(
        st.builds(lambda parts: All(tuple(parts)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: Any_(tuple(parts)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(Not, inner),
    ),
    max_leaves=6,
)


def holds(condition: Predicate, sex: str, age: int) -> bool:
    if isinstance(condition, Within):
        first = 0 if condition.first is None else condition.first
        return first <= age <= (3 if condition.last is None else condition.last)
    if isinstance(condition, Among):
        return sex in condition.values
    if isinstance(condition, All):
        return all(holds(part, sex, age) for part in condition.parts)
    if isinstance(condition, Any_):
        return any(holds(part, sex, age) for part in condition.parts)
    assert isinstance(condition, Not)
    return not holds(condition.part, sex, age)


@given(conditions, conditions)
def test_what_is_called_disjoint_shares_no_row(one: Predicate, other: Predicate) -> None:
    if disjoint(one, other):
        rows = itertools.product(SEXES, AGES)
        assert not any(holds(one, *row) and holds(other, *row) for row in rows)


def test_plain_partitions_are_seen() -> None:
    assert all_disjoint([Among("sex", ("f",)), Among("sex", ("m",))])
    assert all_disjoint([Within("age", None, 1), Within("age", 2, 2), Within("age", 3, None)])
    assert not all_disjoint([Within("age", None, 2), Within("age", 2, None)])
    assert not all_disjoint([Among("sex", ("f",)), Within("age", 2, None)])
    assert not all_disjoint([Among("sex", ("f",)), None])
    assert all_disjoint([None])


# -- One noise for counts and sums, where they are few and have no groups --------------------------


def found(texts: list[str], neighbours: str = "add-or-remove") -> list[str]:
    questions = dict(enumerate(asked(*texts)))
    made = boxes(questions, texts, box_schema(neighbours), EpsilonDelta(10**9), VARIANCE)
    for one in made:
        assert set(one.plans) == set(questions)
        assert len(one.owners) == len(one.noise.components)
    return [one.noise.name for one in made]


def test_counts_and_sums_share_a_box() -> None:
    assert found(thresholds(3)) == ["same-sign box", "box"]
    assert found([*thresholds(1), "SELECT SUM(y) FROM t"]) == ["box"], "y has both signs"


def test_groups_means_and_many_do_not() -> None:
    assert found(["SELECT AVG(x) FROM t", *thresholds(2)]) == []
    assert found(["SELECT c, COUNT(*) FROM t GROUP BY c", *thresholds(2)]) == []
    assert found(thresholds(33)) == []
    assert found(thresholds(1)) == []


# -- Many questions at one price: how much is saved, what is charged, what is shared ---------------

TABLE = pd.DataFrame(
    {"age": [20, 30, 40, 50, 60] * 40, "gain": [-3, 0, 4, 1, 2] * 40, "sex": ["f", "m"] * 100}
)


def schema(neighbours: str, total: int = 100) -> dict[str, Any]:
    return {
        "table": {"name": "t", "unit": "record", "neighbours": neighbours},
        "columns": {
            "age": {"type": "number", "bounds": [0, 100], "grid": 1},
            "gain": {"type": "number", "bounds": [-5, 5], "grid": 1},
            "sex": {"type": "category", "categories": ["f", "m"]},
        },
        "budget": {"total": total},
    }


@pytest.fixture(params=["add-or-remove", "replace"])
def data(request: pytest.FixtureRequest) -> Iterator[Session]:
    with tn.protect(TABLE, schema=schema(request.param), ledger=tn.ledger.Memory()) as session:
        yield session


def counts(number: int) -> list[str]:
    return [f"SELECT COUNT(*) FROM t WHERE age > {5 * i}" for i in range(number)]  # noqa: S608


BY_SEX = ["SELECT COUNT(*) FROM t WHERE sex = 'f'", "SELECT COUNT(*) FROM t WHERE sex = 'm'"]


def variance(answer: tn.query.Answer) -> float:
    (reading,) = answer.plan.readings
    return float(reading.error(answer.plan.parts).variance)  # type: ignore[union-attr]


@pytest.mark.parametrize(("number", "bar"), [(10, 0.14), (2, 0.45)])
def test_overlapping_counts_share_one_noise(number: int, bar: float) -> None:
    with tn.protect(TABLE, schema=schema("add-or-remove"), ledger=tn.ledger.Memory()) as data:
        answers = data.ask_many(counts(number), epsilon=1)
        apart = Laplace(sensitivity=1, epsilon=Fraction(1, number)).variance
        mean = sum(variance(a) for a in answers) / number
        assert mean <= bar * apart
        discrete = DiscreteLaplace(sensitivity=1, epsilon=Fraction(1, number)).variance
        assert max(variance(a) for a in answers) <= discrete, "no answer is worse than alone"
        assert answers.saved == pytest.approx(1 - mean / discrete, abs=0.02)
        assert data.budget.spent == answers.price == 1
        assert "for 10 answers together" in str(answers[0]) or number == 2


def test_a_batch_is_never_worse_than_its_questions(data: Session) -> None:
    batches = [
        counts(3),
        ["SELECT SUM(age) FROM t", "SELECT COUNT(*) FROM t WHERE sex = 'f'"],
        ["SELECT SUM(gain) FROM t", "SELECT SUM(age) FROM t WHERE gain > 0"],
        ["SELECT AVG(age) FROM t", "SELECT COUNT(*) FROM t"],
        BY_SEX,
        ["SELECT MEDIAN(age) FROM t", "SELECT sex, COUNT(*) FROM t GROUP BY sex"],
    ]
    for batch in batches:
        answers = data.ask_many(batch, epsilon=1)
        assert 0 <= answers.saved < 1
        for question, answer in zip(batch, answers, strict=True):
            alone = data.ask(question, epsilon=Fraction(1, len(batch)))
            if len(answer.plan.readings) == 1 and hasattr(answer.plan.readings[0], "error"):
                assert variance(answer) <= variance(alone) * 1.0001


def test_questions_about_different_rows_cost_what_groups_cost() -> None:
    with tn.protect(TABLE, schema=schema("add-or-remove"), ledger=tn.ledger.Memory()) as data:
        answers = data.ask_many(BY_SEX, epsilon=1)
        grouped = data.ask("SELECT sex, COUNT(*) FROM t GROUP BY sex", epsilon=1)
        assert answers.price == grouped.price == 1
        assert [a.plan.parts[0].law.variance for a in answers] == [  # type: ignore[union-attr]
            grouped.plan.parts[0].law.variance  # type: ignore[union-attr]
        ] * 2


def test_people_do_not_answer_side_by_side() -> None:
    """One person's rows may satisfy both conditions."""
    given = schema("add-or-remove")
    given["table"] |= {"unit": "id", "rows_per_unit": 3}
    given["columns"]["id"] = {"type": "identifier"}
    table = TABLE.assign(id=range(len(TABLE)))
    with tn.protect(table, schema=given, ledger=tn.ledger.Memory()) as data:
        answers = data.ask_many(BY_SEX, epsilon=1)
        assert data.explain_many(BY_SEX, epsilon=1).chosen.name == "atoms"
        (law,) = answers._workload.blocks[0].laws  # type: ignore[union-attr]
        assert law.sensitivity == 3


def test_columns_of_both_signs_do_not_share_a_one_sided_noise() -> None:
    with tn.protect(TABLE, schema=schema("add-or-remove"), ledger=tn.ledger.Memory()) as data:
        answers = data.ask_many(["SELECT SUM(gain) FROM t", "SELECT COUNT(*) FROM t"], epsilon=1)
        law = answers[0].plan.parts[0].law
        assert not isinstance(law, OptimalBox) or law.signs == "any"


def test_a_batch_is_charged_once_and_kept(data: Session) -> None:
    first = data.ask_many(counts(4), epsilon=0.5, key="k")
    again = data.ask_many(counts(4), epsilon=0.5)
    keyed = data.ask_many(counts(4), epsilon=0.5, key="k")
    assert [a.value for a in first] == [a.value for a in again] == [a.value for a in keyed]
    assert again.price == keyed.price == 0
    assert data.budget.spent == Fraction(1, 2)
    fresh = data.ask_many(counts(4), epsilon=0.5, fresh=True)
    assert fresh.price == Fraction(1, 2)
    assert data.budget.spent == 1


def test_refusals_cost_nothing(data: Session) -> None:
    wrong: list[Any] = ["SELECT COUNT(*) FROM t", [], [3], ["SELECT nothing FROM t"]]
    for questions in [*wrong, counts(1) * 10_001]:
        with pytest.raises(Refused):
            data.ask_many(questions, epsilon=1)
    with pytest.raises(OverBudget):
        data.ask_many(counts(2), epsilon=1000)
    assert data.budget.spent == 0


def test_values_are_near_the_truth(data: Session) -> None:
    answers = data.ask_many(
        [
            "SELECT COUNT(*) FROM t WHERE age > 30",
            "SELECT SUM(age) FROM t",
            "SELECT MAX(age) FROM t",
        ],
        epsilon=50,
    )
    assert answers[0].value == pytest.approx(120, abs=5)
    assert answers[1].value == pytest.approx(8000, abs=300)
    assert 40 <= answers[2].value <= 60


def test_what_is_not_linear_keeps_its_own_share(data: Session) -> None:
    """A median keeps its own share; the counts are better off together all the same."""
    answers = data.ask_many([*counts(4), "SELECT MEDIAN(age) FROM t"], epsilon=1)
    assert answers.saved > 0.2
    (draw,) = answers[4].plan.strategy.draws
    assert draw.epsilon <= Fraction(1, 5)
    assert draw.epsilon + answers[0].plan.strategy.epsilon <= 1
    assert answers[0].value == pytest.approx(200, abs=80)
    assert data.budget.spent == 1


# -- Sums of answers, with the errors that they share ----------------------------------------------

TEXTS = [
    "SELECT COUNT(*) FROM t WHERE x < 20",
    "SELECT c, COUNT(*), SUM(y) FROM t WHERE x < 20 GROUP BY c",
]


@pytest.fixture(scope="module")
def answers() -> Any:
    with session() as data:
        return data.ask_many(TEXTS, epsilon=1, minimise="mean")


def test_a_combination_is_the_sum_and_has_the_variance_of_the_covariance(answers: Any) -> None:
    coefficients = {0: 2, (1, "b", "count"): -1, (1, "d", "sum_y"): 0.5}
    found = answers.combine(coefficients)
    rows = {row["c"]: row for row in answers[1].exact}
    wanted = 2 * answers[0].exact - rows["b"]["count"] + rows["d"]["sum_y"] / 2
    assert found.exact == wanted
    # answers, cells, outputs: the total, then a count, a sum, b count, b sum, d count, d sum
    w = np.array([2, 0, 0, -1, 0, 0, 0.5])
    assert found.variance == pytest.approx(w @ answers.covariance @ w)
    low, high = found.interval(0.95)
    assert low < float(wanted) < high
    assert found.expected_error < high - low
    assert "95 %" in str(found)


def test_what_cancels_has_no_error(answers: Any) -> None:
    """The total and its parts share all noise: their difference has none."""
    parts = {(1, c, "count"): -1 for c in "abd"}
    found = answers.combine({0: 1, **parts})
    assert found.exact == 0
    assert found.variance == pytest.approx(0, abs=1e-9)


def test_answers_next_to_each_other_hang_together() -> None:
    with session() as data:
        found = data.ask_many(thresholds(), epsilon=1).covariance
    assert found.shape == (30, 30)
    variances = next(block.variances for block in planned(*thresholds()).blocks)
    assert np.diag(found) == pytest.approx(variances)
    assert found[14, 15] / np.sqrt(found[14, 14] * found[15, 15]) > 0.7


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {5: 1},
        {"x": 1},
        {(1, "z"): 1},
        {1: 1},
        {(1, "a"): 1},
        {(1, "a", "none"): 1},
        [(0, 1)],
        {True: 1},
    ],
)
def test_refusals(answers: Any, wrong: Any) -> None:
    with pytest.raises(Refused):
        answers.combine(wrong)


def test_what_shares_no_strategy_has_no_joint_law() -> None:
    with session() as data:
        apart = data.ask_many(["SELECT MEDIAN(x) FROM t", "SELECT MAX(x) FROM t"], epsilon=1)
        with pytest.raises(Refused):
            _ = apart.covariance
        mean = data.ask_many(
            ["SELECT AVG(y) FROM t", "SELECT c, AVG(y) FROM t GROUP BY c"], epsilon=1
        )
        with pytest.raises(Refused, match="mean"):
            mean.combine({0: 1})


def test_a_total_that_is_public_has_next_to_no_width() -> None:
    """Under replace; its weights are nothing but what floats leave."""
    with session("replace") as data:
        answers = data.ask_many(prefixes("x"), epsilon=1)
        low, high = answers.up_to(39).interval(0.95)
    assert low <= 600 <= high
    assert high - low < 1e-3
    assert "600" in str(answers.up_to(39))


# Every way is shown before a row is read, and an accuracy is reached at the least price.

LEVEL = Fraction(19, 20)
TOTAL = ["SELECT COUNT(*) FROM t", "SELECT BIN(x, 2), COUNT(*) FROM t GROUP BY 1"]


def test_ways_are_shown_and_the_best_is_marked() -> None:
    with session() as data:
        plan = data.explain_many(thresholds(), epsilon=1)
        assert data.budget.spent == 0
    said = str(plan)
    assert "→  tents" in said
    for name in ("one by one", "same-sign box", "box"):
        assert name in said
    assert "first 20 of 30" in said
    told = json.loads(plan.to_json())
    assert told["chosen"] == "tents"
    assert min(told["ways"], key=lambda way: way["mean_variance"])["way"] == "tents"
    assert "<table" in plan._repr_html_()


def test_both_defaults_are_told() -> None:
    with session() as data:
        fair = data.explain_many(TOTAL, epsilon=1)
        mean = data.explain_many(TOTAL, epsilon=1, minimise="mean")
    assert fair.chosen.fair
    assert fair.chosen is fair.fairest
    assert mean.chosen is mean.least
    assert not mean.chosen.fair
    assert mean.chosen.mean < fair.chosen.mean
    assert 'minimise "mean"' in str(fair)


def test_what_an_answer_would_cost_alone() -> None:
    with session() as data:
        plan = data.explain_many(thresholds(), epsilon=1)
        cost = plan.alone(15)
        alone = data.explain(thresholds()[15], epsilon=round(cost, 6))
    together = plan.workload.plans[15].readings[0].before_rows((), None)
    assert together is not None
    deviation = alone.chosen.expectations[0].standard_deviation  # type: ignore[union-attr]
    assert deviation == pytest.approx(together.variance**0.5, rel=0.02)


@pytest.mark.parametrize("kind", ["interval", "mean-interval"])
def test_an_accuracy_is_reached_and_hardly_more(kind: str) -> None:
    with session() as data:
        plan = data.explain_many(thresholds(), accuracy=(kind, 0.95, 6))
        answers = data.ask_many(thresholds(), accuracy=(kind, 0.95, 6))
        assert answers.price == plan.epsilon == data.budget.spent
    widths = [(b - a) / 2 for one in answers for a, b in [one.interval(0.95)]]
    seen = max(widths) if kind == "interval" else sum(widths) / len(widths)
    assert 5.8 <= seen <= 6.01


def test_accuracies_that_are_none() -> None:
    with session() as data:
        for wrong in (("interval", 0.95), ("widest", 0.95, 3), 7):
            with pytest.raises(Refused):
                data.explain_many(thresholds(), accuracy=wrong)
        with pytest.raises(Refused):
            data.explain_many(
                ["SELECT AVG(y) FROM t", *thresholds(3)], accuracy=("interval", 0.95, 3)
            )
        with pytest.raises(Refused):
            data.explain_many(thresholds(), accuracy=("interval", 0.95, 1e-9))


def test_accuracy_looks_at_every_declared_range_or_refuses() -> None:
    """Mutant: the cells of the histogram, which are narrower than what is added up from them."""
    plan = explain_many(ranges("x"), explain_schema(), 1, "variance", None)
    assert len(plan.half_widths(Fraction(19, 20))) == 40 * 41 // 2
    ((cells,),) = (one.readings for one in plan.workload.plans)
    widest = max(plan.half_widths(Fraction(19, 20)))
    assert widest > 1.2 * cells.before_rows((), None).half_width(Fraction(19, 20))
    assert "the least accurate of 820 sums" in str(plan)
    with pytest.raises(Refused, match="ranges"):
        explain_many(ranges("pay", width=0.05), wide(), None, "variance", ("interval", 0.95, 9))


def wide() -> Schema:
    column = {"type": "number", "bounds": [0, 50], "grid": 0.05, "missing": 0}
    table = {"name": "t", "unit": "record", "neighbours": "add-or-remove"}
    return Schema.from_dict({"table": table, "columns": {"pay": column}, "budget": {"total": 9}})
