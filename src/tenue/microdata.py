"""Protected copies of tables: the public names of the room `publish`, as `tn.microdata`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import lazily

if TYPE_CHECKING:
    from .publish import (
        Partition,
        Records,
        Release,
        Step,
        individual_ranking,
        mdav,
        ordered,
        permuted,
        records,
        reference_points,
        v_mdav,
    )

__all__ = [
    "Partition",
    "Records",
    "Release",
    "Step",
    "individual_ranking",
    "mdav",
    "ordered",
    "permuted",
    "records",
    "reference_points",
    "v_mdav",
]

lazily(__name__, {"tenue.publish": " ".join(__all__)})
