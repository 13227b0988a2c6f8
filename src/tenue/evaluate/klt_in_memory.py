"""What feeds the evaluator of k, l and t: rows, or passes that come in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

import numpy as np
import pyarrow as pa

from ..engine.contract import Numbers, Passes
from ..engine.passes.sorted_runs import begins_of, whole_runs
from ..schema import Bounded, Category, Column, Table
from .check_result import Check
from .column_types import Values, typed
from .factorize import Codes
from .klt import ConfidentialColumn, Feeder, Part, Sizes, evaluate
from .one_table.cell_equality import Shown, meant, merged_values, shown, word_codes
from .one_table.count import Counts, Groups, counted, grouped
from .one_table.diversity import distinct_values, holdings, needed_values
from .one_table.identifying_columns import unprotected
from .rows import Rows


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
        column: pa.ChunkedArray = self._read[name]
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


# -- The groups of rows that need not fit into memory, from counts that come in order --------------

Key = Callable[[Numbers], Sequence[Numbers]]


@dataclass(frozen=True, eq=False)
class Secret:
    """A confidential column.

    place: which number of a row is its value: 0 where that is missing, else its place in the
        declared domain, from 1 on.
    """

    column: Column
    place: int

    @property
    def ordered(self) -> bool:
        """Whether values lie on a line."""
        return isinstance(self.column, Bounded)

    def meanings(self) -> Numbers | None:
        """What each number means, for categories that are only written differently."""
        if not isinstance(self.column, Category):
            return None
        words = word_codes(pa.array(self.column.categories), self.column)
        return np.append(0, words + 1)

    def key(self) -> Callable[[Numbers], Numbers]:
        """The meaning of each row's value, 0 where it is missing."""
        place, meanings = self.place, self.meanings()
        if meanings is None:
            return lambda rows: rows[:, place]
        return lambda rows: meanings[rows[:, place]]


def check_in_passes(
    passes: Passes,
    groups: Key,
    quasi_identifiers: Sequence[str],
    confidential: Sequence[Secret],
    loose: Sequence[str] = (),
) -> Check:
    """What `check_groups` finds of the same rows, each of which is a unit.

    Guarantee
        k, l and t are exact and of all rows. What is held grows with the number of groups, by a
        byte for each, and with how many different values a confidential column has.

    Parameters
        passes: the rows as they leave.
        groups: what tells groups apart.
        loose: the columns that nothing protects.
    """
    found = evaluate(_Streamed(passes, groups, confidential))
    notes = (*merged_values(found.merged), *unprotected(loose))
    return found.check(quasi_identifiers, notes=notes)


class _Streamed:
    """The groups of rows that are read in passes."""

    def __init__(self, passes: Passes, groups: Key, confidential: Sequence[Secret]) -> None:
        self._passes, self._groups, self._confidential = passes, groups, confidential

    def sizes(self) -> Sizes:
        seen: dict[int, int] = {}
        for *_, counts in self._passes.tally(self._groups):
            found, many = np.unique(counts, return_counts=True)
            for size, times in zip(found.tolist(), many.tolist(), strict=True):
                seen[size] = seen.get(size, 0) + times
        sizes = np.array(list(seen), np.int64)
        return Sizes(sizes, sizes, np.array(list(seen.values()), np.int64))

    def confidential(self) -> Iterator[ConfidentialColumn]:
        for secret in self._confidential:
            merged = _is_merged(self._passes, secret)
            parts = partial(self._parts, secret)
            yield ConfidentialColumn(secret.column.name, secret.ordered, parts, merged)

    def _parts(self, secret: Secret) -> Iterator[Part]:
        meaning = secret.key()
        values, totals = _totals(self._passes, meaning)
        for keys, codes, times in _of_groups(self._passes, self._groups, meaning):
            counts, sizes = _counts(keys, codes, times, values, totals)
            yield Part(counts, distinct_values(counts), sizes)


def _totals(passes: Passes, meaning: Callable[[Numbers], Numbers]) -> tuple[Numbers, Numbers]:
    """The different values of a column, and how many rows of the table have each."""
    parts = [*passes.tally(lambda rows: [meaning(rows)])]
    values, totals = (np.concatenate(column) for column in zip(*parts, strict=True))
    return values[values > 0], totals[values > 0]


def _of_groups(
    passes: Passes, groups: Key, meaning: Callable[[Numbers], Numbers]
) -> Iterator[tuple[list[Numbers], Numbers, Numbers]]:
    """What tells groups apart, a value in them and how many rows have it; whole groups."""
    keys = len(groups(passes.take(np.zeros(0, np.int64))))
    tallied = passes.tally(lambda rows: [*groups(rows), meaning(rows)])
    for *found, codes, times in whole_runs(tallied, keys):
        yield found, codes, times


def _counts(
    keys: Sequence[Numbers], codes: Numbers, times: Numbers, values: Numbers, totals: Numbers
) -> tuple[Counts, Numbers]:
    """The counts of these groups, and how many rows each has, with missing values or without."""
    begins = begins_of(keys)
    label = np.zeros(codes.size, np.int64)
    label[begins[1:]] = 1
    label = np.cumsum(label)
    rows = np.add.reduceat(times, begins)
    present = codes > 0
    inside = np.zeros(begins.size, np.int64)
    np.add.at(inside, label[present], times[present])
    where = np.searchsorted(values, codes[present])
    return Counts(label[present], where, times[present], inside, totals), rows


def _is_merged(passes: Passes, secret: Secret) -> bool:
    """Whether values occur that are written differently and count as one."""
    meanings = secret.meanings()
    if meanings is None:
        return False
    place = secret.place
    codes = np.concatenate([part[0] for part in passes.tally(lambda rows: [rows[:, place]])])
    seen = meanings[codes[codes > 0]]
    return bool(np.unique(seen).size < seen.size)
