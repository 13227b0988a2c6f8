"""Records of numbers and categories together, as a partition reads them from a table with a schema.

The distance of two records is that of equation 6.7: the root of the sum, over the columns, of the
squared distance divided by the squared diameter of the column's *declared* domain. Numbers, dates
and booleans have their difference; categories with a taxonomy their semantic distance, and the
centre of several is the least marginal concept. Categories without a taxonomy are as far apart
as the domain allows, so each is a corner of a simplex, and the centre of several has their shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import refuse
from ...taxonomy import DISTANCE_STEPS, Taxonomy
from .exact_means import GRAINS, Points, Sums, points_of
from .mdav_reference import Distances, Euclidean, Rows

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]

_LARGEST_TABLE = 1 << 20
_BLOCK = 1 << 14


class Meaning:
    """The concepts of a taxonomy by number, and the distance of each from those that occur.

    Parameters
        taxonomy: of the categories.
        occurring: the concepts that occur, as indices of `taxonomy.concepts`; records refer to them
            by their indices in this array.
    """

    def __init__(self, taxonomy: Taxonomy, occurring: Numbers) -> None:
        self.taxonomy = taxonomy
        self.occurring = occurring
        self._rows: dict[int, Numbers] = {}
        # One category, or several names for one concept: no two values differ.
        diameter = int(taxonomy.marginality_sensitivity * DISTANCE_STEPS)
        self._unit = 1.0 / diameter if diameter else 0.0

    def steps_from(self, concept: int) -> Numbers:
        """Rational distances from a concept to those that occur, in multiples of 2**-32."""
        if concept not in self._rows:
            names, distance = self.taxonomy.concepts, self.taxonomy.rational_distance
            others = (names[int(number)] for number in self.occurring)
            row = [int(distance(names[concept], other) * DISTANCE_STEPS) for other in others]
            self._rows[concept] = np.array(row, np.int64)
        return self._rows[concept]

    def squared_from(self, concept: int) -> Reals:
        """Squared distances, the diameter of the domain being 1."""
        distance = self.steps_from(concept) * self._unit
        squared: Reals = distance * distance
        return squared

    def middle(self, counts: Numbers) -> Numbers:
        """The concept with the least marginality towards each sample; a sample is a row of counts
        of what occurs. Among equals, the first of `taxonomy.concepts`.

        Source
            Thesis, equation 6.4, among all concepts.
        """
        found = np.empty(counts.shape[0], np.int64)
        concepts = len(self.taxonomy.concepts)
        if concepts * self.occurring.size > _LARGEST_TABLE:
            names = self.taxonomy.concepts
            for i, sample in enumerate(counts):
                seen = np.flatnonzero(sample)
                counted = {names[int(self.occurring[j])]: int(sample[j]) for j in seen}
                found[i] = names.index(self.taxonomy.least_marginal(counted))
            return found
        table = np.array([self.steps_from(concept) for concept in range(concepts)])
        for begin in range(0, counts.shape[0], _BLOCK):
            block = counts[begin : begin + _BLOCK]
            found[begin : begin + _BLOCK] = np.argmin(block @ table.T, axis=1)
        return found


@dataclass(frozen=True, eq=False)
class Semantic:
    """One column of categories with a taxonomy: the index of each record's concept in
    `meaning.occurring`."""

    meaning: Meaning
    codes: Numbers

    def centres(self, groups: Numbers) -> Semantic:
        """The centre of each group of records; -1 means no group."""
        kept, many, kinds = groups >= 0, int(groups.max()) + 1, self.meaning.occurring.size
        places = groups[kept] * kinds + self.codes[kept]
        counts = np.bincount(places, minlength=many * kinds).reshape(many, kinds)
        occurring, codes = np.unique(self.meaning.middle(counts), return_inverse=True)
        meaning = Meaning(self.meaning.taxonomy, occurring)
        return Semantic(meaning, codes.astype(np.int64).reshape(-1))


@dataclass(frozen=True, eq=False)
class Records:
    """Records that `mdav` and `v_mdav` can partition; made by `tn.microdata.records`.

    coordinates: one row for each record, each column divided by the diameter of its domain.
    semantic: the columns that have no coordinates.
    """

    coordinates: Points
    semantic: tuple[Semantic, ...] = ()

    def __len__(self) -> int:
        return int(self.coordinates.shape[0])


class Mixed:
    """The `Space` of such records: squared distances of equation 6.7."""

    def __init__(self, coordinates: Points, semantic: Sequence[Semantic]) -> None:
        self.size = coordinates.shape[0]
        self._numbers = Euclidean(coordinates)
        self._semantic = tuple(semantic)
        self._width = coordinates.shape[1]

    def tally(self, rows: Rows) -> Sums:
        parts = [self._numbers.tally(rows).reshape(-1)]
        for column in self._semantic:
            kinds = column.meaning.occurring.size
            parts.append(np.bincount(column.codes[rows], minlength=kinds))
        return np.concatenate(parts)

    def centre(self, tally: Sums, count: int) -> Points:
        end = GRAINS * self._width
        sums = tally[:end].reshape(GRAINS, self._width)
        point = [self._numbers.centre(sums, count)]
        for column in self._semantic:
            kinds = column.meaning.occurring.size
            sample = tally[end : end + kinds]
            point.append(column.meaning.middle(sample[np.newaxis]).astype(np.float64))
            end += kinds
        return np.concatenate(point)

    def record(self, row: int) -> Points:
        concepts = [float(c.meaning.occurring[c.codes[row]]) for c in self._semantic]
        return np.concatenate([self._numbers.record(row), concepts])

    def distances(self, rows: Rows, point: Points) -> Distances:
        total = self._numbers.distances(rows, point[: self._width])
        for column, concept in zip(self._semantic, point[self._width :], strict=True):
            total += column.meaning.squared_from(int(concept))[column.codes[rows]]
        return total

    def centres(self, labels: NDArray[np.int64]) -> Mixed:
        semantic = [column.centres(labels) for column in self._semantic]
        return Mixed(self._numbers.centres(labels).points, semantic)


def kinds_of(coordinates: Points, semantic: Sequence[Semantic]) -> Numbers:
    """The record of each row, numbered from 0."""
    columns = [*coordinates.T, *(column.codes for column in semantic)]
    kinds = np.zeros(coordinates.shape[0], np.int64)
    for column in columns:
        codes = np.unique(column, return_inverse=True)[1].astype(np.int64).reshape(-1)
        kinds = np.unique(kinds * (codes.max() + 1) + codes, return_inverse=True)[1].reshape(-1)
    return kinds.astype(np.int64)


def placed(
    X: ArrayLike | Records, scale: Sequence[object] | None
) -> tuple[Points, tuple[Semantic, ...]]:
    """Points, and the columns that have no coordinates."""
    if not isinstance(X, Records):
        return points_of(X, scale), ()
    if scale is not None:
        raise refuse("publish.scale-with-records")
    if X.semantic:
        return X.coordinates, X.semantic
    return points_of(X.coordinates), ()
