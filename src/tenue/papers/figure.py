"""What a figure shows, as numbers: whoever draws it decides on ink and paper only."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from ..frozen import dataclass

Mark = Literal["line", "dashed", "step", "bar", "point", "cross", "rule"]
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Series:
    """One curve, or the points of one group.

    mark: "line", "dashed", "step" (the height holds until the next point), "bar", "point",
        "cross", or "rule" (a vertical line at each x).
    """

    name: str
    points: Points
    mark: Mark = "line"


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    reverse_x: whether the horizontal axis runs from large to small.
    flat: whether it has one line of points only, which needs little height.
    x_ticks: where numbers stand below it; none for what suits.
    hidden: the axes that are not drawn, because their numbers mean nothing: "y" or "xy".
    words: texts in the drawing, each around its place (x, y).
    """

    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    log_x: bool = False
    log_y: bool = False
    reverse_x: bool = False
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    square: bool = False
    flat: bool = False
    x_ticks: tuple[float, ...] = ()
    hidden: Literal["", "y", "xy"] = ""
    words: tuple[tuple[float, float, str], ...] = ()


@dataclass(frozen=True)
class Figure:
    """Panels beside each other, and a sentence on what to see in them."""

    panels: tuple[Panel, ...]
    caption: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "caption": self.caption,
            "panels": [
                {
                    "title": panel.title,
                    "x": panel.x,
                    "y": panel.y,
                    "series": [
                        {
                            "name": one.name,
                            "mark": one.mark,
                            "points": [list(p) for p in one.points],
                        }
                        for one in panel.series
                    ],
                }
                for panel in self.panels
            ],
        }


def curve(
    name: str, values: Iterable[float], height: Callable[[float], float], mark: Mark = "line"
) -> Series:
    """A function seen at many values."""
    return Series(name, tuple((float(x), float(height(x))) for x in values), mark)


def between(low: float, high: float, count: int) -> list[float]:
    """`count` values from `low` to `high`, equally far apart."""
    return [low + (high - low) * i / (count - 1) for i in range(count)]


def log_between(low: float, high: float, count: int) -> list[float]:
    """`count` values from `low` to `high`, each the same multiple of the one before."""
    return [math.exp(x) for x in between(math.log(low), math.log(high), count)]


def panels(*given: Panel, caption: str) -> Figure:
    return Figure(tuple(given), caption)


def pairs(xs: Sequence[float], ys: Sequence[float]) -> Points:
    return tuple((float(x), float(y)) for x, y in zip(xs, ys, strict=True))
