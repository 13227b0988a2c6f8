"""Record linkage: how often the original record is found from its masked version.

A bound applies the same operations in the same order as a distance, each to a smaller or equal
number. Subtracting, squaring and adding never round a smaller number above a larger one, so a bound
is never above a distance, and no margin is needed.

The nearest original record of a masked one need not be found. Its own original is at a known
distance, so it suffices to know whether another one is nearer, and how many are as near.
"""

from __future__ import annotations

import abc
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...arguments import checked_call
from ...errors import refuse
from ..check import schema_of
from ..factorize import Codes, Flags, Real, Whole
from ..one_table.count import Groups, grouped
from .attributes import Attribute, Names, Nominal, Numeric, divisors, paired

_ROOM = 64
_MOST_BOUNDS = 2**24
_MOST_WORDS = 1000
_MOST_CELLS = 2**21
_LARGEST = 1e150
_NEARER = -(2**62)


Bound = Callable[[int], Real | float]
"""A lower bound of an axis between one block of masked rows and each block of original ones."""


@dataclass(frozen=True, eq=False)
class Axis(abc.ABC):
    """One attribute of masked and of original rows, over its scale, as a part of their distance."""

    attribute: Attribute
    scale: float

    def squared(self, masked: Whole, original: Whole) -> Real:
        """Its part of the squared distances of masked to original rows, broadcast."""
        return self.attribute.squared(masked, original, self.scale)

    @abc.abstractmethod
    def positions(self, *, masked: bool) -> tuple[Real, float | None]:
        """The positions of rows, for splitting; and the distance of different ones, if constant."""

    @abc.abstractmethod
    def bound(self, asked: Sequence[Whole], blocks: Sequence[Whole]) -> Bound:
        """Lower bounds of its part between these blocks of masked and of original rows."""


@dataclass(frozen=True, eq=False)
class Line(Axis):
    """An attribute of numbers."""

    attribute: Numeric

    def positions(self, *, masked: bool) -> tuple[Real, float | None]:
        values = self._values(masked=masked)
        gone = np.isnan(values)
        if not gone.any():
            return values, None
        # a missing value is further from every number than they are from each other
        beyond = 0.0 if gone.all() else values[~gone].max() + self.attribute.reach / self.scale
        return np.where(gone, beyond, values), None

    def bound(self, asked: Sequence[Whole], blocks: Sequence[Whole]) -> Bound:
        original = _Ends.of(self._values(masked=False), blocks)
        masked = _Ends.of(self._values(masked=True), asked)
        far = (self.attribute.reach / self.scale) ** 2

        def least(part: int) -> Real:
            below, above = original.low - masked.high[part], masked.low[part] - original.high
            gap = np.maximum(np.maximum(below, above), 0)
            squares: Real = gap * gap  # infinite if either side has missing values only
            if self.attribute.complete:
                return squares
            one_blank = (masked.blank[part] & original.number) | (
                original.blank & masked.number[part]
            )
            squares = np.where(one_blank, np.minimum(squares, far), squares)
            return np.where(original.blank & masked.blank[part], 0.0, squares)

        return least

    def _values(self, *, masked: bool) -> Real:
        return (self.attribute.masked if masked else self.attribute.original) / self.scale


@dataclass(frozen=True, eq=False)
class Words(Axis):
    """An attribute of categories."""

    attribute: Nominal

    def positions(self, *, masked: bool) -> tuple[Real, float | None]:
        codes = self.attribute.masked if masked else self.attribute.original
        return codes.astype(np.float64), self.attribute.reach / self.scale

    def bound(self, asked: Sequence[Whole], blocks: Sequence[Whole]) -> Bound:
        count = self.attribute.count + 1
        if count * len(blocks) > _MOST_BOUNDS or count > _MOST_WORDS:
            return lambda block: 0.0
        apart = self.attribute.distances / self.scale
        squares = apart * apart
        original_blocks = [np.unique(self.attribute.original[rows]) for rows in blocks]
        nearest = np.array([squares[:, words].min(axis=1) for words in original_blocks])
        masked_blocks = [np.unique(self.attribute.masked[rows]) for rows in asked]
        return lambda block: np.asarray(nearest[:, masked_blocks[block]].min(axis=1))


