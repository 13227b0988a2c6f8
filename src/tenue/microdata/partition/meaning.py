"""Categories by what they mean: distances in a taxonomy, and the concept in the middle of many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...taxonomy import DISTANCE_STEPS, Taxonomy

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]

_LARGEST_TABLE = 1 << 20
_BLOCK = 1 << 14


class Meaning:
    """The concepts of a taxonomy by number, and how far each lies from those that occur.

    Parameters
        taxonomy: where the categories stand.
        occurring: the concepts that occur, as places in `taxonomy.concepts`; records name them by
            their places in this array.
    """

    def __init__(self, taxonomy: Taxonomy, occurring: Numbers) -> None:
        self.taxonomy = taxonomy
        self.occurring = occurring
        self._rows: dict[int, Numbers] = {}
        # One category, or several names for one concept: nothing to tell apart.
        diameter = int(taxonomy.marginality_sensitivity * DISTANCE_STEPS)
        self._unit = 1.0 / diameter if diameter else 0.0

    def steps_from(self, concept: int) -> Numbers:
        """Rational distances from a concept to those that occur, in multiples of 2**-32."""
        if concept not in self._rows:
            names = self.taxonomy.concepts
            there = (names[int(place)] for place in self.occurring)
            row = [
                int(self.taxonomy.rational_distance(names[concept], name) * DISTANCE_STEPS)
                for name in there
            ]
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
            for i, sample in enumerate(counts):
                found[i] = self._middle_of_one(sample)
            return found
        table = np.array([self.steps_from(concept) for concept in range(concepts)])
        for begin in range(0, counts.shape[0], _BLOCK):
            block = counts[begin : begin + _BLOCK]
            found[begin : begin + _BLOCK] = np.argmin(block @ table.T, axis=1)
        return found

    def _middle_of_one(self, sample: Numbers) -> int:
        names = self.taxonomy.concepts
        seen = np.flatnonzero(sample)
        counted = {names[int(self.occurring[i])]: int(sample[i]) for i in seen}
        return names.index(self.taxonomy.least_marginal(counted))
