"""Generalisation: quasi-identifiers become less precise, and stay true.

Numbers and dates become intervals, categories become more general ones. The method is public and
generalises no more than the promise requires. An intruder can use that: running the method on all
tables that fit the release rules out those that give another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ...arguments import Number, above_zero, exact
from ...errors import nearest, refuse
from ...noise.source import Source
from ...privacy import KAnonymity
from ...schema import Bounded, Column, Schema
from ...text import exactly, many, percent, shortly
from ..assessment import Assessment, Step, assessed, measured_groups
from ..generalise.full_domain import (
    MEASURES,
    Lattice,
    PublishedClasses,
    average_class_size,
    discernibility,
    full_domain,
    ncp,
)
from ..generalise.hierarchy import Run, Scale, recoded, scale_of
from ..generalise.mondrian import OUT, multidimensional, runs_of, split_in_passes, suppressed
from ..generalise.privacy_condition import Need, Secret
from ..row_fingerprint import Marking
from ..table.cells import Cells, Numbers
from ..table.input_table import Original, Validated
from .contract import Made, Published, check_kept, one_of, sizes_counted
from .groups import DISCLOSED, EVERY, NOT_PRIVACY, TWICE, Grouped, GroupWay, homogeneous_steps
from .microaggregate import AS_THEY_ARE
from .permuted_columns import within_classes
from .streamed import by_group, check_of, finished, labelled, prepared


class Survivors(NamedTuple):
    """What an intruder who reruns the method cannot rule out, as `tests/attacks` measures it.

    tables: of all tables of 12 rows with one number of six values that fit a release with k = 3,
        the share that gives it, on average.
    assignments: of all assignments of the values of a yes-or-no column to 12 people with known
        quasi-identifiers, the share that gives the release with k = 3 and l = 2, on average over
        all values; the least of three such tables.
    """

    tables: str
    assignments: str


SURVIVORS = {
    "multidimensional": Survivors("30.9 %", "80.5 %"),
    "full-domain": Survivors("34.3 %", "74.5 %"),
}

MINIMAL = (
    "It does not withstand minimality and downcoding attacks: the method is public, and "
    "generalises no more than the promise requires. An intruder who runs it on all tables that fit "
    "a release rules out those that give another, and may learn more about a row than the release "
    "states. Of the tables of 12 rows with one number of six values that fit a release with k = 3, "
    "{left} remain on average."
)
ENDS = (
    "It does not hide the ends of an interval: somebody in the group has each of them. Likewise, a "
    "published category is the lowest that covers its group."
)
LOOKED = (
    "It does not hide how far a group was split, which depended on its confidential values, for "
    "{asked}. An intruder who knows the quasi-identifiers of a group can infer that a finer one "
    "lacked it: with a small l, this can reveal the one value that its members share. In tables of "
    "12 rows with l = 2, {left} of the possible assignments of values to people remained."
)
LEFT_OUT = (
    "It does not contain every row: up to {share} of the rows were left out because they are rare. "
    "This may reveal that a person is rare, and an intruder who knows how many rows there were "
    "knows how many were left out."
)
MIDDLE = (
    "Risk and utility are measured with the midpoint of each interval, and with categories as they "
    "are published."
)

SPLIT, LEVELS = "multidimensional", "full-domain"


@dataclass(frozen=True, kw_only=True)
class Generalise(Grouped):
    """Every combination of quasi-identifiers, recoded truthfully, is shared by at least k units.

    suppress: the share of rows that may be left out.
    minimise: the loss that is minimised among all levels.
    widths: the widths of intervals of some numbers and dates, in grid steps.

    Source
        LeFevre, DeWitt and Ramakrishnan 2005 and 2006; Samarati 2001.
    """

    name = "generalise"
    step = "recode"
    ways: ClassVar[dict[str, GroupWay]] = {
        SPLIT: GroupWay(
            "generalisation: groups split as far as k allows, each recoded to what covers it",
            "LeFevre, DeWitt and Ramakrishnan 2006 (Mondrian)",
            in_order=True,
        ),
        LEVELS: GroupWay(
            "generalisation: one level for each column, with the least loss of all that keep k",
            "Samarati 2001; LeFevre, DeWitt and Ramakrishnan 2005 (Incognito)",
        ),
    }

    suppress: Fraction = Fraction(0)
    minimise: str = next(iter(MEASURES))
    widths: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @classmethod
    def read(  # type: ignore[override]  # it has options of its own, and no gain factor
        cls,
        schema: Schema,
        override: object,
        *,
        k: int,
        by: str | None = None,
        l: int | None = None,
        t: Number | None = None,
        suppress: Number = 0,
        minimise: str | None = None,
        widths: Mapping[str, Sequence[object]] | None = None,
        memory: int | None = None,
    ) -> Self:
        made = super().read(schema, override, k=k, by=by, l=l, t=t, memory=memory)
        for option, given in (("minimise", minimise), ("widths", widths)):
            if given is not None and made.by != LEVELS:
                raise refuse("publish.full-domain-option", option=option)
        share = exact(suppress, "suppress")
        if not 0 <= share < 1:
            raise refuse("publish.suppress-out-of-range", suppress=suppress)
        made = replace(made, suppress=share)
        if memory is not None and not made.passable:
            label = f"{made.label} with l, t or suppress"
            raise refuse("publish.memory-with-whole-table", label=label)
        return replace(
            made,
            minimise=made.minimise if minimise is None else one_of(minimise, "minimise", MEASURES),
            widths={} if widths is None else made.steps_of(widths),
        )

    @property
    def passable(self) -> bool:
        return super().passable and not self.suppress and not self.conditions

    def steps_of(self, widths: object) -> Mapping[str, Sequence[int]]:
        """The stated widths in grid steps; refused if they do not nest, or for other columns."""
        if not isinstance(widths, Mapping):
            raise refuse("publish.widths-not-a-mapping", type=type(widths).__name__)
        known = {
            name.lower(): self.schema.columns[name]
            for name in self.quasi
            if isinstance(self.schema.columns[name], Bounded)
        }
        found = {}
        for name, given in widths.items():
            column = known.get(str(name).lower())
            if not isinstance(column, Bounded):
                near = nearest(str(name), [one.name for one in known.values()])
                raise refuse("publish.widths-column-unknown", column=name, nearest=near)
            found[column.name] = _nested(column, given)
        return found

    @property
    def compared(self) -> tuple[str, ...]:
        return self.quasi

    @property
    def changed(self) -> tuple[str, ...]:
        return self.quasi

    # -- the table ---------------------------------------------------------------------------------

    def publish(self, original: Original, source: Source) -> Published:
        scales = [scale_of(original.cells[name]) for name in self.quasi]
        need = self._need(original)
        need.check_reachable()
        labels, runs = self._grouped(scales, need)
        rows = np.flatnonzero(labels != OUT)
        kept, labels = original.take(rows), labels[rows]
        self.check_homogeneous(kept, dict.fromkeys(self.confidential, labels))
        pairs = list(zip(scales, runs, strict=True))
        texts = {scale.name: recoded(scale, run, labels) for scale, run in pairs}
        return Published(
            {**kept.cells, **texts},
            {EVERY: labels},
            centres={scale.name: scale.centres(*run).take(labels) for scale, run in pairs},
            rows=rows,
            steps=tuple(self._lost(pairs, np.bincount(labels), original.size - kept.size)),
        )

    def stream(
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Marking
    ) -> Made:
        with prepared(self, table, source, tell, look) as found:
            scales = [_without_rows(found.coding.column(name)) for name in self.quasi]
            codes = _codes(scales, found.coding.places(self.quasi))
            sizes = [found.coding.sizes[j] for j in found.coding.places(self.quasi)]
            with found.passes.map(codes, sizes) as coded:
                groups = split_in_passes(coded, scales, sizes, self.least)
            each = np.arange(groups.sizes.size)
            pairs = list(zip(scales, groups.runs, strict=True))
            texts = {one.name: recoded(one, run, each) for one, run in pairs}
            centres = {one.name: one.centres(*run) for one, run in pairs}
            width = len(found.coding.columns)
            labels, places = groups.labels, dict.fromkeys(texts, width)
            with labelled(found, lambda rows: [labels(codes(rows))], [groups.sizes.size]) as after:
                alone = check_of(found, after, lambda rows: [rows[:, width]])
                self.check_alone(alone)
                shown = [one.numbers for one in texts.values()]
                check = check_of(found, after, lambda rows: [one[rows[:, width]] for one in shown])
                check_kept(check is not None and check.k >= self.least)
                return finished(
                    found,
                    after,
                    by_group(found.coding, texts, places),
                    check,
                    steps=[
                        *homogeneous_steps(alone, groups.sizes),
                        *self._lost(pairs, groups.sizes, 0),
                    ],
                    sizes=sizes_counted({EVERY: groups.sizes}),
                    centres=by_group(found.coding, centres, places),
                )

    def _grouped(self, scales: Sequence[Scale], need: Need) -> tuple[Numbers, list[Run]]:
        """The class of each row (`OUT` if left out), and for each column the run of each class."""
        most = int(self.suppress * scales[0].codes.size)
        if self.by == SPLIT:
            labels = suppressed(scales, multidimensional(scales, need), need, most)
            stay = np.flatnonzero(labels != OUT)
            return labels, [runs_of(scale, labels, stay) for scale in scales]
        lattice = Lattice.of(scales, [self.widths.get(scale.name, ()) for scale in scales])
        found = full_domain(lattice, need, MEASURES[self.minimise], most)
        classes, first = np.unique(found.labels, return_index=True)
        first = first[classes != OUT]
        runs = []
        for ladder, level in zip(lattice.ladders, found.levels, strict=True):
            low, high = ladder.runs[level]
            runs.append((low[ladder.ranks[first]], high[ladder.ranks[first]]))
        return found.labels, runs

    def _need(self, original: Original) -> Need:
        columns = self.conditioned(original) if self.conditions else ()
        confidential = [Secret(*column) for column in columns]
        return Need(self.least, self.l, self.t, confidential, original.persons)

    def _lost(self, pairs: Sequence[tuple[Scale, Run]], sizes: Numbers, out: int) -> Iterator[Step]:
        if self.suppress and out:
            units = int(sizes.sum()) + out
            share, rows = percent(float(self.suppress)), many(units, "row")
            text = f"{out:,} of {rows} ({percent(out / units)}), suppressed; at most {share}"
            yield Step("suppressed", text)
        penalties = [(scale.penalty(*run), scale.whole) for scale, run in pairs]
        classes = PublishedClasses(sizes, penalties, out)
        size = average_class_size(classes) / self.least
        yield Step(
            "loss",
            f"NCP {shortly(float(ncp(classes)))} (0 is nothing, 1 everything), average class size "
            f"{shortly(float(size))} times k (1 is best), discernibility "
            f"{int(discernibility(classes)):,} (smaller is better)",
        )

    def verify(self, table: Any, persons: Numbers | None) -> None:
        self.measure_again(table, persons)

    def assess(
        self, before: Any, after: Any, source: Source, original: Original, made: Published
    ) -> Assessment:
        """With the midpoints of intervals; k, l and t of the values as published."""
        middle = after
        for name, cells in made.centres.items():
            place = middle.schema.get_field_index(name)
            middle = middle.set_column(place, name, cells.to_arrow())
        found = assessed(before, middle, self.schema, source, original.persons, self.explained)
        found = measured_groups(found, after, self.schema, original.persons)
        return within_classes(self, found, original, made, source)

    # -- the certificate ---------------------------------------------------------------------------

    @property
    def promise(self) -> KAnonymity:
        return KAnonymity(self.least)

    @property
    def parameters(self) -> dict[str, str]:
        found = super().parameters
        if self.suppress:
            found["suppress"] = f"at most {exactly(self.suppress)} of the rows"
        if self.by == LEVELS:
            found["minimise"] = self.minimise
        for name, steps in self.widths.items():
            column = self.schema.columns[name]
            assert isinstance(column, Bounded)  # noqa: S101 - as `steps_of` found it
            found[f"widths of {name}"] = ", ".join(exactly(column.grid * step) for step in steps)
        return found

    @property
    def limits(self) -> list[str]:
        left = SURVIVORS[self.by]
        limits = [NOT_PRIVACY, TWICE, DISCLOSED, MINIMAL.format(left=left.tables)]
        limits += [ENDS] if self.by == SPLIT else []
        if self.conditions:
            asked = " and ".join(self.conditions)
            limits.append(LOOKED.format(asked=asked, left=left.assignments))
        if self.suppress:
            limits.append(LEFT_OUT.format(share=exactly(self.suppress)))
        return [*limits, AS_THEY_ARE]

    def remarks(self) -> tuple[str, ...]:
        return (MIDDLE,)


def _without_rows(column: Column) -> Scale:
    nothing = np.zeros(0, np.int64)
    return scale_of(Cells(column, nothing, nothing.astype(np.bool_), None))


def _codes(scales: Sequence[Scale], places: Sequence[int]) -> Callable[[Numbers], Numbers]:
    """The codes of the quasi-identifiers of rows in passes; none is missing."""
    known: list[Numbers | None] = []
    for scale in scales:
        cells = scale.cells
        every = None
        if not isinstance(cells.column, Bounded):
            numbers = np.arange(cells.last + 1)
            full = replace(cells, numbers=numbers, present=np.ones(numbers.size, np.bool_))
            every = scale_of(full).codes
        known.append(every)

    def codes(rows: Numbers) -> Numbers:
        found = [
            rows[:, place] - 1 if every is None else every[rows[:, place] - 1]
            for place, every in zip(places, known, strict=True)
        ]
        return np.stack(found, axis=1)

    return codes


def _nested(column: Bounded, given: object) -> list[int]:
    """Widths in grid steps, each a multiple of the one before."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise refuse("publish.widths-not-a-list", column=column.name)
    steps = []
    before = 1
    for width in given:
        size = above_zero(width, f"widths[{column.name}]") / column.grid
        if size.denominator > 1 or size % before or size == before or size > column.steps:
            raise refuse("publish.widths-not-nested", column=column.name, width=width)
        before = int(size)
        steps.append(before)
    return steps
