"""Logarithms of laws, up to a constant."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.errors import InvalidArgument, NotPromised, Refused
from tenue.estimate.likelihood import likelihood, noisy_steps, require_free
from tenue.noise import (
    DiscreteLaplace,
    HeavyTail,
    IndependentLaplace,
    Laplace,
    Optimal,
    OptimalBox,
)
from tenue.promise import Approximate, Individual, KAnonymity, Pure


@pytest.mark.parametrize(
    "law",
    [
        DiscreteLaplace(sensitivity=3, epsilon=1, grid="0.5"),
        Optimal(sensitivity=10, epsilon=2).on_grid(1),
        Optimal(sensitivity=10, epsilon=2, d=3).on_grid("0.5"),
    ],
    ids=repr,
)
def test_laws_on_a_grid(law: Any) -> None:
    found = likelihood(law)
    k = np.arange(60)
    assert found.log(k.astype(float)) - found.log(np.zeros(1)) == pytest.approx(
        np.log(law.mass(k)) - np.log(law.mass(0)), abs=1e-9
    )
    assert np.abs(found.log(k.astype(float)) + found.rate * k).max() <= found.slack + 1e-9
    assert found.unit == law.grid


@pytest.mark.parametrize(
    "law", [Laplace(sensitivity=3, epsilon=1), Optimal(sensitivity=2, epsilon=1)]
)
def test_densities(law: Any) -> None:
    found = likelihood(law)
    x = np.linspace(0.013, 30, 500)
    assert found.log(x) - found.log(x[:1]) == pytest.approx(
        np.log(law.pdf(x)) - np.log(law.pdf(x[:1])), abs=1e-9
    )
    assert not found.exact


def test_where_a_noisy_value_can_be() -> None:
    found = likelihood(DiscreteLaplace(sensitivity=3, epsilon=1, grid="0.5"))
    assert noisy_steps(Fraction(7, 2), found) == 7
    with pytest.raises(Refused):
        noisy_steps(Fraction(1, 3), found)


def test_vectors_are_refused() -> None:
    for law in (OptimalBox(sensitivities=[1], epsilon=1), IndependentLaplace(scales=[1]), None):
        with pytest.raises(Refused):
            likelihood(law)


def test_differential_privacy_passes() -> None:
    require_free(law=DiscreteLaplace(sensitivity=1, epsilon=1), promise=Pure(1))
    require_free(promise=Approximate(1, 1e-6))


def test_secret_scales_do_not() -> None:
    heavy = HeavyTail(gamma=4, smooth_sensitivity=1, epsilon=1)
    for facts in ({"law": heavy}, {"law": heavy.on_grid(1)}, {"promise": Individual(1)}):
        with pytest.raises(NotPromised):
            require_free(**facts)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        require_free(promise=KAnonymity(3))
