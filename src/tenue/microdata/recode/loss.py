"""What is lost by classes of rows: the measures among which a holder chooses, exactly.

Each grows when classes are joined, and a suppressed row costs at least as much as any other could.
So the loss of all classes, none of them suppressed, is below the loss of whatever generalises them
further: that is what a search can rely on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..table.cells import Numbers


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes that are published, and how many rows are not.

    rows: how many rows each class has.
    penalties: of each column the penalty of each class, and what that of the whole domain is.
    suppressed: how many rows are in none.
    """

    rows: Numbers
    penalties: Sequence[tuple[Numbers, int]]
    suppressed: int = 0

    @property
    def all_rows(self) -> int:
        """How many rows there are, published or not."""
        return int(self.rows.sum()) + self.suppressed


def discernibility(classes: Classes) -> Fraction:
    """The sum of squared class sizes; a suppressed row counts as many as there are rows."""
    squares = int((classes.rows.astype(object) ** 2).sum())
    return Fraction(squares + classes.suppressed * classes.all_rows)


def average_class_size(classes: Classes) -> Fraction:
    """Rows for each class."""
    return Fraction(classes.all_rows, classes.rows.size)


def ncp(classes: Classes) -> Fraction:
    """The normalised certainty penalty, from 0 to 1; a suppressed row counts 1."""
    columns = len(classes.penalties)
    total = Fraction(classes.suppressed * columns)
    for penalty, whole in classes.penalties:
        wide = whole * classes.all_rows >= 2**62
        rows = classes.rows.astype(object) if wide else classes.rows
        total += Fraction(int((rows * penalty).sum()), whole)
    return total / (classes.all_rows * columns)


Measure = Callable[[Classes], Fraction]

MEASURES: dict[str, Measure] = {
    "ncp": ncp,
    "discernibility": discernibility,
    "average-class-size": average_class_size,
}
"""What can be minimised; the first is taken if none is named."""


def joined(rows: Numbers, labels: Numbers, count: int) -> Numbers:
    """How many rows the classes have that are joined by these labels."""
    total = np.zeros(count, np.int64)
    np.add.at(total, labels, rows)
    return total
