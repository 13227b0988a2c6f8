"""Laws of noise: how likely each error is, with an interval of 95 %."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ...noise.box.law import OptimalBox
from ...noise.laplace import IndependentLaplace, Laplace
from ...noise.law import Continuous, GridLaw, Real
from ...text import shortly
from ..picture import Axis, Band, Bars, Curve, Mark, Panel, Picture, Rule

LEVEL = Fraction(95, 100)
_SEEN = Fraction(99, 100)
_PLACES = 801
_EACH = "Several answers at once: the noise of each"
_FEW = 81
"""Up to so many masses are drawn as bars, more as a line."""


def density(law: Continuous) -> Picture:
    """A density, with the interval that contains the noise with probability 95 %."""
    return Picture(repr(law), [_of_density(law)], subtitle=_errors(law))


def masses(law: GridLaw) -> Picture:
    """The exact masses of the grid's steps."""
    return Picture(repr(law), [_of_masses(law)], subtitle=_errors(law))


def box(law: OptimalBox) -> Picture:
    """The noise of each of several answers, with its interval of 95 %."""
    panels = []
    for place, (low, high) in enumerate(law.interval(LEVEL)):
        margin = law.marginal(place)
        reach = 1.6 * high
        edges = np.linspace(-reach, reach, _PLACES // 2)
        shares = np.diff([float(margin.cdf(edge)) for edge in edges])
        heights = shares / np.diff(edges)
        points = list(zip(edges[:-1].tolist(), heights.tolist(), strict=True))
        marks: list[Mark] = [Band(low, high), Curve(points, steps=True)]
        panels.append(_panel(marks, reach, (low, high), heights.max(), f"answer {place + 1}"))
    return Picture(repr(law), panels, subtitle=_EACH)


def independent(law: IndependentLaplace) -> Picture:
    """Each of several answers with its own Laplace noise."""
    panels = [
        _of_density(Laplace(sensitivity=scale, epsilon=1), f"answer {place + 1}")
        for place, scale in enumerate(law.scales)
    ]
    scales = ", ".join(shortly(float(scale)) for scale in law.scales)
    return Picture(f"IndependentLaplace(scales=[{scales}])", panels, subtitle=_EACH)


def _of_density(law: Any, title: str = "") -> Panel:
    low, high = (float(end) for end in law.interval(LEVEL))
    reach = min(max(float(law.interval(_SEEN)[1]), 1.2 * high), 2 * high)
    places: Real = np.linspace(-reach, reach, _PLACES)
    heights = np.asarray(law.pdf(places))
    points = list(zip(places.tolist(), heights.tolist(), strict=True))
    return _panel([Band(low, high), Curve(points)], reach, (low, high), heights.max(), title)


def _of_masses(law: GridLaw) -> Panel:
    grid = float(law.grid)
    low, high = (float(end) for end in law.interval(LEVEL))
    far = max(round(float(law.interval(_SEEN)[1]) / grid), 2)
    step = max(1, (2 * far + 1) // _PLACES)
    steps = np.arange(-far, far + 1, step)
    heights = np.asarray(law.mass(steps), dtype=float)
    centres, half = steps * grid, 0.38 * grid
    drawn: Mark = Curve(list(zip(centres.tolist(), heights.tolist(), strict=True)))
    if steps.size <= _FEW:
        ends = (centres - half).tolist(), (centres + half).tolist()
        drawn = Bars(list(zip(*ends, heights.tolist(), strict=True)))
    half = grid / 2
    marks: list[Mark] = [Band(low - half, high + half), drawn]
    return _panel(marks, (far + 0.5) * grid, (low, high), heights.max())


def _panel(
    marks: list[Mark], reach: float, ends: tuple[float, float], top: float, title: str = ""
) -> Panel:
    low, high = (shortly(end) for end in ends)
    note = f"error; shaded: {low} to {high}, with probability 95 %"
    return Panel(
        [marks[0], Rule(0, tone="third"), *marks[1:]],
        x=Axis(note, low=-reach, high=reach),
        y=Axis(low=0, high=1.12 * float(top), shown=False),
        title=title,
        width=376 if title else 560,
    )


def _errors(law: Any) -> str:
    variance, mean = shortly(law.variance, 4), shortly(law.mean_absolute_error, 4)
    return f"variance {variance}, mean absolute error {mean}"
