"""Sensitivity: the most that one person can move an answer.

* `worst_case`: in any table at all; depends on the schema only, and may be printed.
* `local`: in this table; a fact about the rows, never to be printed.
* `smooth`: in this table or one near it, discounted by distance; a fact about the rows too.
* `chain`: of all groups of a table that is partitioned by rank in one fixed order.
* `admissible_beta` and the like: which heavy-tailed noise a smooth sensitivity may scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazily

if TYPE_CHECKING:
    from . import chain, worst_case
    from .local import local
    from .smooth import (
        ROUNDING,
        Peak,
        admissible_alpha,
        admissible_beta,
        dilation_loss,
        is_admissible,
        sliding_loss,
        smooth,
        smooth_peak,
    )

__all__ = [
    "ROUNDING",
    "Peak",
    "admissible_alpha",
    "admissible_beta",
    "chain",
    "dilation_loss",
    "is_admissible",
    "local",
    "sliding_loss",
    "smooth",
    "smooth_peak",
    "worst_case",
]

lazily(
    __name__,
    {
        ".chain": "chain",
        ".local": "local",
        ".smooth": (
            "Peak ROUNDING smooth smooth_peak admissible_alpha admissible_beta dilation_loss "
            "is_admissible sliding_loss"
        ),
        ".worst_case": "worst_case",
    },
)
