"""Microaggregation: centres of groups of similar people instead of their quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...noise.source import Source
from ...promise import KAnonymity
from ...schema import Bounded, Category
from ...taxonomy import Taxonomy
from ..assessment import Assessment
from ..partition.meaning import Meaning
from ..table.cells import Cells, Numbers
from ..table.original import Original
from .contract import Published
from .groups import EVERY, Grouped, GroupWay
from .moved import among_look_alikes

AS_THEY_ARE = "Columns that are not quasi-identifiers are published as they are."

_WIDE = 2**62
_BLOCK = 1 << 22


class Microaggregate(Grouped):
    """Every combination of quasi-identifiers is shared by at least k units.

    Source
        Thesis, section 2.8.
    """

    name = "microaggregate"
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
    }

    @property
    def compared(self) -> tuple[str, ...]:
        return self.quasi

    @property
    def changed(self) -> tuple[str, ...]:
        return self.quasi

    @property
    def promise(self) -> KAnonymity:
        return KAnonymity(self.least)

    @property
    def limits(self) -> list[str]:
        return [*super().limits, AS_THEY_ARE]

    def publish(self, original: Original, source: Source) -> Published:
        labels = self.similar_groups(original)
        self.check_homogeneous(original, dict.fromkeys(self.confidential, labels))
        centres = {name: centroids(original.cells[name], labels) for name in self.quasi}
        return Published({**original.cells, **centres}, {EVERY: labels})

    def verify(self, table: Any, persons: Numbers | None) -> None:
        self.measure_again(table, persons)

    def assess(
        self, before: Any, after: Any, source: Source, original: Original, made: Published
    ) -> Assessment:
        found = super().assess(before, after, source, original, made)
        return among_look_alikes(self, found, original, made, source)


def centroids(column: Cells, labels: NDArray[np.int64]) -> Cells:
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

    Source
        Thesis, section 2.8 and equation 6.4.
    """
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    if isinstance(column.column, Category):
        if isinstance(column.column.stated, tuple):
            return replace(column, numbers=_most_frequent(column.numbers, labels)[labels])
        return _concepts(column, column.column.taxonomy, labels)
    sums = _sums(column.numbers[order], starts)
    if isinstance(column.column, Bounded):
        middle = np.array((2 * sums + sizes) // (2 * sizes), np.int64)
    else:
        middle = (2 * sums > sizes).astype(np.int64)
    return replace(column, numbers=middle[labels])


def _sums(ordered: Numbers, starts: Numbers) -> NDArray[np.int64] | NDArray[np.object_]:
    largest = max(abs(int(ordered.min())), abs(int(ordered.max())), 1)
    wide = 4 * largest * ordered.size >= _WIDE
    return np.add.reduceat(ordered.astype(object) if wide else ordered, starts)


def _most_frequent(numbers: Numbers, labels: Numbers) -> Numbers:
    kinds = int(numbers.max()) + 1
    pairs, counts = np.unique(labels * kinds + numbers, return_counts=True)
    groups = pairs // kinds
    best = np.lexsort((pairs, -counts, groups))
    first = np.unique(groups[best], return_index=True)[1]
    found: Numbers = pairs[best[first]] % kinds
    return found


def _concepts(column: Cells, taxonomy: Taxonomy, labels: Numbers) -> Cells:
    names = taxonomy.concepts
    place = {concept: i for i, concept in enumerate(names)}
    attached = np.array([place[taxonomy.concept_of(label)] for label in column.labels])
    occurring, codes = np.unique(attached[column.numbers], return_inverse=True)
    meaning = Meaning(taxonomy, occurring)
    counted = _counts(labels, codes.astype(np.int64).reshape(-1), occurring.size)
    middle = np.concatenate([meaning.middle(counts) for counts in counted])
    # a concept goes by the name that rows have for it, where there is one
    shown = dict(zip(names, names, strict=True))
    for label, concept in reversed(taxonomy.labels):
        shown[concept] = label
    return replace(
        column, numbers=middle[labels], labels=tuple(shown[concept] for concept in names)
    )


def _counts(labels: Numbers, codes: Numbers, kinds: int) -> Iterator[Numbers]:
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
        counts = np.bincount(places, minlength=(end - begin) * kinds)
        yield counts.reshape(end - begin, kinds)
