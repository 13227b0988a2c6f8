"""The risk-utility curve: what is won in safety and lost in use as groups grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .picture import Align, Axis, Curve, Dots, Mark, Panel, Picture, Words
from .theme import SERIES

_WIDTH, _HEIGHT = 560, 300
_NEAR = (18, 12)
"""How many pixels apart two numbers overlap: across and down."""
_LETTER, _DOT, _PARTS = 0.62, 4, 20
"""How wide a letter is in heights, how far a dot reaches in pixels, and the steps along a line."""
_BESIDE: tuple[tuple[Align, float, float], ...] = (
    ("left", 7, -8),
    ("right", -7, 9),
    ("left", 7, 9),
    ("right", -7, -8),
    ("center", 0, -13),
    ("center", 0, 14),
    ("left", 9, 0),
    ("right", -9, 0),
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
"""Where a number and where a name may stand beside a dot: alignment, how far right, and down."""

_Box = tuple[float, float, float, float]
"""Left, right, low and high, in pixels."""


def trade_off(lines: Mapping[str, Sequence[tuple[int, float, float]]], title: str) -> Picture:
    """A line for each method, a dot for each k.

    Parameters
        lines: (k, risk, loss) of each release, by method.
    """
    marks: list[Mark] = []
    risks = [risk for points in lines.values() for _, risk, _ in points]
    losses = [loss for points in lines.values() for _, _, loss in points]
    high_risk, high_loss = min(1.0, 1.15 * max(risks)) or 1.0, 1.18 * max(losses) or 1.0
    scale = _WIDTH / high_risk, _HEIGHT / high_loss
    routes = {name: sorted(points) for name, points in lines.items()}
    drawn = [box for route in routes.values() for box in _along(route, scale)]
    texts: list[_Box] = []
    for place, route in enumerate(routes.values()):
        tone = SERIES[place % len(SERIES)]
        marks.append(Dots([(risk, loss) for _, risk, loss in route], tone))
        for text, risk, loss in _labels(route, high_risk, high_loss):
            places = [Words(text, risk, loss, tone, 11, False, *side) for side in _BESIDE]
            number = _clearest(places, scale, texts, drawn)
            if not _covered(_box(number, scale), texts):  # else it could not be read: left out
                marks.append(number)
                texts.append(_box(number, scale))
        if len(route) > 1:
            marks.insert(0, Curve([(risk, loss) for _, risk, loss in route], tone, width=2))
    for place, (name, route) in enumerate(routes.items()):
        tone = SERIES[place % len(SERIES)]
        beside = [
            Words(name, risk, loss, tone, bold=True, align=align, right=right, down=down)
            for _, risk, loss in reversed(route)
            for align, right, down in _SIDES
        ]
        named = _clearest(beside, scale, texts, drawn)
        marks.append(named)
        texts.append(_box(named, scale))
    panel = Panel(
        marks,
        x=Axis(
            "people whose own value an intruder finds; left is safer",
            low=0,
            high=high_risk,
            write=".0%" if max(risks) > 0.05 else ".1%",
            grid=True,
        ),
        y=Axis(
            low=0,
            high=high_loss,
            write=".0%" if max(losses) > 0.05 else ".1%",
            grid=True,
        ),
        title="how far values moved; below is better",
        width=_WIDTH,
        height=_HEIGHT,
    )
    return Picture(title, [panel], told=title)


def _clearest(
    places: Sequence[Words],
    scale: tuple[float, float],
    texts: Sequence[_Box],
    drawn: Sequence[_Box],
) -> Words:
    """The place where a text covers no other text if possible, and least of what is drawn."""

    def hidden(one: Words) -> tuple[float, float]:
        box = _box(one, scale)
        return _covered(box, texts), _covered(box, drawn)

    return min(places, key=hidden)


def _covered(box: _Box, taken: Sequence[_Box]) -> float:
    """How many things a text would cover; to leave the drawing is worse than any of them."""
    left, right, low, high = box
    outside = left < 0 or right > _WIDTH or low < 0 or high > _HEIGHT
    hit = sum(left < e and w < right and low < h and b < high for w, e, b, h in taken)
    return hit + outside * (1 + len(taken))


def _box(words: Words, scale: tuple[float, float]) -> _Box:
    """About which pixels a text takes, from the left and from below."""
    wide = _LETTER * words.size * len(words.text)
    x, y = float(words.x or 0) * scale[0] + words.right, float(words.y or 0) * scale[1] - words.down
    left = x - {"left": 0.0, "center": 0.5, "right": 1.0}[words.align] * wide
    return left, left + wide, y - words.size / 2, y + words.size / 2


def _along(route: Sequence[tuple[int, float, float]], scale: tuple[float, float]) -> list[_Box]:
    """The pixels that a line and its dots take, as many small boxes."""
    points = [(risk * scale[0], loss * scale[1]) for _, risk, loss in route]
    ends = zip(points, points[1:] or points, strict=False)
    return [
        (x - _DOT, x + _DOT, y - _DOT, y + _DOT)
        for (x0, y0), (x1, y1) in ends
        for part in range(_PARTS + 1)
        for x, y in [(x0 + (x1 - x0) * part / _PARTS, y0 + (y1 - y0) * part / _PARTS)]
    ]


def _labels(
    route: Sequence[tuple[int, float, float]], high_risk: float, high_loss: float
) -> list[tuple[str, float, float]]:
    """The number beside each dot; one for all sizes of a run whose dots lie on each other."""
    runs: list[list[tuple[int, float, float]]] = []
    for k, risk, loss in route:
        if runs:
            _, at, height = runs[-1][0]
            across = abs(risk - at) / high_risk * _WIDTH
            down = abs(loss - height) / high_loss * _HEIGHT
            if across < _NEAR[0] and down < _NEAR[1]:
                runs[-1].append((k, risk, loss))
                continue
        runs.append([(k, risk, loss)])
    return [
        (f"{run[0][0]}–{run[-1][0]}" if len(run) > 1 else str(run[0][0]), *run[-1][1:])
        for run in runs
    ]
