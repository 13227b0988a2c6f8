"""Rows into groups of similar rows.

Each algorithm returns a `Partition`; none of them looks at names, schemas or promises.
"""

from __future__ import annotations

from .individual_ranking import individual_ranking
from .mdav import mdav
from .mixed import Records
from .ordered import ordered
from .partition import Partition
from .reference_points import reference_points
from .v_mdav import v_mdav

__all__ = [
    "Partition",
    "Records",
    "individual_ranking",
    "mdav",
    "ordered",
    "reference_points",
    "v_mdav",
]
