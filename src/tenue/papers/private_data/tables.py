"""Tables 6.1, 6.2 and 6.5: the printed calibration on Census, cell by cell."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...evaluate import Score
from ..cell import Cell, beside, drawn, met, refuted
from ..data import CENSUS, Columns, Data, Table
from ..exhibit import erratum, table
from ..printed import Printed, printed
from .calibration import COLUMNS, FOUR, RUNS, Run, by_corners, by_mdav, four, measured, printed_runs

Cells = dict[str, Printed]
EPSILONS = ("0.01", "0.1", "1.0", "10.0")
OTHER_RUNS = "Record linkage at this noise is a handful of records: the print is of other runs."
UNSAFE = (
    "A reproduction without a guarantee: at the ε of this table the printed method is not "
    "differentially private. The sound methods are in 6.sound."
)


class Averaged(NamedTuple):
    """SSE, linkage and score of ten runs against a baseline, each with its deviation."""

    sse: tuple[float, float]
    linkage: tuple[float, float]
    score: tuple[float, float]


def averaged(runs: list[Run], base_sse: float, base_linkage: float) -> Averaged:
    errors, links = np.array([run.sse for run in runs]), np.array([run.linkage for run in runs])
    linkage = max(float(links.mean()), 1e-9)
    found = Score.of(
        sse=float(errors.mean()),
        record_linkage=linkage,
        baseline_sse=base_sse,
        baseline_record_linkage=base_linkage,
    )
    # a mean over n runs has a relative error of deviation / (mean · √n); a root has half of it
    root = math.sqrt(len(runs))
    sse_by = found.sse_factor * float(errors.std(ddof=1) / errors.mean()) / 2 / root
    link_by = found.rl_factor * float(links.std(ddof=1)) / linkage / root
    relative = math.hypot(sse_by / found.sse_factor, link_by / found.rl_factor)
    score_by = found.value * relative
    return Averaged((found.sse_factor, sse_by), (found.rl_factor, link_by), (found.value, score_by))


def _fixed(row: str, column: str, cell: Printed, ours: float) -> Cell:
    """A cell without chance; three digits are printed of it."""
    right = ours if cell.right is None else cell.right
    return met(row, column, cell.text, ours, right=right)


def _drawn(row: str, column: str, cell: Printed, found: tuple[float, float]) -> Cell:
    ours, spread = found
    known = cell.deviation or spread
    return drawn(
        row,
        column,
        cell.text,
        ours,
        right=cell.right,
        ours_by=1.6 * math.hypot(known, spread),
        theirs_by=1.6 * math.hypot(known, spread),
        because=OTHER_RUNS,
    )


def _three(row: str, cells: Cells, key: str, found: Averaged) -> list[Cell]:
    names = (("SSE_f", found.sse), ("RL_f", found.linkage), ("Score", found.score))
    return [_drawn(row, COLUMNS[name], cells[key.format(name)], value) for name, value in names]


def against_mdav(data: Data) -> list[Cell]:
    columns, cells = four(data), printed("private_data", "6.1")
    result = []
    for k in (2, 5, 15, 30):
        base, row = measured(columns, by_mdav(columns, k)), f"k = {k}, MDAV"
        result += [
            _fixed(row, COLUMNS["SSE_f"], cells[f"k={k} SSE_0"], base.sse),
            _fixed(row, COLUMNS["RL_f"], cells[f"k={k} RL_0"], base.linkage),
        ]
        for epsilon in EPSILONS:
            found = averaged(printed_runs(columns, k, epsilon), base.sse, base.linkage)
            row = f"k = {k}, ε = {epsilon}"
            result += _three(row, cells, f"k={k} {{}} eps={epsilon}", found)
    return result


def against_plain(data: Data) -> list[Cell]:
    columns, cells = four(data), printed("private_data", "6.2")
    result = []
    for epsilon in EPSILONS:
        runs = printed_runs(columns, 1, epsilon)
        errors, links = np.array([r.sse for r in runs]), np.array([r.linkage for r in runs])
        base = float(errors.mean()), float(links.mean())
        for name, values in (("SSE", errors), ("RL", links)):
            spread = float(values.std(ddof=1)) / math.sqrt(RUNS)
            row, cell = f"ε = {epsilon}, k = 1", cells[f"eps={epsilon} {name}_0"]
            found = float(values.mean()), spread
            result.append(_drawn(row, COLUMNS[f"{name}_f"], cell, found))
        by = float(links.std(ddof=1)) / max(base[1], 1e-9) / math.sqrt(RUNS)
        for k in (5, 15, 30):
            grouped = _with_baseline(averaged(printed_runs(columns, k, epsilon), *base), by)
            row = f"ε = {epsilon}, k = {k}"
            result += _three(row, cells, f"eps={epsilon} {{}} k={k}", grouped)
    return result


def _with_baseline(found: Averaged, relative: float) -> Averaged:
    """The baseline is random too."""
    link, link_by = found.linkage
    score, score_by = found.score
    return Averaged(
        found.sse,
        (link, math.hypot(link_by, link * relative)),
        (score, math.hypot(score_by, score * relative)),
    )


# -- table 6.5 -------------------------------------------------------------------------------------


def moved(original: Table, masked: list[Table], statistic: str, column: int) -> tuple[float, float]:
    """The relative change of a statistic's average over the runs, and its deviation."""
    of = np.mean if statistic == "mean" else np.var
    before = float(of(original[:, column]))
    after = np.array([float(of(values[:, column])) for values in masked])
    spread = float(after.std(ddof=1)) / math.sqrt(len(masked)) if len(masked) > 1 else 0.0
    return abs(float(after.mean()) - before) / abs(before), spread / abs(before)


