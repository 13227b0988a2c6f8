"""What every engine promises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from .request import Request

__all__ = ["Cells", "Engine"]

Cells = Mapping[tuple[int, ...], tuple[int, ...]]
"""For each cell that has rows, by the numbers of its keys, the measures in the order asked."""


class Engine(Protocol):
    """Reads rows and gives whole numbers.

    Guarantee
        `measure` returns exact integers that depend on the multiset of rows only: not on their
        order, nor on the engine. Whatever goes wrong inside is one `EngineFault` whose text says
        nothing about rows.
    """

    def measure(self, request: Request) -> Cells:
        """The measures of every cell that has rows."""
        ...

    def close(self) -> None:
        """Lets go of files and connections."""
        ...
