"""Record linkage: how often the original record is found from its masked version.

The nearest original record of a masked one is not looked for. Its own original is at a known
distance, so it is enough to know whether another one is nearer, and how many are as near.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...errors import refuse
from ...number import checked_call
from ..check import schema_of
from ..code import Codes
from ..group.count import Groups, grouped
from .attributes import Attribute, Names, Nominal, divisors, paired
from .block import Axis, Line, Words, leaves

Real = NDArray[np.float64]
Whole = NDArray[np.int64]

_MOST_CELLS = 2**21
_LARGEST = 1e150
_NEARER = -(2**62)


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
    axes = _axes(attributes, scale)
    rows = np.arange(attributes[0].original.size)
    own = _squared(axes, rows, rows)
    masked, original = (_same(attributes, masked=side) for side in (True, False))
    # of rows with one and the same masked record only the nearest can be linked
    nearest = np.full(masked.count, np.inf)
    np.minimum.at(nearest, masked.labels, own)
    nearest = nearest[masked.labels]
    ties = np.zeros(rows.size, np.int64)
    heads = _heads(masked)
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
    """Squared distances of masked rows to original rows, with the shape of the two together."""
    total = np.zeros(np.broadcast_shapes(masked.shape, original.shape))
    for axis in axes:
        total += axis.squared(masked, original)
    return total


def _ties(axes: list[Axis], asked: Whole, nearest: Real, originals: Groups) -> Whole:
    """How many original rows are at the given distance of each masked row; 0 if one is nearer.

    Parameters
        asked: masked rows, each record once.
        nearest: the squared distance, of every masked row.
    """
    weights = originals.sizes[originals.labels]
    blocks = leaves(axes, _heads(originals), masked=False)
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
    """How many original rows, weighted, are as near as given; far below 0 if one is nearer."""
    counts = np.zeros(asked.size, np.int64)
    step = max(1, _MOST_CELLS // asked.size)
    for begin in range(0, rows.size, step):
        beside = slice(begin, begin + step)
        apart = _squared(axes, asked[:, None], rows[beside][None, :])
        counts += (apart == nearest[:, None]) @ weights[beside]
        counts[(apart < nearest[:, None]).any(axis=1)] = _NEARER
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
