"""Groups of records that follow each other in one fixed order, and a noisy mean for each.

Records are sorted by a complete key that the schema alone decides (`taxonomy/total_order.py`) and
divided into groups of k, the last of k to 2k − 1, whose sizes are public. One replaced record then
moves the groups' sums along a chain, all columns together by at most L_N if each is divided by the
length of its line (`sensitivity/chain.py`). So a number's sums get discrete Laplace noise of scale
length·L_N/ε, one draw for each group and column. If values may be missing, their number in each
group gets noise too; both together move as far as the record does on the line. A group's category
is chosen among *all* categories of the column with weight exp(−ε·s/(2·length·L_N)), where s is the
sum of its distances to the group's values. Both cost in proportion to their links, which add up to
ε.

Candidates are categories, not all concepts of the taxonomy: a released value is one that the column
may hold, and these are public.

Source
    Thesis, chapter 6, with the sensitivity of `sensitivity/chain.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import repeat
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ...arguments import checked_call, flag, whole
from ...engine.contract import Passes
from ...errors import refuse
from ...mechanism.exponential_mechanism import Exponential
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.source import Source
from ...sensitivity import chain
from ...taxonomy.total_order import MOST_COLUMNS, bits_for, cells, index
from ...text import many, sentence, shortly
from .axis import Line, MeaningLine, NumberLine, lines_of, varying
from .counts import uniforms
from .domain import Domain, Places
from .synthesis import Synthesis

Reals = NDArray[np.float64]

_STRENGTHS = 2.0 ** np.arange(-8, 41)
_HALVINGS = 60
_MOST_SUM = 1 << 61
_MOST_MOVED = 1 << 53
_MOST_SCALE = 1 << 55


def isotonic(values: Reals, weights: Reals) -> Reals:
    """The nearest values that never fall, by weighted squares: neighbours that fall are pooled."""
    pools: list[tuple[float, float, int]] = []
    for pool in zip(values.tolist(), weights.tolist(), repeat(1)):
        mean, weight, many = pool
        while pools and pools[-1][0] >= mean:
            before, total, count = pools.pop()
            mean = (before * total + mean * weight) / (total + weight)
            weight, many = total + weight, count + many
        pools.append((mean, weight, many))
    return np.repeat([mean for mean, _, _ in pools], [many for _, _, many in pools])


def smoothed(values: Reals, variance: float) -> Reals:
    """Values along an order, each moved towards its neighbours as far as their noise suggests.

    The smoothed θ minimise Σ(y − θ)² + r·Σ(θ₊ − θ)². That is diagonal among cosines, so any r is
    quick to try. The one with the least unbiased estimate of the squared error (Stein 1981) is
    taken if it gains more than two deviations of such an estimate; else the values stay.

    Parameters
        values: at least one.
        variance: of the noise in each of them.
    """
    size = values.size
    waves = np.fft.rfft(np.concatenate([values, values[::-1]]))
    rough = 2 - 2 * np.cos(np.pi * np.arange(size + 1) / size)
    power = np.abs(waves) ** 2
    power[1:-1] *= 2
    power /= 4 * size  # Σ over all waves is Σ values²
    best, kept = -2 * variance * np.sqrt(2 * size), np.ones(size + 1)
    for strength in _STRENGTHS:
        factor = 1 / (1 + strength * rough)
        # size waves: the last one is 0, for there a value meets its mirror image
        gained = ((1 - factor) ** 2 * power).sum() - 2 * variance * (1 - factor[:size]).sum()
        if gained < best:
            best, kept = gained, factor
    return np.asarray(np.fft.irfft(waves * kept, 2 * size)[:size])


def shares_of(values: Reals) -> Reals:
    """The values, all moved by as much and clipped to [0, 1], so that their sum stays as far as it
    can: clipping alone would add rows where noise is."""
    total = min(max(float(values.sum()), 0.0), float(values.size))
    low, high = float(values.min()) - 1.0, float(values.max())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if np.clip(values - middle, 0, 1).sum() > total:
            low = middle
        else:
            high = middle
    return np.asarray(np.clip(values - high, 0, 1))


def spread(values: Reals, groups: NDArray[np.int64], source: Source) -> Reals:
    """A value for each of these groups, around the mean of the group, in an interval as wide as the
    larger of the distances to the means before and after it."""
    gaps = np.abs(np.diff(values))
    width = np.maximum(np.append(gaps, 0.0), np.append(0.0, gaps))
    return np.asarray(values[groups] + width[groups] * (uniforms(groups.size, source) - 0.5))


@dataclass(frozen=True)
class Means:
    """The noisy means of groups, each as often as its group has records: post-processing.

    k, groups: ranks from i·k to (i + 1)·k − 1 are group i; the last has the rest.
    columns: how many the table has.
    numbers, categories: of each column its mean, or its category, in every group.
    missing: of each number the share of missing values in every group.
    rows, drawn: how many were read, and how many are drawn.
    spread: whether numbers are spread between neighbouring groups.
    """

    k: int
    groups: int
    columns: int
    numbers: tuple[tuple[NumberLine, Reals], ...]
    categories: tuple[tuple[MeaningLine, NDArray[np.int64]], ...]
    spread: bool
    missing: tuple[Reals, ...]
    rows: int
    drawn: int

    def block(self, rows: range, source: Source) -> Places:
        ranks = np.arange(rows.start, rows.stop, rows.step) * self.rows // self.drawn
        group = group_of(ranks, self.k, self.groups)
        made = np.empty((group.size, self.columns), np.int64)
        for line, means in self.numbers:
            values = spread(means, group, source) if self.spread else means[group]
            made[:, line.place] = line.places(values)
        for (line, _), shares in zip(self.numbers, self.missing, strict=True):
            if line.axis.blank:
                gone = uniforms(group.size, source) < shares[group]
                made[gone, line.place] = line.axis.size - 1
        for category, chosen in self.categories:
            made[:, category.place] = chosen[group]
        return made


def group_of(ranks: NDArray[np.int64], k: int, groups: int) -> NDArray[np.int64]:
    return np.minimum(ranks // k, groups - 1)


# (V_D, C_D): groups of N records in D columns miss by V·N^(−2/D), and L_N is about C·N^((D−1)/D)
_SHAPE = {1: (0.0833, 1.0), 2: (0.2238, 2.83), 3: (0.3416, 3.95), 4: (0.4353, 5.05)}


def best_groups(columns: int, rows: int, epsilon: Fraction) -> int:
    """N*: the number of groups that balances the error of replacing values by means and the noise.

    The squared error is about V·N^(−2/D) + 2D·(C·N^((D−1)/D)·N/(nε))², least at
    N⁴ = V·(nε)²/(2D(2D−1)·C²). Constants beyond four columns continue those of fewer.

    Example
        >>> best_groups(2, 30_162, Fraction(1))
        38
    """
    loss, length = _SHAPE.get(columns, (columns / 9, 1.08 * columns + 0.7))
    balance = loss / (2 * columns * (2 * columns - 1) * length**2)
    groups = math.sqrt(math.sqrt(balance) * rows * float(epsilon))
    return min(max(1, round(groups)), rows)


def share_error(columns: int, groups: int, scale: float) -> float:
    """The mean absolute error of the share of rows below a random value of a random column.

    A row is moved by noise of that scale, and inside its group. Uniform rows keep their shares,
    except for those that are moved beyond the ends and clipped to them; and groups are few, so that
    the share that crosses a value has the deviation of √(spread/groups).
    """
    inside = math.sqrt(_SHAPE.get(columns, (columns / 9, 0.0))[0] / columns) * groups ** (
        -1 / columns
    )
    points = (np.arange(64) + 0.5) / 64
    beyond = points[:, None] - points[None, :]
    below = points
    if scale > 0:
        half = np.exp(-np.abs(beyond) / scale) / 2
        below = np.where(beyond >= 0, 1 - half, half).mean(axis=1)
    moved = math.sqrt(2 * min(scale, 1) ** 2 + inside**2)
    crossing = math.sqrt(0.56 * min(moved, 0.5) / groups)
    return float(np.abs(below - points).mean() + crossing * math.sqrt(2 / math.pi))


class Tallies(NamedTuple):
    """The exact statistics of the rows.

    sums: for each number, its sum in every group, a missing value counted as the last.
    missing: for each number, how many values are missing in every group.
    scores: for each column of categories, how far every candidate is from every group.
    """

    sums: tuple[NDArray[np.int64], ...]
    missing: tuple[NDArray[np.int64], ...]
    scores: tuple[NDArray[np.int64], ...]


class Centroids(NamedTuple):
    """The noisy statistics, which are released."""

    sums: tuple[NDArray[np.int64], ...]
    missing: tuple[NDArray[np.int64], ...]
    chosen: tuple[NDArray[np.int64], ...]


@dataclass(frozen=True, kw_only=True)
class Microaggregation(Synthesis):
    """Noisy means of groups of k records, each repeated as often as its group has records.

    Guarantee
        That of `Synthesis`. Groups follow each other in the fixed order; no row keeps its identity.

    Parameters
        k: the least size of a group.
        smooth: whether means are moved together as far as their noise suggests: to a rising line
            for one number, else to their neighbours in the order.
        spread: whether a group's numbers are spread evenly between its neighbours instead of k
            copies of one.
    """

    name: ClassVar[str] = "microaggregation"
    mechanism: ClassVar[str] = "noisy means of groups of records in one fixed order"
    source: ClassVar[str] = "Soria-Comas' thesis, chapter 6, with the sensitivity of a chain"

    k: int
    smooth: bool = True
    spread: bool = False

    @classmethod
    def planned(cls, domain: Domain, rows: int, epsilon: Fraction, **options: Any) -> Self:
        """With k="auto", k follows from rows, epsilon and the number of columns alone."""
        given = _options(**options)
        columns = len(varying(lines_of(domain)))
        if columns > MOST_COLUMNS:
            raise refuse("publish.too-many-cluster-columns", many=columns, most=MOST_COLUMNS)
        if given["k"] is None:
            given["k"] = math.ceil(rows / best_groups(max(columns, 1), rows, epsilon))
        if given["k"] > rows:
            raise refuse("publish.fewer-rows-than-k", size=given["k"])
        return super().planned(domain, rows, epsilon, **given)

    @property
    def clusters(self) -> int:
        return max(1, self.rows // self.k)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        sizes = np.full(self.clusters, self.k, np.int64)
        sizes[-1] = self.rows - self.k * (self.clusters - 1)
        return sizes

    @property
    def sensitivity(self) -> Fraction:
        """How far one record can move all the groups' means together, each column divided by the
        length of its line."""
        return self.length / self.k

    @property
    def scale(self) -> Mapping[str, float]:
        """The scale of the noise in a mean of k records, for each number, in its own units."""
        return {
            line.axis.name: self._law(line).scale
            * 2**line.shift
            / self.k
            * float(getattr(line.axis.column, "grid", 1))
            for line in self._numbers
            if line.length
        }

    @cached_property
    def length(self) -> Fraction:
        """L_N, an upper bound, each column divided by the length of its line."""
        live = varying(lines_of(self.domain))
        if not live:
            return Fraction(0)
        if len(live) == 1:
            return live[0].chain(self.clusters)
        return chain.hilbert(len(live), self.clusters)

    @cached_property
    def _all(self) -> tuple[Line, ...]:
        return tuple(line.coarsened(self._most_steps) for line in lines_of(self.domain))

    @property
    def _most_steps(self) -> int:
        """No line is longer, so that sums and their noise fit into 64 bits."""
        moved = min(Fraction(_MOST_MOVED), _MOST_SCALE * self.epsilon)
        fits = min(_MOST_SUM // (2 * self.k), math.floor(moved / max(self.length, Fraction(1))))
        return max(fits, 1)  # a line keeps its two ends; noise that is too wide is refused

    @property
    def _numbers(self) -> list[NumberLine]:
        return [line for line in self._all if isinstance(line, NumberLine)]

    @property
    def _categories(self) -> list[MeaningLine]:
        return [line for line in self._all if isinstance(line, MeaningLine)]

    @property
    def _alone(self) -> bool:
        """Whether there is one column to sort by, and that one a number."""
        live = varying(self._all)
        return len(live) == 1 and isinstance(live[0], NumberLine)

    def _law(self, line: NumberLine) -> DiscreteLaplace:
        return DiscreteLaplace(sensitivity=line.length * self.length, epsilon=self.epsilon)

    def _count_law(self, line: NumberLine) -> DiscreteLaplace:
        """The noise in the number of missing values, each of which counts `beyond` steps."""
        moved = line.length * self.length / line.beyond
        return DiscreteLaplace(sensitivity=moved, epsilon=self.epsilon)

    def _choice(self, line: MeaningLine) -> Exponential:
        """The score of a category is the negated sum of its distances to the group's values."""
        moved = line.length * self.length  # 0 where all categories are equally far
        return Exponential(line.axis.size, self.epsilon, moved or 1)

    def release(self, records: Passes, source: Source) -> Means:
        return self.written(self.noisy(self.tallies(records), source))

    def key(self, places: Places) -> list[NDArray[np.int64]]:
        """The complete key of each record: its position on the curve, if there is one, and its
        values column by column."""
        live = varying(self._all)
        values = [line.values(places) for line in self._sorted]
        if len(live) < 2:
            return values
        bits = bits_for(len(live))
        at = [cells(line.at(line.values(places)), line.length, bits) for line in live]
        return [index(np.stack(at, axis=1), bits).astype(np.int64), *values]

    @cached_property
    def _sorted(self) -> tuple[Line, ...]:
        """The lines in the order of the key's values: chains are bounded along lines that have a
        length, so no other may come before them."""
        return tuple(sorted(self._all, key=lambda line: not line.length))

    def tallies(self, records: Passes) -> Tallies:
        """The statistics of all groups, by one walk along the order."""
        sums = [np.zeros(self.clusters, np.int64) for _ in self._numbers]
        missing = [np.zeros(self.clusters, np.int64) for _ in self._numbers]
        counts = [np.zeros((self.clusters, c.axis.size), np.int64) for c in self._categories]
        begin = 0
        for keys in records.sort(self.key):
            values = dict(zip(self._sorted, keys[-len(self._sorted) :], strict=True))
            group = group_of(np.arange(begin, begin + keys[0].size), self.k, self.clusters)
            begin += keys[0].size
            first = int(group[0])
            here = slice(first, int(group[-1]) + 1)
            starts = np.searchsorted(group, np.arange(here.start, here.stop))
            for total, gone, line in zip(sums, missing, self._numbers, strict=True):
                total[here] += np.add.reduceat(np.minimum(values[line], line.last), starts)
                if line.beyond:
                    absent = (values[line] > line.last).astype(np.int64)
                    gone[here] += np.add.reduceat(absent, starts)
            for count, category in zip(counts, self._categories, strict=True):
                kinds = category.axis.size
                at = (group - first) * kinds + values[category]
                pairs = np.bincount(at, minlength=(here.stop - first) * kinds)
                count[here] += pairs.reshape(-1, kinds)
        distances = [category.distances for category in self._categories]
        scores = [count @ apart.T for count, apart in zip(counts, distances, strict=True)]
        return Tallies(tuple(sums), tuple(missing), tuple(scores))

    def noisy(self, tallies: Tallies, source: Source) -> Centroids:
        """The statistics with noise: the only step that has a price."""
        sums = [
            exact + self._law(line).steps(self.clusters, source) if line.length else exact
            for line, exact in zip(self._numbers, tallies.sums, strict=True)
        ]
        missing = [
            exact + self._count_law(line).steps(self.clusters, source) if line.beyond else exact
            for line, exact in zip(self._numbers, tallies.missing, strict=True)
        ]
        choices = [self._choice(category) for category in self._categories]
        chosen = [
            np.array([choice.choose(row, source) for row in (-scores).tolist()], np.int64)
            for choice, scores in zip(choices, tallies.scores, strict=True)
        ]
        return Centroids(tuple(sums), tuple(missing), tuple(chosen))

    def written(self, centroids: Centroids) -> Means:
        """The rows that follow from the release."""
        both = list(self._means(centroids))
        numbers = tuple((line, means) for line, (means, _) in zip(self._numbers, both, strict=True))
        categories = tuple(zip(self._categories, centroids.chosen, strict=True))
        columns = len(self.domain.axes)
        missing = tuple(shares for _, shares in both)
        return Means(
            self.k,
            self.clusters,
            columns,
            numbers,
            categories,
            self.spread,
            missing,
            self.rows,
            self.drawn,
        )

    def _means(self, centroids: Centroids) -> Iterator[tuple[Reals, Reals]]:
        """The means of the values that are not missing, as shares of the range, and the shares of
        those that are."""
        each = zip(self._numbers, centroids.sums, centroids.missing, strict=True)
        for line, noisy, gone in each:
            last = max(line.last, 1)
            means, shares = noisy / (self.sizes * last), gone / self.sizes
            if self.smooth and line.length:
                means = self._smoothed(means, float(self._law(line).variance) / last**2)
            if self.smooth and line.beyond:
                shares = self._smoothed(shares, float(self._count_law(line).variance))
            shares = shares_of(shares)
            # a missing value counted as the last
            means = (means - shares) / np.maximum(1 - shares, 1 / self.k)
            yield np.clip(means, 0, 1), shares

    def _smoothed(self, values: Reals, variance: float) -> Reals:
        """Values of all groups, moved together; the sum of k of them has noise of that variance."""
        if self._alone:
            return isotonic(values, self.sizes.astype(np.float64) ** 2)
        return smoothed(values, variance / self.k**2)

    @property
    def expected_error(self) -> float:
        columns = len(varying(self._all))
        # a line on which values may be missing is longer than the range of the values
        longer = max((line.length / max(line.last, 1) for line in self._numbers), default=1.0)
        noise = float(self.sensitivity / self.epsilon) * longer
        return share_error(columns, self.clusters, noise) if columns else 0.0

    @property
    def parameters(self) -> Mapping[str, str]:
        curve = len(varying(self._all)) > 1
        texts = {
            "groups": f"{many(self.clusters, 'group')} of at least {many(self.k, 'record')}.",
            "order": "Along a Hilbert curve through the domain." if curve else "By value.",
            "sensitivity": (
                f"One record moves all means together by at most {shortly(float(self.sensitivity))}"
                ", each as a share of the width of its domain."
            ),
        }
        for name, scale in self.scale.items():
            texts[f"column {name}"] = f"The mean of a group has noise of scale {shortly(scale)}."
        for number in self._numbers:
            if number.beyond:
                wide = shortly(float(self._count_law(number).scale))
                texts[f"missing {number.axis.name}"] = (
                    f"The number of missing values in a group has noise of scale {wide}."
                )
        for line in self._categories:
            # the price if a record took the most distant category
            furthest = int(line.distances.max()) if line.length else 0
            alone = shortly(2 * float(self._choice(line).fall) * furthest)
            texts[f"column {line.axis.name}"] = (
                "The category of a group is chosen with noise; one choice alone would cost at most "
                f"epsilon {alone}."
            )
        texts["after the noise"] = f"{sentence(', '.join(self._post_processing()))}."
        return texts

    def _post_processing(self) -> Iterator[str]:
        if self._numbers:
            if self.smooth:
                yield "made to rise" if self._alone else "smoothed along the order"
            yield "clipped to the bounds"
            if self.spread:
                yield "spread inside groups"
            yield "rounded to the grid"
        yield f"repeated {'group by group' if self.spread else 'for each record of the group'}"

    @property
    def limits(self) -> Sequence[str]:
        return (
            "Rows are group means with noise, not records: the variation inside a group of "
            f"{self.k} records is lost.",
        )


@checked_call
def _options(
    *, k: object = "auto", smooth: object = True, spread: object = False
) -> dict[str, Any]:
    least = None if k == "auto" else whole(k, "k", least=1)
    return {"k": least, "smooth": flag(smooth, "smooth"), "spread": flag(spread, "spread")}
