"""A family that says nothing answers nothing, and every family keeps to what it declares."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.noise.criterion import VARIANCE
from tenue.promise.loss import EpsilonDelta
from tenue.query.family.contract import CATEGORY, NUMBER, ORDERED, Family, Function
from tenue.query.family.registry import FAMILIES
from tenue.query.family.strategy import Range, Setting, Span
from tenue.query.question import Aggregate
from unit.query.stated import schema

RANGES = {name: Range(0, 50, Fraction(1), never_missing=True) for name in ("x", "y")}
SPANS = {name: Span(0, 50, Fraction(1)) for name in RANGES}
SETTING = Setting(
    "replace",
    grouped=False,
    filtered=False,
    ranges=RANGES,
    spans=SPANS,
    never_missing=frozenset(RANGES),
    categories={"x": 3},
)


def example(function: Function) -> Aggregate:
    other = "y" if function.columns == 2 else None
    q = Fraction(1, 4) if function.share else function.q
    return Aggregate(function.kind, "x", other, q)


def test_a_family_that_says_nothing_answers_nothing() -> None:
    family, asked = Family(), [Aggregate("count")]
    assert family.kinds == frozenset()
    assert family.ways(asked, SETTING, EpsilonDelta(10**9), VARIANCE) == []
    assert family.blocks(asked, SETTING, {}) == []
    assert family.by_name(asked, SETTING, Fraction(1)) == []
    assert family.declared(asked, SETTING, 7) == {}
    assert family.refuse_name("smooth sensitivity 3", []) is None
    assert family.as_held(asked[0], Fraction(7), schema()) == 7


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_each_way_costs_its_price_and_reads_all_that_was_asked(family: Family) -> None:
    for function in family.functions:
        asked = example(function)
        if function.kind in family.sharing:
            found = family.ways([asked], SETTING, EpsilonDelta(10**9), VARIANCE)
        else:
            (block,) = family.blocks([asked], SETTING, {})
            found = [block(Fraction(1))]
        assert found
        for one in found:
            assert set(one.readings) == {asked}
            assert one.epsilon == 1
            assert 0 < one.readings[asked].size(one.parts, VARIANCE) < float("inf")
            assert all(draw.line and draw.source for draw in one.draws)


def test_which_columns_a_function_takes() -> None:
    columns = schema().columns
    fits = {
        takes.words: [name for name, c in columns.items() if isinstance(c, takes.types)]
        for takes in (NUMBER, ORDERED, CATEGORY)
    }
    assert fits == {
        "a number": ["income", "age"],
        "a number or a date": ["income", "age", "born"],
        "a category": ["region"],
    }
