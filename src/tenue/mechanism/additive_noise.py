"""Noise for whole numbers of a cell, calibrated together; and the error of what follows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal, Protocol

from ..noise.joint import Joint, joint
from ..noise.laplace_sum import LaplaceSum
from ..noise.source import SYSTEM, Source, require_safe
from .moment_basis import Axis, Bernstein, Powers


@dataclass(frozen=True)
class Atoms:
    """The true whole numbers of one cell: rows, and for each column how many and their sum.

    moments: for some columns together, the sums of products of their powers.
    units: how many different units.
    unit_totals: for each column and ends, the sum of units' own sums, each cut to the ends.
    """

    rows: int
    present: Mapping[str, int]
    total: Mapping[str, int]
    moments: Mapping[tuple[Axis, ...], Mapping[Powers, int]] = field(default_factory=dict)
    units: int = 0
    unit_totals: Mapping[tuple[str, int, int], int] = field(default_factory=dict)


@dataclass(frozen=True)
class Component:
    """One whole number that a mechanism protects.

    rows, present, absent: how many rows; with the column; without it.
    total: the sum of the column in grid steps; minus-total its negative.
    above, below: Σ(high − x) and Σ(x − low) in grid steps, both never negative; together they hold
        count and sum, and one row moves them by high − low in all.
    minus-below: the negative of `below`.
    units: how many different units.
    distinct: how many different values of the column, which is counted apart.
    unit-total: the sum of units' own sums of the column, each cut to `low` and `high`;
        minus-unit-total its negative.
    """

    kind: Literal[
        "rows",
        "present",
        "absent",
        "total",
        "minus-total",
        "above",
        "below",
        "minus-below",
        "units",
        "distinct",
        "unit-total",
        "minus-unit-total",
    ]
    column: str = ""
    low: int = 0
    high: int = 0

    def of(self, atoms: Atoms) -> int:
        """Its value in a cell."""
        if self.kind == "rows":
            return atoms.rows
        if self.kind == "units":
            return atoms.units
        if self.kind in ("unit-total", "minus-unit-total"):
            cut = atoms.unit_totals[self.column, self.low, self.high]
            return cut if self.kind == "unit-total" else -cut
        present = atoms.present[self.column]
        if self.kind == "present":
            return present
        if self.kind == "absent":
            return atoms.rows - present
        total = atoms.total[self.column]
        if self.kind == "total":
            return total
        if self.kind == "minus-total":
            return -total
        if self.kind == "above":
            return self.high * present - total
        below = total - self.low * present
        return below if self.kind == "below" else -below


@dataclass(frozen=True)
class Part:
    """Components of every cell that get their noise together: from one law, or a tuple of them.

    Guarantee
        The noisy components of all cells together are `epsilon`-differentially private under the
        neighbours the part was built for (`ask/aggregates/` says why for each).
    """

    name: str
    components: tuple[Component | Bernstein, ...]
    law: object
    epsilon: Fraction
    noise: Joint = field(init=False, repr=False, compare=False)
    """What the noise of the components tells about itself."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", joint(self.law))

    @property
    def box(self) -> Any:
        """The integer law from which the noise is drawn."""
        return self.noise.whole

    def release(self, cells: Sequence[Atoms], source: Source = SYSTEM) -> list[list[int]]:
        """The components of each cell, each with its noise; cells are independent."""
        require_safe(source)
        truth = [[component.of(atoms) for component in self.components] for atoms in cells]
        noise = self.draw(len(cells), source)
        return [
            [value + extra for value, extra in zip(row, drawn, strict=True)]
            for row, drawn in zip(truth, noise, strict=True)
        ]

    def check_draw(self, cells: int) -> None:
        """Refuses whatever `draw` would refuse, and draws nothing."""
        self.noise.check_draw(cells)

    def draw(self, cells: int, source: Source = SYSTEM) -> list[list[int]]:
        """The noise alone, for each cell."""
        return self.noise.steps(cells, source).tolist()  # type: ignore[no-any-return]


# -- How far a number computed from noisy components may be off, without looking at rows -----------


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
