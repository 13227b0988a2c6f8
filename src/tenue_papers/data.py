"""The tables from which the papers were computed, and the larger printed ones."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tenue.errors import refuse

FOLDER = "TENUE_DATA"
"""The environment variable that names the folder, where `--data` does not."""
CENSUS, EIA, ADULT = "census.csv", "eia.csv", "adult.csv"
OCCUPATION = "adult_occupation_taxonomy.json"
COUNTRY = "adult_native_country_taxonomy.json"
FILES = (CENSUS, EIA, ADULT, OCCUPATION, COUNTRY)
EIA_COLUMNS = (
    *("MONTH", "RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES"),
    *("OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES"),
)

Table = npt.NDArray[np.float64]


class Data:
    """A folder of reference tables; without one, every table is missing.

    Parameters
        folder: None means the folder that TENUE_DATA names, if any.
        made_up: whether the tables are a stand-in.
    """

    def __init__(self, folder: str | Path | None = None, *, made_up: bool = False) -> None:
        path = os.environ.get(FOLDER) if folder is None else folder
        self.folder = Path(path) if path else None
        self.made_up = made_up
        self._kept: dict[str, Any] = {}
        if self.folder is not None and not self.folder.is_dir():
            raise refuse("papers.papers-folder-missing", folder=self.folder)

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """What `make` returns, computed once for each name."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def lacking(self, needs: Iterable[str]) -> tuple[str, ...]:
        """The missing ones of these files."""
        return tuple(
            name for name in needs if self.folder is None or not (self.folder / name).is_file()
        )

    def path(self, name: str) -> Path:
        return (self.folder or Path()) / name

    def rows(self, name: str) -> list[dict[str, str]]:
        with self.path(name).open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    @cached_property
    def census(self) -> Columns:
        """1,080 records with 13 attributes, A1 to A13 of the thesis."""
        return self._numbers(CENSUS, None)

    @cached_property
    def eia(self) -> Columns:
        """4,092 records: the month and ten columns of revenue and sales."""
        return self._numbers(EIA, EIA_COLUMNS)

    @cached_property
    def adult(self) -> tuple[list[str], list[str]]:
        """Occupation and country of the rows without a missing value."""
        rows = [row for row in self.rows(ADULT) if "?" not in row.values()]
        return [row["occupation"] for row in rows], [row["native-country"] for row in rows]

    def _numbers(self, name: str, columns: Sequence[str] | None) -> Columns:
        rows = self.rows(name)
        try:
            names = tuple(columns or rows[0])
            values = np.array([[float(row[column]) for column in names] for row in rows])
        except (KeyError, ValueError, IndexError, TypeError):
            raise refuse("papers.not-the-papers-table", file=name) from None
        return Columns(names, values)


class Columns:
    """A table of numbers with named columns."""

    def __init__(self, names: Sequence[str], values: Table) -> None:
        self.names, self.values = tuple(names), values

    def only(self, names: Sequence[str]) -> Columns:
        places = [self.names.index(name) for name in names]
        return Columns(names, np.ascontiguousarray(self.values[:, places]))

    def replaced(self, values: Table) -> Columns:
        return Columns(self.names, values)

    def arrow(self) -> Any:
        return arrow(dict(zip(self.names, self.values.T, strict=True)))


def arrow(columns: Mapping[str, Any]) -> Any:
    """An Arrow table; imports PyArrow only now."""
    import pyarrow

    return pyarrow.table(columns)


# The larger printed tables, JSON files beside the chapters that compute them.

_HERE = Path(__file__).parent


class Printed(NamedTuple):
    """A printed number, the right one if it is known, and the standard deviation of its draws."""

    text: str
    right: float | None = None
    deviation: float | None = None


@cache
def printed(chapter: str, table: str) -> dict[str, Printed]:
    """The cells of a table, by the name of their row and column."""
    tables = json.loads((_HERE / f"{chapter}.json").read_text(encoding="utf-8"))
    return {name: Printed(*cell) for name, cell in tables[table].items()}
