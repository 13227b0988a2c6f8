"""The shell-shaped law of a vector on whole grid steps, drawn exactly; and one component."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arguments import Number, checked_call, fraction_of_one, whole
from ...errors import Fault, refuse
from ..enclosure import Enclosure, exp_minus
from ..law import Ints, Real, as_value, as_values, check_size, drawn_in_chunks, vector
from ..likelihood import Likelihood, likelihood_of
from ..samplers import LARGEST, geometric, geometric_tables
from ..source import Source
from ..table import Table
from .ball import Ball, differences, exact_series
from .marginals import AnyMargin, Levels, SameMargin
from .same_sign_ball import SameSign

# At such radii the lattice changes an interval by less than a tenth of this.
_MARGIN_FOR_LATTICE = 1.002
_MANY_TICKS = 500
_ALL = 1 - 1e-10


class OptimalBoxSteps:
    """A vector of steps x with probability proportional to e^(-ε·level(x)).

    Guarantee
        epsilon-differential privacy when one unit moves the vector by a difference of the shape the
        balls were built for.

    How it is drawn
        e^(-ε·level) is a mixture of uniform laws on balls: ball i with weight e^(-εi) times its
        number of points. That number is a polynomial in i whose Newton coefficients are not
        negative, so i is the choice of a coefficient k, plus k + 1 geometric numbers; then comes a
        uniform point of ball i.

    Source
        Soria-Comas and Domingo-Ferrer 2013, section 5, carried over to whole numbers.
    """

    def __init__(self, *, ball: Ball, epsilon: Fraction, grids: Sequence[Fraction]) -> None:
        self.ball = ball
        self.epsilon = epsilon
        self.grids = tuple(grids)
        self.dimension = len(self.grids)
        self._margins: dict[int, Real] = {}
        self._check_room()

    def _check_room(self) -> None:
        levels = (40 + 4 * self.dimension) / self.epsilon
        if max(self.ball.sensitivities) * levels >= LARGEST >> 4:
            raise refuse("noise.noise-too-wide")

    @cached_property
    def _coefficients(self) -> tuple[int, ...]:
        values = [self.ball.count(i) for i in range(self.dimension + 1)]
        coefficients = differences(values)
        if min(coefficients) < 0:
            raise Fault("the balls of this shape are not a mixture of binomials")
        return tuple(coefficients)

    @cached_property
    def _total(self) -> Fraction:
        """Σ over all points of e^(-ε·level)."""
        return exact_series(self._coefficients, self.epsilon)

    @cached_property
    def _log_total(self) -> float:
        return math.log(self._total.numerator) - math.log(self._total.denominator)

    def _rows(self, i: Any) -> Ints:
        rows = np.asarray(i)
        if rows.dtype.kind not in "iu" or rows.shape[-1:] != (self.dimension,):
            raise refuse(
                "noise.steps-shape", shape=rows.shape, dtype=rows.dtype, dimension=self.dimension
            )
        return rows.astype(np.int64)

    def level(self, i: Any) -> Any:
        """The distance of the vector from the core, in sensitivities."""
        levels = self.ball.level(self._rows(i))
        return int(levels) if levels.ndim == 0 else levels

    def mass(self, i: Any) -> Any:
        """The probability of exactly that vector of grid steps."""
        with np.errstate(under="ignore"):
            masses = np.exp(-float(self.epsilon) * self.level(i) - self._log_total)
        return float(masses) if np.ndim(masses) == 0 else masses

    @cached_property
    def _moments(self) -> tuple[tuple[float, float], ...]:
        """E|x_j| and E x_j² in steps, for each component."""
        known: dict[tuple[int, int], tuple[float, float]] = {}
        result = []
        for j in range(self.dimension):
            s = self.ball.alike(j)
            if s not in known:
                sums = [self.ball.moments(i, j) for i in range(self.dimension + 3)]
                known[s] = (
                    self._mean(differences([size for size, _ in sums])),
                    self._mean(differences([square for _, square in sums])),
                )
            result.append(known[s])
        return tuple(result)

    def _mean(self, coefficients: Sequence[int]) -> float:
        return float(exact_series(coefficients, self.epsilon) / self._total)

    @property
    def variance(self) -> tuple[float, ...]:
        """The variance of each component."""
        pairs = zip(self._moments, self.grids, strict=True)
        return tuple(square * float(grid) ** 2 for (_, square), grid in pairs)

    @property
    def mean_absolute_error(self) -> tuple[float, ...]:
        """The mean absolute error of each component."""
        pairs = zip(self._moments, self.grids, strict=True)
        return tuple(size * float(grid) for (size, _), grid in pairs)

    @property
    def sensitivities(self) -> tuple[Fraction, ...]:
        """The largest move of each component that costs epsilon."""
        return tuple(s * g for s, g in zip(self.ball.sensitivities, self.grids, strict=True))

    def interval(self, level: Number) -> tuple[tuple[float | int, float | int], ...]:
        """For each component the shortest symmetric interval with probability ≥ level."""
        wanted = float(fraction_of_one(level, "level"))
        known: dict[tuple[int, int], int] = {}
        result = []
        for j, grid in enumerate(self.grids):
            s = self.ball.alike(j)
            if s not in known:
                known[s] = self._half_width(j, wanted)
            result.append((as_value(-known[s], grid), as_value(known[s], grid)))
        return tuple(result)

    @cached_property
    def _level_weights(self) -> tuple[Real, Real]:
        """Balls, with the probability of each; the omitted ones have less than 1e-12 together."""
        e, d = float(self.epsilon), self.dimension
        i = np.arange(math.ceil((d + 45 + 12 * math.sqrt(d)) / e) + 2, dtype=float)
        largest = max(self._coefficients)
        binomial, points = np.ones_like(i), np.zeros_like(i)
        for k, coefficient in enumerate(self._coefficients):
            points += coefficient / largest * binomial
            binomial = binomial * np.maximum(i - k, 0) / (k + 1)
        weights = points * np.exp(-e * i)
        weights /= weights.sum()
        return _fewer(i, weights, 4000 if self.ball.closed_form else 200)

    def _lattice_invisible(self) -> bool:
        """Whether typical radii are so many steps that the continuous law stands for this one."""
        ball = self.ball
        if isinstance(ball, SameSign) and not ball.closed_form:
            return ball.ticks * (self.dimension + 60) > 30_000 * self.epsilon
        return self.epsilon < Fraction(1, 200)

    @property
    def _signs(self) -> str:
        return "same" if isinstance(self.ball, SameSign) else "any"

    def _margin(self, j: int) -> AnyMargin | SameMargin:
        ball, e = self.ball, float(self.epsilon)
        if isinstance(ball, SameSign):
            core = [ball.core_ticks / ball.ticks] * self.dimension
            return SameMargin(Levels(core, e), j, float(ball.sensitivities[j]))
        pairs = zip(ball.core, ball.sensitivities, strict=True)  # type: ignore[attr-defined]
        return AnyMargin(Levels([c / s for c, s in pairs], e), j, float(ball.sensitivities[j]))

    def _uneven_margins(self, ball: SameSign) -> dict[int, Real]:
        """For each sensitivity s and tick t, P(|x_j| ≤ ⌊t·s/h⌋), where sensitivities differ.

        Balls that come up less often than 1e-10 count as outside.
        """
        if not self._margins:
            i, weights = self._level_weights
            used = int(np.argmax(np.cumsum(weights) >= _ALL)) + 1
            length = ball.core_ticks + int(i[used - 1]) * ball.ticks + 1
            self._margins = {s: np.zeros(length) for s in set(ball.sensitivities)}
            for level, weight in zip(i[:used].tolist(), weights[:used].tolist(), strict=True):
                for s, shares in ball.margins(int(level)).items():
                    self._margins[s][: shares.size] += weight * shares
                    self._margins[s][shares.size :] += weight
        return self._margins

    def cdf(self, x: Sequence[Number]) -> float:
        """P(every component ≤ the component of x).

        To a thousandth where sensitivities are many steps or epsilon is small: there the continuous
        law stands for this one.
        """
        values = vector(x, "x", self.dimension)
        steps = [math.floor(v / grid) for v, grid in zip(values, self.grids, strict=True)]
        wide = isinstance(self.ball, SameSign) and self.ball.ticks > _MANY_TICKS
        if wide or self._lattice_invisible():
            levels, signs = self._margin(0).levels, self._signs
            pairs = zip(steps, self.ball.sensitivities, strict=True)
            return levels.joint(signs, np.array([(n + 0.5) / s for n, s in pairs]))
        i, weights = self._level_weights
        return float((weights * self.ball.share_below(i, steps)).sum())

    def quantile(self, q: Number) -> tuple[float | int, ...]:
        """For each component the least value it stays at or below with probability ≥ q."""
        level = fraction_of_one(q, "q")
        reach = abs(2 * level - 1)
        result = []
        for j, grid in enumerate(self.grids):
            # below the middle: the last −t with P(component ≤ −t) ≥ q
            wanted = float(reach) if level >= Fraction(1, 2) else math.nextafter(float(reach), 2)
            half = self._half_width(j, wanted)
            result.append(as_value(half if level >= Fraction(1, 2) else -half, grid))
        return tuple(result)

    def _half_width(self, j: int, wanted: float) -> int:
        """The least reach that holds component j with the wanted probability."""
        if self._lattice_invisible():
            return math.ceil(self._margin(j).interval(wanted)[1] * _MARGIN_FOR_LATTICE)
        if isinstance(self.ball, SameSign) and not self.ball.closed_form:
            s = self.ball.sensitivities[j]
            held = self._uneven_margins(self.ball)[s] >= wanted
            if held.any():
                return int(np.argmax(held)) * s // self.ball.ticks
            return math.ceil(self._margin(j).interval(wanted)[1] * _MARGIN_FOR_LATTICE) + s
        i, weights = self._level_weights

        def covered(reach: int) -> bool:
            return float((weights * self.ball.share_within(i, j, reach)).sum()) >= wanted

        low, high = -1, max(1, self.ball.sensitivities[j])
        while not covered(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if covered(middle) else (middle, high)
        return high

    def loss(self, shift: Sequence[Number]) -> float:
        """The largest log-ratio between the law and itself moved by `shift`, at most ⌈levels⌉·ε."""
        moved = vector(shift, "shift", self.dimension)
        steps = [t / grid for t, grid in zip(moved, self.grids, strict=True)]
        if any(step.denominator != 1 for step in steps):
            return math.inf
        return float(self.epsilon) * self.ball.rise([int(step) for step in steps])

    @cached_property
    def tables(self) -> Table:
        """Chooses the Newton coefficient k with weight a_k·q^k·(1−q)^(D−k)."""
        coefficients, top = self._coefficients, self.dimension

        def cumulative(bits: int) -> list[Enclosure]:
            # the choice is between numbers as small as (1−q)^D and as large as the counts
            room = bits + 2 * top * max(
                1, (self.epsilon.denominator // self.epsilon.numerator).bit_length() + 2
            )
            q = exp_minus(self.epsilon, room)
            fall = q.from_one()
            one = Enclosure.of(1, room)
            rising, falling = [one], [one]
            for _ in range(top):
                rising.append(rising[-1] * q)
                falling.append(falling[-1] * fall)
            sums: list[Enclosure] = []
            for k, coefficient in enumerate(coefficients):
                weight = (rising[k] * falling[top - k]).times(coefficient)
                sums.append(sums[-1] + weight if sums else weight)
            shift = room - bits
            ratios = [part / sums[-1] for part in sums[:-1]]
            return [Enclosure(r.low >> shift, -(-r.high >> shift), bits) for r in ratios]

        return Table(cumulative)

    def _draw(self, size: int, source: Source) -> Ints:
        k = self.tables.draw(size, source).astype(np.int64)
        i = k.copy()
        for term in range(self.dimension + 1):
            among = np.flatnonzero(k >= term)
            i[among] += geometric(self.epsilon, among.size, source)
        return self.ball.draw(i, source)

    def steps(self, size: int | None = None, source: Source | None = None) -> Ints:
        """Independent vectors, in grid steps: one vector, or one a row."""
        drawn = drawn_in_chunks(self._draw, 1 if size is None else whole(size, "size"), source)
        return drawn[0] if size is None else drawn

    def check_draw(self, size: int = 1) -> None:
        """Refuses everything that `steps` would refuse, without a draw."""
        check_size(size)
        assert self.tables.outcomes  # noqa: S101 - made now, and kept
        geometric_tables(self.epsilon)

    def sample(self, size: int | None = None, source: Source | None = None) -> npt.NDArray[Any]:
        """Independent vectors, as multiples of the grids."""
        steps = self.steps(size, source)
        columns = [as_values(steps[..., j], grid) for j, grid in enumerate(self.grids)]
        return np.stack(columns, axis=-1)

    def __repr__(self) -> str:
        return (
            f"OptimalBoxSteps({type(self.ball).__name__} of {list(self.ball.sensitivities)} steps, "
            f"epsilon={float(self.epsilon):g})"
        )


def _fewer(i: Real, weights: Real, most: int) -> tuple[Real, Real]:
    """Groups of neighbouring balls, each stood for by its largest: never too hopeful."""
    if i.size <= most:
        return i, weights
    cuts = np.searchsorted(np.cumsum(weights), np.linspace(0, 1, most + 1)[1:-1])
    starts = np.unique(np.concatenate([[0], cuts]))
    ends = np.append(starts[1:], i.size) - 1
    return i[ends], np.add.reduceat(weights, starts)


# -- One component of a vector's noise, on its own -------------------------------------------------

# Balls, steps summed one by one, and steps beyond; fewer where each share is itself a long sum.
_EFFORT = (2000, 256, 256)
_LESS_EFFORT = (160, 24, 40)
_FOLDS = 60.0


class Margin:
    """The law of component `component` of an `OptimalBox` on its grid.

    A vector's noise is uniform on a ball drawn at random; so a component's mass at k steps is the
    sum over balls of their probability times the share of their points at k. Near 0 every step is
    summed; further out, where the mass is smooth, its logarithm is interpolated between steps.

    Guarantee
        Correct to rounding at steps that are summed. Between them within a few per cent where the
        components' sensitivities differ and all move one way, much better elsewhere.

    Parameters
        law: the integer law of the vector, `box.on_grid(...)`.
        component: which of its components, from 0.

    Example
        >>> from tenue.noise import OptimalBox
        >>> law = OptimalBox(sensitivities=[1, 1], epsilon=1, signs="same").on_grid(1)
        >>> steps = np.arange(-40, 41)
        >>> round(float(np.exp(Margin(law, 0).log_mass(steps)).sum()), 9)
        1.0
    """

    @checked_call
    def __init__(self, law: OptimalBoxSteps, component: Number) -> None:
        if not isinstance(law, OptimalBoxSteps):
            raise refuse("noise.vector-law-type", type=type(law).__name__)
        self.component = whole(component, "component")
        if self.component >= law.dimension:
            raise refuse(
                "noise.unknown-law-component", component=component, dimension=law.dimension - 1
            )
        self.law = law
        self.epsilon = law.epsilon
        self.grid = law.grids[self.component]
        self.period = law.ball.sensitivities[self.component]
        """How many steps the mass needs to fall by e^-ε, in the long run."""

    @property
    def _effort(self) -> tuple[int, int, int]:
        return _EFFORT if self.law.ball.closed_form else _LESS_EFFORT

    @cached_property
    def _balls(self) -> tuple[Real, Real]:
        """Balls and their probabilities; many are represented by every so-manieth."""
        epsilon, d = float(self.epsilon), self.law.dimension
        last = math.ceil((_FOLDS + d + 12 * math.sqrt(d)) / epsilon) + 2
        stride = -(-last // self._effort[0])
        balls = range(0, last, stride)
        logs = np.array([math.log(self.law.ball.count(i)) - epsilon * i for i in balls])
        weights = np.exp(logs - logs.max())
        return np.array(balls, dtype=np.float64), weights / weights.sum()

    def _mass(self, k: int) -> float:
        """The probability of exactly k ≥ 0 steps; each ball's share first, so nothing cancels."""
        balls, weights = self._balls
        within = self.law.ball.share_within
        here = within(balls, self.component, k)
        if k == 0:
            return float(weights @ here)
        return float(weights @ (here - within(balls, self.component, k - 1))) / 2

    @cached_property
    def _knots(self) -> tuple[Real, Real]:
        _, single, more = self._effort
        far = math.ceil(_FOLDS / 2 * self.period / float(self.epsilon)) + 2 * self.period
        spread = np.unique(np.geomspace(single, max(far, single + 1), more).astype(np.int64))
        steps = [*range(min(single, far)), *(int(k) for k in spread if k < far)]
        masses = np.array([self._mass(k) for k in steps])
        kept = masses > 0
        return np.array(steps, dtype=np.float64)[kept], np.log(masses[kept])

    def log_mass(self, k: npt.NDArray[np.generic]) -> Real:
        """The logarithm of the probability of k steps."""
        size = np.abs(np.asarray(k, dtype=np.float64))
        steps, logs = self._knots
        beyond = np.maximum(size - steps[-1], 0.0)
        slope = float(self.epsilon) / self.period
        return np.asarray(np.interp(size, steps, logs) - slope * beyond)

    def __repr__(self) -> str:
        return f"Margin({self.law!r}, {self.component})"


@likelihood_of.register(Margin)
def _likelihood(law: Margin) -> Likelihood:
    fall = float(law.epsilon) / law.period
    slack = float(law.epsilon) + 8.0 * law.law.dimension
    return Likelihood(law.log_mass, fall, slack, law.grid, True)
