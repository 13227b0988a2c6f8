"""Tables 6.1, 6.2 and 6.5 on Census, cell by cell: Algorithm 6.2 as printed, WITHOUT a guarantee.

Nothing here is differentially private at the ε it names. One changed record can move every
centroid; the printed scale pays for one of them, and once for all attributes together. It is built
here from public parts to reproduce the printed tables, and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tenue.evaluate import Score, distributions, record_linkage, sse
from tenue.noise import Laplace
from tenue.publish import mdav

from .cell import (
    PRINT_SHARE,
    SHARE,
    Cell,
    Spread,
    Verdict,
    alike,
    beside,
    drawn,
    half_digit,
    mean_of_runs,
    met,
    pooled,
    refuted,
    seeded,
)
from .data import CENSUS, Columns, Data, Printed, Table, printed
from .exhibit import erratum, table

Labels = NDArray[np.int64]
FOUR = ("FEDTAX", "POTHVAL", "INTVAL", "FICA")
RUNS = 10
"""The thesis averages over ten runs."""
COLUMNS = {"SSE_f": "SSE_0; SSE_f", "RL_f": "RL_0 (%); RL_f", "Score": "Score"}
"""The columns; every few rows begin with the baseline of the others."""


class Run(NamedTuple):
    """One masked table, its squared error, and its record linkage in percent."""

    sse: float
    linkage: float
    values: Table


def four(data: Data) -> Columns:
    """The four attributes of Census that chapter 6 masks."""
    return data.census.only(FOUR)


def tops(columns: Columns) -> Table:
    """The upper ends of the domains, 1.5 times the maxima of the data: itself a leak."""
    return np.asarray(1.5 * columns.values.max(axis=0))


def centred(values: Table, labels: Labels) -> Table:
    sums = np.array([np.bincount(labels, column) for column in values.T]).T
    return np.asarray((sums / np.bincount(labels)[:, None])[labels])


def by_mdav(columns: Columns, k: int) -> Table:
    scale = tops(columns).tolist()
    return centred(columns.values, mdav(columns.values, k, scale=scale).labels)


def by_corners(columns: Columns, k: int) -> Table:
    """Algorithm 6.1 around the corners of the data's box: 0000, 1111, 0001, 1110, …, 0111, 1000.

    `tn.microdata.reference_points` takes corners in the order that the text describes; the printed
    numbers come out with this one.
    """
    values, top = columns.values, columns.values.max(axis=0)
    bits = np.array([[int(bit) for bit in f"{i:04b}"] for i in range(16)])
    order = [corner for i in range(8) for corner in (bits[i], bits[15 - i])]
    placed, live = values / top, np.arange(len(values))
    labels = np.empty(live.size, np.int64)
    group = 0
    while live.size >= 2 * k:
        away = ((placed[live] - order[group % 16]) ** 2).sum(axis=1)
        nearest = np.argsort(away, kind="stable")[:k]
        labels[live[nearest]] = group
        live = np.delete(live, nearest)
        group += 1
    labels[live] = group
    return centred(values, labels)


def measured(columns: Columns, values: Table) -> Run:
    masked, scale = columns.replaced(values).arrow(), tops(columns).tolist()
    linked = record_linkage(columns.arrow(), masked, scale=scale)
    return Run(sse(columns.arrow(), masked), 100 * linked, values)


def printed_runs(columns: Columns, k: int, epsilon: str, runs: int = RUNS) -> list[Run]:
    """Masked as printed: noise of scale 1.5·max/(kε) on every value of every record."""
    centre = columns.values if k == 1 else by_corners(columns, k)
    top = tops(columns)
    source = seeded(f"chapter 6, k = {k}, ε = {epsilon}")
    law = Laplace(sensitivity=1, epsilon=epsilon)
    tables = []
    for _ in range(runs):
        noise = np.asarray(law.sample(centre.size, source=source)).reshape(centre.shape)
        tables.append(measured(columns, np.clip(centre + noise * top / k, 0, top)))
    return tables


# -- Tables 6.1, 6.2 and 6.5: the printed calibration on Census, cell by cell ----------------------

Cells = dict[str, Printed]
Range = tuple[float, float]
GOLDEN_RUNS = 100
"""The right values are averages over so many runs."""
EPSILONS = ("0.01", "0.1", "1.0", "10.0")
OTHER_RUNS = "Record linkage at this noise is a handful of records: the print is of other runs."
UNSAFE = (
    "A reproduction without a guarantee: at the ε of this table the printed method is not "
    "differentially private. The sound methods are in 6.sound."
)


class Averaged(NamedTuple):
    """The mean of several runs: squared error, its deviation in one run, linkage in percent.

    links: the number of correctly linked records, in all runs together.
    """

    sse: float
    spread: float
    linkage: float
    links: int


def averaged(runs: list[Run]) -> Averaged:
    errors, links = np.array([run.sse for run in runs]), np.array([run.linkage for run in runs])
    total = round(float(links.sum()) * len(runs[0].values) / 100)
    return Averaged(float(errors.mean()), float(errors.std(ddof=1)), float(links.mean()), total)


class Baseline(NamedTuple):
    """A baseline: ours, its right linkage (None if unknown) and the printed one, in percent."""

    ours: Averaged
    right: float | None
    printed: Range
    rows: int

    def links(self, linkage: Range, runs: int) -> Range:
        """The numbers of links in so many runs that amount to these linkages."""
        return linkage[0] * self.rows * runs / 100, linkage[1] * self.rows * runs / 100

    def behind(self, factor: Range) -> Range:
        """The numbers of links in ten runs that round to a printed RL_f."""
        return self.links((self.printed[0] / factor[1], self.printed[1] / factor[0]), RUNS)

    def right_links(self, factor: float | None) -> int | None:
        """The number of links in a hundred runs that gives the right RL_f."""
        if self.right is None or factor is None:
            return None
        return round(self.links((self.right / factor, 0.0), GOLDEN_RUNS)[0])


def _spread(cell: Printed, own: float) -> Spread:
    """The deviation of one run, from our ten and those of the right value.

    That value's is of an average over ten runs, estimated with the number of runs as divisor.
    """
    if cell.deviation is None:
        return pooled((own, RUNS))
    golden = cell.deviation * math.sqrt(RUNS * GOLDEN_RUNS / (GOLDEN_RUNS - 1))
    return pooled((own, RUNS), (golden, GOLDEN_RUNS))


def _mean(row: str, column: str, cell: Printed, ours: float, own: float) -> Cell:
    """A mean of ten runs; `own` is the deviation of one of them."""
    counts = {"runs": RUNS, "others": GOLDEN_RUNS, "print_runs": RUNS}
    return mean_of_runs(row, column, cell, ours, _spread(cell, own), OTHER_RUNS, **counts)


def _fits(links: int, right: int | None) -> bool:
    """Whether chance explains our links of ten runs beside the right ones of a hundred."""
    return right is None or alike(links, RUNS, right, GOLDEN_RUNS) >= SHARE


def _fits_print(links: int, behind: Range) -> bool:
    """The same for the links of the print, which are known from rounded numbers."""
    nearest = min(max(links, math.floor(behind[0])), math.ceil(behind[1]))
    return alike(links, RUNS, nearest, RUNS) >= PRINT_SHARE


def _three(row: str, cells: Cells, key: str, base: Baseline, found: Averaged) -> Iterator[Cell]:
    """SSE_f by its mean, RL_f by the links behind it, and their product by both."""
    sse, link, score = (cells[key.format(name)] for name in ("SSE_f", "RL_f", "Score"))
    ours = Score.of(
        sse=found.sse,
        record_linkage=max(found.linkage, 1e-9),
        baseline_sse=base.ours.sse,
        baseline_record_linkage=base.ours.linkage,
    )
    # a root has half of the relative deviation
    own = math.hypot(found.spread / found.sse, base.ours.spread / base.ours.sse) / 2
    first = _mean(row, COLUMNS["SSE_f"], sse, ours.sse_factor, own * ours.sse_factor)
    reach = _spread(sse, own * ours.sse_factor).between(RUNS, RUNS, PRINT_SHARE)
    low, high = around(score.text)
    factors = {
        "RL_f": around(link.text),
        "Score": (low / (ours.sse_factor + reach), high / (ours.sse_factor - reach)),
    }
    possible = _fits(found.links, base.right_links(link.right))
    yield first
    for name, cell, value in (("RL_f", link, ours.rl_factor), ("Score", score, ours.value)):
        yield drawn(
            *(row, COLUMNS[name], cell.text, value),
            right=cell.right,
            possible=possible and (name == "RL_f" or first.verdict is not Verdict.DIFFERENT),
            same=_fits_print(found.links, base.behind(factors[name])),
            because=OTHER_RUNS,
        )


def around(text: str) -> Range:
    """The numbers that round to this print."""
    return float(text) - half_digit(text), float(text) + half_digit(text)


def against_mdav(data: Data) -> Iterator[Cell]:
    columns, cells = four(data), printed("private_data", "6.1")
    rows = len(columns.values)
    for k in (2, 5, 15, 30):
        fixed, row = measured(columns, by_mdav(columns, k)), f"k = {k}, MDAV"
        error, link = cells[f"k={k} SSE_0"], cells[f"k={k} RL_0"]
        yield met(row, COLUMNS["SSE_f"], error.text, fixed.sse, right=error.right)
        yield met(row, COLUMNS["RL_f"], link.text, fixed.linkage, right=link.right)
        ours = Averaged(fixed.sse, 0.0, fixed.linkage, 0)
        base = Baseline(ours, link.right, (fixed.linkage, fixed.linkage), rows)
        for epsilon in EPSILONS:
            found, row = averaged(printed_runs(columns, k, epsilon)), f"k = {k}, ε = {epsilon}"
            yield from _three(row, cells, f"k={k} {{}} eps={epsilon}", base, found)


def against_plain(data: Data) -> Iterator[Cell]:
    columns, cells = four(data), printed("private_data", "6.2")
    for epsilon in EPSILONS:
        ours, row = averaged(printed_runs(columns, 1, epsilon)), f"ε = {epsilon}, k = 1"
        error, link = cells[f"eps={epsilon} SSE_0"], cells[f"eps={epsilon} RL_0"]
        base = Baseline(ours, link.right, around(link.text), len(columns.values))
        yield _mean(row, COLUMNS["SSE_f"], error, ours.sse, ours.spread)
        yield drawn(
            *(row, COLUMNS["RL_f"], link.text, ours.linkage),
            right=link.right,
            possible=_fits(ours.links, base.right_links(1.0)),
            same=_fits_print(ours.links, base.links(base.printed, RUNS)),
            because=OTHER_RUNS,
        )
        for k in (5, 15, 30):
            found, row = averaged(printed_runs(columns, k, epsilon)), f"ε = {epsilon}, k = {k}"
            yield from _three(row, cells, f"eps={epsilon} {{}} k={k}", base, found)


# -- table 6.5 -------------------------------------------------------------------------------------


def moved(original: Table, masked: list[Table], statistic: str, column: int) -> tuple[float, float]:
    """The relative change of a statistic's average over the runs, and the deviation of one run."""
    of = np.mean if statistic == "mean" else np.var
    before = float(of(original[:, column]))
    after = np.array([float(of(values[:, column])) for values in masked])
    spread = float(after.std(ddof=1)) if len(masked) > 1 else 0.0
    return abs(float(after.mean()) - before) / abs(before), spread / abs(before)


