"""The condition on every class: k units, and l and t of confidential columns.

Measured as `tenue.evaluate.check` does, for all classes at once: missing values do not count, a
class of missing values only has one value, the blank, and distance 0, and a person with several
rows counts once for each different value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...errors import refuse
from ...evaluate.factorize import Codes
from ...evaluate.one_table.closeness import beyond
from ...evaluate.one_table.count import Groups, counted
from ...evaluate.one_table.diversity import distinct_values, holdings, needed_values
from ..table.cells import Numbers

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Secret:
    """A confidential column: the rank of each row's value among the different ones, -1 if missing.

    ordered: whether values lie on a line, as for the earth mover's distance of numbers and dates.
    """

    name: str
    codes: Numbers
    ordered: bool


@dataclass(frozen=True, eq=False)
class Need:
    """The condition that every class must meet.

    k: the least number of units.
    l: the least number of values of each confidential column.
    t: the largest distance of each confidential column from the whole table.
    persons: whose each row is; None if each row is a person.
    """

    k: int
    l: int | None = None
    t: Fraction | None = None
    confidential: Sequence[Secret] = ()
    persons: Numbers | None = None

    @property
    def looks_inside(self) -> bool:
        """Whether confidential values decide anything."""
        return self.l is not None or self.t is not None

    def of(self, rows: Numbers) -> Need:
        """The same condition on these rows alone."""
        confidential = [replace(one, codes=one.codes[rows]) for one in self.confidential]
        persons = None if self.persons is None else self.persons[rows]
        return replace(self, confidential=confidential, persons=persons)

    def check_reachable(self) -> None:
        """Refuses an l that the whole table does not have."""
        for secret in self.confidential if self.l is not None else ():
            together = np.zeros(secret.codes.size, np.int64)
            if not self._diverse(secret, Groups(together, 1))[0]:
                word = "values" if self.persons is None else "suffice"
                raise refuse(f"publish.fewer-than-l-{word}", column=secret.name, l=self.l)

    def units(self, labels: Numbers, count: int) -> Numbers:
        groups = Groups(labels, count)
        return groups.sizes if self.persons is None else groups.units(_codes(self.persons))

    def diverse(self, labels: Numbers, count: int) -> Flags:
        """Whether each class has l values of every confidential column."""
        holds = np.ones(count, np.bool_)
        for secret in self.confidential if self.l is not None else ():
            holds &= self._diverse(secret, Groups(labels, count))
        return holds

    def close(self, labels: Numbers, count: int) -> Flags:
        """Whether each class is within t of all these rows, in every confidential column."""
        holds = np.ones(count, np.bool_)
        for secret in self.confidential if self.t is not None else ():
            groups, values = Groups(labels, count), _codes(secret.codes)
            if self.persons is not None:
                held = holdings(groups, values, _codes(self.persons))
                groups, values = held.groups, held.values
            assert self.t is not None  # noqa: S101 - there is a t in this loop
            holds &= ~beyond(counted(groups, values), self.t, ordered=secret.ordered)
        return holds

    def _diverse(self, secret: Secret, groups: Groups) -> Flags:
        values = _codes(secret.codes)
        if self.persons is None:
            many = distinct_values(counted(groups, values))
        else:
            many = needed_values(holdings(groups, values, _codes(self.persons)))
        enough: Flags = many >= (self.l or 1)
        return enough


def _codes(codes: Numbers) -> Codes:
    return Codes(codes, int(codes.max(initial=-1)) + 1)
