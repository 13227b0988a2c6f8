"""What must hold for every prior, every truth and every pair of truths: soundness §4.

Together the properties here see more than 4,000 random priors, with masses 0, single points, heavy
ties and several kinds of distance.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refinement_oracle import (
    Distance,
    Law,
    check_distribution,
    check_hockey_stick,
    check_nearer,
    check_ratio,
    divergence,
    power,
    refined,
)
from tenue.mechanism import refine
from tenue.mechanism.refinement.update_factors import factors, power_above
from tenue.prior import Categorical, Independent, Ordinal, Points, Table, Uniform, normalised
from tenue.taxonomy import Taxonomy

EPSILONS = st.sampled_from(["0.001", "0.1", "0.5", "1", "2", "7.3"])
DELTAS = st.sampled_from(["0", "1e-6", "0.01", "0.2", "0.9"])
KINDS = st.sampled_from(["individual", "statistical"])
WEIGHTS = st.lists(
    st.sampled_from([0, 0, 1, 1, 1, 2, 5, 1000, 10**9]), min_size=1, max_size=7
).filter(any)


def gap(a: Any, b: Any) -> Fraction:
    return abs(Fraction(a) - Fraction(b))


def same(a: Any, b: Any) -> Fraction:
    return Fraction(a != b)


@st.composite
def numbers(draw: st.DrawFn) -> Points:
    weights = draw(WEIGHTS)
    size = len(weights)
    places = draw(st.lists(st.integers(-6, 6), min_size=size, max_size=size, unique=True))
    return Points(normalised(dict(zip(places, weights, strict=True))))


def laws(prior: Any, truths: list[Any], epsilon: str, kind: str, **more: Any) -> list[Law]:
    return [refine(prior, truth, epsilon, kind=kind, **more).masses for truth in truths]


@settings(max_examples=1400)
@given(numbers(), EPSILONS, st.integers(-48, 48).map(lambda k: Fraction(k, 6)))
def test_an_individual_law_stays_near_the_prior(
    prior: Points, epsilon: str, truth: Fraction
) -> None:
    found = refine(prior, truth, epsilon, kind="individual")
    law, before = found.masses, prior.masses
    check_distribution(law, before)
    check_ratio(law, before, power(epsilon))
    check_nearer(law, before, truth, gap)
    used = [law[value] / before[value] for value in before]
    assert all(found.factor_down <= factor <= found.factor_up for factor in used)
    assert law == refined(before, truth, gap, found.factor_up, found.factor_down)


@settings(max_examples=1000)
@given(numbers(), EPSILONS, st.floats(0, 1))
def test_statistical_laws_stay_near_each_other(prior: Points, epsilon: str, share: float) -> None:
    limit, before = power(epsilon), prior.masses
    most = factors(epsilon, "individual").up
    alpha_up = None if share < 0.5 else 1 + (most - 1) * Fraction(2 * share - 1)
    found = laws(prior, [-7, -2, 0, 1, 5, None], epsilon, "statistical", alpha_up=alpha_up)
    for place, one in enumerate(found):
        check_distribution(one, before)
        for two in found[:place]:
            check_ratio(one, two, limit)


@settings(max_examples=1000)
@given(numbers(), EPSILONS, DELTAS, KINDS)
def test_delta_is_what_it_costs(prior: Points, epsilon: str, delta: str, kind: str) -> None:
    limit, before = power(epsilon), prior.masses
    found = laws(prior, [*prior.values, Fraction(1, 2)], epsilon, kind, delta=delta)
    for place, one in enumerate(found):
        check_distribution(one, before)
        if kind == "individual":
            check_hockey_stick(one, before, limit, Fraction(delta))
        for two in found[:place]:
            if kind == "statistical":
                check_hockey_stick(one, two, limit, Fraction(delta))
            else:  # a replaced person: twice epsilon, and this much delta
                both = Fraction(delta) * (limit + 1 / limit)
                check_hockey_stick(one, two, limit**2, both)
    used = factors(epsilon, kind, delta)
    for truth, law in zip(prior.values, found, strict=False):
        check_nearer(law, before, truth, gap)
        assert law == refined(before, truth, gap, used.up, used.down, used.moved)


TREE = Taxonomy.from_nested(
    {"any": {"lung": ["flu", "cold", "asthma"], "skin": {"rash": ["mild", "bad"], "burn": {}}}}
)


def semantic(a: str, b: str) -> Fraction:
    return TREE.rational_distance(a, b)


@settings(max_examples=400)
@given(st.data(), EPSILONS, KINDS)
def test_categories_with_any_distance(data: st.DataObject, epsilon: str, kind: str) -> None:
    names = list(TREE.categories)
    weights = data.draw(
        st.lists(st.sampled_from([0, 1, 1, 3, 50]), min_size=6, max_size=6).filter(any)
    )
    masses = normalised(weights)

    def rank(a: str, b: str) -> Fraction:
        return Fraction(abs(names.index(a) - names.index(b)))

    prior = Categorical(dict(zip(names, masses, strict=True)))
    ordered = Ordinal(names, masses)
    cases: list[tuple[Any, Any, Distance]] = [
        (prior, None, same),
        (prior, TREE, semantic),
        (ordered, None, rank),
        (ordered, "equal", same),
    ]
    limit = power(epsilon)
    used = factors(epsilon, kind)
    belief, distance, measured = data.draw(st.sampled_from(cases))
    found, before = laws(belief, [*names, None], epsilon, kind, distance=distance), belief.masses
    for truth, law in zip(names, found, strict=False):
        assert law == refined(before, truth, measured, used.up, used.down)
        check_nearer(law, before, truth, measured)
    for place, one in enumerate(found):
        check_ratio(one, before, limit)
        for two in found[:place] if kind == "statistical" else ():
            check_ratio(one, two, limit)


@settings(max_examples=300)
@given(st.data(), EPSILONS, st.sampled_from(["sum", "max", "differing", "equal"]))
def test_several_components(data: st.DataObject, epsilon: str, how: str) -> None:
    rows = [(x, word) for x in (0, 1, 4) for word in ("yes", "no")]
    weights = data.draw(st.lists(st.sampled_from([0, 1, 1, 3]), min_size=6, max_size=6).filter(any))
    table = Table(list(zip(rows, normalised(weights), strict=True)))
    if data.draw(st.booleans()) and all(weights):
        number = Points(normalised(dict(zip((0, 1, 4), weights[:3], strict=True))))
        word = Categorical(normalised({"yes": weights[3], "no": weights[4]}))
        prior: Any = Independent([number, word])
    else:
        prior = table
    widest = max(v[0] for v in prior.values) - min(v[0] for v in prior.values) or 1

    def apart(a: Any, b: Any) -> Fraction:
        shares = [Fraction(abs(a[0] - b[0])) / widest, Fraction(a[1] != b[1])]
        if how == "differing":
            return Fraction((a[0] != b[0]) + (a[1] != b[1]))
        if how == "equal":
            return Fraction(a != b)
        return max(shares) if how == "max" else sum(shares, Fraction(0))

    used = factors(epsilon, "statistical")
    found = laws(prior, [*prior.values, None], epsilon, "statistical", distance=how)
    for truth, law in zip(prior.values, found, strict=False):
        assert law == refined(prior.masses, truth, apart, used.up, used.down)
    for place, one in enumerate(found):
        for two in found[:place]:
            check_ratio(one, two, power(epsilon))


@pytest.mark.parametrize("kind", ["individual", "statistical"])
def test_as_many_points_as_allowed(kind: str) -> None:
    draw = random.Random(11)
    ties = Points(normalised({k: draw.choice([1, 1, 7]) for k in range(4096)}))
    limit = power(1)
    found = [refine(ties, truth, 1, kind=kind) for truth in (0, 1000, 4095, None)]
    for place, one in enumerate(found):
        check_distribution(one.masses, ties.masses)
        check_ratio(one.masses, ties.masses, limit)
        for two in found[:place]:
            check_ratio(one.masses, two.masses, limit if kind == "statistical" else limit**2)


def test_one_point_stays_what_it_is() -> None:
    for truth in (3, 4, None, "x"):
        law = refine(Points({3: 1}), truth, 5, kind="individual", delta="0.5")
        assert law.masses == {3: 1}


# -- the same questions, wrongly answered: each property must see it -------------------------------

PRIOR = {Fraction(k): Fraction(1, 10) for k in range(10)}
ONE = factors(1, "individual")
HALF = factors(1, "statistical")


def test_the_printed_masses_are_seen() -> None:
    law = refined(PRIOR, Fraction(2), gap, ONE.up, ONE.down, swapped=True)
    with pytest.raises(AssertionError):
        check_ratio(law, PRIOR, power(1))
    with pytest.raises(AssertionError):
        check_distribution(law, PRIOR)
    check_ratio(refined(PRIOR, Fraction(2), gap, ONE.up, ONE.down), PRIOR, power(1))


def test_the_printed_factor_between_is_nothing_over_nothing() -> None:
    """With the wanted masses instead of those of the sets that exist."""
    up, down = ONE.up, ONE.down
    raised = ONE.core_mass
    lowered = (up - 1) / (up - down)
    assert 1 - up * raised - down * lowered == 0
    assert 1 - raised - lowered == 0


@pytest.mark.parametrize("kind", ["individual", "statistical"])
def test_moving_all_of_delta_is_seen(kind: str) -> None:
    """The thesis moves δ (individual) and δ/2 (statistical)."""
    delta, limit = Fraction(1, 5), power(1)
    used = factors(1, kind, delta)
    printed = delta if kind == "individual" else delta / 2
    for moved, right in ((used.moved, True), (printed, False)):
        one, two = (refined(PRIOR, Fraction(f), gap, used.up, used.down, moved) for f in (1, 8))
        other = PRIOR if kind == "individual" else two
        worst = max(divergence(one, other, limit), divergence(other, one, limit))
        assert (worst <= delta) is right
    exact = refined(PRIOR, Fraction(0), gap, used.up, used.down, used.moved)
    if kind == "individual":
        assert float(divergence(PRIOR, exact, limit)) == pytest.approx(float(delta), rel=1e-9)


def test_a_factor_rounded_up_is_seen() -> None:
    up = power_above(Fraction(1)) + Fraction(1, 2**80)
    law = refined(PRIOR, Fraction(2), gap, up, 1 / up)
    with pytest.raises(AssertionError):
        check_ratio(law, PRIOR, power(1))


def test_an_individual_law_is_not_enough_for_statistical_questions_or_replacement() -> None:
    prior = Uniform(0, 9).on_grid(1)
    one, two = (refine(prior, f, 1, kind="individual").masses for f in (0, 9))
    check_ratio(one, two, power(2))
    with pytest.raises(AssertionError):
        check_ratio(one, two, power("1.9"))
