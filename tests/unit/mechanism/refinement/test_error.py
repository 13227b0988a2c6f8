"""The error averaged over the prior, against direct sums of exact masses."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest

from tenue.errors import InvalidPrior
from tenue.mechanism import expected_error, refine
from tenue.mechanism.refinement.error import response_factors
from tenue.mechanism.refinement.factor import factors
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
from tenue.prior.distance.metric import metric
from tenue.taxonomy import Taxonomy

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
