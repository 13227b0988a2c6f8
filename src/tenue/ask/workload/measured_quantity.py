"""One quantity that questions need: the strategy that releases it, at proved prices.

Guarantee
    A block's release is ε-differentially private at its price, under the neighbours it was made
    for, for one record or for one person with at most `rows_per_unit` rows. This is checked in
    whole numbers when the block is made: floats only propose prices.

Why. One row in atom j moves level l by column_sums[l][j]·span at most: rows count once, a sum moves
by its largest value, the two sums of a pair by the width of the range together. Discrete Laplace
noise of loss price/(height·span) for each step makes that cost Σ price·column_sums/height. A
replaced row leaves one atom and enters another, or the outside: `swap` is how much more that can
cost, and the epsilon of every law is smaller by this factor. A person is that many rows, one after
the other.

Where the strategy uses the number of all rows (`sum_public`), that number is released too, without
noise: under replace, for one record, it is the same for all neighbours. Then every row is in an
atom: the last of them is the outside, if there is one, and has noise like any other.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ...engine.request import Measure
from ...errors import Fault, refuse
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.laplace_sum_tail import MOST_RATE, SPARE, LaplaceCombination, Reals
from ...noise.source import Source
from ...privacy.loss import EpsilonDelta
from ...text import exactly
from .grid import Slice
from .least_squares import Estimator
from .level import PLACES, Places, Runs, whole
from .marginals import TableRows
from .strategy import BlockStrategy, PricedStrategy

BlockRows = Runs | TableRows
"""The answers of a block, as sums over atoms."""

_PARTS = 1 << 14
_LEAST_VARIANCE = 1 / (2 * math.sinh(MOST_RATE / 2) ** 2)
FINE = 1 << 20
"""Estimates are whole multiples of 1/FINE steps, so that answers add up exactly."""
_FINER = PLACES - FINE.bit_length() + 1
_HALF = 1 << (_FINER - 1)


@dataclass(frozen=True)
class Quantity:
    """A sum over the rows of an atom, in whole steps.

    rows: their number. total: the sum of a column.
    pair: Σ(high − x) and Σ(x − low), the two sides that give the count, the sum and the mean.
    """

    kind: Literal["rows", "total", "pair"]
    column: str = ""
    low: int = 0
    high: int = 0

    @property
    def span(self) -> int:
        """The L1 sensitivity of all sides to one row."""
        if self.kind == "rows":
            return 1
        if self.kind == "pair":
            return max(1, self.high - self.low)
        return max(1, abs(self.low), abs(self.high))

    @property
    def measures(self) -> tuple[Measure, ...]:
        if self.kind == "rows":
            return (Measure("rows"),)
        return Measure("present", self.column), Measure("total", self.column)

    def sides(self, measured: Mapping[Measure, int]) -> tuple[int, ...]:
        """The true numbers of a cell."""
        if self.kind == "rows":
            return (measured[Measure("rows")],)
        there, total = (measured[measure] for measure in self.measures)
        if self.kind == "total":
            return (total,)
        return self.high * there - total, total - self.low * there

    @property
    def many(self) -> int:
        return 2 if self.kind == "pair" else 1

    @property
    def words(self) -> str:
        what = {"rows": "rows", "total": "sums", "pair": "pairs of sums"}[self.kind]
        return f"{what} {self.column}".strip()


@dataclass(frozen=True, eq=False)
class Block:
    """A quantity with its strategy, prices and noise.

    slices: its answers; the rows are their cells, one slice after the other.
    labels: the atom of each cell of the grid, −1 if none.
    prices: of each level, in units of the price of the block.
    swap: the cost of replacing a row, relative to that of adding one; 1 where rows are added.
    """

    quantity: Quantity
    slices: tuple[Slice, ...]
    strategy: BlockStrategy
    rows: BlockRows
    labels: Any
    prices: tuple[int, ...]
    price: EpsilonDelta
    swap: Fraction
    rows_per_unit: int

    def __post_init__(self) -> None:
        top, bottom = self.strategy.largest_cost(self.prices)
        if top > self.price.units * bottom or self.swap < 1:
            raise Fault("a strategy costs more than its price")

    @property
    def epsilon(self) -> Fraction:
        return self.price.epsilon

    @property
    def digest(self) -> str:
        """A hash of all that the release and its estimates depend on."""
        terms = repr((self.quantity, self.slices, self.prices, self.price.units, self.swap))
        more = f"{self.rows_per_unit} {self.strategy.name} {self.strategy.digest}"
        labels = hashlib.sha256(self.labels.astype(np.int64).tobytes()).hexdigest()
        return hashlib.sha256(f"{terms} {more} {labels}".encode()).hexdigest()

    @cached_property
    def laws(self) -> tuple[DiscreteLaplace, ...]:
        each = self.quantity.span * self.rows_per_unit
        pairs = zip(self.prices, self.strategy.heights, strict=True)
        return tuple(
            DiscreteLaplace(sensitivity=h * each, epsilon=EpsilonDelta(price).epsilon / self.swap)
            for price, h in pairs
        )

    @cached_property
    def estimator(self) -> Estimator:
        return self.strategy.estimator([max(law.variance, _LEAST_VARIANCE) for law in self.laws])

    @cached_property
    def variances(self) -> Reals:
        """The variance of each row, in squared steps of one side."""
        return self.estimator.variances(self.rows)

    @cached_property
    def rates(self) -> Reals:
        """The loss of each released number for each step, never rounded up, at most `MOST_RATE`."""
        rates = [min(_below(law.epsilon / law.sensitivity), MOST_RATE) for law in self.laws]
        return np.repeat(rates, self.strategy.lengths)

    def weights(self, place: int) -> Reals:
        return self.weighed(place)[0]

    def weighed(self, place: int, rows: BlockRows | None = None) -> tuple[Reals, Reals]:
        """The weights of a row's estimate on all released numbers of one side, and a bound of their
        rounding errors; of its own rows or others."""
        rows = self.rows if rows is None else rows
        weights = self.estimator.weights(rows, place)
        doubts = self.estimator.doubts(rows, place, weights)
        return np.concatenate(weights), np.concatenate(doubts)

    def row_law(self, place: int, rows: BlockRows) -> LaplaceCombination:
        """The law of the error of a sum over the atoms, whether it is an answer or not."""
        weights, doubts = self.weighed(place, rows)
        return LaplaceCombination(weights, self.rates, doubts)

    @cached_property
    def first_like(self) -> Places:
        """For each row the first one whose estimate, by itself, has an error of the same law."""
        kinds = self.estimator.alike(self.rows)
        _, first, kind = np.unique(kinds, return_index=True, return_inverse=True)
        return np.asarray(first[kind])

    @cached_property
    def offsets(self) -> list[int]:
        """The first row of each slice."""
        return [0, *np.cumsum([one.cells for one in self.slices]).tolist()]

    def truth(
        self, measured: Mapping[int, Mapping[Measure, int]], rows: int = 0
    ) -> list[list[list[int]]]:
        """The true answers of each side and level.

        measured: the measures of each cell of the grid that has rows.
        rows: the number of all rows, in the grid or not; used only where that is public.
        """
        many = 1 + int(self.labels.max())
        sides = [[0] * many for _ in range(self.quantity.many)]
        for cell, numbers in measured.items():
            atom = self.labels[cell]
            if atom >= 0:
                for side, value in enumerate(self.quantity.sides(numbers)):
                    sides[side][atom] += value
        if self.has_outside:
            sides[0].append(rows - sum(sides[0]))
        return [self.strategy.answers(side) for side in sides]

    @property
    def has_outside(self) -> bool:
        """Whether its last atom consists of the rows in no answer."""
        return self.strategy.sum_public and self.strategy.atoms > 1 + int(self.labels.max())

    def check_draw(self) -> None:
        """Refuses whatever `release` would refuse, and draws nothing."""
        for many, law in zip(self.strategy.lengths, self.laws, strict=True):
            law.check_draw(many)

    def release(
        self, measured: Mapping[int, Mapping[Measure, int]], source: Source, rows: int = 0
    ) -> list[list[list[int]]]:
        """The same with noise, and the number of rows where that is public: all that leaves."""

        def noisy(level: Sequence[int], law: DiscreteLaplace) -> list[int]:
            noise = law.steps(len(level), source).tolist()
            return [value + extra for value, extra in zip(level, noise, strict=True)]

        public = [[rows]] if self.strategy.sum_public else []
        return [
            [noisy(level, law) for level, law in zip(side, self.laws, strict=True)] + public
            for side in self.truth(measured, rows)
        ]

    def atoms(self, side: Sequence[Sequence[int]]) -> list[int]:
        """The estimates of all atoms from what one side released, in multiples of 2⁻⁴⁰."""
        noisy = [np.array(level, dtype=np.float64) for level in side]
        return self.estimator.refined(side, whole(self.estimator.estimate(noisy)))

    def estimates(self, released: Sequence[Sequence[Sequence[int]]]) -> list[list[int]]:
        """The estimates of all rows for each side, in parts 1/FINE of a step."""
        return [
            self.rows.whole_sums([(atom + _HALF) >> _FINER for atom in self.atoms(side)])
            for side in released
        ]

    def slack(self, released: Sequence[Sequence[Sequence[int]]]) -> list[int]:
        """A bound of the rounding error of each row's estimate, in parts 1/FINE of a step.

        Every atom is rounded to such a part; errors of floats before that are bounded from the
        released numbers (`ask/workload/level.py`).
        """
        sides = [self.estimator.missed(self.rows, side, self.atoms(side)) for side in released]
        most = np.max(sides, axis=0) * FINE + self.rows.sizes / 2
        return [math.ceil(parts * SPARE) for parts in most]


def _below(rate: Fraction) -> float:
    """The nearest float that is not above."""
    near = float(rate)
    return near if Fraction(near) <= rate else math.nextafter(near, 0)


def make_block(
    quantity: Quantity,
    slices: Sequence[Slice],
    chosen: PricedStrategy,
    price: EpsilonDelta,
    *,
    replace: bool,
    rows_per_unit: int,
) -> Block:
    """The block at a price: prices of levels are rounded down until they provably fit."""
    # few digits, so that the same questions have the same strategy on every computer
    wanted = np.maximum(np.floor(np.array(chosen.prices) * _PARTS), 1) / _PARTS
    top, bottom = chosen.strategy.largest_cost([int(each * _PARTS) for each in wanted])
    scale = price.units * _PARTS * bottom / top
    for _ in range(8):
        prices = tuple(max(0, int(each * scale)) for each in wanted)
        top, bottom = chosen.strategy.largest_cost(prices)
        if top <= price.units * bottom:
            break
        scale *= price.units * bottom / top * (1 - 1e-12)
    if min(prices) < 1:
        shares = len(prices)
        raise refuse("ask.epsilon-share-too-small", fraction=exactly(price.epsilon), shares=shares)
    swap = swap_of(chosen.strategy, quantity, prices) if replace else Fraction(1)
    return Block(
        *(quantity, tuple(slices), chosen.strategy, chosen.rows, chosen.labels),
        *(prices, price, swap, rows_per_unit),
    )


def swap_of(strategy: BlockStrategy, quantity: Quantity, prices: Sequence[int]) -> Fraction:
    """The cost of replacing a row, relative to that of adding one: from 1 to 2.

    A row that leaves for the outside costs as much as one that is added. Sums may change within
    one atom too, so that only the factor 2 is proved for them.
    """
    if quantity.kind != "rows":
        return Fraction(2)
    top, bottom = strategy.largest_cost(prices)
    more, under = strategy.swap_cost(prices)
    return max(Fraction(more * bottom, under * top), Fraction(1))
