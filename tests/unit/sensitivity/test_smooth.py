"""`smooth` is what trying every table gives, and is smooth between neighbours."""

from __future__ import annotations

import math
import random
import sys
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidTable, NotPromised
from tenue.sensitivity import ROUNDING, local, smooth, smooth_peak
from unit.sensitivity import oracle
from unit.sensitivity.oracle import BOUNDS, DOMAIN, small_tables, tables

BETAS = [Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(3)]


def ranks(n):
    """Every order statistic of n rows: how to ask for it, and what it is."""
    yield "median", {}, oracle.median
    for k in range(1, n + 1):
        yield "kth-smallest", {"k": k}, oracle.kth_smallest(k)


def other_names(n):
    """Further names, and the rank each stands for."""
    yield "max", {}, n
    yield "min", {}, 1
    yield "quantile", {"q": "0.3"}, max(1, math.ceil(Fraction("0.3") * n))
    for k in range(1, n + 1):
        yield "kth-largest", {"k": k}, n + 1 - k
    if n > 1:
        yield "second-max", {}, n - 1


def exponential(number):
    """exp, too large by less than one part in 10**50."""
    return 1 / Fraction(oracle.discounted(Fraction(1), 1, number)) * (1 + Fraction(1, 10**50))


def test_peak_equals_trying_every_table():
    for table in small_tables():
        for statistic, given, function in ranks(len(table)):
            widest = oracle.widest_by_trying(function, table)
            for beta in BETAS[::2]:
                peak = smooth_peak(statistic, table, bounds=BOUNDS, beta=beta, **given)
                assert peak.local == widest[peak.distance]
                reached = oracle.discounted(peak.local, peak.distance, beta)
                assert abs(reached - oracle.smooth_of(widest, beta)) < 1e-50


def test_float_is_the_peak_rounded_up():
    for table in small_tables(range(0, 5, 2)):
        for statistic, given, function in ranks(len(table)):
            widest = oracle.widest_by_trying(function, table, range(0, 5, 2))
            for beta in BETAS:
                exact = oracle.smooth_of(widest, beta)
                value = Decimal(smooth(statistic, table, bounds=BOUNDS, beta=beta, **given))
                assert exact * (1 - Decimal("1e-55")) <= value <= exact * (1 + Decimal("1e-12"))


def test_every_name_stands_for_its_rank():
    for table in [*tables(1), *tables(3), *tables(4, (0, 1, 4))]:
        for statistic, given, k in other_names(len(table)):
            peak = smooth_peak("kth-smallest", table, bounds=BOUNDS, beta="1/3", k=k)
            assert smooth_peak(statistic, table, bounds=BOUNDS, beta="1/3", **given) == peak


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_neighbours_differ_by_at_most_e_to_the_beta(rows, beta):
    for statistic, given, function in ranks(rows):
        values = {
            table: Fraction(smooth(statistic, table, bounds=BOUNDS, beta=beta, **given))
            for table in tables(rows)
        }
        growth = exponential(beta + ROUNDING)
        for table, value in values.items():
            assert value >= oracle.local_by_trying(function, table, DOMAIN)
            for other in oracle.neighbours(table, DOMAIN):
                assert value <= growth * values[tuple(sorted(other))]


def test_taking_rounding_from_beta_makes_the_float_exactly_smooth():
    beta = Fraction(1, 3)
    growth = exponential(beta)
    for rows in (3, 4):
        values = {
            table: Fraction(smooth("median", table, bounds=BOUNDS, beta=beta - ROUNDING))
            for table in tables(rows)
        }
        for table, value in values.items():
            for other in oracle.neighbours(table, DOMAIN):
                assert value <= growth * values[tuple(sorted(other))]


