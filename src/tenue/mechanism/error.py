"""How far a number computed from noisy components may be off, without looking at rows."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Protocol

from ..frozen import dataclass
from ..noise.laplace_sum import LaplaceSum
from .part import Part


@dataclass(frozen=True)
class Term:
    """A component of a part, times a weight."""

    part: int
    component: int
    weight: Fraction


class Error(Protocol):
    """The law of an error. What is `quick` comes from formulas alone and serves planning."""

    @property
    def variance(self) -> float: ...
    @property
    def mean_absolute_error(self) -> float | None: ...
    def half_width(self, level: Fraction) -> float: ...
    def quick_half_width(self, level: Fraction) -> float: ...
    @property
    def quick_mean_absolute_error(self) -> float | None: ...
    def __hash__(self) -> int: ...


@dataclass(frozen=True)
class Single:
    """One component of one part."""

    part: Part
    component: int
    weight: float

    @cached_property
    def variance(self) -> float:
        return self.weight**2 * self.part.noise.variance(self.component)

    @cached_property
    def mean_absolute_error(self) -> float:
        return self.weight * self.part.noise.mean_absolute_error(self.component)

    @property
    def quick_mean_absolute_error(self) -> float:
        return self.weight * self.part.noise.quick_mean_absolute_error(self.component)

    def half_width(self, level: Fraction) -> float:
        return self.weight * self.part.noise.half_width(self.component, level)

    def quick_half_width(self, level: Fraction) -> float:
        """As `half_width`, from formulas only."""
        return self.weight * self.part.noise.quick_half_width(self.component, level)


@dataclass(frozen=True)
class Nothing:
    """No noise: a constant, or noise that cancels."""

    variance: float = 0.0
    mean_absolute_error: float = 0.0
    quick_mean_absolute_error: float = 0.0

    def half_width(self, level: Fraction) -> float:
        return 0.0

    quick_half_width = half_width


@dataclass(frozen=True)
class Mixture:
    """Terms of different laws, or of one box: each inside its own interval at once.

    The variance is a bound where terms of one box are correlated. The interval covers at least its
    level, for the terms miss theirs with a share of what is allowed each.
    """

    parts: tuple[Single, ...]

    @property
    def variance(self) -> float:
        return sum(math.sqrt(part.variance) for part in self.parts) ** 2

    @property
    def mean_absolute_error(self) -> None:
        return None

    @property
    def quick_mean_absolute_error(self) -> None:
        return None

    def half_width(self, level: Fraction) -> float:
        each = 1 - (1 - level) / len(self.parts)
        return sum(part.half_width(each) for part in self.parts)

    def quick_half_width(self, level: Fraction) -> float:
        each = 1 - (1 - level) / len(self.parts)
        return sum(part.quick_half_width(each) for part in self.parts)


@lru_cache(maxsize=1024)
def half_width(error: Error, level: Fraction) -> float:
    """Half of the interval at `level`, computed once for all cells."""
    return error.half_width(level)


@lru_cache(maxsize=1024)
def linear_error(parts: tuple[Part, ...], terms: tuple[Term, ...]) -> Error:
    """The law of Σ weight·noise over the terms."""
    used = [term for term in terms if term.weight]
    if not used:
        return Nothing()
    if len(used) == 1:
        (term,) = used
        return Single(parts[term.part], term.component, abs(float(term.weight)))
    laws = [(t.weight, parts[t.part].noise.independent(t.component)) for t in used]
    added = LaplaceSum.of(laws)
    if added is not None:
        return added
    return Mixture(tuple(Single(parts[t.part], t.component, abs(float(t.weight))) for t in used))
