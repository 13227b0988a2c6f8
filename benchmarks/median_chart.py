"""The chart of `median.py`: a row for each mechanism, a dot for each epsilon, on log axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tenue.report import Axis, Dots, Panel, Picture, Spans, Words, plot
from tenue.report.picture import Mark
from tenue.report.theme import SHADES

__all__ = ["Dot", "chart"]

ROW, PANEL = 58, 330


@dataclass(frozen=True)
class Dot:
    mechanism: str
    epsilon: float
    value_error: float
    rank_error: float


def chart(dots: Sequence[Dot], *, table: str) -> str:
    """A self-contained SVG."""
    epsilons = sorted({dot.epsilon for dot in dots})
    shade = dict(zip(epsilons, SHADES, strict=True))
    values = [(_named(dot), dot.epsilon, dot.value_error) for dot in dots]
    ranks = [(_named(dot), dot.epsilon, dot.rank_error) for dot in dots]
    key = ", ".join(f"{tone} ε = {epsilon:g}" for epsilon, tone in shade.items())
    picture = Picture(
        "How far a private median is off",
        [
            _panel(values, shade, "error of the value", _whole, named=True),
            _panel(ranks, shade, "error in ranks", _short, named=False),
        ],
        subtitle=f"Mean absolute error; {table}; log scales, left is better; {key}",
        told=f"Mean absolute error of private medians, {table}",
    )
    return plot(picture).svg() + "\n"


def _named(dot: Dot) -> str:
    return f"{dot.mechanism} (not DP)" if dot.mechanism == "individual DP" else dot.mechanism


def _panel(
    rows: Sequence[tuple[str, float, float]],
    shade: dict[float, str],
    title: str,
    label: Callable[[float], str],
    *,
    named: bool,
) -> Panel:
    errors = [error for *_, error in rows if error > 0]
    lowest, highest = math.floor(math.log10(min(errors))), math.ceil(math.log10(max(errors)))
    highest = max(highest, lowest + 1)
    names = tuple(dict.fromkeys(name for name, *_ in rows))
    marks: list[Mark] = []
    for name in names:
        own = sorted(
            (max(error, 10.0**lowest), epsilon, error) for n, epsilon, error in rows if n == name
        )
        marks.append(Spans([(name, own[0][0], own[-1][0])], "line", width=4))
        for place, (at, epsilon, error) in enumerate(own):
            marks.append(Dots([(at, name)], shade[epsilon], size=6.5))
            down = 18 if place % 2 else -15
            marks.append(Words(label(error), at, name, size=11.5, align="center", down=down))
    powers = tuple(10.0**power for power in range(lowest, highest + 1))
    return Panel(
        marks,
        x=Axis(title, powers[0], powers[-1], log=True, ticks=powers, grid=True, write=",~g"),
        y=Axis(names=names, shown=named),
        width=PANEL,
        height=ROW * len(names),
    )


def _whole(error: float) -> str:
    return f"{error:,.0f}" if error < 10_000 else f"{error / 1000:,.0f}k"


def _short(error: float) -> str:
    return f"{error:,.0f}" if error >= 10 else f"{error:.1f}"
