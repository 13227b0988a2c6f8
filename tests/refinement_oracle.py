"""Knowledge refinement written again from soundness §4, slowly, with the wrong forms of the papers.

Independent of src: fractions only, e^ε from the decimal module. A law is a dict from value to mass.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

Law = Mapping[Any, Fraction]
Distance = Callable[[Any, Any], Fraction]


@lru_cache
def power(epsilon: object) -> Fraction:
    """e^ε to sixty digits."""
    with localcontext() as context:
        context.prec = 60
        return Fraction(Decimal(str(epsilon)).exp())


def shells(prior: Law, truth: Hashable, distance: Distance) -> list[list[Any]]:
    """The supported values, grouped by distance from the truth, nearest first."""
    by_distance: dict[Fraction, list[Any]] = {}
    for value, mass in prior.items():
        if mass:
            by_distance.setdefault(distance(value, truth), []).append(value)
    return [by_distance[d] for d in sorted(by_distance)]


def mass_of(law: Law, values: list[Any]) -> Fraction:
    return sum((law[value] for value in values), Fraction(0))


def refined(
    prior: Law,
    truth: Hashable,
    distance: Distance,
    up: Fraction,
    down: Fraction,
    moved: Fraction = Fraction(0),
    *,
    swapped: bool = False,
) -> Law:
    """Algorithm 5.1 as corrected; `swapped` takes the masses of the two sets as printed."""
    raised = (1 - down) / (up - down)
    if swapped:
        raised = (up - 1) / (up - down)
    rings = shells(prior, truth, distance)
    inside: list[Any] = []
    while rings and mass_of(prior, inside + rings[0]) <= raised:
        inside += rings.pop(0)
    between: list[Any] = []
    if mass_of(prior, inside) < raised and rings:
        between = rings.pop(0)
    outside = [value for ring in rings for value in ring]
    law = {value: prior[value] * up for value in inside}
    law |= {value: prior[value] * down for value in outside}
    if between:
        left = 1 - mass_of(law, inside) - mass_of(law, outside)
        law |= {value: prior[value] * left / mass_of(prior, between) for value in between}
    if moved:
        law = _with_moved(law, prior, shells(prior, truth, distance), inside, moved)
    return law


def _with_moved(
    law: dict[Any, Fraction],
    prior: Law,
    rings: list[list[Any]],
    inside: list[Any],
    moved: Fraction,
) -> dict[Any, Fraction]:
    taken = Fraction(0)
    for ring in reversed(rings[1:]):
        if ring[0] in inside or taken == moved:
            break
        held = mass_of(law, ring)
        part = min(held, moved - taken)
        for value in ring:
            law[value] -= law[value] * part / held
        taken += part
    for value in rings[0]:
        law[value] += taken * prior[value] / mass_of(prior, rings[0])
    return law


# -- what must hold, for any law however made --------------------------------------------------


def check_distribution(law: Law, prior: Law) -> None:
    """Total mass 1, nothing below 0, nothing outside the support."""
    assert sum(law.values()) == 1
    assert all(mass >= 0 for mass in law.values())
    assert all(prior[value] > 0 for value, mass in law.items() if mass)


def check_ratio(one: Law, two: Law, limit: Fraction) -> None:
    """Pure differential privacy between two laws: every ratio, either way."""
    top, bottom = limit.numerator, limit.denominator
    for value in one.keys() | two.keys():
        a, b = one.get(value, Fraction(0)), two.get(value, Fraction(0))
        # cross-multiplied whole numbers: the same comparison without a common divisor each time
        mine, theirs = a.numerator * b.denominator, b.numerator * a.denominator
        assert mine * bottom <= top * theirs, (value, float(a), float(b))
        assert theirs * bottom <= top * mine, (value, float(a), float(b))


def check_nearer(law: Law, prior: Law, truth: Hashable, distance: Distance) -> None:
    """P(distance ≤ r) is never below the prior's."""
    mine = theirs = Fraction(0)
    for ring in shells(prior, truth, distance):
        mine += mass_of(law, ring)
        theirs += mass_of(prior, ring)
        assert mine >= theirs


def divergence(one: Law, two: Law, limit: Fraction) -> Fraction:
    """Σ max(0, P − e^ε·Q): the δ that the first needs against the second."""
    values = one.keys() | two.keys()
    zero = Fraction(0)
    return sum((max(zero, one.get(v, zero) - limit * two.get(v, zero)) for v in values), zero)


def check_hockey_stick(one: Law, two: Law, limit: Fraction, delta: Fraction) -> None:
    """(ε, δ)-differential privacy between two laws, both ways."""
    assert divergence(one, two, limit) <= delta
    assert divergence(two, one, limit) <= delta
