"""How far one record of *this* table can move an answer."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidTable, NotPromised
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


class TestLocalRefusals:
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


# Slope and correlation: no point of a fine mesh beats the formula, and some point meets it.

BOX = ((0, 4), (-3, 3))


def slope_of(x, y, ridge=0.0):
    dx, dy = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    return (dx * dy).sum(axis=-1) / ((dx * dx).sum(axis=-1) + ridge)


def correlation_of(x, y):
    dx, dy = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    spread = np.sqrt((dx * dx).sum(axis=-1) * (dy * dy).sum(axis=-1))
    flat = spread < 1e-9
    return np.where(flat, 0.0, (dx * dy).sum(axis=-1) / np.where(flat, 1.0, spread))


def by_mesh(statistic, rows, bounds, points):
    """The largest move over a mesh of the rectangle, edges included, for every record."""
    (x_low, x_high), (y_low, y_high) = bounds
    u, v = np.meshgrid(
        np.linspace(float(x_low), float(x_high), points),
        np.linspace(float(y_low), float(y_high), points),
    )
    x, y = np.array(rows, dtype=float).T
    here, widest = statistic(x, y), 0.0
    for i in range(len(rows)):
        xs = np.repeat(x[None, :], u.size, axis=0)
        ys = np.repeat(y[None, :], v.size, axis=0)
        xs[:, i], ys[:, i] = u.ravel(), v.ravel()
        widest = max(widest, float(np.abs(statistic(xs, ys) - here).max()))
    return widest


def random_rows(chance, n, bounds=BOX):
    return [tuple(chance.randint(low, high) for low, high in bounds) for _ in range(n)]


def by_corners(statistic, rows, bounds=BOX):
    return by_mesh(statistic, rows, bounds, 2)


class TestCorrelation:
    def test_every_table_of_three_points_on_a_small_square(self):
        square = list(product(range(3), repeat=2))
        for rows in combinations_with_replacement(square, 3):
            exact = float(local("correlation", rows, bounds=((0, 2), (0, 2))))
            tried = by_mesh(correlation_of, rows, ((0, 2), (0, 2)), 41)
            assert tried <= exact + 1e-9
            assert exact <= tried + 0.02

    def test_random_tables(self):
        chance = random.Random(3)
        for _ in range(60):
            rows = random_rows(chance, chance.randrange(2, 9))
            exact = float(local("correlation", rows, bounds=BOX))
            tried = by_mesh(correlation_of, rows, BOX, 121)
            assert tried - 1e-9 <= exact <= tried + 2e-3

    def test_corners_alone_are_too_small(self):
        chance = random.Random(4)
        tables = [random_rows(chance, 6) for _ in range(60)]
        short = sum(
            by_corners(correlation_of, rows) < float(local("correlation", rows, bounds=BOX)) - 1e-6
            for rows in tables
        )
        assert short > 0

    def test_points_on_a_line(self):
        rows = [(0, 0), (1, 1), (2, 2)]
        # r = 1; the worst change moves an outer point across: found by the mesh
        exact = float(local("correlation", rows, bounds=((0, 2), (0, 2))))
        assert exact == pytest.approx(
            by_mesh(correlation_of, rows, ((0, 2), (0, 2)), 201), abs=1e-3
        )

    def test_a_constant_column_counts_as_no_correlation(self):
        # one moved record makes two distinct points, which are perfectly correlated
        assert local("correlation", [(1, 1), (1, 1), (1, 1)], bounds=((0, 2), (0, 2))) == 1
        assert local("correlation", [(1, 1), (1, 2)], bounds=((1, 1), (0, 2))) == 0

    def test_two_points_can_turn_around(self):
        assert local("correlation", [(1, 1), (2, 2)], bounds=((0, 2), (0, 2))) == 2

    def test_units_do_not_matter(self):
        rows = [(1, 2), (3, 3), (2, 0), (4, 1)]
        scaled = [(Fraction(x, 7), y * 10**30) for x, y in rows]
        assert local("correlation", rows, bounds=((0, 4), (0, 3))) == local(
            "correlation", scaled, bounds=((0, Fraction(4, 7)), (0, 3 * 10**30))
        )


class TestSlope:
    def test_random_tables(self):
        chance = random.Random(8)
        checked = 0
        while checked < 60:
            rows = random_rows(chance, chance.randrange(4, 9))
            xs = sorted(x for x, _ in rows)
            if xs[0] == xs[-2] or xs[1] == xs[-1]:
                continue
            checked += 1
            exact = float(local("slope", rows, bounds=BOX))
            tried = by_mesh(slope_of, rows, BOX, 161)
            assert tried - 1e-9 <= exact <= tried * 1.003 + 1e-9

    @pytest.mark.parametrize("ridge", ["0.5", 2, "1/3"])
    def test_with_a_ridge_every_table_has_one(self, ridge):
        def ridged(x, y):
            return slope_of(x, y, float(Fraction(ridge)))

        chance = random.Random(9)
        tables = [random_rows(chance, chance.randrange(2, 6)) for _ in range(40)]
        for rows in [*tables, [(1, 1), (1, 2)], [(2, 0), (2, 3), (2, -1), (0, 0)]]:
            exact = float(local("slope", rows, bounds=BOX, ridge=ridge))
            tried = by_mesh(ridged, rows, BOX, 161)
            assert tried - 1e-9 <= exact <= tried * 1.003 + 1e-9

    def test_corners_alone_are_too_small(self):
        chance = random.Random(10)
        tables = [random_rows(chance, 5) for _ in range(60)]

        def ridged(x, y):
            return slope_of(x, y, 1.0)

        short = sum(
            by_corners(ridged, rows) < float(local("slope", rows, bounds=BOX, ridge=1)) - 1e-6
            for rows in tables
        )
        assert short > 0

    def test_a_maximum_at_a_corner_is_exact(self):
        def slope_exactly(rows):
            n, (xs, ys) = len(rows), zip(*rows, strict=True)
            products = n * sum(x * y for x, y in rows) - sum(xs) * sum(ys)
            return Fraction(products, n * sum(x * x for x in xs) - sum(xs) ** 2)

        chance, exact = random.Random(12), 0
        for _ in range(200):
            rows = random_rows(chance, 7)
            if len({x for x, _ in rows}) < 4:
                continue
            corners = max(
                abs(slope_exactly([*rows[:i], corner, *rows[i + 1 :]]) - slope_exactly(rows))
                for i in range(7)
                for corner in product(*BOX)
            )
            found = local("slope", rows, bounds=BOX)
            assert found >= corners
            exact += found == corners
        assert exact > 20

    def test_an_irrational_maximum_is_rounded_up_by_less_than_a_part_in_2_to_60(self):
        # without (-1, 0): A = 1/2, B = 0, w = 2/3, q = 3, so the steepest is √(A·w·q²)/2A = √3
        found = local("slope", [(-1, 0), (0, 0), (1, 0)], bounds=((-5, 5), (0, 3)))
        assert 3 < found**2 < 3 * (1 + Fraction(1, 2**59))

    def test_scaling_x_or_y_scales_the_slope(self):
        rows = [(1, 2), (3, 3), (2, 0), (4, 1)]
        base = local("slope", rows, bounds=((0, 4), (0, 3)))
        taller = local("slope", [(x, 8 * y) for x, y in rows], bounds=((0, 4), (0, 24)))
        assert base <= taller / 8 * (1 + Fraction(1, 2**59))
        assert taller / 8 <= base * (1 + Fraction(1, 2**59))

    @pytest.mark.parametrize(
        "rows", [[(1, 0), (2, 1)], [(1, 0), (1, 1), (1, 3)], [(1, 0), (1, 1), (3, 3)]]
    )
    def test_unbounded_without_a_ridge(self, rows):
        with pytest.raises(NotPromised):
            local("slope", rows, bounds=BOX)


class TestRefusals:
    @pytest.mark.parametrize("statistic", ["slope", "correlation"])
    @pytest.mark.parametrize("rows", [[1, 2, 3], [(1, 2, 3)], np.zeros((3, 3)), [], [(1, 2)], 5])
    def test_rows_that_are_not_pairs(self, statistic, rows):
        with pytest.raises(InvalidTable):
            local(statistic, rows, bounds=BOX)

    @pytest.mark.parametrize("bounds", [(0, 1), None, ((0, 1),), ((0, 1), (2, 1)), ((0, 1), 3)])
    def test_bounds_that_are_not_two_domains(self, bounds):
        with pytest.raises(InvalidArgument):
            local("slope", [(0, 0), (1, 1), (0, 1)], bounds=bounds)

    def test_a_negative_ridge(self):
        with pytest.raises(InvalidArgument):
            local("slope", [(0, 0), (1, 1), (0, 1)], bounds=BOX, ridge=-1)

    def test_arrays_and_lists_agree(self):
        rows = [(1, 2), (3, 3), (2, 0), (4, 1)]
        for statistic in ("slope", "correlation"):
            assert local(statistic, np.array(rows), bounds=((0, 4), (0, 3))) == local(
                statistic, rows, bounds=((0, 4), (0, 3))
            )
