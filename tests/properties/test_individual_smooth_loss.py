"""The exact loss of noise scaled to the smooth sensitivity, over every small table.

Masses come from the integer law itself, the clamped ends included. Each plausible mistake, written
here, breaks epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from tenue.mechanism.smooth import Smooth, smooth_mechanism
from tenue.noise.heavy_tail import HeavyTailSteps
from tenue.noise.samplers import LARGEST
from tenue.sensitivity import smooth
from unit.sensitivity.oracle import neighbours

DOMAIN = range(4)
TOP = DOMAIN[-1]
Table = tuple[int, ...]
Make = Callable[[Table], Smooth]
Masses = np.ndarray


def ours(statistic: str, epsilon: object, gamma: int, **given: object) -> Make:
    return lambda table: smooth_mechanism(
        statistic, table, 0, TOP, epsilon, gamma, rows_public=True, **given
    )


def masses(mechanism: Smooth, law: HeavyTailSteps | None = None) -> Masses:
    """The probability of each answer from the lowest to the highest, in parts of a step."""
    law = law or mechanism.law
    answers = np.arange(mechanism.low, mechanism.high + 1)
    found = np.asarray(law.mass(answers - mechanism.truth))
    # whoever draws less than the lowest gets the lowest: one tail each, by symmetry of the law
    found[0] = law.cdf(mechanism.low - mechanism.truth)
    found[-1] = law.cdf(mechanism.truth - mechanism.high)
    return found


def loss(one: Masses, other: Masses) -> float:
    return float(np.abs(np.log(one / other)).max())


def worst(make: Make, spread: Callable[[Smooth], Masses] = masses) -> float:
    most = 0.0
    for rows in range(1, 5):
        known: dict[Table, Masses] = {}

        def of(table: Table, known: dict[Table, Masses] = known) -> Masses:
            if table not in known:
                known[table] = spread(make(table))
            return known[table]

        for table in combinations_with_replacement(DOMAIN, rows):
            for near in neighbours(table, DOMAIN):
                most = max(most, loss(of(table), of(tuple(sorted(near)))))
    return most


CASES = [
    ("median", {}),
    ("max", {}),
    ("min", {}),
    ("quantile", {"q": "1/4"}),
    ("quantile", {"q": "0.9"}),
]


@pytest.mark.parametrize(("statistic", "given"), CASES, ids=str)
@pytest.mark.parametrize(("epsilon", "gamma"), [("1/10", 2), (1, 2), (1, 3), (5, 6), (30, 2)])
def test_every_table_keeps_epsilon(statistic, given, epsilon, gamma):
    found = worst(ours(statistic, epsilon, gamma, **given))
    assert 0 < found <= float(Fraction(epsilon)) * (1 + 1e-9)


def test_masses_sum_to_one():
    for table in ((0, 0, 3), (0, 1, 2, 3), (2,)):
        for gamma in range(2, 7):
            assert masses(ours("median", 1, gamma)(table)).sum() == pytest.approx(1, abs=1e-9)


class TestMutants:
    def test_smoothness_epsilon_instead_of_a_part_of_it(self):
        epsilon = 20

        def make(table: Table) -> Smooth:
            right = ours("median", epsilon, 2)(table)
            wrong = smooth("median", table, bounds=(0, TOP), beta=epsilon)
            return replace(right, spread=Fraction(wrong) * right.parts)

        assert worst(ours("median", epsilon, 2)) <= epsilon < worst(make)

    def test_scale_without_four_gamma(self):
        def narrow(mechanism: Smooth) -> Masses:
            scale = mechanism.spread / mechanism.epsilon
            law = HeavyTailSteps(gamma=6, scale=scale, epsilon=mechanism.epsilon, grid=Fraction(1))
            return masses(mechanism, law)

        assert worst(ours("median", 1, 6)) <= 1 < worst(ours("median", 1, 6), narrow)

    def test_local_instead_of_smooth(self):
        def make(table: Table) -> Smooth:
            right = ours("median", 1, 2)(table)
            far = smooth("median", table, bounds=(0, TOP), beta=1000)  # all but the local one fade
            return replace(right, spread=max(Fraction(far) * right.parts, Fraction(1, 2**64)))

        assert worst(ours("median", 1, 2)) <= 1 < worst(make)


class TestRounding:
    """Values finer than the answer's grid: 499 and 501 lie beside each other, yet round apart."""

    GRID, HIGH = 1000, 3000
    ONE = (499,) * 11 + (501,) * 10
    OTHER = (499,) * 10 + (501,) * 11

    def of(self, table: Table) -> Smooth:
        return smooth_mechanism("median", table, 0, self.HIGH, 1, 2, rows_public=True)

    def on_the_grid(self, table: Table, extra: int) -> Masses:
        """The truth rounded first, with noise on the coarse grid and S as it is, or `extra`."""
        fine = self.of(table)
        coarse = replace(
            fine,
            truth=(2 * fine.truth + self.GRID) // (2 * self.GRID),
            spread=fine.spread / self.GRID + extra,
            high=self.HIGH // self.GRID,
        )
        return masses(coarse)

    def test_rounding_first_needs_one_step_more(self):
        assert loss(*(self.on_the_grid(t, 0) for t in (self.ONE, self.OTHER))) > 1
        assert loss(*(self.on_the_grid(t, 1) for t in (self.ONE, self.OTHER))) <= 1

    def test_noise_first_needs_nothing(self):
        assert loss(*(masses(self.of(t)) for t in (self.ONE, self.OTHER))) <= 1

    def test_the_even_median_is_not_rounded(self):
        mechanism = smooth_mechanism("median", (0, 1), 0, TOP, 1, 2, rows_public=True)
        assert (mechanism.parts, mechanism.truth, mechanism.high) == (2, 1, 2 * TOP)
        assert mechanism.settle(0) == Fraction(1, 2)


def test_the_cut_of_the_drawn_integers_does_not_show():
    """Noise stops at ±2^62 steps. Unclamped, the largest sum would tell the truth."""
    tables = (0, 0, 1), (0, 1, 1)
    mechanisms = [ours("median", 1, 2)(table) for table in tables]
    assert len({m.truth for m in mechanisms}) == 2
    assert len({m.truth + LARGEST for m in mechanisms}) == 2  # the mutant: infinite loss
    for cut in (LARGEST, -LARGEST):
        assert {m.settle(cut) for m in mechanisms} == {TOP if cut > 0 else 0}
    assert math.isclose(masses(mechanisms[0]).sum(), 1)
