"""How much better the Bayes estimate is than the noisy number itself.

With truths v_i of masses p_i, every integrand is smooth in the noisy value y, except at the truths
and where the estimate passes one. Below the first truth and above the last the posterior is
constant, so the tails have closed forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked_call, whole
from ..errors import refuse
from ..noise.law import Real, checked_source
from ..noise.likelihood import Likelihood
from ..noise.source import Source
from .truncated_support import likelihood, prior_points

_HALVINGS = 80
_INTEGRAL_CHUNK = 1 << 21
_ROUNDING = 1e-12
_EXACT = 1 << 25
_COARSE = 800
_MOST_KINKS = 4096
_FOLDS = 45.0
_SHORT = 15.0
_CHUNK = 1 << 22

Estimator = Literal["mean", "median"]


@dataclass(eq=False)
class LaplaceIntegral:
    """Averages over truth and noise for one prior, one rate and one estimator."""

    values: Real
    masses: Real
    rate: float
    estimator: str

    def _weights(self, y: Real) -> Real:
        """p_i·e^(-rate|y−v_i|), each row scaled to its largest weight, which cannot underflow."""
        gaps = np.abs(y[:, None] - self.values)
        with np.errstate(under="ignore", divide="ignore"):
            logs = np.log(self.masses) - self.rate * gaps
            return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))

    def guess(self, y: Real) -> Real:
        """The estimate for each noisy value."""
        result = np.empty_like(y)
        for part in _chunks(y.size, _INTEGRAL_CHUNK // self.values.size):
            result[part] = _estimates(self.values, self._weights(y[part]), self.estimator)
        return result

    def _passes(self) -> Real:
        """Where the estimate passes each truth: between two passes it stays on one side of all."""
        goals = self.values[1:-1] if self.estimator == "mean" else self.values[:-1] + _ROUNDING
        low, high = np.full(goals.size, self.values[0]), np.full(goals.size, self.values[-1])
        return _bisected(low, high, lambda y: self.guess(y) <= goals)

    def averages(self) -> tuple[float, float]:
        """The mean absolute and the mean squared error."""
        nodes, weights = np.polynomial.legendre.leggauss(12)
        kinks = np.unique(np.concatenate([self.values, self._passes()]))
        # panels are so short, compared with the noise's scale, that the rule is exact to rounding
        pieces = np.maximum(1, np.ceil(np.diff(kinks) * self.rate * 1.5)).astype(int)
        starts = np.repeat(kinks[:-1], pieces)
        widths = np.repeat(np.diff(kinks) / pieces, pieces)
        starts = starts + widths * (
            np.arange(starts.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        )
        y = (starts[:, None] + widths[:, None] * (nodes + 1) / 2).ravel()
        area = (widths[:, None] * weights / 2).ravel()
        guess = self.guess(y)
        error = squared = 0.0
        for part in _chunks(y.size, _INTEGRAL_CHUNK // self.values.size):
            with np.errstate(under="ignore"):
                gaps = np.abs(y[part, None] - self.values)
                density = self.masses * self.rate / 2 * np.exp(-self.rate * gaps)
            away = np.abs(guess[part, None] - self.values)
            error += float(area[part] @ (density * away).sum(axis=1))
            squared += float(area[part] @ (density * away**2).sum(axis=1))
        for end in (self.values[0], self.values[-1]):
            with np.errstate(under="ignore"):
                tail = self.masses / 2 * np.exp(-self.rate * np.abs(self.values - end))
            away = np.abs(self.guess(np.array([end])) - self.values)
            error += float(tail @ away)
            squared += float(tail @ away**2)
        return error, squared

    def closer(self) -> float:
        """P(|estimate − v| < |y − v|).

        That is (estimate − y)·(estimate + y − 2v) < 0. The second factor rises with y and changes
        sign once for each truth; the first changes sign wherever the estimate equals y.
        """
        ends = self._fixed_points()
        middles = (ends[:-1] + ends[1:]) / 2
        above = np.concatenate([[True], self.guess(middles) > middles, [False]])
        lows = np.concatenate([[-np.inf], ends])
        highs = np.concatenate([ends, [np.inf]])
        # for each truth, the y at which estimate + y = 2·truth
        width = self.values[-1] - self.values[0] + 1
        turns = _bisected(
            self.values - width,
            self.values + width,
            lambda y: self.guess(y) + y < 2 * self.values,
        )
        total = 0.0
        for value, mass, turn in zip(self.values, self.masses, turns, strict=True):
            start = np.where(above, lows, np.maximum(lows, turn))
            end = np.where(above, np.minimum(highs, turn), highs)
            inside = end > start
            total += float(mass) * float(
                (self._cdf(end - value) - self._cdf(start - value))[inside].sum()
            )
        return total

    def _cdf(self, x: Real) -> Real:
        with np.errstate(under="ignore", over="ignore"):
            tail = np.exp(-self.rate * np.abs(x)) / 2
        return np.asarray(np.where(x < 0, tail, 1 - tail))

    def _fixed_points(self) -> Real:
        """Every y at which the estimate may cross y, and the truths themselves."""
        points = [self.values]
        if self.estimator == "median":
            points.append(self._passes())
        elif self.values.size > 1:
            low, high = self._monotone_pieces()
            sign = self.guess(low) > low
            crossing = sign != (self.guess(high) > high)
            low, high, sign = low[crossing], high[crossing], sign[crossing]
            points.append(_bisected(low, high, lambda y: (self.guess(y) > y) == sign))
        return np.unique(np.concatenate(points))

    def _monotone_pieces(self) -> tuple[Real, Real]:
        """Pieces on which (mean − y) only rises or only falls.

        Between two truths the mean is (a1 + b1·z)/(a0 + b0·z) with z = e^(2·rate·t), t the distance
        from the lower one; its slope is 1 where a quadratic in z vanishes.
        """
        starts, ends = self.values[:-1], self.values[1:]
        with np.errstate(under="ignore", over="ignore", divide="ignore", invalid="ignore"):
            weights = self.masses * np.exp(-self.rate * np.abs(starts[:, None] - self.values))
            lower = self.values[None, :] <= starts[:, None]
            a0, b0 = (weights * lower).sum(axis=1), (weights * ~lower).sum(axis=1)
            a1, b1 = (weights * lower) @ self.values, (weights * ~lower) @ self.values
            turn = 2 * self.rate * (b1 * a0 - a1 * b0)
            middle = turn - 2 * a0 * b0
            root = np.sqrt(np.maximum(middle**2 - 4 * a0**2 * b0**2, 0))
            flats = [np.log((middle + s * root) / (2 * b0**2)) / (2 * self.rate) for s in (-1, 1)]
        inner = [
            np.where(np.isfinite(t) & (t > 0) & (t < ends - starts), starts + t, starts)
            for t in flats
        ]
        ends = np.unique(np.concatenate([self.values, *inner]))
        return ends[:-1], ends[1:]


def _bisected(low: Real, high: Real, is_below: Callable[[Real], NDArray[np.bool_]]) -> Real:
    """The upper ends of the intervals, after halving, in which `is_below` becomes false."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = is_below(middle)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return high


