"""One of several candidates, likely one with a low score: the exponential mechanism.

Candidate c is chosen with probability proportional to exp(−fall·min(s(c), best + reach)) for whole
scores s, the lowest of which is `best`. If every score moves by at most Δ, so does a score that is
cut there, hence every weight and their sum change by a factor of at most e^(fall·Δ): the choice
costs 2·fall·Δ. `reach` cuts where, all candidates together, hardly anything is left to choose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...noise.exact import uniform
from ...noise.source import SYSTEM, Source
from .exponential import exponential_table

_HARDLY = 28


@dataclass(frozen=True)
class Least:
    """A candidate whose score is near the lowest.

    Guarantee
        (2·fall·Δ)-differential privacy where one unit moves every score by at most Δ.

    Parameters
        candidates: how many there are, whatever the rows are.
        fall: a weight falls by e^−fall with each unit of the score; above 0.

    Source
        McSherry and Talwar 2007.
    """

    candidates: int
    fall: Fraction

    @property
    def reach(self) -> int:
        return math.ceil((math.log(self.candidates) + _HARDLY) / float(self.fall))

    def classes(self, scores: Sequence[int]) -> dict[int, list[int]]:
        """The candidates by how far they are above the best, cut at the reach."""
        best, reach = min(scores), self.reach
        found = {0: list[int]()}
        for place, score in enumerate(scores):
            found.setdefault(min(score - best, reach), []).append(place)
        return dict(sorted(found.items()))

    def choose(self, scores: Sequence[int], source: Source = SYSTEM) -> int:
        """The place of the chosen candidate."""
        classes = list(self.classes(scores).items())
        number = 0
        if len(classes) > 1:
            counted = [(score, len(places)) for score, places in classes]
            table = exponential_table(counted, self.fall, self.candidates)
            number = int(table.decide(source.words(1, 64), source)[0])
        places = classes[number][1]
        return places[int(uniform(len(places), 1, source)[0])]
