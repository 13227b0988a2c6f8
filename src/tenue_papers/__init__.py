"""Every table and figure of the papers, computed again beside the printed one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenue._lazy import lazily

if TYPE_CHECKING:
    from .catalogue import exhibits
    from .cell import Cell, Verdict
    from .data import Data
    from .draw import Figure, picture
    from .exhibit import Chapter, Exhibit, Shown
    from .reproduce import Book, reproduce

__all__ = [
    "Book",
    "Cell",
    "Chapter",
    "Data",
    "Exhibit",
    "Figure",
    "Shown",
    "Verdict",
    "exhibits",
    "picture",
    "reproduce",
]

lazily(
    __name__,
    {
        ".catalogue": "exhibits",
        ".cell": "Cell Verdict",
        ".data": "Data",
        ".draw": "Figure picture",
        ".exhibit": "Chapter Exhibit Shown",
        ".reproduce": "Book reproduce",
    },
)
