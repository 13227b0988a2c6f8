"""The posterior of a number, given a noisy answer."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..arguments import Number, exact, fraction_of_one
from ..noise.law import Real, as_value
from ..text import html_facts

Ints = npt.NDArray[np.int64]

_ROUNDING = 1e-12


class Posterior:
    """A distribution over numbers: each possible truth with its probability.

    Guarantee
        Computed from released numbers and public facts only: post-processing. Only as good as the
        prior.

    Attributes
        mean: minimises the expected squared error.
        median: minimises the expected absolute error.
        mode: the most likely number.
        variance, mean_absolute_error: of the truth around mean and median.
    """

    def __init__(self, steps: Ints, log_weights: Real, unit: Fraction) -> None:
        with np.errstate(under="ignore"):
            weights = np.exp(log_weights - log_weights.max())
            self._masses: Real = weights / weights.sum()
        self._steps = steps
        self._unit = unit

    @property
    def values(self) -> Real:
        """The numbers of more than negligible probability, ascending."""
        return np.asarray(self._steps * float(self._unit))

    @property
    def masses(self) -> Real:
        """Their probabilities."""
        return self._masses.copy()

    @cached_property
    def _sums(self) -> Real:
        sums = np.cumsum(self._masses)
        sums[-1] = 1.0
        return np.asarray(sums)

    @cached_property
    def mean(self) -> float:
        base = int(self._steps[int(np.argmax(self._masses))])
        return (base + float(self._masses @ (self._steps - base))) * float(self._unit)

    @cached_property
    def variance(self) -> float:
        away = self._steps - self.mean / float(self._unit)
        return float(self._masses @ away**2) * float(self._unit) ** 2

    @property
    def median(self) -> float | int:
        return self._value(int(np.searchsorted(self._sums, 0.5 - _ROUNDING)))

    @property
    def mean_absolute_error(self) -> float:
        middle = self._steps[int(np.searchsorted(self._sums, 0.5 - _ROUNDING))]
        return float(self._masses @ np.abs(self._steps - middle)) * float(self._unit)

    @property
    def mode(self) -> float | int:
        return self._value(int(np.argmax(self._masses)))

    def _value(self, index: int) -> float | int:
        return as_value(int(self._steps[index]), self._unit)

    def interval(self, level: Number) -> tuple[float | int, float | int]:
        """The shortest interval that holds the truth with probability at least `level`."""
        wanted = float(fraction_of_one(level, "level"))
        before = self._sums - self._masses
        ends = np.searchsorted(self._sums, before + wanted - _ROUNDING)
        starts = np.flatnonzero(ends < self._steps.size)
        ends = ends[starts]
        widths = self._steps[ends] - self._steps[starts]
        masses = self._sums[ends] - before[starts]
        best = int(np.lexsort((-masses, widths))[0])
        return self._value(int(starts[best])), self._value(int(ends[best]))

    def mass(self, k: Number) -> float:
        """The probability that the truth is exactly k."""
        step = exact(k, "k") / self._unit
        if step.denominator != 1 or not self._steps[0] <= step <= self._steps[-1]:
            return 0.0
        index = int(np.searchsorted(self._steps, int(step)))
        return float(self._masses[index]) if self._steps[index] == int(step) else 0.0

    def probability(self, low: Number, high: Number) -> float:
        """The probability that the truth lies between `low` and `high`, ends included."""
        first, last = exact(low, "low") / self._unit, exact(high, "high") / self._unit
        start = int(np.searchsorted(self._steps, float(first), side="left"))
        end = int(np.searchsorted(self._steps, float(last), side="right"))
        return float(self._masses[start:end].sum()) if end > start else 0.0

    def __repr__(self) -> str:
        low, high = self.interval(Fraction(95, 100))
        return f"Posterior(mean={self.mean:.6g}, median={self.median:g}, 95 %: {low:g} to {high:g})"

    def _repr_html_(self) -> str:
        low, high = self.interval(Fraction(95, 100))
        facts = (
            ("mean", f"{self.mean:,.6g}"),
            ("median", f"{self.median:,.6g}"),
            ("most likely", f"{self.mode:,.6g}"),
            ("95 % between", f"{low:,.6g} and {high:,.6g}"),
        )
        return f"<table><tbody>{html_facts(facts)}</tbody></table>"
