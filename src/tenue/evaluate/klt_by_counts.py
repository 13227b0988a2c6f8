"""The groups of a table from counts made where its rows are, some groups at a time.

The same functions as for rows decide which values are equal. They get every different value of a
column once, and then the combinations of values in the order of groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..engine.source.count_queries import Tally
from ..errors import Refused, refuse
from ..schema import Bounded
from ..schema.case_insensitive import names_a_person
from .column_types import Values, counterexamples, is_text, one_array, typed
from .factorize import Codes, Whole
from .klt import Asked, ConfidentialColumn, Part, Sizes, changed
from .one_table import identifying_columns
from .one_table.cell_equality import Cells, meant, shown
from .one_table.count import Groups, counted, grouped, total
from .one_table.diversity import Holdings, distinct_values, holdings, needed_values
from .one_table.functional_dependence import MOST_ROWS, Seen
from .rows import Rows

_MANY = 1 << 18
"""At least so many combinations are processed together."""


@dataclass(frozen=True, eq=False)
class _Combinations:
    """Combinations of values in some whole groups; the last column of the table counts rows."""

    groups: Groups
    table: pa.Table

    @cached_property
    def times(self) -> Whole:
        return np.asarray(self.table.columns[-1].to_numpy(), np.int64)

    @property
    def sizes(self) -> Whole:
        return total(self.groups.labels, self.times, self.groups.count)


class Counted:
    """The groups of a table whose rows stay where they are.

    Guarantee
        Memory grows with the different values of a column and the number of groups, never with the
        number of rows: the different values of quasi-identifiers, confidential columns and, before
        anything else is counted, of names of persons; at most as many combinations of values as a
        column has values, or 2^18.
    """

    def __init__(self, rows: Rows, there: Tally, asked: Asked) -> None:
        self._rows, self._there, self._asked = rows, there, asked
        self._written = rows.written

    def sizes(self) -> Sizes:
        """The sizes of groups; an empty table is refused."""
        _, rows_of_persons = self._names
        every = self._every
        found = self._sizes()
        stated = [*filter(None, [rows_of_persons]), *(_rows(values) for values in every.values())]
        if any(many != found.rows for many in stated):
            raise changed()
        return found

    def confidential(self) -> Iterator[ConfidentialColumn]:
        for name, (secret, meaning) in self._wanted.items():
            parts = partial(self._diversity, name, meaning.codes.count)
            yield ConfidentialColumn(name, secret.kind != "category", parts, meaning.respelled)

    @property
    def columns(self) -> list[Values]:
        return [secret for secret, _ in self._wanted.values()]

    @property
    def respelled(self) -> list[str]:
        asked, every = self._asked, self._every
        return [n for n in asked.known if shown(n, every[n].column(0), asked.column(n)).respelled]

    @property
    def renamed(self) -> bool:
        return self._names[0]

    @cached_property
    def _every(self) -> dict[str, pa.Table]:
        """The different values of columns whose values must all be known."""
        return {name: self.values(name) for name in self._asked.used if self._needs_every(name)}

    @cached_property
    def _wanted(self) -> dict[str, tuple[Values, Cells]]:
        return {name: self._meant(name, self._every[name].column(0)) for name in self._asked.wanted}

    def values(self, name: str) -> pa.Table:
        """Each different value of a column and its number of rows; an empty table is refused."""
        parts = [part for part in self._there.tally([name]) if len(part)]
        if not parts:
            raise refuse("evaluate.evaluated-table-empty")
        return pa.concat_tables(parts)

    def names_rows(self, name: str) -> bool:
        if not self._there.can_tell(name):
            kind = self._there.some([name], 1, 1).column(0).type
            may_name = identifying_columns.may_name(kind)
            return may_name and identifying_columns.names_rows(name, self._whole(name))
        parts = self._there.tally([name])
        first = next(parts)
        if not identifying_columns.may_name(first.column(0).type):
            return False
        if names_a_person(name):
            return True
        try:
            return identifying_columns.are_names(_each_once(chain([first], parts)))
        except _RepeatedValueError:
            return False

    def found_by(self, name: str, rows: int) -> float:
        if not self._there.can_tell(name):
            return identifying_columns.found_by(self._whole(name))
        return 0.0 if rows < 2 else self._there.different(name) / rows

    def seen(self, names: Sequence[str], rows: int) -> dict[str, Seen]:
        """The columns that can be compared, in a sample of rows whose size is bounded."""
        table = self._there.some(names, -(-rows // MOST_ROWS), MOST_ROWS)
        found = {}
        for name in names:
            column, before = table.column(name), 0
            declared = self._asked.column(name)
            encoded = pa.types.is_dictionary(column.type)
            parsed = self._written or isinstance(declared, Bounded)
            if parsed and is_text(column.type) and not encoded:
                some = counterexamples(
                    one_array(part.column(0)) for part in self._there.tally([name])
                )
                column, before = _joined(pa.chunked_array([some]), column), len(some)
            with suppress(Refused):
                found[name] = Seen.of(self._typed(name, column)).only(slice(before, None))
        return found

    def _whole(self, name: str) -> pa.ChunkedArray:
        return self._rows.read([name])[name]

    @cached_property
    def _names(self) -> tuple[bool, int | None]:
        """Whether some person's name seems to be written in two ways, and the number of rows with
        names; the names themselves are not kept."""
        person = self._asked.person
        if person is None:
            return False, None
        names = self.values(person)
        return shown(person, names.column(0)).respelled, _rows(names)

    def _needs_every(self, name: str) -> bool:
        """Whether the meaning of a value depends on all values of its column.

        Names of persons are compared as stored, group by group, unless they are texts declared as
        numbers or dates: these are read as such only if all of them can be.
        """
        asked = self._asked
        return name in (*asked.known, *asked.wanted) or isinstance(asked.column(name), Bounded)

    def _typed(self, name: str, column: pa.ChunkedArray, *, guess: bool = True) -> Values:
        declared = self._asked.column(name)
        return typed(name, column, declared, written=self._written, guess=guess)

    def _meant(self, name: str, column: pa.ChunkedArray) -> tuple[Values, Cells]:
        secret = self._typed(name, column)
        return secret, meant(secret, self._asked.column(name), written=self._written)

    def _sizes(self) -> Sizes:
        person = self._asked.person
        if person is None:
            sizes, groups = self._there.sizes(self._asked.known)
            return Sizes(sizes, sizes, groups)
        seen: Counter[tuple[int, int]] = Counter()
        for part in self._parts([person], _most(self._every, person)):
            units = part.groups.units(self._persons(part))
            pairs, times = np.unique(np.stack([units, part.sizes]), axis=1, return_counts=True)
            keys = zip(*pairs.tolist(), strict=True)
            seen.update(dict(zip(keys, times.tolist(), strict=True)))
        return Sizes.of(seen)

    def _persons(self, part: _Combinations) -> Codes:
        person, every, begin = self._asked.person, self._every, 0
        assert person is not None  # noqa: S101
        column = part.table.column(person)
        if person in every:
            begin, column = len(every[person]), _joined(every[person].column(0), column)
        codes = self._typed(person, column, guess=False).coded()
        return Codes(codes.codes[begin:], codes.count)

    def _diversity(self, name: str, count: int) -> Iterator[Part]:
        """Some groups at a time; `count` is the number of values of the column."""
        every, person = self._every, self._asked.person
        values = every[name]

        def codes(column: pa.ChunkedArray) -> Codes:
            _, meaning = self._meant(name, _joined(values.column(0), column))
            if meaning.codes.count != count:  # a value that was not there before
                raise changed()
            return Codes(meaning.codes.codes[len(values) :], count)

        if person is None:
            _, meaning = self._meant(name, values.column(0))
            present = meaning.codes.codes >= 0
            times = values.column(1).to_numpy()[present]
            totals = total(meaning.codes.codes[present], times, count)
            for part in self._parts([name], len(values)):
                counts = counted(part.groups, codes(part.table.column(name)), part.times)
                counts = replace(counts, totals=totals)
                yield Part(counts, distinct_values(counts), part.sizes)
            return
        most = _most(every, name, person)

        def entries() -> Iterator[tuple[_Combinations, Holdings]]:
            for part in self._parts([name, person], most):
                persons = self._persons(part)
                yield part, holdings(part.groups, codes(part.table.column(name)), persons)

        totals = np.zeros(count, np.int64)
        for _, one in entries():
            totals += np.bincount(one.values.codes, minlength=count)
        for part, one in entries():
            counts = replace(counted(one.groups, one.values), totals=totals)
            yield Part(counts, needed_values(one), part.sizes, one.holders)

    def _parts(self, others: Sequence[str], most: int) -> Iterator[_Combinations]:
        """Combinations with values of other columns, in whole groups, at least `most` at a time."""
        names, least = dict.fromkeys([*self._asked.known, *others]), max(_MANY, most)
        batches: list[pa.Table] = []
        for batch in self._there.tally(list(names)):
            batches.append(batch)
            if sum(map(len, batches)) < least:
                continue
            whole = pa.concat_tables(batches)
            groups = self._groups(whole)
            begin = int(np.searchsorted(groups.labels, groups.count - 1))
            if begin:
                kept = Groups(groups.labels[:begin], groups.count - 1)
                yield _Combinations(kept, whole.slice(0, begin))
            batches = [whole.slice(begin)]
        if batches and len(last := pa.concat_tables(batches)):
            yield _Combinations(self._groups(last), last)

    def _groups(self, table: pa.Table) -> Groups:
        codes = [shown(name, table.column(name)).codes for name in self._asked.known]
        labels = grouped(codes, len(table)).labels
        numbers = np.cumsum(np.append(False, labels[1:] != labels[:-1]))
        return Groups(numbers, int(numbers[-1]) + 1)


def _rows(values: pa.Table) -> int:
    return int(values.column(1).to_numpy().sum())


def _most(every: dict[str, pa.Table], *names: str) -> int:
    """The largest number of different values that `_joined` adds for one of these columns."""
    return max(len(every[name]) if name in every else 0 for name in names)


class _RepeatedValueError(Exception):
    pass


def _each_once(parts: Iterable[pa.Table]) -> Iterator[pa.Array]:
    for part in parts:
        present = part.filter(pc.is_valid(part.column(0)))
        if pc.any(pc.greater(present.column(1), 1)).as_py():
            raise _RepeatedValueError
        yield one_array(present.column(0))


def _joined(every: pa.ChunkedArray, some: pa.ChunkedArray) -> pa.ChunkedArray:
    """Some values after every different one, so that all of them are read in the same way."""
    return pa.chunked_array([*every.chunks, *some.cast(every.type).chunks], every.type)
