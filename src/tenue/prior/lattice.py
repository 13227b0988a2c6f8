"""A family of beliefs on the whole multiples of a step, as logarithms, for very many points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Real = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Lattice:
    """Masses of the steps `first` … `last`, known up to a common factor.

    For estimation, not for release: logarithms are doubles.

    Attributes
        log_weight: the logarithm of one mass.
        log_weights: the logarithms of consecutive masses, ends included, relative to each other.
        concave: whether the logarithms are concave, so that a window around the peak is enough.
        log_rise: where concave, log of mass(k+1) / mass(k).
        near: where not concave but known piece by piece, the first and last step at which
            log-mass − rate·|k − middle| is within so many e-folds of its largest value.
    """

    first: int
    last: int
    log_weight: Callable[[int], float]
    log_weights: Callable[[int, int], Real]
    concave: bool
    log_rise: Callable[[Real], Real] | None = None
    near: Callable[[float, float, float], tuple[int, int]] | None = None

    @classmethod
    def by_rise(
        cls,
        first: int,
        last: int,
        log_weight: Callable[[int], float],
        log_rise: Callable[[Real], Real],
        concave: bool = True,
    ) -> Lattice:
        """The masses from the rises between neighbours: no large numbers ever cancel."""

        def log_weights(low: int, high: int) -> Real:
            rises = log_rise(np.arange(low, high, dtype=np.float64))
            return np.concatenate([[0.0], np.cumsum(rises)])

        return cls(first, last, log_weight, log_weights, concave, log_rise)
