"""The analyst's belief, refined."""

from __future__ import annotations

import math
import random
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refinement_oracle import divergence, power
from tenue.errors import InvalidArgument, InvalidPrior, Refused
from tenue.mechanism import RefinedDensity, expected_error, refine
from tenue.mechanism.refinement.points import log_of
from tenue.mechanism.refinement.refine import response_factors
from tenue.mechanism.refinement.update_factors import (
    factors,
    float_factors,
    power_above,
    power_below,
)
from tenue.noise import Seeded
from tenue.prior import (
    Binomial,
    Categorical,
    Histogram,
    Independent,
    Normal,
    Ordinal,
    Points,
    Table,
    Uniform,
    normalised,
)
from tenue.prior.distance import metric
from tenue.taxonomy import Taxonomy

EPSILONS = st.decimals("1e-12", 40, places=12).filter(lambda x: x > 0)


@given(EPSILONS)
def test_powers_enclose_and_are_tight(epsilon: object) -> None:
    x = Fraction(str(epsilon))
    true = power(epsilon)
    low, high = power_below(x), power_above(x)
    tiny = true / 10**50  # what the decimal module may be off
    assert low <= true + tiny
    assert high >= true - tiny
    assert high - low <= Fraction(4, 2**96)
    assert low > 1


@given(EPSILONS)
def test_the_promise_of_the_factors(epsilon: object) -> None:
    one, two = factors(epsilon, "individual", "0.1"), factors(epsilon, "statistical", "0.1")
    limit = power(epsilon) * (1 + Fraction(1, 10**50))
    assert 1 < one.up <= limit
    assert one.down * limit >= 1
    assert two.up <= limit * two.down
    for found in (one, two):
        raised = found.core_mass
        assert found.up * raised + found.down * (1 - raised) == 1
    assert one.core_mass == 1 / (1 + one.up)  # 1/(1+e^ε), not e^ε/(1+e^ε) as printed
    assert one.moved * limit <= Fraction(1, 10) * (1 + Fraction(1, 10**49))
    assert two.moved * (1 + power(epsilon)) <= Fraction(1, 10) * (1 + Fraction(1, 10**49))


def test_large_epsilon_is_no_trouble() -> None:
    found = factors(10_000, "individual", 0.5)
    assert found.up.numerator.bit_length() > 14_000
    assert found.moved > 0
    assert float_factors(10_000, "individual").up < 10**300
    assert float_factors(5, "statistical", 3) == factors(5, "statistical", 0, 3)
    with pytest.raises(InvalidArgument):
        factors(10_000, "statistical", 0, 0.5)  # e^10000 is no double, and need not be


def test_alpha_up_is_the_callers_for_statistical_questions() -> None:
    found = factors(1, "statistical", 0, 2)
    assert found.up == 2
    assert found.up / found.down == power_below(Fraction(1))
    assert factors(1, "statistical", 0, 1).core_mass == 1
    for alpha in (0.99, 2.72, float("nan"), "x"):
        with pytest.raises(InvalidArgument):
            factors(1, "statistical", 0, alpha)
    with pytest.raises(InvalidArgument, match="individual"):
        factors(1, "individual", 0, 2)


@pytest.mark.parametrize(
    ("epsilon", "kind", "delta"),
    [
        (0, "individual", 0),
        (-1, "individual", 0),
        (1e5, "individual", 0),
        (float("inf"), "individual", 0),
        (1, "both", 0),
        (1, None, 0),
        (1, "individual", 1),
        (1, "individual", -0.1),
        (1, "statistical", "x"),
    ],
)
def test_wrong_parameters_are_refused(epsilon: object, kind: object, delta: object) -> None:
    with pytest.raises(Refused):
        factors(epsilon, kind, delta)


# -- The refined law over points -------------------------------------------------------------------

FLAT = Uniform(0, 9).on_grid(1)


