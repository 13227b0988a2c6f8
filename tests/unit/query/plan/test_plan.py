"""What of each person is counted is said where errors are told."""

from __future__ import annotations

from typing import Any

import pytest

from tenue.promise.loss import EpsilonDelta
from tenue.query.plan.make import make_plan
from tenue.query.read.parse import parse
from tenue.schema import Schema

ONE = EpsilonDelta.of(1)


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
    plan = make_plan(parse(sql, given), given, ONE)
    assert plan.counted == said
    assert plan.to_dict()["counted"] == said
    assert not said or said[1:20] in str(plan)


def test_an_offer_says_its_price_and_what_it_tells() -> None:
    given = schema()
    plan = make_plan(parse("SELECT COUNT(*) FROM t", given), given, ONE)
    assert plan.to_dict()["measure_cut"] == {
        "share": "0.1",
        "epsilon": "0.1",
        "interval_95": 30,
        "bought": False,
    }
    said = " ".join(str(plan).split())
    assert "Offer: with measure_cut 0.1, epsilon 0.1 of 1 buys how many persons" in said
    assert "not rows" in said
    bought = make_plan(parse("SELECT COUNT(*) FROM t", given), given, ONE, measure_cut=0.25)
    assert bought.to_dict()["measure_cut"] | {"interval_95": 0} == {
        "share": "0.25",
        "epsilon": "0.25",
        "interval_95": 0,
        "bought": True,
    }
    assert bought.epsilon == 1
    assert bought.strategy.epsilon + bought.cut.epsilon == 1  # type: ignore[union-attr]
    assert bought.offer is None
    assert "Bought: with measure_cut 0.25" in str(bought)
    nobody = make_plan(parse("SELECT COUNT(DISTINCT who) FROM t", given), given, ONE)
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
    assert make_plan(parse("SELECT SUM(x) FROM t", given), given, ONE).counted == ""
