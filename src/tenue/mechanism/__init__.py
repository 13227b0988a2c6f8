"""Mechanisms: from a true value to a private one.

Part, Component, Atoms     whole numbers and the noise that goes on them
refine                     the analyst's belief, raised near the truth
expected_error             the error of a refined answer, averaged over the belief
exponential                the choice of a candidate by its score
individual                 an answer calibrated to this very table: individual DP
individual_steps           the same on sorted whole steps
smooth_release             an answer calibrated to the smooth sensitivity of this table
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazily

if TYPE_CHECKING:
    from .additive_noise import Atoms, Component, Part
    from .exponential_mechanism import exponential
    from .individual_dp import (
        INDIVIDUAL_ASSUMES,
        INDIVIDUAL_LIMITS,
        Released,
        individual,
        individual_steps,
    )
    from .refinement.density import RefinedDensity
    from .refinement.points import RefinedPoints
    from .refinement.refine import expected_error, refine
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
    "exponential",
    "individual",
    "individual_steps",
    "refine",
    "smooth_release",
]

lazily(
    __name__,
    {
        ".additive_noise": "Atoms Component Part",
        ".exponential_mechanism": "exponential",
        ".individual_dp": (
            "individual_steps INDIVIDUAL_ASSUMES INDIVIDUAL_LIMITS Released individual"
        ),
        ".refinement.density": "RefinedDensity",
        ".refinement.points": "RefinedPoints",
        ".refinement.refine": "expected_error refine",
        ".smooth": "smooth_release",
    },
)
