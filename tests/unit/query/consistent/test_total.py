"""One answer is the total of another only if no row can be missing from the parts."""

from __future__ import annotations

from typing import Any

import pytest

from tenue.engine.request import Group
from tenue.errors import NotPromised
from tenue.promise.loss import EpsilonDelta
from tenue.query.consistent.total import cells_of, totals_of
from tenue.query.plan.make import make_plan
from tenue.query.read.parse import parse
from tenue.schema import Schema

ONE = EpsilonDelta.of(1)
ALL = "SELECT COUNT(*) AS n FROM t"
BY_WARD = "SELECT ward, COUNT(*) AS n FROM t GROUP BY ward"
BY_SEX = "SELECT sex, COUNT(*) AS n FROM t GROUP BY sex"
BY_BOTH = "SELECT sex, ward, COUNT(*) AS n FROM t GROUP BY sex, ward"


def schema(missing: bool = True, **table: Any) -> Schema:
    filled = {"missing": "a"} if missing else {}
    columns = {
        "who": {"type": "identifier"},
        "ward": {"type": "category", "categories": ["a", "b", "c"], **filled},
        "sex": {"type": "category", "categories": ["f", "a"], **filled},
    }
    stated = {"name": "t", "unit": "record", "neighbours": "add-or-remove"}
    return Schema.from_dict({"table": stated | table, "columns": columns})


def found(*texts: str, given: Schema | None = None) -> dict[int, int]:
    described = given or schema()
    plans = [make_plan(parse(sql, described), described, ONE, sql=sql) for sql in texts]
    return totals_of(plans, described)


def test_the_nearest_total_is_found() -> None:
    assert found(ALL, BY_WARD, BY_BOTH) == {1: 0, 2: 1}
    assert found(BY_BOTH, BY_WARD, ALL) == {0: 1, 1: 2}
    assert found(ALL, BY_WARD, BY_SEX) == {1: 0, 2: 0}
    assert found(BY_WARD, BY_WARD) == {1: 0}


def test_other_rows_have_no_total_here() -> None:
    some = "SELECT ward, COUNT(*) AS n FROM t WHERE sex = 'f' GROUP BY ward"
    assert found(ALL, some) == {}
    assert found("SELECT COUNT(*) AS n FROM t WHERE sex = 'f'", some) == {1: 0}


def test_rows_without_a_ward_are_in_the_total_and_in_no_part() -> None:
    """Whoever took the parts for the whole would say too much in each of them."""
    assert found(ALL, BY_WARD, given=schema(missing=False)) == {}


def test_what_is_kept_of_a_person_is_drawn_for_each_question() -> None:
    people = schema(unit="who", rows_per_unit=2)
    assert found(ALL, BY_WARD, given=people) == {}


def test_two_totals_at_once_are_refused() -> None:
    with pytest.raises(NotPromised, match="two totals"):
        found(BY_WARD, BY_SEX, BY_BOTH)


def test_cells_of_a_total() -> None:
    ward, sex = Group("ward", 3), Group("sex", 2)
    assert cells_of((), (sex, ward)) == [[0, 1, 2, 3, 4, 5]]
    assert cells_of((ward,), (sex, ward)) == [[0, 3], [1, 4], [2, 5]]
    assert cells_of((sex,), (sex, ward)) == [[0, 1, 2], [3, 4, 5]]
    assert cells_of((ward, sex), (sex, ward)) == [[0], [3], [1], [4], [2], [5]]
