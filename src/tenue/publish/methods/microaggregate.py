"""Microaggregation: centres of groups of similar people instead of their quasi-identifiers.

Groups are formed by all quasi-identifiers together, or by each of them alone (individual ranking).
The latter keeps values closer to the truth, can be done of tables of any size, and promises less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import Passes
from ...errors import Fault, refuse
from ...evaluate.certificate import explained
from ...evaluate.check import check_groups
from ...noise.source import Source
from ...privacy import ColumnKAnonymity, KAnonymity
from ...schema import Bounded, Category
from ...taxonomy import Taxonomy
from ...text import many, percent, sentence
from ..assessment import Assessment, Step
from ..partition.individual_ranking import Classes, whole_values
from ..partition.mixed_records import Meaning
from ..partition.tied_partition_in_passes import Cuts, column_cuts
from ..table.cells import Cells, Numbers
from ..table.input_table import Original, Validated
from ..table.records import classes_of
from .contract import Look, Made, Published
from .groups import EVERY, Grouped, GroupWay, homogeneous_steps, units_in_each
from .permuted_columns import among_look_alikes
from .streamed import Prepared, by_group, check_of, finished, labelled, prepared, sizes_in_passes

if TYPE_CHECKING:
    from ...evaluate import Check, Risk

EACH = "each-quasi-identifier"

AS_THEY_ARE = "Columns that are not quasi-identifiers are published as they are."
COMBINED = (
    "Each quasi-identifier was grouped by itself. A combination of several of them may be one "
    "person's alone: whoever knows several of a person may find that person's row, and reads the "
    "other columns there."
)

_WIDE = 2**62
_BLOCK = 1 << 22


class Microaggregate(Grouped):
    """Every combination of quasi-identifiers is shared by at least k units; of those that are
    grouped each by itself, every value is.

    Source
        Thesis, section 2.8.
    """

    name = "microaggregate"
    one_partition = True
    ways: ClassVar[dict[str, GroupWay]] = {
        "mdav": GroupWay(
            "microaggregation: MDAV groups, centres instead of quasi-identifiers",
            "Soria-Comas, thesis, section 2.8 (Algorithm 2.1)",
        ),
        "v-mdav": GroupWay(
            "microaggregation: V-MDAV groups, centres instead of quasi-identifiers",
            "Soria-Comas, thesis, sections 2.8 and 3.3.1; Solanas and Martínez-Ballesté 2006",
            gain=True,
        ),
        EACH: GroupWay(
            "microaggregation: groups of similar values of each quasi-identifier, equal ones "
            "together, and their centres instead",
            "Soria-Comas, thesis, section 2.8 (individual ranking), with the least squared error "
            "of all groups that part no equal values",
            similar=False,
            in_order=True,
        ),
    }

    def check_needs(self) -> None:
        if not self.quasi:
            raise self.no_role("quasi-identifier", "Groups are formed by quasi-identifiers")

    @property
    def compared(self) -> tuple[str, ...]:
        return self.quasi

    @property
    def changed(self) -> tuple[str, ...]:
        return self.quasi

    @property
    def promise(self) -> KAnonymity | ColumnKAnonymity:
        single = self.by == EACH and len(self.quasi) > 1
        return ColumnKAnonymity(self.least) if single else KAnonymity(self.least)

    @property
    def limits(self) -> list[str]:
        alone = isinstance(self.promise, ColumnKAnonymity)
        return [*super().limits, *([COMBINED] if alone else []), AS_THEY_ARE]

    def explained(self, check: Check) -> Check:
        return explained(check, self.promise)

    def warnings(self, risk: Risk | None) -> list[str]:
        check = None if risk is None else risk.check
        if check is None or not check.unique_share:
            return []
        return [
            f"{sentence(percent(check.unique_share))} of the rows share all quasi-identifiers "
            'together with nobody: whoever knows these finds them. Use by="mdav", or publish '
            "fewer quasi-identifiers."
        ]

    def publish(self, original: Original, source: Source) -> Published:
        if self.by == EACH:
            return self._each(original)
        labels = self.similar_groups(original)
        self.check_homogeneous(original, dict.fromkeys(self.confidential, labels))
        centres = {name: centroids(original.cells[name], labels) for name in self.quasi}
        return Published({**original.cells, **centres}, {EVERY: labels})

    def _each(self, original: Original) -> Published:
        """The groups that are told apart in the release are those of look-alikes: rows whose
        columns are all in the same groups."""
        centres, steps = {}, []
        for name in self.quasi:
            column = original.cells[name]
            _check_one_each(original, column)
            found = classes_of(column)
            units = Classes(original.of_persons(found.codes), found.line)
            groups = whole_values(units, self.least)
            centres[name] = centroids(column, original.of_rows(groups.labels))
            steps.append(_column_step(name, groups.sizes))
        shown = np.stack([one.numbers for one in centres.values()])
        labels = np.unique(shown, axis=1, return_inverse=True)[1].reshape(-1)
        self.check_homogeneous(original, dict.fromkeys(self.confidential, labels))
        return Published({**original.cells, **centres}, {EVERY: labels}, steps=tuple(steps))

    def stream(
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Look
    ) -> Made:
        with prepared(self, table, self.room_for_rows, tell, look) as found:
            tell(self.step)
            at = {name: found.place(name) for name in self.quasi}
            cuts = {
                name: column_cuts(
                    found.passes.only(at[name]), found.coding.column(name), self.least, 1
                )
                for name in self.quasi
            }
            centres = {name: _centres(found, name, one) for name, one in cuts.items()}
            width = len(found.coding.columns)
            places = {name: width + i for i, name in enumerate(self.quasi)}
            labels = [(one.label, at[name]) for name, one in cuts.items()]
            shown = [(one.numbers, places[name]) for name, one in centres.items()]

            def groups(rows: Numbers) -> Sequence[Numbers]:
                return [numbers[rows[:, j]] for numbers, j in shown]

            with labelled(
                found,
                lambda rows: [label(rows[:, j]) for label, j in labels],
                [one.sizes.size for one in cuts.values()],
            ) as after:
                check = check_of(self, found, after, groups)
                self.check_alone(check)
                self._measure_each(after, shown)
                sizes = sizes_in_passes(after, groups)
                steps = [
                    *homogeneous_steps(check, np.array(list(sizes))),
                    *(_column_step(name, one.sizes) for name, one in cuts.items()),
                ]
                return finished(
                    self,
                    found,
                    after,
                    by_group(found.coding, centres, places),
                    check,
                    source,
                    tell,
                    steps=steps,
                    sizes={EVERY: sizes},
                )

    def _measure_each(self, after: Passes, shown: Sequence[tuple[Numbers, int]]) -> None:
        """Counts how many rows have each value that leaves; a `Fault` if it is fewer than k."""
        for numbers, j in shown:
            if min(sizes_in_passes(after, _looked_up(numbers, j))) < self.least:
                raise Fault("a release was about to leave without what it promises")

    def verify(self, table: Any, persons: Numbers | None) -> None:
        if self.by != EACH:
            self.measure_again(table, persons)
            return
        for name in self.quasi:
            if check_groups(table, self.schema, persons, (), [name]).k < self.least:
                raise Fault("a release was about to leave without what it promises")

    def assess(
        self, before: Any, after: Any, source: Source, original: Original, made: Published
    ) -> Assessment:
        found = super().assess(before, after, source, original, made)
        return among_look_alikes(self, found, original, made, source)


def _check_one_each(original: Original, column: Cells) -> None:
    """Refuses persons who have several values of a column: they would count in several groups."""
    own = original.of_rows(original.of_persons(column.numbers))
    if (column.numbers != own).any():
        raise refuse("publish.person-group-values-vary", column=column.name)


def _looked_up(numbers: Numbers, place: int) -> Callable[[Numbers], Sequence[Numbers]]:
    return lambda rows: [numbers[rows[:, place]]]


def _column_step(name: str, sizes: Numbers) -> Step:
    return Step("column", f"{many(sizes.size, 'group')} of {name}, {units_in_each(sizes)}")


def _centres(found: Prepared, name: str, cuts: Cuts) -> Cells:
    """The centre of each group of a column, as `centroids` would find it."""
    empty = found.coding.cells(np.zeros((0, len(found.coding.columns)), np.int64))[name]
    if cuts.means is not None:
        numbers = cuts.means - 1 + empty.first
        return replace(empty, numbers=numbers, present=np.ones(numbers.size, np.bool_))
    tally = found.passes.only(found.place(name)).tally(lambda rows: [rows[:, 0]])
    values, times = (np.concatenate(one) for one in zip(*tally, strict=True))
    held = replace(empty, numbers=values - 1, present=np.ones(values.size, np.bool_))
    labels = cuts.label(values)
    return centroids(held, labels, times).take(np.unique(labels, return_index=True)[1])


def centroids(column: Cells, labels: Numbers, times: Numbers | None = None) -> Cells:
    """The column with the centre of each row's group instead of the row's own value.

    Guarantee
        All rows of a group have the same value. Numbers and dates have the exact mean, rounded to
        the column's grid, halves up. A category with a taxonomy has the least marginal concept,
        which may be more general than any value of the group; without one, the most frequent
        category, the first declared among equals. Booleans have the more frequent value, false
        among equals.

    Parameters
        column: no value is missing.
        labels: the group of each row, numbered from 0.
        times: how many rows each stands for; one if not given.

    Source
        Thesis, section 2.8 and equation 6.4.
    """
    weight = np.ones(labels.size, np.int64) if times is None else times
    if isinstance(column.column, Category):
        if isinstance(column.column.stated, tuple):
            return replace(column, numbers=_most_frequent(column.numbers, labels, weight)[labels])
        return _concepts(column, column.column.taxonomy, labels, weight)
    order = np.argsort(labels, kind="stable")
    rows = np.bincount(labels)
    starts = np.cumsum(rows) - rows
    sizes = np.add.reduceat(weight[order], starts)
    sums = _sums(column.numbers[order], weight[order], starts)
    if isinstance(column.column, Bounded):
        middle = np.array((2 * sums + sizes) // (2 * sizes), np.int64)
    else:
        middle = (2 * sums > sizes).astype(np.int64)
    return replace(column, numbers=middle[labels])


def _sums(
    ordered: Numbers, weight: Numbers, starts: Numbers
) -> NDArray[np.int64] | NDArray[np.object_]:
    largest = max(abs(int(ordered.min())), abs(int(ordered.max())), 1)
    wide = 4 * largest * int(weight.sum()) >= _WIDE
    return np.add.reduceat((ordered.astype(object) if wide else ordered) * weight, starts)


def _most_frequent(numbers: Numbers, labels: Numbers, weight: Numbers) -> Numbers:
    kinds = int(numbers.max()) + 1
    pairs, place = np.unique(labels * kinds + numbers, return_inverse=True)
    counts = np.zeros(pairs.size, np.int64)
    np.add.at(counts, place.reshape(-1), weight)
    groups = pairs // kinds
    best = np.lexsort((pairs, -counts, groups))
    first = np.unique(groups[best], return_index=True)[1]
    found: Numbers = pairs[best[first]] % kinds
    return found


def _concepts(column: Cells, taxonomy: Taxonomy, labels: Numbers, weight: Numbers) -> Cells:
    names = taxonomy.concepts
    place = {concept: i for i, concept in enumerate(names)}
    attached = np.array([place[taxonomy.concept_of(label)] for label in column.labels])
    occurring, codes = np.unique(attached[column.numbers], return_inverse=True)
    meaning = Meaning(taxonomy, occurring)
    counted = _counts(labels, codes.astype(np.int64).reshape(-1), occurring.size, weight)
    middle = np.concatenate([meaning.middle(counts) for counts in counted])
    # a concept goes by the name that rows have for it, where there is one
    shown = dict(zip(names, names, strict=True))
    for label, concept in reversed(taxonomy.labels):
        shown[concept] = label
    return replace(
        column, numbers=middle[labels], labels=tuple(shown[concept] for concept in names)
    )


def _counts(labels: Numbers, codes: Numbers, kinds: int, weight: Numbers) -> Iterator[Numbers]:
    """How often each kind occurs in each group, a block of groups at a time."""
    groups = int(labels.max()) + 1
    many = max(1, _BLOCK // kinds)
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    for begin in range(0, groups, many):
        end = min(begin + many, groups)
        low, high = np.searchsorted(ordered, [begin, end])
        rows = order[low:high]
        places = (labels[rows] - begin) * kinds + codes[rows]
        counts = np.zeros((end - begin) * kinds, np.int64)
        np.add.at(counts, places, weight[rows])
        yield counts.reshape(end - begin, kinds)
