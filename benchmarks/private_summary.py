"""What the figures of `private_release.py` say of the way that is taken, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

MEASURES = ("wasserstein", "kolmogorov", "sliced", "correlation", "boxes", "pairs")
SEEN = ("census2", "census4", "adult2", "adult4", "eia11", "mixture3")
UNSEEN = ("visits", "loans", "meters")
OTHERS = ("plain noise", "thesis' order", "MST", "AIM")

Row = dict[str, Any]


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """How often `auto` is near the best of our own ways, and 5 times better than plain noise."""
    for name, tables, most in (("tables", SEEN, 1.2), ("unseen tables", UNSEEN, 1.25)):
        found = list(ratios(rows, tables))
        near = sum(ratio <= most for ratio in found)
        yield f"auto within {most} x of our best, {name}: {near} of {len(found)} cells"
    worst = [
        plain["wasserstein"] / auto["wasserstein"]
        for auto, plain in beside_noise(rows)
        if auto["wasserstein"] > 0
    ]
    if worst:
        yield f"plain noise over auto, Wasserstein, epsilon >= 1: at least {min(worst):.1f}"


def ratios(rows: Sequence[Row], tables: Sequence[str]) -> Iterator[float]:
    """Of each table, epsilon and measure: auto over the best of our own ways."""
    ours = [row for row in rows if not row["by"].startswith(OTHERS)]
    for table, epsilon in dict.fromkeys((row["table"], row.get("epsilon")) for row in ours):
        here = [row for row in ours if (row["table"], row.get("epsilon")) == (table, epsilon)]
        auto = [row for row in here if row["by"].startswith("auto")]
        for measure in MEASURES if table in tables and auto else ():
            best = min(row[measure] for row in here)
            yield auto[0][measure] / best if best > 0 else 1.0 + (auto[0][measure] > 0)


def beside_noise(rows: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    for auto in rows:
        if auto["by"].startswith("auto") and auto["epsilon"] >= 1:
            for row in rows:
                same = (row["table"], row.get("epsilon")) == (auto["table"], auto["epsilon"])
                if same and row["by"] == "plain noise":
                    yield auto, row
