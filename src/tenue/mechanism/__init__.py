"""A true value becomes a private one."""

from .part import Atoms, Component, Part

__all__ = ["Atoms", "Component", "Part"]
