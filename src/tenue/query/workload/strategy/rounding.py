"""How far floats may be off: bounds, computed beside the numbers that they are about.

What is told of an answer rests on two things that floats compute: its value, and its weights on the
noise that was drawn. Both are checked afterwards, whichever way they were found. With the released
numbers y = Ax + e, a question w and the least squares weights w* of exact arithmetic (w*A = w),

    value − w·x = (value − w*·y) + ŵ·e + (w* − ŵ)·e,

for the weights ŵ that floats found. The law of ŵ·e is computed from ŵ; `Estimator.missed` bounds
the first term from the residual of the estimate, which is computed in whole numbers, and
`Estimator.doubts` bounds |w* − ŵ|, number by number, from what ŵA leaves of w.

Every bound is a sum of numbers that are not negative. With n operations in a row a float is off by
at most n·2⁻⁵³/(1 − n·2⁻⁵³) in parts of the sizes of what was added (Higham 2002, section 3.1); one
part in a hundred more covers the rounding of the bound itself, for any n below 2⁴⁰.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .runs import Reals

UNIT = 2.0**-53
SPARE = 1.01
PLACES = 40
"""Residuals are those of estimates in whole multiples of 2⁻⁴⁰."""


def relative(operations: int) -> float:
    """How far so many operations in a row may be off, in parts of the sizes of what was added."""
    return SPARE * operations * UNIT


def whole(values: Reals) -> list[int]:
    """Floats in whole multiples of 2⁻⁴⁰: each off by half of one at most."""
    return [int(value) for value in np.rint(np.ldexp(values, PLACES))]


def residuals(released: Sequence[int], told: Sequence[int]) -> Reals:
    """What was released less what an estimate in multiples of 2⁻⁴⁰ makes of it.

    The difference is exact, and rounded once.
    """
    pairs = zip(released, told, strict=True)
    left = np.array([float((y << PLACES) - t) for y, t in pairs])
    return np.asarray(np.ldexp(left, -PLACES))


def length(values: Reals) -> float:
    """At least the Euclidean norm."""
    return SPARE * float(np.sqrt(values @ values))