METHODS = (*(f"eps={epsilon}" for epsilon in EPSILONS), "Insensit. MDAV", "MDAV")


def statistics(data: Data) -> Iterator[Cell]:
    columns, cells = four(data), printed("private_data", "6.5")
    for k in (1, 2, 5, 15, 30):
        masked = {method: _masked(columns, k, method) for method in METHODS}
        for statistic, (place, name), method in product(
            ("mean", "variance"), enumerate(FOUR), METHODS
        ):
            row = f"{statistic} of {name}, k = {k}"
            cell = cells[f"{statistic} {name} k={k} | {method}"]
            column = method.replace("eps=", "ε = ").replace("Insensit.", "insensitive")
            if method.startswith("eps="):
                change = moved(columns.values, masked[method], statistic, place)
                yield _mean(row, column, cell, *change)
            else:
                ours = once_moved(columns, masked[method][0], statistic, place)
                kept = ours < 1e-12  # means of groups keep the mean
                right = None if kept else cell.right
                yield met(row, column, cell.text, 0.0 if kept else ours, right=right)


def once_moved(columns: Columns, values: Table, statistic: str, place: int) -> float:
    """The relative change of a table that is not drawn."""
    found = distributions(columns.arrow(), columns.replaced(values).arrow())[place]
    return float((found.mean if statistic == "mean" else found.variance) or 0.0)


