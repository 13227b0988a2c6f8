"""Noise on counts and sums: what it measures, and their sensitivity."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeGuard

from ...engine.request import Contribution, Measure
from ...mechanism.additive_noise import Atoms, Component, Part, Term
from ...mechanism.moment_basis import Bernstein
from ...noise.box.law import OptimalBox, Signs
from ...noise.criterion import Criterion
from ...noise.source import Source, require_safe
from ...schema import Number, Schema
from ...sensitivity import worst_case
from ...text import exactly
from ..question import Aggregate
from .reading import Linear
from .strategy import Draw, Rows, Setting

MOST_IN_A_BOX = 32
MOST_VALUES = 1_000_000
"""How many values a column may have whose different values are counted."""
CUT_BY_PERSON = ", sums cut by person"
"""Ends the name of a candidate that bounds each person's sum instead of their rows."""

NOISE_SOURCES = {
    "optimal": "Soria-Comas and Domingo-Ferrer 2013, Theorem 1",
    "discrete Laplace": "Ghosh, Roughgarden and Sundararajan 2009",
    "pair of discrete Laplace": "Dwork et al. 2006, on the two sums that make a mean",
    "same-sign pair": "Soria-Comas and Domingo-Ferrer 2013, section 5",
    "same-sign box": "Soria-Comas and Domingo-Ferrer 2013, section 5",
    "box": "Soria-Comas and Domingo-Ferrer 2013, section 5",
}
"""The publication that proves the noise of each name."""

_ROWS, _UNITS = Measure("rows"), Measure("units")


@dataclass(frozen=True)
class Noise(Part, Draw):
    """Whole numbers of every cell with noise that is calibrated together."""

    @abc.abstractmethod
    def atoms(self, measured: Mapping[Measure, int]) -> Atoms:
        """The true numbers of a cell from which its components follow."""

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        return self.release([self.atoms(rows.measured[cell]) for cell in cells], source)

    @property
    def line(self) -> str:
        named = ", ".join(map(self._in_words, self.components))
        return f"{self.name} on {named}: {self.noise.words}"

    def _in_words(self, component: Component | Bernstein) -> str:
        return f"{component.kind} {component.column}".strip()


@dataclass(frozen=True)
class SumNoise(Noise):
    @property
    def source(self) -> str:
        return NOISE_SOURCES[self.name]

    @property
    def _plain(self) -> tuple[Component, ...]:
        return self.components  # type: ignore[return-value]

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        return measures_of(self._plain)

    def atoms(self, measured: Mapping[Measure, int]) -> Atoms:
        return atoms_of({measure: measured[measure] for measure in self.measures})

    @property
    def counts_rows(self) -> bool:
        return any(c.kind != "units" and not _is_cut(c) for c in self._plain)

    @property
    def cut_by_person(self) -> bool:
        """Whether each person's sum is bounded instead of their rows."""
        return any(map(_is_cut, self._plain))

    def cuts(self, schema: Schema) -> Mapping[str, Contribution]:
        limits = {}
        for c in filter(_is_cut, self._plain):
            column = schema.column(c.column)
            grid = column.grid if isinstance(column, Number) else Fraction(1)
            low, high = exactly(c.low * grid), exactly(c.high * grid)
            whose = f"the sum of `{column.name}` of each {schema.unit}"
            words = f"{whose}, over all rows, counts from {low} to {high}"
            limits[words] = Contribution("beyond", c.column, c.low, c.high)
        return limits

    def _in_words(self, component: Component | Bernstein) -> str:
        words = super()._in_words(component)
        if not _is_cut(component):
            return words
        return f"{words}, each person's sum clipped to {component.low} and {component.high} steps"


def _is_cut(component: Component | Bernstein) -> TypeGuard[Component]:
    return "unit-total" in component.kind


@dataclass(frozen=True)
class DistinctNoise(Part, Draw):
    """The number of different values of a column in every cell, each with its noise."""

    @property
    def column(self) -> str:
        return self.components[0].column

    @property
    def source(self) -> str:
        return NOISE_SOURCES[self.name]

    @property
    def line(self) -> str:
        return f"{self.name} on different values of {self.column}: {self.noise.words}"

    @property
    def required(self) -> str:
        return self.column

    def read(self, rows: Rows) -> None:
        rows.distinct(self.column)

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        require_safe(source)
        counts, noise = rows.distinct(self.column), self.draw(len(cells), source)
        return [[counts[cell] + extra] for cell, (extra,) in zip(cells, noise, strict=True)]


