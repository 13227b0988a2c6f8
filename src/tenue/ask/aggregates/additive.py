"""Candidates for counts, sums and means: which components get which noise, and why that is private.

Under add-or-remove one row touches one cell: a mechanism that is ε-private for the cell of a row is
ε-private for all cells together. Under replace a row may leave one cell and enter another; then
each cell gets an add-or-remove mechanism at ε/2. Without groups, replace has shapes of its own.
A unit with up to r rows moves an answer r times as far; with groups its rows may lie in several
cells, and then noise is calibrated to the sum over cells: discrete Laplace, never a shape that pays
for every touched cell. Where the holder states bounds for a person's sum, sums may be clipped to
them instead of limiting rows: then a unit moves a sum by the range of its own sum.

A row brings at most one different value, or takes one away, in its cell. So a unit with up to r
rows moves all counts of different values together by r at most. Without groups replacing a unit
moves the one count by r at most, too: what leaves lowers it and what enters raises it. With groups
some cells may fall while others rise, 2r in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache

from ...mechanism.additive_noise import Component, Term
from ...noise.box.law import OptimalBox, Signs
from ...noise.criterion import Criterion
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.law import GridLaw
from ...noise.optimal import Optimal
from ...privacy.loss import EpsilonDelta
from ...schema import Schema
from ..question import Aggregate, every_value
from .contract import (
    ANYTHING,
    Asked,
    Block,
    Ends,
    Family,
    Function,
    Levels,
    bounds_of_number,
    ends_of_sum,
)
from .mean import Mean, MeanOfAll
from .noise import (
    CUT_BY_PERSON,
    MOST_IN_A_BOX,
    Atom,
    DistinctNoise,
    SumNoise,
    atom_sensitivity,
    box_noise,
)
from .reading import Linear, Reading
from .strategy import Setting, Strategy, merged, score_of, split

LAPLACE = "discrete Laplace"
_ONE = Fraction(1)


class AdditiveFamily(Family):
    """COUNT, SUM, AVG, and the counts of different units and of different values."""

    functions = (
        Function("COUNT", "count", ANYTHING, rows=True),
        Function("SUM", "sum"),
        Function("AVG", "avg"),
    )
    sharing = frozenset({"count", "sum", "avg"})
    kinds = sharing | {"units", "distinct"}
    adding_up = frozenset({"count", "sum", "units"})

    def possible(self, aggregate: Aggregate, schema: Schema) -> Ends:
        if aggregate.kind == "sum":
            return ends_of_sum(aggregate.column, schema)
        if aggregate.kind == "avg":
            return bounds_of_number(aggregate.column, schema)
        if aggregate.kind == "distinct":
            return Fraction(0), Fraction(every_value(schema.column(aggregate.column or "")).cells)
        return Fraction(0), None

    def ways(
        self, asked: Asked, setting: Setting, price: EpsilonDelta, wanted: Criterion
    ) -> list[Strategy]:
        found = _candidates(_Builder(asked, setting, price, wanted))
        by_person = _Builder(asked, setting, price, wanted, by_person=True)
        if any(by_person.sum_bounds(column) is not None for column in by_person.sums):
            several = _candidates(by_person)
            found += [replace(one, name=one.name + CUT_BY_PERSON) for one in several]
        return found

    def ways_aside(
        self, asked: Asked, setting: Setting, price: EpsilonDelta, wanted: Criterion
    ) -> list[Strategy]:
        """Counts have a noise of their own beside means: where replace is remove and add, a pair
        that serves a mean is worse for the count."""
        counts = [a for a in asked if a.kind == "count"]
        rest = [a for a in asked if a not in counts]
        if not counts or not rest:
            return []
        both = []
        for some in (counts, rest):
            share = price // len(asked) * len(some)
            ways = self.ways(some, setting, share, wanted)
            both.append(min(ways, key=lambda one: score_of(one, wanted)))
        return [merged(" + ".join(dict.fromkeys(one.name for one in both)), both)]

    def blocks(self, asked: Asked, setting: Setting, levels: Levels) -> list[Block]:
        """Counts of units, then of different values."""
        return super().blocks(sorted(asked, key=lambda a: a.kind == "distinct"), setting, levels)

    def block(
        self, aggregate: Aggregate, setting: Setting, level: Fraction | None, price: Fraction
    ) -> Strategy:
        """Discrete Laplace on the sum over all cells of what one unit moves.

        A unit counts in few cells, once in each, however many rows it has.
        """
        noise: SumNoise | DistinctNoise
        if aggregate.kind == "units":
            law = DiscreteLaplace(sensitivity=setting.units_moved, epsilon=price)
            noise = SumNoise(LAPLACE, (Component("units"),), law, price)
        else:
            both = 2 if setting.neighbours == "replace" and setting.grouped else 1
            law = DiscreteLaplace(sensitivity=both * setting.rows_per_unit, epsilon=price)
            component = Component("distinct", aggregate.column or "")
            noise = DistinctNoise(LAPLACE, (component,), law, price)
        return Strategy(LAPLACE, (noise,), {aggregate: Linear((Term(0, 0, _ONE),), grid=_ONE)})

    def declared(self, asked: Asked, setting: Setting, rows: int) -> dict[Aggregate, Reading]:
        """Counts of all rows, where their number is public."""
        all_rows = {None, *setting.never_missing} if setting.all_public else set()
        return {
            a: Linear((), Fraction(rows), grid=_ONE)
            for a in asked
            if a.kind == "count" and a.column in all_rows
        }


def _candidates(builder: _Builder) -> list[Strategy]:
    setting = builder.setting
    found: list[Strategy | None] = [builder.in_pairs()]
    if builder.paired:
        found.append(builder.one_by_one())
        if setting.native_replace and len(builder.paired) == 1 and not builder.rows_with_pair:
            found.append(builder.in_pairs(shape="same-sign"))
    if len(builder.atoms) > 1 and not builder.means and not builder.scattered:
        found.extend(builder.in_a_box())
    if not builder.paired and len(builder.atoms) == 1 and builder.sums and not builder.scattered:
        found.append(builder.in_pairs(law=LAPLACE))
    return [strategy for strategy in found if strategy is not None]


@lru_cache(maxsize=256)
def _optimal(sensitivity: int, epsilon: Fraction, wanted: Criterion) -> GridLaw:
    """Cached, because finding its core takes longer than the rest of a plan."""
    return Optimal(sensitivity=sensitivity, epsilon=epsilon, minimise=wanted).on_grid(1)


class _Builder:
    def __init__(
        self,
        aggregates: Sequence[Aggregate],
        setting: Setting,
        price: EpsilonDelta,
        wanted: Criterion,
        *,
        by_person: bool = False,
    ) -> None:
        """by_person: each person's sum is clipped, where the holder stated bounds for it."""
        self.by_person = by_person
        self.aggregates = aggregates
        self.setting = setting
        self.price = price
        self.wanted = wanted
        # means over a public number of rows need only the sum
        self.public_means = [
            a for a in aggregates if a.kind == "avg" and setting.rows_public(a.column or "")
        ]
        self.means = [a for a in aggregates if a.kind == "avg" and a not in self.public_means]
        summed = [a.column or "" for a in aggregates if a.kind == "sum" or a in self.public_means]
        self.sums = list(dict.fromkeys(summed))
        counted = [self._count_name(a.column) for a in aggregates if a.kind == "count"]
        self.counts = list(dict.fromkeys(counted))
        self.paired = self._paired_columns()
        may_miss = bool(self.paired) and self.paired[0] not in setting.never_missing
        self.rows_with_pair = may_miss and "" in self.counts

    def _count_name(self, column: str | None) -> str:
        """The column; "" where its count is that of rows, because it is never missing."""
        return "" if column is None or column in self.setting.never_missing else column

    def _paired_columns(self) -> list[str]:
        """Columns whose count and sum are both needed: one pair serves both, and the mean."""
        columns = dict.fromkeys(a.column or "" for a in self.means)
        for column in self.sums:
            counted = self._count_name(column) in self.counts
            if counted and not self.setting.rows_public(column) and self.sum_bounds(column) is None:
                columns[column] = None
        return list(columns)

    def sum_bounds(self, column: str) -> tuple[int, int] | None:
        """The bounds to which a person's sum of the column is clipped, if it is."""
        means = {a.column for a in self.aggregates if a.kind == "avg"}
        usable = self.by_person and column not in means
        return self.setting.ranges[column].per_unit if usable else None

    @property
    def scattered(self) -> bool:
        """Whether one unit may move several cells."""
        by_sum = any(self.sum_bounds(c) is not None for c in self.sums)
        return self.setting.scattered or (by_sum and self.setting.unit_cells != 1)

    @property
    def atoms(self) -> list[tuple[str, str]]:
        """The linear numbers: ("count", column or "") and ("sum", column)."""
        return [("count", c) for c in self.counts] + [("sum", c) for c in self.sums]

    def _atom(self, kind: str, column: str, signs: Signs, *, native: bool) -> Atom:
        ends = self.sum_bounds(column) if kind == "sum" else None
        asked = Aggregate(kind, column or None)
        atom = atom_sensitivity(asked, self.setting, signs=signs, native=native, sum_bounds=ends)
        assert atom is not None  # noqa: S101 - None is for sums of both signs, which callers exclude
        return atom

    def _single(self, kind: str, column: str, price: Fraction, only: str = "") -> Strategy:
        native = self.setting.native_replace
        epsilon = self.setting.law_epsilon(price, native=native)
        atom = self._atom(kind, column, "any", native=native)
        by_person = kind == "sum" and self.sum_bounds(column) is not None
        moved = atom.moved * (self.setting.unit_cells if by_person else 1)
        law: GridLaw
        if kind == "count" or moved == 1 or self.scattered or only == LAPLACE:
            law, name = DiscreteLaplace(sensitivity=moved, epsilon=epsilon), LAPLACE
        else:
            law, name = _optimal(moved, epsilon, self.wanted), "optimal"
        noise = SumNoise(name, (atom.component,), law, price)
        return Strategy(name, (noise,), self._read(kind, column, Term(0, 0, atom.weight)))

    def _pair(self, column: str, price: Fraction, shape: str, with_rows: bool) -> Strategy:
        """Σ(high − x) and Σ(x − low).

        A row moves them by (high − x, x − low), high − low in all: an L1 budget. A row without the
        column moves the count of such rows instead. Under replace without groups the pair
        (Σ(high − x), −Σ(x − low)) moves inside the same-sign ball of radius high − low.
        """
        r, times = self.setting.ranges[column], self.setting.rows_per_unit
        width = (r.high - r.low) * times
        above = Component("above", column, r.low, r.high)
        if shape == "same-sign":
            below = Component("minus-below", column, r.low, r.high)
            box = OptimalBox(
                sensitivities=[width, width], epsilon=price, minimise=self.wanted, signs="same"
            )
            noise = SumNoise("same-sign pair", (above, below), box, price)
        else:
            below = Component("below", column, r.low, r.high)
            epsilon = self.setting.law_epsilon(price, native=False)
            law = DiscreteLaplace(sensitivity=width, epsilon=epsilon)
            components, laws = [above, below], [law, law]
            if with_rows:
                components.append(Component("absent", column))
                laws.append(DiscreteLaplace(sensitivity=times, epsilon=epsilon))
            name = "pair of discrete Laplace"
            noise = SumNoise(name, tuple(components), tuple(laws), price)
        return Strategy(noise.name, (noise,), self._read_pair(column, shape, with_rows))

    @cached_property
    def _beside_pairs(self) -> tuple[list[str], list[str], Fraction]:
        """The counts and sums outside the pairs, and the price of each noise."""
        sums = [c for c in self.sums if c not in self.paired]
        covered = {self._count_name(c) for c in self.paired}
        if self.rows_with_pair:
            covered.add("")
        counts = [c for c in self.counts if c not in covered]
        return counts, sums, split(self.price, len(self.paired) + len(sums) + len(counts)).epsilon

    def in_pairs(self, shape: str = "L1", law: str = "") -> Strategy:
        """Count and sum of a column together, the others one by one; prices add up."""
        counts, sums, price = self._beside_pairs
        several = [
            self._pair(column, price, shape, with_rows=self.rows_with_pair and number == 0)
            for number, column in enumerate(self.paired)
        ]
        several += [self._single("count", column, price) for column in counts]
        several += [self._single("sum", column, price, law) for column in sums]
        if len(several) == 1:
            return several[0]
        return merged(" + ".join(dict.fromkeys(one.name for one in several)), several)

    def one_by_one(self) -> Strategy | None:
        if self.means:
            return None  # a mean from separate parts is never better than from a pair
        price = split(self.price, len(self.atoms)).epsilon
        return merged("one by one", [self._single(*atom, price) for atom in self.atoms])

    def in_a_box(self) -> list[Strategy]:
        """All counts and sums in one noise shaped to what one row can change in them together."""
        if len(self.atoms) > MOST_IN_A_BOX:
            return []
        ranges = self.setting.ranges
        ends = [self.sum_bounds(c) or (ranges[c].low, ranges[c].high) for c in self.sums]
        same = all(low >= 0 or high <= 0 for low, high in ends)
        found = [self._box("any")] if self.setting.native_replace or not same else []
        return [*found, self._box("same")] if same else found

    def _box(self, signs: Signs) -> Strategy:
        native = signs == "any" and self.setting.native_replace
        price = self.price.epsilon
        epsilon = self.setting.law_epsilon(price, native=native)
        atoms: list[Atom] = []
        readings: dict[Aggregate, Reading] = {}
        for kind, column in self.atoms:
            atom = self._atom(kind, column, signs, native=native)
            readings |= self._read(kind, column, Term(0, len(atoms), atom.weight))
            atoms.append(atom)
        noise = box_noise(atoms, price, epsilon, self.wanted, signs)
        return Strategy(noise.name, (noise,), readings)

    def _read(self, kind: str, column: str, term: Term) -> dict[Aggregate, Reading]:
        if kind == "count":
            counts = [a for a in self.aggregates if a.kind == "count"]
            same = [a for a in counts if self._count_name(a.column) == column]
            return {a: Linear((term,), grid=_ONE) for a in same}
        grid = self.setting.ranges[column].grid
        scaled = replace(term, weight=term.weight * grid)
        return {
            a: Linear((scaled,), grid=grid) if a.kind == "sum" else MeanOfAll(scaled)
            for a in self.aggregates
            if a.column == column and (a.kind == "sum" or a in self.public_means)
        }

    def _read_pair(self, column: str, shape: str, with_rows: bool) -> dict[Aggregate, Reading]:
        r, readings = self.setting.ranges[column], dict[Aggregate, Reading]()
        width = r.high - r.low
        sign = -1 if shape == "same-sign" else 1
        count = (Term(0, 0, Fraction(1, width)), Term(0, 1, Fraction(sign, width)))
        low, high = r.low * r.grid, r.high * r.grid
        total = Term(0, 0, low / width), Term(0, 1, sign * high / width)
        for a in self.aggregates:
            if a.kind == "count":
                name = self._count_name(a.column)
                if name == self._count_name(column):
                    readings[a] = Linear(count, grid=_ONE)
                elif name == "" and with_rows:
                    readings[a] = Linear((*count, Term(0, 2, _ONE)), grid=_ONE)
            elif a.column == column and a.kind == "sum":
                readings[a] = Linear(total, grid=r.grid)
            elif a.column == column and a in self.means:
                readings[a] = Mean(0, low, high, sign)
        return readings


ADDITIVE = AdditiveFamily()
