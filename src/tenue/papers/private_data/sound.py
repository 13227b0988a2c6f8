"""What chapter 6 should have: the loss of its noise, a bound that holds, methods that keep it."""

from __future__ import annotations

import numpy as np

from ...evaluate import likeness
from ...microdata import ordered
from ...microdata.private.plan import plan_release
from ...noise import Laplace
from ...schema import Schema
from ...sensitivity import chain
from ..cell import Cell, beside, claimed, refuted
from ..data import CENSUS, Columns, Data, Table
from ..exhibit import beyond, erratum
from ..swapping.method import seeded
from .calibration import FOUR, four, printed_runs
from .tables import moved

BOUNDS = {"FEDTAX": 50_000, "POTHVAL": 100_000, "INTVAL": 100_000, "FICA": 20_000}
"""What a holder would state without looking."""
WAYS = {"chain": "microaggregation", "tree": "tree", "two-stage": "two-stage"}


# -- the loss of the printed noise -----------------------------------------------------------------


def centroids(values: Table, k: int) -> Table:
    groups = ordered(values[:, None], k, bounds=[(0.0, 1.0)])
    return np.array([values[group].mean() for group in groups.groups()])


def moved_centroids(k: int, groups: int) -> tuple[float, float, int]:
    """One record goes from 0 to 1: by how much do all centroids move, and the most of one?"""
    before = np.linspace(0, 1, k * groups)
    after = np.append(before[1:], 1.0)
    apart = np.abs(centroids(after, k) - centroids(before, k))
    return float(apart.sum()), float(apart.max()), int((apart > 1e-12).sum())


def loss(_: Data) -> list[Cell]:
    cells = []
    for k, groups in ((5, 3), (10, 10), (30, 36)):
        total, _most, changed = moved_centroids(k, groups)
        scale = Laplace(sensitivity=f"1/{k}", epsilon=1)  # as printed, at ε = 1
        per_cluster = sum(scale.loss(repr(part)) for part in _parts(k, groups))
        per_record = k * per_cluster
        cells += [
            refuted(
                f"{groups} groups of {k}, one number",
                "loss at ε = 1, noise per record",
                "ε = 1",
                per_record,
                fails=per_record > 0.9 * k,
                because=f"All {changed} centroids move, and each is published {k} times with "
                "fresh noise: k·ε in one dimension, about n·ε in several.",
            ),
            claimed(
                f"{groups} groups of {k}, one number",
                "all centroids together",
                "range / k (one order, one number)",
                total,
                holds=total <= float(chain.hilbert(1, groups)) / k + 1e-12,
            ),
        ]
    return cells


def _parts(k: int, groups: int) -> list[float]:
    before = np.linspace(0, 1, k * groups)
    after = np.append(before[1:], 1.0)
    return [float(x) for x in np.abs(centroids(after, k) - centroids(before, k)) if x > 1e-12]


def scales(_: Data) -> list[Cell]:
    """The noise of a centroid at ε = 1, every range 1: sound bounds against no aggregation."""
    known = {(30_162, 2, 300): (0.0945, 0.667), (1_080, 4, 100): (0.275, 0.400)}
    cells = []
    for (rows, columns, k), (hilbert, corners) in known.items():
        groups, row = rows // k, f"{rows:,} rows, {columns} columns, k = {k}"
        ours = float(chain.hilbert(columns, groups)) / k
        other = float(chain.separate(columns, groups)) / k
        cells += [
            claimed(
                row,
                "Hilbert order",
                f"at most {hilbert:g}",
                ours,
                holds=0.9 < ours / hilbert < 1.01,
            ),
            claimed(
                row,
                "an order for each group",
                f"{corners:g}",
                other,
                holds=abs(other / corners - 1) < 0.01,
            ),
            beside(row, "no aggregation", float(columns)),
        ]
    return cells


# -- methods that keep their promise ---------------------------------------------------------------


def schema() -> dict[str, object]:
    head = {"name": "census", "unit": "record", "neighbours": "replace"}
    columns = {name: {"type": "number", "bounds": [0, BOUNDS[name]]} for name in FOUR}
    return {"table": head, "columns": columns}


def private(columns: Columns, way: str, epsilon: str, runs: int) -> list[Table]:
    """Tables drawn by a sound method at this ε; the bounds are declared, not read."""
    plan = plan_release(schema(), n=len(columns.values), epsilon=epsilon, by=way)
    tops = [BOUNDS[name] for name in FOUR]
    places = np.clip(columns.values, 0, tops).astype(np.int64)
    source = seeded(f"sound {way} {epsilon}")
    return [np.asarray(plan.way.draw(places, source), float) for _ in range(runs)]


def methods(data: Data) -> list[Cell]:
    columns = four(data)
    cells = []
    for epsilon in ("0.1", "1.0", "10.0"):
        sliced = {"printed, k = 30": _sliced(columns, _printed(columns, epsilon))}
        sliced |= {
            name: _sliced(columns, private(columns, way, epsilon, 3)) for name, way in WAYS.items()
        }
        for name, found in sliced.items():
            remark = "No guarantee." if name.startswith("printed") else ""
            cells.append(beside(f"ε = {epsilon}", name, found, remark=remark))
    best = min(_sliced(columns, private(columns, way, "1.0", 3)) for way in ("tree", "two-stage"))
    chained = _sliced(columns, private(columns, "microaggregation", "1.0", 3))
    cells.append(
        claimed(
            "ε = 1.0", "best / chain", "trees do better still", best / chained, holds=best < chained
        )
    )
    return cells


def _printed(columns: Columns, epsilon: str) -> list[Table]:
    return [run.values for run in printed_runs(columns, 30, epsilon, 3)]


def _sliced(columns: Columns, tables: list[Table]) -> float:
    declared, original = Schema.from_dict(schema()), columns.arrow()
    found = [likeness(original, columns.replaced(one).arrow(), declared) for one in tables]
    return float(np.mean([one.sliced or 0.0 for one in found]))


def means(data: Data) -> list[Cell]:
    """Table 6.5 for the sound methods, at ε = 1."""
    columns = four(data)
    cells = []
    for name, way in WAYS.items():
        tables = private(columns, way, "1.0", 5)
        for statistic in ("mean", "variance"):
            for place, column in enumerate(FOUR):
                found = moved(columns.values, tables, statistic, place)[0]
                cells.append(beside(f"{statistic} of {column}", name, found))
    return cells


NOTE = (
    "Distance: sliced Wasserstein between the original and a drawn table, every column over the "
    "width of its declared domain, mean of three tables; 0 is best. Rows of a drawn table are "
    "nobody's, so squared errors row by row do not exist."
)
EXHIBITS = (
    beyond(
        "6.sound",
        "Census by methods that keep their ε",
        "beside Tables 6.1 to 6.4",
        methods,
        needs=(CENSUS,),
        seconds=20,
        note=NOTE,
    ),
    beyond(
        "6.moments",
        "Means and variances by methods that keep their ε",
        "beside Table 6.5",
        means,
        needs=(CENSUS,),
        seconds=12,
        note="Relative change, mean of five tables, ε = 1.",
    ),
    beyond("6.scales", "How much noise a sound bound needs", "beside section 6.3", scales),
)
ERRATA = (
    erratum(
        "err.loss", "The printed noise costs many times its ε", "Proposition 8, section 6.3", loss
    ),
)
