"""Every admissible way to answer a question: additive noise, moments, selections, side by side.

What cannot share one noise shares the price, and the prices add up. No aggregate that is asked
together with others is worse than asked alone for an equal part of the price: where a way to answer
them together is worse for one of them, it is shown and not preferred.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ...mechanism.bernstein import Axis, basis
from ...mechanism.choose.vote import Vote
from ...mechanism.error import Term
from ...mechanism.part import Component, Part
from ...noise.criterion import Criterion
from ...noise.discrete_laplace import DiscreteLaplace
from ...number import NANO
from ..family.additive import additive
from ..family.fineness import refuse_too_fine
from ..family.mode import Ballot, Voted
from ..family.moments import Spread, degree_of
from ..family.rank import Choice, Chosen, choices_for
from ..family.reading import Basic, Linear
from ..question import Aggregate
from .comparison import merged, no_worse, score_of, sizes
from .strategy import Setting, Strategy, split

Axes = tuple[Axis, ...]


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
    for way in (ask, replace(ask, counts_aside=True)):
        found += [
            replace(one, preferred=no_worse(sizes(one, wanted), yardstick))
            for one in way.together(aggregates, yardstick)
        ]
        if any(one.preferred for one in found):
            return found
    return [*found, apart]


@dataclass(frozen=True)
class _Asking:
    """What all aggregates of a question are asked with.

    counts_aside: whether counts have a noise of their own beside means: where replace is remove and
        add, a pair that serves a mean is worse for the count.
    """

    setting: Setting
    nano: int
    wanted: Criterion
    levels: Mapping[Aggregate, Fraction]
    counts_aside: bool = False

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
        plain = [a for a in aggregates if a.kind in ("count", "sum", "avg")]
        others = _Others([a for a in aggregates if a not in plain], self.setting, self.levels)
        if not others.blocks:
            return self._plain(plain, self.nano)
        if not plain:
            return [others.beside(None, split(self.nano, others.blocks))]
        each = split(self.nano, len(aggregates))
        usual = int(each * NANO) * len(plain)
        found = self._plain(plain, usual)
        return [
            others.beside(same, price)
            for place, one in enumerate(found)
            for share, price in [self._shares(one, usual, each, others.blocks, yardstick)]
            for same in self._plain(plain, share)[place : place + 1]
        ]

    def _plain(self, plain: Sequence[Aggregate], nano: int) -> list[Strategy]:
        """Ways to answer counts, sums and means, in the same order at every price."""
        if not self.counts_aside:
            return additive(plain, self.setting, nano, self.wanted)
        counts = [a for a in plain if a.kind == "count"]
        rest = [a for a in plain if a not in counts]
        if not counts or not rest:
            return []
        both = []
        for some in (counts, rest):
            share = nano // len(plain) * len(some)
            ways = additive(some, self.setting, share, self.wanted)
            both.append(min(ways, key=lambda one: score_of(one, self.wanted)))
        return [merged(" + ".join(dict.fromkeys(one.name for one in both)), both)]

    def _shares(
        self,
        plain: Strategy,
        usual: int,
        each: Fraction,
        blocks: int,
        yardstick: Mapping[Aggregate, float] | None,
    ) -> tuple[int, Fraction]:
        """The part of the price for counts, sums and means together, and that for each block."""
        needed = 1.0
        if yardstick is not None:
            found = sizes(plain, self.wanted)
            needed = min(1.0, max(size / yardstick[a] for a, size in found.items()))
        weights = [usual * needed, *[float(each * NANO)] * blocks]
        share, *rest = (int(self.nano * weight / sum(weights)) for weight in weights)
        return share, Fraction(rest[0], NANO)


class _Others:
    """What is neither counted nor added up: units, moments, values with a rank."""

    def __init__(
        self,
        aggregates: Sequence[Aggregate],
        setting: Setting,
        levels: Mapping[Aggregate, Fraction],
    ) -> None:
        self.setting = setting
        self.levels = levels
        self.units = [a for a in aggregates if a.kind == "units"]
        self.selected = [a for a in aggregates if a.selected]
        self.modes = [a for a in aggregates if a.kind == "mode"]
        self.spreads: dict[tuple[Axes, int], list[Aggregate]] = {}
        for a in aggregates:
            if a.spread:
                self.spreads.setdefault((self._axes(a), degree_of(a.kind)), []).append(a)

    @property
    def blocks(self) -> int:
        """How many shares of the price they need."""
        return len(self.units) + len(self.spreads) + len(self.selected) + len(self.modes)

    def _columns(self, aggregate: Aggregate) -> list[str]:
        names = [name for name in (aggregate.column, aggregate.other) if name is not None]
        return sorted(names)  # so that a slope and a correlation share their moments

    def _axes(self, aggregate: Aggregate) -> Axes:
        ranges = [(name, self.setting.ranges[name]) for name in self._columns(aggregate)]
        return tuple(Axis(name, r.low, r.high - r.low) for name, r in ranges)

    def beside(self, strategy: Strategy | None, price: Fraction) -> Strategy:
        """The strategy with these parts and choices besides, each at the price."""
        parts = list(strategy.parts) if strategy else []
        readings: dict[Aggregate, Basic] = dict(strategy.readings) if strategy else {}
        for a in self.units:
            readings[a] = Linear((Term(len(parts), 0, Fraction(1)),), grid=Fraction(1))
            parts.append(self._units(price))
        for (axes, degree), asked in self.spreads.items():
            for a in asked:
                grids = tuple(self.setting.ranges[name].grid for name in self._columns(a))
                over = int(a.kind == "regr_slope" and axes[0].column != a.other)
                readings[a] = Spread(a.kind, len(parts), axes, grids, over)
            parts.append(self._moments(axes, degree, price))
        choices: list[Choice | Ballot] = []
        for a in self.selected:
            readings[a], more = self._chosen(a, price, len(choices))
            choices += more
        for a in self.modes:
            ballot = self._ballot(a, price)
            readings[a] = Voted(len(choices), ballot.vote)
            choices.append(ballot)
        names = [strategy.name] if strategy else []
        names += [part.name for part in parts[len(strategy.parts) if strategy else 0 :]]
        names += [choice.name for choice in choices]
        return Strategy(" + ".join(dict.fromkeys(names)), tuple(parts), readings, tuple(choices))

    def _law_epsilon(self, price: Fraction, *, native: bool) -> Fraction:
        """What one neighbour's change may cost a law: half where replace is remove and add."""
        twice = self.setting.neighbours == "replace" and not native
        return price / 2 if twice else price

    def _units(self, price: Fraction) -> Part:
        """A unit is in few cells, once in each."""
        epsilon = self._law_epsilon(price, native=self.setting.native_replace)
        law = DiscreteLaplace(sensitivity=self.setting.cells_per_unit, epsilon=epsilon)
        return Part("discrete Laplace", (Component("units"),), law, price)

    def _moments(self, axes: Axes, degree: int, price: Fraction) -> Part:
        """A row moves the components by Π width^degree in all, wherever it lies."""
        moved = self.setting.rows_per_unit
        for axis in axes:
            moved *= axis.width**degree
        epsilon = self._law_epsilon(price, native=False)
        ranges = {axis.column: self.setting.ranges[axis.column] for axis in axes}
        refuse_too_fine(ranges, degree * len(axes), moved, epsilon)
        law = DiscreteLaplace(sensitivity=moved, epsilon=epsilon)
        components = basis(axes, degree)
        return Part("joint moments", components, (law,) * len(components), price)

    def _ballot(self, aggregate: Aggregate, price: Fraction) -> Ballot:
        """A row more costs a vote at most `epsilon`, in whatever cell it lies; a unit has several.

        Replace is a row less and a row more.
        """
        column = aggregate.column or ""
        epsilon = self._law_epsilon(price, native=False) / self.setting.rows_per_unit
        return Ballot(column, Vote(self.setting.categories[column], epsilon), price)

    def _chosen(
        self, aggregate: Aggregate, price: Fraction, place: int
    ) -> tuple[Chosen, list[Choice]]:
        """A row costs a selection at most `epsilon`, in whatever cell it lies; a unit has several.

        The loss of a selection grows with the number of rows that change, so that of a unit's rows
        in several cells adds up to no more than if all lay in one.
        """
        native = self.setting.native_replace
        neighbours = "replace" if native else "add-or-remove"
        span = self.setting.spans[aggregate.column or ""]

        def paid(share: Fraction) -> Fraction:
            return self._law_epsilon(share, native=native) / self.setting.rows_per_unit

        level = self.levels.get(aggregate)
        choices, bought = choices_for(aggregate, span, neighbours, price, paid, level)
        return Chosen(place, span.grid, choices[0].selection, bought), choices
