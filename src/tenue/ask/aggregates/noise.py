"""Noise on whole numbers: on counts and sums, what it needs of the rows and how far a unit moves
them."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeGuard

from ...engine.request import Contribution, Measure
from ...mechanism.additive_noise import Atoms, Component, Part, Term
from ...mechanism.moment_basis import Bernstein
from ...noise.box.law import OptimalBox, Signs
from ...noise.criterion import Criterion
from ...noise.source import Source
from ...schema import Number, Schema
from ...sensitivity import worst_case
from ...text import exactly
from ..question import Aggregate
from .reading import Linear
from .strategy import Draw, Rows, Setting

MOST_IN_A_BOX = 32
CUT_BY_PERSON = ", sums cut by person"
"""Ends the name of a way in which the sum of each person is cut, and not their rows."""

_SOURCES = {
    "optimal": "Soria-Comas and Domingo-Ferrer 2013, Theorem 1",
    "discrete Laplace": "Ghosh, Roughgarden and Sundararajan 2009",
    "pair of discrete Laplace": "Dwork et al. 2006, on the two sums that make a mean",
    "same-sign pair": "Soria-Comas and Domingo-Ferrer 2013, section 5",
    "same-sign box": "Soria-Comas and Domingo-Ferrer 2013, section 5",
    "box": "Soria-Comas and Domingo-Ferrer 2013, section 5",
}


def noise_source(name: str) -> str:
    """Where a noise of that name is proved."""
    return _SOURCES[name]


@dataclass(frozen=True)
class Noise(Part, Draw):
    """Whole numbers of every cell with noise that is calibrated together."""

    @abc.abstractmethod
    def atoms(self, measured: Mapping[Measure, int]) -> Atoms:
        """The true numbers of a cell that its components are made of."""

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        return self.release([self.atoms(rows.measured[cell]) for cell in cells], source)

    @property
    def line(self) -> str:
        named = ", ".join(
            self._in_words(f"{c.kind} {c.column}".strip(), c) for c in self.components
        )
        return f"{self.name} on {named}: {self.noise.words}"

    def _in_words(self, words: str, component: Component | Bernstein) -> str:
        return words


@dataclass(frozen=True)
class SumNoise(Noise):
    """Counts and sums of every cell, each with its noise."""

    @property
    def source(self) -> str:
        return noise_source(self.name)

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
        """Whether the sum of each person is cut, and not their rows."""
        return any(map(_is_cut, self._plain))

    def cuts(self, schema: Schema) -> Mapping[str, Contribution]:
        return {
            _cut_in_words(c, schema): Contribution("beyond", c.column, c.low, c.high)
            for c in self._plain
            if _is_cut(c)
        }

    def _in_words(self, words: str, component: Component | Bernstein) -> str:
        if not _is_cut(component):
            return words
        ends = f"{component.low} and {component.high}"
        return f"{words}, the sum of a person cut to {ends} steps"


def _is_cut(component: Component | Bernstein) -> TypeGuard[Component]:
    return "unit-total" in component.kind


def _cut_in_words(component: Component, schema: Schema) -> str:
    column = schema.column(component.column)
    grid = column.grid if isinstance(column, Number) else Fraction(1)
    low, high = exactly(component.low * grid), exactly(component.high * grid)
    whose = f"the sum of `{column.name}` of each {schema.unit}"
    return f"{whose}, over all rows, counts from {low} to {high}"


# -- the rows --------------------------------------------------------------------------------------


def component_of(aggregate: Aggregate) -> Component:
    """What a count, a sum or the top of a mean is without noise."""
    if aggregate.kind == "units":
        return Component("units")
    if aggregate.kind == "count":
        return Component("present", aggregate.column) if aggregate.column else Component("rows")
    return Component("total", aggregate.column or "")


def measures_of(components: Iterable[Component]) -> tuple[Measure, ...]:
    """The whole numbers that components are made of, each once."""
    found: dict[Measure, None] = {}
    for c in components:
        if c.kind == "units":
            found[Measure("units")] = None
            continue
        if _is_cut(c):
            found[Measure("unit-total", c.column, low=c.low, high=c.high)] = None
            continue
        if c.kind in ("rows", "absent"):
            found[Measure("rows")] = None
        if c.kind != "rows":
            found[Measure("present", c.column)] = None
        if c.kind not in ("rows", "present", "absent"):
            found[Measure("total", c.column)] = None
    return tuple(found)


def atoms_of(measured: Mapping[Measure, int]) -> Atoms:
    """The measures as components take them."""
    rows = units = 0
    present, total, cut = {}, {}, {}
    for measure, value in measured.items():
        if measure.kind == "rows":
            rows = value
        elif measure.kind == "units":
            units = value
        elif measure.kind == "present":
            present[measure.column or ""] = value
        elif measure.kind == "total":
            total[measure.column or ""] = value
        else:
            cut[measure.column or "", measure.low, measure.high] = value
    return Atoms(rows, present, total, units=units, unit_totals=cut)


# -- how far one unit moves them -------------------------------------------------------------------


class Atom(NamedTuple):
    """A count or sum: how far one unit moves it, its component, the component's sign, its grid."""

    moved: int
    component: Component
    weight: Fraction
    grid: Fraction

    def read(self, place: int) -> Linear:
        """Its reading, if it is that component of the first noise."""
        return Linear((Term(0, place, self.weight * self.grid),), grid=self.grid)


