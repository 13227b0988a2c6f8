"""Groups become a publishable table."""

from __future__ import annotations

from .permute import permuted, shuffled

__all__ = ["permuted", "shuffled"]