def test_near_is_raised_far_is_lowered_between_takes_the_rest() -> None:
    law = refine(FLAT, 2, 1, kind="individual")
    assert law.core == (2,)  # 0.1 ≤ 0.269 < 0.3
    up, down = law.factor_up, law.factor_down
    assert law.mass(2) == up / 10
    assert law.mass(7) == law.mass(0) == down / 10
    between = (1 - up / 10 - 7 * down / 10) / 2
    assert law.mass(1) == law.mass(3) == between
    assert down / 10 < between < up / 10


def test_a_ball_of_exactly_the_wanted_mass_leaves_nothing_between() -> None:
    """α_ud would be 0/0."""
    up = refine(FLAT, 0, 1, kind="individual").factor_up
    prior = Points({0: 1 / (1 + up), 5: 1 - 1 / (1 + up)})
    law = refine(prior, 0, 1, kind="individual")
    assert law.core == (0,)
    assert law.mass(0) == up / (1 + up)
    assert law.mass(5) == 1 / (1 + up)


def test_delta_moves_mass_from_the_far_end() -> None:
    plain = refine(FLAT, 0, 1, kind="individual")
    law = refine(FLAT, 0, 1, kind="individual", delta="0.2")
    moved = law.mass(0) - plain.mass(0)
    assert float(moved) == pytest.approx(0.2 / math.e, rel=1e-12)
    assert law.mass(9) == 0  # holds 0.037, less than what moves
    assert 0 < law.mass(8) < plain.mass(8)
    assert law.mass(1) == plain.mass(1)
    assert law.loss_against(None) == math.inf
    assert law.ratio_against(None) is None


def test_no_more_moves_than_the_far_end_holds() -> None:
    prior = Points({0: "0.95", 1: "0.05"})
    law = refine(prior, 0, "0.1", kind="individual", delta="0.9")
    assert law.masses == {0: 1, 1: 0}
    assert refine(prior, 0, "0.1", kind="individual", delta="0.9").sample(50, Seeded(1)).sum() == 0


def test_losses_are_those_of_the_masses() -> None:
    for kind, most in (("individual", 2), ("statistical", 1)):
        laws = [refine(FLAT, f, 1, kind=kind) for f in range(10)]
        for f, law in enumerate(laws):
            for g, other in enumerate(laws):
                a, b = law.masses, other.masses  # type: ignore[union-attr]
                true = max(max(a[v] / b[v], b[v] / a[v]) for v in a)
                assert law.ratio_against(g) == true
                assert law.loss_against(g) == pytest.approx(float(math.log(true)), abs=1e-14)
                assert law.loss_against(g) <= most
                if f == g:
                    assert law.loss_against(g) == 0
        assert laws[0].loss_against(9) == most


def test_divergences_are_those_of_the_masses() -> None:
    one, two = (refine(FLAT, f, 1, kind="statistical", delta="0.1") for f in (1, 8))
    a, b = one.masses, two.masses  # type: ignore[union-attr]
    for epsilon in ("0.5", "1"):
        true = max(divergence(a, b, power(epsilon)), divergence(b, a, power(epsilon)))
        found = one.divergence_against(8, epsilon)
        assert true <= found <= true + Fraction(1, 2**80)
    assert one.divergence_against(8) == one.divergence_against(8, 1) <= Fraction(1, 10)


def test_the_logarithm_never_exceeds_a_rounded_epsilon() -> None:
    for epsilon in ("0.1", "0.3", "0.7", "1.1", "3", "17.3"):
        law = refine(FLAT, 0, epsilon, kind="individual")
        assert law.loss_against(None) <= float(epsilon)
    assert refine(FLAT, 0, 10_000, kind="individual").loss_against(None) == 10_000
    assert log_of(Fraction(10**400)) == pytest.approx(400 * math.log(10))


def test_the_representation_keeps_the_secret() -> None:
    prior = Categorical({"flu": 0.01, "none": 0.99})
    texts = {repr(refine(prior, f, 1, kind="individual")) for f in ("flu", "none", None)}
    assert texts == {"Refined(Categorical(2 categories), epsilon=1, kind='individual')"}