def _chunks(size: int, rows: int) -> Iterator[slice]:
    rows = max(1, rows)
    return (slice(start, start + rows) for start in range(0, size, rows))


@dataclass(frozen=True)
class Comparison:
    """The noisy number against the Bayes estimate, averaged over prior and noise.

    Attributes
        naive_error, bayes_error: mean absolute errors.
        naive_squared, bayes_squared: mean squared errors.
        closer: the probability that the Bayes estimate is strictly closer to the truth.
        draws: how many were simulated; None if sums and integrals gave the figures.
    """

    naive_error: float
    bayes_error: float
    naive_squared: float
    bayes_squared: float
    closer: float
    draws: int | None = None


@checked_call
def compare(
    law: Any,
    prior: Any,
    *,
    estimator: Estimator = "mean",
    draws: int | None = None,
    source: Source | None = None,
) -> Comparison:
    """Compares the noisy number with the Bayes estimate, exactly, or by simulation with `draws`.

    Guarantee
        Without `draws`, sums over all counts and integrals between all kinks: correct to rounding.

    Parameters
        law: Laplace, or DiscreteLaplace and Optimal on a grid.
        prior: a belief about a number.
        estimator: "mean" (as in the paper) or "median".
        draws: how many pairs of truth and noise to simulate instead.
        source: of the simulation's randomness; a seeded one in tests.

    Example
        >>> from tenue.noise import Laplace
        >>> from tenue.prior import Binomial
        >>> found = compare(Laplace(sensitivity=1, epsilon=0.1), Binomial(100, 0.3))
        >>> round(found.naive_error, 6), round(found.bayes_error, 6), round(found.closer, 6)
        (10.0, 3.397283, 0.760879)

    Source
        Naldi and D'Acquisto, section 4.
    """
    if estimator not in ("mean", "median"):
        raise refuse("estimate.unknown-estimator", estimator=estimator)
    found = likelihood(law)
    _require(law, found.exponential or found.mass is not None)
    values, masses = _prior(prior, found)
    if draws is not None:
        count = whole(draws, "draws", least=1)
        _require_short(count * values.size, 1 << 32, "Simulate fewer draws")
        return _simulated(law, found, values, masses, estimator, count, source)
    if found.mass is None:
        _require_short(values.size, _MOST_KINKS, "Give draws=100_000 to simulate it")
        exact = LaplaceIntegral(values, masses, found.rate, estimator)
        (bayes, squared), closer, unit = exact.averages(), exact.closer(), 1.0
    else:
        reach, unit = _largest_noise(found), float(found.unit)
        pairs = (values[-1] - values[0] + 2 * reach) / unit * values.size
        _require_short(pairs, _EXACT, "Give draws=100_000 to simulate it")
        steps = math.ceil(reach / unit)
        noise = found.mass(np.arange(-steps, steps + 1))
        whole_steps = np.rint(values / unit).astype(np.int64)
        bayes, squared, closer = _summed(whole_steps, masses, noise, estimator)
    return Comparison(
        law.mean_absolute_error, bayes * unit, law.variance, squared * unit**2, closer
    )


