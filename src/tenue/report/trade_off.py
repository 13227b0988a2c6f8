"""The risk-utility curve: what is won in safety and lost in use as groups grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .picture import Axis, Curve, Dots, Mark, Panel, Picture, Words
from .theme import SERIES


def trade_off(lines: Mapping[str, Sequence[tuple[int, float, float]]], title: str) -> Picture:
    """A line for each method, a dot for each k.

    Parameters
        lines: (k, risk, loss) of each release, by method.
    """
    marks: list[Mark] = []
    risks = [risk for points in lines.values() for _, risk, _ in points]
    losses = [loss for points in lines.values() for _, _, loss in points]
    for place, (name, points) in enumerate(lines.items()):
        tone = SERIES[place % len(SERIES)]
        route = sorted(points)
        marks.append(Dots([(risk, loss) for _, risk, loss in route], tone))
        marks += [
            Words(str(k), risk, loss, tone, size=11, right=7, down=-8) for k, risk, loss in route
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
            high=min(1.0, 1.15 * max(risks)) or 1.0,
            write=".0%" if max(risks) > 0.05 else ".1%",
            grid=True,
        ),
        y=Axis(
            low=0,
            high=1.18 * max(losses) or 1.0,
            write=".0%" if max(losses) > 0.05 else ".1%",
            grid=True,
        ),
        title="how far values moved; below is better",
        width=560,
        height=300,
    )
    return Picture(title, [panel], told=title)
