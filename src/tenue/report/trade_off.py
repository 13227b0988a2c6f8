"""The risk-utility curve of releases with groups of different sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, pairwise

from .picture import Align, Axis, Curve, Dots, Mark, Panel, Picture, Words
from .theme import SERIES

_WIDE, _NARROW = (560, 300), (282, 340)
"""The drawing area on a screen and on a telephone, in pixels."""
_NEAR = (18, 12)
"""Two numbers overlap if they are closer than this, in pixels across and down."""
_LETTER, _DOT, _LINE, _PARTS = 0.62, 7, 3, 20
"""The width of a letter relative to its height, the reach of a dot and of a line in pixels, and how
many boxes cover a line."""
_GAP = 3
"""How many pixels are between two texts side by side."""
_BESIDE: tuple[tuple[Align, float, float], ...] = (
    ("left", 8, -8),
    ("right", -8, 9),
    ("left", 8, 9),
    ("right", -8, -8),
    ("center", 0, -14),
    ("center", 0, 14),
    ("left", 10, 0),
    ("right", -10, 0),
    ("left", 12, -16),
    ("right", -12, 16),
    ("left", 12, 16),
    ("right", -12, -16),
)
_SIDES: tuple[tuple[Align, float, float], ...] = (
    ("right", -10, 0),
    ("left", 4, -22),
    ("right", -6, 16),
    ("right", -6, -16),
    ("left", 10, 12),
    ("center", 0, 22),
    ("center", 0, -26),
    ("left", 26, 0),
)
_FARTHER: tuple[tuple[Align, float, float], ...] = tuple(
    (align, right, down)
    for down in (-22, 22, -32, 32, -42, 42)
    for right in (0, -30, 30)
    for align in ("center", "left", "right")
)
"""Positions of numbers and of names beside a dot: alignment, pixels to the right, and down."""

_Box = tuple[float, float, float, float]
"""Left, right, low and high, in pixels."""
_Route = Sequence[tuple[int, float, float]]
"""The releases of a method by k: (k, risk, loss)."""


def trade_off(lines: Mapping[str, _Route], title: str, *, narrow: bool = False) -> Picture:
    """A line for each method, a dot for each k.

    Parameters
        lines: (k, risk, loss) of each release, by method.
        narrow: whether it has to fit a telephone.
    """
    size = _NARROW if narrow else _WIDE
    marks: list[Mark] = []
    risks = [risk for points in lines.values() for _, risk, _ in points]
    losses = [loss for points in lines.values() for _, _, loss in points]
    high = min(1.0, 1.15 * max(risks)) or 1.0, 1.18 * max(losses) or 1.0
    scale = size[0] / high[0], size[1] / high[1]
    routes = {name: sorted(points) for name, points in lines.items()}
    free = _Room(size, scale, list(routes.values()))
    for place, route in enumerate(routes.values()):
        tone = SERIES[place % len(SERIES)]
        marks.append(Dots([(risk, loss) for _, risk, loss in route], tone))
        for text, risk, loss in _labels(route, scale):
            places = [Words(text, risk, loss, tone, 11, False, *side) for side in _BESIDE]
            number = free.clearest(places)
            if free.readable(number):  # the others are in the table
                marks.append(free.taken(number))
        if len(route) > 1:
            marks.insert(0, Curve([(risk, loss) for _, risk, loss in route], tone, width=2))
    tones = dict(zip(routes, cycle(SERIES), strict=False))
    named: dict[str, Words] = {}
    for name in sorted(routes, key=len, reverse=True):  # long ones are harder to place
        for sides in (_SIDES, _FARTHER):
            if name not in named:
                beside = [
                    Words(name, risk, loss, tones[name], 12, True, *side)
                    for _, risk, loss in reversed(routes[name])
                    for side in sides
                ]
                found = free.clearest(beside)
                if free.readable(found) or sides is _FARTHER:
                    named[name] = free.taken(found)
    marks += [named[name] for name in routes]
    panel = Panel(
        marks,
        x=Axis(
            "people whose value is found; left is safer",
            low=0,
            high=high[0],
            write=".0%" if max(risks) > 0.05 else ".1%",
            grid=True,
        ),
        y=Axis(low=0, high=high[1], write=".0%" if max(losses) > 0.05 else ".1%", grid=True),
        title="change of values; lower is better",
        width=size[0],
        height=size[1],
    )
    return Picture(title, [panel], told=title)


class _Room:
    """Places texts inside the drawing, away from other texts, dots and lines."""

    def __init__(
        self, size: tuple[int, int], scale: tuple[float, float], routes: Sequence[_Route]
    ) -> None:
        self._size, self._scale = size, scale
        self._texts: list[_Box] = []
        points = [[(risk * scale[0], loss * scale[1]) for _, risk, loss in one] for one in routes]
        self._dots = [_around(x, y, _DOT) for one in points for x, y in one]
        self._lines = [box for one in points for box in _along(one)]

    def clearest(self, places: Sequence[Words]) -> Words:
        """The place where a text covers least."""
        return min(places, key=self._covered)

    def readable(self, words: Words) -> bool:
        """Whether it covers nothing but a line."""
        return not any(self._covered(words)[:3])

    def taken(self, words: Words) -> Words:
        """The same words, which others will avoid."""
        left, right, low, high = _box(words, self._scale)
        self._texts.append((left - _GAP, right + _GAP, low, high))
        return words

    def _covered(self, words: Words) -> tuple[int, ...]:
        box = _box(words, self._scale)
        left, right, low, high = box
        outside = left < 0 or right > self._size[0] or low < 0 or high > self._size[1]
        return outside, *(_hit(box, one) for one in (self._texts, self._dots, self._lines))


def _hit(box: _Box, taken: Sequence[_Box]) -> int:
    left, right, low, high = box
    return sum(left < e and w < right and low < h and b < high for w, e, b, h in taken)


def _around(x: float, y: float, reach: float) -> _Box:
    return x - reach, x + reach, y - reach, y + reach


def _box(words: Words, scale: tuple[float, float]) -> _Box:
    """About which pixels a text covers, from the left and from below."""
    wide = _LETTER * words.size * len(words.text)
    x, y = float(words.x or 0) * scale[0] + words.right, float(words.y or 0) * scale[1] - words.down
    left = x - {"left": 0.0, "center": 0.5, "right": 1.0}[words.align] * wide
    return left, left + wide, y - words.size / 2, y + words.size / 2


def _along(points: Sequence[tuple[float, float]]) -> list[_Box]:
    """The pixels that a line covers, as many small boxes."""
    return [
        _around(x0 + (x1 - x0) * part / _PARTS, y0 + (y1 - y0) * part / _PARTS, _LINE)
        for (x0, y0), (x1, y1) in pairwise(points)
        for part in range(_PARTS + 1)
    ]


def _labels(route: _Route, scale: tuple[float, float]) -> list[tuple[str, float, float]]:
    """The number beside each dot; one range for a run of overlapping dots."""
    runs: list[list[tuple[int, float, float]]] = []
    for k, risk, loss in route:
        if runs:
            _, at, height = runs[-1][0]
            across, down = abs(risk - at) * scale[0], abs(loss - height) * scale[1]
            if across < _NEAR[0] and down < _NEAR[1]:
                runs[-1].append((k, risk, loss))
                continue
        runs.append([(k, risk, loss)])
    return [
        (f"{run[0][0]}–{run[-1][0]}" if len(run) > 1 else str(run[0][0]), *run[-1][1:])
        for run in runs
    ]
