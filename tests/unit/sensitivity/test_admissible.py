"""Which smoothness a heavy tail needs: beta = epsilon / gamma, and never epsilon."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tenue.errors import InvalidArgument
from tenue.sensitivity import (
    admissible_alpha,
    admissible_beta,
    dilation_loss,
    is_admissible,
    sliding_loss,
    smooth,
)
from tenue.sensitivity.smooth import GAMMAS


def log_density(z, gamma, scale):
    return -math.log(scale) - math.log1p(abs(z / scale) ** gamma)


def log_mass(z, gamma, scale):
    """The same law on the integers."""
    weight = math.fsum(1 / (1 + (k / scale) ** gamma) for k in range(1, 2000))
    return -math.log1p(abs(z / scale) ** gamma) - math.log(1 + 2 * weight)


POINTS = [0.0, *(sign * 1.2**i for i in range(-60, 121) for sign in (1, -1))]


class TestLosses:
    @pytest.mark.parametrize("gamma", range(2, 9))
    def test_dilation_is_the_supremum(self, gamma):
        beta = 0.3
        seen = max(
            abs(log_density(z, gamma, 1) - log_density(z, gamma, math.exp(beta))) for z in POINTS
        )
        assert seen == pytest.approx(float(dilation_loss(gamma, beta=beta)), rel=1e-6)

    @pytest.mark.parametrize("gamma", range(2, 9))
    def test_sliding_bounds_every_move_and_is_nearly_reached(self, gamma):
        alpha = 1e-3
        seen = max(
            abs(log_density(z, gamma, 1) - log_density(z + alpha, gamma, 1))
            for z in (i / 1000 for i in range(4000))
        )
        assert 0.999 * sliding_loss(gamma, alpha=alpha) < seen <= sliding_loss(gamma, alpha=alpha)

    def test_on_the_integers_dilation_costs_more(self):
        gamma, beta, scale = 3, 0.3, 1e-3
        seen = log_mass(1, gamma, scale * math.exp(beta)) - log_mass(1, gamma, scale)
        assert seen > float(dilation_loss(gamma, beta=beta)) + 0.2
        assert seen == pytest.approx(
            float(dilation_loss(gamma, beta=beta, integers=True)), rel=1e-6
        )

    @pytest.mark.parametrize(("gamma", "total"), [(2, 0.625), (3, 0.799), (7, 1.023)])
    def test_totals_in_units_of_epsilon(self, gamma, total):
        slide = sliding_loss(gamma, alpha=Fraction(1, 4 * gamma))
        assert slide + float(dilation_loss(gamma, beta=Fraction(1, gamma))) == pytest.approx(
            total, abs=5e-4
        )


class TestDecision:
    @pytest.mark.parametrize("epsilon", ["0.01", 1, 8])
    @pytest.mark.parametrize("gamma", GAMMAS)
    def test_the_offered_pair_is_admissible(self, gamma, epsilon):
        alpha, beta = admissible_alpha(gamma, epsilon), admissible_beta(gamma, epsilon)
        assert beta == Fraction(epsilon) / gamma
        assert is_admissible(gamma, epsilon, alpha=alpha, beta=beta)
        # nothing is left on the integers: any larger beta breaks the promise
        assert not is_admissible(gamma, epsilon, alpha=alpha, beta=beta * Fraction(1001, 1000))

    def test_the_sum_binds_too(self):
        beta = admissible_beta(2, 1)
        assert is_admissible(2, 1, alpha="0.5", beta=beta)
        assert not is_admissible(2, 1, alpha="0.5000001", beta=beta)

    @pytest.mark.parametrize("gamma", [0, 1, 7, 20])
    def test_other_tails_are_not(self, gamma):
        assert not is_admissible(gamma, 1, alpha="1e-9", beta="1e-9")
        with pytest.raises(InvalidArgument):
            admissible_beta(gamma, 1)
        with pytest.raises(InvalidArgument):
            admissible_alpha(gamma, 1)

    @pytest.mark.parametrize("bad", [0, -1, float("nan"), "x", None])
    def test_bad_epsilon(self, bad):
        with pytest.raises(InvalidArgument):
            admissible_beta(2, bad)


class TestNeighboursInFact:
    """Two neighbours with the same median whose smooth sensitivities differ by all of e**beta."""

    ONE, OTHER, DOMAIN = (0, 0, 0, 0, 0), (0, 0, 0, 0, 10), (0, 10)

    def worst(self, gamma, epsilon, beta):
        scales = [
            smooth("median", table, bounds=self.DOMAIN, beta=beta)
            / float(admissible_alpha(gamma, epsilon))
            for table in (self.ONE, self.OTHER)
        ]
        assert scales[1] / scales[0] == pytest.approx(math.exp(beta), rel=1e-9)
        return max(
            abs(log_density(z, gamma, scales[0]) - log_density(z, gamma, scales[1]))
            for z in (10.0**i for i in range(-3, 12))
        )

    @pytest.mark.parametrize("gamma", GAMMAS)
    def test_epsilon_over_gamma_keeps_the_promise(self, gamma):
        assert self.worst(gamma, 1, admissible_beta(gamma, 1)) <= 1

    @pytest.mark.parametrize("gamma", [3, 4, 5, 6])
    def test_epsilon_itself_breaks_it(self, gamma):
        assert self.worst(gamma, 1, Fraction(1)) > 1.9
        assert not is_admissible(gamma, 1, alpha=admissible_alpha(gamma, 1), beta=1)

    def test_epsilon_itself_breaks_it_on_the_integers_for_gamma_2(self):
        small, large = 1e-3, 1e-3 * math.e
        assert log_mass(1, 2, large) - log_mass(1, 2, small) > 1.9
        assert not is_admissible(2, 1, alpha=admissible_alpha(2, 1), beta=1)
