"""The most frequent category, chosen by how many rows it has: the exponential mechanism.

Category c is chosen with probability proportional to exp(ε·u(c)), where u(c) = max(v(c), most −
reach) for v(c) rows of c and `most` rows of the most frequent one. One row more raises some u by 1
at most and lowers none, so every weight and their sum grow by a factor between 1 and e^ε: the law
is ε-private without the factor 2 that scores moving both ways would need. `reach` cuts where, all
categories together, hardly anything is left to choose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from ...frozen import dataclass
from ...noise.exact import uniform
from ...noise.source import SYSTEM, Source
from .exponential import exponential_table

_HARDLY = 28


@dataclass(frozen=True)
class Vote:
    """A category, likely one that few others have more rows than.

    Guarantee
        `epsilon`-differential privacy for one row more or less; for one row that changes, twice
        that. With probability 1 − η the chosen category has at most `behind(η)` rows fewer than the
        most frequent one.

    Source
        McSherry and Talwar 2007; one-sided scores: Dwork and Roth 2014, section 3.4.
    """

    categories: int
    epsilon: Fraction

    @property
    def reach(self) -> int:
        return math.ceil((math.log(self.categories) + _HARDLY) / float(self.epsilon))

    def behind(self, outside: float) -> float:
        """By how many rows the answer is behind at most, but for a chance of `outside`."""
        return math.log(self.categories / outside) / float(self.epsilon)

    def classes(self, votes: Sequence[int]) -> dict[int, list[int]]:
        """The places of categories by how far they are behind, cut at the reach."""
        most, found = max(votes), {0: list[int]()}
        for place, count in enumerate(votes):
            found.setdefault(min(most - count, self.reach), []).append(place)
        return dict(sorted(found.items()))

    def choose(self, votes: Sequence[int], source: Source = SYSTEM) -> int:
        """The place of the chosen category, given how many rows each has."""
        classes = list(self.classes(votes).items())
        number = 0
        if len(classes) > 1:
            counted = [(score, len(places)) for score, places in classes]
            table = exponential_table(counted, self.epsilon, self.categories)
            number = int(table.decide(source.words(1, 64), source)[0])
        places = classes[number][1]
        return places[int(uniform(len(places), 1, source)[0])]
