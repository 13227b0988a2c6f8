"""What may be made of noisy means for free: they are released, and so is how noisy they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....noise.source import Source
from ..counts import uniforms

Reals = NDArray[np.float64]

_STRENGTHS = 2.0 ** np.arange(-8, 41)


def isotonic(values: Reals, weights: Reals) -> Reals:
    """The nearest values that never fall, by weighted squares: neighbours that fall are pooled."""
    means: list[float] = []
    held: list[float] = []
    many: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        means.append(value)
        held.append(weight)
        many.append(1)
        while len(means) > 1 and means[-2] >= means[-1]:
            mean, total, count = means.pop(), held.pop(), many.pop()
            means[-1] = (means[-1] * held[-1] + mean * total) / (held[-1] + total)
            held[-1] += total
            many[-1] += count
    return np.repeat(means, many)


def smoothed(values: Reals, variance: float) -> Reals:
    """Values along an order, each drawn to its neighbours as far as their noise suggests.

    The smoothed θ makes Σ(y − θ)² + r·Σ(θ₊ − θ)² least. That is diagonal among cosines, so any r is
    quick to try. The one with the least unbiased estimate of the squared error (Stein 1981) is
    taken if it gains more than two deviations of such an estimate; else the values stay.

    Parameters
        values: at least one.
        variance: that of the noise in each of them.
    """
    size = values.size
    there_and_back = np.concatenate([values, values[::-1]])
    waves = np.fft.rfft(there_and_back)
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


def spread(values: Reals, groups: NDArray[np.int64], source: Source) -> Reals:
    """A value for each of these groups, around the mean of the group and evenly between its
    neighbours.

    The width is the larger of the distances to the means before and after it.
    """
    gaps = np.abs(np.diff(values))
    width = np.zeros_like(values)
    width[:-1] = gaps
    width[1:] = np.maximum(width[1:], gaps)
    moved = width[groups] * (uniforms(groups.size, source) - 0.5)
    return np.asarray(values[groups] + moved)
