"""A true value becomes a private one."""

from .individual import INDIVIDUAL_ASSUMES, INDIVIDUAL_LIMITS, individual
from .individual_steps import individual_steps
from .part import Atoms, Component, Part
from .released import Released
from .smooth import smooth_release

__all__ = [
    "INDIVIDUAL_ASSUMES",
    "INDIVIDUAL_LIMITS",
    "Atoms",
    "Component",
    "Part",
    "Released",
    "individual",
    "individual_steps",
    "smooth_release",
]
