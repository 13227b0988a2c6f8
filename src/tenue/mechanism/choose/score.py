"""One of several candidates, likely one with a high score: the exponential mechanism.

Candidate c is chosen with probability proportional to exp(ε·u(c) / (2Δ)), where u(c) =
max(s(c), best − reach) for whole scores s. If one unit moves every score by at most Δ, it moves the
best one by at most Δ too, and so every u(c): cutting costs no privacy. `reach` cuts where, all
candidates together, hardly anything is left to choose.
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
class HighScore:
    """A candidate with a score that few others exceed.

    Guarantee
        `epsilon`-differential privacy if one unit moves every score by at most `sensitivity`,
        whatever it does to the others. With probability 1 − η the score of the chosen candidate is
        within (2Δ/ε)·ln(candidates/η) of the best.

    Source
        McSherry and Talwar 2007.
    """

    epsilon: Fraction
    sensitivity: int

    @property
    def fall(self) -> Fraction:
        """A weight falls by e^-fall with each unit of the score."""
        return self.epsilon / (2 * self.sensitivity)

    def classes(self, scores: Sequence[int]) -> dict[int, list[int]]:
        """The places of candidates by how far they are behind the best, cut at the reach."""
        reach = math.ceil((math.log(len(scores)) + _HARDLY) / float(self.fall))
        best, found = max(scores), dict[int, list[int]]()
        for place, score in enumerate(scores):
            found.setdefault(min(best - score, reach), []).append(place)
        return dict(sorted(found.items()))

    def choose(self, scores: Sequence[int], source: Source = SYSTEM) -> int:
        """The place of the chosen candidate."""
        classes = list(self.classes(scores).items())
        number = 0
        if len(classes) > 1:
            counted = [(behind, len(places)) for behind, places in classes]
            table = exponential_table(counted, self.fall, len(scores))
            number = int(table.decide(source.words(1, 64), source)[0])
        places = classes[number][1]
        return places[int(uniform(len(places), 1, source)[0])]
