"""The chart of `median.py`: a row for each mechanism, a dot for each epsilon, on log axes."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Dot", "chart"]

INK, QUIET, LINE, PAPER = "#1c2733", "#5b6b7b", "#dde3e9", "#ffffff"
SHADES = ("#8fbbe0", "#2f7fc1", "#0b3c6f")
LEFT, TOP, ROW, PANEL, GAP = 196, 122, 58, 330, 72
NOTES = {
    "global sensitivity": "Laplace, half the range",
    "smooth, γ = 2": "heavy-tailed noise",
    "smooth, γ = 3": "heavy-tailed noise",
    "selection": "exponential mechanism",
    "individual DP": "not differential privacy",
}


@dataclass(frozen=True)
class Dot:
    mechanism: str
    epsilon: float
    value_error: float
    rank_error: float


@dataclass(frozen=True)
class Axis:
    """A logarithmic axis from one power of ten to another, at pixels `start` and on."""

    title: str
    start: int
    lowest: int
    highest: int

    def at(self, value: float) -> float:
        power = math.log10(max(value, 10.0**self.lowest))
        return self.start + PANEL * (power - self.lowest) / (self.highest - self.lowest)


def chart(dots: Sequence[Dot], *, table: str) -> str:
    """A self-contained SVG."""
    mechanisms = list(dict.fromkeys(dot.mechanism for dot in dots))
    epsilons = sorted({dot.epsilon for dot in dots})
    shade = dict(zip(epsilons, SHADES, strict=True))
    values = _axis("error of the value", LEFT, [dot.value_error for dot in dots])
    ranks = _axis("error in ranks", LEFT + PANEL + GAP, [dot.rank_error for dot in dots])
    width, height = LEFT + 2 * PANEL + GAP + 36, TOP + ROW * len(mechanisms) + 58
    parts = [
        _text(24, 36, "How far a private median is off", size=20, weight=600),
        _text(24, 58, f"Mean absolute error; {table}; log scales, left is better", fill=QUIET),
        *_legend(epsilons, shade),
    ]
    for axis in (values, ranks):
        parts += _grid(axis, TOP + ROW * len(mechanisms))
    for number, mechanism in enumerate(mechanisms):
        y = TOP + ROW * number + ROW // 2
        parts.append(_text(24, y - 2, mechanism, size=14, weight=600))
        parts.append(_text(24, y + 15, NOTES.get(mechanism, ""), size=11, fill=QUIET))
        own = [dot for dot in dots if dot.mechanism == mechanism]
        parts += _row(values, y, [(d.epsilon, d.value_error) for d in own], shade, _whole)
        parts += _row(ranks, y, [(d.epsilon, d.rank_error) for d in own], shade, _short)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" '
        'font-family="system-ui, -apple-system, Segoe UI, Roboto, sans-serif">\n'
        f"<title>Mean absolute error of private medians, {html.escape(table)}</title>\n"
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>\n{body}\n</svg>\n'
    )


def _axis(title: str, start: int, errors: Sequence[float]) -> Axis:
    least = min(error for error in errors if error > 0)
    lowest, highest = math.floor(math.log10(least)), math.ceil(math.log10(max(errors)))
    return Axis(title, start, lowest, max(highest, lowest + 1))


def _legend(epsilons: Sequence[float], shade: dict[float, str]) -> list[str]:
    parts, x = [], LEFT
    for epsilon in epsilons:
        parts.append(f'<circle cx="{x + 6}" cy="84" r="6" fill="{shade[epsilon]}"/>')
        parts.append(_text(x + 18, 89, f"ε = {epsilon:g}", size=13))
        x += 84
    return parts


def _grid(axis: Axis, bottom: int) -> list[str]:
    middle = axis.start + PANEL / 2
    parts = [_text(middle, bottom + 44, axis.title, fill=QUIET, anchor="middle")]
    for power in range(axis.lowest, axis.highest + 1):
        x = axis.at(10.0**power)
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{bottom}" stroke="{LINE}"/>'
        )
        label = f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"
        parts.append(_text(x, bottom + 20, label, size=12, fill=QUIET, anchor="middle"))
    return parts


def _row(
    axis: Axis,
    y: int,
    errors: Sequence[tuple[float, float]],
    shade: dict[float, str],
    label: Callable[[float], str],
) -> list[str]:
    """The dots of one mechanism joined by a line; labels change sides where they would meet."""
    places = sorted((axis.at(error), epsilon, error) for epsilon, error in errors)
    parts = [
        f'<line x1="{places[0][0]:.1f}" x2="{places[-1][0]:.1f}" y1="{y}" y2="{y}" '
        f'stroke="{LINE}" stroke-width="4" stroke-linecap="round"/>'
    ]
    ends = {-1: -math.inf, 1: -math.inf}
    for x, epsilon, error in places:
        text = label(error)
        half = 3.6 * len(text)
        free = [side for side in (-1, 1) if x - half > ends[side] + 4]
        side = free[0] if free else min(ends, key=lambda side: ends[side])
        centre = max(x, ends[side] + 4 + half)
        ends[side] = centre + half
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y}" r="6.5" fill="{shade[epsilon]}" stroke="{PAPER}" '
            'stroke-width="1.5"/>'
        )
        parts.append(_text(centre, y + (21 if side > 0 else -11), text, size=11.5, anchor="middle"))
    return parts


def _whole(error: float) -> str:
    return f"{error:,.0f}" if error < 10_000 else f"{error / 1000:,.0f}k"


def _short(error: float) -> str:
    return f"{error:,.0f}" if error >= 10 else f"{error:.1f}"


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: float = 13,
    fill: str = INK,
    weight: int = 400,
    anchor: str = "start",
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{fill}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{html.escape(text)}</text>'
    )
