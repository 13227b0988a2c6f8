"""A price is whole nano-epsilon, and one that a law can be made for."""

from __future__ import annotations

import pytest

from tenue.errors import InvalidArgument
from tenue.promise.loss import EpsilonDelta
from tenue.query.terms import Terms, affordable


def test_prices_are_rounded_up_to_coins() -> None:
    assert affordable("0.5") == EpsilonDelta(500_000_000)
    assert affordable("1/3") == EpsilonDelta(333_333_334)


@pytest.mark.parametrize("epsilon", [0, -1, "nan", 20_000, "1e-10", "9e-10"])
def test_what_no_law_can_be_made_for_is_refused(epsilon: object) -> None:
    with pytest.raises(InvalidArgument):
        affordable(epsilon)  # type: ignore[arg-type]


def test_what_contradicts_itself_is_refused_before_anything_is_read() -> None:
    with pytest.raises(InvalidArgument):
        Terms(individual=True, interval=0.95)
    with pytest.raises(InvalidArgument):
        Terms(individual=True, mechanism="optimal")
    with pytest.raises(InvalidArgument):
        Terms(individual=1)  # type: ignore[arg-type]


def test_a_delta_alone_is_a_belief_too() -> None:
    assert Terms(delta="1e-6").believes
    assert Terms(prior=object()).believes
    assert not Terms(epsilon=1).believes
