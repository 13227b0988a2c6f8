"""What a suggestion says: limits in order, what they mean for a question, and what is unknown."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from tenue.engine.request import Group
from tenue.promise.loss import EpsilonDelta
from tenue.query.plan.make import make_plan
from tenue.query.read.parse import parse
from tenue.query.suggest.limits import certify_limits
from tenue.query.suggest.quantile import Quantiles, number_column, sought_for
from tenue.query.suggest.suggestion import Suggestion
from tenue.schema import Schema

ONE = EpsilonDelta.of(1)


def schema(**table: Any) -> Schema:
    stated = {"name": "t", "unit": "who", "neighbours": "add-or-remove", "rows_per_unit": 1}
    columns = {
        "who": {"type": "identifier"},
        "g": {"type": "category", "categories": list("abcdefgh")},
        "x": {"type": "number", "bounds": [-10, 50], "grid": 0.5},
    }
    return Schema.from_dict({"table": stated | table, "columns": columns})


def suggestion(chosen: Any, *, by: bool = True, column: str | None = "x") -> Suggestion:
    given = schema()
    keys = (Group("g", 8),) if by else ()
    named = None if column is None else number_column(given, column)
    shares = (Fraction(1, 2), Fraction(19, 20))
    plan = Quantiles(sought_for(keys, named, 100), shares, keys, "who", "add-or-remove", ONE)
    return Suggestion(plan, given, column, chosen, certify_limits(plan, given), Fraction(1))


FOUND = suggestion(((2, 7), (3, 1), (40, 90), (-6, -2)))


def test_limits_are_in_order_and_the_highest_is_recommended() -> None:
    assert FOUND.rows == (2, 7)
    assert FOUND.groups == (1, 3), "quantiles that crossed are sorted, which is free"
    assert FOUND.sums == ((Fraction(-1), Fraction(20)), (Fraction(-3), Fraction(45)))
    assert (FOUND.rows_per_unit, FOUND.groups_per_unit) == (7, 3)
    assert FOUND.bounds_per_unit == (-3, 45)
    alone = suggestion(((2, 7),), by=False, column=None)
    assert (alone.groups_per_unit, alone.bounds_per_unit, alone.sums) == (None, None, None)
    nothing = suggestion(((2, 7), (0, 0), (0, 0)), by=False)
    assert nothing.bounds_per_unit is None
    assert [one.half_widths for one in nothing.typical][-1] == (0, 0)


def test_the_noise_is_that_of_a_question_under_the_limits() -> None:
    by_name = {one.question: one.half_widths for one in FOUND.typical}
    for place, rows in enumerate(FOUND.rows):
        given = schema(rows_per_unit=rows)
        plan = make_plan(parse("SELECT COUNT(*) FROM t", given), given, ONE)
        assert by_name["COUNT(*)"][place] == plan.chosen.expectations[0].half_width
    for place, groups in enumerate(FOUND.groups or ()):
        given = schema(rows_per_unit=FOUND.rows[place], groups_per_unit=groups)
        sql = "SELECT g, COUNT(DISTINCT who) AS n FROM t GROUP BY g"
        plan = make_plan(parse(sql, given), given, ONE)
        found = by_name["COUNT(DISTINCT who) by group"][place]
        assert found == plan.chosen.expectations[0].half_width
    assert {"SUM(x) by group, rows cut", "SUM(x) by group, sums cut"} <= set(by_name)
    rows, sums = by_name["SUM(x) by group, rows cut"], by_name["SUM(x) by group, sums cut"]
    assert rows[0] < rows[1]
    assert sums[0] < sums[1]


@pytest.mark.parametrize("view", [str, repr, lambda found: found._repr_html_()])
def test_people_see_limits_noise_and_what_is_unknown(view: Any) -> None:
    text = " ".join(view(FOUND).split())
    for words in (
        "rows_per_unit = 7; groups_per_unit = 3; bounds_per_unit = [-3, 45] for x",
        "What cutting at these limits costs is not known",
        "95 %",
        "± of COUNT(*)",
        "epsilon 1, selection of 8 quantiles",
    ):
        assert words in text
    capped = suggestion(((2, 100),), by=False, column=None)
    assert "100 or more" in " ".join(view(capped).split())


def test_programs_see_the_same() -> None:
    told = json.loads(FOUND.to_json())
    assert told["recommended"] == {
        "rows_per_unit": 7,
        "groups_per_unit": 3,
        "bounds_per_unit": [-3, 45],
    }
    assert told["quantiles"] == ["0.5", "0.95"]
    assert told["rank_95"] == pytest.approx(FOUND.rank_error(0.95))
    assert told["rank_95"] < FOUND.rank_error(0.99)
    assert "not known" in told["unknown"]
    assert len(told["typical"]) == len(FOUND.typical)
    assert (told["price"], told["replayed"]) == ("1", False)