@checked_call
def expected_error(law: Any, prior: Any) -> float:
    """The mean absolute error of the posterior median, averaged over the prior.

    Guarantee
        A function of law and prior: it reads no rows. Exact up to rounding where prior and noise
        have few values; to about three digits where they are merged into blocks; beyond that, the
        smaller of two upper bounds: the noise's error and that of the prior's median.

    Example
        >>> from tenue.noise import DiscreteLaplace
        >>> from tenue.prior import Binomial
        >>> law = DiscreteLaplace(sensitivity=1, epsilon=0.1)
        >>> round(expected_error(law, Binomial(100, 0.3)), 4)
        3.3873
    """
    found = likelihood(law)
    _require(law, not found.exact or found.mass is not None)
    values, masses = _prior(prior, found)
    middle = values[int(np.searchsorted(np.cumsum(masses), 0.5 - _ROUNDING))]
    bound = min(float(law.mean_absolute_error), float(masses @ np.abs(values - middle)))
    reach, unit = _largest_noise(found), float(found.unit) if found.exact else 0.0
    width = float(values[-1] - values[0])
    if found.mass is not None and (width + 2 * reach) / unit * values.size <= _EXACT / 16:
        return min(bound, compare(law, prior, estimator="median").bayes_error)
    reach *= _SHORT / _FOLDS
    block = max(width / _COARSE, unit)
    blocks = np.rint((values - values[0]) / block).astype(np.int64)
    size, half = int(blocks[-1]) + 1, math.ceil(reach / block)
    if block * 8 > float(law.mean_absolute_error) or size * (size + 2 * half) > _EXACT:
        return bound
    merged: Real = np.bincount(blocks, weights=masses).astype(np.float64)
    steps = np.arange(-half, half + 1)
    noise = law.cdf((steps + 0.5) * block) - law.cdf((steps - 0.5) * block)
    return min(bound, _summed(np.arange(size), merged, noise, "median")[0] * block)


