"""A public table that recodes a category: for each of its keys, what the key stands for.

Nothing in it is about a person. Its rows are read with the schema, and are part of what it means.
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

from ..frozen import dataclass
from .named import Named

Cell = str | Fraction | None
"""A text, a number, or nothing."""


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """A public table.

    key: the column whose values are all different; keys: these values.
    columns: what each key stands for, in the order of `keys`.
    """

    name: str
    key: str
    keys: tuple[str, ...]
    columns: Named[tuple[Cell, ...]]

    @property
    def digest(self) -> str:
        """The SHA-256 of what it says, in whatever order."""
        cells = [
            [None if cell is None else str(cell) for cell in self.columns[c]] for c in self.columns
        ]
        rows = sorted(zip(self.keys, *cells, strict=True), key=lambda row: row[0])
        names = [self.key.lower(), *(name.lower() for name in self.columns)]
        return hashlib.sha256(json.dumps([names, rows]).encode()).hexdigest()
