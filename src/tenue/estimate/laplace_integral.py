"""Naive against Bayes under continuous Laplace noise, integrated between all kinks.

With truths v_i of masses p_i, all that matters is smooth in the noisy value y between neighbouring
truths and where the estimate passes a truth. Below the first truth and above the last the posterior
no longer changes, so the tails have closed forms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..noise.law import Real

_HALVINGS = 80
_CHUNK = 1 << 21
_ROUNDING = 1e-12


class LaplaceIntegral:
    """Averages over truth and noise for one prior, one rate and one estimator."""

    def __init__(self, values: Real, masses: Real, rate: float, estimator: str) -> None:
        self.values = values
        self.masses = masses
        self.rate = rate
        self.estimator = estimator

    def _weights(self, y: Real) -> Real:
        """p_i·e^(-rate|y−v_i|), rows scaled to the nearest truth so that none vanishes."""
        gaps = np.abs(y[:, None] - self.values)
        with np.errstate(under="ignore", divide="ignore"):
            logs = np.log(self.masses) - self.rate * gaps
            return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))

    def guess(self, y: Real) -> Real:
        """The estimate for each noisy value."""
        result = np.empty_like(y)
        rows = max(1, _CHUNK // self.values.size)
        for start in range(0, y.size, rows):
            part = self._weights(y[start : start + rows])
            part /= part.sum(axis=1, keepdims=True)
            if self.estimator == "mean":
                result[start : start + rows] = part @ self.values
            else:
                sums = np.cumsum(part, axis=1)
                place = np.argmax(sums >= 0.5 - _ROUNDING, axis=1)
                result[start : start + rows] = self.values[place]
        return result

    def _passes(self) -> Real:
        """Where the estimate passes each truth: between two passes it stays on one side of all."""
        if self.values.size == 1:
            return np.empty(0)
        if self.estimator == "mean":
            goals = self.values[1:-1]
            return self._solved(lambda y: self.guess(y) - goals, goals.size)
        goals = self.values[:-1]
        return self._solved(lambda y: self.guess(y) - goals - _ROUNDING, goals.size)

    def _solved(self, rising: Callable[[Real], Real], count: int) -> Real:
        """Where rising functions change sign between the first and the last truth."""
        low, high = np.full(count, self.values[0]), np.full(count, self.values[-1])
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = rising(middle) <= 0
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return high

    @cached_property
    def _averages(self) -> tuple[float, float]:
        """The mean absolute and the mean squared error."""
        nodes, weights = np.polynomial.legendre.leggauss(12)
        cuts = np.unique(np.concatenate([self.values, self._passes()]))
        # a panel is short in the noise's own scale, so that the rule is exact to rounding
        pieces = np.maximum(1, np.ceil(np.diff(cuts) * self.rate * 1.5)).astype(int)
        starts = np.repeat(cuts[:-1], pieces)
        widths = np.repeat(np.diff(cuts) / pieces, pieces)
        starts = starts + widths * (
            np.arange(starts.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        )
        y = (starts[:, None] + widths[:, None] * (nodes + 1) / 2).ravel()
        area = (widths[:, None] * weights / 2).ravel()
        guess = self.guess(y)
        error = squared = 0.0
        rows = max(1, _CHUNK // self.values.size)
        for start in range(0, y.size, rows):
            part = slice(start, start + rows)
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

    @property
    def error(self) -> float:
        """The mean absolute error of the estimate."""
        return self._averages[0]

    @property
    def squared(self) -> float:
        """The mean squared error of the estimate."""
        return self._averages[1]

    @cached_property
    def closer(self) -> float:
        """P(|estimate − v| < |y − v|).

        That is (estimate − y)·(estimate + y − 2v) < 0. The second factor rises with y and changes
        sign once for each truth; the first changes sign wherever the estimate equals y.
        """
        cuts = self._fixed_points()
        middles = (cuts[:-1] + cuts[1:]) / 2
        above = np.concatenate([[True], self.guess(middles) > middles, [False]])
        lows = np.concatenate([[-np.inf], cuts])
        highs = np.concatenate([cuts, [np.inf]])
        turns = self._turns()
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

    def _turns(self) -> Real:
        """For each truth, the y at which estimate + y = 2·truth."""
        width = self.values[-1] - self.values[0] + 1
        low, high = self.values - width, self.values + width
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = self.guess(middle) + middle < 2 * self.values
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray(high)

    def _fixed_points(self) -> Real:
        """Every y at which the estimate may cross y, and the truths themselves."""
        cuts = [self.values]
        if self.estimator == "median":
            cuts.append(self._passes())
        elif self.values.size > 1:
            low, high = self._monotone_pieces()
            sign = self.guess(low) > low
            crossing = sign != (self.guess(high) > high)
            low, high, sign = low[crossing], high[crossing], sign[crossing]
            for _ in range(_HALVINGS):
                middle = (low + high) / 2
                same = (self.guess(middle) > middle) == sign
                low, high = np.where(same, middle, low), np.where(same, high, middle)
            cuts.append(high)
        return np.unique(np.concatenate(cuts))

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
        cuts = np.unique(np.concatenate([self.values, *inner]))
        return cuts[:-1], cuts[1:]
