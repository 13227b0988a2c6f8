"""The risk-utility curve: what is won in safety and lost in use as groups grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .picture import Axis, Curve, Dots, Mark, Panel, Picture, Words
from .theme import SERIES

_WIDTH, _HEIGHT = 560, 300
_NEAR = (18, 12)
"""How many pixels apart two numbers overlap: across and down."""


def trade_off(lines: Mapping[str, Sequence[tuple[int, float, float]]], title: str) -> Picture:
    """A line for each method, a dot for each k.

    Parameters
        lines: (k, risk, loss) of each release, by method.
    """
    marks: list[Mark] = []
    risks = [risk for points in lines.values() for _, risk, _ in points]
    losses = [loss for points in lines.values() for _, _, loss in points]
    high_risk, high_loss = min(1.0, 1.15 * max(risks)) or 1.0, 1.18 * max(losses) or 1.0
    for place, (name, points) in enumerate(lines.items()):
        tone = SERIES[place % len(SERIES)]
        route = sorted(points)
        marks.append(Dots([(risk, loss) for _, risk, loss in route], tone))
        marks += [
            Words(text, risk, loss, tone, size=11, right=7, down=-8)
            for text, risk, loss in _labels(route, high_risk, high_loss)
        ]
        if len(route) > 1:
            marks.insert(0, Curve([(risk, loss) for _, risk, loss in route], tone, width=2))
        _, risk, loss = route[-1]
        if risk > 0.3 * max(risks):  # there is room on the left
            marks.append(Words(name, risk, loss, tone, bold=True, align="right", right=-10))
        else:
            marks.append(Words(name, risk, loss, tone, bold=True, right=4, down=-22))
    panel = Panel(
        marks,
        x=Axis(
            "records that an intruder links; left is safer",
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