def test_samples_follow_the_masses() -> None:
    prior = Points(normalised({0: 1, 1: 2, 2: 3}))
    law = refine(prior, 2, 1, kind="individual")
    drawn = law.sample(40_000, Seeded(3))
    shares = np.bincount(drawn, minlength=3) / 40_000
    assert shares == pytest.approx([float(law.mass(k)) for k in range(3)], abs=0.01)
    assert law.sample(source=Seeded(1)) in (0, 1, 2)


def test_cdf_is_for_numbers() -> None:
    law = refine(FLAT, 2, 1, kind="individual")
    assert law.cdf(-1) == 0
    assert law.cdf(3) == sum(law.mass(k) for k in range(4))
    assert law.cdf(9) == 1
    with pytest.raises(InvalidPrior):
        refine(Categorical({"a": 1}), "a", 1, kind="individual").cdf(1)


def test_points_a_draw_is_exact() -> None:
    """The sample of a third leaves as a double; what is stored is the third."""
    law = refine(Points({Fraction(1, 3): "1/2", Fraction(2, 3): "1/2"}), 0, 1, kind="individual")
    drawn = {law.draw(Seeded(k)) for k in range(20)}
    assert drawn == {Fraction(1, 3), Fraction(2, 3)}
    assert all(type(value) is Fraction for value in drawn)
    assert law.sample(source=Seeded(3)) == float(law.draw(Seeded(3)))


# -- The refined law over a density ----------------------------------------------------------------


@st.composite
def histograms(draw: st.DrawFn) -> Histogram:
    widths = draw(st.lists(st.sampled_from([1, 1, 2, 5]), min_size=1, max_size=6))
    size = len(widths)
    weights = draw(st.lists(st.sampled_from([0, 1, 3]), min_size=size, max_size=size).filter(any))
    edges = [Fraction(sum(widths[:k]), 2) for k in range(size + 1)]
    return Histogram(edges, normalised(weights))


@settings(max_examples=150)
@given(histograms(), st.integers(-4, 30), st.sampled_from(["0.1", "1", "3"]))
def test_the_ball_has_exactly_the_wanted_mass(prior: Histogram, thirds: int, epsilon: str) -> None:
    truth = Fraction(thirds, 3)
    law = refine(prior, truth, epsilon, kind="individual")
    assert isinstance(law, RefinedDensity)
    low, high = law._ball or (0, 0)
    inside = prior.cdf(high) - prior.cdf(low)
    assert inside == 1 / (1 + law.factor_up)
    assert law.cdf(high) - law.cdf(low) == law.factor_up * inside
    assert law.cdf(prior.high) == 1
    for x in (truth, low, high, *prior.edges):
        assert law.density(x) in (
            law.factor_up * prior.density(x),
            law.factor_down * prior.density(x),
        )
    # a ball: nothing nearer to the truth is left out, where the prior has mass
    radius = max(truth - low, high - truth)
    for end in (truth - radius, truth + radius):
        assert low <= max(end, prior.low) or prior.cdf(low) == prior.cdf(end)
        assert high >= min(end, prior.high) or prior.cdf(high) == prior.cdf(end)


@settings(max_examples=100)
@given(histograms(), st.integers(-2, 20), st.integers(-2, 20))
def test_losses(prior: Histogram, f: int, g: int) -> None:
    for kind, most in (("individual", 2), ("statistical", 1)):
        law = refine(prior, f, 1, kind=kind)
        assert law.loss_against(None) <= 1
        assert law.loss_against(g) <= most
        assert law.divergence_against(g, most) == 0
        assert (law.divergence_against(g, "0.5") > 0) == (law.loss_against(g) > 0.5)


def test_on_a_grid_it_is_the_law_over_points() -> None:
    """The density of cells around grid points, refined and rounded, against the points refined."""
    fine: Any = Histogram.of_weights([Fraction(-1, 2), Fraction(19, 2)], [1], Fraction(1), True)
    points = Uniform(0, 9).on_grid(1)
    for truth in (0, 2, 7, 9, 30):
        for kind in ("individual", "statistical"):
            one, two = (refine(prior, truth, 1, kind=kind) for prior in (fine, points))
            assert [one.mass(k) for k in range(-1, 11)] == [two.mass(k) for k in range(-1, 11)]


