"""The bar: each question by itself at an equal share, judged once for all of its kind."""

from __future__ import annotations

import pytest

from tenue.noise import DiscreteLaplace
from tenue.noise.criterion import VARIANCE
from tenue.promise.loss import EpsilonDelta
from tenue.query.question import Aggregate
from tenue.query.workload.alone import Alone
from unit.query.workload.small import asked, schema, thresholds


def test_alike_questions_are_planned_once() -> None:
    texts = thresholds(20)
    alone = Alone(asked(*texts), texts, schema(), EpsilonDelta.of(1), VARIANCE)
    assert alone.share == EpsilonDelta.of("0.05")
    law = DiscreteLaplace(sensitivity=1, epsilon="0.05")
    assert alone.variances(7) == {Aggregate("count"): pytest.approx(law.variance)}
    assert len(alone._plans) == 2, "one to see that nothing is free, one at the share"
    assert alone.plan(3).sql == texts[3]


def test_what_is_public_has_no_share() -> None:
    given = schema("replace")
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
