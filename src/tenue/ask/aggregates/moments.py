"""Variance, covariance, correlation and regression, computed from noisy components of all moments.

For the interval every component lies in its own interval at once, each with a share of the allowed
miss probability; then everything that is computed from this box of numbers is covered too. Squares
are taken around the noisy mean, which makes the box of squares small.

To add a statistic of one or two columns: a `Statistic` with its value and its interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

from ...engine.request import Factor, Measure
from ...errors import refuse
from ...mechanism.additive_noise import Atoms, Term, half_width, linear_error
from ...mechanism.moment_basis import Axis, Powers, basis, functional, powers_of
from ...noise.criterion import Criterion
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.samplers import LARGEST
from ...schema import Number, Schema
from ...text import exactly
from ..question import Aggregate
from .contract import ANY_VALUE, Asked, Block, Ends, Family, Function, Levels
from .noise import Noise
from .reading import Interval, Noisy, Parts, Reading
from .strategy import Range, Setting, Strategy

Axes = tuple[Axis, ...]

_MOST_STEPS = LARGEST >> 8
_WIDEST = LARGEST >> 6
"""The largest sensitivity and scale in steps, as discrete Laplace allows them."""


@dataclass(frozen=True)
class Statistic:
    """A statistic of the moments of one or two columns.

    value: from noisy moments; None where it is not defined.
    interval: from all moments that the noise allows; None where they allow any value.
    functions: the SQL names. columns: how many it takes; ordered: whether their order matters.
    degree: the highest power of each column that is needed.
    anything: the bounds that it has for all rows.
    ends: the same where they follow from the widths of the columns' bounds.
    """

    value: Callable[[Moments], Fraction | None]
    interval: Callable[[MomentBox], tuple[float, float] | None]
    functions: tuple[str, ...]
    columns: int = 1
    ordered: bool = False
    degree: int = 2
    anything: Interval | None = None
    ends: Callable[[Sequence[Fraction]], Interval] | None = None


@dataclass(frozen=True)
class JointMoments(Noise):
    """The components of all moments of one or two columns, up to a degree."""

    source = "Dwork et al. 2006, on sums of products"

    @property
    def _axes(self) -> Axes:
        return self.components[0].axes  # type: ignore[union-attr]

    @cached_property
    def _measures(self) -> dict[Powers, Measure]:
        """The sums of products of powers of the columns, each counted from its lowest value."""
        axes = self._axes
        degree: int = self.components[0].degree  # type: ignore[union-attr]
        found = {}
        for powers in powers_of(len(axes), degree):
            pairs = zip(axes, powers, strict=True)
            factors = tuple(Factor(axis.column, axis.low, power) for axis, power in pairs)
            found[powers] = Measure("moment", factors=factors)
        return found

    @property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(self._measures.values())

    def atoms(self, measured: Mapping[Measure, int]) -> Atoms:
        moments = {powers: measured[measure] for powers, measure in self._measures.items()}
        return Atoms(0, {}, {}, {self._axes: moments})


@dataclass(frozen=True)
class MomentReading(Reading):
    """A statistic of one or two columns.

    part: the noise with the components of the axes. grids: that of each axis.
    over: where the order matters, the axis of the second column.
    """

    kind: str
    part: int
    axes: Axes
    grids: tuple[Fraction, ...]
    over: int = 0

    @cached_property
    def _statistic(self) -> Statistic:
        return STATISTICS[self.kind]

    @cached_property
    def weights(self) -> dict[Powers, list[Fraction]]:
        """For each moment, the weights of the components in it."""
        degree = self._statistic.degree
        return {
            powers: functional(self.axes, degree, powers)
            for powers in powers_of(len(self.axes), degree)
        }

    def value(self, noisy: Noisy, rows: int | None) -> Fraction | None:
        """None for at most one noisy row."""
        moments = Moments(self, noisy[self.part])
        return None if moments.n <= 1 else self._statistic.value(moments)

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        components = noisy[self.part]
        each = 1 - (1 - level) / len(components)
        halves = [
            half_width(linear_error(parts, (Term(self.part, j, Fraction(1)),)), each)
            for j in range(len(components))
        ]
        box = MomentBox(self, [float(c) for c in components], halves)
        if box.fewest <= 1:
            return self._statistic.anything
        found = self._statistic.interval(box)
        return None if found is None else (Fraction(found[0]), Fraction(found[1]))

    def size(self, parts: Parts, wanted: Criterion) -> float:
        return float(1 / parts[self.part].epsilon)

    def moved(self, parts: int, places: int) -> MomentReading:
        return replace(self, part=self.part + parts)

    def powers(self, axis: int, power: int) -> Powers:
        return tuple(power if number == axis else 0 for number in range(len(self.axes)))

    def in_units(self, axis: int, steps: Fraction) -> Fraction:
        """So many steps above the lowest value, in units of the column."""
        return (self.axes[axis].low + steps) * self.grids[axis]

    @property
    def unit(self) -> Fraction:
        """One product of steps, in units of the columns."""
        return math.prod(self.grids, start=Fraction(1))

    @property
    def steepness(self) -> Fraction:
        """The slope of one step of the other axis for one step of `over`."""
        return self.grids[1 - self.over] / self.grids[self.over]


class Moments:
    """The noisy moments of one cell."""

    def __init__(self, reading: MomentReading, components: Sequence[int]) -> None:
        self.reading = reading
        self.components = components
        self.n = self._moment(reading.powers(0, 0))

    def _moment(self, powers: Powers) -> Fraction:
        weights = self.reading.weights[powers]
        return sum((w * c for w, c in zip(weights, self.components, strict=True)), Fraction(0))

    @property
    def correction(self) -> Fraction:
        """n / (n − 1), for a sample: 2 at most, because only two or more rows have a spread."""
        return min(self.n / (self.n - 1), Fraction(2))

    def mean(self, axis: int) -> Fraction:
        """In steps above the lowest value."""
        return self._moment(self.reading.powers(axis, 1)) / self.n

    def variance(self, axis: int) -> Fraction:
        """Of the rows themselves, in squared steps, at most the largest possible one; noise can
        make it negative."""
        variance = self._moment(self.reading.powers(axis, 2)) / self.n - self.mean(axis) ** 2
        return min(variance, Fraction(self.reading.axes[axis].width ** 2, 4))

    def covariance(self) -> Fraction:
        """Of the rows themselves, in products of steps, clipped to the possible range."""
        covariance = self._moment((1, 1)) / self.n - self.mean(0) * self.mean(1)
        most = Fraction(math.prod(axis.width for axis in self.reading.axes), 4)
        return min(max(covariance, -most), most)


class MomentBox:
    """All values of the components that the noise allows."""

    def __init__(self, reading: MomentReading, middle: list[float], halves: list[float]) -> None:
        self.reading = reading
        self.middle = middle
        self.halves = halves
        self.counts = self._range({reading.powers(0, 0): 1.0})
        self.fewest = self.counts[0]
        n = max(sum(self.counts) / 2, 1.0)
        self.centre = [
            self._middle(self._coefficients({reading.powers(axis, 1): 1.0})) / n
            for axis in range(len(reading.axes))
        ]

    @property
    def correction(self) -> float:
        """The largest n / (n − 1), for a sample."""
        return self.fewest / (self.fewest - 1)

    def _coefficients(self, moments: dict[Powers, float]) -> list[float]:
        weights = self.reading.weights
        return [
            sum(factor * float(weights[powers][j]) for powers, factor in moments.items())
            for j in range(len(self.middle))
        ]

    def _middle(self, coefficients: list[float]) -> float:
        return sum(c * m for c, m in zip(coefficients, self.middle, strict=True))

    def _range(self, moments: dict[Powers, float]) -> tuple[float, float]:
        """The values of a combination of moments over the box."""
        coefficients = self._coefficients(moments)
        middle = self._middle(coefficients)
        reach = sum(abs(c) * h for c, h in zip(coefficients, self.halves, strict=True))
        return middle - reach, middle + reach

    def mean_off(self, axis: int) -> float:
        """The largest distance of the true mean from the centre."""
        zero, one = (self.reading.powers(axis, power) for power in (0, 1))
        low, high = self._range({one: 1.0, zero: -self.centre[axis]})
        return max(abs(low), abs(high)) / self.fewest

    def mean(self, axis: int) -> tuple[float, float]:
        """In steps above the lowest value."""
        off, most = self.mean_off(axis), float(self.reading.axes[axis].width)
        return max(self.centre[axis] - off, 0.0), min(self.centre[axis] + off, most)

    def variance(self, axis: int) -> tuple[float, float]:
        """Of the rows themselves, in squared steps."""
        c = self.centre[axis]
        zero, one, two = (self.reading.powers(axis, power) for power in (0, 1, 2))
        low, high = self._range({two: 1.0, one: -2 * c, zero: c * c})
        most = self.reading.axes[axis].width ** 2 / 4
        least = max(low / self.counts[1] - self.mean_off(axis) ** 2, 0.0)
        return min(least, most), max(0.0, min(high / self.fewest, most))

    def covariance(self) -> tuple[float, float]:
        """Of the rows themselves, in products of steps."""
        a, b = self.centre
        low, high = self._range({(1, 1): 1.0, (1, 0): -b, (0, 1): -a, (0, 0): a * b})
        off = self.mean_off(0) * self.mean_off(1)
        ends = [end / n for end in (low, high) for n in (self.fewest, self.counts[1])]
        most = math.prod(axis.width for axis in self.reading.axes) / 4
        return max(min(ends) - off, -most), min(max(ends) + off, most)


_HALF = Fraction(1, 2)
_ROOT_HALF = Fraction(70711, 100_000)
"""No less than the square root of a half."""


def _variance(sample: bool, root: bool, *functions: str) -> Statistic:
    """sample: the unbiased estimate. root: the standard deviation."""

    def value(moments: Moments) -> Fraction:
        correction = moments.correction if sample else Fraction(1)
        found = max(moments.variance(0), Fraction(0)) * moments.reading.unit**2 * correction
        return Fraction(math.sqrt(found)) if root else found

    def interval(box: MomentBox) -> tuple[float, float]:
        low, high = (v * float(box.reading.unit) ** 2 for v in box.variance(0))
        high *= box.correction if sample else 1.0
        return (math.sqrt(low), math.sqrt(high)) if root else (low, high)

    def ends(widths: Sequence[Fraction]) -> Interval:
        (width,) = widths  # half of the rows at either end; of a sample, one row at each
        most = width**2 / (2 if sample else 4)
        return Fraction(0), width * (_ROOT_HALF if sample else _HALF) if root else most

    return Statistic(value, interval, functions, ends=ends)


def _covariance(sample: bool, function: str) -> Statistic:
    """Covariance needs no squares."""

    def value(moments: Moments) -> Fraction:
        correction = moments.correction if sample else Fraction(1)
        return moments.covariance() * moments.reading.unit * correction

    def interval(box: MomentBox) -> tuple[float, float]:
        low, high = box.covariance()
        unit, grown = float(box.reading.unit), box.correction if sample else 1.0
        return min(low * grown, low) * unit, max(high * grown, high) * unit

    def ends(widths: Sequence[Fraction]) -> Interval:
        most = math.prod(widths, start=Fraction(1, 2 if sample else 4))
        return -most, most

    return Statistic(value, interval, (function,), columns=2, degree=1, ends=ends)


def _correlation(moments: Moments) -> Fraction | None:
    both = moments.variance(0) * moments.variance(1)
    if both <= 0:
        return None
    ratio = float(moments.covariance()) / math.sqrt(both)
    return Fraction(min(max(ratio, -1.0), 1.0))


def _correlations(box: MomentBox) -> tuple[float, float]:
    ends = [math.sqrt(v * w) for v in box.variance(0) for w in box.variance(1)]
    if min(ends) <= 0:
        return -1.0, 1.0
    ratios = [c / e for c in box.covariance() for e in (min(ends), max(ends))]
    return max(min(ratios), -1.0), min(max(ratios), 1.0)


def _slope(moments: Moments) -> Fraction | None:
    along = moments.variance(moments.reading.over)
    return moments.covariance() / along * moments.reading.steepness if along > 0 else None


def _slopes(box: MomentBox) -> tuple[float, float] | None:
    along = box.variance(box.reading.over)
    if along[0] <= 0:
        return None
    steep = float(box.reading.steepness)
    ends = [c / v * steep for c in box.covariance() for v in along]
    return min(ends), max(ends)


def _intercept(moments: Moments) -> Fraction | None:
    """mean(y) − slope·mean(x)."""
    reading, slope = moments.reading, _slope(moments)
    if slope is None:
        return None
    means = [reading.in_units(axis, moments.mean(axis)) for axis in (0, 1)]
    return means[1 - reading.over] - slope * means[reading.over]


def _intercepts(box: MomentBox) -> tuple[float, float] | None:
    """Slope and means lie in their ranges at once, because all moments lie in the box."""
    reading, slopes = box.reading, _slopes(box)
    if slopes is None:
        return None
    means = [[float(reading.in_units(a, Fraction(m))) for m in box.mean(a)] for a in (0, 1)]
    risen = [slope * mean for slope in slopes for mean in means[reading.over]]
    low, high = means[1 - reading.over]
    return low - max(risen), high - min(risen)


STATISTICS = {
    "variance": _variance(True, False, "VARIANCE"),
    "var_pop": _variance(False, False, "VAR_POP"),
    "stddev": _variance(True, True, "STDDEV", "STDDEV_SAMP"),
    "stddev_pop": _variance(False, True, "STDDEV_POP"),
    "covar_samp": _covariance(True, "COVAR_SAMP"),
    "covar_pop": _covariance(False, "COVAR_POP"),
    "corr": Statistic(
        *(_correlation, _correlations, ("CORR",)), columns=2, anything=(Fraction(-1), Fraction(1))
    ),
    "regr_slope": Statistic(_slope, _slopes, ("REGR_SLOPE",), columns=2, ordered=True),
    "regr_intercept": Statistic(
        *(_intercept, _intercepts, ("REGR_INTERCEPT",)), columns=2, ordered=True
    ),
}


class MomentFamily(Family):
    functions = tuple(
        Function(name, kind, columns=one.columns, ordered=one.ordered)
        for kind, one in STATISTICS.items()
        for name in one.functions
    )

    def possible(self, aggregate: Aggregate, schema: Schema) -> Ends:
        statistic = STATISTICS[aggregate.kind]
        names = [name for name in (aggregate.column, aggregate.other) if name is not None]
        columns = [schema.column(name) for name in names]
        widths = [c.high - c.low for c in columns if isinstance(c, Number)]
        if statistic.ends is None or len(widths) < len(columns):
            return statistic.anything or ANY_VALUE
        return statistic.ends(widths)

    def blocks(self, asked: Asked, setting: Setting, levels: Levels) -> list[Block]:
        """One for all statistics of the same columns and degree."""
        shared: dict[tuple[Axes, int], list[Aggregate]] = {}
        for a in asked:
            # sorted, so that a slope and a correlation share their moments
            names = sorted(name for name in (a.column, a.other) if name is not None)
            ranges = [setting.ranges[name] for name in names]
            axes = [Axis(n, r.low, r.high - r.low) for n, r in zip(names, ranges, strict=True)]
            shared.setdefault((tuple(axes), STATISTICS[a.kind].degree), []).append(a)

        def at(axes: Axes, degree: int, several: list[Aggregate], price: Fraction) -> Strategy:
            noise = _noise(axes, degree, setting, price)
            grids = tuple(setting.ranges[axis.column].grid for axis in axes)
            ordered = {a: STATISTICS[a.kind].ordered and axes[0].column != a.other for a in several}
            readings = {
                a: MomentReading(a.kind, 0, axes, grids, int(over)) for a, over in ordered.items()
            }
            return Strategy(noise.name, (noise,), readings)

        return [partial(at, *same, several) for same, several in shared.items()]


def _noise(axes: Axes, degree: int, setting: Setting, price: Fraction) -> JointMoments:
    """A row moves the components by Π width^degree in all, in any cell."""
    moved = math.prod((axis.width**degree for axis in axes), start=setting.rows_per_unit)
    epsilon = setting.law_epsilon(price, native=False)
    ranges = {axis.column: setting.ranges[axis.column] for axis in axes}
    refuse_too_fine(ranges, degree * len(axes), moved, epsilon)
    law = DiscreteLaplace(sensitivity=moved, epsilon=epsilon)
    components = basis(axes, degree)
    return JointMoments("joint moments", components, (law,) * len(components), price)


def refuse_too_fine(
    ranges: Mapping[str, Range], powers: int, moved: int, epsilon: Fraction
) -> None:
    """Refuses moments whose noise would be too wide to be drawn exactly, and names coarser grids.

    ranges: the columns that are multiplied. powers: how many factors a product has.
    moved: the sensitivity in steps.
    """
    beyond = max(moved / _MOST_STEPS, float(moved / epsilon) / _WIDEST)
    if beyond < 1:
        return
    coarser = 1.01 * beyond ** (1 / powers)
    wanted = {name: _round_up(r.grid * Fraction(coarser)) for name, r in ranges.items()}
    have = " and ".join(f"`{name}` (grid {exactly(r.grid)})" for name, r in ranges.items())
    would = " and ".join(f"grid = {exactly(g)} for `{name}`" for name, g in wanted.items())
    raise refuse(
        "ask.moments-too-large",
        have=have,
        epsilon=exactly(epsilon),
        powers=powers,
        bit_length=_MOST_STEPS.bit_length() - 1,
        bit_length2=_WIDEST.bit_length() - 1,
        would=would,
    )


def _round_up(grid: Fraction) -> Fraction:
    """The next of 1, 2, 5, 10, 20, …, and their decimals."""
    power = Fraction(10) ** math.floor(math.log10(grid))
    return next(power * digit for digit in (1, 2, 5, 10, 20) if power * digit >= grid)


MOMENTS = MomentFamily()
