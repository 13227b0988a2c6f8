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
    """The true whole numbers of one cell: rows, and for each column the number and sum of values.

    moments: for some columns together, the sums of products of their powers.
    units: the number of different units.
    unit_totals: for each column and ends, the sum of each unit's sum, clipped to the ends.
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

    rows, present, absent: the number of rows; with a value of the column; without.
    total: the sum of the column in grid steps.
    above, below: Σ(high − x) and Σ(x − low) in grid steps, both never negative; together they
        determine count and sum, and one row moves them by high − low in all.
    units: the number of different units.
    distinct: the number of different values of the column, which is counted elsewhere.
    unit-total: the sum of each unit's sum of the column, clipped to `low` and `high`.
    minus-…: the negative.
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
        plain = self.kind.removeprefix("minus-")
        value = self._plain(plain, atoms)
        return value if plain == self.kind else -value

    def _plain(self, kind: str, atoms: Atoms) -> int:
        column = self.column
        match kind:
            case "rows":
                return atoms.rows
            case "units":
                return atoms.units
            case "unit-total":
                return atoms.unit_totals[column, self.low, self.high]
            case "present":
                return atoms.present[column]
            case "absent":
                return atoms.rows - atoms.present[column]
            case "total":
                return atoms.total[column]
            case "above":
                return self.high * atoms.present[column] - atoms.total[column]
            case _:
                return atoms.total[column] - self.low * atoms.present[column]


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
    """The noise of the components: variances, errors and intervals."""

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
        """Refuses everything that `draw` would refuse, and draws nothing."""
        self.noise.check_draw(cells)

    def draw(self, cells: int, source: Source = SYSTEM) -> list[list[int]]:
        """The noise alone, for each cell."""
        return self.noise.steps(cells, source).tolist()  # type: ignore[no-any-return]


# -- The error of a number that is computed from noisy components, known without the rows ----------


@dataclass(frozen=True)
class Term:
    """A component of a part, times a weight."""

    part: int
    component: int
    weight: Fraction


class Error(Protocol):
    """The law of an error. The `quick` numbers come from formulas alone and serve planning."""

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

    The variance is a bound if terms of one box are correlated. The interval covers with at least
    its level, because each term has an equal share of the allowed probability of missing.
    """

    parts: tuple[Single, ...]
    mean_absolute_error: None = None
    quick_mean_absolute_error: None = None

    @property
    def variance(self) -> float:
        return sum(math.sqrt(part.variance) for part in self.parts) ** 2

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
