"""k, l and t of a table, whose groups a feeder supplies, some whole groups at a time.

The groups come from rows in this process (`Loaded`), from rows that are read in passes
(`check_in_passes`), or from counts that an engine makes where the rows are (`klt_by_counts.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Protocol

import numpy as np
import pyarrow as pa

from ..engine.contract import Numbers, Passes
from ..engine.passes.sorted_runs import begins_of, whole_runs
from ..errors import refuse
from ..schema import Bounded, Category, Column, Table
from .check_result import Check, Confidential
from .column_types import Values, column_of, typed
from .factorize import Codes, Flags, Whole
from .one_table.cell_equality import MERGED, Cells, meant, noted, shown, word_codes
from .one_table.closeness import farthest, gain, ratio
from .one_table.count import Counts, Groups, counted, grouped
from .one_table.diversity import (
    distinct_values,
    holdings,
    largest_share,
    least_effective,
    needed_values,
    recursive_bounds,
)
from .one_table.identifying_columns import unprotected
from .rows import Rows

Key = Callable[[Numbers], Sequence[Numbers]]
RECORD = "record"


@dataclass(frozen=True, eq=False)
class Part:
    """The values of a confidential column in some whole groups.

    counts: the values in these groups, with the totals of the whole table.
    distinct: for each group, a lower bound of how many values it takes so that everybody in it has
        one of them.
    sizes: the number of rows of each group.
    holders: the number of units of each group that have a value; None if each row is a unit.
    """

    counts: Counts
    distinct: Whole
    sizes: Whole
    holders: Whole | None = None

    @property
    def with_value(self) -> Whole:
        """The number of units of each group that have a value."""
        return self.counts.sizes if self.holders is None else self.holders


@dataclass(frozen=True, eq=False)
class ConfidentialColumn:
    """A confidential column of a table.

    ordered: whether values lie on a line.
    parts: walks all groups, in the same order for every column.
    merged: whether some values that are written differently count as one.
    """

    name: str
    ordered: bool
    parts: Callable[[], Iterator[Part]]
    merged: bool = False


@dataclass(frozen=True, eq=False)
class Sizes:
    """The sizes of groups: `times` groups have so many `units` and so many rows (`sizes`)."""

    units: Whole
    sizes: Whole
    times: Whole

    @classmethod
    def of(cls, times: Mapping[tuple[int, int], int]) -> Sizes:
        """The sizes, from the number of groups with each pair of units and rows."""
        pairs = np.array(list(times), np.int64).reshape(-1, 2)
        return cls(pairs[:, 0], pairs[:, 1], np.array(list(times.values()), np.int64))

    @property
    def rows(self) -> int:
        return int((self.sizes * self.times).sum())

    @property
    def groups(self) -> int:
        return int(self.times.sum())


class Feeder(Protocol):
    """A table as groups of rows with equal quasi-identifiers."""

    def sizes(self) -> Sizes:
        """The sizes of groups; asked first."""
        ...

    def confidential(self) -> Iterator[ConfidentialColumn]:
        """The confidential columns, one after the other."""
        ...


@dataclass(frozen=True, eq=False)
class Facts:
    """k, l and t of a table; `merged` names columns in which some values count as one."""

    sizes: Sizes
    confidential: tuple[Confidential, ...]
    homogeneous_groups: int
    homogeneous_rows: int
    merged: list[str]

    def check(
        self,
        quasi_identifiers: Sequence[str],
        unit: str = RECORD,
        notes: Sequence[str] = (),
        rows_per_unit: int | None = None,
    ) -> Check:
        """The result for the caller.

        Parameters
            rows_per_unit: the most rows of a unit, where the table does not name the units.
        """
        units, times = self.sizes.units, self.sizes.times
        if rows_per_unit is not None:
            units = -(-units // rows_per_unit)
        k, rows = int(units.min()), self.sizes.rows
        return Check(
            rows=rows,
            quasi_identifiers=tuple(quasi_identifiers),
            unit=unit,
            groups=self.sizes.groups,
            k=k,
            smallest_groups=int(times[units == k].sum()),
            smallest_rows=int(self.sizes.sizes.min()),
            unique_share=int((self.sizes.sizes * times)[units == 1].sum()) / rows,
            homogeneous_groups=self.homogeneous_groups,
            homogeneous_share=self.homogeneous_rows / rows,
            confidential=self.confidential,
            notes=tuple(notes),
            k_from="units" if rows_per_unit is None else "rows",
        )


def evaluate(feeder: Feeder) -> Facts:
    """k, l and t of a table, exactly.

    Guarantee
        Memory beside the parts is one byte for each group. Parts that do not belong together, of a
        table that changed while it was read, are refused.
    """
    sizes = feeder.sizes()
    homogeneous = np.zeros(sizes.groups, np.bool_)
    found, merged, homogeneous_rows = [], [], 0
    for secret in feeder.confidential():
        fold = Fold(secret.name, ordered=secret.ordered)
        begin = rows = homogeneous_rows = 0
        for part in secret.parts():
            end = begin + part.sizes.size
            if end > homogeneous.size:
                raise changed()
            here = homogeneous[begin:end]
            here |= fold.add(part)
            homogeneous_rows += int(part.sizes[here].sum())  # of all columns, after the last one
            begin, rows = end, rows + int(part.sizes.sum())
        if begin != homogeneous.size or rows != sizes.rows:
            raise changed()
        found.append(fold.measured(rows))
        if secret.merged:
            merged.append(secret.name)
    return Facts(sizes, tuple(found), int(homogeneous.sum()), homogeneous_rows, merged)


def changed() -> Exception:
    """The refusal of counts that do not belong together."""
    return refuse("engine.table-changed-meanwhile", names="The table")


class Fold:
    """l and t of one confidential column, from some whole groups at a time, in any order."""

    def __init__(self, name: str, *, ordered: bool) -> None:
        self._name, self._ordered = name, ordered
        self._least, self._effective = math.inf, math.inf
        self._alone = self._rows_alone = 0
        self._farthest = (Fraction(-1), 0, 0)
        self._quotient: Fraction | None = Fraction(1)
        self._alpha = self._beta = Fraction(0)
        self._enhanced = True
        self._bounds: list[Fraction] | None = None

    def add(self, part: Part) -> Flags:
        """Adds some groups; returns in which of them everybody shares a value."""
        counts, distinct, sizes = part.counts, part.distinct, part.sizes
        alone: Flags = distinct == 1
        self._alone += int(alone.sum())
        self._rows_alone += int(sizes[alone].sum())
        self._least = min(self._least, int(distinct.min()))
        if not self._alone:
            self._effective = min(self._effective, least_effective(counts, distinct))
        self._alpha = max(self._alpha, largest_share(counts, part.with_value))
        bounds = recursive_bounds(counts, part.with_value)
        pairs = zip(bounds if self._bounds is None else self._bounds, bounds, strict=False)
        self._bounds = [max(pair) for pair in pairs]
        if counts.filled.size or counts.rows == 0:
            beta, enhanced = gain(counts)
            self._beta, self._enhanced = max(self._beta, beta), self._enhanced and enhanced
            t, groups = farthest(counts, ordered=self._ordered)
            group = groups[np.argmin(sizes[groups])]
            found = (t, -int(counts.sizes[group]), -int(sizes[group]))
            self._farthest = max(self._farthest, found)
            if self._quotient is not None:
                one = ratio(counts)
                self._quotient = None if one is None else max(one, self._quotient)
        return alone

    def measured(self, rows: int) -> Confidential:
        """The result, for a table of so many rows."""
        t, _, size = self._farthest
        quotient = self._quotient
        return Confidential(
            name=self._name,
            l=int(self._least),
            l_entropy=1.0 if self._alone else self._effective,
            t=float(t),
            t_ratio=math.inf if quotient is None else float(quotient),
            distance="ordered" if self._ordered else "equal",
            homogeneous_groups=self._alone,
            homogeneous_share=self._rows_alone / rows,
            size_of_farthest=-size,
            exact_t=t,
            exact_t_ratio=quotient,
            alpha=float(self._alpha),
            beta=float(self._beta),
            beta_enhanced=float(self._beta) if self._enhanced else math.inf,
            exact_alpha=self._alpha,
            exact_beta=self._beta,
            recursive=tuple(self._bounds or ()),
        )


# -- Groups of rows in this process ----------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """The columns to measure: quasi-identifiers (`known`) and confidential ones (`wanted`).

    person: the column that names a person, if there is one.
    """

    known: tuple[str, ...]
    wanted: tuple[str, ...]
    person: str | None
    schema: Table | None

    def column(self, name: str) -> Column | None:
        return column_of(self.schema, name)

    @property
    def used(self) -> list[str]:
        """Every column that is read, once."""
        return list(dict.fromkeys([*self.known, *self.wanted, *filter(None, [self.person])]))


class Loaded:
    """The groups of rows in this process; an empty table is refused.

    persons: the person of each row, where no column names them.
    """

    def __init__(self, rows: Rows, asked: Asked, persons: Codes | None = None) -> None:
        self._asked, self._written, self._given = asked, rows.written, persons
        self._read = rows.read(asked.used)

    def sizes(self) -> Sizes:
        groups, persons = self._groups, self._persons
        units = groups.sizes if persons is None else groups.units(persons)
        return Sizes(units, groups.sizes, np.ones(groups.count, np.int64))

    @property
    def units(self) -> Whole:
        """For each row, the number of units of its group."""
        groups, persons = self._groups, self._persons
        units = groups.sizes if persons is None else groups.units(persons)
        found: Whole = units[groups.labels]
        return found

    def confidential(self) -> Iterator[ConfidentialColumn]:
        for secret in self.columns:
            meaning = meant(secret, self._asked.column(secret.name), written=self._written)
            parts = partial(self._parts, meaning.codes)
            yield ConfidentialColumn(
                secret.name, secret.kind != "category", parts, meaning.respelled
            )

    @cached_property
    def columns(self) -> list[Values]:
        return [self._values(name, guess=True) for name in self._asked.wanted]

    @property
    def respelled(self) -> list[str]:
        """The quasi-identifiers with a value that is written in more than one way."""
        return [name for name, column in self._shown_columns.items() if column.respelled]

    @property
    def renamed(self) -> bool:
        """Whether some name of a person seems to be written in more than one way."""
        person = self._asked.person
        return person is not None and self._shown(person).respelled

    def _values(self, name: str, *, guess: bool) -> Values:
        column, declared = self._read[name], self._asked.column(name)
        return typed(name, column, declared, written=self._written, guess=guess)

    def _shown(self, name: str) -> Cells:
        return shown(name, self._read[name], self._asked.column(name))

    @cached_property
    def _shown_columns(self) -> dict[str, Cells]:
        return {name: self._shown(name) for name in self._asked.known}

    @cached_property
    def _groups(self) -> Groups:
        rows = len(next(iter(self._read.values())))
        return grouped([column.codes for column in self._shown_columns.values()], rows)

    @cached_property
    def _persons(self) -> Codes | None:
        person = self._asked.person
        return self._given if person is None else self._values(person, guess=False).coded()

    def _parts(self, codes: Codes) -> Iterator[Part]:
        groups, persons = self._groups, self._persons
        if persons is None:
            counts = counted(groups, codes)
            yield Part(counts, distinct_values(counts), groups.sizes)
            return
        entries = holdings(groups, codes, persons)
        counts = counted(entries.groups, entries.values)
        yield Part(counts, needed_values(entries), groups.sizes, entries.holders)


# -- Groups of rows that need not fit into memory --------------------------------------------------


@dataclass(frozen=True, eq=False)
class Secret:
    """A confidential column of rows that are read in passes.

    place: the index of its value in a row: 0 if missing, else the position in the declared domain,
        from 1 on.
    """

    column: Column
    place: int

    @property
    def ordered(self) -> bool:
        """Whether values lie on a line."""
        return isinstance(self.column, Bounded)

    def meanings(self) -> Numbers | None:
        """The meaning of each number, where several categories differ only in spelling."""
        if not isinstance(self.column, Category):
            return None
        return np.append(0, word_codes(pa.array(self.column.categories), self.column) + 1)


def check_in_passes(
    passes: Passes,
    groups: Key,
    quasi_identifiers: Sequence[str],
    confidential: Sequence[Secret],
    loose: Sequence[str] = (),
) -> Check:
    """The result of `check_groups` for the same rows, each of which is a unit.

    Guarantee
        k, l and t are exact and of all rows. Memory grows by a byte for each group, and with the
        number of different values of a confidential column.

    Parameters
        passes: the rows as they leave.
        groups: the key by which rows form groups.
        loose: the columns that nothing protects.
    """
    found = evaluate(_Streamed(passes, groups, confidential))
    notes = (*noted(MERGED, found.merged), *unprotected(loose))
    return found.check(quasi_identifiers, notes=notes)


class _Streamed:
    def __init__(self, passes: Passes, groups: Key, confidential: Sequence[Secret]) -> None:
        self._passes, self._groups, self._confidential = passes, groups, confidential

    def sizes(self) -> Sizes:
        seen: Counter[tuple[int, int]] = Counter()
        for *_, sizes in self._passes.tally(self._groups):
            found, times = np.unique(sizes, return_counts=True)
            pairs = zip(found.tolist(), found.tolist(), strict=True)
            seen.update(dict(zip(pairs, times.tolist(), strict=True)))
        return Sizes.of(seen)

    def confidential(self) -> Iterator[ConfidentialColumn]:
        for secret in self._confidential:
            parts, merged = partial(self._parts, secret), self._is_merged(secret)
            yield ConfidentialColumn(secret.column.name, secret.ordered, parts, merged)

    def _is_merged(self, secret: Secret) -> bool:
        meanings, place = secret.meanings(), secret.place
        if meanings is None:
            return False
        tallied = self._passes.tally(lambda rows: [rows[:, place]])
        codes = np.concatenate([part[0] for part in tallied])
        seen = meanings[codes[codes > 0]]
        return bool(np.unique(seen).size < seen.size)

    def _parts(self, secret: Secret) -> Iterator[Part]:
        place, meanings, groups = secret.place, secret.meanings(), self._groups

        def meaning(rows: Numbers) -> Numbers:
            return rows[:, place] if meanings is None else meanings[rows[:, place]]

        every = [*self._passes.tally(lambda rows: [meaning(rows)])]
        values, totals = (np.concatenate(column) for column in zip(*every, strict=True))
        values, totals = values[values > 0], totals[values > 0]
        keys = len(groups(self._passes.take(np.zeros(0, np.int64))))
        tallied = self._passes.tally(lambda rows: [*groups(rows), meaning(rows)])
        for *found, codes, times in whole_runs(tallied, keys):
            begins = begins_of(found)
            labels = np.repeat(np.arange(begins.size), np.diff(begins, append=codes.size))
            where = np.where(codes > 0, np.searchsorted(values, codes), -1)
            counts = counted(Groups(labels, begins.size), Codes(where, values.size), times)
            counts = replace(counts, totals=totals)
            yield Part(counts, distinct_values(counts), np.add.reduceat(times, begins))
