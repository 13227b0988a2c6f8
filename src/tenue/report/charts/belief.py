"""Priors, refined priors, posteriors and opinions.

Of a refined law only its prior is drawn: the law itself is centred on the truth, and would show it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from ...estimate.posterior import Posterior
from ...estimate.refined import Opinion
from ...mechanism.refinement.density import RefinedDensity
from ...mechanism.refinement.points import RefinedPoints
from ...prior.belief import Belief, Finite
from ...prior.counts import Counts
from ...prior.density import Density
from ...prior.points import Points
from ...text import readable, shortly
from ..picture import Axis, Band, Bars, Curve, Lengths, Mark, Panel, Picture, Rule, Words

HIDDEN = "the prior; the refined law is not shown, because it is centred on the truth"
LEVEL = Fraction(95, 100)
_FEW = 81
_MOST_NAMES = 20
_PLACES = 400
_OTHERS = "(others)"
_RARE = 1e-4
"""Values at both ends that are rarer than this, together, are not drawn."""

Numbers = Sequence[tuple[float, float]]


def prior(belief: Belief) -> Picture:
    """A prior: its density, or the mass of each possible value."""
    return Picture(repr(belief), [prior_panel(belief)], subtitle="a prior")


def refined(law: RefinedPoints | RefinedDensity) -> Picture:
    """The prior of a refined law, and nothing that depends on the truth."""
    return Picture(repr(law), [prior_panel(law.prior)], subtitle=HIDDEN)


def known(found: Posterior | Opinion) -> Picture:
    """A posterior."""
    conflict = found.conflict if isinstance(found, Posterior) else None
    told, _, _ = repr(found).partition("\n")
    title, notes = "The posterior after the answer", () if conflict is None else (str(conflict),)
    return Picture(title, [known_panel(found)], told=told, notes=notes)


@singledispatch
def known_panel(found: Any) -> Panel:
    """The panel of a posterior: of a number, or of anything else."""
    raise TypeError(f"{type(found).__name__} is not a posterior that can be drawn")


@known_panel.register
def _(found: Opinion) -> Panel:
    return _of_names({_name(value): mass for value, mass in found.masses.items()})


@singledispatch
def prior_panel(belief: Any) -> Panel:
    """The panel of a prior; each kind of prior has its own."""
    raise TypeError(f"{type(belief).__name__} is not a prior that can be drawn")


@known_panel.register
def _(found: Posterior) -> Panel:
    low, high = (float(end) for end in found.interval(LEVEL))
    points = list(zip(found.values.tolist(), found.masses.tolist(), strict=True))
    note = f"shaded: {readable(low)} to {readable(high)}, the 95 % credible interval"
    panel, median = _of_numbers(points, note), float(found.median)
    text = f"median {readable(found.median)}"
    label = Words(text, median, None, "main", bold=True, right=5, down=6)
    return replace(panel, marks=[Band(low, high), *panel.marks, Rule(median, tone="main"), label])


@prior_panel.register
def _(belief: Density) -> Panel:
    edges = [float(edge) for edge in belief.edges]
    widths = np.diff(edges)
    heights = np.array([float(Fraction(w, belief.total)) for w in belief.weights]) / widths
    if len(heights) > _PLACES:
        step = -(-len(heights) // _PLACES)
        edges, heights = [*edges[:-1:step], edges[-1]], heights[::step]
    low, high = edges[0], edges[-1]
    points = [(low, 0.0), *zip(edges[:-1], heights.tolist(), strict=True), (high, heights[-1])]
    curve = Curve([*points, (high, 0.0)], steps=True)
    room = 0.04 * (high - low)
    return Panel(
        [curve],
        x=Axis(low=low - room, high=high + room),
        y=Axis(low=0, high=1.12 * float(heights.max()), shown=False),
        width=560,
    )


@prior_panel.register
def _(belief: Finite) -> Panel:
    return _of_names({_name(value): float(mass) for value, mass in belief.masses.items()})


@prior_panel.register
def _(belief: Points) -> Panel:
    return _of_numbers([(float(v), float(m)) for v, m in belief.masses.items()])


def _name(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


@prior_panel.register
def _(belief: Counts) -> Panel:
    spread = max(belief.variance**0.5, 1.0)
    first = max(0, int(belief.mean - 8 * spread))
    last = min(belief.n, int(belief.mean + 8 * spread) + 1)
    logs = belief.lattice.log_weights(first, last)
    masses = np.exp(logs - logs.max())
    masses /= masses.sum()
    steps = range(first, last + 1)
    return _of_numbers(list(zip(map(float, steps), masses.tolist(), strict=True)))


def _of_numbers(points: Numbers, note: str = "") -> Panel:
    masses = np.array([mass for _, mass in points])
    tails = np.minimum(np.cumsum(masses), np.cumsum(masses[::-1])[::-1])
    kept = [points[i] for i in np.flatnonzero(tails > _RARE / 2).tolist()] or list(points)
    values = [value for value, _ in kept]
    gaps = np.diff(values)
    gap = float(gaps.min()) if len(gaps) else 1.0
    drawn: Mark = Curve(kept[:: -(-len(kept) // _PLACES)])
    room = 0.0
    if len(kept) <= _FEW:
        drawn, room = Bars([(v - 0.38 * gap, v + 0.38 * gap, mass) for v, mass in kept]), gap
    top = max(mass for _, mass in kept)
    return Panel(
        [drawn],
        x=Axis(note, low=values[0] - room, high=values[-1] + (room or gap)),
        y=Axis(low=0, high=1.18 * top, shown=False),
        width=560,
    )


def _of_names(masses: Mapping[str, float]) -> Panel:
    order = sorted(masses, key=lambda name: -masses[name])
    kept = order if len(order) <= _MOST_NAMES else order[: _MOST_NAMES - 1]
    shown = [(name, masses[name]) for name in kept]
    if len(kept) < len(order):
        shown.append((_OTHERS, sum(masses[name] for name in order[len(kept) :])))
    top = max(share for _, share in shown)
    marks: list[Mark] = [Lengths(shown)]
    marks += [Words(f"{shortly(100 * share)} %", share, name, right=5) for name, share in shown]
    return Panel(
        marks,
        x=Axis(low=0, high=1.15 * top, shown=False),
        y=Axis(names=tuple(name for name, _ in shown)),
        width=420,
        height=28 * len(shown),
    )
