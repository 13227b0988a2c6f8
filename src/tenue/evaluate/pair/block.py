"""Rows in blocks that lie close together, and how near one block can be to another.

A bound is made of the same operations in the same order as a distance, each with a smaller or equal
number. Subtracting, squaring and adding never round a smaller number above a larger one, so a bound
is never above a distance, and no margin is needed.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .attributes import Attribute, Nominal, Numeric

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]

_ROOM = 64
_MOST_BOUNDS = 2**24
_MOST_WORDS = 1000


Bound = Callable[[int], Real | float]
"""The least that an axis adds between one block of masked rows and each block of original ones."""


@dataclass(frozen=True, eq=False)
class Axis(abc.ABC):
    """One attribute of masked and of original rows, over its scale, as a part of their distance."""

    attribute: Attribute
    scale: float

    def squared(self, masked: Whole, original: Whole) -> Real:
        """What it adds to the squared distance of masked rows to original rows."""
        return self.attribute.squared(masked, original, self.scale)

    @abc.abstractmethod
    def places(self, *, masked: bool) -> tuple[Real, float | None]:
        """Where rows lie, for splitting; and how far apart different ones are, if that is fixed."""

    @abc.abstractmethod
    def bound(self, asked: Sequence[Whole], blocks: Sequence[Whole]) -> Bound:
        """The least that it adds between these blocks of masked and of original rows."""


@dataclass(frozen=True, eq=False)
class Line(Axis):
    """An attribute of numbers."""

    attribute: Numeric

    def places(self, *, masked: bool) -> tuple[Real, float | None]:
        values = self._values(masked=masked)
        gone = np.isnan(values)
        if not gone.any():
            return values, None
        # a blank is further from every number than they are from each other
        beyond = 0.0 if gone.all() else values[~gone].max() + self.attribute.reach / self.scale
        return np.where(gone, beyond, values), None

    def bound(self, asked: Sequence[Whole], blocks: Sequence[Whole]) -> Bound:
        held = _Ends.of(self._values(masked=False), blocks)
        wanted = _Ends.of(self._values(masked=True), asked)
        far = (self.attribute.reach / self.scale) ** 2

        def least(part: int) -> Real:
            below, above = held.low - wanted.high[part], wanted.low[part] - held.high
            gap = np.maximum(np.maximum(below, above), 0)
            squares: Real = gap * gap  # infinite where either side has blanks only
            if self.attribute.complete:
                return squares
            one_blank = (wanted.blank[part] & held.number) | (held.blank & wanted.number[part])
            squares = np.where(one_blank, np.minimum(squares, far), squares)
            return np.where(held.blank & wanted.blank[part], 0.0, squares)

        return least

    def _values(self, *, masked: bool) -> Real:
        return (self.attribute.masked if masked else self.attribute.original) / self.scale


@dataclass(frozen=True, eq=False)
class Words(Axis):
    """An attribute of categories."""

    attribute: Nominal

    def places(self, *, masked: bool) -> tuple[Real, float | None]:
        codes = self.attribute.masked if masked else self.attribute.original
        return codes.astype(np.float64), self.attribute.reach / self.scale

    def bound(self, asked: Sequence[Whole], blocks: Sequence[Whole]) -> Bound:
        count = self.attribute.count + 1
        if count * len(blocks) > _MOST_BOUNDS or count > _MOST_WORDS:
            return lambda block: 0.0
        apart = self.attribute.distances / self.scale
        squares = apart * apart
        held = [np.unique(self.attribute.original[rows]) for rows in blocks]
        nearest = np.array([squares[:, words].min(axis=1) for words in held])
        wanted = [np.unique(self.attribute.masked[rows]) for rows in asked]

        def least(block: int) -> Real:
            found: Real = nearest[:, wanted[block]].min(axis=1)
            return found

        return least


def leaves(axes: Sequence[Axis], rows: Whole, *, masked: bool) -> list[Whole]:
    """Halves the rows along their widest axis until a block has few."""
    places = [axis.places(masked=masked) for axis in axes]
    found = []
    parts = [rows]
    while parts:
        part = parts.pop()
        widths = []
        for values, fixed in places if part.size > _ROOM else ():
            inside = values[part]
            width = float(inside.max() - inside.min())
            widths.append(width if fixed is None or width == 0 else fixed)
        if max(widths, default=0.0) == 0:
            found.append(part)
            continue
        line = places[int(np.argmax(widths))][0][part]
        halves = np.argpartition(line, part.size // 2)
        parts += [part[halves[: part.size // 2]], part[halves[part.size // 2 :]]]
    return found


@dataclass(frozen=True, eq=False)
class _Ends:
    """Of each block: its least and its greatest number, whether it has any, whether a blank."""

    low: Real
    high: Real
    number: Flags
    blank: Flags

    @classmethod
    def of(cls, values: Real, blocks: Sequence[Whole]) -> _Ends:
        inside = values[np.concatenate(blocks)]
        starts = np.cumsum([0, *(rows.size for rows in blocks[:-1])])
        gone = np.isnan(inside)
        return cls(
            np.minimum.reduceat(np.where(gone, np.inf, inside), starts),
            np.maximum.reduceat(np.where(gone, -np.inf, inside), starts),
            np.logical_or.reduceat(~gone, starts),
            np.logical_or.reduceat(gone, starts),
        )
