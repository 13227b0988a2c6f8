"""Ways to answer counts, sums and means: which components get which noise, and why that is private.

Under add-or-remove one row touches one cell: a mechanism that is ε-private for the cell of a row is
ε-private for all cells together. Under replace a row may leave one cell and enter another; then
each cell gets an add-or-remove mechanism at ε/2. Without groups, replace has shapes of its own.
A unit with up to r rows moves an answer r times as far; with groups its rows may lie in several
cells, and then noise is calibrated to the sum over cells: discrete Laplace, never a shape that pays
for every touched cell. Where the holder states between which ends a person's sum counts, sums may
be cut there instead of at so many rows: then a unit moves a sum by what its own sum may be.
Soundness: notation, sections 1, 2 and 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from ...mechanism.error import Term
from ...mechanism.part import Component, Part
from ...noise.box.law import OptimalBox, Signs
from ...noise.criterion import Criterion
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.law import GridLaw
from ...noise.optimal import Optimal
from ...number import NANO
from ...sensitivity import worst_case
from ..plan.strategy import Setting, Strategy, split
from ..question import Aggregate
from .reading import Basic, Linear, Mean, MeanOfAll

MOST_IN_A_BOX = 32
CUT_BY_PERSON = ", sums cut by person"
"""Ends the name of a way in which the sum of each person is cut, and not their rows."""


def additive(
    aggregates: Sequence[Aggregate], setting: Setting, nano: int, wanted: Criterion
) -> list[Strategy]:
    """Counts, sums and means."""
    found = _ways(_Builder(aggregates, setting, nano, wanted))
    by_person = _Builder(aggregates, setting, nano, wanted, by_person=True)
    if any(by_person.cut(column) is not None for column in by_person.sums):
        for strategy in _ways(by_person):
            found.append(replace(strategy, name=strategy.name + CUT_BY_PERSON))
    return found


def _ways(builder: _Builder) -> list[Strategy]:
    setting = builder.setting
    found: list[Strategy | None] = [builder.in_pairs()]
    if builder.paired:
        found.append(builder.one_by_one())
        if setting.native_replace and len(builder.paired) == 1 and not builder.rows_with_pair:
            found.append(builder.in_pairs(shape="same-sign"))
    if len(builder.atoms) > 1 and not builder.means and not builder.scattered:
        found.extend(builder.in_a_box())
    if not builder.paired and len(builder.atoms) == 1 and builder.sums and not builder.scattered:
        found.append(builder.in_pairs(law="discrete Laplace"))
    return [strategy for strategy in found if strategy is not None]


@lru_cache(maxsize=256)
def _optimal(sensitivity: int, epsilon: Fraction, wanted: Criterion) -> GridLaw:
    """The same law for the same numbers: to find its core takes longer than all else of a plan."""
    return Optimal(sensitivity=sensitivity, epsilon=epsilon, minimise=wanted).on_grid(1)


class _Builder:
    def __init__(
        self,
        aggregates: Sequence[Aggregate],
        setting: Setting,
        nano: int,
        wanted: Criterion,
        *,
        by_person: bool = False,
    ) -> None:
        """by_person: sums are cut by person where the holder stated ends for that."""
        self.by_person = by_person
        self.aggregates = aggregates
        self.setting = setting
        self.nano = nano
        self.wanted = wanted
        # means over all rows of a table whose size is public need only the sum
        self.public_means = [
            a for a in aggregates if a.kind == "avg" and setting.rows_public(a.column or "")
        ]
        self.means = [a for a in aggregates if a.kind == "avg" and a not in self.public_means]
        self.sums = list(
            dict.fromkeys(
                a.column or "" for a in aggregates if a.kind == "sum" or a in self.public_means
            )
        )
        self.counts = list(
            dict.fromkeys(self._count_name(a.column) for a in aggregates if a.kind == "count")
        )
        self.paired = self._paired_columns()
        self.rows_with_pair = bool(self.paired) and "" in self.counts and not self._same_rows(0)

    def _count_name(self, column: str | None) -> str:
        """Counts of columns that are never missing are counts of rows."""
        return "" if column is None or column in self.setting.never_missing else column

    def _same_rows(self, index: int) -> bool:
        return self.paired[index] in self.setting.never_missing

    def _paired_columns(self) -> list[str]:
        """Columns whose count and sum are both wanted: one pair serves both, and the mean."""
        columns = dict.fromkeys(a.column or "" for a in self.means)
        for column in self.sums:
            counted = self._count_name(column) in self.counts
            if counted and not self.setting.rows_public(column) and self.cut(column) is None:
                columns[column] = None
        return list(columns)

    def cut(self, column: str) -> tuple[int, int] | None:
        """The ends at which a person's sum of the column is cut, if sums are cut so."""
        means = {a.column for a in self.aggregates if a.kind == "avg"}
        usable = self.by_person and column not in means
        return self.setting.ranges[column].per_unit if usable else None

    @property
    def scattered(self) -> bool:
        """Whether one unit may move several cells."""
        several = any(self.cut(c) is not None for c in self.sums) and self.setting.unit_cells != 1
        return self.setting.scattered or several

    @property
    def atoms(self) -> list[tuple[str, str]]:
        """The linear numbers wanted: ("count", column or "") and ("sum", column)."""
        return [("count", c) for c in self.counts] + [("sum", c) for c in self.sums]

    # -- laws ----------------------------------------------------------------------------------

    def _split(self, shares: int) -> Fraction:
        return split(self.nano, shares)

    def _law_epsilon(self, price: Fraction, native: bool) -> Fraction:
        """What a law may spend: half where replace is remove and add."""
        twice = self.setting.neighbours == "replace" and not native
        return price / 2 if twice else price

    def _count_part(self, column: str, price: Fraction) -> Part:
        native = self.setting.native_replace
        epsilon = self._law_epsilon(price, native)
        kind = Component("present", column) if column else Component("rows")
        law = DiscreteLaplace(sensitivity=self.setting.rows_per_unit, epsilon=epsilon)
        return Part("discrete Laplace", (kind,), law, price)

    def _sum_sensitivity(self, column: str) -> int:
        ends = self.cut(column)
        if ends is not None:
            neighbours = "replace" if self.setting.native_replace else "add-or-remove"
            moved = int(worst_case.total(bounds=ends, neighbours=neighbours))
            return moved * self.setting.unit_cells
        r = self.setting.ranges[column]
        times = self.setting.rows_per_unit
        if self.setting.native_replace:
            return times * int(
                worst_case.total(
                    bounds=(r.low, r.high),
                    neighbours="replace",
                    rows_public=self.setting.rows_public(column),
                )
            )
        return times * int(worst_case.total(bounds=(r.low, r.high), neighbours="add-or-remove"))

    def _sum_part(self, column: str, price: Fraction, only: str | None = None) -> Part:
        epsilon = self._law_epsilon(price, self.setting.native_replace)
        sensitivity = self._sum_sensitivity(column)
        if only == "discrete Laplace" or sensitivity == 1 or self.scattered:
            law: GridLaw = DiscreteLaplace(sensitivity=sensitivity, epsilon=epsilon)
            name = "discrete Laplace"
        else:
            law = _optimal(sensitivity, epsilon, self.wanted)
            name = "optimal"
        ends = self.cut(column)
        if ends is None:
            return Part(name, (Component("total", column),), law, price)
        return Part(name, (Component("unit-total", column, *ends),), law, price)

    def _pair_part(self, column: str, price: Fraction, shape: str, with_rows: bool) -> Part:
        """Σ(high − x) and Σ(x − low).

        A row moves them by (high − x, x − low), high − low in all: an L1 budget. A row without the
        column moves the count of such rows instead. Under replace without groups the pair
        (Σ(high − x), −Σ(x − low)) moves inside the same-sign ball of radius high − low.
        """
        r = self.setting.ranges[column]
        times = self.setting.rows_per_unit
        width = (r.high - r.low) * times
        ends = {"column": column, "low": r.low, "high": r.high}
        above = Component("above", **ends)  # type: ignore[arg-type]
        if shape == "same-sign":
            box = OptimalBox(
                sensitivities=[width, width], epsilon=price, minimise=self.wanted, signs="same"
            )
            below = Component("minus-below", **ends)  # type: ignore[arg-type]
            return Part("same-sign pair", (above, below), box, price)
        epsilon = self._law_epsilon(price, native=False)
        law = DiscreteLaplace(sensitivity=width, epsilon=epsilon)
        below = Component("below", **ends)  # type: ignore[arg-type]
        if not with_rows:
            return Part("pair of discrete Laplace", (above, below), (law, law), price)
        absent = Component("absent", column)
        single = DiscreteLaplace(sensitivity=times, epsilon=epsilon)
        return Part("pair of discrete Laplace", (above, below, absent), (law, law, single), price)

    # -- strategies ----------------------------------------------------------------------------

    def in_pairs(self, shape: str = "L1", law: str | None = None) -> Strategy:
        """Count and sum of a column together; what is left one by one; prices add up."""
        alone_sums = [c for c in self.sums if c not in self.paired]
        covered = {self._count_name(c) for c in self.paired}
        if self.rows_with_pair:
            covered.add("")
        alone_counts = [c for c in self.counts if c not in covered]
        price = self._split(len(self.paired) + len(alone_sums) + len(alone_counts))
        parts: list[Part] = []
        readings: dict[Aggregate, Basic] = {}
        for number, column in enumerate(self.paired):
            with_rows = self.rows_with_pair and number == 0
            parts.append(self._pair_part(column, price, shape, with_rows))
            self._read_pair(column, len(parts) - 1, shape, with_rows, readings)
        for column in alone_counts:
            parts.append(self._count_part(column, price))
            self._read_count(column, Term(len(parts) - 1, 0, Fraction(1)), readings)
        for column in alone_sums:
            parts.append(self._sum_part(column, price, law))
            self._read_sum(column, Term(len(parts) - 1, 0, Fraction(1)), readings)
        name = " + ".join(dict.fromkeys(part.name for part in parts))
        return Strategy(name, tuple(parts), readings)

    def one_by_one(self) -> Strategy | None:
        """Every count and sum with its own share of epsilon: what others do."""
        if self.means:
            return None  # a mean from separate parts is never better than from a pair
        price = self._split(len(self.atoms))
        parts: list[Part] = []
        readings: dict[Aggregate, Basic] = {}
        for kind, column in self.atoms:
            term = Term(len(parts), 0, Fraction(1))
            if kind == "count":
                parts.append(self._count_part(column, price))
                self._read_count(column, term, readings)
            else:
                parts.append(self._sum_part(column, price))
                self._read_sum(column, term, readings)
        return Strategy("one by one", tuple(parts), readings)

    def in_a_box(self) -> list[Strategy]:
        """All counts and sums in one noise shaped to what one row can do to them together."""
        if len(self.atoms) > MOST_IN_A_BOX:
            return []
        price = Fraction(self.nano, NANO)
        found = []
        if self.setting.native_replace:
            found.append(self._box(price, price, "any", "box"))
        rows_apart = self._law_epsilon(price, native=False)
        if self._one_sign():
            found.append(self._box(price, rows_apart, "same", "same-sign box"))
        elif not self.setting.native_replace:
            found.append(self._box(price, rows_apart, "any", "box"))
        return found

    def _one_sign(self) -> bool:
        ranges = [self.setting.ranges[c] for c in self.sums]
        ends = [self.cut(c) or (r.low, r.high) for c, r in zip(self.sums, ranges, strict=True)]
        return all(low >= 0 or high <= 0 for low, high in ends)

    def _box(self, price: Fraction, epsilon: Fraction, signs: Signs, name: str) -> Strategy:
        native = signs == "any" and self.setting.native_replace
        sensitivities: list[int] = []
        components: list[Component] = []
        terms: list[Term] = []
        for kind, column in self.atoms:
            asked = Aggregate("count" if kind == "count" else "sum", column or None)
            ends = self.cut(column) if kind == "sum" else None
            found = atom_sensitivity(asked, self.setting, signs=signs, native=native, cut=ends)
            assert found is not None  # noqa: S101 - signs were looked at before
            moved, component, weight, _ = found
            sensitivities.append(moved)
            components.append(component)
            terms.append(Term(0, len(terms), weight))
        law = OptimalBox(
            sensitivities=sensitivities, epsilon=epsilon, minimise=self.wanted, signs=signs
        )
        readings: dict[Aggregate, Basic] = {}
        for (kind, column), term in zip(self.atoms, terms, strict=True):
            read = self._read_count if kind == "count" else self._read_sum
            read(column, term, readings)
        return Strategy(name, (Part(name, tuple(components), law, price),), readings)

    # -- readings ------------------------------------------------------------------------------

    def _read_count(self, column: str, term: Term, into: dict[Aggregate, Basic]) -> None:
        for a in self.aggregates:
            if a.kind == "count" and self._count_name(a.column) == column:
                into[a] = Linear((term,), grid=Fraction(1))

    def _read_sum(self, column: str, term: Term, into: dict[Aggregate, Basic]) -> None:
        grid = self.setting.ranges[column].grid
        scaled = Term(term.part, term.component, term.weight * grid)
        for a in self.aggregates:
            if a.column != column:
                continue
            if a.kind == "sum":
                into[a] = Linear((scaled,), grid=grid)
            elif a in self.public_means:
                into[a] = MeanOfAll(scaled)

    def _read_pair(
        self, column: str, part: int, shape: str, with_rows: bool, into: dict[Aggregate, Basic]
    ) -> None:
        r = self.setting.ranges[column]
        width = r.high - r.low
        sign = -1 if shape == "same-sign" else 1
        one = Fraction(1, width)
        count = (Term(part, 0, one), Term(part, 1, sign * one))
        rows = (*count, Term(part, 2, Fraction(1))) if with_rows else count
        total = (
            Term(part, 0, r.grid * Fraction(r.low, width)),
            Term(part, 1, sign * r.grid * Fraction(r.high, width)),
        )
        for a in self.aggregates:
            if a.kind == "count":
                name = self._count_name(a.column)
                if name == self._count_name(column):
                    into[a] = Linear(count, grid=Fraction(1))
                elif name == "" and with_rows:
                    into[a] = Linear(rows, grid=Fraction(1))
            elif a.column == column and a.kind == "sum":
                into[a] = Linear(total, grid=r.grid)
            elif a.column == column and a in self.means:
                into[a] = Mean(part, r.low * r.grid, r.high * r.grid, sign)


def atom_sensitivity(
    aggregate: Aggregate,
    setting: Setting,
    *,
    signs: Signs,
    native: bool,
    cut: tuple[int, int] | None = None,
) -> tuple[int, Component, Fraction, Fraction] | None:
    """How far one unit moves a count or sum, its component, the component's sign and its grid.

    native: under replace as such; otherwise under add-or-remove.
    cut: between which ends the sum of one unit counts, if it is cut there and not by rows.
    None where signs="same" and the column has values of both signs.
    """
    times = setting.rows_per_unit
    column = aggregate.column or ""
    if aggregate.kind == "count":
        rows = not column or column in setting.never_missing
        component = Component("rows") if rows else Component("present", column)
        return times, component, Fraction(1), Fraction(1)
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
        return int(most), kind, weight, r.grid
    kind = Component("minus-total" if reflected else "total", column)
    return times * int(most), kind, weight, r.grid
