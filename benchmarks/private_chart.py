"""The chart of `private_release.py`: a panel for each table, a dot for each way, on log axes."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence

__all__ = ["chart"]

INK, QUIET, LINE, PAPER = "#1c2733", "#5b6b7b", "#dde3e9", "#ffffff"
OURS, CHOSEN, PLAIN, RIVAL = "#8fbbe0", "#0b3c6f", "#b9a38c", "#c4553b"
WIDTH, LEFT, ROW, HEAD = 880, 250, 22, 44
LOW, HIGH = -3, 0
MEASURES = {"pairs": "pairs of columns", "sliced": "cloud of numbers (sliced Wasserstein)"}


def chart(rows: Sequence[Mapping[str, object]]) -> str:
    """A self-contained SVG: how far each released table is from its original, at epsilon 1."""
    at_one = [row for row in rows if row.get("epsilon") == 1.0]
    parts: list[str] = []
    y = 96.0
    for table in dict.fromkeys(str(row["table"]) for row in at_one):
        panel = [row for row in at_one if row["table"] == table]
        measure = "pairs" if any("pairs" in row for row in panel) else "sliced"
        if all("sliced" in row for row in panel) and "mixture" not in table and len(panel) < 5:
            measure = "sliced"
        panel = [row for row in panel if measure in row]
        parts.append(_text(LEFT, y, f"{table}: {MEASURES[measure]}", INK, "bold", 14))
        for row in sorted(panel, key=lambda row: float(str(row[measure]))):
            y += ROW
            parts += _row(str(row["by"]), float(str(row[measure])), y)
        y += HEAD
    for power in range(LOW, HIGH + 1):
        x = _x(10.0**power)
        parts.insert(
            0, f'<line x1="{x:.0f}" x2="{x:.0f}" y1="72" y2="{y - 30:.0f}" stroke="{LINE}"/>'
        )
        parts.append(_text(x, 66, f"{10.0**power:g}", QUIET, "normal", 12, "middle"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y:.0f}" '
        f'font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="{PAPER}"/>'
        + _text(20, 26, "How far a private table is from its original", INK, "bold", 17)
        + _text(20, 46, "epsilon 1, 0 is best, log scale; dark: what is taken by default", QUIET)
        + "".join(parts)
        + "</svg>\n"
    )


def _row(by: str, value: float, y: float) -> list[str]:
    colour = CHOSEN if by.startswith("auto") else RIVAL if "δ" in by else OURS
    if by.startswith(("plain", "thesis")):
        colour = PLAIN
    weight = "bold" if by.startswith("auto") else "normal"
    x = _x(value)
    return [
        _text(LEFT - 12, y + 4, by, INK, weight, 13, "end"),
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="{colour}"/>',
        _text(x + 11, y + 4, f"{value:.3g}", QUIET, weight, 12),
    ]


def _x(value: float) -> float:
    power = math.log10(max(value, 10.0**LOW))
    return LEFT + (WIDTH - LEFT - 90) * (power - LOW) / (HIGH - LOW)


def _text(
    x: float,
    y: float,
    text: str,
    fill: str,
    weight: str = "normal",
    size: int = 13,
    anchor: str = "start",
) -> str:
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" fill="{fill}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{html.escape(text)}</text>'
    )
