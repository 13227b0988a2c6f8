"""What the figures of `private_release.py` say of the way that is taken: each bar, and whether it
is met."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

MEASURES = ("wasserstein", "kolmogorov", "sliced", "correlation", "boxes", "pairs")
SEEN = ("census2", "census4", "adult2", "adult4", "eia11", "mixture3")
KNOWN = ("visits", "loans", "meters", "rides", "staff", "trees")
"""Made up for this comparison, and looked at before some limit was chosen."""
UNSEEN = ("wells", "polls", "orders")
OTHERS = ("plain noise", "thesis' order", "MST", "AIM")
NEAR, MOST_CELLS, NEAR_UNSEEN, BETTER = 1.2, 0.8, 1.25, 5.0
BARS = (
    ("census4", "sliced", 0.030),
    ("adult4", "pairs", 0.055),
    ("adult8", "pairs", 0.060),
    ("adult8", "three-way", 0.005),
    ("adult8", "auc", 0.84),
    ("adult14", "pairs", 0.050),
    ("adult14", "auc", 0.84),
    ("eia11", "pairs", 0.38),
    ("eia11", "correlation", 0.15),
    ("census13", "pairs", 0.54),
)
"""At epsilon 1; at most so much, but an area under the curve is at least so large."""
LARGE = (("tree", 10.0, 3.0), ("microaggregation", 30.0, 3.0))
"""CPU seconds and gigabytes of ten million rows of two columns, at most."""

Row = dict[str, Any]


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each bar that the rows tell something of."""
    auto = {(row["table"], row["epsilon"]): row for row in rows if row["by"].startswith("auto")}
    found = list(ratios(rows, SEEN))
    if found:
        near = sum(ratio <= NEAR for *_, ratio in found)
        yield verdict(
            f"auto within {NEAR} x of our best: {near} of {len(found)} cells",
            near >= MOST_CELLS * len(found),
        )
        yield from lost(found, NEAR)
    for what, tables in (("made-up", KNOWN), ("unseen", UNSEEN)):
        yield from _made_up(rows, what, tables)
    worst = [
        (row["wasserstein"] / auto[cell]["wasserstein"], *cell)
        for row in rows
        if row["by"] == "plain noise"
        and (cell := (row["table"], row["epsilon"])) in auto
        and row["epsilon"] >= 1
        and auto[cell]["wasserstein"] > 0
    ]
    if worst:
        ratio, table, epsilon = min(worst)
        yield verdict(
            f"plain noise over auto, Wasserstein, epsilon >= 1: at least {ratio:.1f} "
            f"({table}, epsilon {epsilon:g})",
            ratio >= BETTER,
        )
    for table, measure, limit in BARS:
        held = auto.get((table, 1.0))
        if held is not None:
            least = measure == "auc"
            met = held[measure] >= limit if least else held[measure] <= limit
            sign = ">=" if least else "<="
            yield verdict(f"{table}, {measure}: {held[measure]:.4f} {sign} {limit:g}", met)
            for row in rows:
                if (row["table"], row.get("epsilon")) == (table, 1.0) and row["by"][:3] == "MST":
                    yield f"    MST {row[measure]:.4f}"
    for way, seconds, gigabytes in LARGE:
        for row in rows:
            if (row["table"], row["by"]) == ("10,000,000 x 2", way):
                took, held = row["cpu_seconds"], row["gigabytes"]
                yield verdict(
                    f"10,000,000 x 2, {way}: {took:.1f} CPU s <= {seconds:g}, "
                    f"{held:.2f} GB <= {gigabytes:g}",
                    took <= seconds and held <= gigabytes,
                )


def verdict(told: str, met: bool) -> str:
    return f"{'met    ' if met else 'NOT MET'} {told}"


def lost(found: Sequence[tuple[str, float, str, float]], most: float) -> Iterator[str]:
    """The cells above, those of a table and epsilon in one line."""
    for place in dict.fromkeys(cell[:2] for cell in found):
        over = [
            f"{cell[2]} {cell[3]:.2f}" for cell in found if cell[:2] == place and cell[3] > most
        ]
        if over:
            yield f"    {place[0]}, epsilon {place[1]:g}: {', '.join(over)}"


def ratios(rows: Sequence[Row], tables: Sequence[str]) -> Iterator[tuple[str, float, str, float]]:
    """Of each table, epsilon and measure: auto over the best of our own ways."""
    ours = [row for row in rows if row["table"] in tables and not row["by"].startswith(OTHERS)]
    for table, epsilon in dict.fromkeys((row["table"], row["epsilon"]) for row in ours):
        here = [row for row in ours if (row["table"], row["epsilon"]) == (table, epsilon)]
        auto = [row for row in here if row["by"].startswith("auto")]
        for measure in MEASURES if auto else ():
            best, held = min(row[measure] for row in here), auto[0][measure]
            yield table, epsilon, measure, held / best if best > 0 else 1.0 + (held > 0)


def _made_up(rows: Sequence[Row], what: str, tables: Sequence[str]) -> Iterator[str]:
    found = list(ratios(rows, tables))
    if found:
        far, where = max(by_way(rows, tables))
        yield verdict(
            f"auto within {NEAR_UNSEEN} x of our best way, all measures together, {what} tables: "
            f"at most {far:.2f} ({where})",
            far <= NEAR_UNSEEN,
        )
        near = sum(ratio <= NEAR_UNSEEN for *_, ratio in found)
        single = "of single measures, each beside the way that is best at it"
        yield f"        {single}: {near} of {len(found)} cells"
        yield from lost(found, NEAR_UNSEEN)


def by_way(rows: Sequence[Row], tables: Sequence[str]) -> Iterator[tuple[float, str]]:
    """Of each table and epsilon: auto over the best single way of ours, by the geometric mean of
    all measures."""
    ours = [row for row in rows if row["table"] in tables and not row["by"].startswith(OTHERS)]
    for table, epsilon in dict.fromkeys((row["table"], row["epsilon"]) for row in ours):
        here = [row for row in ours if (row["table"], row["epsilon"]) == (table, epsilon)]
        auto = [together(row) for row in here if row["by"].startswith("auto")]
        if auto:
            yield auto[0] / min(map(together, here)), f"{table}, epsilon {epsilon:g}"


def together(row: Row) -> float:
    return math.exp(sum(math.log(max(row[measure], 1e-9)) for measure in MEASURES) / len(MEASURES))
