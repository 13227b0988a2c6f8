"""What a chart shows, as facts: panels with axes and marks. Nothing here knows how it is drawn.

Whoever wants to be drawn builds a `Picture`: an object of Tenue through `plot`, a paper's figure or
a benchmark by hand. Colours are named by their meaning (`theme.py`), places are numbers or names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Place = float | str
"""Where something stands on an axis: a number, or one of the axis' names."""
Align = Literal["left", "center", "right"]


@dataclass(frozen=True)
class Axis:
    """One axis.

    title: what stands beside it; a sentence below the horizontal axis explains the panel.
    low, high: its ends; None for those of the marks.
    log: whether it is logarithmic; then 0 has no place.
    ticks: where numbers stand; none for what suits.
    write: how numbers are written, in the format language of D3, such as ".0%".
    names: the places of an axis that has names instead of numbers, in order.
    grid: whether quiet lines cross the panel at its ticks.
    shown: whether it is drawn at all.
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
    """Upright bars from the bottom: (from, to, height)."""

    bars: Sequence[tuple[float, float, float]]
    tone: str = "main"
    opacity: float = 1.0


@dataclass(frozen=True)
class Lengths:
    """Lying bars, one for each name: (name, length). `shift` moves them off the middle of the name,
    in pixels; `thick` is how many they are."""

    bars: Sequence[tuple[str, float]]
    tone: str = "main"
    shift: float = 0
    thick: float = 14


@dataclass(frozen=True)
class Dots:
    """Points by themselves."""

    points: Sequence[tuple[Place, Place]]
    tone: str = "main"
    size: float = 5.5
    ring: bool = True


@dataclass(frozen=True)
class Spans:
    """Lying intervals: (name, low, high)."""

    spans: Sequence[tuple[Place, float, float]]
    tone: str = "main"
    width: float = 2.5
    opacity: float = 1.0


@dataclass(frozen=True)
class Rule:
    """A line across the panel, at one place of one axis."""

    at: float
    axis: Literal["x", "y"] = "x"
    tone: str = "quiet"
    dashes: tuple[int, ...] = (3, 3)


@dataclass(frozen=True)
class Band:
    """A shaded stretch of the horizontal axis."""

    low: float
    high: float


@dataclass(frozen=True)
class Cells:
    """A heat map: (column, row, number from -1 to 1)."""

    cells: Sequence[tuple[str, str, float]]


@dataclass(frozen=True)
class Words:
    """A text at a place, moved by pixels to the right and down. A place that is None is the start
    of its axis: the left end or the top."""

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

    told: what it shows, in a sentence for those who cannot see it; the title if empty.
    across: how many panels stand side by side before the next row begins; 0 for all of them.
    """

    title: str
    panels: Sequence[Panel]
    subtitle: str = ""
    told: str = ""
    across: int = 0
