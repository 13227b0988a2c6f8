"""A true value becomes a private one.

Part, Component, Atoms     whole numbers and the noise that goes on them
refine                     the analyst's belief, raised near the truth
expected_error             how far a refined answer is off, averaged over the belief
individual                 an answer calibrated to this very table: individual DP
individual_steps           the same on sorted whole steps
smooth_release             an answer calibrated to the smooth sensitivity of this table
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from .individual.steps import individual_steps
    from .individual.value import INDIVIDUAL_ASSUMES, INDIVIDUAL_LIMITS, Released, individual
    from .part import Atoms, Component, Part
    from .refinement.density import RefinedDensity
    from .refinement.error import expected_error
    from .refinement.points import RefinedPoints
    from .refinement.refine import refine
    from .smooth import smooth_release

__all__ = [
    "INDIVIDUAL_ASSUMES",
    "INDIVIDUAL_LIMITS",
    "Atoms",
    "Component",
    "Part",
    "RefinedDensity",
    "RefinedPoints",
    "Released",
    "expected_error",
    "individual",
    "individual_steps",
    "refine",
    "smooth_release",
]

lazily(
    __name__,
    {
        ".individual.steps": "individual_steps",
        ".individual.value": "INDIVIDUAL_ASSUMES INDIVIDUAL_LIMITS Released individual",
        ".part": "Atoms Component Part",
        ".refinement.density": "RefinedDensity",
        ".refinement.error": "expected_error",
        ".refinement.points": "RefinedPoints",
        ".refinement.refine": "refine",
        ".smooth": "smooth_release",
    },
)
