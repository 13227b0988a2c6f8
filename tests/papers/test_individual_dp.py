"""Individual differential privacy (Soria-Comas et al. 2017): every number of section 6.

Printed values are met to half their last digit, recomputed ones to ten digits. Where the print is
wrong (a rounding in Table 1, the ranks of the odd median, the split of the admissible noise in two
halves) the recomputed value is met and the printed one is shown to fail.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from tenue.sensitivity import admissible_alpha, admissible_beta, dilation_loss, local, smooth
from unit.sensitivity import oracle

BOUNDS = (0, 10)
FIVE, ZEROS, THREE = (1, 2, 2, 5, 9), (0, 0, 0, 0, 0), (3, 4, 7)
FOUR, STEP, TWO, ONE = (1, 2, 6, 9), (0, 0, 0, 10, 10), (2, 7), (4,)

LOCAL = [
    ("max", FIVE, "4"),
    ("median", FIVE, "3"),
    ("mean", FIVE, "1.8"),
    ("max", ZEROS, "10"),
    ("median", ZEROS, "0"),
    ("second-max", ZEROS, "0"),
    ("mean", ZEROS, "2"),
    ("median", THREE, "3"),
    ("second-max", THREE, "3"),
    ("mean", THREE, "7/3"),
    ("median", FOUR, "3.5"),
    ("mean", FOUR, "2.25"),
    ("median", STEP, "10"),
    ("second-max", STEP, "10"),
    ("max", TWO, "5"),
    ("median", TWO, "4"),
    ("mean", TWO, "4"),
    ("mean", ONE, "6"),
]

SMOOTH = [
    ("max", FIVE, "1/2", 4.2457146179884),
    ("max", FIVE, "1", 4.0),
    ("median", FIVE, "1/2", 4.2457146179884),
    ("median", FIVE, "1/3", 5.0157191740165),
    ("second-max", FIVE, "1/2", 4.2457146179884),
    ("second-max", FIVE, "1/3", 5.0157191740165),
    ("second-max", FIVE, "1", 4.0),
    ("max", ZEROS, "1/3", 10.0),
    ("median", ZEROS, "1/2", 3.6787944117144),
    ("median", ZEROS, "1/3", 5.1341711903259),
    ("second-max", ZEROS, "1/2", 6.0653065971263),
    ("max", THREE, "1/3", 4.2991878634427),
    ("max", THREE, "1", 3.0),
    ("median", THREE, "1/2", 3.6391839582758),
    ("second-max", THREE, "1/3", 4.2991878634427),
    ("median", FOUR, "1/2", 3.5),
    ("median", FOUR, "1", 3.5),
    ("second-max", FOUR, "1/3", 5.0157191740165),
    ("second-max", FOUR, "1", 4.0),
    ("max", STEP, "1/2", 6.0653065971263),
    ("median", STEP, "1/3", 10.0),
    ("median", STEP, "1", 10.0),
    ("second-max", STEP, "1/2", 10.0),
    ("second-max", STEP, "1", 10.0),
    ("max", TWO, "1/2", 5.0),
    ("max", TWO, "1/3", 5.7322504845903),
    ("max", TWO, "1", 5.0),
    ("median", TWO, "1/2", 4.0),
    ("median", TWO, "1/3", 4.0),
    ("second-max", TWO, "1/2", 5.0),
    ("second-max", TWO, "1/3", 5.7322504845903),
    ("max", ONE, "1/3", 7.1653131057379),
    ("median", ONE, "1", 6.0),
]


@pytest.mark.parametrize(("statistic", "table", "wanted"), LOCAL)
def test_local_sensitivity(statistic, table, wanted):
    assert local(statistic, table, bounds=BOUNDS) == Fraction(wanted)


@pytest.mark.parametrize(("statistic", "table", "beta", "wanted"), SMOOTH)
def test_smooth_sensitivity(statistic, table, beta, wanted):
    value = smooth(statistic, table, bounds=BOUNDS, beta=beta)
    assert value == pytest.approx(wanted, rel=2e-13)


class TestTable1:
    """95 % intervals at epsilon = 1, for a table whose local and smooth sensitivity are both 1."""

    TABLE, DOMAIN, LEVEL = (0, 1, 1), (0, 1), 0.95

    @staticmethod
    def quantile_of_size(gamma, level):
        """The level-quantile of |Z|, density proportional to 1 / (1 + |z|**gamma)."""

        def mass(upper):
            return mpmath.quad(lambda z: 1 / (1 + z**gamma), [0, 1, upper])

        whole = mpmath.quad(lambda z: 1 / (1 + z**gamma), [0, 1, mpmath.inf])
        return float(mpmath.findroot(lambda u: mass(u) - level * whole, 4))

    def test_individual(self):
        scale = float(local("median", self.TABLE, bounds=self.DOMAIN)) / 1
        half_width = -scale * float(mpmath.log(1 - self.LEVEL))
        assert half_width == pytest.approx(2.995732273554, abs=1e-11)
        assert round(half_width) == 3

    @pytest.mark.parametrize(
        ("gamma", "wanted", "printed", "agrees"),
        [(2, 101.6496378894, 101.7, False), (3, 34.217864904138, 34.2, True)],
    )
    def test_smooth(self, gamma, wanted, printed, agrees):
        beta = admissible_beta(gamma, 1)
        spread = smooth("median", self.TABLE, bounds=self.DOMAIN, beta=beta)
        assert spread == 1.0
        scale = spread / float(admissible_alpha(gamma, 1))
        half_width = scale * self.quantile_of_size(gamma, self.LEVEL)
        assert half_width == pytest.approx(wanted, rel=1e-11)
        assert (abs(half_width - printed) <= 0.05) is agrees


def test_dilation_alone_exceeds_the_half_that_the_proof_allows():
    loss = dilation_loss(3, beta=admissible_beta(3, 1))
    assert float(loss) == pytest.approx(0.66666666666667)
    assert loss > Fraction(1, 2)


def widest_around(m, table, j=0, high=4):
    """A_j as printed, around rank m: the largest x_(m+t) - x_(m+t-j-1), 0 <= t <= j + 1."""
    ordered = sorted(table)

    def at(rank):
        return 0 if rank < 1 else high if rank > len(ordered) else ordered[rank - 1]

    return max(at(m + t) - at(m + t - j - 1) for t in range(j + 2))


def printed_rank(table):
    """The print has n = 2m + 1 rows and calls x_m the median."""
    return (len(table) - 1) // 2


class TestEveryTableTried:
    """The counts of cases and of failures, as the golden file has them."""

    def test_every_rank(self):
        cases = 0
        for table in oracle.small_tables():
            for k in range(1, len(table) + 1):
                tried = oracle.local_by_trying(oracle.kth_smallest(k), table, range(5))
                assert local("kth-smallest", table, bounds=(0, 4), k=k) == tried
                cases += 1
        assert cases == 1050

    def test_second_maximum(self):
        tables = [table for table in oracle.small_tables() if len(table) > 1]
        for table in tables:
            tried = oracle.local_by_trying(oracle.second_largest, table, range(5))
            assert local("second-max", table, bounds=(0, 4)) == tried
            if len(table) > 2:  # as printed, without the ends of the domain
                top = sorted(table)[-3:]
                assert tried == max(top[2] - top[1], top[1] - top[0])
        assert len(tables) == 246

    def test_median_of_even_tables(self):
        tables = [*oracle.tables(2), *oracle.tables(4)]
        for table in tables:
            tried = oracle.local_by_trying(oracle.median, table, range(5))
            assert local("median", table, bounds=(0, 4)) == tried
        assert len(tables) == 85

    def test_range_counts(self):
        cases = 0
        for low in range(5):
            for high in range(low, 5):
                for table in oracle.small_tables():
                    given = {"low": low, "high": high}
                    wanted = 0 if (low, high) == (0, 4) else 1
                    assert local("range-count", table, bounds=(0, 4), **given) == wanted
                    cases += 1
        assert cases == 3765

    def test_printed_ranks_of_the_odd_median_fail(self):
        wrong = [
            table
            for table in oracle.tables(5)
            if widest_around(printed_rank(table), table) != local("median", table, bounds=(0, 4))
        ]
        assert len(wrong) == 58
        assert (0, 0, 0, 1, 1) in wrong

    @pytest.mark.parametrize(
        ("rows", "domain", "cases", "failures"), [(1, range(5), 10, 2), (3, range(6), 224, 48)]
    )
    def test_printed_ranks_of_the_smooth_median_fail(self, rows, domain, cases, failures):
        high, tried, wrong = max(domain), 0, 0
        for table in oracle.tables(rows, domain):
            for j, widest in enumerate(oracle.widest_by_trying(oracle.median, table, domain)):
                tried += 1
                wrong += widest_around(printed_rank(table), table, j, high) != widest
                assert widest_around(printed_rank(table) + 1, table, j, high) == widest
        assert (tried, wrong) == (cases, failures)
