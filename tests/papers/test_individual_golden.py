"""Individual differential privacy (Soria-Comas et al. 2017), through the mechanisms themselves.

`test_individual_dp.py` meets the sensitivities; here the laws that are drawn for actual tables meet
Tables 1 and 2, and the same sensitivities are seen to arrive in them.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from papers.test_individual_dp import BOUNDS, LOCAL, SMOOTH
from tenue.mechanism.individual_calibration import FINER, calibrate
from tenue.mechanism.individual_statistic import Statistic, columns_of
from tenue.mechanism.smooth import smooth_mechanism

LN2 = Fraction("0.6931471805599453094172321214581765680755")


class TestTable1:
    """95 % intervals at epsilon = 1, local and smooth sensitivity both 1 (a million fine steps)."""

    def test_individual(self):
        columns = columns_of("median", [0, 1, 1], (0, 1))
        mechanism = calibrate(
            Statistic("median"),
            columns,
            epsilon=Fraction(1),
            grid=Fraction(1),
            finer=FINER,
            truncated=False,
        )
        assert mechanism.spread == FINER
        assert mechanism.law.interval(0.95)[1] / FINER == pytest.approx(2.995732273554, abs=2e-6)

    @pytest.mark.parametrize(("gamma", "wanted"), [(2, 101.6496378894), (3, 34.217864904138)])
    def test_smooth(self, gamma, wanted):
        one = 10**8
        mechanism = smooth_mechanism("median", [0, one, one], 0, one, 1, gamma, rows_public=True)
        assert mechanism.spread == one
        assert mechanism.law.interval(0.95)[1] / one == pytest.approx(wanted, abs=1e-7)


ERRORS = [
    ("1/10", 9.9833527572961, 0.95004162504212),
    (LN2, 1.3333333333333, 0.66666666666667),
    (1, 0.85091812823932, 0.53788284273999),
    (2, 0.27572056477178, 0.23840584404424),
    (5, 0.013476505830589, 0.01338570184857),
]


class TestTable2:
    """The mean absolute error of a range count, and of one truncated to its neighbours' counts."""

    ROWS = [1] * 500 + [0] * 500

    def error(self, epsilon, truncated):
        statistic, one = Statistic("range-count", between=(1, 1)), Fraction(1)
        columns = columns_of("range-count", self.ROWS, (0, 1))
        mechanism = calibrate(
            statistic, columns, epsilon=epsilon, grid=one, finer=1, truncated=truncated
        )
        truth = statistic.nearest(columns, one)
        assert truth == 500
        return sum(
            float(mechanism.law.mass(k)) * abs(mechanism.settle(truth + k) - truth)
            for k in range(-2000, 2001)
        )

    @pytest.mark.parametrize(("epsilon", "wanted", "truncated"), ERRORS)
    def test_errors(self, epsilon, wanted, truncated):
        assert self.error(Fraction(epsilon), False) == pytest.approx(wanted, rel=1e-11)
        assert self.error(Fraction(epsilon), True) == pytest.approx(truncated, rel=1e-11)


@pytest.mark.parametrize(("statistic", "table", "wanted"), LOCAL)
def test_local_sensitivities_arrive_in_the_law(statistic, table, wanted):
    mechanism = calibrate(
        Statistic(statistic),
        columns_of(statistic, list(table), BOUNDS),
        epsilon=Fraction(1),
        grid=Fraction(1, 60),
        finer=1,
        truncated=False,
    )
    assert mechanism.spread == 60 * Fraction(wanted)


@pytest.mark.parametrize(("statistic", "table", "beta", "wanted"), SMOOTH)
def test_smooth_sensitivities_arrive_in_the_law(statistic, table, beta, wanted):
    gamma = 3 if beta == "1/3" else 2
    mechanism = smooth_mechanism(
        statistic, table, *BOUNDS, gamma * Fraction(beta), gamma, rows_public=True
    )
    assert float(mechanism.spread / mechanism.parts) == pytest.approx(wanted, rel=1e-12)
