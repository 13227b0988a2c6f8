"""What every engine promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from .request import RankRequest, Request

Cells = Mapping[tuple[int, ...], tuple[int, ...]]
"""For each cell that has rows, by the numbers of its keys, the measures in the order asked."""


@dataclass(frozen=True)
class Profile:
    """Where the values of one cell lie in order.

    rows: how many rows of the cell have the column.
    values: (steps, how many rows have a smaller value, how many rows have this value), in
        increasing order: every stored value that is in one of the windows, maybe others too.
    """

    rows: int
    values: tuple[tuple[int, int, int], ...]


Profiles = Mapping[tuple[int, ...], Profile]
"""For each cell with rows that have the column, by the numbers of its keys, its profile."""


class Engine(Protocol):
    """Reads rows and gives whole numbers.

    Guarantee
        `measure` and `ranks` return exact integers that depend on the multiset of rows only: not on
        their order. Without `people`, or where no unit exceeds its limits, every engine returns the
        same; which rows of a unit above its limits are kept is drawn as `People` says, so that the
        law of what is returned depends on the multiset of rows only. Whatever goes wrong inside is
        one `EngineFault` whose text says nothing about rows.
    """

    def measure(self, request: Request) -> Cells:
        """The measures of every cell that has rows."""
        ...

    def ranks(self, request: RankRequest) -> Profiles:
        """The profile of every cell with rows that have the column."""
        ...

    def look_up(self, unit: str, name: str, column: str) -> list[int | None]:
        """The values of a column in the rows of one unit: steps, category number or 0 and 1.

        At most two, for two are as good as many; None where a value is missing. `name` equals a
        stored identifier exactly: a text byte by byte, a number by its shortest decimal.
        """
        ...

    def close(self) -> None:
        """Lets go of files and connections."""
        ...
