"""t-closeness: groups in which each bucket of a confidential column is about as frequent as in all.

Values become buckets of about equal mass. In every group of at least k units the share of each
bucket is within a factor t of its share in the table, exactly. Groups are shown, as two linked
tables; or hidden, and the buckets of a group change places between its people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ...arguments import exact, whole
from ...engine.contract import Passes
from ...errors import Fault, refuse
from ...evaluate.certificate import explained
from ...evaluate.check import check_groups
from ...noise.source import Source
from ...privacy import TCloseness
from ...schema import Bounded, Schema
from ...text import exactly, many, named, shortly
from ..assessment import Assessment, Step
from ..buckets.assign_groups import along, filled, group_at, positions
from ..buckets.bucket_counts import Matrix, cells_of, counts_for, counts_of_cells
from ..buckets.closeness_ratio import farthest_group, ratio_of, right_guess
from ..buckets.column import Bucketed, bucketed, bucketed_counts
from ..table.cells import Cells, Coding, Numbers
from ..table.input_table import Original, Validated
from .contract import Look, Made, Passable, Published, Way, one_of
from .groups import NOT_PRIVACY, TWICE, units_in_each
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
from .permuted_columns import GUESS, PRESENCE, as_moved, check_one_value_each, moved, undone
from .streamed import CellsOf, Prepared, check_of, prepared

if TYPE_CHECKING:
    from ...evaluate import Check

SHOWN, HIDDEN = "shown", "hidden"

MARGINAL = (
    "The intruder knows nothing of a person's confidential value but how frequent each bucket is "
    "in the whole table."
)
EXCHANGEABLE = (
    "Given all that is published unchanged, every assignment of a column's buckets to the people "
    "of a group is equally likely to the intruder."
)
BUCKETS = (
    "It holds on buckets, of one factor for each: of values inside a bucket nothing is said, and "
    "where a bucket is a single value, its share in a group is known."
)
ENDS = (
    "Inside the declared bounds, the ends of intervals of {names} lie half-way between two values "
    "of the table: whoever knows one of the two knows the other, to a step of the grid."
)
EACH_COLUMN = (
    "It holds for each confidential column by itself, not for combinations of them: in the release "
    "each has an order of its own inside a group, so relations between them are lost there."
)
INFORMED = (
    "Whoever knows members of a group learns about the others, and whoever knows all but one knows "
    "the last. In a group of {size} that is as far from the table as t allows, one who knows "
    "nobody guesses a bucket rightly with probability {none}, one who knows all but two with "
    "{two}, one who knows all but one with 1."
)
FORMED = (
    "Groups are formed by confidential values too: each takes, from every bucket, people who are "
    "close in their quasi-identifiers. Whoever knows the method learns from who shares a group, "
    "and who does not though close, which buckets fit whom; in small tables he is certain of some. "
    "Nothing is promised against him."
)
FORMED_HIDDEN = (
    "Groups are formed by confidential values too: each takes, from every bucket, people who are "
    "close in their quasi-identifiers. Whoever knows the method can weigh which tables lead to "
    "this release, though it hides the groups; in small tables he is certain of some. Nothing is "
    "promised against him."
)
PLAIN = (
    "along one order of the quasi-identifiers (a Hilbert curve through their declared domain); "
    "nobody changed groups afterwards to bring people closer together"
)
GIVEN = (
    "Whoever puts buckets back was given the groups, which the release hides: without them he "
    "knows less."
)


@dataclass(frozen=True, kw_only=True)
class TClose(Passable):
    """In every group of at least k units, the share of each bucket of each confidential column is
    within a factor t of its share in the table.

    plain: whether groups are filled along one order of the quasi-identifiers, in passes.

    Source
        Thesis, section 7.2; counts and bucket ends corrected where `bucket` says so.
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
        t: object,
        groups: str = SHOWN,
        memory: int | None = None,
    ) -> Self:
        if isinstance(k, Mapping):
            raise refuse("publish.k-per-column")
        made = cls(
            schema=schema,
            override=cls.insisted(override),
            t=_ratio(t),
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

    @property
    def changed(self) -> tuple[str, ...]:
        return self.confidential

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
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Look
    ) -> Made:
        with (
            prepared(self, table, self.room_for_rows, tell, look) as found,
            ExitStack() as passing,
        ):
            tell(self.step)
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
            self._check_shown(made, columns)
            middles = _middles(columns, found.coding, coarse)
            with after.map(middles.numbers, sizes) as read:
                check = check_of(self, found, read)
            return made.on_disk(
                self,
                found,
                check,
                source,
                tell,
                steps=list(self._steps_of(made, columns)),
                shown=self.groups == SHOWN,
                centres=middles.cells,
            )

    def _counted(self, found: Prepared, name: str) -> Bucketed:
        """The buckets of a column, which are those of the table if it were held."""
        tally = found.passes.only(found.place(name)).tally(lambda rows: [rows[:, 0]])
        values, times = (np.concatenate(one) for one in zip(*tally, strict=True))
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
        """What gives the cell of rows by their buckets, and how many units of each cell every
        group has."""
        parts = [*passes.tally(buckets)]
        *combined, times = (np.concatenate(one) for one in zip(*parts, strict=True))
        cells = cells_of(combined)
        order = np.argsort(cells)
        radix = [len(one.labels) for one in columns.values()]
        table = np.zeros(math.prod(radix), np.int64)
        table[np.ravel_multi_index(combined, radix)] = cells
        counts = counts_of_cells([one[order] for one in combined], times[order], self.k, self.t)
        return lambda found: table[np.ravel_multi_index(list(found), radix)], counts

    def _check_shown(self, made: InGroups, columns: Mapping[str, Bucketed]) -> None:
        """What was promised, of all rows as they leave: a `Fault` if it fails."""
        found = made.check(self.confidential)
        ratios = [column.exact_t_ratio for column in found.confidential]
        far = any(ratio is None or ratio > self.t for ratio in ratios)
        if found.k < self.k or far or any(one.torn for one in columns.values()):
            raise Fault("a release was about to leave without what it promises")

    def _steps_of(self, made: InGroups, columns: Mapping[str, Bucketed]) -> Iterator[Step]:
        """What `group_steps` says of groups that were found in passes."""
        found = {one.name: one for one in made.check(self.confidential).confidential}
        yield Step("partition", f"{many(made.sizes.size, 'group')}, {units_in_each(made.sizes)}")
        for name, one in columns.items():
            yield from _bucket_steps(name, one.units, found[name].exact_t_ratio)

    def _bucketed(self, original: Original) -> dict[str, Bucketed]:
        return {name: bucketed(original, name, self.t) for name in self.confidential}

    def _groups(self, original: Original, columns: Mapping[str, Bucketed]) -> Numbers:
        where = positions([original.cells[name] for name in self.quasi], original.persons)
        buckets = [original.of_persons(one.buckets) for one in columns.values()]
        cells = cells_of(buckets)
        counts = counts_for(buckets, cells, self.k, self.t)
        return original.of_rows(filled(where, cells, counts))

    def _measure(
        self, original: Original, labels: Numbers, buckets: Numbers, column: Bucketed
    ) -> None:
        """What was promised, once more, of the buckets as they leave: a `Fault` if it fails."""
        groups = original.of_persons(labels)
        far = ratio_of(groups, original.of_persons(buckets))
        if far is None or far > self.t or np.bincount(groups).min() < self.k or column.torn:
            raise Fault("a release was about to leave without what it promises")

    def verify(self, table: Any, persons: Numbers | None) -> None:
        """Measures k and t as `check` does, of the groups that are shown; `publish` has measured
        hidden ones, of which the table says nothing."""
        if self.groups == HIDDEN:
            return
        found = check_groups(table, self.schema, persons, self.confidential, [GROUP])
        ratios = [column.exact_t_ratio for column in found.confidential]
        if found.k < self.k or any(far is None or far > self.t for far in ratios):
            raise Fault("a release was about to leave without what it promises")

    def assess(
        self, before: Any, after: Any, source: Source, original: Original, made: Published
    ) -> Assessment:
        """As of a table that has the middle value of its bucket in each row."""
        columns = self._bucketed(original)
        seen = after.drop_columns([GROUP]) if self.groups == SHOWN else after
        for name, one in columns.items():
            middles = one.middles(made.cells[name].numbers)
            seen = seen.set_column(seen.column_names.index(name), name, middles.to_arrow())
        found = super().assess(before, seen, source, original, made)
        leave = (*self.quasi, *self.confidential, *self.unprotected)
        return undone(found, original, as_moved(_coarse(original, columns), made, leave), source)

    def explained(self, check: Check) -> Check:
        return explained(check, self.promise)

    def group_steps(self, original: Original, made: Published) -> Iterator[Step]:
        groups = original.of_persons(next(iter(made.groups.values())))
        sizes = np.bincount(groups)
        text = f"{many(sizes.size, 'group')}, {units_in_each(sizes)}"
        yield Step("partition", text)
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
            how = "buckets that change places inside groups, which are not shown"
        return Way(
            f"t-closeness by bucketization: {how}",
            "Soria-Comas, thesis, section 7.2, corrected: counts add up, and none is infeasible",
        )

    @property
    def parameters(self) -> dict[str, str]:
        return {
            "groups": self.groups,
            **({"filling": PLAIN} if self.plain else {}),
            "k": str(self.k),
            "t": f"ratio of shares, on buckets, of {', '.join(self.confidential)} at most "
            f"{exactly(self.t)} in each group",
            "ln t": f"{shortly(math.log(self.t), 4)}: what a group tells whoever knows only the "
            "shares of the whole table, as a logarithm; it is no epsilon of differential privacy",
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


class _Middles(NamedTuple):
    """Rows of buckets with the middle value of each instead: as columns, and as numbers."""

    cells: CellsOf
    numbers: Callable[[Numbers], Numbers]


def _middles(columns: Mapping[str, Bucketed], coding: Coding, coarse: Coding) -> _Middles:
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

    return _Middles(cells, numbers)


def _bucket_steps(name: str, units: Numbers, far: Fraction | None) -> Iterator[Step]:
    counted = ", ".join(str(size) for size in units.tolist())
    yield Step("buckets", f"{counted} units in the buckets of `{name}`")
    told = "none" if far is None else exactly(far)
    yield Step("closeness", f"the largest ratio of shares of `{name}` is {told}")


def _ratio(t: object) -> Fraction:
    value = exact(t, "t")
    if value < 1:
        raise refuse("publish.t-below-one", t=t)
    return value
