"""Prices of a strategy's levels: the least mean error, with no answer worse than it may be.

Floats choose here; what they choose is rounded down to whole prices and proved afterwards.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .runs import Reals

Errors = Callable[[Reals], tuple[Reals, Callable[[Reals], Reals]]]
"""Given the prices of levels: the error of each answer relative to what it may be, and for weights
of answers the gradient of their weighted error in the prices."""

_RATE = 0.1
_KEEP, _KEEP_SQUARES = 0.9, 0.99
_FORBIDDEN = 1e3
_SPARE = 0.997


def descend(
    errors: Errors, prices: Reals, means: Reals, steps: int, *, bounded: bool
) -> tuple[float, Reals]:
    """The best prices found, which add up to 1, and their mean error.

    Parameters
        prices: where to start; all above 0.
        means: the weights of answers in the mean.
        bounded: whether an error above 1 is forbidden to every answer.
    """
    z = np.log(prices)
    moment, squares = np.zeros_like(z), np.zeros_like(z)
    best, chosen = np.inf, prices
    for step in range(1, steps + 1):
        e = np.exp(z - z.max())
        p = e / e.sum()
        found, gradient = errors(p)
        over = np.maximum(found - _SPARE, 0) if bounded else np.zeros_like(found)
        value = float(means @ found + _FORBIDDEN * (over**2).sum())
        if value < best:
            best, chosen = value, p
        slope = gradient(means + 2 * _FORBIDDEN * over)
        slope = p * (slope - p @ slope) / value
        moment = _KEEP * moment + (1 - _KEEP) * slope
        squares = _KEEP_SQUARES * squares + (1 - _KEEP_SQUARES) * slope**2
        size = np.sqrt(squares / (1 - _KEEP_SQUARES**step)) + 1e-12
        z = z - _RATE * (moment / (1 - _KEEP**step)) / size
    return best, chosen
