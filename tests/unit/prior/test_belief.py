"""Beliefs are frozen, compared by content, and written in one form only."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from tenue.errors import InvalidPrior
from tenue.prior import Binomial, Categorical, Points, Uniform
from tenue.prior.belief import Belief, written_number


class Stated(Belief):
    """A belief that is no more than what it states."""

    def __init__(self, **facts: object) -> None:
        self._set(facts=facts)

    def to_dict(self) -> dict[str, object]:
        facts: dict[str, object] = self.__dict__["facts"]
        return facts


@pytest.mark.parametrize(
    ("number", "text"),
    [(Fraction(7, 10), "7/10"), (Fraction(3), 3), (-4, -4), (Fraction(-1, 3), "-1/3"), (0, 0)],
)
def test_numbers_are_written_exactly(number: Fraction | int, text: int | str) -> None:
    assert written_number(number) == text
    assert Fraction(written_number(number)) == number


def test_json_has_one_form_whatever_the_order_of_the_facts() -> None:
    one, two = Stated(b=[1, 2], a="año"), Stated(a="año", b=[1, 2])
    assert one.to_json() == two.to_json() == '{"a":"año","b":[1,2]}'
    assert json.loads(one.to_json()) == one.to_dict()
    assert one == two
    assert hash(one) == hash(two)
    assert one != Stated(a="ano", b=[1, 2])
    assert one != one.to_json()


def test_equal_content_makes_beliefs_equal_whatever_their_class() -> None:
    assert Points({0: "0.5", 2: "0.5"}) == Points([(2, "1/2"), (0, "1/2")])
    assert len({Uniform(0, 1), Uniform(0, "1.0"), Uniform(0, 2)}) == 2
    assert Binomial(10, "0.5") != Binomial(10, "0.25")


@pytest.mark.parametrize(
    "belief", [Categorical({"a": 1}), Uniform(0, 1), Binomial(3, "0.5"), Stated()]
)
def test_nothing_of_a_belief_can_be_changed(belief: Belief) -> None:
    before = belief.to_json()
    with pytest.raises(InvalidPrior):
        belief.low = 7  # type: ignore[attr-defined]
    assert belief.to_json() == before
