"""Squares and products of one or two columns, as whole numbers that one row moves by a fixed sum.

With m = x − low and M = high − low in grid steps, (M−m)², 2m(M−m) and m² are never negative and
add up to M² for every x: a row moves their sums over all rows by M² in all, an L1 budget of which
nothing is wasted. They are the Bernstein polynomials of degree 2; degree 1 gives the pair of
the mean, and products of two columns' polynomials do the same for covariance and correlation.
Count, sums, squares and products are linear in them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

Powers = tuple[int, ...]
"""For each axis, to which power it stands in a moment."""


@dataclass(frozen=True)
class Axis:
    """A column in grid steps: its lowest value and its width."""

    column: str
    low: int
    width: int


class HasMoments(Protocol):
    """A cell that knows its moments."""

    @property
    def moments(self) -> Mapping[tuple[Axis, ...], Mapping[Powers, int]]: ...


@dataclass(frozen=True)
class Bernstein:
    """Σ over rows of Π C(d, i)·m^i·(M−m)^(d−i), one factor an axis: a component to protect."""

    axes: tuple[Axis, ...]
    degree: int
    index: Powers

    kind = "moment"

    @property
    def column(self) -> str:
        """The columns, as a certificate names them."""
        return " and ".join(axis.column for axis in self.axes)

    def weights(self) -> dict[Powers, int]:
        """How it is made of moments Σ Π m^power."""
        sides = [
            _expanded(a.width, self.degree, i) for a, i in zip(self.axes, self.index, strict=True)
        ]
        return {
            powers: math.prod(side[p] for side, p in zip(sides, powers, strict=True))
            for powers in powers_of(len(self.axes), self.degree)
        }

    def of_moments(self, moments: Mapping[Powers, int]) -> int:
        """Its value, given the moments of its axes."""
        return sum(weight * moments[powers] for powers, weight in self.weights().items())

    def of(self, atoms: HasMoments) -> int:
        """Its value in a cell."""
        return self.of_moments(atoms.moments[self.axes])


def powers_of(axes: int, degree: int) -> list[Powers]:
    """All powers up to the degree."""
    return list(itertools.product(range(degree + 1), repeat=axes))


def basis(axes: Sequence[Axis], degree: int) -> tuple[Bernstein, ...]:
    """The components: one row moves all of them together by Π M^degree in all."""
    return tuple(Bernstein(tuple(axes), degree, i) for i in powers_of(len(axes), degree))


def functional(axes: Sequence[Axis], degree: int, powers: Powers) -> list[Fraction]:
    """The weights of the components, in the order of `basis`, that add up to Σ Π m^power.

    m^p = M^p · Σ_i C(i, p)/C(d, p) · B_i / M^d.

    Example
        >>> functional([Axis("x", 0, 10)], 2, (2,))
        [Fraction(0, 1), Fraction(0, 1), Fraction(1, 1)]
    """
    return [
        math.prod(
            (
                Fraction(math.comb(i, p), math.comb(degree, p)) * Fraction(a.width) ** (p - degree)
                for a, i, p in zip(axes, index, powers, strict=True)
            ),
            start=Fraction(1),
        )
        for index in powers_of(len(axes), degree)
    ]


def _expanded(width: int, degree: int, i: int) -> list[int]:
    """C(d, i)·m^i·(M−m)^(d−i) in powers of m."""
    rest = degree - i
    coefficients = [0] * (degree + 1)
    for k in range(rest + 1):
        coefficients[i + k] = (
            math.comb(degree, i) * math.comb(rest, k) * (-1) ** k * width ** (rest - k)
        )
    return coefficients
