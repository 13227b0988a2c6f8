"""k, l and t of a table that need not fit into memory, exactly, from counts that come in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..engine.contract import Numbers, Passes
from ..engine.runs import begins_of, whole_runs
from ..schema import Bounded, Category, Column
from ..schema.table import RECORD
from .facts import Fold
from .group.count import Counts
from .group.diversity import distinct_values
from .group.exposure import unprotected
from .group.spelling import merged_values, word_codes
from .verdict import Check, Confidential

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
    sizes = _Sizes.of(passes, groups)
    alone = np.zeros(sizes.groups, np.bool_)
    found, merged = [], []
    share = 0
    for secret in confidential:
        measured, one_value = _measured(passes, groups, secret, sizes)
        alone |= one_value
        found.append(measured)
        if _is_merged(passes, secret):
            merged.append(secret.column.name)
    if alone.any():
        share = _rows_of(passes, groups, alone)
    return Check(
        rows=passes.rows,
        quasi_identifiers=tuple(quasi_identifiers),
        unit=RECORD,
        groups=sizes.groups,
        k=sizes.least,
        smallest_groups=sizes.smallest,
        smallest_rows=sizes.least,
        unique_share=sizes.single / passes.rows,
        homogeneous_groups=int(alone.sum()),
        homogeneous_share=share / passes.rows,
        confidential=tuple(found),
        notes=(*merged_values(merged), *unprotected(loose)),
    )


@dataclass(frozen=True)
class _Sizes:
    """How large groups are.

    groups: how many there are.
    least: the size of the smallest, and `smallest` how many have it.
    single: how many have one row.
    """

    groups: int
    least: int
    smallest: int
    single: int

    @classmethod
    def of(cls, passes: Passes, groups: Key) -> _Sizes:
        many, single = 0, 0
        counted: dict[int, int] = {}
        for *_, counts in passes.tally(groups):
            many += counts.size
            single += int((counts == 1).sum())
            least = int(counts.min())
            counted[least] = counted.get(least, 0) + int((counts == least).sum())
        least = min(counted)
        return cls(many, least, counted[least], single)


def _measured(
    passes: Passes, groups: Key, secret: Secret, sizes: _Sizes
) -> tuple[Confidential, NDArray[np.bool_]]:
    """What is found of one column, and in which groups everybody shares a value of it."""
    meaning = secret.key()
    values, totals = _totals(passes, meaning)
    alone = np.zeros(sizes.groups, np.bool_)
    fold, begin = Fold(secret.column.name, ordered=secret.ordered), 0
    for keys, codes, times in _of_groups(passes, groups, meaning):
        counts, whole = _counts(keys, codes, times, values, totals)
        alone[begin : begin + whole.size] = fold.add(counts, distinct_values(counts), whole)
        begin += whole.size
    return fold.measured(passes.rows), alone


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


def _rows_of(passes: Passes, groups: Key, chosen: NDArray[np.bool_]) -> int:
    """How many rows these groups have."""
    rows = begin = 0
    for *_, counts in passes.tally(groups):
        rows += int(counts[chosen[begin : begin + counts.size]].sum())
        begin += counts.size
    return rows


def _is_merged(passes: Passes, secret: Secret) -> bool:
    """Whether values occur that are written differently and count as one."""
    meanings = secret.meanings()
    if meanings is None:
        return False
    place = secret.place
    codes = np.concatenate([part[0] for part in passes.tally(lambda rows: [rows[:, place]])])
    seen = meanings[codes[codes > 0]]
    return bool(np.unique(seen).size < seen.size)