class TestWrongFormulasAreCaught:
    @staticmethod
    def breaks_smoothness(wrong, rows, beta):
        value = {table: wrong(table, beta) for table in tables(rows)}
        return any(
            value[table] > math.exp(beta) * value[tuple(sorted(other))] * (1 + 1e-12)
            for table in value
            for other in oracle.neighbours(table, DOMAIN)
        )

    def test_the_right_one_passes(self):
        def right(table, beta):
            return smooth("median", table, bounds=BOUNDS, beta=Fraction(beta))

        assert not self.breaks_smoothness(right, 5, 0.5)

    def test_local_sensitivity_is_not_smooth(self):
        def not_smooth(table, beta):
            return float(local("median", table, bounds=BOUNDS))

        assert self.breaks_smoothness(not_smooth, 5, 0.5)

    @pytest.mark.parametrize("side", ["down", "up"])
    def test_opening_one_side_only_is_too_small(self, side):
        def one_sided(table, beta):
            padded, k = [0, *table, 4], (len(table) + 1) // 2
            pairs = [
                (l, r)
                for l in range(k + 1)
                for r in range(k, len(padded))
                if l < r and (l == k if side == "up" else r == k)
            ]
            return max((padded[r] - padded[l]) * math.exp(-beta * (r - l - 1)) for l, r in pairs)

        assert any(
            one_sided(table, 0.1) < smooth("median", table, bounds=BOUNDS, beta="0.1") * 0.999
            for table in tables(5)
        )

    def test_ignoring_the_ends_of_the_domain_is_not_smooth(self):
        def endless(table, beta):
            n = len(table)
            return max(
                (table[n - 1] - table[n - 2 - j]) * math.exp(-beta * j) for j in range(n - 1)
            )

        def right(table, beta):
            return smooth("max", table, bounds=BOUNDS, beta=Fraction(beta))

        assert self.breaks_smoothness(endless, 4, 0.5)
        assert not self.breaks_smoothness(right, 4, 0.5)

    def test_printed_ranks_of_the_odd_median(self):
        # n = 2m + 1 with x_m for the median, as printed: golden counts 2 misses at n = 1
        misses = 0
        for table in tables(1):
            widest = oracle.widest_by_trying(oracle.median, table)
            padded = {0: 0, 1: table[0], 2: 4}
            for j, wanted in enumerate(widest):
                printed = max(
                    padded[max(0, min(2, t))] - padded[max(0, min(2, t - j - 1))]
                    for t in range(j + 2)
                )
                misses += printed != wanted
        assert misses == 2


class TestTheDecisionIsRigorous:
    @pytest.mark.parametrize("digits", [20, 60, 200])
    def test_a_tie_to_many_digits_is_decided(self, digits):
        # x = 0 | 1 | 2 : A_0 = 1, A_1 = 2, so the peak moves where exp(beta) passes 2
        with localcontext(prec=digits + 10):
            log_two = Fraction(Decimal(2).ln())
        nudge = Fraction(1, 10**digits)
        below = smooth_peak("median", [0, 1, 2], bounds=(0, 2), beta=log_two - nudge)
        above = smooth_peak("median", [0, 1, 2], bounds=(0, 2), beta=log_two + nudge)
        assert (below.distance, below.local) == (1, 2)
        assert (above.distance, above.local) == (0, 1)

    def test_ties_that_floats_would_decide_wrongly(self):
        # one row a in (0, b): A_0 = a and A_1 = b, so the peak moves where exp(beta) passes b/a
        nudge = Fraction(1, 10**25)
        for a in range(1, 25):
            for b in range(a + 1, 2 * a + 1):
                with localcontext(prec=50):
                    turn = Fraction((Decimal(b) / Decimal(a)).ln())
                below = smooth_peak("max", [a], bounds=(0, b), beta=turn - nudge)
                above = smooth_peak("max", [a], bounds=(0, b), beta=turn + nudge)
                assert (below.distance, above.distance) == (1, 0)

    def test_floats_that_agree_are_told_apart(self):
        # two widths beyond 2**53 that differ by 1 at the same distance
        base = 10**30
        table = [0, base, 2 * base + 1]
        peak = smooth_peak("median", table, bounds=(0, 2 * base + 1), beta=40)
        assert (peak.distance, peak.local) == (0, base + 1)

    def test_every_beta_from_tiny_to_huge(self):
        table = [0, 0, 3, 4, 9]
        tiny = smooth_peak("median", table, bounds=(0, 10), beta="1e-300")
        huge = smooth_peak("median", table, bounds=(0, 10), beta="1e300")
        assert (tiny.distance, tiny.local) == (3, 10)
        assert (huge.distance, huge.local) == (0, 3)


