"""Tables 3.6 to 3.11: what three methods do to the correlations of Census and EIA."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..cell import Cell, amended, claimed, drawn, met, unmet
from ..chance import Spread, explains, explains_print
from ..data import CENSUS, EIA, Columns, Data, Table
from ..exhibit import table
from ..printed import Printed, printed
from .method import SWAPS, change, correlations, ir_swap, mdav_id, mdav_swap, seeded

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


EXHIBITS = (
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
