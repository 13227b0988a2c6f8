"""What is drawn and paid for: noise on whole numbers, and whatever else a family releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import Profile
from ...engine.request import Measure, Window
from ...mechanism.part import Atoms, Part
from ...noise.box.law import OptimalBox
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

    def steps(self, column: str) -> NDArray[np.int64]:
        """All values of a column without groups, in increasing order."""
        ...


class Draw:
    """One draw that is paid for, for all cells together.

    name: its mechanism. epsilon: its price. source: where it is proved.
    limits: what it does not promise beyond what no answer does.
    caveat: what an answer says instead of ±.
    chosen: whether it draws one number a cell, which stands in the last tuple of a released cell,
        with those of all such draws; they are drawn cell by cell. Others have a tuple of their own.
    for_interval: whether it pays for the end of an interval.
    parts: itself, if it is noise on whole numbers.
    counts_rows: whether only so many rows of each person count for it.
    """

    name: str
    epsilon: Fraction
    limits: tuple[str, ...] = ()
    caveat = ""
    chosen = False
    for_interval = False

    @property
    def source(self) -> str:
        raise NotImplementedError

    @property
    def line(self) -> str:
        """What a certificate says of it."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[Part, ...]:
        return ()

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

    def check(self, schema: Schema) -> None:
        """Refuses what no engine could compute: from the bounds, and not after the debit."""

    def cuts(self, schema: Schema) -> tuple[str, ...]:
        """Where it cuts what one person adds to a sum, in words."""
        return ()

    def read(self, rows: Rows) -> None:
        """Reads what it needs, before anything is drawn."""

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        """The numbers that leave, for each of the cells."""
        raise NotImplementedError


@dataclass(frozen=True)
class Noise(Part, Draw):
    """Whole numbers of every cell with noise that is calibrated together."""

    @property
    def parts(self) -> tuple[Part, ...]:
        return (self,)

    def atoms(self, measured: Mapping[Measure, int]) -> Atoms:
        """The true numbers of a cell that its components are made of."""
        raise NotImplementedError

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        return self.release([self.atoms(rows.measured[cell]) for cell in cells], source)

    @property
    def line(self) -> str:
        law = self.law
        if isinstance(law, OptimalBox):
            scale = f"core {', '.join(f'{c:.6g}' for c in law.core)} steps"
        elif isinstance(law, tuple):
            scale = f"scale {', '.join(f'{one.scale:.6g}' for one in law)} steps"
        else:
            scale = repr(law)
        return f"{self.name} on {', '.join(self._components_in_words())}: {scale}"

    def _components_in_words(self) -> list[str]:
        return [f"{c.kind} {c.column}".strip() for c in self.components]