def test_masses_of_a_fine_grid_add_up() -> None:
    prior = Normal(3000, 800, 0, 6000).on_grid(1)
    law = refine(prior, 1234, 1, kind="individual")
    assert sum(law.mass(k) for k in range(6001)) == 1
    assert law.mass("0.5") == law.mass(6001) == 0
    drawn = law.sample(300, Seeded(9))
    inside = np.mean([(law.core[0] <= x <= law.core[1]) for x in drawn.tolist()])
    assert inside == pytest.approx(0.731, abs=0.1)


def test_rounding_outside_the_grid_is_seen() -> None:
    """A histogram whose ends are no multiples of the grid gives their mass to the last point."""
    prior = Histogram([0, 4999, "4999.4"], ["1/2", "1/2"]).on_grid(1)
    law = refine(prior, 0, 1, kind="individual")
    assert sum(law.mass(k) for k in range(5000)) == 1


def test_a_density_has_no_masses_and_no_delta() -> None:
    law = refine(Uniform(0, 1), 0, 1, kind="individual")
    with pytest.raises(InvalidPrior, match="grid"):
        law.mass(0)
    with pytest.raises(InvalidPrior, match="on_grid"):
        refine(Uniform(0, 1), 0, 1, kind="individual", delta=0.1)
    with pytest.raises(InvalidPrior, match="absolute"):
        refine(Uniform(0, 1), 0, 1, kind="individual", distance="equal")


def test_no_refinement_at_the_ends_of_alpha() -> None:
    prior = Histogram([0, 1, 3], [0.5, 0.5])
    for alpha in (1, refine(prior, 0, 1, kind="individual").factor_up):
        for truth in (-1, 0, 1, 2.5):
            law = refine(prior, truth, 1, kind="statistical", alpha_up=alpha)
            assert [law.cdf(x) for x in (0.5, 1, 2, 3)] == [
                prior.cdf(Fraction(x)) for x in (0.5, 1, 2, 3)
            ]


def test_moments() -> None:
    law = refine(Uniform(0, 1), "0.25", 2, kind="individual")
    assert isinstance(law, RefinedDensity)
    x = (np.arange(200_000) + 0.5) / 200_000
    up, down = float(law.factor_up), float(law.factor_down)
    height = np.where((x >= law.core[0]) & (x <= law.core[1]), up, down) / 200_000
    mean = float(height @ x)
    assert law.variance == pytest.approx(float(height @ (x - mean) ** 2), abs=1e-4)
    assert law.mean_absolute_error == pytest.approx(float(height @ np.abs(x - 0.25)), abs=1e-4)
    assert repr(law) == "Refined(Uniform(0, 1), epsilon=2, kind='individual')"
    assert math.isclose(law.loss_against(0), 4)


def test_a_draw_is_exact() -> None:
    law = refine(Uniform(0, 3), 1, 1, kind="statistical")
    assert isinstance(law, RefinedDensity)
    for seed in range(20):
        drawn = law.draw(Seeded(seed))
        assert (drawn / Uniform(0, 3).sampling_grid).denominator == 1
        assert float(drawn) == law.sample(source=Seeded(seed))


# -- Refusals come before the truth is looked at, and a law says nothing by itself -----------------