def is_atom(aggregate: Aggregate) -> bool:
    """Whether an aggregate is one count or sum."""
    return aggregate.kind in ("count", "sum")


def atom_sensitivity(
    aggregate: Aggregate,
    setting: Setting,
    *,
    signs: Signs,
    native: bool,
    cut: tuple[int, int] | None = None,
) -> Atom | None:
    """A count or sum as one unit moves it.

    native: under replace as such; otherwise under add-or-remove.
    cut: between which ends the sum of one unit counts, if it is cut there and not by rows.
    None where signs="same" and the column has values of both signs.
    """
    times = setting.rows_per_unit
    column = aggregate.column or ""
    if aggregate.kind == "count":
        rows = not column or column in setting.never_missing
        component = Component("rows") if rows else Component("present", column)
        return Atom(times, component, Fraction(1), Fraction(1))
    r = setting.ranges[column]
    low, high = cut or (r.low, r.high)
    if signs == "same" and low < 0 < high:
        return None
    most = worst_case.total(
        bounds=(low, high),
        neighbours="replace" if native else "add-or-remove",
        rows_public=native and setting.rows_public(column),
    )
    reflected = signs == "same" and high <= 0
    weight = Fraction(-1 if reflected else 1)
    if cut is not None:
        kind = Component("minus-unit-total" if reflected else "unit-total", column, low, high)
        return Atom(int(most), kind, weight, r.grid)
    kind = Component("minus-total" if reflected else "total", column)
    return Atom(times * int(most), kind, weight, r.grid)


def least_atom(
    aggregate: Aggregate, setting: Setting, *, signs: Signs, native: bool
) -> Atom | None:
    """The same, cut by rows or by person: as one unit moves it least."""
    stated = setting.ranges.get(aggregate.column or "") if aggregate.kind == "sum" else None
    cuts = dict.fromkeys([None, None if stated is None else stated.per_unit])
    found = (atom_sensitivity(aggregate, setting, signs=signs, native=native, cut=c) for c in cuts)
    return min((atom for atom in found if atom), key=lambda atom: atom.moved, default=None)


def box_noise(
    atoms: Sequence[Atom], price: Fraction, epsilon: Fraction, wanted: Criterion, signs: Signs
) -> SumNoise:
    """One noise shaped to what one unit can do to all of them together.

    epsilon: what the law may spend of the price.
    """
    law = OptimalBox(
        sensitivities=[atom.moved for atom in atoms], epsilon=epsilon, minimise=wanted, signs=signs
    )
    name = "box" if signs == "any" else "same-sign box"
    return SumNoise(name, tuple(atom.component for atom in atoms), law, price)
