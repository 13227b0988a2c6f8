"""The most frequent category under individual differential privacy.

A nominal answer has no distance but equal or not. Call f(D) the most frequent category of D, ties
to the one named first; its local sensitivity is 1 if one replaced record can change it, else 0. The
noise that is to Laplace what this distance is to |x - y| has mass proportional to

    exp(-epsilon · [c differs from f(x)] / LS)        over a set C of candidates,

and f(x) itself where LS = 0. Proof: as long as C holds f(x) for the table D and all its neighbours
and depends on D only, the normaliser 1 + (|C| - 1)·e^-epsilon is the same for all of them, and
each mass is 1 or e^-epsilon over it. With LS = 0 all of them have the same f. No factor 2 is lost,
which the exponential mechanism needs because its normaliser moves.

C is every category; or, truncated, the modes that D and its neighbours have, which are at most two
votes behind. (The strongest change in favour of c moves a vote from the winner to c: if c wins
with a vote from anyone else, it beats the winner at full strength, hence everybody.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ...noise.enclosure import Enclosure, exp_minus
from ...noise.exact import uniform
from ...noise.source import Source
from ...noise.table import Table


@dataclass(frozen=True, repr=False)
class ModeChoice:
    """A choice among candidates that the actual table fixes; one candidate means no noise.

    Guarantee
        For truths among the candidates the mass of any answer differs by a factor e^epsilon at
        most. The candidates can be a fact about the rows: the object never leaves.
    """

    candidates: tuple[int, ...]
    epsilon: Fraction

    def release(self, truth: int, source: Source) -> int:
        """The truth with probability 1 / (1 + others·e^-epsilon), else one of the others."""
        others = len(self.candidates) - 1
        if not others or int(_coin(self.epsilon, others).draw(1, source)[0]) == 0:
            return truth
        place = self.candidates.index(truth)
        chosen = int(uniform(others, 1, source)[0])
        return self.candidates[chosen + (chosen >= place)]


@lru_cache(maxsize=64)
def _coin(epsilon: Fraction, others: int) -> Table:
    """0, the truth, with probability 1 / (1 + others·e^-epsilon)."""

    def cumulative(bits: int) -> list[Enclosure]:
        one = Enclosure.of(1, bits)
        return [one / (one + exp_minus(epsilon, bits).times(others))]

    return Table(cumulative)


def winner(votes: Sequence[int]) -> int:
    """The place with the most votes; the first of several."""
    return max(range(len(votes)), key=lambda place: (votes[place], -place))


def calibrate_mode(votes: Sequence[int], epsilon: Fraction, *, truncated: bool) -> ModeChoice:
    """The choice for a table with so many `votes` in each category, at least one in all.

    Example
        >>> calibrate_mode([5, 4, 1], Fraction(1), truncated=True).candidates
        (0, 1)
        >>> calibrate_mode([5, 4, 1], Fraction(1), truncated=False).candidates
        (0, 1, 2)
        >>> calibrate_mode([5, 2, 1], Fraction(1), truncated=False).candidates
        (0,)
    """
    reachable = _reachable(votes)
    if truncated or len(reachable) == 1:
        return ModeChoice(reachable, epsilon)
    return ModeChoice(tuple(range(len(votes))), epsilon)


def _reachable(votes: Sequence[int]) -> tuple[int, ...]:
    """The modes of the table and of every table that differs in one record."""
    first = winner(votes)
    ranked = sorted(
        ((count, -place) for place, count in enumerate(votes) if place != first), reverse=True
    )
    weakened = (votes[first] - 1, -first)
    found = [first]
    for count, minus in ranked:
        rivals = [other for other in ranked[:2] if other[1] != minus]
        if (count + 1, minus) > max([weakened, *rivals[:1]]):
            found.append(-minus)
    return tuple(sorted(found))
