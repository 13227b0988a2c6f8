"""Runs exhibits and makes a book of what came out."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..frozen import dataclass
from .book.save import save
from .catalogue import chosen
from .data import Data
from .exhibit import Exhibit, Shown
from .outcome import Outcome
from .stand_in import write_stand_in

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Book(Outcome):
    """What was reproduced, to be read and saved."""

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
        every time, but for a few checks that hold whatever is drawn.

    Parameters
        only: names of exhibits ("4.1", "fig4.2") or chapters ("noise"); None for all.
        data: the folder with the reference tables; None for the one that TENUE_DATA names. Without
            tables, what needs them says so.
        stand_in: compute on made-up tables of the same shape instead.
        progress: is told the name of each exhibit when it begins, how many are done, and of how
            many.

    Example
        >>> book = reproduce("4.1")
        >>> book["4.1"].verdict.value, book.broken
        ('equal', ())
    """
    wanted = chosen(only)
    with _tables(data, stand_in) as tables:
        return Book(tuple(_each(wanted, tables, progress)), made_up=stand_in)


def _each(wanted: list[Exhibit], tables: Data, progress: Progress | None) -> Iterator[Shown]:
    for done, exhibit in enumerate(wanted):
        if progress is not None:
            progress(exhibit.id, done, len(wanted))
        yield exhibit.shown(tables)


@contextmanager
def _tables(folder: str | os.PathLike[str] | None, stand_in: bool) -> Iterator[Data]:
    if not stand_in:
        yield Data(None if folder is None else Path(folder))
        return
    with tempfile.TemporaryDirectory() as made:
        write_stand_in(Path(made))
        yield Data(made, made_up=True)
