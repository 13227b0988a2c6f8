"""The chart of `workload.py`: how far off the answers of each workload are, on a log axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenue.report import Axis, Dots, Panel, Picture, Spans, Words, plot
from tenue.report.picture import Mark

__all__ = ["chart"]

ROW = 34
TONES = {"rmse": "deep", "OpenDP": "third", "Tumult Analytics": "other", "one_by_one": "pale"}
SIZES = {"rmse": 6.5, "OpenDP": 4.0, "Tumult Analytics": 7.0, "one_by_one": 10.0}
NAMES = {"rmse": "Tenue, all together", "one_by_one": "one by one, by the law of both"}
COLOURS = {"deep": "dark blue", "third": "grey", "other": "red", "pale": "light blue"}


def chart(rows: Sequence[Mapping[str, object]]) -> str:
    """A self-contained SVG."""
    names = tuple(str(row["workload"]) for row in rows)
    kinds = [kind for kind in TONES if any(kind in row for row in rows)]
    errors = [float(str(row[kind])) for row in rows for kind in kinds if kind in row]
    low, high = min(errors) / 6, max(errors) * 20
    marks: list[Mark] = []
    for row in rows:
        name = str(row["workload"])
        own = {kind: float(str(row[kind])) for kind in kinds if kind in row}
        marks.append(Spans([(name, min(own.values()), max(own.values()))], "line", width=3))
        for kind in reversed(own):
            marks.append(Dots([(own[kind], name)], TONES[kind], size=SIZES[kind]))
        ours, law = own["rmse"], own["one_by_one"]
        marks.append(Words(_short(ours), ours, name, bold=True, align="right", right=-11))
        marks.append(Words(_short(law), law, name, "quiet", right=15))
    ticks = tuple(10.0**power for power in range(7) if low <= 10.0**power <= high)
    panel = Panel(
        marks,
        x=Axis("RMSE of an answer", low, high, log=True, ticks=ticks, grid=True, write=",~g"),
        y=Axis(names=names),
        width=560,
        height=ROW * len(names),
    )
    told = "; ".join(f"{COLOURS[TONES[kind]]}: {NAMES.get(kind, kind)}" for kind in kinds)
    title = "Many counts at epsilon 1, add-or-remove"
    return plot(Picture(title, [panel], subtitle=told)).svg() + "\n"


def _short(error: float) -> str:
    return f"{error:,.0f}" if error >= 100 else f"{error:.3g}"
