"""What a chart shows: panels with axes and marks. Nothing here knows how it is drawn.

Objects of Tenue become a `Picture` through `plot`; papers and benchmarks build one by hand. Colours
are named by their meaning (`theme.py`), positions are numbers or names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Place = float | str
"""A position on an axis: a number, or one of its names."""
Align = Literal["left", "center", "right"]


@dataclass(frozen=True)
class Axis:
    """One axis.

    title: written beside it; a sentence below the horizontal axis explains the panel.
    low, high: its ends; None for those of the marks.
    log: whether it is logarithmic, without 0.
    ticks: where numbers are written; chosen automatically if empty.
    write: the format of numbers in D3's language, such as ".0%".
    names: the positions of an axis with names instead of numbers, in order.
    grid: whether thin lines cross the panel at its ticks.
    shown: whether it is drawn.
    """

    title: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False
    ticks: tuple[float, ...] = ()
    write: str = ""
    names: tuple[str, ...] = ()
    grid: bool = False
    shown: bool = True


@dataclass(frozen=True)
class Curve:
    """Points joined by a line."""

    points: Sequence[tuple[Place, float]]
    tone: str = "main"
    dashed: bool = False
    width: float = 2.5
    steps: bool = False


@dataclass(frozen=True)
class Bars:
    """Vertical bars: (from, to, height)."""

    bars: Sequence[tuple[float, float, float]]
    tone: str = "main"
    opacity: float = 1.0


@dataclass(frozen=True)
class Lengths:
    """Horizontal bars: (name, length), `thick` pixels high, moved down by `shift` pixels."""

    bars: Sequence[tuple[str, float]]
    tone: str = "main"
    shift: float = 0
    thick: float = 14


@dataclass(frozen=True)
class Dots:
    """Separate points."""

    points: Sequence[tuple[Place, Place]]
    tone: str = "main"
    size: float = 5.5
    ring: bool = True


@dataclass(frozen=True)
class Spans:
    """Horizontal intervals: (name, low, high)."""

    spans: Sequence[tuple[Place, float, float]]
    tone: str = "main"
    width: float = 2.5
    opacity: float = 1.0


@dataclass(frozen=True)
class Rule:
    """A line across the panel, at a position of one axis."""

    at: float
    axis: Literal["x", "y"] = "x"
    tone: str = "quiet"
    dashes: tuple[int, ...] = (3, 3)


@dataclass(frozen=True)
class Band:
    """A shaded interval of the horizontal axis."""

    low: float
    high: float


@dataclass(frozen=True)
class Cells:
    """A heat map: (column, row, number from -1 to 1)."""

    cells: Sequence[tuple[str, str, float]]


@dataclass(frozen=True)
class Words:
    """A text at a position, moved right and down by pixels. None is the left end or the top."""

    text: str
    x: Place | None
    y: Place | None
    tone: str = "ink"
    size: float = 12
    bold: bool = False
    align: Align = "left"
    right: float = 0
    down: float = 0


Mark = Curve | Bars | Lengths | Dots | Spans | Rule | Band | Cells | Words


@dataclass(frozen=True)
class Panel:
    """One drawing area, `width` by `height` pixels, with its marks from back to front."""

    marks: Sequence[Mark]
    x: Axis = Axis()
    y: Axis = Axis()
    title: str = ""
    width: int = 376
    height: int = 244


@dataclass(frozen=True)
class Picture:
    """A chart: panels under one title.

    told: its description for screen readers; the title if empty.
    across: how many panels are in a row; 0 for all of them.
    notes: sentences without which the chart would mislead, such as limits; under the subtitle, and
        part of the description.
    """

    title: str
    panels: Sequence[Panel]
    subtitle: str = ""
    told: str = ""
    across: int = 0
    notes: Sequence[str] = ()
