"""What chance explains, and what it does not: the budget, the laws behind it, and their power."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

import alarm
from exhibits import HAS_DATA, data
from tenue.papers import chance
from tenue.papers.bayes import figures as bayes
from tenue.papers.bayes import measure
from tenue.papers.catalogue import exhibits
from tenue.papers.chance import COMPARED, Spread, alike, explains, explains_print, pooled, quantile
from tenue.papers.private_data import tables as private
from tenue.papers.swapping import tables as swapping

MANY = 20_000
OFTEN = 0.01
"""A level that is missed often enough to be counted."""


def rng() -> np.random.Generator:
    return np.random.default_rng(1616)


def test_the_shares_add_up_to_the_budget_of_the_suite() -> None:
    assert chance.RED == alarm.BUDGET
    assert chance.SHARE * sum(COMPARED.values()) == pytest.approx(chance.RED)
    assert set(COMPARED) <= set(exhibits())


@pytest.mark.parametrize("name", [n for n in COMPARED if HAS_DATA or n.startswith("bayes")])
def test_no_exhibit_compares_more_than_it_registered(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every comparison with a right value is counted, on cheap numbers; a new one needs a share."""
    seen = []

    def counted(right: Callable[..., bool]) -> Callable[..., bool]:
        def call(*given: Any) -> bool:
            seen.append(given)
            return right(*given)

        return call

    for module in (measure, private, swapping):
        monkeypatch.setattr(module, "explains", counted(explains))
    monkeypatch.setattr(private, "_fits", counted(private._fits))
    facts = ("bayes_error", "bayes_squared", "naive_error", "closer")
    flat = SimpleNamespace(**dict.fromkeys(facts, 0.5))
    for module in (measure, bayes):
        monkeypatch.setattr(module, "exact", lambda *_: flat)
    monkeypatch.setattr(measure, "simulated", lambda *_: flat)
    same = lambda values, *_: values  # noqa: E731
    monkeypatch.setattr(swapping, "mdav_id", same)
    monkeypatch.setattr(swapping, "correlations", lambda columns, values: values)
    monkeypatch.setattr(swapping, "SWAPS", dict.fromkeys(swapping.SWAPS, same))
    monkeypatch.setattr(swapping, "change", lambda *_: (0.1, 0.1))
    if exhibits()[name].needs:
        run = private.Run(1.0, 50.0, data().census.only(private.FOUR).values)
        for mask in ("by_mdav", "by_corners"):
            monkeypatch.setattr(private, mask, lambda columns, k: columns.values + 1.0)
        monkeypatch.setattr(private, "measured", lambda *_: run)
        monkeypatch.setattr(private, "printed_runs", lambda *_: [run, run])
    if name in ("3.8", "3.9"):
        swapping.swapped(name, same, 1, 60)(data())
    else:
        exhibits()[name].cells(data())
    assert len(seen) == COMPARED[name]


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 8, 59, 108, 238])
@pytest.mark.parametrize("level", [0.05, chance.PRINT_SHARE, chance.SHARE])
def test_quantiles_are_students(freedom: int, level: float) -> None:
    t = mpmath.mpf(quantile(freedom, level))
    half = mpmath.mpf(1) / 2
    beyond = mpmath.betainc(freedom * half, half, 0, freedom / (freedom + t**2), regularized=True)
    assert float(beyond) == pytest.approx(level, rel=1e-5)


def test_known_deviations_have_the_normal_quantile() -> None:
    assert quantile(0, 0.05) == pytest.approx(1.959963984540054)
    assert quantile(10_000, 0.05) == pytest.approx(quantile(0, 0.05), rel=1e-3)


def misses(runs: int, others: int, freedom: int | None) -> float:
    """How often means of right runs are called wrong at the level OFTEN."""
    draws = rng().normal(3, 2, (MANY, runs + others))
    ours, theirs = draws[:, :runs], draws[:, runs:]
    wrong = 0
    for mine, other in zip(ours, theirs, strict=True):
        known = pooled((float(mine.std(ddof=1)), runs), (float(other.std(ddof=1)), others))
        spread = known if freedom is None else Spread(known.deviation, freedom)
        away = abs(float(mine.mean() - other.mean()))
        wrong += away > spread.between(runs, others, OFTEN)
    return wrong / MANY


def test_right_means_are_called_wrong_as_often_as_stated() -> None:
    """4 and 3 runs: 1 % of 20,000, within five deviations. The normal quantile, which forgets that
    the deviation is estimated, misses more than three times as often."""
    slack = 5 * math.sqrt(OFTEN * (1 - OFTEN) / MANY)
    assert misses(4, 3, None) == pytest.approx(OFTEN, abs=slack)
    assert misses(4, 3, 0) > 3 * OFTEN


@pytest.mark.parametrize("rate", [0.8, 30.0])
def test_right_counts_are_hardly_ever_called_wrong(rate: float) -> None:
    """Not more often than stated, within five deviations, though there may be eight events only."""
    source, many = rng(), 4000
    ours, theirs = source.poisson(10 * rate, many), source.poisson(100 * rate, many)
    found = [alike(int(a), 10, int(b), 100) for a, b in zip(ours, theirs, strict=True)]
    assert np.mean(np.array(found) <= OFTEN) <= OFTEN + 5 * math.sqrt(OFTEN / many)
    assert min(found) > chance.SHARE


def test_counts_add_up_to_a_probability() -> None:
    """Against the binomial law in fractions, and symmetric in what is compared."""
    both, count = 12, 3
    masses = [math.comb(both, i) * 10**i * 20 ** (both - i) / 30**both for i in range(both + 1)]
    wanted = 2 * min(sum(masses[: count + 1]), sum(masses[count:]))
    assert alike(count, 10, both - count, 20) == pytest.approx(wanted)
    assert alike(both - count, 20, count, 10) == pytest.approx(wanted)
    assert alike(4, 10, 40, 100) == 1


def red(shift: float) -> float:
    """How often a mean of ten runs that is off by so many deviations of one run turns red."""
    draws = rng().normal(shift, 1, (2000, 10))
    spread = Spread(1.0, 108)
    return float(
        np.mean([not explains(float(m), 0.0, spread, 10, 100) for m in draws.mean(axis=1)])
    )


def test_a_wrong_mean_turns_red_and_a_right_one_does_not() -> None:
    """Power: ten runs against a hundred, three deviations of one run off: red in 99 of 100."""
    assert red(0.0) == 0
    assert red(3.0) > 0.99
    assert red(-3.0) > 0.99


def test_a_wrong_rate_turns_red() -> None:
    """Power: 40 events a run instead of 20, ten runs against a hundred: red in 99 of 100."""
    source = rng()
    ours, theirs = source.poisson(400, 1000), source.poisson(2000, 1000)
    found = [alike(int(a), 10, int(b), 100) for a, b in zip(ours, theirs, strict=True)]
    assert np.mean(np.array(found) < chance.SHARE) > 0.99


def test_a_print_is_rounded_too() -> None:
    spread = Spread(0.0, 9)
    assert explains_print(0.4549, "0.45", spread, 10, 10)
    assert not explains_print(0.4551, "0.45", spread, 10, 10)
    assert not explains(0.4549, 0.45, spread, 10, 10)
    assert explains(0.7, None, spread, 10, 10)
