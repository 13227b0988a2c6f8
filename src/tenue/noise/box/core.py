"""Which core, as a share of the sensitivities, makes the shell-shaped noise least."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..criterion import Criterion
from .margin import Levels
from .shell_series import log_product_series


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
