"""The integral of 1/(1+z^γ), in closed form and without losing digits in the tail."""

from __future__ import annotations

import math

import numpy as np

from ..law import Real


def half_line(gamma: int) -> float:
    """∫₀^∞ dz / (1 + z^γ)."""
    return math.pi / gamma / math.sin(math.pi / gamma)


def tail_integral(z: Real, gamma: int) -> Real:
    """∫_z^∞ dt / (1 + t^γ) for z ≥ 0.

    Near zero by the roots of −1, far out by the series in 1/z, which loses no digits there.
    """
    z = np.asarray(z, dtype=float)
    near = np.minimum(z, 2.0)
    roots = np.exp(1j * math.pi * (2 * np.arange(gamma) + 1) / gamma)
    logs = np.log(1 - near[..., None] / roots)
    from_zero = -(roots * logs).sum(axis=-1).real / gamma
    far = 1 / np.maximum(z, 2.0)
    orders = gamma * (np.arange(40) + 1) - 1
    signs = 1 - 2 * (np.arange(40) % 2)
    with np.errstate(under="ignore"):
        series = (signs * far[..., None] ** orders / orders).sum(axis=-1)
    return np.asarray(np.where(z < 2, half_line(gamma) - from_zero, series))
