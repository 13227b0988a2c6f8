"""What groups of equal quasi-identifiers show, from rows or from counts of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..schema import Column, Table
from .code import Codes
from .group.closeness import farthest, ratio
from .group.count import Counts, Groups, counted, grouped
from .group.diversity import distinct_values, holdings, least_effective, needed_values
from .group.spelling import meant, shown
from .rows import Rows
from .value import Values, typed
from .verdict import Confidential

Whole = NDArray[np.int64]


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


@dataclass(frozen=True, eq=False)
class Facts:
    """What was found.

    units, sizes, times: so many groups have so many units and so many rows.
    columns: the confidential columns, by which their kinds are known.
    respelled: the quasi-identifiers of which some value is written in more than one way.
    renamed: whether some name of a person seems to be.
    merged: the confidential columns of which some values count as one.
    """

    units: Whole
    sizes: Whole
    times: Whole
    confidential: tuple[Confidential, ...]
    homogeneous_groups: int
    homogeneous_rows: int
    columns: tuple[Values, ...]
    respelled: list[str]
    renamed: bool
    merged: list[str]

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return int((self.sizes * self.times).sum())

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.times.sum())


class Fold:
    """What is found of one confidential column, some whole groups at a time, in any order."""

    def __init__(self, name: str, *, ordered: bool) -> None:
        self._name, self._ordered = name, ordered
        self._least, self._effective = math.inf, math.inf
        self._alone = self._rows_alone = 0
        self._farthest = (Fraction(-1), 0, 0)
        self._quotient: Fraction | None = Fraction(1)

    def add(self, counts: Counts, distinct: Whole, sizes: Whole) -> NDArray[np.bool_]:
        """Looks at groups of so many values and rows; gives those where everybody shares one.

        Parameters
            counts: the values in these groups, with the totals of the whole table.
        """
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


def facts_of_rows(rows: Rows, asked: Asked, persons: Codes | None) -> Facts:
    """The facts of a table that is read into this process.

    Parameters
        persons: whose each row is, where no column says so.
    """
    read = rows.read(asked.used)

    def values(name: str, *, guess: bool) -> Values:
        return typed(name, read[name], asked.column(name), written=rows.written, guess=guess)

    size = len(next(iter(read.values())))
    seen = {name: shown(name, read[name], asked.column(name)) for name in asked.known}
    groups = grouped([column.codes for column in seen.values()], size)
    renamed = asked.person is not None and shown(asked.person, read[asked.person]).respelled
    if asked.person:
        persons = values(asked.person, guess=False).coded()
    columns = [values(name, guess=True) for name in asked.wanted]
    found, merged = [], []
    homogeneous = np.zeros(groups.count, np.bool_)
    for secret in columns:
        meaning = meant(secret, asked.column(secret.name), written=rows.written)
        fold = Fold(secret.name, ordered=secret.kind != "category")
        homogeneous |= fold.add(*_diversity(groups, meaning.codes, persons), groups.sizes)
        found.append(fold.measured(size))
        if meaning.merged:
            merged.append(secret.name)
    return Facts(
        units=groups.sizes if persons is None else groups.units(persons),
        sizes=groups.sizes,
        times=np.ones(groups.count, np.int64),
        confidential=tuple(found),
        homogeneous_groups=int(homogeneous.sum()),
        homogeneous_rows=int(groups.sizes[homogeneous].sum()),
        columns=tuple(columns),
        respelled=[name for name, column in seen.items() if column.respelled],
        renamed=renamed,
        merged=merged,
    )


def _diversity(groups: Groups, codes: Codes, persons: Codes | None) -> tuple[Counts, Whole]:
    """The values in each group, and how many it takes so that everybody has one of them."""
    if persons is None:
        counts = counted(groups, codes)
        return counts, distinct_values(counts)
    held = holdings(groups, codes, persons)
    return counted(held.groups, held.values), needed_values(held)
