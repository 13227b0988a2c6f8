"""The most that one record can move the correlation or the slope of two columns.

Take a record out: the n - 1 others have means, sums of squares A, C about their means and a sum of
products B. Put it back at distance (p, q) from those means, with w = (n-1)/n:

    slope = (B + w·p·q) / (A + w·p²)        correlation = (B + w·p·q) / √((A + w·p²)(C + w·q²))

Both are to be maximised and minimised over a rectangle that holds (0, 0), for each record.

* Slope. It is linear in q, so q is at an end. There the derivative in p vanishes where
  w·q·p² + 2·B·p - q·A = 0: one root on either side of p = 0, where the slope is
  (B ± √(B² + A·w·q²)) / 2A. A root counts only if it lies in the rectangle. (q = 0 at an end
  means that all the others lie at that end: then B = 0, and the slope on that edge is 0.)
* Correlation. The gradient vanishes inside only at (0, 0), a saddle, or, if the others lie on one
  line, along that line, which leaves the rectangle through an edge. So extremes lie on the edges.
  On an edge of fixed q the derivative vanishes at p = q·A/B alone, where the squared correlation is
  (B² + A·w·q²) / (A·(C + w·q²)). Edges of fixed p are alike. If B = 0 no such point exists (with
  A = 0 only the sign of p matters, and the correlation is monotone in q): corners are enough.

Corners are therefore not enough. Everything below is in whole numbers, each sum multiplied by the
number of rows it is about; only the final roots are rounded, upwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

from ..errors import refuse
from .column import Column

_BITS = 60
"""A rounded result exceeds the exact one by a 2**-60 part at most."""

Ratio = tuple[int, int]
"""A numerator and a denominator above 0, not reduced."""


class _Others(NamedTuple):
    """The table without one record, and where that record may go; all of it times n - 1."""

    a: int
    b: int
    c: int
    p: tuple[int, int]
    q: tuple[int, int]


class _Table:
    def __init__(self, x: Column, y: Column) -> None:
        if x.rows < 2:
            raise refuse("sensitivity.single-row")
        self.x, self.y, self.n = x, y, x.rows
        self.pairs = list(zip(x.steps.tolist(), y.steps.tolist(), strict=True))
        self.sum_x, self.sum_y = x.total(), y.total()
        self.sum_xx = sum(u * u for u, _ in self.pairs)
        self.sum_xy = sum(u * v for u, v in self.pairs)
        self.sum_yy = sum(v * v for _, v in self.pairs)

    def moments(self) -> tuple[int, int, int]:
        """n times the sums of squares and of products about the means: xx, xy, yy."""
        return (
            self.n * self.sum_xx - self.sum_x**2,
            self.n * self.sum_xy - self.sum_x * self.sum_y,
            self.n * self.sum_yy - self.sum_y**2,
        )

    def without_each(self) -> Iterator[_Others]:
        m = self.n - 1
        for u, v in set(self.pairs):
            rest_x, rest_y = self.sum_x - u, self.sum_y - v
            yield _Others(
                a=m * (self.sum_xx - u * u) - rest_x * rest_x,
                b=m * (self.sum_xy - u * v) - rest_x * rest_y,
                c=m * (self.sum_yy - v * v) - rest_y * rest_y,
                p=(m * self.x.low - rest_x, m * self.x.high - rest_x),
                q=(m * self.y.low - rest_y, m * self.y.high - rest_y),
            )


def slope(x: Column, y: Column, ridge: Fraction) -> Fraction:
    """The local sensitivity of the slope of y on x, rounded up where it is irrational."""
    table = _Table(x, y)
    if ridge < 0:
        raise refuse("sensitivity.negative-ridge")
    # A + ridge stays whole when multiplied by the denominator of the ridge
    weight = ridge / x.step**2
    extra, parts = weight.numerator, weight.denominator
    tables = [
        others._replace(a=parts * others.a + (table.n - 1) * extra)
        for others in table.without_each()
    ]
    if any(others.a == 0 for others in tables):
        raise refuse("sensitivity.slope-sensitivity-infinite")
    xx, xy, _ = table.moments()
    actual = Fraction(parts * xy, parts * xx + table.n * extra)
    bits = 2 * _BITS
    while True:
        reached = _ends(c for others in tables for c in _slopes(others, table.n, parts, bits))
        widest = max(abs(Fraction(*end) - actual) for end in reached)
        # each root was rounded by less than 2**-bits
        if widest == 0 or widest >= Fraction(1, 1 << (bits - _BITS)):
            return widest * y.step / x.step
        bits *= 2


def _slopes(others: _Others, n: int, parts: int, bits: int) -> Iterator[Ratio]:
    """The slopes among which the extremes are, roots rounded outwards to 2**-bits."""
    a, b = others.a, others.b
    for q in others.q:
        for p in others.p:
            yield parts * (n * b + p * q), n * a + parts * p * p
            if p and q and q * (parts * p * (q * p + 2 * n * b) - q * n * a) >= 0:
                side = 1 if (p > 0) == (q > 0) else -1
                root = _root_up((parts * n * b) ** 2 + n * a * parts * q * q, bits)
                yield (parts * n * b << bits) + side * root, 2 * n * a << bits


def correlation(x: Column, y: Column) -> Fraction:
    """The local sensitivity of the correlation, rounded up where it is irrational."""
    table = _Table(x, y)
    lowest, highest = _ends(
        c for others in table.without_each() for c in _signed_squares(others, table.n)
    )
    xx, xy, yy = table.moments()
    actual = _signed_square(xy, xx, yy)
    bits = 2 * _BITS
    while True:
        above = _root_difference(highest, actual, bits)
        below = _root_difference(actual, lowest, bits)
        widest = max(above, below)
        if widest == 0 or widest >= Fraction(1, 1 << (bits - _BITS - 1)):
            return widest
        bits *= 2


def _signed_squares(others: _Others, n: int) -> Iterator[Ratio]:
    """The correlations among which the extremes are, squared but with their sign."""
    a, b, c = others.a, others.b, others.c
    for q in others.q:
        for p in others.p:
            yield _signed_square(n * b + p * q, n * a + p * p, n * c + q * q)
    if b == 0:
        return
    sign = 1 if b > 0 else -1
    for q in others.q:
        if _between(others.p, q * a, b):
            yield sign * (n * b * b + a * q * q), a * (n * c + q * q)
    for p in others.p:
        if _between(others.q, p * c, b):
            yield sign * (n * b * b + c * p * p), c * (n * a + p * p)


def _signed_square(xy: int, xx: int, yy: int) -> Ratio:
    # the correlation with a constant column is 0 by definition
    return (xy * abs(xy), xx * yy) if xx * yy else (0, 1)


def _between(ends: tuple[int, int], numerator: int, denominator: int) -> bool:
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    return ends[0] * denominator <= numerator <= ends[1] * denominator


def _ends(candidates: Iterable[Ratio]) -> tuple[Ratio, Ratio]:
    """The least and the greatest ratio."""
    walk = iter(candidates)
    least = greatest = next(walk)
    for ratio in walk:
        if ratio[0] * greatest[1] > greatest[0] * ratio[1]:
            greatest = ratio
        elif ratio[0] * least[1] < least[0] * ratio[1]:
            least = ratio
    return least, greatest


def _root_difference(larger: Ratio, smaller: Ratio, bits: int) -> Fraction:
    """√larger - √smaller (roots keep the sign), rounded up by at most 2 · 2**-bits."""
    if larger[0] * smaller[1] == smaller[0] * larger[1]:
        return Fraction(0)
    return _signed_root(larger, bits) + _signed_root((-smaller[0], smaller[1]), bits)


def _signed_root(ratio: Ratio, bits: int) -> Fraction:
    """The root of |ratio| with the sign of ratio, rounded up; exact if it is rational."""
    square = abs(Fraction(*ratio))
    over, under = square.numerator * square.denominator, square.denominator
    if ratio[0] < 0:
        return Fraction(-math.isqrt(over << 2 * bits), under << bits)
    return Fraction(_root_up(over, bits), under << bits)


def _root_up(square: int, bits: int) -> int:
    """2**bits times the root, rounded up."""
    scaled = square << 2 * bits
    root = math.isqrt(scaled)
    return root + (root * root != scaled)
