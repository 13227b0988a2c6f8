"""A Gaussian copula: columns first, then the correlation of every two.

Each column is divided at its noisy middle. For every two columns the rows on the same side of both
middles are counted, less those on different sides, with noise. From that follows the correlation
that a normal law would have, and the table is drawn from it, column by column mapped to the noisy
distributions. A missing value lies on no side: a row counts for the pairs of columns in which it
has values, and missing values are drawn independently of everything else.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import Passes
from ...errors import refuse
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.source import Source
from ...text import exactly, many
from ..permute import shuffled
from .counts import Counts, Weights, noisy, uniforms
from .domain import Domain, Places
from .independent_columns import ColumnsFirst, Margin

MOST_FOR_PAIRS = Fraction(12, 100)
"""The part of epsilon for the counts of pairs, at most."""
_NORMAL = NormalDist()
_HALVINGS = 40
_LEAST_SHARE = 0.02
_LEAST_PRESENT = 0.05
_CLOSEST = 0.999
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


@dataclass(frozen=True, kw_only=True)
class Copula(ColumnsFirst):
    """Columns that depend on each other as those of a normal law do.

    Guarantee
        `epsilon` in all: .12 for the balances of all pairs, or less among many rows, and the rest
        for the columns. A record with the sides s and a record with the sides s' (1 above the
        middle, −1 below, 0 where the value is missing) move the balances by Σ|sᵢsⱼ − s'ᵢs'ⱼ| over
        all pairs i < j. That is convex in each single side, so that it is greatest where no side is
        0. Then u of the D columns change sides; a pair changes, by 2, exactly if one of its two
        columns is among them, which u·(D − u) pairs do, ⌊D²/4⌋ at most.

    Source
        Correlations from signs: Sheppard 1899; how far balances move is proved above.
    """

    name = "copula"
    mechanism = "noisy columns, joined by a normal law with a noisy correlation of each two"
    source = "sides of noisy medians; at most floor(D^2/4) pairs change sides with one record"
    fewest = 2

    @classmethod
    def planned(cls, domain: Domain, rows: int, epsilon: Fraction, **options: Any) -> Self:
        planned = super().planned(domain, rows, epsilon, **options)
        flat = [axis.name for axis in domain.axes if not axis.ordered]
        if flat:
            raise refuse("publish.column-not-numeric", by=cls.name, column=flat[0])
        return planned

    @property
    def moved(self) -> int:
        """By how much one record can move all balances together."""
        return 2 * (len(self.domain.axes) ** 2 // 4)

    @property
    def pairs_epsilon(self) -> Fraction:
        """The budget of all balances: at most what makes the scale of their noise the root of the
        rows, the deviation of such a balance by sampling alone."""
        thousandths = -(-1000 * self.moved // max(math.isqrt(self.rows), 1))
        return min(MOST_FOR_PAIRS * self.epsilon, Fraction(thousandths, 1000))

    @property
    def columns_epsilon(self) -> Fraction:
        return self.epsilon - self.pairs_epsilon

    @property
    def parameters(self) -> Mapping[str, str]:
        pairs = math.comb(len(self.domain.axes), 2)
        return {
            "columns": self.columns_text,
            "pairs": (
                f"{many(pairs, 'noisy count')} of rows on the same side of the middles of two "
                "columns, less those on different sides, for epsilon "
                f"{exactly(self.pairs_epsilon)} in all; one record moves all together by at most "
                f"{self.moved}."
            ),
        }

    @property
    def limits(self) -> Sequence[str]:
        texts = ("Columns depend on each other through one correlation of each two only.",)
        blank = any(axis.blank for axis in self.domain.axes)
        return (*texts, "Missing values depend on nothing.") if blank else texts

    @property
    def least_epsilon(self) -> Fraction:
        return min(super().least_epsilon, self.pairs_epsilon)

    def release(self, records: Passes, source: Source) -> Joined:
        margins, axes = self.margins(records, source), self.domain.axes
        held = np.array([axis.held for axis in axes])
        values, present = zip(
            *(margin.before(axis.held) for axis, margin in zip(axes, margins, strict=True)),
            strict=True,
        )
        middles, shares = zip(*(_middle(margin) for margin in values), strict=True)
        counts = records.sum(lambda places: balances(sides(places, np.array(middles), held)))
        released = noisy(counts, self.pairs_epsilon, source, self.moved)
        law = DiscreteLaplace(sensitivity=self.moved, epsilon=self.pairs_epsilon)
        same = likely(
            (1 + released / self.rows) / 2,
            shares,
            float(law.variance) / (2 * self.rows) ** 2,
            np.outer(present, present)[np.triu_indices(len(axes), 1)],
        )
        return Joined(correlated(same, shares), margins, held)


@dataclass(frozen=True)
class Joined:
    """Rows of a normal law with these correlations, column by column mapped to the margins.

    held: how many places of each column stand for values; the others are drawn for any rows.
    """

    latent: Weights
    margins: Sequence[Margin]
    held: Counts

    def block(self, rows: range, source: Source) -> Places:
        size, columns = len(rows), len(self.margins)
        normal = _normals(size * columns, source).reshape(size, columns)
        normal = normal @ np.linalg.cholesky(self.latent).T
        made = np.empty((size, columns), np.int64)
        for j, margin in enumerate(self.margins):
            places = np.sort(margin.sample(size, source))
            values = int(np.searchsorted(places, self.held[j]))
            mixed = np.arange(size) if values == size else shuffled(size, source)
            held, gone = mixed[:values], mixed[values:]
            order = held[np.argsort(normal[held, j], kind="stable")]
            made[order, j], made[gone, j] = places[:values], places[values:]
        return made


def sides(places: Places, middles: Counts, held: Counts) -> NDArray[np.int8]:
    """1 for each value at its column's middle or above it, −1 for each below, 0 for a missing one.

    held: how many places of each column stand for values.
    """
    above = np.where(places >= middles, np.int8(1), np.int8(-1))
    return np.where(places < held, above, np.int8(0))


def balances(sides: NDArray[np.int8]) -> Counts:
    """For every two columns, in order, how many rows lie on the same side of both middles, less
    those on different sides."""
    pairs = itertools.combinations(range(sides.shape[1]), 2)
    return np.array([(sides[:, i] * sides[:, j]).sum(dtype=np.int64) for i, j in pairs], np.int64)


def _middle(margin: Margin) -> tuple[int, float]:
    """The place that divides the noisy distribution most evenly, and the share from there on."""
    median, size = int(margin.quantile(np.array([0.5]))[0]), int(margin.edges[-1])
    tried = [place for place in (median, median + 1) if 0 < place < size] or [1]
    shares = [1 - margin.below(place) for place in tried]
    best = min(range(len(tried)), key=lambda i: abs(shares[i] - 0.5))
    return tried[best], min(max(shares[best], _LEAST_SHARE), 1 - _LEAST_SHARE)


def likely(
    same: Weights, shares: Sequence[float], variance: float, present: Weights | float = 1.0
) -> Weights:
    """The shares on the same side among rows with both values, shrunk towards those of independent
    columns, the more their spread around these is explained by noise alone.

    same: of all rows; half of those that lack one of the two values count.
    variance: of the noise of each, which is public.
    present: the share of rows with both values.
    """
    above = np.array(shares)
    both = np.outer(above, above) + np.outer(1 - above, 1 - above)
    alone = both[np.triu_indices(len(shares), 1)]
    apart = same - (0.5 + present * (alone - 0.5))
    spread = float((apart**2).mean())
    kept = max(1 - variance / spread, 0.0) if spread else 0.0
    return np.asarray(alone + apart * kept / np.maximum(present, _LEAST_PRESENT))


def correlated(same: Weights, shares: Sequence[float]) -> Weights:
    """The correlations of a normal law whose columns lie above their middles with these
    probabilities, and two on the same side with those; the nearest matrix that is one."""
    columns = len(shares)
    correlations = np.eye(columns)
    for value, (i, j) in zip(same, itertools.combinations(range(columns), 2), strict=True):
        both = (float(value) - 1 + shares[i] + shares[j]) / 2
        correlations[i, j] = correlations[j, i] = _tetrachoric(both, shares[i], shares[j])
    values, vectors = np.linalg.eigh(correlations)
    kept = (vectors * np.maximum(values, 1e-4)) @ vectors.T
    scale = np.sqrt(np.diag(kept))
    return np.asarray(kept / np.outer(scale, scale))


def _tetrachoric(both: float, one: float, other: float) -> float:
    """The correlation with which two normal numbers exceed their middles together so often."""
    h, k = -_NORMAL.inv_cdf(one), -_NORMAL.inv_cdf(other)
    low, high = -_CLOSEST, _CLOSEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if one * other + _tilt(h, k, middle) < both:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _tilt(h: float, k: float, correlation: float) -> float:
    """By how much correlation raises the probability that both exceed their middles: the integral
    of the density over it."""
    r = correlation * (_NODES + 1) / 2
    rest = 1 - r * r
    density = np.exp(-(h * h - 2 * r * h * k + k * k) / (2 * rest)) / (2 * np.pi * np.sqrt(rest))
    return float((density * _WEIGHTS).sum() * correlation / 2)


def _normals(size: int, source: Source) -> Weights:
    half = -(-size // 2)
    radius = np.sqrt(-2 * np.log1p(-uniforms(half, source)))
    angle = 2 * np.pi * uniforms(half, source)
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:size]
