"""The posterior of a number, given a noisy answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from ..arguments import Number, exact, fraction_of_one
from ..noise.law import Real, as_value
from ..text import html_facts, paragraphs, shortly

Ints = npt.NDArray[np.int64]

_ROUNDING = 1e-12


FAR = 3
"""From so many standard deviations on, prior and noisy answer disagree: noise alone is as far off
once in 70 answers, or more seldom."""


@dataclass(frozen=True)
class Conflict:
    """A prior and a noisy answer that disagree, so that the posterior may be far from the truth.

    prior: the mean of the prior; spread: its standard deviation.
    noisy: the answer without the prior; noise: the standard deviation of its noise.
    """

    prior: float
    spread: float
    noisy: float
    noise: float

    @classmethod
    def between(cls, prior: float, spread: float, noisy: float, noise: float) -> Self | None:
        """The conflict, if the two are `FAR` standard deviations apart or more."""
        found = cls(prior, spread, noisy, noise)
        return found if found.deviations >= FAR else None

    @property
    def deviations(self) -> float:
        """How far they are apart, in standard deviations of both together."""
        both = math.hypot(self.spread, self.noise)
        return abs(self.noisy - self.prior) / both if both else math.inf

    def to_dict(self) -> dict[str, float]:
        named = ("prior", "spread", "noisy", "noise", "deviations")
        return {name: getattr(self, name) for name in named}

    def __str__(self) -> str:
        return (
            f"The prior and the answer disagree: the prior expects {shortly(self.prior)} "
            f"(deviation {shortly(self.spread)}), and the answer without the prior is "
            f"{shortly(self.noisy)} (deviation {shortly(self.noise)}), "
            f"{shortly(self.deviations)} deviations apart. If the prior is wrong, so are the "
            "posterior and its interval: then use the answer without it."
        )


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
        conflict: how prior and noisy answer disagree; None if they do not.
    """

    def __init__(
        self, steps: Ints, log_weights: Real, unit: Fraction, conflict: Conflict | None = None
    ) -> None:
        self.conflict = conflict
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
        text = f"Posterior(mean={self.mean:.6g}, median={self.median:g}, 95 %: {low:g} to {high:g})"
        return text if self.conflict is None else f"{text}\n{self.conflict}"

    def _repr_html_(self) -> str:
        low, high = self.interval(Fraction(95, 100))
        facts = (
            ("mean", f"{self.mean:,.6g}"),
            ("median", f"{self.median:,.6g}"),
            ("most likely", f"{self.mode:,.6g}"),
            ("95 % between", f"{low:,.6g} and {high:,.6g}"),
        )
        table = f"<table><tbody>{html_facts(facts)}</tbody></table>"
        return table if self.conflict is None else table + paragraphs([str(self.conflict)])
