"""The groups of rows that need not fit into memory, from counts that come in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..engine.contract import Numbers, Passes
from ..engine.runs import begins_of, whole_runs
from ..schema import Bounded, Category, Column
from .group.count import Counts
from .group.diversity import distinct_values
from .group.exposure import unprotected
from .group.spelling import merged_values, word_codes
from .klt import ConfidentialColumn, Part, Sizes, evaluate
from .verdict import Check

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
        import pyarrow

        words = word_codes(pyarrow.array(self.column.categories), self.column)
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
