"""Questions are values: equal meanings have equal names."""

from __future__ import annotations

from fractions import Fraction

from tenue.engine.request import Bin, Group
from tenue.query.question import Aggregate, Arithmetic, Constant, Output, Question
from unit.query.stated import AVG, BY_REGION, COUNT, ONE_COUNT, SUM, asked


def test_digest_follows_the_meaning() -> None:
    same = Question("people", (Output("n", Aggregate("count")),))
    assert same == ONE_COUNT
    assert same.digest == ONE_COUNT.digest
    assert asked(Output("m", COUNT)).digest != ONE_COUNT.digest
    assert BY_REGION.digest != ONE_COUNT.digest


def test_cells_multiply() -> None:
    assert ONE_COUNT.cells == 1
    keys = (Group("region", 2), Bin("age", 10, 1, 9))
    assert asked(Output("n", COUNT), keys=keys).cells == 18


def test_aggregates_are_found_once_in_order() -> None:
    ratio = Arithmetic("/", SUM, Arithmetic("+", COUNT, Constant(Fraction(1))))
    question = asked(Output("r", ratio), Output("s", SUM), Output("a", AVG))
    assert question.aggregates() == (SUM, COUNT, AVG)
