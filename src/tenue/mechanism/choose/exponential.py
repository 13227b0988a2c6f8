"""The exponential mechanism: one of several candidates, likely one with a high score.

Candidate c is chosen with probability proportional to exp(fall·u(c)), where u(c) =
max(s(c), best − reach) for whole scores s, the highest of which is `best`. `reach` bounds the
scores where, all candidates together, hardly anything is left to choose.

Price. Let one unit move every score by at most Δ. The best one then moves by at most Δ, and so does
every u(c): the bound costs no privacy. Every weight changes by a factor of at most e^(fall·Δ), and
so does their sum, which divides it: the loss is at most 2·fall·Δ, hence fall = ε/(2Δ).

One-sided scores. If one unit more lowers no score and raises some by at most Δ, it lowers no u(c)
either, and every weight and their sum grow by a factor between 1 and e^(fall·Δ): the loss is at
most fall·Δ, hence fall = ε/Δ. That holds for one unit more or less, not for one that changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from ...frozen import dataclass
from ...noise.enclosure import Enclosure, exp_minus
from ...noise.exact import uniform
from ...noise.source import SYSTEM, Source
from ...noise.table import Table

# Together all candidates beyond the reach weigh less than e^-28 of the best.
_HARDLY = 28


@dataclass(frozen=True)
class Exponential:
    """A candidate with a score that few others exceed.

    Guarantee
        `epsilon`-differential privacy if one unit moves every score by at most `sensitivity`,
        whatever it does to the others; where scores are one-sided, if one unit more lowers none.
        With probability 1 − η the chosen candidate is at most `behind(η)` below the best.

    Parameters
        candidates: how many there are, whatever the rows are.
        one_sided: whether one unit more lowers no score.

    Example
        >>> Exponential(3, Fraction(1), 2).fall
        Fraction(1, 4)

    Source
        McSherry and Talwar 2007; one-sided scores: Dwork and Roth 2014, section 3.4.
    """

    candidates: int
    epsilon: Fraction
    sensitivity: int | Fraction
    one_sided: bool = False

    @cached_property
    def fall(self) -> Fraction:
        """A weight falls by e^−fall with each unit of the score."""
        return self.epsilon / (self.sensitivity if self.one_sided else 2 * self.sensitivity)

    @cached_property
    def reach(self) -> int:
        """How far below the best a score counts; it does not depend on rows."""
        return math.ceil((math.log(self.candidates) + _HARDLY) / float(self.fall))

    def behind(self, outside: float) -> float:
        """How far the answer is below the best at most, but for a chance of `outside`."""
        return math.log(self.candidates / outside) / float(self.fall)

    def classes(self, scores: Sequence[int]) -> dict[int, list[int]]:
        """The indices of candidates by how far they are below the best, up to the reach."""
        best, reach = max(scores), self.reach
        found: dict[int, list[int]] = {}
        for index, score in enumerate(scores):
            found.setdefault(min(best - score, reach), []).append(index)
        return dict(sorted(found.items()))

    def choose(self, scores: Sequence[int], source: Source = SYSTEM) -> int:
        """The index of the chosen candidate."""
        classes = self.classes(scores)
        number, index = self.draw([(gap, len(held)) for gap, held in classes.items()], source)
        return list(classes.values())[number][index]

    def check_draw(self) -> None:
        """Refuses whatever `choose` would refuse, and draws nothing: makes the widest table."""
        self.table([(0, 1), (self.reach, self.candidates)])

    def draw(self, classes: Sequence[tuple[int, int]], source: Source) -> tuple[int, int]:
        """The number of the chosen class, and which of its candidates is chosen.

        classes: (gap, candidates) by increasing gap; all of a class are that far below the best.
        """
        number = 0
        if len(classes) > 1:
            word = source.words(1, 64)
            number = int(self.table(classes).decide(word, source)[0])
        return number, int(uniform(classes[number][1], 1, source)[0])

    def table(self, classes: Sequence[tuple[int, int]]) -> Table:
        """Draws the number of a class with probability proportional to candidates·e^(−fall·gap)."""

        def cumulative(bits: int) -> list[Enclosure]:
            room = bits + self.candidates.bit_length() + len(classes).bit_length() + 8
            known: dict[int, Enclosure] = {}
            weight = Enclosure.of(1, room)
            sums: list[Enclosure] = []
            before = classes[0][0]
            for gap, held in classes:
                step = gap - before
                if step not in known:
                    known[step] = exp_minus(self.fall * step, room)
                weight, before = weight * known[step], gap
                part = weight.times(held)
                sums.append(sums[-1] + part if sums else part)
            shift = room - bits
            ratios = [part / sums[-1] for part in sums[:-1]]
            return [Enclosure(r.low >> shift, -(-r.high >> shift), bits) for r in ratios]

        return Table(cumulative)
