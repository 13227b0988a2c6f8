"""k, l and t of a table whose groups are handed over by a feeder, some whole groups at a time.

The one program that evaluates them. A feeder says what the groups are: of rows in this process
(`klt_in_memory.py`), of counts that an engine makes where the rows are (`klt_by_counts.py`), or of
rows that are read in passes (`klt_in_memory.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import refuse
from .check_result import Check, Confidential
from .one_table.closeness import farthest, ratio
from .one_table.count import Counts
from .one_table.diversity import least_effective

Whole = NDArray[np.int64]
RECORD = "record"


@dataclass(frozen=True, eq=False)
class Part:
    """What some whole groups hold of a confidential column.

    counts: the values in these groups, with the totals of the whole table.
    distinct: how many values it takes, at least, so that everybody in a group has one of them.
    sizes: how many rows each group has.
    """

    counts: Counts
    distinct: Whole
    sizes: Whole


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
    """So many groups (`times`) have so many units and so many rows (`sizes`)."""

    units: Whole
    sizes: Whole
    times: Whole

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return int((self.sizes * self.times).sum())

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.times.sum())


class Feeder(Protocol):
    """A table as groups of rows that agree in its quasi-identifiers."""

    def sizes(self) -> Sizes:
        """How large groups are; asked first."""
        ...

    def confidential(self) -> Iterator[ConfidentialColumn]:
        """The confidential columns, one after the other."""
        ...


@dataclass(frozen=True, eq=False)
class Facts:
    """What was found.

    merged: the confidential columns of which some values count as one.
    """

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
        """What was found, as it is handed out.

        Parameters
            rows_per_unit: how many rows a unit may have, where whose they are is not known.
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
        What is held beside the parts is a byte for each group. Parts that do not belong together,
        of a table that changed while it was read, are refused.
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
            homogeneous_rows += int(part.sizes[here].sum())  # what the last column leaves is of all
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
    """What is found of one confidential column, some whole groups at a time, in any order."""

    def __init__(self, name: str, *, ordered: bool) -> None:
        self._name, self._ordered = name, ordered
        self._least, self._effective = math.inf, math.inf
        self._alone = self._rows_alone = 0
        self._farthest = (Fraction(-1), 0, 0)
        self._quotient: Fraction | None = Fraction(1)

    def add(self, part: Part) -> NDArray[np.bool_]:
        """Looks at some groups; gives those where everybody shares a value."""
        counts, distinct, sizes = part.counts, part.distinct, part.sizes
        alone: NDArray[np.bool_] = distinct == 1
        self._alone += int(alone.sum())
        self._rows_alone += int(sizes[alone].sum())
        self._least = min(self._least, int(distinct.min()))
        if not self._alone:
            self._effective = min(self._effective, least_effective(counts, distinct))
        if counts.filled.size or counts.rows == 0:
            t, groups = farthest(counts, ordered=self._ordered)
            place = groups[np.argmin(sizes[groups])]
            found = (t, -int(counts.sizes[place]), -int(sizes[place]))
            self._farthest = max(self._farthest, found)
            if self._quotient is not None:
                one = ratio(counts)
                self._quotient = None if one is None else max(one, self._quotient)
        return alone

    def measured(self, rows: int) -> Confidential:
        """What was found in a table of so many rows."""
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
        )
