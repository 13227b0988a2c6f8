"""Record linkage: how often the original record is found from its masked version.

The nearest original record of a masked one is not looked for. Its own original is at a known
distance, so it is enough to know whether another one is nearer, and how many are as near.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidArgument
from ..number import checked_call
from .block import blocked
from .check import schema_of
from .code import Codes
from .group import Groups, grouped
from .pair import Attribute, Names, Numeric, divisors, paired

__all__ = ["linked_share", "record_linkage"]

Real = NDArray[np.float64]
Whole = NDArray[np.int64]

_MOST_CELLS = 2**21
_LARGEST = 1e150


@checked_call
def record_linkage(
    original: object,
    masked: object,
    columns: Names = None,
    scale: object = None,
    schema: object = None,
) -> float:
    """The expected share of records that an intruder links rightly: 0 (safe) to 1.

    The intruder has the whole original table and links each masked record to the nearest original
    one; among several equally near ones he guesses. Exact, ties included; distances are computed in
    doubles, attribute after attribute.

    Parameters
        original, masked: tables in which row i is the same record.
        columns: what the intruder compares; all columns that both have if not given.
        scale: a divisor for each column, in order or by name; raw values if not given.
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
    space = _Space.of(attributes, scale)
    rows = space.rows
    own = space.squared_pairs(np.arange(rows), np.arange(rows))
    answers = _same(attributes, masked=True)
    # of rows with one and the same masked record only the nearest can be linked
    nearest = np.full(answers.count, np.inf)
    np.minimum.at(nearest, answers.labels, own)
    ties = _ties(space, _heads(answers), nearest, _same(attributes, masked=False))
    mine = own == nearest[answers.labels]
    guesses = Counter(ties[answers.labels[mine]].tolist())
    return sum((Fraction(n, int(t)) for t, n in guesses.items() if t), Fraction(0)) / rows


def _ties(space: _Space, queries: Whole, nearest: Real, originals: Groups) -> Whole:
    """How many original rows are at the given distance of each query; 0 if one is nearer."""
    heads, weights = _heads(originals), originals.sizes
    blocks = blocked(space.original[heads])
    home = blocks.home(space.masked[queries])
    ties = np.zeros(queries.size, np.int64)
    for asked in _by_block(home):
        beside = blocks.members(int(home[asked[0]]))
        asked = asked[
            space.count(queries[asked], nearest[asked], heads[beside], weights[beside]) >= 0
        ]
        if asked.size == 0:
            continue
        points = space.masked[queries[asked]]
        near = blocks.near(points.min(axis=0), points.max(axis=0), float(nearest[asked].max()))
        found = space.count(queries[asked], nearest[asked], heads[near], weights[near])
        ties[asked] = np.maximum(found, 0)
    return ties


@dataclass(frozen=True, eq=False)
class _Space:
    """Where records are points: coordinates for what is always present, the rest on top.

    `rest` are categories and numbers with missing values; what they add is never below 0, so the
    coordinates alone give a distance that is never too large.
    """

    original: Real
    masked: Real
    rest: list[tuple[Attribute, float]]

    @classmethod
    def of(cls, attributes: list[Attribute], scale: list[float]) -> _Space:
        plain, rest = [], []
        for attribute, divisor in zip(attributes, scale, strict=True):
            if isinstance(attribute, Numeric) and attribute.complete:
                plain.append((attribute.original / divisor, attribute.masked / divisor))
            else:
                rest.append((attribute, divisor))
        rows = attributes[0].original.size
        original = np.column_stack([one for one, _ in plain] or [np.empty((rows, 0))])
        masked = np.column_stack([other for _, other in plain] or [np.empty((rows, 0))])
        if not (np.abs(original) < _LARGEST).all() or not (np.abs(masked) < _LARGEST).all():
            raise InvalidArgument(
                "`scale` is so small that distances overflow",
                f"Every value divided by the scale of its column must be below {_LARGEST:g}",
                "Give larger divisors, such as the width of each column",
            )
        return cls(original, masked, rest)

    @property
    def rows(self) -> int:
        return len(self.original)

    def squared_pairs(self, masked: Whole, original: Whole) -> Real:
        """Squared distances of masked rows to original rows, with the shape of the two together."""
        total = np.zeros(np.broadcast_shapes(masked.shape, original.shape))
        for j in range(self.original.shape[1]):
            apart = self.masked[masked, j] - self.original[original, j]
            total += apart * apart
        for attribute, divisor in self.rest:
            total += attribute.squared(masked, original, divisor)
        return total

    def count(self, queries: Whole, nearest: Real, originals: Whole, weights: Whole) -> Whole:
        """How many originals, weighted, are as near as each query's own; -1 if one is nearer."""
        counts = np.zeros(queries.size, np.int64)
        step = max(1, _MOST_CELLS // max(queries.size, 1))
        for begin in range(0, originals.size, step):
            part = slice(begin, begin + step)
            alive = np.flatnonzero(counts >= 0)
            if alive.size == 0:
                break
            apart = self.squared_pairs(queries[alive][:, None], originals[part][None, :])
            own = nearest[alive][:, None]
            counts[alive] += (apart == own) @ weights[part]
            counts[alive[(apart < own).any(axis=1)]] = -1
        return counts


def _same(attributes: list[Attribute], *, masked: bool) -> Groups:
    """Rows with one and the same record."""
    columns = []
    for attribute in attributes:
        values = attribute.masked if masked else attribute.original
        found, codes = np.unique(values, return_inverse=True)
        columns.append(Codes(codes.astype(np.int64), found.size))
    return grouped(columns, attributes[0].original.size)


def _heads(groups: Groups) -> Whole:
    """One row of each group."""
    heads = np.empty(groups.count, np.int64)
    heads[groups.labels[::-1]] = np.arange(groups.labels.size)[::-1]
    return heads


def _by_block(home: Whole) -> list[Whole]:
    order = np.argsort(home, kind="stable")
    cuts = np.flatnonzero(np.diff(home[order])) + 1
    return list(np.split(order, cuts))
