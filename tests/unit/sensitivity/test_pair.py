"""Slope and correlation: no point of a fine mesh beats the formula, and some point meets it."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidTable, NotPromised
from tenue.sensitivity import local

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
