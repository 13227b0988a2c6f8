"""The continuous shell-shaped law seen ball by ball: regions, joint distribution, margins.

The law is a mixture of uniform laws on balls of radius ζ_j + i (in sensitivities), ball i with
weight proportional to e^(-εi)·Π(ζ_j + i).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arguments import Number, fraction_of_one
from ..law import like, real_array
from .ball import log_product_series


def crossing(
    excess: Callable[[float], float], low: float, high: float, precision: float = 1e-14
) -> float:
    """An x with excess(x) ≤ 0 that is at most `precision`, relatively, above the first such x.

    `excess` falls; it is above 0 at `low` and not at `high`. A parabola through the last three
    points where that is safe, a half step where it is not (Chandrupatla 1997).

    Example
        >>> round(crossing(lambda x: 2 - x * x, 0.0, 5.0), 12)
        1.414213562373
    """
    near, near_value, far, far_value = high, excess(high), low, excess(low)
    share = 0.5
    while True:
        place = near + share * (far - near)
        if place in (near, far):
            return near if near_value <= 0 else far
        value = excess(place)
        if (value > 0) == (near_value > 0):
            old, old_value = near, near_value
        else:
            old, old_value, far, far_value = far, far_value, near, near_value
        near, near_value = place, value
        room = max(precision, 1e-15) * abs(near)
        if abs(far - near) <= 2 * room:
            return near if near_value <= 0 else far
        share = 0.5
        if len({near_value, far_value, old_value}) == 3:
            share = _parabola(near, near_value, far, far_value, old, old_value)
        least = room / abs(far - near)
        share = min(max(share, least), 1 - least)


def _parabola(a: float, fa: float, b: float, fb: float, c: float, fc: float) -> float:
    """Where between a and b the parabola through three points is zero, or half way if unsafe."""
    xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if not (phi**2 < xi and (1 - phi) ** 2 < 1 - xi):
        return 0.5
    first = fa / (fb - fa) * fc / (fb - fc)
    return first + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)


Real = npt.NDArray[np.float64]

_SMALL = 0.005


class Levels:
    """The balls of a law with core offsets ζ and their weights."""

    def __init__(self, offsets: Sequence[float], epsilon: float) -> None:
        self.offsets = list(offsets)
        self.epsilon = epsilon
        # for small epsilon the law only grows, like 1/ε: the balls of a larger one, stretched
        self.stretch = max(1.0, _SMALL / epsilon)
        self._start = [(z + (self.stretch - 1) / 2) / self.stretch for z in self.offsets]
        self.dimension = len(self.offsets)
        self.log_total = log_product_series(self.offsets, epsilon)

    @cached_property
    def _count(self) -> int:
        d = self.dimension
        return math.ceil((d + 45 + 12 * math.sqrt(d)) / (self.epsilon * self.stretch)) + 2

    @cached_property
    def index(self) -> Real:
        return np.arange(self._count, dtype=float)

    @cached_property
    def weights(self) -> Real:
        """The probability of each ball; the omitted ones have less than 1e-15 together."""
        with np.errstate(divide="ignore"):
            logs = sum(np.log(z + self.index) for z in self._start)
            logs = logs - self.epsilon * self.stretch * self.index
        weights = np.exp(logs - np.max(logs))
        return np.asarray(weights / weights.sum())

    def radius(self, j: int) -> Real:
        """How far each ball reaches in component j, in sensitivities."""
        return np.asarray((self._start[j] + self.index) * self.stretch)

    # -- the smallest box ----------------------------------------------------------------------

    def box(self, signs: str, level: float) -> float:
        """β such that all |x_j| ≤ (ζ_j + β)·s_j with probability `level`."""
        inside = self._inside_any if signs == "any" else self._inside_same
        low, high = -min(self.offsets), 1.0
        while inside(high) < level:
            low, high = high, 2 * high + 1
        return crossing(lambda beta: level - inside(beta), low, high)

    def _inside_any(self, beta: float) -> float:
        """1 − q^(b+1)·[Σ q^i Π(ζ+b+1+i) − Π(ζ+β)/(1−q)] / Σ q^i Π(ζ+i), b = ⌊β⌋."""
        if min(z + beta for z in self.offsets) <= 0:
            return 0.0
        whole = max(-1, math.floor(beta))
        shifted = [z + whole + 1 for z in self.offsets]
        fall = -math.expm1(-self.epsilon)
        flat = sum(math.log(z + beta) for z in self.offsets) - math.log(fall)
        start = -self.epsilon * (whole + 1) - self.log_total
        beyond = math.exp(log_product_series(shifted, self.epsilon) + start)
        return 1 - beyond + math.exp(flat + start)

    def _inside_same(self, beta: float) -> float:
        d, half = self.dimension, self.offsets[0] + beta
        radius = self.radius(0)
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(radius > 0, half / radius, np.inf)
        narrow = (2 * np.minimum(reach, 0.5)) ** d  # the cube fits into the ball
        wide = 1 + d * (2 * np.clip(reach, 0.5, 1) - 1)
        share = np.where(reach < 0.5, narrow, wide) / (d + 1)
        return float((self.weights * share).sum())

    # -- the joint distribution ----------------------------------------------------------------

    def joint(self, signs: str, x: Real) -> float:
        """P(every component ≤ x_j sensitivities)."""
        if signs == "any":
            radius = np.stack([self.radius(j) for j in range(self.dimension)], axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                below = np.where(radius > 0, (x + radius) / (2 * radius), x >= 0)
            return float((self.weights * np.clip(below, 0, 1).prod(axis=1)).sum())
        return self._joint_same(x)

    def _joint_same(self, x: Real) -> float:
        """(0, x) spans D+1 numbers, one of them least; integrate over the origin's place."""
        d = self.dimension
        nodes, node_weights = np.polynomial.legendre.leggauss(d // 2 + 1)
        total = 0.0
        for r, weight in zip(self.radius(0).tolist(), self.weights.tolist(), strict=True):
            if weight < 1e-17 or r == 0:
                total += weight * bool((x >= 0).all())
                continue
            share = float(np.clip(x / r, 0, 1).prod())  # the origin is least
            for k in range(d):  # component k is least, the origin u above it
                start = min(max(0.0, float(-x[k])), r)
                others = np.delete(x, k)
                cuts = np.unique(
                    np.clip(np.concatenate([[start, r], -others, r - others]), start, r)
                )
                half = np.diff(cuts)[:, None] / 2
                u = (cuts[:-1, None] + half) + half * nodes
                height = np.clip((others + u[..., None]) / r, 0, 1).prod(axis=-1)
                share += float((height * node_weights * half).sum()) / r
            total += weight * share / (d + 1)
        return total


class _Margin:
    """One component: a mixture of simple symmetric laws on [−r, r]."""

    def __init__(self, levels: Levels, j: int, sensitivity: float) -> None:
        self.levels = levels
        self._radius = levels.radius(j) * sensitivity

    def cdf(self, x: Any) -> Any:
        """P(component ≤ x)."""
        values = real_array(x)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = np.where(
                self._radius > 0, values[..., None] / self._radius, np.sign(values[..., None])
            )
        below = self._below_ratio(np.clip(ratio, -1, 1))
        return like(x, (self.levels.weights * below).sum(axis=-1))

    def _below_ratio(self, ratio: Real) -> Real:
        raise AssertionError("a margin has a shape")

    def quantile(self, q: Number) -> float:
        """The x with P(component ≤ x) = q."""
        level = float(fraction_of_one(q, "q"))
        goal = max(level, 1 - level)
        low, high = 0.0, float(self._radius[0]) + 1e-300
        while self.cdf(high) < goal:
            low, high = high, 2 * high + float(self._radius[1] - self._radius[0])
        high = crossing(lambda x: goal - float(self.cdf(x)), low, high)
        return -high if level < 0.5 else (0.0 if level == 0.5 else high)

    def interval(self, level: Number) -> tuple[float, float]:
        """The shortest symmetric interval with probability `level`."""
        half = self.quantile((1 + fraction_of_one(level, "level")) / 2)
        return -half, half


class AnyMargin(_Margin):
    """Uniform on each ball."""

    def _below_ratio(self, ratio: Real) -> Real:
        return np.asarray((1 + ratio) / 2)


class SameMargin(_Margin):
    """One-sided uniform with probability 1/(D+1) each, a triangle otherwise."""

    def _below_ratio(self, ratio: Real) -> Real:
        d = self.levels.dimension
        flat = (np.clip(ratio, 0, 1) + np.clip(1 + ratio, 0, 1)) / (d + 1)
        triangle = np.where(ratio < 0, (1 + ratio) ** 2 / 2, 1 - (1 - ratio) ** 2 / 2)
        return np.asarray(flat + (d - 1) / (d + 1) * triangle)
