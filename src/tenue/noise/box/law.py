"""Noise shaped to many answers at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...arguments import Number, checked_call, fraction_of_one, law_epsilon, moderate, whole
from ...errors import refuse
from ..criterion import Criterion, Minimise, criterion
from ..joint import Joint, joint
from ..law import Ints, checked_steps, power_of_two_below, real_array, vector
from ..source import Source
from .ball import Ball, Box, log_product_series
from .marginals import AnyMargin, Levels, Real, SameMargin, crossing
from .same_sign_ball import SameSign
from .steps import Margin, OptimalBoxSteps


@lru_cache(maxsize=64)
def _levels(core: float, epsilon: float) -> Levels:
    return Levels([core, core], epsilon)


class SameSignCombination:
    """c₁·x₁ + c₂·x₂ for the continuous two-dimensional law with signs="same".

    Both sensitivities are `step`, and `core` is the half-width of the core in such steps.

    On each ball (0, x) spans three numbers, one of them 0 and the others uniform on [0, r], so the
    sum is one of three weighted sums of two uniform numbers.
    """

    def __init__(
        self, weights: tuple[float, float], core: float, epsilon: float, step: float = 1.0
    ) -> None:
        one, two = weights
        self._step = step
        self._pairs = [(one, two), (-(one + two), two), (-(one + two), one)]
        levels = _levels(core, epsilon)
        keep = levels.weights > 1e-13
        self._weights = levels.weights[keep]
        self._radius = levels.radius(0)[keep]
        square = float((self._weights * self._radius**2).sum())
        mixed = sum((c * c + d * d) / 3 + c * d / 2 for c, d in self._pairs)
        self._square = mixed / 3 * square

    @property
    def variance(self) -> float:
        return self._square * self._step**2

    @property
    def mean_absolute_error(self) -> float:
        share = np.mean([_mean_size(c, d) for c, d in self._pairs])
        return float((self._weights * self._radius).sum() * share) * self._step

    def tail(self, t: float) -> float:
        """P(|sum| > t steps), t ≥ 0."""
        total = 0.0
        for c, d in self._pairs:
            above = 1 - _below(t, c, d, self._radius)
            total += float((self._weights * (above + _below(-t, c, d, self._radius))).sum()) / 3
        return total

    def half_width(self, outside: float) -> float:
        """The t with P(|sum| > t) = outside, to a millionth; never less."""
        chebyshev = math.sqrt(self._square / outside) + 1e-12
        return crossing(lambda t: self.tail(t) - outside, 0.0, chebyshev, 1e-6) * self._step


def _below(t: float, c: float, d: float, radius: Real) -> Real:
    """P(c·u + d·v ≤ t) for u, v uniform on [0, radius]."""
    # negative weights: c·u = c·r − c·(r − u)
    shift = t - (min(c, 0.0) + min(d, 0.0)) * radius
    a, b = sorted((abs(c), abs(d)))
    if b == 0:
        return np.where(shift >= 0, 1.0, 0.0)
    if a < 1e-9 * b:
        return np.clip(shift / (b * radius), 0, 1)
    x = np.clip(shift / radius, 0, a + b)
    area = x**2 - np.maximum(x - a, 0) ** 2 - np.maximum(x - b, 0) ** 2
    return np.asarray(area / (2 * a * b))


def _mean_size(c: float, d: float) -> float:
    """E|c·u + d·v| for u, v uniform on [0, 1]."""
    u = (np.arange(400) + 0.5) / 400  # midpoints: exact but where the sign changes
    return float(np.abs(c * u[:, None] + d * u[None, :]).mean())


Signs = Literal["any", "same"]

# Counting the balls of uneven sensitivities takes a while for each core that is tried.
_FEW_CORES = 8


class OptimalBox:
    """Adds to a vector the noise whose level sets have the shape of what one unit can do to it.

    The density falls by e^-ε with each further sensitivity from the core.

    Guarantee
        epsilon-differential privacy when one unit moves component j by at most `sensitivities[j]`,
        all components at once: in any directions (signs="any"), or all of them up or all of them
        down (signs="same", as counts and sums of non-negative values do under add-or-remove).

    Parameters
        sensitivities: one finite number above 0 for each component.
        epsilon: finite, above 0.
        minimise: "variance" (the default: the sum of variances, each in squared sensitivities),
            "absolute-error" (likewise) or ("interval", level), the volume of the confidence box.
        core: half-widths of the set of most likely noise, instead of `minimise`. With signs="same"
            they must be proportional to the sensitivities.
        signs: "any" or "same".

    Example
        >>> law = OptimalBox(sensitivities=[1, 10], epsilon=1, core=[0.1, 1])
        >>> [round(v, 4) for v in law.variance]
        [4.0338, 403.3805]

    Source
        Soria-Comas and Domingo-Ferrer 2013, section 5, with the shells corrected, for any
        norm and dimension.
    """

    @checked_call
    def __init__(
        self,
        *,
        sensitivities: Sequence[Number],
        epsilon: Number,
        minimise: Minimise | None = None,
        core: Sequence[Number] | None = None,
        signs: Signs = "any",
    ) -> None:
        self.sensitivities = vector(sensitivities, "sensitivities")
        for s in self.sensitivities:
            moderate(s, "sensitivities")
        self.epsilon = law_epsilon(epsilon)
        if signs not in ("any", "same"):
            raise refuse("noise.unknown-signs", signs=signs)
        self.signs: Signs = signs
        self.dimension = len(self.sensitivities)
        self.minimise: Criterion | None = None
        if core is not None and minimise is not None:
            raise refuse("noise.minimise-with-core")
        if core is not None:
            self._ratios = self._given_core(core)
        else:
            self.minimise = criterion("variance" if minimise is None else minimise)
            self._ratios = (
                Fraction(best_ratio(self.dimension, self.signs, self.epsilon, self.minimise)),
            ) * self.dimension
        self._offsets = [float(r) for r in self._ratios]
        self._log_series = log_product_series(self._offsets, float(self.epsilon))

    def _given_core(self, core: Sequence[Number]) -> tuple[Fraction, ...]:
        widths = vector(core, "core")
        if len(widths) != self.dimension or min(widths) < 0:
            raise refuse("noise.core-half-widths", list=list(core), dimension=self.dimension)
        ratios = tuple(z / s for z, s in zip(widths, self.sensitivities, strict=True))
        if self.signs == "same" and len(set(ratios)) > 1:
            raise refuse("noise.core-not-proportional", list=list(core))
        return ratios

    # -- error of each component ---------------------------------------------------------------

    @property
    def core(self) -> tuple[float, ...]:
        """Half-widths of the set of most likely noise."""
        return tuple(float(r * s) for r, s in zip(self._ratios, self.sensitivities, strict=True))

    @property
    def variance(self) -> tuple[float, ...]:
        return tuple(float(s) ** 2 * self._square(j) for j, s in enumerate(self.sensitivities))

    @property
    def mean_absolute_error(self) -> tuple[float, ...]:
        return tuple(float(s) * self._size(j) for j, s in enumerate(self.sensitivities))

    def _square(self, j: int) -> float:
        own = self._offsets[j]
        mean = self._mean_of(own, own)
        return mean * _share_of_square(self.signs, self.dimension)

    def _size(self, j: int) -> float:
        own = self._offsets[j]
        mean = self._mean_of(own)
        return mean * _share_of_size(self.signs, self.dimension)

    def _mean_of(self, *factors: float) -> float:
        """The mean over balls of the product of (factor + i)."""
        grown = log_product_series([*self._offsets, *factors], float(self.epsilon))
        return math.exp(grown - self._log_series)

    # -- the whole vector ----------------------------------------------------------------------

    @cached_property
    def _levels(self) -> Levels:
        return Levels(self._offsets, float(self.epsilon))

    def _scaled(self, x: Any) -> npt.NDArray[np.float64]:
        values = real_array(x)
        if values.shape[-1:] != (self.dimension,):
            raise refuse("noise.point-shape", shape=values.shape, dimension=self.dimension)
        return np.asarray(values / np.asarray([float(s) for s in self.sensitivities]))

    def pdf(self, x: Any) -> Any:
        """The joint density at x."""
        scaled = self._scaled(x)
        if self.signs == "any":
            beyond = (np.abs(scaled) - np.asarray(self._offsets)).max(axis=-1)
            volume = 2.0**self.dimension
        else:
            norm = np.maximum(scaled, 0).max(axis=-1) + np.maximum(-scaled, 0).max(axis=-1)
            beyond = norm - self._offsets[0]
            volume = self.dimension + 1.0
        levels = np.maximum(0, np.ceil(beyond))
        scale = sum(math.log(s) for s in self.sensitivities) + math.log(volume)
        fall = math.log(-math.expm1(-float(self.epsilon)))
        with np.errstate(under="ignore", over="ignore"):
            density = np.exp(-float(self.epsilon) * levels - fall - self._log_series - scale)
        return float(density) if density.ndim == 0 else density

    def cdf(self, x: Any) -> float:
        """P(every component ≤ the component of x)."""
        scaled = self._scaled(x)
        if scaled.ndim != 1:
            raise refuse("noise.several-points")
        return self._levels.joint(self.signs, scaled)

    def marginal(self, j: int) -> AnyMargin | SameMargin:
        """The law of one component, in units of its sensitivity times `sensitivities[j]`."""
        place = whole(j, "j")
        if place >= self.dimension:
            raise refuse("noise.component-out-of-range", j=j, dimension=self.dimension - 1)
        kind = AnyMargin if self.signs == "any" else SameMargin
        return kind(self._levels, place, float(self.sensitivities[place]))

    def quantile(self, q: Number) -> tuple[float, ...]:
        """The quantile of each component."""
        return tuple(self.marginal(j).quantile(q) for j in range(self.dimension))

    def interval(self, level: Number) -> tuple[tuple[float, float], ...]:
        """For each component alone, the shortest symmetric interval at `level`."""
        return tuple(self.marginal(j).interval(level) for j in range(self.dimension))

    def region(self, level: Number) -> tuple[float, ...]:
        """Half-widths of the smallest box that holds the whole vector with probability `level`."""
        beyond = self._levels.box(self.signs, float(fraction_of_one(level, "level")))
        pairs = zip(self._offsets, self.sensitivities, strict=True)
        return tuple((own + beyond) * float(s) for own, s in pairs)

    def volume(self, level: Number) -> float:
        """The volume of that box."""
        return math.prod(2 * half for half in self.region(level))

    def loss(self, shift: Sequence[Number]) -> float:
        """The largest log-ratio between the law and itself moved by `shift`."""
        moved = vector(shift, "shift", self.dimension)
        ratios = [t / s for t, s in zip(moved, self.sensitivities, strict=True)]
        if self.signs == "any":
            return float(self.epsilon * math.ceil(max(abs(r) for r in ratios)))
        span = max(Fraction(0), *ratios) - min(Fraction(0), *ratios)
        return float(self.epsilon * math.ceil(span))

    # -- what is sampled -----------------------------------------------------------------------

    def on_grid(self, grid: Number | Sequence[Number]) -> OptimalBoxSteps:
        """The exact integer law that is actually sampled; one grid for all, or one each."""
        single = not hasattr(grid, "__iter__") or getattr(grid, "shape", None) == ()
        if single or isinstance(grid, str):
            grids = [moderate(grid, "grid")] * self.dimension
        else:
            grids = [moderate(g, "grid") for g in vector(grid, "grid", self.dimension)]
        steps = [
            checked_steps(s, g, "sensitivities")
            for s, g in zip(self.sensitivities, grids, strict=True)
        ]
        balls = [self._ball(steps, ratio) for ratio in self._ratios_to_try(steps, grids)]
        laws = [OptimalBoxSteps(ball=b, epsilon=self.epsilon, grids=grids) for b in balls]
        return laws[0] if len(laws) == 1 else min(laws, key=self._cost_of)

    def _ball(self, steps: list[int], ratios: Sequence[Fraction]) -> Ball:
        if self.signs == "any":
            return Box(steps, [math.floor(r * s) for r, s in zip(ratios, steps, strict=True)])
        ticks = SameSign.ticks_for(steps, self.epsilon)
        return SameSign(steps, math.floor(ratios[0] * ticks), ticks)

    def _ratios_to_try(self, steps: list[int], grids: list[Fraction]) -> list[tuple[Fraction, ...]]:
        """A given core stays; a core to be found is tried at every width the grid can tell."""
        if self.minimise is None:
            pairs = zip(self._ratios, self.sensitivities, steps, grids, strict=True)
            if self.signs == "same":
                return [self._ratios]
            return [tuple(r * s / (n * g) for r, s, n, g in pairs)]
        uneven = self.signs == "same" and len(set(steps)) > 1
        if max(steps) > 16 or (uneven and self.minimise.kind == "interval"):
            return [self._ratios]  # the continuous optimum: the grid tells little more
        shares = {Fraction(k, s) for s in set(steps) for k in range(s)}
        if uneven and len(shares) > _FEW_CORES:
            return [self._ratios]
        return [(share,) * self.dimension for share in sorted(shares)]

    def _cost_of(self, law: OptimalBoxSteps) -> float:
        wanted = self.minimise or criterion("variance")
        if wanted.kind == "variance":
            terms = zip(law.variance, law.sensitivities, strict=True)
            return sum(v / float(s) ** 2 for v, s in terms)
        if wanted.kind == "absolute-error":
            return sum(
                e / float(s)
                for e, s in zip(law.mean_absolute_error, law.sensitivities, strict=True)
            )
        halves = zip(law.interval(wanted.level or Fraction(1, 2)), law.sensitivities, strict=True)
        return math.prod((high / float(s)) + 0.5 for (_, high), s in halves)

    @property
    def sampling_grid(self) -> tuple[Fraction, ...]:
        """The powers of two on which `sample` draws: about a thousandth of each sensitivity."""
        return tuple(power_of_two_below(s) / (1 << 10) for s in self.sensitivities)

    def sample(self, size: int | None = None, source: Source | None = None) -> Any:
        """Independent vectors on `sampling_grid`, one a row."""
        return self.on_grid(self.sampling_grid).sample(size, source)

    def __repr__(self) -> str:
        return (
            f"OptimalBox(sensitivities={[float(s) for s in self.sensitivities]}, "
            f"epsilon={float(self.epsilon):g}, core={[round(c, 6) for c in self.core]}, "
            f"signs={self.signs!r})"
        )


def _share_of_square(signs: Signs, dimension: int) -> float:
    """E x_j² of a uniform point of the ball of radius 1."""
    return 1 / 3 if signs == "any" else (dimension + 3) / (6 * (dimension + 1))


def _share_of_size(signs: Signs, dimension: int) -> float:
    """E|x_j| of a uniform point of the ball of radius 1."""
    return 1 / 2 if signs == "any" else (dimension + 2) / (3 * (dimension + 1))


@joint.register(OptimalBox)
class _Together(Joint):
    """The components of a box, on whole numbers."""

    def __init__(self, law: OptimalBox) -> None:
        self._law = law

    @cached_property
    def whole(self) -> OptimalBoxSteps:
        """The integer law, made when it is needed: planning needs only formulas."""
        return self._law.on_grid(1)

    def steps(self, size: int, source: Source | None = None) -> Ints:
        return self.whole.steps(size, source)

    def check_draw(self, size: int = 1) -> None:
        self.whole.check_draw(size)

    @property
    def words(self) -> str:
        return f"core {', '.join(f'{width:.6g}' for width in self._law.core)} steps"

    def variance(self, j: int) -> float:
        return self._law.variance[j]

    def mean_absolute_error(self, j: int) -> float:
        return self.whole.mean_absolute_error[j]

    def quick_mean_absolute_error(self, j: int) -> float:
        return self._law.mean_absolute_error[j]

    def half_width(self, j: int, level: Fraction) -> float:
        return self.whole.interval(level)[j][1]

    def quick_half_width(self, j: int, level: Fraction) -> float:
        return self._law.marginal(j).interval(level)[1]

    def alone(self, j: int, unit: Fraction) -> Margin:
        law, grids = self.whole, [unit] * self._law.dimension
        return Margin(OptimalBoxSteps(ball=law.ball, epsilon=law.epsilon, grids=grids), j)

    def blend(self, share: float, sign: int) -> SameSignCombination:
        step, weights = float(self._law.sensitivities[0]), (share, -sign * (1 - share))
        return SameSignCombination(
            weights, self._law.core[0] / step, float(self._law.epsilon), step
        )


@lru_cache(maxsize=256)
def best_ratio(dimension: int, signs: str, epsilon: Fraction, wanted: Criterion) -> float:
    """The core, as a share of the sensitivities, that minimises the criterion."""
    e = float(epsilon)

    def cost(ratio: float) -> float:
        base = [ratio] * dimension
        if wanted.kind == "interval":
            return ratio + Levels(base, e).box(signs, float(wanted.level or 0))
        extra = [ratio] * (1 if wanted.kind == "absolute-error" else 2)
        return log_product_series(base + extra, e) - log_product_series(base, e)

    # for large epsilon the best core is as narrow as e^(-ε/3); near 1 it is as wide again
    return _least(cost, max(1e-12, 0.01 * math.exp(-min(e, 700.0))))


def _least(cost: Callable[[float], float], narrowest: float) -> float:
    """Where in (0, 1) a smooth cost is least: a coarse look, then a golden section."""
    folds = math.ceil(math.log(0.02 / narrowest)) + 1
    narrow, wide = np.geomspace(narrowest, 0.02, folds), np.linspace(0.02, 0.98, 34)
    points = np.concatenate([narrow[:-1], wide, 1 - np.geomspace(0.02, 1e-6, 8)[1:]])
    best = int(np.argmin([cost(float(p)) for p in points]))
    low = float(points[max(best - 1, 0)])
    high = float(points[min(best + 1, len(points) - 1)])
    golden = (math.sqrt(5) - 1) / 2
    a, b = high - golden * (high - low), low + golden * (high - low)
    cost_a, cost_b = cost(a), cost(b)
    while high - low > 1e-9 * high:  # doubles tell costs apart no nearer than this
        if cost_a < cost_b:
            high, b, cost_b = b, a, cost_a
            a = high - golden * (high - low)
            cost_a = cost(a)
        else:
            low, a, cost_a = a, b, cost_b
            b = low + golden * (high - low)
            cost_b = cost(b)
    return (low + high) / 2
