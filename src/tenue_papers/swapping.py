"""Probabilistic k-anonymity by swapping (thesis, chapter 3).

Tenue publishes differently: it shuffles records first, and never splits equal values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np

from tenue.evaluate import PublishedColumn, correlation_difference, rematched
from tenue.noise import Seeded
from tenue.publish import Partition, individual_ranking, mdav, permuted

from .cell import (
    Cell,
    Spread,
    amended,
    beside,
    claimed,
    mean_of_runs,
    met,
    refuted,
    rounds_to,
    seeded,
    unmet,
)
from .data import CENSUS, EIA, Columns, Data, Printed, Table, printed
from .exhibit import erratum, table


def centred(values: Table, groups: Partition) -> Table:
    """Every record replaced by the mean of its group."""
    means = np.array([values[group].mean(axis=0) for group in groups.groups()])
    return np.asarray(means[groups.labels])


def mdav_id(values: Table, k: int) -> Table:
    return centred(values, mdav(values, k))


def mdav_swap(values: Table, confidential: Sequence[int], k: int, source: Seeded) -> Table:
    """Against informed intruders: column after column, grouped by the others as swapped so far."""
    now = values.copy()
    for j in confidential:
        groups = mdav(np.delete(now, j, axis=1), k)
        now[:, j] = now[permuted(groups.labels, source), j]
    return now


def ir_swap(values: Table, confidential: Sequence[int], k: int, source: Seeded) -> Table:
    """Each column by itself, among records of similar values."""
    now = values.copy()
    for j in confidential:
        groups = individual_ranking(values[:, j], k)
        now[:, j] = values[permuted(groups.labels, source), j]
    return now


SWAPS = {"MDAV-SWAP": mdav_swap, "IR-SWAP": ir_swap}


def correlations(columns: Columns, values: Table) -> Table:
    """The correlations of all pairs of columns with these values."""
    moved = correlation_difference(columns.arrow(), columns.replaced(values).arrow())
    places = {name: i for i, name in enumerate(columns.names)}
    matrix = np.eye(len(places))
    for (a, b), (_, after) in moved.pairs.items():
        matrix[places[a], places[b]] = matrix[places[b], places[a]] = after
    return matrix


def change(original: Columns, masked: Table, unchanged: int = 0) -> tuple[float, float]:
    """Mean and deviation of how far correlations moved; pairs of the first columns count as 0."""
    moved = correlation_difference(original.arrow(), original.replaced(masked).arrow())
    if not unchanged:
        return moved.mean, moved.sd
    first = set(original.names[:unchanged])
    distances = [
        0.0 if first.issuperset(pair) else abs(before - after)
        for pair, (before, after) in moved.pairs.items()
    ]
    return float(np.mean(distances)), float(np.std(distances))


# -- Tables 3.6 to 3.11: what three methods do to the correlations of Census and EIA ---------------

SIZES = (5, 7, 9, 11, 25, 50, 100, 200, 300)
CONFIDENTIAL = range(6, 13)
ZERO_LOST = "A misprint: .70 for .070."
DETAIL = "The text leaves details of MDAV open, and with this reading a few cells differ."
MISPRINT = (
    "Farther from the mean of many runs than chance explains: a misprint, or another reading."
)
MEASURED = 60
"""The deviations of Tables 3.10 and 3.11 come from so many runs of ours."""
RIGHT_RUNS = 10
"""The number of runs behind their right values was not recorded: they are as near to the means of
those sixty as averages of thirty runs would be, and count as ten."""
SELECTION = "Which attributes of EIA were quasi-identifiers is not stated."


def _each(
    name: str, values: Table, judge: Callable[[str, str, Printed, float], Cell]
) -> Iterator[Cell]:
    """A cell for every printed pair of columns, such as "A9 A12"."""
    for pair, cell in printed("swapping", name).items():
        row, column = pair.split()
        ours = float(values[int(row[1:]) - 1, int(column[1:]) - 1])
        yield judge(row, column, cell, ours)


def fixed(row: str, column: str, cell: Printed, ours: float, because: str = DETAIL) -> Cell:
    """A cell that depends on no draw."""
    right = cell.right
    if rounds_to(ours if right is None else right, cell.text):
        return met(row, column, cell.text, ours, right=right)
    if right is not None and because == ZERO_LOST:
        return amended(row, column, cell.text, ours, right=right, because=because)
    return unmet(row, column, cell.text, ours, right=right, because=because)


def original(data: Data) -> Iterator[Cell]:
    found = correlations(data.census, data.census.values)
    return _each("3.6", found, partial(fixed, because=ZERO_LOST))


def microaggregated(data: Data) -> Iterator[Cell]:
    return _each("3.7", correlations(data.census, mdav_id(data.census.values, 12)), fixed)


def swapped(
    name: str, swap: Callable[..., Table], runs: int, theirs: int
) -> Callable[[Data], Iterator[Cell]]:
    def cells(data: Data) -> Iterator[Cell]:
        source = seeded(f"table {name}")
        census = data.census
        tables = [
            correlations(census, swap(census.values, CONFIDENTIAL, 12, source)) for _ in range(runs)
        ]

        def judge(row: str, column: str, cell: Printed, ours: float) -> Cell:
            spread = Spread(cell.deviation or 0.0, theirs - 1)
            counts = {"runs": runs, "others": theirs, "print_runs": 1}
            return mean_of_runs(row, column, cell, ours, spread, MISPRINT, **counts)

        return _each(name, np.mean(tables, axis=0), judge)

    return cells


# -- tables 3.10 and 3.11 --------------------------------------------------------------------------

PARTS = ("mean", "st.dev.")


def fixed_changes(name: str, columns: Columns, known: int) -> Iterator[Cell]:
    for k in SIZES:
        moved = change(columns, mdav_id(columns.values, k), known)
        for ours, part in zip(moved, PARTS, strict=True):
            cell = printed("swapping", name)[f"{k} MDAV-ID {part}"]
            yield fixed(f"k = {k}", f"MDAV-ID {part}", cell, ours)


def random_changes(
    name: str, columns: Columns, first: int, runs: int, because: str
) -> Iterator[Cell]:
    chosen = range(first, len(columns.names))
    counts = {"runs": runs, "others": RIGHT_RUNS, "print_runs": 1}
    for (method, swap), k in product(SWAPS.items(), SIZES):
        source = seeded(f"{name} {method} {k}")
        moved = [change(columns, swap(columns.values, chosen, k, source)) for _ in range(runs)]
        for values, part in zip(np.array(moved).T, PARTS, strict=True):
            cell, ours = printed("swapping", name)[f"{k} {method} {part}"], float(values.mean())
            row, column = f"k = {k}", f"{method} {part}"
            spread = Spread(cell.deviation or 0.0, MEASURED - 1)
            yield mean_of_runs(row, column, cell, ours, spread, because, **counts)


def census_changes(data: Data) -> Iterator[Cell]:
    columns = data.census
    yield from fixed_changes("3.10", columns, 6)
    yield from random_changes(
        "3.10", columns, 6, 12, "The print is of other runs, or another MDAV."
    )
    yield _order(columns)


def eia_changes(data: Data) -> Iterator[Cell]:
    columns = data.eia
    yield from fixed_changes("3.11", columns, 4)
    yield from random_changes("3.11", columns, 1, 8, SELECTION)


def _order(columns: Columns) -> Cell:
    """IR-SWAP moves correlations less than a tenth as far as MDAV-SWAP, and averages farthest."""
    source = seeded("order")
    ours = change(columns, ir_swap(columns.values, CONFIDENTIAL, 25, source))[0]
    other = change(columns, mdav_swap(columns.values, CONFIDENTIAL, 25, source))[0]
    averages = change(columns, mdav_id(columns.values, 25), 6)[0]
    better = ours < other / 10 and other < averages
    return claimed("k = 25", "IR-SWAP / MDAV-SWAP", "far better", ours / other, holds=better)


on_census = partial(table, needs=(CENSUS,))
TABLES = (
    on_census("3.6", "Correlations of Census", original),
    on_census("3.7", "After microaggregation (MDAV-ID), k = 12", microaggregated, seconds=1),
    on_census("3.8", "After MDAV-SWAP, k = 12", swapped("3.8", mdav_swap, 25, 60), seconds=3),
    on_census("3.9", "After IR-SWAP, k = 12", swapped("3.9", ir_swap, 40, 200), seconds=2),
    on_census("3.10", "How far correlations move, Census", census_changes, seconds=12),
    table("3.11", "How far correlations move, EIA", eia_changes, needs=(EIA,), seconds=40),
)


# -- What swapping does not promise ----------------------------------------------------------------


def several_columns(_: Data) -> Iterator[Cell]:
    """Four records, k = 2: the groups of two columns together single out every record."""
    records = np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0], [4.0, 4.0]])
    labels = [individual_ranking(records[:, j], 2).labels for j in (0, 1)]
    share = len(np.unique(np.stack(labels), axis=1).T) / 4
    row, column = "(1, 1), (2, 3), (3, 2), (4, 4)", "linked by an intruder who knows the records"
    yield refuted(
        *(row, column, "at most 1/2", share),
        fails=share == 1.0,
        because="Each column by itself hides a value among two. The groups of both columns "
        "together are different for every record.",
    )


def reassigned(data: Data) -> Iterator[Cell]:
    """TAXINC swapped among similar values, and reassigned by its relation to the other columns."""
    census, place = data.census.values, 6
    for k in (5, 10):
        row, labels = f"TAXINC, k = {k}", individual_ranking(census[:, place], k).labels
        shown = census[permuted(labels, seeded(f"put back {k}")), place]
        columns = {
            str(i): PublishedColumn(census[:, i], census[:, i]) for i in range(13) if i != place
        }
        swapped = PublishedColumn(census[:, place], shown, labels)
        found = rematched({**columns, "TAXINC": swapped})["TAXINC"]
        yield refuted(
            *(row, "records reassigned correctly", f"1/{k}", found.records),
            fails=found.records > 1.5 / k,
            because="Columns are related, and the relation is still in the release: "
            "an intruder who uses it finds far more than one in k.",
        )
        yield beside(row, "by random guessing", found.records_blind)


ERRATA = (
    erratum(
        *("err.columns", "One in k for each column is not one in k", several_columns),
        source="section 3.3",
    ),
    erratum(
        *("err.rematch", "Swapped values can be reassigned", reassigned),
        source="section 3.3",
        needs=(CENSUS,),
        seconds=1,
    ),
)
