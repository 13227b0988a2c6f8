"""A true value becomes a private one.

Part, Component, Atoms     whole numbers and the noise that goes on them
refine                     the analyst's belief, raised near the truth
expected_error             how far a refined answer is off, averaged over the belief
"""

from .part import Atoms, Component, Part
from .refinement import refine
from .refinement_density import RefinedDensity
from .refinement_error import expected_error
from .refinement_points import RefinedPoints

__all__ = [
    "Atoms",
    "Component",
    "Part",
    "RefinedDensity",
    "RefinedPoints",
    "expected_error",
    "refine",
]