def _masked(columns: Columns, k: int, method: str) -> list[Table]:
    if method.startswith("eps="):
        return [run.values for run in printed_runs(columns, k, method[4:])]
    if k == 1:
        return [columns.values]
    return [by_mdav(columns, k) if method == "MDAV" else by_corners(columns, k)]


# -- errata ----------------------------------------------------------------------------------------


def scores(data: Data) -> Iterator[Cell]:
    """The score is printed as a product and defined as a ratio."""
    cells = printed("private_data", "6.1")
    for k, epsilon in ((2, "10.0"), (30, "1.0")):
        name, row = f"k={k} {{}} eps={epsilon}", f"k = {k}, ε = {epsilon}"
        sse, link, score = (float(cells[name.format(n)].text) for n in ("SSE_f", "RL_f", "Score"))
        ours = Score(sse_factor=sse, rl_factor=link).value
        yield refuted(
            *(row, "SSE_f / RL_f", f"{score:g}", sse / link),
            fails=abs(sse / link - score) > 0.1 * score,
            because="The text defines a ratio; every printed row is SSE_f × RL_f.",
        )
        yield beside(row, "SSE_f × RL_f", ours)


on_census = partial(table, needs=(CENSUS,), note=UNSAFE)
EXHIBITS = (
    on_census("6.1", "Census against MDAV", against_mdav, seconds=12),
    on_census("6.2", "Census against plain noise", against_plain, seconds=12),
    on_census("6.5", "Means and variances of Census", statistics, seconds=20),
)
ERRATA = (erratum("err.score", "The score is a product", scores, source="section 6.4.2"),)