REFINE_TREE = Taxonomy.flat(["a", "b", "c"])
PRIORS: list[Any] = [
    Points({0: 0.5, 1: 0.5}),
    Categorical({"a": 0.5, "b": 0.25, "c": 0.25}),
    Categorical({"a": 0.5, "elsewhere": 0.5}),
    Ordinal(["a", "b", "c"], [0.5, 0, 0.5]),
    Table({("a", 1): 0.5, ("b", 2): 0.5}),
    Independent([Points({0: 0.5, 1: 0.5}), Categorical({"a": 1})]),
    Uniform(0, 3),
    Normal(1, 1, 0, 3),
    Histogram([0, 1, 3], [0.5, 0.5]),
    Uniform(0, 10_000).on_grid(1),
    Binomial(3, 0.5),
    Binomial(5000, 0.5),
    None,
    {"a": 0.5},
    "prior",
]
TRUTHS: list[Any] = [
    *(0, 1, 2, 3, -1, 10**30, 1.5, "1/3", Decimal("0.5"), Fraction(22, 7)),
    *("a", "b", "c", "d", "", True, False, None, math.nan, math.inf, -math.inf),
    *(("a", 1), ("b", 1), (1, "a"), [], ["a", 1], object(), date(2020, 1, 1), b"a", 3 + 4j, {}),
]
SETTINGS: list[dict[str, Any]] = [
    {"epsilon": 1, "kind": "individual"},
    {"epsilon": 1, "kind": "statistical", "alpha_up": 1.5},
    {"epsilon": 1, "kind": "individual", "delta": 0.1},
    {"epsilon": 1, "kind": "individual", "distance": "equal"},
    {"epsilon": 1, "kind": "statistical", "distance": "absolute"},
    {"epsilon": 1, "kind": "individual", "distance": REFINE_TREE},
    {"epsilon": 1, "kind": "individual", "distance": "sum"},
    {"epsilon": 0, "kind": "individual"},
    {"epsilon": 1, "kind": "other"},
]


def outcome(prior: Any, truth: object, settings: dict[str, Any]) -> str:
    try:
        law = refine(prior, truth, **settings)
    except Refused as refused:
        return str(refused)
    return repr(law)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_acceptance_does_not_depend_on_the_truth(prior: Any) -> None:
    """Otherwise twenty refusals find the truth by bisection. Not even the words may differ."""
    for each_settings in SETTINGS:
        seen = {outcome(prior, truth, each_settings) for truth in TRUTHS}
        assert len(seen) == 1, seen


def test_a_leaky_acceptance_would_be_seen() -> None:
    """A prior refused only when the truth lies outside it."""

    def leaky(truth: object) -> str:
        return "refused" if truth not in (0, 1) else "accepted"

    assert len({leaky(truth) for truth in (0, 1, 2)}) == 2


def test_an_absent_person_gives_the_unmodified_prior() -> None:
    for prior in PRIORS[:6]:
        law = refine(prior, None, 1, kind="individual", delta=0.1)
        assert law.masses == prior.masses  # type: ignore[union-attr]
        assert law.core == ()
    law = refine(Uniform(0, 3), None, 1, kind="individual")
    assert law.cdf(1) == Fraction(1, 3)
    assert law.core == ()


def test_the_kind_must_be_said() -> None:
    with pytest.raises(Refused, match="kind"):
        refine(Points({0: 1}), 0, 1)  # type: ignore[call-arg]
    with pytest.raises(Refused):
        refine(Points({0: 1}), 0, 1, "individual")  # type: ignore[misc]


# -- The error averaged over the prior, against direct sums of exact masses ------------------------

TREE = Taxonomy.from_nested({"any": {"lung": ["flu", "cold"], "skin": ["rash", "burn"]}})


def beliefs() -> list[tuple[Any, Any]]:
    draw = random.Random(5)
    weights = lambda values: normalised({v: draw.choice([1, 1, 2, 30]) for v in values})  # noqa: E731
    numbers = Points(weights([0, 1, 2, 3, 7, 8.5, 100]))
    words = Categorical(weights(["flu", "cold", "rash", "burn"]))
    return [
        (numbers, None),
        (numbers, "equal"),
        (Points(weights([5])), None),
        (Points(weights([0, 10**25, 10**25 + 7])), None),
        (Points(weights(range(-20, 20))), None),
        (words, None),
        (words, TREE),
        (Ordinal(["a", "b", "c"], ["1/2", 0, "1/2"]), None),
        (Table(weights([(0, "x"), (3, "x"), (3, "y")])), "sum"),
        (Table(weights([(0, "x"), (3, "x"), (3, "y")])), "max"),
        (Independent([numbers, words]), "differing"),
        (Binomial(9, 0.3), None),
    ]