def leaves(axes: Sequence[Axis], rows: Whole, *, masked: bool) -> list[Whole]:
    """Halves the rows along their widest axis until a block has few."""
    positions = [axis.positions(masked=masked) for axis in axes]
    found = []
    parts = [rows]
    while parts:
        part = parts.pop()
        widths = []
        for values, fixed in positions if part.size > _ROOM else ():
            inside = values[part]
            width = float(inside.max() - inside.min())
            widths.append(width if fixed is None or width == 0 else fixed)
        if max(widths, default=0.0) == 0:
            found.append(part)
            continue
        line = positions[int(np.argmax(widths))][0][part]
        halves = np.argpartition(line, part.size // 2)
        parts += [part[halves[: part.size // 2]], part[halves[part.size // 2 :]]]
    return found


@dataclass(frozen=True, eq=False)
class _Ends:
    """The least and greatest number of each block, and whether it has numbers and missing ones."""

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


@checked_call
def record_linkage(
    original: object,
    masked: object,
    columns: Names = None,
    scale: object = None,
    schema: object = None,
) -> float:
    """The expected share of records that an intruder links correctly: 0 (safe) to 1.

    The intruder has the whole original table and links each masked record to the nearest original
    one, guessing among equally near ones. Exact, including ties; distances are computed in doubles,
    attribute after attribute.

    Parameters
        original, masked: tables in which row i is the same record.
        columns: the columns to compare; by default, all that both tables have.
        scale: a divisor for each column, in order or by name; raw values by default.
        schema: taxonomies of categories, and domains for missing values.

    Example
        >>> record_linkage([[1], [2], [9]], [[1.5], [1.5], [8]])
        0.6666666666666666

    Source
        Thesis, section 6.4.2 (there in percent).
    """
    attributes = paired(original, masked, columns, schema_of(schema))
    return float(linked_share(attributes, divisors(attributes, scale)))


def linked_share(attributes: list[Attribute], scale: list[float]) -> Fraction:
    """The same, of attributes, as a fraction."""
    axes = _axes(attributes, scale)
    rows = np.arange(attributes[0].original.size)
    own = _squared(axes, rows, rows)
    masked, original = (_identical_records(attributes, masked=side) for side in (True, False))
    # of rows with one and the same masked record only the nearest can be linked
    nearest = np.full(masked.count, np.inf)
    np.minimum.at(nearest, masked.labels, own)
    nearest = nearest[masked.labels]
    ties = np.zeros(rows.size, np.int64)
    heads = masked.heads
    ties[heads] = _ties(axes, heads, nearest, original)
    linked = masked.labels[own == nearest]
    guesses = Counter(ties[heads][linked].tolist())
    share = sum((Fraction(n, int(t)) for t, n in guesses.items() if t), Fraction(0))
    return share / rows.size


def _axes(attributes: list[Attribute], scale: list[float]) -> list[Axis]:
    axes: list[Axis] = []
    for attribute, divisor in zip(attributes, scale, strict=True):
        if isinstance(attribute, Nominal):
            axes.append(Words(attribute, divisor))
            continue
        for values in (attribute.original, attribute.masked):
            if (np.abs(values) > _LARGEST * min(divisor, 1)).any():
                raise refuse("evaluate.distance-overflow", largest=_LARGEST)
        axes.append(Line(attribute, divisor))
    return axes


def _squared(axes: list[Axis], masked: Whole, original: Whole) -> Real:
    total = np.zeros(np.broadcast_shapes(masked.shape, original.shape))
    for axis in axes:
        total += axis.squared(masked, original)
    return total


def _ties(axes: list[Axis], asked: Whole, nearest: Real, originals: Groups) -> Whole:
    """The number of original rows at the given distance of each masked row; 0 if one is nearer.

    Parameters
        asked: masked rows, each record once.
        nearest: the squared distance, of every masked row.
    """
    weights = originals.sizes[originals.labels]
    blocks = leaves(axes, originals.heads, masked=False)
    parts = leaves(axes, asked, masked=True)
    bounds = [axis.bound(parts, blocks) for axis in axes]
    ties = np.zeros(nearest.size, np.int64)
    for number, part in enumerate(parts):
        least = np.zeros(len(blocks))
        for bound in bounds:
            least += bound(number)
        near = np.flatnonzero(least <= nearest[part].max())
        near = near[np.argsort(least[near], kind="stable")]
        alive, step = part, 1
        while near.size and alive.size:
            rows = np.concatenate([blocks[block] for block in near[:step]])
            ties[alive] += _count(axes, alive, nearest[alive], rows, weights[rows])
            alive = alive[ties[alive] >= 0]
            near, step = near[step:], 2 * step
            if alive.size:
                near = near[least[near] <= nearest[alive].max()]
    return np.maximum(ties[asked], 0)


def _count(axes: list[Axis], asked: Whole, nearest: Real, rows: Whole, weights: Whole) -> Whole:
    """The weighted number of original rows at the given distance; below 0 if one is nearer."""
    counts = np.zeros(asked.size, np.int64)
    step = max(1, _MOST_CELLS // asked.size)
    for begin in range(0, rows.size, step):
        beside = slice(begin, begin + step)
        apart = _squared(axes, asked[:, None], rows[beside][None, :])
        counts += (apart == nearest[:, None]) @ weights[beside]
        counts[(apart < nearest[:, None]).any(axis=1)] = _NEARER
    return counts


def _identical_records(attributes: list[Attribute], *, masked: bool) -> Groups:
    columns = []
    for attribute in attributes:
        values = attribute.masked if masked else attribute.original
        found, codes = np.unique(values, return_inverse=True)
        columns.append(Codes(codes.astype(np.int64), found.size))
    return grouped(columns, attributes[0].original.size)
