"""Many questions at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy import lazily

if TYPE_CHECKING:
    from .declare import marginals, prefixes, ranges

__all__ = ["marginals", "prefixes", "ranges"]

lazily(__name__, {".declare": "marginals prefixes ranges"})
