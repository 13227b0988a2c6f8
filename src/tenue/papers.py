"""The papers computed again: the names of `tenue_papers`, as `tn.papers`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import lazily

if TYPE_CHECKING:
    from tenue_papers import (
        Book,
        Cell,
        Chapter,
        Data,
        Exhibit,
        Figure,
        Shown,
        Verdict,
        exhibits,
        picture,
        reproduce,
    )

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

lazily(__name__, {"tenue_papers": " ".join(__all__)})
