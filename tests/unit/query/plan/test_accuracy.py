"""The least epsilon for a wanted accuracy."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.errors import InvalidArgument, NotPromised
from tenue.query.plan import accuracy
from tenue.query.plan.accuracy import epsilon_for
from tenue.query.plan.make import make_plan
from tenue.query.question import Output
from unit.query.stated import MEAN, ONE_COUNT, SUM, asked, schema

LEVEL = Fraction(19, 20)
TOTAL = asked(Output("total", SUM))


def reach(nano: int) -> float:
    plan = make_plan(ONE_COUNT, schema(), nano)
    error = plan.readings[0].before_rows(plan.parts, None)
    assert error is not None
    return error.half_width(LEVEL)


def test_the_epsilon_found_reaches_and_a_smaller_one_does_not() -> None:
    nano = epsilon_for(("interval", 0.95, 10), ONE_COUNT, schema(), "variance")
    assert reach(nano) <= 10
    assert reach(int(nano * 0.99)) > 10


def test_means_and_nonsense_are_refused() -> None:
    with pytest.raises(NotPromised):
        epsilon_for(("interval", 0.95, 10), MEAN, schema(), "variance")
    for wrong in (None, ("interval", 0.95), ("width", 0.95, 1), ("interval", 2, 1), 3):
        with pytest.raises(InvalidArgument):
            epsilon_for(wrong, ONE_COUNT, schema(), "variance")


def test_an_epsilon_that_promises_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuracy, "LARGEST", 10**9)
    with pytest.raises(NotPromised, match="above 1"):
        epsilon_for(("interval", 0.95, 1), TOTAL, schema(), "variance")
