"""Several individual questions at once: the exact joint law of all their answers.

Loss of a data set = the most that is asked about any one person, when a person is added or removed;
twice that when one is replaced. Who is asked about next may depend on the answers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest

from refinement_oracle import Law, check_hockey_stick, check_ratio, divergence, power
from tenue.mechanism import refine
from tenue.prior import Points, normalised

People = dict[str, int | None]
Choice = Callable[[tuple[int, ...]], str]

PRIOR = Points(normalised({0: 6, 1: 3, 2: 1}))
VALUES = (0, 1, 2)
ABSENT_OR_ANY: tuple[int | None, ...] = (None, 0, 1, 2)


def answered(people: People, who: list[Choice], epsilon: str = "0.5", delta: str = "0") -> Law:
    """The joint law of one answer for each choice; a choice sees the answers before it."""
    laws = {
        name: refine(PRIOR, truth, epsilon, kind="individual", delta=delta).masses
        for name, truth in people.items()
    }
    joint: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for choose in who:
        joint = {
            (*seen, value): mass * laws[choose(seen)][Fraction(value)]
            for seen, mass in joint.items()
            for value in VALUES
        }
    return joint


def ann(_: tuple[int, ...]) -> str:
    return "ann"


def bob(_: tuple[int, ...]) -> str:
    return "bob"


def follow(seen: tuple[int, ...]) -> str:
    """Asks again about Ann if her first answer was interesting, else about Bob."""
    return "ann" if seen[0] == 2 else "bob"


def neighbours(who: list[Choice]) -> list[tuple[Law, Law, Law]]:
    """With Ann absent, with one value, with another; for every Bob."""
    cases = []
    for other, one, two in product(ABSENT_OR_ANY, VALUES, VALUES):
        laws = [answered({"ann": a, "bob": other}, who) for a in (None, one, two)]
        cases.append((laws[0], laws[1], laws[2]))
    return cases


@pytest.mark.parametrize(
    ("who", "times"),
    [([ann, bob], 1), ([ann, bob, bob], 1), ([ann, ann], 2), ([ann, follow], 2), ([bob], 0)],
    ids=["each once", "bob twice", "ann twice", "adaptive", "not ann"],
)
def test_the_price_is_what_is_asked_about_one_person(who: list[Choice], times: int) -> None:
    limit = power("0.5") ** times
    for absent, one, two in neighbours(who):
        check_ratio(absent, one, limit)
        check_ratio(one, two, limit**2)


def test_charging_each_person_once_is_seen() -> None:
    """The same person asked twice charged as two people; a replaced one as a removed one."""
    twice = [divergence(a, one, power("0.5")) for a, one, _ in neighbours([ann, ann])]
    replaced = [divergence(one, two, power("0.5")) for _, one, two in neighbours([ann])]
    once = [divergence(a, one, power("0.5")) for a, one, _ in neighbours([ann])]
    assert max(twice) > 0
    assert max(replaced) > 0
    assert max(once) == 0


def test_delta_of_one_person_does_not_add_up_over_others() -> None:
    limit, delta = power("0.5"), Fraction(1, 10)
    for other in ABSENT_OR_ANY:
        laws = [answered({"ann": a, "bob": other}, [ann, bob], delta="0.1") for a in ABSENT_OR_ANY]
        for law in laws[1:]:
            check_hockey_stick(laws[0], law, limit, delta)
            for two in laws[1:]:
                check_hockey_stick(law, two, limit**2, delta * (limit + 1 / limit))
    # under replace δ alone is not enough, even at 2ε
    worst = max(divergence(a, b, limit**2) for a in laws[1:] for b in laws[1:])
    assert worst > delta
