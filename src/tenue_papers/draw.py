"""A figure of a paper as numbers, and its drawing in the style of all charts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from tenue.report.picture import Axis, Bars, Curve, Dots, Mark, Picture, Rule, Words
from tenue.report.picture import Panel as Drawn
from tenue.report.theme import SERIES

Stroke = Literal["line", "dashed", "step", "bar", "point", "cross", "rule"]
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Series:
    """One curve, or the points of one group.

    mark: "line", "dashed", "step" (the height holds until the next point), "bar", "point",
        "cross", or "rule" (a vertical line at each x).
    """

    name: str
    points: Points
    mark: Stroke = "line"


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    reverse_x: whether the horizontal axis runs from large to small.
    flat: whether its points lie on one line, which needs little height.
    x_ticks: the numbers below the horizontal axis; chosen automatically if empty.
    hidden: axes that are not drawn, because their numbers mean nothing: "y" or "xy".
    words: texts (x, y, text) in the drawing, each centred at (x, y).
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

    def to_dict(self) -> dict[str, Any]:
        series = [
            {"name": one.name, "mark": one.mark, "points": [list(p) for p in one.points]}
            for one in self.series
        ]
        return {"title": self.title, "x": self.x, "y": self.y, "series": series}


@dataclass(frozen=True)
class Figure:
    """Panels beside each other, and a sentence on what they show."""

    panels: tuple[Panel, ...]
    caption: str

    def to_dict(self) -> dict[str, Any]:
        return {"caption": self.caption, "panels": [one.to_dict() for one in self.panels]}


def curve(
    name: str, values: Iterable[float], height: Callable[[float], float], mark: Stroke = "line"
) -> Series:
    """A function, evaluated at many values."""
    return Series(name, tuple((float(x), float(height(x))) for x in values), mark)


def between(low: float, high: float, count: int) -> list[float]:
    """`count` values from `low` to `high`, equally far apart."""
    return [low + (high - low) * i / (count - 1) for i in range(count)]


def log_between(low: float, high: float, count: int) -> list[float]:
    """`count` values from `low` to `high`, each the same multiple of the one before."""
    return [math.exp(x) for x in between(math.log(low), math.log(high), count)]


def panels(*shown: Panel, caption: str) -> Figure:
    return Figure(shown, caption)


def plot(title: str, x: str, y: str, *series: Series, caption: str, **axes: Any) -> Figure:
    """A figure with one panel; `axes` are the options of `Panel`."""
    return panels(Panel(title, x, y, series, **axes), caption=caption)


def pairs(xs: Sequence[float], ys: Sequence[float]) -> Points:
    return tuple((float(x), float(y)) for x, y in zip(xs, ys, strict=True))


# -- Figures of the papers in the style of all charts ----------------------------------------------

_LETTER = 6.6
"""About how wide a letter of the legend is, in pixels."""
_WIDE, _HIGH, _FLAT, _SQUARE = 376, 230, 44, 300
_LARGE = 1e7
"""From this height on powers of ten are written, for all digits would run into the title."""
_BESIDE = 3
"""More panels stand in two columns."""
_MARGIN = 0.04
"""The room above the highest and below the lowest point, as a share of their distance."""
_CORE = 0.8
"""The share of the distance between two groups of bars that the bars take."""


def picture(figure: Figure) -> Picture:
    """All panels in one drawing, for a file of its own."""
    across = 2 if len(figure.panels) > _BESIDE else 0
    return Picture("", [panel(one) for one in figure.panels], told=figure.caption, across=across)


def pictures(figure: Figure) -> list[Picture]:
    """Each panel by itself, for a page that arranges them."""
    return [Picture("", [panel(one)], told=one.title or figure.caption) for one in figure.panels]


def panel(given: Panel) -> Drawn:
    width = _SQUARE if given.square else _WIDE
    height = _SQUARE if given.square else _FLAT if given.flat else _HIGH
    tones = tones_of(given.series)
    marks = [mark for series in given.series for mark in _marks(series, tones[series.name], given)]
    marks += [Words(text, x, y, align="center") for x, y, text in given.words]
    marks += _legend(given, tones, width)
    left, right = given.x_range or _reach(given)
    low, high = given.y_range or _heights(given)
    x = Axis(
        given.x,
        low=right if given.reverse_x else left,
        high=left if given.reverse_x else right,
        log=given.log_x,
        ticks=given.x_ticks,
        write="~g" if given.x_ticks else "",
        shown="x" not in given.hidden,
    )
    y = Axis(
        given.y,
        low=low,
        high=high,
        log=given.log_y,
        write="~e" if given.log_y and max(_values(given, 1)) >= _LARGE else "",
        grid=True,
        shown="y" not in given.hidden,
    )
    return Drawn(tuple(marks), x=x, y=y, width=width, height=height)


def tones_of(series: Sequence[Series]) -> dict[str, str]:
    """A colour for every name; dashed lines and rules are "quiet"."""
    fixed = {"dashed": "quiet", "rule": "quiet", "cross": "ink"}
    names = dict.fromkeys(one.name for one in series if one.mark not in fixed)
    palette = [tone for tone in SERIES if tone != "third"] + ["ink"]  # "third" looks quiet
    tones = {name: palette[i % len(palette)] for i, name in enumerate(names)}
    return tones | {one.name: fixed[one.mark] for one in series if one.mark in fixed}


def _heights(given: Panel) -> tuple[float, float]:
    """From the lowest to the highest point with room for the line; from 0 if that is near."""
    heights = _values(given, 1)
    low, high = min(heights), max(heights)
    if given.log_y:
        room = (high / low) ** _MARGIN
        return low / room, high * room
    room = _MARGIN * (high - low)
    return (0.0 if 0 <= low <= high / 4 or _has_bars(given) else low - room), high + room


def _reach(given: Panel) -> tuple[float, float]:
    places = _values(given, 0)
    room = _gap(given) * 0.6 if _has_bars(given) else 0.0
    return min(places) - room, max(places) + room


def _values(given: Panel, axis: int) -> list[float]:
    return [point[axis] for one in given.series for point in one.points]


def _has_bars(given: Panel) -> bool:
    return any(one.mark == "bar" for one in given.series)


def _gap(given: Panel) -> float:
    places = sorted({x for one in given.series if one.mark == "bar" for x, _ in one.points})
    return min((b - a for a, b in pairwise(places)), default=1.0)


def _legend(given: Panel, tones: dict[str, str], width: int) -> Iterator[Mark]:
    """The title, and the names of the series in their colours, above the drawing."""
    names = [name for name in tones if name]
    rows: list[list[str]] = [[]]
    for name in names:
        if rows[-1] and sum(len(n) + 3 for n in [*rows[-1], name]) * _LETTER > width + 40:
            rows.append([])
        rows[-1].append(name)
    shown = rows if 1 < len(names) <= len(SERIES) else []
    for i, row in enumerate(shown):
        right = 0.0
        for name in row:
            down = -12 - 17 * (len(shown) - 1 - i)
            yield Words(name, None, None, tone=tones[name], bold=True, right=right, down=down)
            right += (len(name) + 3) * _LETTER
    if given.title:
        down = -20 - 17 * len(shown)
        yield Words(given.title, None, None, size=13.5, bold=True, down=down)


def _marks(series: Series, tone: str, given: Panel) -> list[Mark]:
    match series.mark:
        case "bar":
            among = [one for one in given.series if one.mark == "bar"]
            wide = _gap(given) * _CORE / len(among)
            start = -wide * len(among) / 2 + wide * among.index(series)
            bars = [(x + start, x + start + wide, y) for x, y in series.points]
            return [Bars(bars, tone=tone)]
        case "point":
            many = len(series.points) > 40
            return [Dots(series.points, tone=tone, size=3.2 if many else 5.0, ring=not many)]
        case "cross":
            return [Dots(series.points, tone=tone, size=3.4, ring=False)]
        case "rule":
            return [Rule(x) for x, _ in series.points]
        case "step":
            return [Curve(series.points, tone=tone, width=2.2, steps=True)]
        case _:
            return [Curve(series.points, tone=tone, width=2.2, dashed=series.mark == "dashed")]