METHODS = (*(f"eps={epsilon}" for epsilon in EPSILONS), "Insensit. MDAV", "MDAV")


def statistics(data: Data) -> list[Cell]:
    columns, cells = four(data), printed("private_data", "6.5")
    result = []
    for k in (1, 2, 5, 15, 30):
        masked = {method: _masked(columns, k, method) for method in METHODS}
        for statistic in ("mean", "variance"):
            for place, name in enumerate(FOUR):
                row = f"{statistic} of {name}, k = {k}"
                for method in METHODS:
                    cell = cells[f"{statistic} {name} k={k} | {method}"]
                    found = moved(columns.values, masked[method], statistic, place)
                    result.append(_statistic(row, method, cell, found))
    return result


def _masked(columns: Columns, k: int, method: str) -> list[Table]:
    if method.startswith("eps="):
        return [run.values for run in printed_runs(columns, k, method[4:])]
    if k == 1:
        return [columns.values]
    return [by_mdav(columns, k) if method == "MDAV" else by_corners(columns, k)]


def _statistic(row: str, method: str, cell: Printed, found: tuple[float, float]) -> Cell:
    column = method.replace("eps=", "ε = ").replace("Insensit.", "insensitive")
    ours, spread = found
    if method.startswith("eps="):
        return _drawn(row, column, cell, (ours, max(spread, cell.deviation or 0.0)))
    if ours < 1e-12:  # means of groups keep the mean
        return met(row, column, cell.text, 0.0)
    return met(row, column, cell.text, ours, right=cell.right)


# -- errata ----------------------------------------------------------------------------------------


def product(data: Data) -> list[Cell]:
    """The score is printed as a product and written as a ratio."""
    cells = printed("private_data", "6.1")
    found = []
    for k, epsilon in ((2, "10.0"), (30, "1.0")):
        name, row = f"k={k} {{}} eps={epsilon}", f"k = {k}, ε = {epsilon}"
        sse, link, score = (float(cells[name.format(n)].text) for n in ("SSE_f", "RL_f", "Score"))
        ours = Score(sse_factor=sse, rl_factor=link).value
        found += [
            refuted(
                row,
                "SSE_f / RL_f",
                f"{score:g}",
                sse / link,
                fails=abs(sse / link - score) > 0.1 * score,
                because="The text defines a ratio; every printed row is SSE_f × RL_f.",
            ),
            beside(row, "SSE_f × RL_f", ours),
        ]
    return found


EXHIBITS = (
    table(
        "6.1",
        "Census against MDAV",
        "Table 6.1",
        against_mdav,
        needs=(CENSUS,),
        seconds=12,
        note=UNSAFE,
    ),
    table(
        "6.2",
        "Census against plain noise",
        "Table 6.2",
        against_plain,
        needs=(CENSUS,),
        seconds=12,
        note=UNSAFE,
    ),
    table(
        "6.5",
        "Means and variances of Census",
        "Table 6.5",
        statistics,
        needs=(CENSUS,),
        seconds=20,
        note=UNSAFE,
    ),
)
ERRATA = (erratum("err.score", "The score is a product", "section 6.4.2", product),)
