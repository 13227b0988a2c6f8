"""Curves: close to the function, exact of few values, and within their proven sizes."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest

from tenue.engine.computed_column import Curve, Ratio, Rounded, Steps, curve_terms, sized
from tenue.engine.curve import MOST_PIECES, Function, Shape, finest_step, lines
from tenue.errors import InvalidQuestion

CASES: list[tuple[Function, Fraction, int, int, Fraction]] = [
    ("ln", Fraction(1), 1, 1000, Fraction(1)),
    ("ln", Fraction(1, 100), 1, 10**8, Fraction(1)),
    ("log10", Fraction(3), 5, 2**40, Fraction(1)),
    ("log2", Fraction(1), 1, 90, Fraction(1)),
    ("exp", Fraction(1, 10), -300, 300, Fraction(1)),
    ("exp", Fraction(1, 1000), -(10**6), 9_000, Fraction(1)),
    ("power", Fraction(1), 0, 10**6, Fraction(1, 2)),
    ("power", Fraction(1, 7), 1, 10**5, Fraction(-3, 2)),
    ("power", Fraction(1), 0, 5_000, Fraction(5, 2)),
]
FUNCTIONS = {"ln": math.log, "log10": math.log10, "log2": math.log2, "exp": math.exp}


def value(curve: Curve, ends: tuple[int, int], k: int) -> int:
    """What engines compute, in whole numbers."""
    terms = curve_terms(curve.shape, curve.step, ends)
    first, last, base, slope = next(line for line in terms.lines if line[0] <= k <= line[1])
    assert abs(base) + abs(slope * (max(first, min(k, last)) if terms.near else k)) <= terms.reach
    assert base + slope * k >= 0
    return (base + slope * k >> terms.shift) - terms.up


@pytest.mark.parametrize(("function", "grid", "low", "high", "exponent"), CASES)
def test_a_curve_is_less_than_a_step_from_the_function(
    function: Function, grid: Fraction, low: int, high: int, exponent: Fraction
) -> None:
    shape = Shape(function, grid, exponent)
    step = finest_step(shape, low, high)
    curve, few = Curve(shape, Steps("x"), step), high - low < MOST_PIECES
    ends = sized(curve, lambda leaf: (low, high)).ends
    gap = max(1, (high - low) // 700)
    for k in [*range(low, min(high, low + 60)), *range(low, high, gap), high]:
        x = float(grid * k)
        exact = x ** float(exponent) if function == "power" else FUNCTIONS[function](x)
        found = value(curve, (low, high), k)
        assert abs(found - exact / float(step)) < (0.501 if few else 1)
        assert ends[0] <= found <= ends[1]


@pytest.mark.parametrize(("function", "grid", "low", "high", "exponent"), CASES)
def test_lines_are_few_and_leave_no_gap(
    function: Function, grid: Fraction, low: int, high: int, exponent: Fraction
) -> None:
    shape = Shape(function, grid, exponent)
    _, found = lines(shape, finest_step(shape, low, high), low, high)
    assert len(found) <= MOST_PIECES
    assert (found[0].first, found[-1].last) == (low, high)
    assert all(a.last + 1 == b.first for a, b in pairwise(found))


@pytest.mark.parametrize(
    ("shape", "low", "high"),
    [
        (Shape("ln", Fraction(1)), 0, 9),
        (Shape("exp", Fraction(1)), 0, 70),
        (Shape("power", Fraction(1), Fraction(1, 2)), -1, 9),
        (Shape("power", Fraction(1), Fraction(-1, 2)), 0, 9),
        (Shape("power", Fraction(1), Fraction(99)), 0, 9),
    ],
)
def test_a_curve_without_a_bound_is_refused(shape: Shape, low: int, high: int) -> None:
    assert not shape.fits(low, high)
    with pytest.raises(InvalidQuestion):
        sized(Curve(shape, Steps("x"), Fraction(1)), lambda leaf: (low, high))


@pytest.mark.parametrize("divisor", [1, 2, 3, 4, 10, 15])
@pytest.mark.parametrize("ends", [(0, 40), (-40, 40), (-40, -1)])
def test_rounding_is_half_away_from_0(divisor: int, ends: tuple[int, int]) -> None:
    """Its quotient, computed as an engine does, of every value."""
    node = sized(Rounded(Steps("x"), divisor), lambda leaf: ends)
    quotient, total = node.formula, node.parts[0].formula
    for x in range(ends[0], ends[1] + 1):
        ((weight, _),) = total.terms  # type: ignore[union-attr]
        found = (total.constant + weight * x) // quotient.divisor  # type: ignore[union-attr]
        away = int(Fraction(abs(x), divisor) + Fraction(1, 2))
        assert found == (away if x >= 0 else -away)
        assert node.ends[0] <= found <= node.ends[1]


def test_a_ratio_needs_a_divisor_above_0() -> None:
    ratio = Ratio(Steps("x"), Steps("y"), 1, 1, Fraction(1))
    with pytest.raises(InvalidQuestion):
        sized(ratio, lambda leaf: (0, 9))
    assert sized(ratio, lambda leaf: (1, 9)).ends == (0, 9)
