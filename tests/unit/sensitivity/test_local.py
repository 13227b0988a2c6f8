"""`local` is the largest move one record can make: tried on every small table."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidTable
from tenue.sensitivity import local
from unit.sensitivity import oracle
from unit.sensitivity.oracle import BOUNDS, DOMAIN, small_tables, tables

# multiples of 1/12 hold every mean of one to four rows, where a variance is least
TWELFTHS = [Fraction(i, 12) for i in range(49)]


def sorted_padded(table, low=0, high=4):
    ordered = sorted(table)

    def at(rank):
        return low if rank < 1 else high if rank > len(table) else ordered[rank - 1]

    return at


class TestEveryTableOfFive:
    def test_every_rank_counted_from_below_and_from_above(self):
        for table in small_tables():
            n = len(table)
            for k in range(1, n + 1):
                tried = oracle.local_by_trying(oracle.kth_smallest(k), table, DOMAIN)
                assert local("kth-smallest", table, bounds=BOUNDS, k=k) == tried
                assert local("kth-largest", table, bounds=BOUNDS, k=n + 1 - k) == tried

    def test_max_min_and_second_max(self):
        for table in small_tables():
            lowest = oracle.local_by_trying(oracle.kth_smallest(1), table, DOMAIN)
            highest = oracle.local_by_trying(oracle.maximum, table, DOMAIN)
            assert local("min", table, bounds=BOUNDS) == lowest
            assert local("max", table, bounds=BOUNDS) == highest
            if len(table) > 1:
                second = oracle.local_by_trying(oracle.second_largest, table, DOMAIN)
                assert local("second-max", table, bounds=BOUNDS) == second

    def test_median_of_odd_and_even(self):
        for table in small_tables():
            tried = oracle.local_by_trying(oracle.median, table, DOMAIN)
            assert local("median", table, bounds=BOUNDS) == tried

    @pytest.mark.parametrize("q", ["0.01", "0.25", "0.5", "0.75", "0.99"])
    def test_quantile_is_the_rank_it_documents(self, q):
        for table in small_tables():
            k = max(1, -(-(Fraction(q) * len(table)) // 1))
            tried = oracle.local_by_trying(oracle.kth_smallest(k), table, DOMAIN)
            assert local("quantile", table, bounds=BOUNDS, q=q) == tried

    def test_mean_and_sum(self):
        for table in small_tables():
            tried = oracle.local_by_trying(oracle.mean, table, DOMAIN)
            assert local("mean", table, bounds=BOUNDS) == tried
            assert local("sum", table, bounds=BOUNDS) == tried * len(table)

    def test_variance(self):
        for table in small_tables():
            tried = oracle.local_by_trying(oracle.variance, table, TWELFTHS)
            assert local("variance", table, bounds=BOUNDS) == tried

    def test_range_count(self):
        for low, high in combinations_with_replacement(range(-1, 6), 2):
            for table in small_tables():

                def inside(rows, low=low, high=high):
                    return Fraction(sum(low <= x <= high for x in rows))

                tried = oracle.local_by_trying(inside, table, DOMAIN)
                assert local("range-count", table, bounds=BOUNDS, low=low, high=high) == tried


class TestWrongFormulasAreCaught:
    """The oracle tells each of these apart from the right one, so the tests above can fail."""

    @staticmethod
    def misses(formula, statistic, candidates):
        return sum(
            formula(table) != oracle.local_by_trying(statistic, table, DOMAIN)
            for table in candidates
        )

    def test_printed_ranks_of_the_odd_median(self):
        def printed(table):
            at, m = sorted_padded(table), (len(table) - 1) // 2
            return max(at(m) - at(m - 1), at(m + 1) - at(m))

        assert self.misses(printed, oracle.median, tables(5)) == 58

    def test_odd_formula_on_an_even_median(self):
        def odd(table):
            at, m = sorted_padded(table), len(table) // 2
            return max(at(m) - at(m - 1), at(m + 1) - at(m))

        assert self.misses(odd, oracle.median, [*tables(2), *tables(4)]) == 66

    def test_one_side_only(self):
        def upwards(table):
            at, m = sorted_padded(table), (len(table) + 1) // 2
            return at(m + 1) - at(m)

        def downwards(table):
            at, m = sorted_padded(table), (len(table) + 1) // 2
            return at(m) - at(m - 1)

        assert self.misses(upwards, oracle.median, tables(5)) > 0
        assert self.misses(downwards, oracle.median, tables(5)) > 0

    def test_maximum_without_the_end_of_the_domain(self):
        def ignores_domain(table):
            at = sorted_padded(table)
            return at(len(table)) - at(len(table) - 1)

        assert self.misses(ignores_domain, oracle.maximum, tables(5)) > 0

    def test_variance_with_ends_of_the_domain_only(self):
        def ends_only(table):
            return oracle.local_by_trying(oracle.variance, table, BOUNDS)

        wrong = sum(local("variance", t, bounds=BOUNDS) != ends_only(t) for t in tables(3))
        assert wrong > 0

    def test_variance_of_the_extreme_rows_only(self):
        def extremes_only(table):
            here = oracle.variance(table)
            return max(
                abs(oracle.variance((*rest, v)) - here)
                for rest in (table[1:], table[:-1])
                for v in TWELFTHS
            )

        wrong = sum(local("variance", t, bounds=BOUNDS) != extremes_only(t) for t in tables(5))
        assert wrong > 0


class TestVarianceOfManyRows:
    def test_equals_the_maximum_over_every_record(self):
        chance = random.Random(5)
        for _ in range(200):
            table = [chance.randrange(-50, 51) for _ in range(chance.randrange(2, 30))]
            n, total, best = len(table), sum(table), Fraction(0)
            for x in table:
                centre = Fraction(total - x, n - 1)
                spread = (x - centre) ** 2
                up = max((v - centre) ** 2 for v in (-60, 60)) - spread
                best = max(best, Fraction(n - 1, n * n) * max(up, spread))
            assert local("variance", table, bounds=(-60, 60)) == best

    def test_one_row_has_no_variance_to_move(self):
        assert local("variance", [3], bounds=BOUNDS) == 0


class TestMode:
    NAMES = ("a", "b", "c")

    def winner(self, rows):
        return max(self.NAMES, key=lambda name: (rows.count(name), -self.NAMES.index(name)))

    def test_every_small_table(self):
        for n in range(1, 7):
            for rows in combinations_with_replacement(self.NAMES, n):
                changed = any(
                    self.winner(other) != self.winner(rows)
                    for other in oracle.neighbours(rows, self.NAMES)
                )
                assert local("mode", rows, categories=self.NAMES) == changed

    def test_ties_decide(self):
        # two votes ahead of a later name is safe, two ahead of an earlier name is not
        assert local("mode", ["a", "a"], categories=["a", "b"]) == 0
        assert local("mode", ["b", "b"], categories=["a", "b"]) == 1

    def test_one_category_never_changes(self):
        assert local("mode", ["a", "a"], categories=["a"]) == 0

    @pytest.mark.parametrize("rows", [[], ["d"], ["a", None], [["a"]], "abc", 3])
    def test_rows_outside_the_categories_are_refused(self, rows):
        with pytest.raises(InvalidTable) as refusal:
            local("mode", rows, categories=self.NAMES)
        assert "'d'" not in str(refusal.value)

    @pytest.mark.parametrize("names", [[], ["a", "a"], [["a"]]])
    def test_bad_categories_are_refused(self, names):
        with pytest.raises(InvalidArgument):
            local("mode", ["a"], categories=names)

    def test_numpy_text_is_counted(self):
        assert local("mode", np.array(["a", "b", "b", "b"]), categories=self.NAMES) == 1
        assert local("mode", np.array(["a", "b", "b", "b", "b"]), categories=self.NAMES) == 0


class TestNumbers:
    def test_results_are_exact_fractions(self):
        result = local("mean", [0.1, 0.2, 0.3], bounds=(0, 1))
        assert type(result) is Fraction
        assert result == Fraction(3, 10)

    @pytest.mark.parametrize("statistic", ["median", "max", "mean", "sum", "variance"])
    def test_containers_agree(self, statistic):
        rows = [3, 7, 1, 250, 9, 9]
        wanted = local(statistic, rows, bounds=(0, 255))
        for dtype in (np.uint8, np.int16, np.int64, np.uint64, np.float32, np.float64, object):
            assert local(statistic, np.array(rows, dtype=dtype), bounds=(0, 255)) == wanted

    @pytest.mark.parametrize("statistic", ["median", "max", "mean", "sum", "variance"])
    @pytest.mark.parametrize("size", [2**61, 2**62, 2**63 - 1, 10**40])
    def test_large_integers_do_not_overflow(self, statistic, size):
        rows, bounds = [-size, size - 1, 3, size - 7], (-size, size)
        small = {-size: 0, size: 1}  # the same table, as fractions of the domain
        scaled = [Fraction(x + size, 2 * size) for x in rows]
        expected = local(statistic, scaled, bounds=tuple(small.values()))
        power = 2 if statistic == "variance" else 1
        assert local(statistic, rows, bounds=bounds) == expected * (2 * size) ** power
        if size < 2**63:
            array = np.array(rows, dtype=np.int64)
            assert local(statistic, array, bounds=bounds) == expected * (2 * size) ** power

    def test_sum_of_many_large_rows_does_not_wrap(self):
        rows = np.full(64, 2**60, dtype=np.int64)
        moved = local("variance", rows, bounds=(0, 2**60))
        assert moved == Fraction(63, 64**2) * 2**120

    def test_rows_outside_the_bounds_are_clamped(self):
        assert local("sum", [-100, 5, 900], bounds=BOUNDS) == 4
        assert local("max", [1.5, float("inf"), float("-inf")], bounds=BOUNDS) == Fraction(5, 2)

    def test_order_of_rows_does_not_matter(self):
        for table in product(DOMAIN, repeat=3):
            for statistic in ("median", "variance", "second-max"):
                assert local(statistic, table, bounds=BOUNDS) == local(
                    statistic, sorted(table), bounds=BOUNDS
                )


class TestRefusals:
    @pytest.mark.parametrize(
        ("statistic", "given"),
        [
            ("medain", {"bounds": BOUNDS}),
            (3, {"bounds": BOUNDS}),
            ("median", {}),
            ("median", {"bounds": BOUNDS, "k": 1}),
            ("kth-largest", {"bounds": BOUNDS}),
            ("kth-largest", {"bounds": BOUNDS, "k": 4}),
            ("kth-largest", {"bounds": BOUNDS, "k": 0}),
            ("kth-largest", {"bounds": BOUNDS, "k": 1.5}),
            ("quantile", {"bounds": BOUNDS, "q": 95}),
            ("range-count", {"bounds": BOUNDS, "low": 1}),
            ("range-count", {"bounds": BOUNDS, "low": 3, "high": 1}),
            ("mean", {"bounds": (4, 0)}),
            ("mean", {"bounds": 4}),
            ("mean", {"bounds": (0, float("inf"))}),
            ("mean", {"bounds": BOUNDS, "ridge": 1}),
            ("mode", {"bounds": BOUNDS, "categories": ["a"]}),
            ("mean", {"bound": BOUNDS}),
        ],
    )
    def test_bad_parameters(self, statistic, given):
        with pytest.raises(InvalidArgument):
            local(statistic, [1, 2, 3], **given)

    def test_second_max_needs_two_rows(self):
        with pytest.raises(InvalidArgument):
            local("second-max", [1], bounds=BOUNDS)

    def test_a_near_name_is_suggested(self):
        with pytest.raises(InvalidArgument, match="median"):
            local("medain", [1], bounds=BOUNDS)
