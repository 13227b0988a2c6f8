"""Masses that add up to exactly 1."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.errors import InvalidPrior
from tenue.prior import Histogram, Points, Table
from tenue.prior.mass import listed, normalised, paired, whole_weights


def test_a_float_means_its_decimal() -> None:
    assert 0.1 + 0.2 + 0.7 != 1 or 0.7 + 0.2 + 0.1 != 1  # as doubles, in some order, they do not
    assert whole_weights([0.1, 0.2, 0.7]) == ((1, 2, 7), 10)
    assert whole_weights([Decimal("0.25"), "1/4", 0.5]) == ((1, 1, 2), 4)


@pytest.mark.parametrize(
    "masses",
    [
        [0.5, 0.4],
        [0.5, 0.6],
        [1 / 3, 1 / 3, 1 / 3],
        [1.5, -0.5],
        [1, 5e-324],
        [1, "1e-320"],
        [float("nan"), 1],
        [float("inf")],
        [None, 1],
        [True],
        ["a", 1],
    ],
)
def test_what_is_no_distribution_is_refused(masses: list[object]) -> None:
    with pytest.raises(InvalidPrior) as refused:
        whole_weights(masses)
    assert refused.value.fix


def test_the_least_ordinary_mass_is_allowed() -> None:
    least = Fraction(1, 2**1022)
    assert whole_weights([least, 1 - least])[0][0] == 1
    with pytest.raises(InvalidPrior, match="2\\^-1022"):
        whole_weights([least / 2, 1 - least / 2])


def test_denominators_cannot_fill_the_memory() -> None:
    primes = [p for p in range(10**6, 10**6 + 4000) if all(p % d for d in range(2, 1001))]
    with pytest.raises(InvalidPrior, match="common denominator"):
        whole_weights([Fraction(1, p) for p in primes])


def test_places_cannot_either() -> None:
    primes = [p for p in range(10**6, 10**6 + 4000) if all(p % d for d in range(2, 1001))]
    masses = normalised([1] * len(primes))
    values = [Fraction(1, p) for p in primes]
    makers: list[Callable[[], object]] = [
        lambda: Points(list(zip(values, masses, strict=True))),
        lambda: Table(list(zip(((v, "x") for v in values), masses, strict=True))),
        lambda: Histogram([0, *sorted(values)], masses),
        lambda: Points({10**101: 1}),
        lambda: Table({("a", 10**101): 1}),
    ]
    for make in makers:
        with pytest.raises(InvalidPrior, match=r"common denominator|1e100"):
            make()


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=30).filter(any))
def test_normalised_weights_are_always_accepted(weights: list[int]) -> None:
    shares = normalised(weights)
    whole, total = whole_weights(shares)
    assert sum(whole) == total
    assert [Fraction(w, total) * sum(weights) for w in whole] == weights


@pytest.mark.parametrize("weights", [[], [0, 0], [1, -1, 3], "ab", 5, {"a": "x"}])
def test_weights_that_mean_nothing_are_refused(weights: object) -> None:
    with pytest.raises(InvalidPrior):
        normalised(weights)  # type: ignore[arg-type]


@pytest.mark.parametrize("given_", [{}, [], [1, 2], [("a", 1, 2)], 7, "text"])
def test_pairs_must_be_pairs(given_: object) -> None:
    with pytest.raises(InvalidPrior):
        paired(given_)


def test_no_more_points_than_allowed() -> None:
    assert len(listed(range(4096), "order")) == 4096
    for many in (range(4097), iter(lambda: 1, 2)):  # the second never ends
        with pytest.raises(InvalidPrior, match="4096"):
            listed(many, "order")
    with pytest.raises(InvalidPrior):
        paired(dict.fromkeys(range(4097), 0))
