"""Every admissible way to answer a question: what families offer, side by side.

What cannot share one noise shares the price, and the prices add up. No aggregate that is asked
together with others is worse than asked alone for an equal part of the price: where a way to answer
them together is worse for one of them, it is shown and not preferred.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from ...errors import refuse
from ...frozen import dataclass
from ...noise.criterion import Criterion
from ...number import NANO, Number, fraction_of_one
from ..family.contract import Block
from ..family.registry import FAMILIES, FAMILY_OF
from ..family.strategy import Setting, Strategy, merged, no_worse, score_of, sizes, split
from ..question import Aggregate, Applied, Arithmetic, Expression, Output, Question

_SUREST = 1 - Fraction(1, 10**9)
"""Selections cut their scores where less than that is left to miss."""


def strategies(
    aggregates: Sequence[Aggregate],
    setting: Setting,
    nano: int,
    wanted: Criterion,
    levels: Mapping[Aggregate, Fraction] | None = None,
) -> list[Strategy]:
    """Every admissible way, each at a total price of at most `nano`.

    levels: for values with a rank, those at which intervals are bought with part of the price.
    """
    ask = _Asking(setting, nano, wanted, levels or {})
    if len(aggregates) == 1:
        return ask.together(aggregates)
    apart = ask.apart(aggregates)
    yardstick = sizes(apart, wanted)
    found: list[Strategy] = []
    for way in (ask, replace(ask, aside=True)):
        found += [
            replace(one, preferred=no_worse(sizes(one, wanted), yardstick))
            for one in way.together(aggregates, yardstick)
        ]
        if any(one.preferred for one in found):
            return found
    return [*found, apart]


def levels_for(question: Question, interval: Number) -> Mapping[Aggregate, Fraction]:
    """For each value with a rank, the level at which its interval is bought.

    An operation on two answers holds both sides at once, each missing with half of what is allowed:
    so what stands deeper in an expression is bought at a higher level.
    """
    level = fraction_of_one(interval, "interval")
    found: dict[Aggregate, Fraction] = {}

    def walk(expression: Expression, outside: Fraction) -> None:
        if isinstance(expression, Arithmetic):
            walk(expression.left, outside / 2)
            walk(expression.right, outside / 2)
        elif isinstance(expression, Applied):
            walk(expression.of, outside)
        elif isinstance(expression, Aggregate) and FAMILY_OF[expression.kind].buys_intervals:
            found[expression] = max(found.get(expression, level), 1 - outside)

    for output in question.outputs:
        if isinstance(output, Output):
            walk(output.expression, 1 - level)
    if not found:
        raise refuse("query.interval-without-rank")
    if max(found.values()) > _SUREST:
        raise refuse("query.interval-out-of-range", interval=interval)
    return found


@dataclass(frozen=True)
class _Asking:
    """What all aggregates of a question are asked with.

    aside: whether what could share a noise has two, where one is worse for some of them.
    """

    setting: Setting
    nano: int
    wanted: Criterion
    levels: Mapping[Aggregate, Fraction]
    aside: bool = False

    def apart(self, aggregates: Sequence[Aggregate]) -> Strategy:
        """Each aggregate as if it were asked alone, for an equal part of the price."""
        one = replace(self, nano=int(split(self.nano, len(aggregates)) * NANO))
        best = [
            min(one.together([a]), key=lambda found: score_of(found, self.wanted))
            for a in aggregates
        ]
        return merged("one by one", best)

    def together(
        self, aggregates: Sequence[Aggregate], yardstick: Mapping[Aggregate, float] | None = None
    ) -> list[Strategy]:
        """What can share a noise shares it; each block has a part of the price.

        yardstick: how far off each aggregate is if asked alone. A noise that serves several
            aggregates needs less than they would need alone; what it leaves over goes to all blocks
            in proportion, so that every answer is better by the same factor.
        """
        sharing = [a for a in aggregates if a.kind in FAMILY_OF[a.kind].sharing]
        blocks = self._blocks([a for a in aggregates if a not in sharing])
        if not blocks:
            return self._shared(sharing, self.nano)
        if not sharing:
            return [_beside(None, blocks, split(self.nano, len(blocks)))]
        each = split(self.nano, len(aggregates))
        usual = int(each * NANO) * len(sharing)
        found = self._shared(sharing, usual)
        return [
            _beside(same, blocks, price)
            for place, one in enumerate(found)
            for share, price in [self._shares(one, usual, each, len(blocks), yardstick)]
            for same in self._shared(sharing, share)[place : place + 1]
        ]

    def _blocks(self, aggregates: Sequence[Aggregate]) -> list[Block]:
        return [
            block
            for family in FAMILIES
            if (asked := [a for a in aggregates if FAMILY_OF[a.kind] is family])
            for block in family.blocks(asked, self.setting, self.levels)
        ]

    def _shared(self, sharing: Sequence[Aggregate], nano: int) -> list[Strategy]:
        """Ways to answer what shares a noise, in the same order at every price."""
        family = FAMILY_OF[sharing[0].kind]
        return family.ways(sharing, self.setting, nano, self.wanted, aside=self.aside)

    def _shares(
        self,
        shared: Strategy,
        usual: int,
        each: Fraction,
        blocks: int,
        yardstick: Mapping[Aggregate, float] | None,
    ) -> tuple[int, Fraction]:
        """The part of the price for what shares a noise, and that for each block."""
        needed = 1.0
        if yardstick is not None:
            found = sizes(shared, self.wanted)
            ratios = [size / yardstick[a] for a, size in found.items() if yardstick[a] > 0]
            needed = min(1.0, max(ratios, default=1.0))
        weights = [usual * needed, *[float(each * NANO)] * blocks]
        share, *rest = (int(self.nano * weight / sum(weights)) for weight in weights)
        return share, Fraction(rest[0], NANO)


def _beside(shared: Strategy | None, blocks: Sequence[Block], price: Fraction) -> Strategy:
    """What shares a noise, and blocks besides, each at the price."""
    first = [] if shared is None else [shared]
    whole = merged("", [*first, *(block(price) for block in blocks)])
    names = [one.name for one in first]
    names += [draw.name for draw in whole.draws[sum(len(one.draws) for one in first) :]]
    return replace(whole, name=" + ".join(dict.fromkeys(names)))
