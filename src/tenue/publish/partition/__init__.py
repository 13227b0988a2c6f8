"""Rows into groups of similar rows.

Each algorithm returns a `Partition`; none of them looks at names, schemas or promises.
"""

from __future__ import annotations

from .individual_ranking import individual_ranking
from .mdav import mdav, v_mdav
from .mixed_records import Records
from .ordered import ordered, reference_points
from .partition import Partition

__all__ = [
    "Partition",
    "Records",
    "individual_ranking",
    "mdav",
    "ordered",
    "reference_points",
    "v_mdav",
]
