"""Figures 6.1 to 6.5: what one record does to groups, and errors over k."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np

from tenue.publish import mdav, reference_points

from .cell import Cell, claimed
from .data import CENSUS, Data, Table
from .draw import Figure, Panel, Series, pairs, panels
from .exhibit import figure
from .private_data_adult import NEEDS, adult
from .private_data_tables import EPSILONS, Labels, by_corners, by_mdav, four, measured, printed_runs

TOY = np.array(
    [[5, 5], [3, 5], [10, 2], [8, 0], [3, 10], [9, 0], [9, 9], [4, 4], [10, 10], [7, 4], [2, 10],
     [2, 6], [7, 2], [3, 8], [2, 7]], float
)  # fmt: skip
"""Fifteen records, as in the figure, which prints no coordinates; the ninth is moved."""
MOVED, AWAY = 8, (0.0, 0.0)
BOUNDS = [(0.0, 10.0), (0.0, 10.0)]


def changed() -> Table:
    rows = TOY.copy()
    rows[MOVED] = AWAY
    return rows


def by_distance(rows: Table, k: int) -> Labels:
    """Groups along one order: the distance from the lower left corner."""
    order = np.lexsort((rows[:, 1], rows[:, 0], (rows**2).sum(axis=1)))
    labels = np.empty(len(rows), np.int64)
    labels[order] = np.minimum(np.arange(len(rows)) // k, len(rows) // k - 1)
    return labels


def differing(one: Labels, other: Labels) -> int:
    """The most records by which two matched groups differ, in the best matching."""
    groups = range(int(one.max()) + 1)
    before, after = ([set(np.flatnonzero(labels == g)) for g in groups] for labels in (one, other))
    return min(
        max(len(before[g] - after[match[g]]) for g in groups) for match in permutations(groups)
    )


def _groups(title: str, rows: Table, labels: Labels, room: float = 0.7) -> Panel:
    members = [rows[labels == g] for g in range(int(labels.max()) + 1)]
    series = tuple(
        Series(f"group {g + 1}", pairs(*points.T.tolist()), "point")
        for g, points in enumerate(members)
    )
    ends = (-room, 10 + room)
    axes: Any = {"square": True, "x_range": ends, "y_range": ends}
    return Panel(title, "first attribute", "second attribute", series, **axes)


def _centred_groups(title: str, rows: Table, labels: Labels) -> Panel:
    panel = _groups(title, rows, labels)
    centres = [rows[labels == g].mean(axis=0) for g in range(int(labels.max()) + 1)]
    crosses = Series("centroids", pairs(*np.transpose(centres).tolist()), "cross")
    return replace(panel, series=(*panel.series, crosses))


def mdav_groups(_: Data) -> Figure:
    return panels(
        _centred_groups("MDAV, k = 5", TOY, mdav(TOY, 5).labels),
        _centred_groups("one record moved to (0, 0)", changed(), mdav(changed(), 5).labels),
        caption="One record moves, and groups far from it are formed anew.",
    )


COLUMN = "records that differ in a group"


def mdav_cells(_: Data) -> Iterator[Cell]:
    worst = differing(mdav(TOY, 5).labels, mdav(changed(), 5).labels)
    remark = "The coordinates of the figure are not printed; these records are ours."
    yield claimed("MDAV", COLUMN, "more than one", worst, holds=worst > 1, remark=remark)


def insensitive_groups(_: Data) -> Figure:
    return panels(
        _centred_groups("By distance from (0, 0), k = 5", TOY, by_distance(TOY, 5)),
        _centred_groups("one record moved to (0, 0)", changed(), by_distance(changed(), 5)),
        caption="Along one order each group changes by one record. But every group may.",
    )


def insensitive_cells(_: Data) -> Iterator[Cell]:
    one = differing(by_distance(TOY, 5), by_distance(changed(), 5))
    corners = differing(corner_groups(TOY, 5), corner_groups(changed(), 5))
    yield claimed("one order", COLUMN, "at most one", one, holds=one == 1)
    yield claimed("four corners", COLUMN, "at most one", corners, holds=corners <= 1)


def corner_groups(rows: Table, k: int) -> Labels:
    return reference_points(rows, k, bounds=BOUNDS).labels


def grid() -> Table:
    return np.array([[x, y] for x in range(21) for y in range(21)], float) / 2


def formation(_: Data) -> Figure:
    rows = grid()
    return panels(
        _groups("One reference point", rows, by_distance(rows, 49), 0.5),
        _groups("Four corners in turn", rows, corner_groups(rows, 49), 0.5),
        caption="Groups around one corner are long arcs; around four they are more compact.",
    )


def spread(rows: Table, labels: Labels) -> float:
    return float(
        sum(
            ((rows[labels == g] - rows[labels == g].mean(axis=0)) ** 2).sum()
            for g in range(int(labels.max()) + 1)
        )
    )


def formation_cells(_: Data) -> Iterator[Cell]:
    rows = grid()
    ratio = spread(rows, corner_groups(rows, 49)) / spread(rows, by_distance(rows, 49))
    place = ("squares within groups", "corners / one point", "more homogeneous", ratio)
    yield claimed(*place, holds=ratio < 1)


# -- 6.4 and 6.5 -----------------------------------------------------------------------------------


SIZES = (2, 3, 5, 8, 12, 20, 30, 50, 75, 100)
Point = tuple[float, float, float]
Curves = dict[str, list[Point]]


def kept(data: Data, make: Callable[[Data], Curves]) -> Curves:
    curves: Curves = data.kept(make.__name__, lambda: make(data))
    return curves


def census_curves(data: Data) -> Curves:
    columns, found = four(data), Curves()
    for epsilon in EPSILONS:
        runs = {k: printed_runs(columns, k, epsilon, 3) for k in (1, *SIZES)}
        found[f"ε = {epsilon}"] = [
            (k, *np.mean([(run.sse, run.linkage) for run in some], axis=0).tolist())
            for k, some in runs.items()
        ]
    for name, mask in (("insensitive", by_corners), ("MDAV", by_mdav)):
        seen = [(k, measured(columns, mask(columns, k))) for k in SIZES]
        found[name] = [(k, run.sse, run.linkage) for k, run in seen]
    return found


def adult_curves(data: Data) -> Curves:
    people, groups = adult(data), (5, 10, 20, 35, 60, 100)
    corners = {k: people.by_corners(k) for k in groups}

    def measured(by_size: dict[int, Labels], epsilon: float | None) -> list[Point]:
        return [(k, *people.measured(labels, epsilon)) for k, labels in by_size.items()]

    return {
        **{f"ε = {epsilon}": measured(corners, float(epsilon)) for epsilon in EPSILONS},
        "insensitive": measured(corners, None),
        "MDAV": measured({k: people.by_mdav(k) for k in groups}, None),
    }


def over_k(curves: Curves) -> Figure:
    def drawn(which: int, title: str) -> Panel:
        series = tuple(
            Series(name, tuple((point[0], max(point[which], 1e-4)) for point in points))
            for name, points in curves.items()
        )
        return Panel(title, "k", title, series, log_y=True)

    return panels(
        drawn(1, "squared error (SSE)"),
        drawn(2, "record linkage (%)"),
        caption="Groups pay until they are too coarse. The printed noise promises nothing.",
    )


def over_k_cells(curves: Curves) -> Iterator[Cell]:
    def at(name: str, place: int, which: int) -> float:
        return curves[name][place][which]

    small = at("ε = 0.01", -1, 1) / at("ε = 0.01", 0, 1)
    large = at("ε = 10.0", -1, 1) / min(point[1] for point in curves["ε = 10.0"])
    worse = at("insensitive", -1, 1) / at("MDAV", -1, 1)
    links = at("MDAV", 0, 2) / max(at("ε = 0.01", 0, 2), 1e-9)
    yield claimed("ε = 0.01", "SSE, largest k / smallest", "falls with k", small, holds=small < 1)
    yield claimed("ε = 10", "SSE, largest k / best", "rises again", large, holds=large > 1.05)
    yield claimed("largest k", "SSE, insensitive / MDAV", "above 1", worse, holds=worse > 1)
    yield claimed("smallest k", "links, MDAV / ε = 0.01", "two orders", links, holds=links > 30)


EXHIBITS = (
    figure("fig6.1", "One record changes MDAV's groups", mdav_cells, mdav_groups),
    figure("fig6.2", "Groups along one order", insensitive_cells, insensitive_groups),
    figure("fig6.3", "How groups are formed", formation_cells, formation),
    figure(
        "fig6.4",
        "Census: errors and links over k",
        lambda data: over_k_cells(kept(data, census_curves)),
        lambda data: over_k(kept(data, census_curves)),
        needs=(CENSUS,),
        seconds=5,
    ),
    figure(
        "fig6.5",
        "Adult: errors and links over k",
        lambda data: over_k_cells(kept(data, adult_curves)),
        lambda data: over_k(kept(data, adult_curves)),
        needs=NEEDS,
        seconds=6,
    ),
)
