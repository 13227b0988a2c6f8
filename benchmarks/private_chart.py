"""The chart of `private_release.py`: a panel for each table, a dot for each way, on log axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenue.report import Axis, Dots, Panel, Picture, Words, plot
from tenue.report.picture import Mark

__all__ = ["chart"]

OURS, CHOSEN, PLAIN, RIVAL = "pale", "deep", "third", "other"
ROW = 22
TICKS = (0.001, 0.01, 0.1, 1.0)
MEASURES = {"pairs": "pairs of columns", "sliced": "cloud of numbers (sliced Wasserstein)"}


def chart(rows: Sequence[Mapping[str, object]]) -> str:
    """A self-contained SVG: how far each released table is from its original, at epsilon 1."""
    at_one = [row for row in rows if row.get("epsilon") == 1.0]
    panels = []
    for table in dict.fromkeys(str(row["table"]) for row in at_one):
        panel = [row for row in at_one if row["table"] == table]
        measure = "pairs" if any("pairs" in row for row in panel) else "sliced"
        if all("sliced" in row for row in panel) and "mixture" not in table and len(panel) < 5:
            measure = "sliced"
        found = {str(row["by"]): float(str(row[measure])) for row in panel if measure in row}
        panels.append(_panel(found, f"{table}: {MEASURES[measure]}"))
    picture = Picture(
        "How far a private table is from its original",
        panels,
        subtitle="epsilon 1, 0 is best, log scale; dark: what is taken by default",
        across=1,
    )
    return plot(picture).svg() + "\n"


def _panel(found: Mapping[str, float], title: str) -> Panel:
    names = tuple(sorted(found, key=lambda name: found[name]))
    marks: list[Mark] = []
    for name in names:
        chosen, at = name.startswith("auto"), max(found[name], TICKS[0])
        marks.append(Dots([(at, name)], _tone(name)))
        marks.append(Words(f"{found[name]:.3g}", at, name, "quiet", bold=chosen, right=11))
    return Panel(
        marks,
        x=Axis(low=TICKS[0], high=TICKS[-1], log=True, ticks=TICKS, grid=True, write="~g"),
        y=Axis(names=names),
        title=title,
        width=540,
        height=ROW * len(names),
    )


def _tone(name: str) -> str:
    if name.startswith("auto"):
        return CHOSEN
    if name.startswith(("plain", "thesis")):
        return PLAIN
    return RIVAL if "δ" in name else OURS
