"""Runs exhibits and makes a book of the outcome; on made-up tables if wanted.

Numbers from made-up tables say nothing about the papers, only that everything runs.
"""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenue.noise import Seeded

from .book import save
from .catalogue import chosen
from .data import ADULT, CENSUS, COUNTRY, EIA, EIA_COLUMNS, OCCUPATION, Data
from .outcome import Outcome

CENSUS_COLUMNS = (
    *("AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX", "TAXINC", "POTHVAL"),
    *("INTVAL", "PEARNVAL", "FICA", "WSALVAL", "ERNVAL"),
)
WORK = {
    "work": {
        "office": ["clerk", "manager", "accountant", "programmer"],
        "hands": ["carpenter", "mechanic", "farmer", "driver"],
        "people": ["nurse", "teacher", "guard", "cook", "cleaner", "seller"],
    }
}
PLACES = {"world": {f"region {r}": [f"country {r}{c}" for c in range(1, 9)] for r in "abcde"}}


def write_stand_in(folder: Path) -> None:
    """Writes made-up tables and taxonomies into a folder, the same ones every time."""
    source = Seeded(1080)
    _write(folder / CENSUS, CENSUS_COLUMNS, _census(source, 1080))
    _write(folder / EIA, EIA_COLUMNS, _eia(source, 4092))
    _write(folder / ADULT, ("age", "occupation", "native-country"), _adult(source, 3000))
    for name, tree in ((OCCUPATION, WORK), (COUNTRY, PLACES)):
        (folder / name).write_text(json.dumps(tree), encoding="utf-8")


def _write(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def _uniform(source: Seeded, *shape: int) -> NDArray[np.float64]:
    words = source.words(int(np.prod(shape)), 32)
    return np.asarray((words.astype(np.float64) + 0.5) / 2.0**32).reshape(shape)


def _census(source: Seeded, rows: int) -> Any:
    """One hidden size for each record, and thirteen numbers that correlate with it."""
    size = -np.log(_uniform(source, rows, 1))
    own = -np.log(_uniform(source, rows, len(CENSUS_COLUMNS)))
    share = np.linspace(0.1, 0.9, len(CENSUS_COLUMNS))
    return (20_000 * (share * size + (1 - share) * own)).astype(int).tolist()


def _eia(source: Seeded, rows: int) -> Any:
    month = (12 * _uniform(source, rows, 1)).astype(int) + 1
    size = np.exp(2 * (_uniform(source, rows, 1) + _uniform(source, rows, 1)))
    own = _uniform(source, rows, 10)
    return np.hstack([month, (1000 * size * (0.3 + own)).astype(int)]).tolist()


def _adult(source: Seeded, rows: int) -> list[list[object]]:
    jobs = [job for group in WORK["work"].values() for job in group]
    places = [place for region in PLACES["world"].values() for place in region]
    draws = _uniform(source, rows, 3)
    return [
        [18 + int(60 * a), jobs[int(len(jobs) * j * j)], places[int(len(places) * p**4)]]
        for a, j, p in draws
    ]


# -- Runs exhibits and makes a book of the outcome -------------------------------------------------

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Book(Outcome):
    """The reproduced exhibits, to be read and saved."""

    def save(self, folder: str | os.PathLike[str]) -> list[str]:
        """Writes pages, pictures of the figures, and all numbers as JSON; returns their names."""
        return save(self, Path(folder))


def reproduce(
    only: str | Iterable[str] | None = None,
    *,
    data: str | os.PathLike[str] | None = None,
    stand_in: bool = False,
    progress: Progress | None = None,
) -> Book:
    """The tables and figures of the papers, computed again through the library.

    Guarantee
        A verdict is "equal" or "corrected" only while the library computes the printed or the right
        value; anything else is "different". Random numbers come from fixed seeds: the same book
        every time, except for a few checks that hold for every draw.

    Parameters
        only: names of exhibits ("4.1", "fig4.2") or chapters ("noise"); None for all.
        data: the folder with the reference tables; None for the one that TENUE_DATA names. Exhibits
            whose tables are missing say so.
        stand_in: compute on made-up tables of the same shape instead.
        progress: called when an exhibit begins, with its name, the number done, and the total.

    Example
        >>> book = reproduce("4.1")
        >>> book["4.1"].verdict.value, book.broken
        ('equal', ())
    """
    wanted, shown = chosen(only), []
    with _tables(data, stand_in) as tables:
        for done, exhibit in enumerate(wanted):
            if progress is not None:
                progress(exhibit.id, done, len(wanted))
            shown.append(exhibit.shown(tables))
    return Book(tuple(shown), made_up=stand_in)


@contextmanager
def _tables(folder: str | os.PathLike[str] | None, stand_in: bool) -> Iterator[Data]:
    if not stand_in:
        yield Data(None if folder is None else Path(folder))
        return
    with tempfile.TemporaryDirectory() as name:
        write_stand_in(Path(name))
        yield Data(name, made_up=True)
