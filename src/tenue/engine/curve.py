"""Logarithms, exponentials and powers of whole numbers, as pieces of straight lines.

Floating functions differ between engines in their last bit, and some fail at 0 or overflow. So
none is used: a curve is a table of at most `MOST_PIECES` lines with whole coefficients. It follows
from the function, the grid and the bounds alone, in decimal arithmetic that is the same on every
machine, and every engine evaluates it in exact whole numbers.

Guarantee
    The result differs from the function by less than one step. It is the nearest step where the
    domain has at most `MOST_PIECES` values.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Literal

Function = Literal["ln", "log10", "log2", "exp", "power"]
MOST_PIECES = 128
MOST_RESULTS = 10**9
"""The largest result has at most so many steps."""
LARGEST = 10**30
"""The largest value of a function."""

_EXACT = Context(prec=60, Emax=10**6, Emin=-(10**6))
_LEAN = Context(prec=20, Emax=10**6, Emin=-(10**6))
LARGEST_POWER = 69
"""Of e: about the logarithm of `LARGEST`."""
_TOLERANCE = Decimal("0.25")


@dataclass(frozen=True)
class Line:
    """(base + slope·(k − first)) / 2^shift, rounded down, for whole k from first to last."""

    first: int
    last: int
    base: int
    slope: int


@dataclass(frozen=True)
class Shape:
    """What is computed of x = grid·k: a function, and for a power its exponent."""

    function: Function
    grid: Fraction
    exponent: Fraction = Fraction(1)

    @property
    def least(self) -> Fraction | None:
        """The least x that has a value; None if every x has one."""
        if self.function == "exp":
            return None
        return Fraction(0) if self.function == "power" and self.exponent > 0 else self.grid

    def fits(self, low: int, high: int) -> bool:
        """Whether every k from `low` to `high` has a value, none of them above `LARGEST`."""
        if self.least is not None and self.grid * low < self.least:
            return False
        if self.function == "exp":
            return self.grid * high <= LARGEST_POWER
        if self.function != "power":
            return True
        logs = (_EXACT.ln(self._x(k, _EXACT)) for k in (low, high) if k)
        return all(Fraction(log) * self.exponent <= LARGEST_POWER for log in logs)

    def value(self, k: int) -> Decimal:
        """The value at x = grid·k, to 50 digits."""
        x, e = self._x(k, _EXACT), _EXACT
        if self.function == "exp":
            return e.exp(x)
        if self.function == "log10":
            return e.log10(x)
        if self.function == "power":
            return e.exp(e.multiply(_decimal(self.exponent, e), e.ln(x))) if k else Decimal(0)
        log = e.ln(x)
        return log if self.function == "ln" else e.divide(log, e.ln(Decimal(2)))

    def bend(self, k: int) -> Decimal:
        """The absolute second derivative by k, about; without end at 0."""
        e, x = _LEAN, self._x(k, _LEAN)
        squared = _decimal(self.grid**2, e)
        if self.function == "exp":
            return e.multiply(squared, e.exp(x))
        if not k:
            return Decimal(10) ** 1000
        if self.function != "power":
            return e.divide(squared, e.multiply(x, x))  # at least that of every logarithm to 1.5
        p = self.exponent
        power = e.exp(e.multiply(_decimal(p - 2, e), e.ln(x)))
        return e.multiply(e.multiply(squared, _decimal(abs(p * (p - 1)), e)), power)

    @property
    def bends_more(self) -> bool:
        """Whether the curve bends more, the larger x is."""
        return self.function == "exp" or (self.function == "power" and self.exponent > 2)

    def _x(self, k: int, context: Context) -> Decimal:
        return _decimal(self.grid * k, context)


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def step_of(most: Fraction) -> Fraction:
    """The least power of ten of which `most` has at most `MOST_RESULTS`."""
    power, wanted = 0, abs(most) / MOST_RESULTS
    while Fraction(10) ** power < wanted:
        power += 1
    while wanted and Fraction(10) ** (power - 1) >= wanted:
        power -= 1
    return Fraction(10) ** (power if wanted else -9)


@lru_cache(maxsize=256)
def finest_step(shape: Shape, low: int, high: int) -> Fraction:
    """The least step, of 1, 2 or 5 times a power of ten, for which the lines are few enough."""
    most = max(abs(shape.value(end)) for end in (low, high))
    step, digit = step_of(Fraction(most)), 1
    while _knots(shape, low, high, step * digit) is None:
        step, digit = (step * 10, 1) if digit == 5 else (step, 2 if digit == 1 else 5)
    return step * digit


@lru_cache(maxsize=256)
def lines(shape: Shape, step: Fraction, low: int, high: int) -> tuple[int, tuple[Line, ...]]:
    """The shift, and the lines in order; together they reach from `low` to `high`."""
    knots = _knots(shape, low, high, step) or _even(low, high)
    gaps = [right - left for left, right in pairwise(knots)]
    shift = max(gaps, default=1).bit_length() + 3
    unit = Fraction(2**shift) / step
    exact = [_EXACT.multiply(shape.value(k), _decimal(unit, _EXACT)) for k in knots]
    heights = [int(value.to_integral_value()) for value in exact]
    half, found = 2 ** (shift - 1), list[Line]()
    for i, first in enumerate(knots):
        gap = gaps[i] if i < len(gaps) else 1
        if gap == 1:
            nearest = _EXACT.divide(exact[i], Decimal(2**shift)).to_integral_value()
            height, slope = int(nearest) << shift, 0
        else:
            rise = heights[i + 1] - heights[i]
            height, slope = heights[i], abs(rise) // gap * (1 if rise > 0 else -1)
            # the mean of a chord's error is two thirds of that in its middle: taken away, sums of
            # many different values hardly have any
            middle = shape.value(first + gap // 2)
            truth = int(_EXACT.multiply(middle, _decimal(unit, _EXACT)).to_integral_value())
            height += 2 * (truth - heights[i] - slope * (gap // 2)) // 3
        found.append(Line(first, first + gap - 1, height + half, slope))
    return shift, tuple(found)


def _knots(shape: Shape, low: int, high: int, step: Fraction) -> list[int] | None:
    """The ends of lines that lie close to the curve; None if these are too many.

    A chord of width w is at most bend·w²/8 from the curve.
    """
    if high - low < MOST_PIECES:
        return list(range(low, high + 1))
    room = _LEAN.multiply(_decimal(8 * step, _LEAN), _TOLERANCE)
    at, end, way = (high, low, -1) if shape.bends_more else (low, high, 1)
    knots = [at]
    while at != end:
        bend = shape.bend(at)
        wide = int(_LEAN.sqrt(_LEAN.divide(room, bend))) if bend else abs(end - at)
        at += way * min(max(wide, 1), abs(end - at))
        knots.append(at)
        if len(knots) > MOST_PIECES:
            return None
    return sorted(knots)


def _even(low: int, high: int) -> list[int]:
    """Knots at equal distances, for a step that is too fine for the curve."""
    return sorted({low + (high - low) * i // (MOST_PIECES - 1) for i in range(MOST_PIECES)})
