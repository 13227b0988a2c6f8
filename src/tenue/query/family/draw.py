"""What is drawn and paid for, and what of the rows it may read."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import Profile
from ...engine.formula import Computed
from ...engine.request import Contribution, Measure, Window
from ...noise.source import Source
from ...schema import Schema


class Rows(Protocol):
    """The true numbers that draws need of every declared cell, read from the engine once each."""

    @property
    def measured(self) -> Sequence[Mapping[Measure, int]]:
        """The measures of all draws; zeros where a cell has no rows."""
        ...

    def ranks(self, column: str) -> Sequence[Profile]:
        """The stored values in the windows of all draws."""
        ...

    def votes(self, column: str, categories: int) -> Sequence[Sequence[int]]:
        """How many rows have each category."""
        ...

    def distinct(self, column: str) -> Sequence[int]:
        """How many different values of the column there are."""
        ...

    def overall(self, computed: Computed, window: Window) -> Profile:
        """The values of a computed column near some ranks, over all cells together."""
        ...

    def totals(self, computed: Computed) -> Sequence[tuple[int, int]]:
        """How many rows have a computed column, and the sum of its steps."""
        ...

    def steps(self, column: str) -> NDArray[np.int64]:
        """All values of a column without groups, in increasing order."""
        ...


class Draw(abc.ABC):
    """One draw that is paid for, for all cells together.

    name: its mechanism. epsilon: its price. source: where it is proved.
    limits: what it does not promise beyond what no answer does.
    caveat: what an answer says instead of ±.
    chosen: whether it draws one number a cell, which stands in the last tuple of a released cell,
        with those of all such draws; they are drawn cell by cell. Others have a tuple of their own.
    for_interval: whether it pays for the end of an interval.
    counts_rows: whether only so many rows of each person count for it.
    required: the column without which a row uses up no limit; None if every row does.
    """

    name: str
    epsilon: Fraction
    limits: tuple[str, ...] = ()
    caveat = ""
    chosen = False
    for_interval = False

    @property
    @abc.abstractmethod
    def source(self) -> str: ...

    @property
    @abc.abstractmethod
    def line(self) -> str:
        """What a certificate says of it."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The whole numbers of each cell that it needs."""
        return ()

    @property
    def windows(self) -> Mapping[str, tuple[Window, ...]]:
        """The ranks near which it needs the values of columns."""
        return {}

    @property
    def counts_rows(self) -> bool:
        return True

    @property
    def required(self) -> str | None:
        return None

    def cuts(self, schema: Schema) -> Mapping[str, Contribution]:
        """Where it cuts what one person adds to a sum: in words, and what is above 0 just if it
        cuts something of the person."""
        return {}

    def read(self, rows: Rows) -> None:  # noqa: B027 - most draws need nothing beforehand
        """Reads what it needs, before others are drawn with it."""

    @abc.abstractmethod
    def check_draw(self, cells: int) -> None:
        """Refuses, for so many cells, whatever `released` would, and draws nothing.

        What passes is paid for; a refusal after that would cost the price and give no answer.
        """

    @abc.abstractmethod
    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        """The numbers that leave, for each of the cells."""
