"""Laws of noise as likelihoods for Bayes' rule; each law registers in its own file."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

from .law import GridLaw, Real


@dataclass(frozen=True)
class Likelihood:
    """The logarithm of a law, up to a constant.

    Attributes
        log: of distances, in units of `unit`.
        rate: how fast it falls for each unit, in the long run.
        slack: how far it may be from −rate·distance, up to a constant.
        unit: the law's grid, or 1 for a density.
        exact: whether the law lives on its grid.
        mass: the probability of whole steps, where the law tells it.
    """

    log: Callable[[Real], Real]
    rate: float
    slack: float
    unit: Fraction
    exact: bool
    mass: Callable[[Any], Any] | None = None

    @property
    def exponential(self) -> bool:
        """Whether it is a density that falls in a straight line."""
        return not self.exact and self.slack == 0


@singledispatch
def likelihood_of(law: object) -> Likelihood | None:
    """The likelihood of the noise of one answer; None if it is not a law that has one."""
    return None


@singledispatch
def scaled_by_rows(law: object) -> bool:
    """Whether the scale of the law is a fact about the rows, so that using it would reveal it."""
    return False


@singledispatch
def in_units(law: GridLaw, unit: Fraction) -> GridLaw:
    """The law of `unit` times the noise."""
    other = copy.copy(law)
    other.grid = law.grid * unit
    return other
