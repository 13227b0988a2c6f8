"""Noise for some whole numbers of a cell, calibrated together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import Any, Literal

from ..frozen import dataclass
from ..noise.joint import Joint, joint
from ..noise.source import SYSTEM, Source, require_safe
from .bernstein import Axis, Bernstein, Powers


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
        neighbours the part was built for (`query/family/` says why for each).
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
