"""The similarity of two tables as wholes, whose rows are not related.

A model of single columns detects differences of their means only: a table in which every row is the
mean of all would pass. So squares and products of columns are features too, for variances and
correlations.

Nothing is random: directions and boxes follow fixed sequences that fill their space evenly, so that
the same two tables always have the same figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ...arguments import checked_call, whole
from ...text import percent, shortly
from ..check import schema_of
from ..check_result import Printed
from ..factorize import Real, Whole
from .association import Association, association_of
from .attributes import Attribute, Names, Numeric, paired
from .distribution import Moved, moved, moved_as_json, total_variation
from .information_loss import CorrelationDifference, correlation_of, standard

_MOST_WORDS = 50
_MOST_CROSSED = 20
_MOST_ROWS = 100_000
_MOST_CELLS = 2**22
_STEPS = 50
_SMALL = 1e-10
_RIDGE = 1e-6

DIRECTIONS = 64
"""The number of directions along which the clouds of numbers are compared."""
BOXES = 1000
"""The number of conjunctions of intervals that are counted in both tables."""
MOST_BOXED = 50_000
"""In larger tables, boxes are counted in every so many rows."""
BINS = 20
"""The number of bins, of equally many original rows, in which pairs of numbers are counted."""

_BOXED = "The share of rows within a box of one to three columns is off by"
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, kw_only=True)
class Propensity:
    """How well a model distinguishes masked rows from original ones.

    score: the mean of (p - 1/2)^2, p being the estimated probability that a row is masked. 0 if the
        model cannot distinguish them: the columns then agree in means, variances and correlations,
        but may differ in what no square or product shows. 1/4 if every row is recognised.
    ratio: the score over the average score of a second sample of the same population, which is
        features / (4 * rows of both): below 1 the masked table is closer than such a sample.
    """

    score: float
    ratio: float


@checked_call
def propensity(original: object, masked: object, columns: Names = None) -> Propensity:
    """Distinguishes masked from original rows by a logistic regression.

    Features are numbers and their squares, flags of missing numbers, and flags of the 50 most
    frequent values of each category. Products of every two of the first 20 columns are features
    too, with the flag of a category's second most frequent value. In a long table every second,
    third, ... row is used: at most 100,000 rows, and 4 million numbers in all.

    Parameters
        columns: by default, all that both tables have.

    Example
        >>> propensity([[1.0], [2.0], [3.0]], [[3.0], [1.0], [2.0]]).score
        0.0
        >>> propensity([[1.0], [2.0], [3.0]], [[2.0], [2.0], [2.0]]).score > 0.1
        True

    Source
        Woo et al. 2009. By chance: the estimates have covariance 4 S^-1 / N with S that of the
        features, and the score is about b'Sb / 16, whose mean is features / (4 N). (Snoke et al.
        2018 have half of it, for tables drawn from a model that was fitted to the original.)
    """
    return propensity_of(paired(original, masked, columns))


def propensity_of(attributes: list[Attribute]) -> Propensity:
    """The same, of attributes."""
    size = attributes[0].original.size
    width = sum(map(len, _features(attributes, -(-size // _MOST_ROWS))))
    step = -(-size // min(_MOST_ROWS, max(1, _MOST_CELLS // (2 * (width + 1)))))
    own, crossed = _features(attributes, step)
    rows = attributes[0].original[::step].size
    design = np.column_stack([np.ones(2 * rows), *own, *crossed])
    chances = _fitted(design, np.repeat([0.0, 1.0], rows))
    score = float(((chances - 0.5) ** 2).mean())
    # a feature that follows from others, such as the square of a flag, cannot fit chance once more
    features = int(np.linalg.matrix_rank(design.T @ design / (2 * rows), hermitian=True)) - 1
    by_chance = features / (4 * 2 * rows)
    return Propensity(score=score, ratio=score / by_chance if by_chance else 0.0)


def _features(attributes: Sequence[Attribute], step: int) -> tuple[list[Real], list[Real]]:
    """Features of single columns; and squares and products."""
    own, leading, squares = [], [], []
    for attribute in attributes:
        found = _of_column(attribute, step)
        own += found
        leading += [standard(column) for column in found[:1]]
        if isinstance(attribute, Numeric) and found:
            squares.append(standard(leading[-1] ** 2))
    pairs = combinations(leading[:_MOST_CROSSED], 2)
    return own, squares + [standard(one * other) for one, other in pairs]


def _of_column(attribute: Attribute, step: int) -> list[Real]:
    """The features of a column; the first one enters products."""
    both = np.concatenate([attribute.original[::step], attribute.masked[::step]])
    if not isinstance(attribute, Numeric):
        found, times = np.unique(both, return_counts=True)
        frequent = found[np.argsort(-times, kind="stable")][:_MOST_WORDS]
        # the most frequent value is the reference category
        return [(both == word).astype(np.float64) for word in frequent[1:]]
    gone = np.isnan(both)
    flags = [gone.astype(np.float64)] if gone.any() and not gone.all() else []
    if gone.all() or np.ptp(both[~gone]) == 0:
        return flags
    scaled = both / np.abs(both[~gone]).max()
    filled = np.where(gone, scaled[~gone].mean(), scaled)
    return [standard(filled), *flags]


def _fitted(design: Real, masked: Real) -> Real:
    """The probabilities of a logistic regression, by Newton's method.

    A small ridge keeps it finite if rows can be distinguished completely.
    """
    weights = np.zeros(design.shape[1])
    ridge = _RIDGE * np.eye(design.shape[1])
    chances = np.full(design.shape[0], 0.5)
    for _ in range(_STEPS):
        slope = design.T @ (masked - chances) / masked.size - _RIDGE * weights
        curve = (design * (chances * (1 - chances))[:, None]).T @ design / masked.size + ridge
        step = np.linalg.solve(curve, slope)
        weights += step / max(1.0, float(np.abs(step).max()) / 5)
        chances = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        if np.abs(step).max() < _SMALL:
            break
    return chances


@dataclass(frozen=True, kw_only=True)
class Likeness(Printed):
    """The distance of a released table from the original as a whole. 0 is best everywhere.
    Computed from the original: for the holder only.

    columns: how far the distribution of each column moved.
    kolmogorov: for each numeric column, the largest difference of cumulative shares.
    sliced: the sliced Wasserstein distance of the numbers, every column over the width of its
        domain; None without a numeric column.
    pairs: the total variation over the cells of two columns, averaged over all pairs; None with a
        single column. By pair in `by_pair`.
    correlation: how far correlations moved; None with fewer than two numeric columns.
    association: how far the association of every two columns moved, whatever their types.
    boxes: the mean difference between the shares of rows in boxes of one to three columns.
    """

    columns: tuple[Moved, ...]
    kolmogorov: tuple[tuple[str, float], ...]
    sliced: float | None
    pairs: float | None
    by_pair: tuple[tuple[str, str, float], ...]
    correlation: CorrelationDifference | None
    association: Association
    boxes: float

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        return {
            "for": "the holder alone",
            "columns": list(map(moved_as_json, self.columns)),
            "kolmogorov": dict(self.kolmogorov),
            "sliced_wasserstein": self.sliced,
            "pair_total_variation": self.pairs,
            "by_pair": [
                {"columns": [one, other], "total_variation": far}
                for one, other, far in self.by_pair
            ],
            "correlation": None
            if self.correlation is None
            else {"mean": self.correlation.mean, "sd": self.correlation.sd},
            "association": self.association.to_dict(),
            "boxes": self.boxes,
        }

    @property
    def in_short(self) -> str:
        """The loss in one sentence."""
        off = f"shares of rows within boxes of columns are off by {percent(self.boxes)}"
        return "; ".join([off, *self.association.brief])

    def __str__(self) -> str:
        lines = []
        if self.pairs is not None:
            lines.append(
                f"The joint distributions of two columns are off by {percent(self.pairs)} on "
                "average (total variation over all pairs)."
            )
        if self.sliced is not None:
            lines.append(
                f"The cloud of numbers moved by {shortly(self.sliced, 3)} of the width of their "
                "domains (sliced Wasserstein distance)."
            )
        if self.correlation is not None:
            lines.append(f"Correlations moved by {shortly(self.correlation.mean, 4)} on average.")
        lines.append(f"{_BOXED} {percent(self.boxes)} on average.")
        width = max(len("column"), *(len(column.name) for column in self.columns))
        lines += ["", f"{'column':<{width}}  {'quantiles':>9} {'cumulated':>9} {'shares':>9}"]
        apart = dict(self.kolmogorov)
        for column in self.columns:
            cells = (column.quantiles, apart.get(column.name), column.histogram)
            shown = " ".join(f"{'' if cell is None else shortly(cell, 3):>9}" for cell in cells)
            lines.append(f"{column.name:<{width}}  {shown}")
        lines.append("Changes, 0 is none: quantiles over the width of the domain, cumulated shares")
        lines.append("at their largest difference, shares by total variation.")
        if self.association.pairs:
            lines += ["", str(self.association)]
        return "\n".join(lines)


@checked_call
def likeness(
    original: object, released: object, schema: object = None, bins: int = BINS
) -> Likeness:
    """The similarity of two tables whose rows are not related.

    Parameters
        original, released: tables; one may have more rows than the other.
        schema: domains and taxonomies; by default, the range of the original's values.
        bins: the number of bins, of equally many original rows, in which pairs are counted.

    Example
        >>> likeness([[0.0], [10.0]], [[10.0], [0.0]]).sliced
        0.0
    """
    parts = whole(bins, "bins", least=2)
    declared = schema_of(schema)
    return likeness_of(paired(original, released, None, declared, related=False), parts)


def likeness_of(attributes: Sequence[Attribute], bins: int = BINS) -> Likeness:
    """The same, of attributes."""
    numbers = [one for one in attributes if isinstance(one, Numeric) and one.complete]
    binned = [_binned(attribute, bins) for attribute in attributes]
    far = tuple(
        (one.name, other.name, _apart(binned[i], binned[j]))
        for (i, one), (j, other) in combinations(enumerate(attributes), 2)
    )
    correlation = correlation_of(list(attributes))
    return Likeness(
        columns=tuple(moved(attribute, bins) for attribute in attributes),
        kolmogorov=tuple((one.name, _kolmogorov(one.original, one.masked)) for one in numbers),
        sliced=_sliced(numbers) if numbers else None,
        pairs=float(np.mean([distance for *_, distance in far])) if far else None,
        by_pair=far,
        correlation=correlation,
        association=association_of(attributes, correlation),
        boxes=_boxes(binned),
    )


@dataclass(frozen=True, eq=False)
class _Binned:
    """A column as the numbers of its cells, on both sides; the last cell is for missing values."""

    original: Whole
    released: Whole
    cells: int
    ordered: bool


def _binned(attribute: Attribute, bins: int) -> _Binned:
    if not isinstance(attribute, Numeric):
        count = len(attribute.words)
        sides = [np.where(side < 0, count, side) for side in (attribute.original, attribute.masked)]
        return _Binned(sides[0], sides[1], count + 1, False)
    present = attribute.original[~np.isnan(attribute.original)]
    edges = np.unique(np.quantile(present, np.arange(1, bins) / bins)) if present.size else present
    sides = [
        np.where(np.isnan(side), edges.size + 1, np.searchsorted(edges, side, side="right"))
        for side in (attribute.original, attribute.masked)
    ]
    return _Binned(sides[0], sides[1], edges.size + 2, True)


def _apart(one: _Binned, other: _Binned) -> float:
    """The total variation of the two sides over the cells of two columns."""
    return total_variation(
        *(
            np.bincount(left * other.cells + right, minlength=one.cells * other.cells) / left.size
            for left, right in ((one.original, other.original), (one.released, other.released))
        )
    )


def _kolmogorov(before: Real, after: Real) -> float:
    ends = np.unique(np.concatenate([before, after]))
    shares = [
        np.searchsorted(np.sort(side), ends, side="right") / side.size for side in (before, after)
    ]
    return float(np.abs(shares[0] - shares[1]).max())


def _sliced(numbers: Sequence[Numeric]) -> float:
    before, after = (
        np.stack([side / one.reach for one, side in zip(numbers, sides, strict=True)])
        for sides in ([one.original for one in numbers], [one.masked for one in numbers])
    )
    directions = _directions(len(numbers))
    distances = (_transport(np.sort(one @ before), np.sort(one @ after)) for one in directions)
    return sum(distances) / len(directions)


def _transport(before: Real, after: Real) -> float:
    """The area between the two quantile functions, exactly; both sides are sorted."""
    if before.size == after.size:
        return float(np.abs(before - after).mean())
    # both functions are constant between these levels, in units of 1 / (rows before * rows after)
    steps = (np.arange(1, side.size + 1) for side in (before, after))
    ends = np.union1d(next(steps) * after.size, next(steps) * before.size)
    apart = np.abs(before[(ends - 1) // after.size] - after[(ends - 1) // before.size])
    return float(apart @ np.diff(ends, prepend=0)) / (before.size * after.size)


def _directions(dimensions: int) -> Real:
    """Unit vectors that fill the sphere evenly; in one dimension, the only one."""
    if dimensions == 1:
        return np.ones((1, 1))
    normal = _evenly(DIRECTIONS, dimensions + dimensions % 2)
    radius, angle = np.sqrt(-2 * np.log(normal[:, ::2])), 2 * np.pi * normal[:, 1::2]
    both = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], axis=1)[:, :dimensions]
    return np.asarray(both / np.linalg.norm(both, axis=1, keepdims=True))


def _evenly(count: int, dimensions: int) -> Real:
    """Points of the open unit cube: multiples of the roots of x^(d+1) = x + 1, modulo 1."""
    root = 1 + _GOLDEN
    for _ in range(64):
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1)
    return np.asarray((0.5 + np.arange(1, count + 1)[:, None] * steps) % 1.0)


def _boxes(columns: Sequence[_Binned]) -> float:
    """The mean difference of shares over boxes: intervals of numbers, or one category, of up to
    three columns."""
    total = 0.0
    sides = [
        [side[:: max(1, side.size // MOST_BOXED)] for side in (column.original, column.released)]
        for column in columns
    ]
    for point in _evenly(BOXES, 10):
        inside = [np.ones(side.size, bool) for side in sides[0]]
        many = 1 + int(point[0] * min(3, len(columns)))
        chosen = {int(point[1 + i] * len(columns)) for i in range(many)}
        for i, number in enumerate(sorted(chosen)):
            column = columns[number]
            ends = sorted(int(point[4 + 2 * i + j] * column.cells) for j in (0, 1))
            low, high = ends if column.ordered else (ends[0], ends[0])
            for flags, values in zip(inside, sides[number], strict=True):
                flags &= (values >= low) & (values <= high)
        total += abs(float(inside[0].mean()) - float(inside[1].mean()))
    return total / BOXES