def component_of(aggregate: Aggregate) -> Component:
    """The component of a count, a sum, or the numerator of a mean."""
    if aggregate.kind == "units":
        return Component("units")
    if aggregate.kind == "count":
        return Component("present", aggregate.column) if aggregate.column else Component("rows")
    return Component("total", aggregate.column or "")


def measures_of(components: Iterable[Component]) -> tuple[Measure, ...]:
    """The measures from which components follow, each once."""
    return tuple(dict.fromkeys(measure for c in components for measure in _measures_of(c)))


def _measures_of(c: Component) -> Iterator[Measure]:
    if c.kind in ("rows", "units"):
        yield Measure(c.kind)
    elif _is_cut(c):
        yield Measure("unit-total", c.column, low=c.low, high=c.high)
    else:
        if c.kind == "absent":
            yield Measure("rows")
        yield Measure("present", c.column)
        if c.kind not in ("present", "absent"):
            yield Measure("total", c.column)


def atoms_of(measured: Mapping[Measure, int]) -> Atoms:
    """The measures in the form that components take."""
    known = [(m.kind, m.column or "", m, value) for m, value in measured.items()]
    return Atoms(
        rows=measured.get(_ROWS, 0),
        present={column: value for kind, column, _, value in known if kind == "present"},
        total={column: value for kind, column, _, value in known if kind == "total"},
        units=measured.get(_UNITS, 0),
        unit_totals={(c, m.low, m.high): v for kind, c, m, v in known if kind == "unit-total"},
    )


class Atom(NamedTuple):
    """A count or sum: its sensitivity, its component, the component's sign, its grid."""

    moved: int
    component: Component
    weight: Fraction
    grid: Fraction

    def read(self, component: int) -> Linear:
        """Its reading, if it is that component of the first part."""
        return Linear((Term(0, component, self.weight * self.grid),), grid=self.grid)


def is_atom(aggregate: Aggregate) -> bool:
    return aggregate.kind in ("count", "sum")


def atom_sensitivity(
    aggregate: Aggregate,
    setting: Setting,
    *,
    signs: Signs,
    native: bool,
    sum_bounds: tuple[int, int] | None = None,
) -> Atom | None:
    """The sensitivity of a count or sum; None for signs="same" if the column has both signs.

    native: under replace itself; otherwise under add-or-remove.
    sum_bounds: those to which the sum of one unit is clipped, if its rows are not limited instead.
    """
    times = setting.rows_per_unit
    column = aggregate.column or ""
    if aggregate.kind == "count":
        rows = not column or column in setting.never_missing
        component = Component("rows") if rows else Component("present", column)
        return Atom(times, component, Fraction(1), Fraction(1))
    r = setting.ranges[column]
    low, high = sum_bounds or (r.low, r.high)
    if signs == "same" and low < 0 < high:
        return None
    most = worst_case.total(
        bounds=(low, high),
        neighbours="replace" if native else "add-or-remove",
        rows_public=native and setting.rows_public(column),
    )
    reflected = signs == "same" and high <= 0
    weight = Fraction(-1 if reflected else 1)
    if sum_bounds is not None:
        kind = Component("minus-unit-total" if reflected else "unit-total", column, low, high)
        return Atom(int(most), kind, weight, r.grid)
    kind = Component("minus-total" if reflected else "total", column)
    return Atom(times * int(most), kind, weight, r.grid)


def least_atom(
    aggregate: Aggregate, setting: Setting, *, signs: Signs, native: bool
) -> Atom | None:
    """The smaller of its sensitivities with limited rows and with clipped sums per person."""
    stated = setting.ranges.get(aggregate.column or "") if aggregate.kind == "sum" else None
    both = dict.fromkeys([None, None if stated is None else stated.per_unit])
    atoms = [
        atom_sensitivity(aggregate, setting, signs=signs, native=native, sum_bounds=bounds)
        for bounds in both
    ]
    return min(filter(None, atoms), key=lambda atom: atom.moved, default=None)


def box_noise(
    atoms: Sequence[Atom], price: Fraction, epsilon: Fraction, wanted: Criterion, signs: Signs
) -> SumNoise:
    """One noise shaped to what one unit can change in all of them together.

    epsilon: the part of the price that the law may spend.
    """
    law = OptimalBox(
        sensitivities=[atom.moved for atom in atoms], epsilon=epsilon, minimise=wanted, signs=signs
    )
    name = "box" if signs == "any" else "same-sign box"
    return SumNoise(name, tuple(atom.component for atom in atoms), law, price)
