"""Grids too fine for squares and products: the refusal names columns and grids that would do."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest

import tenue as tn
from tenue.errors import NotPromised
from tenue.query.family.fineness import refuse_too_fine
from tenue.query.plan.make import make_plan
from tenue.query.plan.strategy import Range
from tenue.query.read.parse import parse


def schema(x: object, y: object) -> tn.Schema:
    given: dict[str, Any] = {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {
            "income": {"type": "number", "bounds": [0, 200_000], "grid": x},
            "wealth": {"type": "number", "bounds": [-100_000, 100_000], "grid": y},
        },
    }
    return tn.Schema.from_dict(given)


def planned(sql: str, x: object, y: object, nano: int) -> None:
    described = schema(x, y)
    make_plan(parse(sql, described), described, nano)


@pytest.mark.parametrize("nano", [10**9, 10**6])
@pytest.mark.parametrize(
    "sql", ["SELECT CORR(income, wealth) FROM t", "SELECT REGR_SLOPE(income, wealth) FROM t"]
)
def test_the_grids_that_it_names_would_do(sql: str, nano: int) -> None:
    with pytest.raises(NotPromised, match=r"`income`.*`wealth`") as refusal:
        planned(sql, 1, 0.01, nano)
    named = dict(re.findall(r"grid = (\S+) for `(\w+)`", refusal.value.fix))
    x, y = (next(g for g, name in named.items() if name == c) for c in ("income", "wealth"))
    assert float(x) > 1
    assert float(y) > 0.01
    planned(sql, float(x), float(y), nano)
    with pytest.raises(NotPromised):
        planned(sql, float(x) / 10, float(y) / 10, nano)


def test_what_is_coarse_enough_passes() -> None:
    ranges = {"x": Range(0, 100, Fraction(1), never_missing=False)}
    refuse_too_fine(ranges, 2, 100**2, Fraction(1))
    with pytest.raises(NotPromised, match="grid = 1000 for `x`"):
        refuse_too_fine(ranges, 2, 10**22, Fraction(1))
