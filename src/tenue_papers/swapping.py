"""Probabilistic k-anonymity by swapping (thesis, chapter 3).

What Tenue publishes is not this: it shuffles records first, and never cuts between equal values.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

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
    drawn,
    explains,
    explains_print,
    met,
    refuted,
    unmet,
)
from .data import CENSUS, EIA, Columns, Data, Printed, Table, printed
from .exhibit import erratum, table


def seeded(name: str) -> Seeded:
    return Seeded(zlib.crc32(name.encode()))


def centred(values: Table, groups: Partition) -> Table:
    """Every record replaced by the mean of its group."""
    means = np.array([values[group].mean(axis=0) for group in groups.groups()])
    return np.asarray(means[groups.labels])


def mdav_id(values: Table, k: int) -> Table:
    return centred(values, mdav(values, k))


def mdav_swap(values: Table, confidential: Sequence[int], k: int, source: Seeded) -> Table:
    """Against informed intruders: column after column, grouped by the others as they are then."""
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
    """Of all pairs of columns once these values are in them."""
    found = correlation_difference(columns.arrow(), columns.replaced(values).arrow())
    places = {name: i for i, name in enumerate(columns.names)}
    made = np.eye(len(places))
    for (a, b), (_, after) in found.pairs.items():
        made[places[a], places[b]] = made[places[b], places[a]] = after
    return made


def change(original: Columns, masked: Table, unchanged: int = 0) -> tuple[float, float]:
    """Mean and deviation of how far correlations moved; pairs of the first columns count as 0."""
    moved = correlation_difference(original.arrow(), original.replaced(masked).arrow())
    if not unchanged:
        return moved.mean, moved.sd
    first = set(original.names[:unchanged])
    apart = np.array(
        [
            0.0 if {a, b} <= first else abs(before - after)
            for (a, b), (before, after) in moved.pairs.items()
        ]
    )
    return float(apart.mean()), float(apart.std())


# -- Tables 3.6 to 3.11: what three methods do to the correlations of Census and EIA ---------------

SIZES = (5, 7, 9, 11, 25, 50, 100, 200, 300)
CONFIDENTIAL = range(6, 13)
ZERO_LOST = "A misprint: .70 for .070."
DETAIL = "The text leaves details of MDAV open, and with this reading a few cells differ."
MISPRINT = (
    "Farther from the mean of many runs than chance explains: a misprint, or another reading."
)
MEASURED = 60
"""From so many runs of ours are the deviations of Tables 3.10 and 3.11."""
RIGHT_RUNS = 10
"""Over how many runs their right values were averaged was not written down: they are as near to
the means of those sixty as if it were thirty, and count as ten."""
SELECTION = "Which attributes of EIA were quasi-identifiers is not stated."


def _place(name: str) -> tuple[int, int]:
    row, column = (int(part[1:]) - 1 for part in name.split())
    return row, column


def _each(name: str, found: Table, judge: Callable[[str, str, Printed, float], Cell]) -> list[Cell]:
    cells = []
    for pair, cell in printed("swapping", name).items():
        i, j = _place(pair)
        row, column = pair.split()
        cells.append(judge(row, column, cell, float(found[i, j])))
    return cells


def fixed(row: str, column: str, cell: Printed, ours: float, because: str) -> Cell:
    """A cell that depends on no draw."""
    right = 0.0 if cell.right is None else cell.right
    if abs(right - float(cell.text)) <= 0.5 * 10.0 ** -_digits(cell.text) * (1 + 1e-9):
        return met(row, column, cell.text, ours, right=repr(right))
    if because == ZERO_LOST:
        return amended(row, column, cell.text, ours, right=right, because=because)
    return unmet(row, column, cell.text, ours, right=right, because=because)


def _digits(text: str) -> int:
    return len(text.partition(".")[2])


def original(data: Data) -> list[Cell]:
    found = correlations(data.census, data.census.values)
    return _each("3.6", found, lambda r, c, cell, ours: fixed(r, c, cell, ours, ZERO_LOST))


def microaggregated(data: Data) -> list[Cell]:
    found = correlations(data.census, mdav_id(data.census.values, 12))
    return _each("3.7", found, lambda r, c, cell, ours: fixed(r, c, cell, ours, DETAIL))


def swapped(
    name: str, swap: Callable[..., Table], runs: int, theirs: int
) -> Callable[[Data], list[Cell]]:
    def cells(data: Data) -> list[Cell]:
        source = seeded(f"table {name}")
        census = data.census
        seen = [
            correlations(census, swap(census.values, CONFIDENTIAL, 12, source)) for _ in range(runs)
        ]
        mean = np.mean(seen, axis=0)

        def judge(row: str, column: str, cell: Printed, ours: float) -> Cell:
            spread = Spread(cell.deviation or 0.0, theirs - 1)
            return _judged(row, column, cell, ours, spread, runs, theirs, MISPRINT)

        return _each(name, mean, judge)

    return cells


def _judged(
    row: str,
    column: str,
    cell: Printed,
    ours: float,
    spread: Spread,
    runs: int,
    others: int,
    because: str,
) -> Cell:
    """A mean of our runs beside the right one, of `others` runs, and the print, of one run."""
    return drawn(
        row,
        column,
        cell.text,
        ours,
        right=cell.right,
        possible=explains(ours, cell.right, spread, runs, others),
        same=explains_print(ours, cell.text, spread, runs, 1),
        because=because,
    )


# -- tables 3.10 and 3.11 --------------------------------------------------------------------------


def fixed_changes(name: str, columns: Columns, known: int) -> list[Cell]:
    cells = []
    for k in SIZES:
        found = change(columns, mdav_id(columns.values, k), known)
        for ours, part in zip(found, ("mean", "st.dev."), strict=True):
            cell = printed("swapping", name)[f"{k} MDAV-ID {part}"]
            column = f"MDAV-ID {part}"
            if cell.right is None:
                near = abs(ours - float(cell.text)) <= 0.5 * 10.0 ** -_digits(cell.text)
                cells.append(
                    met(f"k = {k}", column, cell.text, ours)
                    if near
                    else unmet(f"k = {k}", column, cell.text, ours, because=DETAIL)
                )
            else:
                cells.append(fixed(f"k = {k}", column, cell, ours, DETAIL))
    return cells


def random_changes(name: str, columns: Columns, first: int, runs: int, because: str) -> list[Cell]:
    cells = []
    chosen = range(first, len(columns.names))
    for method, swap in SWAPS.items():
        for k in SIZES:
            source = seeded(f"{name} {method} {k}")
            seen = np.array(
                [change(columns, swap(columns.values, chosen, k, source)) for _ in range(runs)]
            )
            for values, part in zip(seen.T, ("mean", "st.dev."), strict=True):
                cell, ours = printed("swapping", name)[f"{k} {method} {part}"], float(values.mean())
                spread = Spread(cell.deviation or 0.0, MEASURED - 1)
                row, column = f"k = {k}", f"{method} {part}"
                cells.append(_judged(row, column, cell, ours, spread, runs, RIGHT_RUNS, because))
    return cells


def census_changes(data: Data) -> list[Cell]:
    columns = data.census
    return [
        *fixed_changes("3.10", columns, 6),
        *random_changes("3.10", columns, 6, 12, "The print is of other runs, or another MDAV."),
        _order(columns),
    ]


def eia_changes(data: Data) -> list[Cell]:
    columns = data.eia
    return [*fixed_changes("3.11", columns, 4), *random_changes("3.11", columns, 1, 8, SELECTION)]


def _order(columns: Columns) -> Cell:
    """IR-SWAP loses less than a tenth of what MDAV-SWAP loses, and that less than averages do."""
    source = seeded("order")
    ours = change(columns, ir_swap(columns.values, CONFIDENTIAL, 25, source))[0]
    other = change(columns, mdav_swap(columns.values, CONFIDENTIAL, 25, source))[0]
    centred = change(columns, mdav_id(columns.values, 25), 6)[0]
    return claimed(
        "k = 25",
        "IR-SWAP / MDAV-SWAP",
        "far better",
        ours / other,
        holds=ours < other / 10 and other < centred,
    )


TABLES = (
    table("3.6", "Correlations of Census", "Table 3.6", original, needs=(CENSUS,)),
    table(
        "3.7",
        "After microaggregation (MDAV-ID), k = 12",
        "Table 3.7",
        microaggregated,
        needs=(CENSUS,),
        seconds=1,
    ),
    table(
        "3.8",
        "After MDAV-SWAP, k = 12",
        "Table 3.8",
        swapped("3.8", mdav_swap, 25, 60),
        needs=(CENSUS,),
        seconds=3,
    ),
    table(
        "3.9",
        "After IR-SWAP, k = 12",
        "Table 3.9",
        swapped("3.9", ir_swap, 40, 200),
        needs=(CENSUS,),
        seconds=2,
    ),
    table(
        "3.10",
        "How far correlations move, Census",
        "Table 3.10",
        census_changes,
        needs=(CENSUS,),
        seconds=12,
    ),
    table(
        "3.11",
        "How far correlations move, EIA",
        "Table 3.11",
        eia_changes,
        needs=(EIA,),
        seconds=40,
    ),
)


# -- What swapping does not promise ----------------------------------------------------------------


def several_columns(_: Data) -> list[Cell]:
    """Four records, k = 2: the groups of two columns together single out every record."""
    records = np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0], [4.0, 4.0]])
    labels = [individual_ranking(records[:, j], 2).labels for j in (0, 1)]
    cells = {(int(a), int(b)) for a, b in zip(*labels, strict=True)}
    found = len(cells) / 4
    return [
        refuted(
            "(1, 1), (2, 3), (3, 2), (4, 4)",
            "linked by who knows the records",
            "at most 1/2",
            found,
            fails=found == 1.0,
            because="Each column by itself hides a value among two. The groups of both columns "
            "together are different for every record.",
        )
    ]


def put_back(data: Data) -> list[Cell]:
    """TAXINC swapped among similar values, and put back by what the other columns tell."""
    census, place = data.census.values, 6
    cells = []
    for k in (5, 10):
        labels = individual_ranking(census[:, place], k).labels
        shown = census[permuted(labels, seeded(f"put back {k}")), place]
        columns = {
            str(i): PublishedColumn(census[:, i], census[:, i]) for i in range(13) if i != place
        }
        swapped = PublishedColumn(census[:, place], shown, labels)
        found = rematched({**columns, "TAXINC": swapped})["TAXINC"]
        cells += [
            refuted(
                f"TAXINC, k = {k}",
                "records put back",
                f"1/{k}",
                found.records,
                fails=found.records > 1.5 / k,
                because="Columns are related, and the relation is still in the release: "
                "whoever uses it finds far more than one in k.",
            ),
            beside(f"TAXINC, k = {k}", "blind", found.records_blind),
        ]
    return cells


ERRATA = (
    erratum(
        "err.columns", "One in k for each column is not one in k", "section 3.3", several_columns
    ),
    erratum(
        "err.rematch",
        "Swapped values can be put back",
        "section 3.3",
        put_back,
        needs=(CENSUS,),
        seconds=1,
    ),
)
