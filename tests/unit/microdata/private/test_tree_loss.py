"""What the decisions of a tree tell, path by path, with the noise that is really drawn."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tenue as tn
from tenue.microdata.private.tree_loss import SplitLaw
from tenue.noise.discrete_laplace import DiscreteLaplace
from tenue.noise.source import Seeded

BUDGETS = [Fraction(3, 10) * epsilon for epsilon in (Fraction(1, 100), Fraction(1, 10), 1, 3, 10)]


def chances(law: SplitLaw, x: Any) -> tuple[Any, Any]:
    """The logarithms of the chances that a box of biased count x is split, and that it is not."""
    rate = float(law.rate)
    x = np.maximum(np.asarray(x, float), -law.bias)
    small = np.exp(-rate * np.maximum(np.abs(x), 1 - x)) / (1 + math.exp(-rate))  # x > 0: not split
    few, many = np.log(small), np.log1p(-small)
    return np.where(x > 0, many, few), np.where(x > 0, few, many)


def test_chances_are_those_of_the_noise() -> None:
    law = SplitLaw(Fraction(1, 3), 4)
    noise = DiscreteLaplace(sensitivity=1, epsilon=law.rate)
    for x in range(-6, 9):
        mass = sum(noise.mass(k) for k in range(1 - max(x, -4), 200))
        split, whole = chances(law, x)
        assert math.exp(split) == pytest.approx(mass)
        assert math.exp(whole) == pytest.approx(1 - mass)


def worst(law: SplitLaw) -> float:
    """The loss over all paths of counts that never rise, by dynamic programming.

    Nothing is assumed about which path is worst: from a biased count x any that is lower by the
    bias or more may follow.
    """
    x = np.arange(-law.bias - 2, law.bias + math.ceil(40 / float(law.rate)))
    split, whole = chances(law, x)
    gains = np.diff(split)  # f(x+1)/f(x) where a record comes, and the box is split
    best = np.zeros(x.size)
    for begin in range(0, gains.size, law.bias):
        here = slice(begin, min(begin + law.bias, gains.size))
        before = np.maximum.accumulate(best[: begin or 1])
        below = np.arange(here.start, here.stop) - law.bias
        best[here] = gains[here] + np.where(below >= 0, before[np.maximum(below, 0)], 0.0)
    stops = whole[:-1] - whole[1:]  # where a record left, and the box is not split
    return float(best.max() + stops.max())


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_loss_of_every_path_keeps_within_the_budget(budget: Fraction) -> None:
    for fan_out in range(2, 17):
        law = SplitLaw.within(budget, fan_out)
        assert law.loss <= budget
        assert worst(law) <= float(law.loss) * (1 + 1e-9)
        # and hardly anything is given away
        assert worst(law) > 0.98 * float(law.loss)
        assert float(law.loss) > 0.96 * float(budget)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_less_noise_than_the_printed_scale_which_is_safe_too(budget: Fraction) -> None:
    for fan_out in range(2, 17):
        printed = budget / 2 / Fraction(2 * fan_out - 1, fan_out - 1)
        bias = math.ceil(math.log(fan_out) / float(printed))
        assert SplitLaw(printed, bias).require_within(budget).loss < budget
        assert SplitLaw.within(budget, fan_out).rate > Fraction(13, 10) * printed


def test_short_paths_one_by_one() -> None:
    """Every pair of paths of three boxes with up to five records, every outcome, both ways."""
    law = SplitLaw.within(Fraction(3), 2)
    paths = [p for p in itertools.product(range(6), repeat=3) if p[0] >= p[1] >= p[2]]

    def told(path: tuple[int, ...], change: int) -> list[float]:
        depth = np.arange(1, 4) * law.bias
        split, whole = chances(law, np.array(path) - depth)
        after, kept = chances(law, np.array(path) + change - depth)
        ends = [sum((after - split)[:k]) + (kept - whole)[k] for k in range(3)]
        return [*ends, sum(after - split)]  # the last: all are split, down to single places

    comes = [value for path in paths for value in told(path, 1)]
    leaves = [value for path in paths if path[2] > 0 for value in told(path, -1)]
    largest = max(comes) + max(leaves)
    smallest = min(comes) + min(leaves)
    assert 0.9 * law.loss < max(largest, -smallest) <= law.loss


@pytest.mark.parametrize("fan_out", [2, 4, 16])
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_wrong_scales_are_refused(budget: Fraction, fan_out: int) -> None:
    forgotten = budget / 2
    alone = budget / Fraction(2 * fan_out - 1, fan_out - 1)
    for wrong in (forgotten, alone):
        law = SplitLaw(wrong, math.ceil(math.log(fan_out) / float(wrong)))
        assert worst(law) > budget
        with pytest.raises(tn.Refused, match="decisions"):
            law.require_within(budget)


def test_a_bias_that_is_too_small_is_refused() -> None:
    law = SplitLaw.within(Fraction(3, 10), 2)
    with pytest.raises(tn.Refused):
        SplitLaw(law.rate, law.bias // 3).require_within(Fraction(3, 10))


def test_counts_are_biased_by_depth_and_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    law = SplitLaw(Fraction(1, 2), 3)
    counts = np.array([5, 5, 5, 0, 100])
    tests = np.array([0, 1, 2, 9, 33])
    needed = []  # the least noise with which each is split
    for i in range(5):
        for noise in range(-20, 20):
            monkeypatch.setattr(
                DiscreteLaplace, "steps", lambda *_, noise=noise, **__: np.full(5, noise)
            )
            if law.decide(counts, tests, Seeded(1))[i]:
                needed.append(noise)
                break
    assert needed == [-4, -1, 2, 4, 0]


def test_depth_of_evenly_spread_records() -> None:
    law = SplitLaw(Fraction(1, 10), 10)
    assert law.depth(10, 4) == 0
    assert law.depth(11, 4) == 1
    assert law.depth(41, 4) == 2
    assert law.depth(320, 4) == 2
    assert law.depth(321, 4) == 3
