"""Counts with a known total, against enumeration of every way to reach it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import Refused
from tenue.estimate import counts
from tenue.noise import DiscreteLaplace, Laplace, Optimal
from tenue.prior import Binomial, Points, normalised

LAW = DiscreteLaplace(sensitivity=1, epsilon="0.7")


def ways(cells: int, total: int) -> Iterator[tuple[int, ...]]:
    if cells == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in ways(cells - 1, total - first):
            yield (first, *rest)


def enumerated(noisy: list[int], total: int, log_prior: Any) -> list[list[float]]:
    """The marginal masses of each count."""
    weights = {
        way: math.exp(
            log_prior(way) - 0.7 * sum(abs(y - k) for y, k in zip(noisy, way, strict=True))
        )
        for way in ways(len(noisy), total)
        if log_prior(way) > -math.inf
    }
    everything = sum(weights.values())
    return [
        [sum(w for way, w in weights.items() if way[j] == k) / everything for k in range(total + 1)]
        for j in range(len(noisy))
    ]


def multinomial(shares: list[float]) -> Any:
    def log_prior(way: tuple[int, ...]) -> float:
        parts = zip(way, shares, strict=True)
        if any(k and not share for k, share in zip(way, shares, strict=True)):
            return -math.inf
        return sum(k * math.log(s) - math.lgamma(k + 1) if k else 0.0 for k, s in parts)

    return log_prior


@settings(max_examples=60)
@given(
    st.lists(st.integers(-9, 30), min_size=1, max_size=4),
    st.integers(0, 8),
    st.sampled_from(["flat", "shares", "beliefs"]),
)
def test_every_marginal(noisy: list[int], total: int, shape: str) -> None:
    cells = len(noisy)
    weights = list(range(1, cells + 1))
    prior: Any = None
    log_prior: Any = lambda way: 0.0  # noqa: E731
    if shape == "shares":
        prior = normalised(weights)
        log_prior = multinomial([w / sum(weights) for w in weights])
    elif shape == "beliefs":
        prior = [Binomial(total + 1, 0.2 * w) for w in weights]

        def log_prior(way: tuple[int, ...]) -> float:
            return sum(b.log_weight(k) for b, k in zip(prior, way, strict=True))

    found = counts(noisy, LAW, total=total, prior=prior)
    for one, true in zip(found, enumerated(noisy, total, log_prior), strict=True):
        got = [one.mass(k) for k in range(total + 1)]
        assert got == pytest.approx(true, rel=1e-8, abs=1e-12)
    assert sum(one.mean for one in found) == pytest.approx(total, abs=1e-9)


def test_far_from_the_total_nothing_underflows() -> None:
    found = counts([90_000, 90_000, 90_000], LAW, total=3000, prior=["1/2", "1/4", "1/4"])
    assert sum(one.mean for one in found) == pytest.approx(3000)
    assert found[0].mean == pytest.approx(1500, abs=1)


def test_the_total_helps() -> None:
    """Knowing the total makes each count better known."""
    law = DiscreteLaplace(sensitivity=1, epsilon="0.05")
    both = counts([480, 560], law, total=1000)
    alone = counts([480], law, total=1000)
    assert alone[0].mean == 1000  # a single count is the total
    assert both[0].variance < law.variance / 1.5


def test_impossible_cells_stay_empty() -> None:
    found = counts([5, 5, 5], LAW, total=6, prior=["1/2", "1/2", 0])
    assert found[2].mass(0) == 1


def test_a_law_for_each_count() -> None:
    laws = [LAW, Optimal(sensitivity=4, epsilon=1).on_grid(1), Laplace(sensitivity=1, epsilon=1)]
    found = counts(
        [3, 4, 4.5], laws, total=10, prior=[Points(dict.fromkeys(range(11), "1/11"))] * 3
    )
    assert sum(one.mean for one in found) == pytest.approx(10)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: counts([], LAW, total=3),
        lambda: counts("12", LAW, total=3),
        lambda: counts([1, 2], LAW, total=-1),
        lambda: counts([1, 2], LAW, total=10**7),
        lambda: counts([1, 2], [LAW], total=3),
        lambda: counts([1, 2], LAW, total=3, prior=[0.5, 0.4]),
        lambda: counts([1, 2], LAW, total=3, prior=[1]),
        lambda: counts([1, 2], LAW, total=9, prior=[Binomial(2, 0.5)] * 2),
        lambda: counts([1, 2], LAW, total=3, prior=[Points({9: 1})] * 2),
        lambda: counts([1.5, 2], LAW, total=3),
        lambda: counts([1, 2], DiscreteLaplace(sensitivity=3, epsilon=1, grid=3), total=3),
        lambda: counts([1, 2], LAW),  # type: ignore[call-arg]
    ],
)
def test_what_cannot_be_estimated_is_refused(ask: object) -> None:
    with pytest.raises(Refused):
        ask()  # type: ignore[operator]
