"""Every way is shown before a row is read, and an accuracy is reached at the least price."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from tenue.errors import Refused
from tenue.query.explain import explain_many
from tenue.query.workload.declare import ranges
from tenue.schema import Schema
from unit.query.workload.small import schema, session, thresholds

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
    plan = explain_many(ranges("x"), schema(), 1, "variance", None)
    assert len(plan.half_widths(Fraction(19, 20))) == 40 * 41 // 2
    (cells,) = (reading for _, reading in plan._readings)
    widest = max(plan.half_widths(Fraction(19, 20)))
    assert widest > 1.2 * cells.before_rows((), None).half_width(Fraction(19, 20))
    assert "the least certain of 820 sums" in str(plan)
    with pytest.raises(Refused, match="ranges"):
        explain_many(ranges("pay", width=0.05), wide(), None, "variance", ("interval", 0.95, 9))


def wide() -> Schema:
    column = {"type": "number", "bounds": [0, 50], "grid": 0.05, "missing": 0}
    table = {"name": "t", "unit": "record", "neighbours": "add-or-remove"}
    return Schema.from_dict({"table": table, "columns": {"pay": column}, "budget": {"total": 9}})
