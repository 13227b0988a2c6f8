"""How many persons are above the limits of a question, bought with part of its price.

It bounds how many persons were cut, not how many of their rows: somebody above a limit loses at
least one row, group or part of a sum, and nobody else loses any.

Why it is private. One person more or less is above a limit or is not: each count moves by 1 at
most, under both kinds of neighbours, and several counts by as much as they are many. Under
add-or-remove a person is on one side of each limit, so that both sides together cost what one does;
under replace both sides would cost twice, and the others are not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from ...engine.contract import Engine
from ...engine.request import ContributionRequest, Request, Window
from ...errors import refuse
from ...frozen import dataclass
from ...mechanism.part import Component, Part
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.joint import joint
from ...noise.source import SYSTEM, Source, require_safe
from ...number import NANO
from ...screen.number import exactly
from ..family.noise import noise_source
from ..family.reading import SHOWN_LEVEL
from .limit import Above, Limit

OFFERED = Fraction(1, 10)
"""The part of a price at which the counts are offered."""
_EVERYBODY = Window(b=1, a=0, c1=2**62, c2=-(2**62), reach=1)


@dataclass(frozen=True)
class CutCount:
    """Counts of persons above each limit, at their own part of the price.

    Guarantee
        `epsilon`-differential privacy for one person, under the neighbours it was made for.
    """

    limits: tuple[Limit, ...]
    request: Request
    neighbours: str
    share: Fraction
    nano: int

    @property
    def epsilon(self) -> Fraction:
        return Fraction(self.nano, NANO)

    @property
    def both_sides(self) -> bool:
        """Whether those who are not above a limit are counted too."""
        return self.neighbours == "add-or-remove"

    @cached_property
    def part(self) -> Part:
        """The noise of all counts together."""
        counts = len(self.limits) * (2 if self.both_sides else 1)
        components = (Component("units"),) * counts
        return Part("discrete Laplace", components, (self.law,) * counts, self.epsilon)

    @cached_property
    def law(self) -> DiscreteLaplace:
        """The noise of each count: one person moves all of them together by one for each limit."""
        return DiscreteLaplace(sensitivity=len(self.limits), epsilon=self.epsilon)

    @property
    def half_width(self) -> float:
        """How far a count is off at most, with 95 %."""
        return self.part.noise.half_width(0, SHOWN_LEVEL)

    @property
    def source(self) -> str:
        return noise_source(self.part.name)

    @property
    def line(self) -> str:
        """What a certificate says of it."""
        sides = ", and how many are not" if self.both_sides else ""
        words = "; ".join(limit.words for limit in self.limits)
        return (
            f"discrete Laplace on how many persons are above each limit{sides} ({words}): "
            f"{joint(self.law).words}"
        )

    def release(self, engine: Engine, source: Source = SYSTEM) -> tuple[int, ...]:
        """The noisy counts: for each limit who is above it and, if counted too, who is not."""
        require_safe(source)
        truth = [count for limit in self.limits for count in self._counted(limit, engine)]
        (noise,) = self.part.draw(1, source)
        return tuple(value + extra for value, extra in zip(truth, noise, strict=True))

    def _counted(self, limit: Limit, engine: Engine) -> tuple[int, ...]:
        request, first = self.request, limit.most or 0
        assert limit.measured is not None and request.people is not None  # noqa: S101, PT018
        found = engine.contributions(
            ContributionRequest(
                *(limit.measured, request.people.unit, (_EVERYBODY,), first, first + 1),
                *(request.where, request.keys, request.computed),
            )
        )
        above = sum(count for value, _, count in found.values if value > first)
        return (above, found.rows - above) if self.both_sides else (above,)

    def read(self, noisy: Sequence[int]) -> tuple[Limit, ...]:
        """The limits, each with how many persons are above it."""
        each = 2 if self.both_sides else 1
        return tuple(
            limit.with_above(Above(self.part, *noisy[each * place : each * place + each]))
            for place, limit in enumerate(self.limits)
        )


def cut_count(
    limits: tuple[Limit, ...], request: Request, neighbours: str, share: Fraction, nano: int
) -> CutCount:
    """The counts at a share of a price; refused where nothing can be cut.

    nano: the whole price.
    """
    if not limits or any(limit.measured is None for limit in limits):
        raise refuse("query.nothing-truncated")
    paid = int(nano * share)
    if not 0 < paid < nano:
        raise refuse(
            "query.epsilon-share-too-small", fraction=exactly(Fraction(nano, NANO)), shares=2
        )
    return CutCount(limits, request, neighbours, share, paid)
