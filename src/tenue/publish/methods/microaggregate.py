"""Microaggregation: the quasi-identifiers of similar people are replaced by their group's centre.

Groups are formed by all quasi-identifiers together, or by each separately (individual ranking).
The latter keeps values closer to the truth, works on tables of any size, and promises less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...errors import refuse
from ...evaluate.check import check_groups
from ...noise.source import Source
from ...privacy import ColumnKAnonymity, KAnonymity
from ...schema import Bounded, Category
from ...taxonomy import Taxonomy
from ...text import percent, sentence
from ..assessment import Assessment, Step
from ..partition.individual_ranking import Classes, whole_values
from ..partition.mixed_records import Meaning
from ..partition.tied_partition_in_passes import Cuts, column_cuts
from ..row_fingerprint import Marking
from ..table.cells import Cells, Numbers
from ..table.input_table import Original, Validated
from ..table.records import classes_of
from .contract import Made, Published, check_kept
from .groups import EVERY, Grouped, GroupWay, homogeneous_steps, sizes_text
from .permuted_columns import varies, within_classes
from .streamed import Prepared, by_group, check_of, finished, labelled, prepared, sizes_in_passes

if TYPE_CHECKING:
    from ...evaluate import Risk

EACH = "each-quasi-identifier"

AS_THEY_ARE = "It does not protect columns that are not quasi-identifiers: they stay unchanged."
COMBINED = (
    "It does not hold for combinations of quasi-identifiers: each was grouped separately, so a "
    "combination may be unique. An intruder who knows several of a person may find that person's "
    "row and read its other columns."
)

_WIDE = 2**62
_BLOCK = 1 << 22


class Microaggregate(Grouped):
    """Every combination of quasi-identifiers is shared by at least k units; every value, if each
    quasi-identifier is grouped separately.

    Source
        Thesis, section 2.8.
    """

    name = "microaggregate"
    one_partition = True
    ways: ClassVar[dict[str, GroupWay]] = {
        "mdav": GroupWay(
            "microaggregation: quasi-identifiers replaced by the centres of MDAV groups",
            "Soria-Comas, thesis, section 2.8 (Algorithm 2.1)",
        ),
        "v-mdav": GroupWay(
            "microaggregation: quasi-identifiers replaced by the centres of V-MDAV groups",
            "Soria-Comas, thesis, sections 2.8 and 3.3.1; Solanas and Martínez-Ballesté 2006",
            gain=True,
        ),
        EACH: GroupWay(
            "microaggregation: groups of similar values of each quasi-identifier, equal ones "
            "together, replaced by their centres",
            "Soria-Comas, thesis, section 2.8 (individual ranking), with the least squared error "
            "of all partitions that separate no equal values",
            similar=False,
            in_order=True,
        ),
    }

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

    def warnings(self, risk: Risk | None) -> list[str]:
        check = None if risk is None else risk.check
        if check is None or not check.unique_share:
            return []
        return [
            f"{sentence(percent(check.unique_share))} of the rows are unique in all "
            "quasi-identifiers together: an intruder who knows these finds them. Use "
            'by="mdav", or publish fewer quasi-identifiers.'
        ]

    def publish(self, original: Original, source: Source) -> Published:
        if self.by == EACH:
            return self._each(original)
        labels = self.similar_groups(original)
        self.check_homogeneous(original, dict.fromkeys(self.confidential, labels))
        centres = {name: centroids(original.cells[name], labels) for name in self.quasi}
        return Published({**original.cells, **centres}, {EVERY: labels})

    def _each(self, original: Original) -> Published:
        """The groups are the equivalence classes: rows whose columns are all in the same groups."""
        centres, steps = {}, []
        for name in self.quasi:
            column = original.cells[name]
            if varies(original, column):  # a person would count in several groups
                raise refuse("publish.person-group-values-vary", column=name)
            found = classes_of(column)
            units = Classes(original.of_persons(found.codes), found.line)
            groups = whole_values(units, self.least)
            centres[name] = centroids(column, original.of_rows(groups.labels))
            steps.append(Step("column", sizes_text(groups.sizes, f" of {name}")))
        shown = np.stack([one.numbers for one in centres.values()])
        labels = np.unique(shown, axis=1, return_inverse=True)[1].reshape(-1)
        self.check_homogeneous(original, dict.fromkeys(self.confidential, labels))
        return Published({**original.cells, **centres}, {EVERY: labels}, steps=tuple(steps))

    def stream(
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Marking
    ) -> Made:
        with prepared(self, table, source, tell, look) as found:
            at = {name: found.place(name) for name in self.quasi}
            cuts = {
                name: column_cuts(found.passes.only(j), found.coding.column(name), self.least, 1)
                for name, j in at.items()
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
                check = check_of(found, after, groups)
                self.check_alone(check)
                for numbers, j in shown:
                    sizes = sizes_in_passes(after, _looked_up(numbers, j))
                    check_kept(min(sizes) >= self.least)
                sizes = sizes_in_passes(after, groups)
                steps = [
                    *homogeneous_steps(check, np.array(list(sizes))),
                    *(
                        Step("column", sizes_text(one.sizes, f" of {name}"))
                        for name, one in cuts.items()
                    ),
                ]
                return finished(
                    found,
                    after,
                    by_group(found.coding, centres, places),
                    check,
                    steps=steps,
                    sizes={EVERY: sizes},
                )

    def verify(self, table: Any, persons: Numbers | None) -> None:
        if self.by != EACH:
            self.measure_again(table, persons)
            return
        for name in self.quasi:
            check_kept(check_groups(table, self.schema, persons, (), [name]).k >= self.least)

    def assess(
        self, before: Any, after: Any, source: Source, original: Original, made: Published
    ) -> Assessment:
        found = super().assess(before, after, source, original, made)
        return within_classes(self, found, original, made, source)


def _looked_up(numbers: Numbers, place: int) -> Callable[[Numbers], Sequence[Numbers]]:
    return lambda rows: [numbers[rows[:, place]]]


def _centres(found: Prepared, name: str, cuts: Cuts) -> Cells:
    """The centre of each group of a column, as `centroids` computes it."""
    empty = found.coding.cells(np.zeros((0, len(found.coding.columns)), np.int64))[name]
    if cuts.means is not None:
        numbers = cuts.means - 1 + empty.first
        return replace(empty, numbers=numbers, present=np.ones(numbers.size, np.bool_))
    values, times = found.values(name)
    column = replace(empty, numbers=values - 1, present=np.ones(values.size, np.bool_))
    labels = cuts.label(values)
    return centroids(column, labels, times).take(np.unique(labels, return_index=True)[1])


def centroids(column: Cells, labels: Numbers, times: Numbers | None = None) -> Cells:
    """The column with each value replaced by the centre of its group.

    Guarantee
        All rows of a group have the same value. Numbers and dates have the exact mean, rounded to
        the column's grid, halves up. A category with a taxonomy has the least marginal concept,
        which may be more general than any value of the group; without one, the most frequent
        category, the first declared in a tie. Booleans have the more frequent value, false in a
        tie.

    Parameters
        column: without missing values.
        labels: the group of each row, numbered from 0.
        times: how many rows each row represents; 1 if None.

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
    # a concept is published under the label that rows have for it, where there is one
    shown = dict(zip(names, names, strict=True))
    for label, concept in reversed(taxonomy.labels):
        shown[concept] = label
    return replace(
        column, numbers=middle[labels], labels=tuple(shown[concept] for concept in names)
    )


def _counts(labels: Numbers, codes: Numbers, kinds: int, weight: Numbers) -> Iterator[Numbers]:
    """How often each kind occurs in each group, a block of groups at a time."""
    groups = int(labels.max()) + 1
    block = max(1, _BLOCK // kinds)
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    for begin in range(0, groups, block):
        end = min(begin + block, groups)
        low, high = np.searchsorted(ordered, [begin, end])
        rows = order[low:high]
        places = (labels[rows] - begin) * kinds + codes[rows]
        counts = np.zeros((end - begin) * kinds, np.int64)
        np.add.at(counts, places, weight[rows])
        yield counts.reshape(end - begin, kinds)