def _require_short(work: float, most: int, fix: str) -> None:
    if work > most:
        raise refuse("estimate.bayes-too-many-values", most=most, advice=fix)


def _require(law: object, supported: bool) -> None:
    if not supported:
        raise refuse("estimate.bayes-law-type", type=type(law).__name__)


def _prior(prior: Any, found: Likelihood) -> tuple[Real, Real]:
    steps, logs, unit = prior_points(prior, found)
    with np.errstate(under="ignore"):
        masses = np.exp(logs - logs.max())
    return np.asarray(steps * float(unit)), np.asarray(masses / masses.sum())


def _largest_noise(found: Likelihood) -> float:
    return (_FOLDS + 2 * found.slack) / found.rate * float(found.unit)


def _estimates(values: Real, joint: Real, estimator: str) -> Real:
    total = joint.sum(axis=1)
    total = np.where(total > 0, total, 1.0)
    if estimator == "mean":
        return np.asarray(joint @ values / total)
    sums = np.cumsum(joint, axis=1) / total[:, None]
    return np.asarray(values[np.argmax(sums >= 0.5 - _ROUNDING, axis=1)])


def _summed(steps: Any, masses: Real, noise: Real, estimator: str) -> tuple[float, float, float]:
    """Mean absolute error, mean squared error and P(closer), summed over all noisy values."""
    half = noise.size // 2
    values = steps.astype(np.float64)
    seen = np.arange(int(steps[0]) - half, int(steps[-1]) + half + 1)
    error = squared = closer = 0.0
    for part in _chunks(seen.size, _CHUNK // steps.size):
        y = seen[part]
        gaps = y[:, None] - steps[None, :]
        inside = np.abs(gaps) <= half
        joint = np.where(inside, noise[np.clip(gaps + half, 0, noise.size - 1)], 0.0) * masses
        guess = _estimates(values, joint, estimator)
        away = np.abs(guess[:, None] - values[None, :])
        error += float((joint * away).sum())
        squared += float((joint * away**2).sum())
        closer += float(joint[away < np.abs(gaps) - _ROUNDING].sum())
    return error, squared, closer


def _simulated(
    law: Any,
    found: Likelihood,
    values: Real,
    masses: Real,
    estimator: str,
    draws: int,
    source: Source | None,
) -> Comparison:
    origin = checked_source(source)
    shares = (origin.words(draws, 64) >> np.uint64(11)) * 2.0**-53
    sums = np.cumsum(masses)
    truths = values[
        np.minimum(np.searchsorted(sums, shares * sums[-1], side="right"), values.size - 1)
    ]
    noisy = truths + law.sample(draws, origin)
    guess: Real = np.empty(draws)
    logs: Callable[[Real], Real] = found.log
    with np.errstate(under="ignore"):
        prior = np.log(masses, where=masses > 0, out=np.full(masses.size, -np.inf))
        for part in _chunks(draws, _CHUNK // values.size):
            joint = prior + logs(np.abs(noisy[part, None] - values) / float(found.unit))
            joint = np.exp(joint - joint.max(axis=1, keepdims=True))
            guess[part] = _estimates(values, joint, estimator)
    naive, bayes = np.abs(noisy - truths), np.abs(guess - truths)
    return Comparison(
        float(naive.mean()),
        float(bayes.mean()),
        float((naive**2).mean()),
        float((bayes**2).mean()),
        float((bayes < naive).mean()),
        draws,
    )
