"""Many questions at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._lazy import lazily

if TYPE_CHECKING:
    from .workloads import marginals, prefixes, ranges

__all__ = ["marginals", "prefixes", "ranges"]

lazily(__name__, {".workloads": "marginals prefixes ranges"})
