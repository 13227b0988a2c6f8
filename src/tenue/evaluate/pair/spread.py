"""Intervals as a distribution: the rows of each are spread evenly over it.

That is how a generalised number, or a bucket of numbers, is drawn beside the numbers it came from.
A value stands for half a grid step on either side, so that both are measured alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import Refused
from ...schema import Bounded
from ..group.recoded import ends
from ..value import Values

Real = NDArray[np.float64]

_DAY = 24 * 60 * 60


@dataclass(frozen=True, eq=False)
class Spread:
    """Stretches of a line, and which share of all rows lies in each.

    low, high: where each stretch begins and ends.
    share: the share of all rows in it; with `missing`, they sum to 1.
    """

    low: Real
    high: Real
    share: Real
    missing: float

    def shares(self, edges: Real) -> tuple[float, ...]:
        """The share of rows in each bin; what doubles hold for no length is at its lower end."""
        length = self.high - self.low
        width = np.where(length > 0, length, 1)
        below = []
        for edge in edges:
            part = np.where(length > 0, (edge - self.low) / width, edge > self.low)
            below.append(float(np.clip(part, 0, 1) @ self.share))
        return tuple(np.diff(below).tolist())


def spread_of_intervals(values: Values, column: Bounded) -> Spread | None:
    """What a release shows of a column; None if a text is neither an interval nor a value."""
    counted = word_shares(values)
    missing = counted.pop(None, 0.0)
    if not counted:
        return None
    try:
        found = np.array([ends(column, str(word)) for word in counted], dtype=np.float64)
    except Refused:
        return None
    unit = _unit(column)
    start, step = float(column.low) * unit, float(column.grid) * unit
    return Spread(
        start + step * (found[:, 0] - 0.5),
        start + step * (found[:, 1] + 0.5),
        np.array(list(counted.values())),
        missing,
    )


def spread_of_values(values: Values, column: Bounded) -> Spread | None:
    """The same of a column of numbers or times; None if there are none."""
    numbers = values.numbers()
    held = numbers[~np.isnan(numbers)]
    if not held.size:
        return None
    found, times = np.unique(held, return_counts=True)
    half = float(column.grid) * _unit(column) / 2
    return Spread(found - half, found + half, times / numbers.size, 1 - held.size / numbers.size)


def word_shares(values: Values) -> dict[str | None, float]:
    """The share of each word, and of blanks under None; in the order of words, so that no last
    digit of a sum tells in which order rows came."""
    import pyarrow
    import pyarrow.compute as pc

    array = values.array
    if pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    counts = pc.value_counts(pc.cast(array, pyarrow.large_string()))
    size = len(array)
    found = {one["values"]: one["counts"] / size for one in counts.to_pylist()}
    return dict(sorted(found.items(), key=lambda pair: (pair[0] is None, pair[0] or "")))


def _unit(column: Bounded) -> int:
    """How many of what edges count is one of what the column counts: of days, their seconds."""
    return _DAY if column.type == "date" else 1
