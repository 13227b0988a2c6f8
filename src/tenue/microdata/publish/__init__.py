"""Groups become a publishable table."""

from __future__ import annotations

from .centroid import centroids
from .permute import permuted, shuffled
from .swap import swap

__all__ = ["centroids", "permuted", "shuffled", "swap"]