class TestLargeTables:
    @staticmethod
    def naive(rows, low, high, k, beta):
        padded = [low, *sorted(rows), high]
        return max(
            math.log(padded[r] - padded[l]) - beta * (r - l - 1)
            for l in range(k + 1)
            for r in range(k, len(padded))
            if padded[r] > padded[l]
        )

    @pytest.mark.parametrize("beta", [0.001, 0.01, 0.05, 0.3])
    def test_agrees_with_trying_every_pair(self, beta):
        chance = random.Random(11)
        for spread in (5, 60, 10**6, 10**15):
            n = chance.randrange(150, 250)
            rows = [int(spread * chance.random() ** 3) for _ in range(n)]
            k = chance.randrange(1, n + 1)
            value = smooth("kth-smallest", rows, bounds=(0, spread), beta=beta, k=k)
            assert math.log(value) == pytest.approx(self.naive(rows, 0, spread, k, beta), abs=1e-11)

    def test_numpy_and_lists_agree(self):
        rows = np.array([5, 900, 17, 17, 300, 2], dtype=np.int32)
        for statistic in ("median", "max", "second-max"):
            assert smooth(statistic, rows, bounds=(0, 1000), beta="0.2") == smooth(
                statistic, rows.tolist(), bounds=(0, 1000), beta="0.2"
            )


class TestRoundingUp:
    def test_an_exact_value_stays_exact(self):
        assert smooth("max", [1, 2, 2, 5, 9], bounds=(0, 10), beta=1) == 4.0
        assert smooth("max", [0.1], bounds=(0, "0.3"), beta=5) == 0.2

    def test_a_value_between_floats_goes_up(self):
        third = Fraction(1, 3)
        value = smooth("max", [0], bounds=(0, third), beta=1)
        assert 0 < Fraction(value) - third < Fraction(1, 2**53)

    def test_values_too_small_for_a_float_become_the_least_normal_one(self):
        value = smooth("median", np.zeros(100_001, dtype=np.int64), bounds=(0, 1), beta=1)
        assert value == sys.float_info.min

    def test_a_domain_of_one_point_cannot_move(self):
        assert smooth("median", [3, 3], bounds=(3, 3), beta=1) == 0.0


class TestRefusals:
    def test_a_secret_number_of_rows(self):
        with pytest.raises(NotPromised):
            smooth("median", [1, 2, 3], bounds=BOUNDS, beta=1, rows_public=False)

    @pytest.mark.parametrize(
        ("statistic", "given"),
        [
            ("mean", {"beta": 1, "bounds": BOUNDS}),
            ("median", {"beta": 0, "bounds": BOUNDS}),
            ("median", {"beta": -1, "bounds": BOUNDS}),
            ("median", {"bounds": BOUNDS}),
            ("median", {"beta": 1}),
            ("median", {"beta": 1, "bounds": BOUNDS, "k": 1}),
            ("quantile", {"beta": 1, "bounds": BOUNDS}),
            ("kth-largest", {"beta": 1, "bounds": BOUNDS, "k": 9}),
            ("median", {"beta": 1, "bounds": (0, "1e309")}),
        ],
    )
    def test_bad_parameters(self, statistic, given):
        with pytest.raises(InvalidArgument):
            smooth(statistic, [1, 2, 3], **given)

    def test_no_rows(self):
        with pytest.raises(InvalidTable):
            smooth("median", [], bounds=BOUNDS, beta=1)
