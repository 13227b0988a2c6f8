"""The groups of a table that is read into this process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..schema import Column, Table
from .code import Codes
from .group.count import Groups, counted, grouped
from .group.diversity import distinct_values, holdings, needed_values
from .group.spelling import Shown, meant, shown
from .klt import ConfidentialColumn, Feeder, Part, Sizes
from .rows import Rows
from .value import Values, typed

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Asked:
    """What is asked of a table.

    known: the quasi-identifiers.
    wanted: the confidential columns.
    person: the column that names a person, if one does.
    schema: what is declared.
    """

    known: tuple[str, ...]
    wanted: tuple[str, ...]
    person: str | None
    schema: Table | None

    def column(self, name: str) -> Column | None:
        """What is declared of a column."""
        return None if self.schema is None else self.schema.columns.get(name)

    @property
    def used(self) -> list[str]:
        """Every column that is looked at, once."""
        return list(dict.fromkeys([*self.known, *self.wanted, *filter(None, [self.person])]))


class Stored(Feeder, Protocol):
    """A feeder of a table with columns of its own, of which more is said than of their groups."""

    @property
    def respelled(self) -> list[str]:
        """The quasi-identifiers of which some value is written in more than one way."""
        ...

    @property
    def renamed(self) -> bool:
        """Whether some name of a person seems to be."""
        ...

    @property
    def columns(self) -> list[Values]:
        """The confidential columns, by which their kinds are known."""
        ...


class Loaded:
    """The groups of rows that are read into this process; refused if there is no row.

    persons: whose each row is, where no column says so.
    """

    def __init__(self, rows: Rows, asked: Asked, persons: Codes | None = None) -> None:
        self._asked, self._written, self._given = asked, rows.written, persons
        self._read = rows.read(asked.used)

    def sizes(self) -> Sizes:
        groups, persons = self._groups, self._persons
        units = groups.sizes if persons is None else groups.units(persons)
        return Sizes(units, groups.sizes, np.ones(groups.count, np.int64))

    def confidential(self) -> Iterator[ConfidentialColumn]:
        for secret in self.columns:
            meaning = meant(secret, self._asked.column(secret.name), written=self._written)
            parts = partial(self._parts, meaning.codes)
            yield ConfidentialColumn(secret.name, secret.kind != "category", parts, meaning.merged)

    @cached_property
    def columns(self) -> list[Values]:
        return [self._values(name, guess=True) for name in self._asked.wanted]

    @property
    def respelled(self) -> list[str]:
        return [name for name, column in self._seen.items() if column.respelled]

    @property
    def renamed(self) -> bool:
        person = self._asked.person
        return person is not None and self._shown(person).respelled

    def _values(self, name: str, *, guess: bool) -> Values:
        column, declared = self._read[name], self._asked.column(name)
        return typed(name, column, declared, written=self._written, guess=guess)

    def _shown(self, name: str) -> Shown:
        column: pyarrow.ChunkedArray = self._read[name]
        return shown(name, column, self._asked.column(name))

    @cached_property
    def _seen(self) -> dict[str, Shown]:
        return {name: self._shown(name) for name in self._asked.known}

    @cached_property
    def _groups(self) -> Groups:
        rows = len(next(iter(self._read.values())))
        return grouped([column.codes for column in self._seen.values()], rows)

    @cached_property
    def _persons(self) -> Codes | None:
        person = self._asked.person
        return self._given if person is None else self._values(person, guess=False).coded()

    def _parts(self, codes: Codes) -> Iterator[Part]:
        """All groups at once."""
        groups, persons = self._groups, self._persons
        if persons is None:
            counts = counted(groups, codes)
            yield Part(counts, distinct_values(counts), groups.sizes)
            return
        held = holdings(groups, codes, persons)
        counts = counted(held.groups, held.values)
        yield Part(counts, needed_values(held), groups.sizes)