@pytest.mark.parametrize(("prior", "distance"), beliefs())
@pytest.mark.parametrize("kind", ["individual", "statistical"])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_it_is_the_sum_over_truths_and_answers(
    prior: Any, distance: Any, kind: str, epsilon: str
) -> None:
    belief = prior.points if isinstance(prior, Binomial) else prior
    found = metric(belief, distance)
    total = 0.0
    for place, truth in enumerate(belief.values):
        law = refine(belief, truth, epsilon, kind=kind, distance=distance)
        row = found.row(place)
        masses = law.masses  # type: ignore[union-attr]
        error = sum(float(masses[v]) * row[k] for k, v in enumerate(belief.values))
        total += float(belief.mass(truth)) * error
        column = response_factors(belief, found, place, factors(epsilon, kind))
        seen = [
            refine(belief, other, epsilon, kind=kind, distance=distance).mass(truth)
            / belief.mass(truth)
            for other in belief.values
        ]
        assert column == pytest.approx([float(s) for s in seen], rel=1e-9)
    scale = max(1.0, total)
    assert expected_error(prior, epsilon, kind=kind, distance=distance) == pytest.approx(
        total, abs=1e-9 * scale
    )


@pytest.mark.parametrize(
    "prior", [Histogram([0, 1, 2, 4, 5], [0.3, 0, 0.5, 0.2]), Normal(1, 1, 0, 5), Uniform(-7, 3)]
)
def test_a_density_is_the_limit_of_fine_points(prior: Any) -> None:
    for kind in ("individual", "statistical"):
        step = (prior.high - prior.low) / 4000
        points = [prior.low + (k + Fraction(1, 2)) * step for k in range(4000)]
        masses = [prior.cdf(x + step / 2) - prior.cdf(x - step / 2) for x in points]
        fine = Points.of_weights(
            [x for x, m in zip(points, masses, strict=True) if m],
            [int(m * 2**100) for m in masses if m],
        )
        expected = expected_error(fine, 1, kind=kind)
        assert expected_error(prior, 1, kind=kind) == pytest.approx(expected, rel=2e-4)


def test_more_epsilon_is_never_worse_and_never_worse_than_the_prior() -> None:
    prior = Normal(50, 20, 0, 100)
    errors = [expected_error(prior, e, kind="individual") for e in ("0.001", "0.1", 1, 3, 8)]
    assert errors == sorted(errors, reverse=True)
    fine = prior.on_grid(1)
    alone = sum(
        float(fine.mass(a) * fine.mass(b)) * abs(a - b) for a in range(101) for b in range(101)
    )
    assert errors[0] == pytest.approx(alone, rel=0.01)


def test_the_default_alpha_is_within_one_percent_of_the_best() -> None:
    """Soundness §4: 0.8 % for a uniform prior."""
    for epsilon in (0.1, 1, 5):
        limit = float(factors(epsilon, "individual").up)
        tried = [
            expected_error(Uniform(0, 1), epsilon, kind="statistical", alpha_up=limit**share)
            for share in (0.42, 0.44, 0.46, 0.48, 0.52)
        ]
        assert expected_error(Uniform(0, 1), epsilon, kind="statistical") <= 1.008 * min(tried)


@pytest.mark.parametrize("epsilon", [1, 10, 20, 40, 300, 9000])
def test_large_epsilon_against_the_closed_form(epsilon: int) -> None:
    """Uniform on [0, 1]: balls of mass c = 1/(1+e^ε), cut off within c/2 of an end."""
    used = min(epsilon, 600)
    up, down = math.exp(used), math.exp(-used)
    core = 1 / (1 + up)
    inner = (1 - core) * core**2 / 4
    outer = 7 * core**3 / 24 + core**3 / 24
    true = down / 3 + (up - down) * (inner + outer)
    found = expected_error(Uniform(0, 1), epsilon, kind="individual")
    assert found == pytest.approx(true, rel=1e-6 if epsilon > 5 else 1e-12)
    assert expected_error(Points({0: "1/2", 1: "1/2"}), epsilon, kind="individual") <= down


def test_wrong_priors_and_distances_are_refused() -> None:
    for prior, distance in (
        ("x", None),
        (None, None),
        (Uniform(0, 1), "equal"),
        (Points({0: 1}), "rank"),
    ):
        with pytest.raises(InvalidPrior):
            expected_error(prior, 1, kind="individual", distance=distance)
