"""t-closeness: groups in which each bucket of a confidential column has about its overall share.

Values become buckets of about equal mass. In every group of at least k units the share of each
bucket is within a factor t of its share in the table, exactly. Groups are shown, as two linked
tables; or hidden, and the buckets are permuted within each group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...arguments import Number, exact, whole
from ...engine.contract import Passes
from ...errors import refuse
from ...evaluate.check import check_groups
from ...noise.source import Source
from ...privacy import TCloseness
from ...schema import Bounded, Schema
from ...text import exactly, named, shortly
from ..assessment import Assessment, Step
from ..buckets.assign_groups import along, filled, group_at, positions
from ..buckets.bucket_counts import Matrix, cells_of, counts_for, counts_of_cells
from ..buckets.closeness_ratio import farthest_group, ratio_of, right_guess
from ..buckets.column import Bucketed, bucketed, bucketed_counts
from ..row_fingerprint import Marking
from ..table.cells import Cells, Coding, Numbers
from ..table.input_table import Original, Validated
from .contract import Made, Passable, Published, Way, check_kept, one_of
from .groups import NOT_PRIVACY, TWICE, sizes_text
from .linked_tables import (
    FOUND,
    GROUP,
    LEARNED,
    InGroups,
    check_no_group,
    group_numbers,
    linked,
    numbered,
    standing_alone,
)
from .permuted_columns import GUESS, PRESENCE, check_one_value_each, moved, reassigned
from .streamed import CellsOf, Prepared, check_of, prepared

if TYPE_CHECKING:
    from ...evaluate import Check

SHOWN, HIDDEN = "shown", "hidden"

MARGINAL = (
    "The intruder knows nothing about a person's confidential value except how frequent each "
    "bucket is in the whole table."
)
EXCHANGEABLE = (
    "Given everything that is published unchanged, the intruder considers every assignment of a "
    "column's buckets to the members of a group equally likely."
)
BUCKETS = (
    "It does not bound the shares of values inside a bucket: the factor t applies to buckets. "
    "Where a bucket is a single value, its share in a group is known."
)
ENDS = (
    "It does not hide the values beside the ends of an interval: within the declared bounds, ends "
    "of intervals of {names} lie halfway between two values of the table, so an intruder who knows "
    "one of the two knows the other, up to a step of the grid."
)
EACH_COLUMN = (
    "It does not hold for combinations of confidential columns, only for each: within a group the "
    "release orders each column separately, so relations between them are lost."
)
INFORMED = (
    "It does not protect against an intruder who knows the values of other members of a group. In "
    "a group of {size} that is as far from the table as t allows, an intruder who knows no member "
    "guesses a bucket correctly with probability {none}, one who knows all but two with {two}, and "
    "one who knows all but one with 1."
)
_BY_VALUES = (
    "It does not protect against an intruder who knows how groups are formed. Groups depend on "
    "confidential values too: each takes, from every bucket, people with close quasi-identifiers. "
)
FORMED = (
    f"{_BY_VALUES}Which of the people with close quasi-identifiers share a group, and which do "
    "not, shows which buckets fit whom; in small tables they can be certain about some people."
)
FORMED_HIDDEN = (
    f"{_BY_VALUES}The intruder can infer which tables lead to this release, although it hides the "
    "groups; in small tables they can be certain about some people."
)
PLAIN = (
    "along one order of the quasi-identifiers (a Hilbert curve through their declared domain), "
    "without a local search that would bring more similar people together"
)
GIVEN = (
    "The intruder who reassigns buckets was given the groups, which the release hides; without "
    "them, they know less."
)


@dataclass(frozen=True, kw_only=True)
class TClose(Passable):
    """In every group of at least k units, the share of each bucket of each confidential column is
    within a factor t of its share in the table.

    plain: whether groups are filled in passes, along one order of the quasi-identifiers.

    Source
        Thesis, section 7.2; counts and bucket ends corrected as `publish/buckets/` states.
    """

    name = "t-close"

    t: Fraction
    k: int
    groups: str = SHOWN
    plain: bool = False

    @classmethod
    def read(
        cls,
        schema: Schema,
        override: object,
        *,
        k: int | Mapping[str, int],
        t: Number,
        groups: str = SHOWN,
        memory: int | None = None,
    ) -> Self:
        if isinstance(k, Mapping):
            raise refuse("publish.k-per-column")
        insisted, ratio = cls.insisted(override), exact(t, "t")
        if ratio < 1:
            raise refuse("publish.t-below-one", t=t)
        made = cls(
            schema=schema,
            override=insisted,
            t=ratio,
            k=whole(k, "k", least=1),
            groups=one_of(groups, "groups", (SHOWN, HIDDEN)),
        )
        if not made.confidential:
            raise made.no_role("confidential", "t-closeness is about confidential values")
        if not made.quasi:
            raise made.no_role("quasi-identifier", "Groups are formed by quasi-identifiers")
        if made.groups == SHOWN:
            check_no_group(made)
        return replace(made, held=made.room(memory))

    @property
    def in_order(self) -> bool:
        return True

    def streamed(self) -> Self:
        return replace(self, plain=True)

    @property
    def label(self) -> str:
        return f"{self.name}, groups {self.groups}"

    @property
    def fewest(self) -> int:
        return self.k

    # -- the rows ----------------------------------------------------------------------------------

    def publish(self, original: Original, source: Source) -> Published:
        check_one_value_each(original, self.confidential)
        columns = self._bucketed(original)
        labels = self._groups(original, columns)
        coarse = _coarse(original, columns)
        cells, groups = moved(
            coarse, self.confidential, lambda *_: labels, source, original.persons
        )
        for name, one in columns.items():
            self._measure(original, labels, cells[name].numbers, one)
        if self.groups == HIDDEN:
            return Published(cells, groups)
        group = numbered(labels, source)
        return Published({**cells, GROUP: group}, groups, linked(self, original, cells, group))

    def stream(
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Marking
    ) -> Made:
        with prepared(self, table, source, tell, look) as found, ExitStack() as passing:
            columns = {name: self._counted(found, name) for name in self.confidential}
            coarse, width = _coarse_coding(found.coding, columns), len(found.coding.columns)
            at = found.coding.places(self.confidential)
            of_value = [one.bucket_of() for one in columns.values()]

            def buckets(rows: Numbers) -> list[Numbers]:
                return [bucket(rows[:, j]) for bucket, j in zip(of_value, at, strict=True)]

            cell, counts = self._counts(found.passes, buckets, columns)
            quasi = found.coding.places(self.quasi)
            sizes = found.coding.sizes
            curve = along(
                [found.coding.columns[j] for j in quasi], quasi, [sizes[j] for j in quasi]
            )
            group, numbers = group_at(counts), group_numbers(len(counts), source)

            def grouped(rows: Numbers) -> Numbers:
                made = np.column_stack([rows[:, :width], numbers[group(rows[:, width])]])
                for j, bucket in zip(at, buckets(rows), strict=True):
                    made[:, j] = bucket + 1
                return made

            placed = found.passes.number(lambda rows: [cell(buckets(rows)), curve(rows)], source)
            above = [*coarse.sizes, len(counts) + 1]
            before = passing.enter_context(passing.enter_context(placed).map(grouped, above))
            after = before
            for j in at:
                moved_ = after.permute([j], lambda rows: rows[:, width], source)
                after = passing.enter_context(moved_)
            made = InGroups.of(before, after, coarse)
            shown = made.check(self.confidential)
            self._check_t(shown)
            check_kept(not any(one.torn for one in columns.values()))
            steps = [Step("partition", sizes_text(made.sizes))]
            for (name, one), found_ in zip(columns.items(), shown.confidential, strict=True):
                steps += _bucket_steps(name, one.units, found_.exact_t_ratio)
            centres, middles = _middles(columns, found.coding, coarse)
            with after.map(middles, sizes) as read:
                check = check_of(found, read)
            return made.on_disk(
                found, check, steps=steps, shown=self.groups == SHOWN, centres=centres
            )

    def _counted(self, found: Prepared, name: str) -> Bucketed:
        """The buckets of a column, the same as in memory."""
        values, times = found.values(name)
        empty = found.coding.cells(np.zeros((0, len(found.coding.columns)), np.int64))[name]
        present = np.ones(values.size, np.bool_)
        held = replace(empty, numbers=values - 1 + empty.first, present=present)
        return bucketed_counts(held, times, self.t)

    def _counts(
        self,
        passes: Passes,
        buckets: Callable[[Numbers], Sequence[Numbers]],
        columns: Mapping[str, Bucketed],
    ) -> tuple[Callable[[Sequence[Numbers]], Numbers], Matrix]:
        """The function from buckets to cells, and how many units of each cell every group has."""
        parts = [*passes.tally(buckets)]
        *combined, times = (np.concatenate(one) for one in zip(*parts, strict=True))
        cells = cells_of(combined)
        order = np.argsort(cells)
        radix = [len(one.labels) for one in columns.values()]
        table = np.zeros(math.prod(radix), np.int64)
        table[np.ravel_multi_index(combined, radix)] = cells
        counts = counts_of_cells([one[order] for one in combined], times[order], self.k, self.t)
        return lambda found: table[np.ravel_multi_index(list(found), radix)], counts

    def _measure(
        self, original: Original, labels: Numbers, buckets: Numbers, column: Bucketed
    ) -> None:
        """k and the ratio of the released buckets."""
        groups = original.of_persons(labels)
        far = ratio_of(groups, original.of_persons(buckets))
        check_kept(far is not None and far <= self.t and not column.torn)
        check_kept(int(np.bincount(groups).min()) >= self.k)

    def _check_t(self, found: Check) -> None:
        """k and the ratios of all released rows."""
        ratios = [column.exact_t_ratio for column in found.confidential]
        check_kept(found.k >= self.k and all(far is not None and far <= self.t for far in ratios))

    def _bucketed(self, original: Original) -> dict[str, Bucketed]:
        return {name: bucketed(original, name, self.t) for name in self.confidential}

    def _groups(self, original: Original, columns: Mapping[str, Bucketed]) -> Numbers:
        where = positions([original.cells[name] for name in self.quasi], original.persons)
        buckets = [original.of_persons(one.buckets) for one in columns.values()]
        cells = cells_of(buckets)
        counts = counts_for(buckets, cells, self.k, self.t)
        return original.of_rows(filled(where, cells, counts))

    def verify(self, table: Any, persons: Numbers | None) -> None:
        """Measures k and t as `check` does; `publish` has measured hidden groups."""
        if self.groups == SHOWN:
            self._check_t(check_groups(table, self.schema, persons, self.confidential, [GROUP]))

    def assess(
        self, before: Any, after: Any, source: Source, original: Original, made: Published
    ) -> Assessment:
        """Measured as if each row had the middle value of its bucket."""
        columns = self._bucketed(original)
        seen = after.drop_columns([GROUP]) if self.groups == SHOWN else after
        for name, one in columns.items():
            middles = one.middles(made.cells[name].numbers)
            seen = seen.set_column(seen.column_names.index(name), name, middles.to_arrow())
        found = super().assess(before, seen, source, original, made)
        return reassigned(self, found, original, _coarse(original, columns), made, source)

    def group_steps(self, original: Original, made: Published) -> Iterator[Step]:
        groups = original.of_persons(next(iter(made.groups.values())))
        yield Step("partition", sizes_text(np.bincount(groups)))
        for name in self.confidential:
            buckets = original.of_persons(bucketed(original, name, self.t).buckets)
            yield from _bucket_steps(name, np.bincount(buckets), ratio_of(groups, buckets))

    # -- the certificate ---------------------------------------------------------------------------

    @property
    def promise(self) -> TCloseness:
        return TCloseness(self.t)

    @property
    def way(self) -> Way:
        how = "two tables linked by group"
        if self.groups == HIDDEN:
            how = "buckets permuted within groups, which are not shown"
        return Way(
            f"t-closeness by bucketization: {how}",
            "Soria-Comas, thesis, section 7.2, corrected: counts add up, and all are feasible",
        )

    @property
    def parameters(self) -> dict[str, str]:
        return {
            "groups": self.groups,
            **({"filling": PLAIN} if self.plain else {}),
            "k": str(self.k),
            "t": f"ratio of shares, on buckets, of {', '.join(self.confidential)} at most "
            f"{exactly(self.t)} in each group",
            "ln t": f"{shortly(math.log(self.t), 4)}: the log ratio by which a group may change "
            "the belief of an intruder who knows only the shares of the whole table; it is not an "
            "epsilon of differential privacy",
            "quasi-identifiers": ", ".join(self.quasi),
            "confidential": ", ".join(self.confidential),
            "unprotected": ", ".join(self.unprotected),
        }

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (MARGINAL,) if self.groups == SHOWN else (MARGINAL, EXCHANGEABLE)

    @property
    def limits(self) -> list[str]:
        limits = [NOT_PRIVACY, TWICE, BUCKETS]
        lines = [n for n in self.confidential if isinstance(self.schema.columns[n], Bounded)]
        if lines:
            limits.append(ENDS.format(names=named(lines)))
        if len(self.confidential) > 1:
            limits.append(EACH_COLUMN)
        counts = farthest_group(self.k, self.t)
        size = sum(counts)
        guesses = [shortly(float(right_guess(counts, known)), 2) for known in (0, size - 2)]
        limits.append(INFORMED.format(size=size, none=guesses[0], two=guesses[1]))
        formed = FORMED if self.groups == SHOWN else FORMED_HIDDEN
        return [*limits, formed, LEARNED, PRESENCE, GUESS]

    def instead_of_k(self, check: Check) -> str:
        return standing_alone(check.quasi_identifiers, check.unique_share)

    def remarks(self) -> tuple[str, ...]:
        return (FOUND,) if self.groups == SHOWN else (FOUND, GIVEN)


def _coarse(original: Original, columns: Mapping[str, Bucketed]) -> dict[str, Cells]:
    """The table with the bucket of each row instead of its value."""
    return {**original.cells, **{name: one.cells() for name, one in columns.items()}}


def _coarse_coding(coding: Coding, columns: Mapping[str, Bucketed]) -> Coding:
    """The same rows with buckets instead of values."""
    declared = {name: one.cells().column for name, one in columns.items()}
    types = {name: kind for name, kind in coding.types.items() if name not in columns}
    return Coding(tuple(declared.get(one.name, one) for one in coding.columns), types)


def _middles(
    columns: Mapping[str, Bucketed], coding: Coding, coarse: Coding
) -> tuple[CellsOf, Callable[[Numbers], Numbers]]:
    """The middle values of the buckets of rows: as columns, and as numbers."""
    each = {name: one.middles(np.arange(len(one.labels))) for name, one in columns.items()}
    at = {name: coding.names.index(name) for name in columns}
    width = len(coding.columns)
    codes = {at[name]: one.numbers - one.first + 1 for name, one in each.items()}

    def cells(rows: Numbers) -> Mapping[str, Cells]:
        taken = {name: one.take(rows[:, at[name]] - 1) for name, one in each.items()}
        return {**coarse.cells(rows), **taken}

    def numbers(rows: Numbers) -> Numbers:
        made = rows[:, :width].copy()
        for j, one in codes.items():
            made[:, j] = one[made[:, j] - 1]
        return made

    return cells, numbers


def _bucket_steps(name: str, units: Numbers, far: Fraction | None) -> Iterator[Step]:
    counted = ", ".join(str(size) for size in units.tolist())
    yield Step("buckets", f"{counted} units in the buckets of `{name}`")
    ratio = "undefined" if far is None else exactly(far)
    yield Step("closeness", f"the largest ratio of shares of `{name}` is {ratio}")
