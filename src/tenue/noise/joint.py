"""The noise of several whole numbers, as mechanisms use it; each law registers in its own file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from functools import singledispatch
from typing import Any, Protocol

from ..errors import Fault
from .law import GridLaw, Ints
from .source import Source


class Blend(Protocol):
    """The error of a weighted sum, by formulas of the continuous law."""

    @property
    def variance(self) -> float: ...
    @property
    def mean_absolute_error(self) -> float: ...
    def half_width(self, outside: float) -> float: ...


class Joint(ABC):
    """The noise of several whole numbers. The `quick` numbers come from formulas alone."""

    @abstractmethod
    def steps(self, size: int, source: Source | None = None) -> Ints:
        """Independent vectors, one a row."""

    @abstractmethod
    def check_draw(self, size: int = 1) -> None:
        """Refuses everything that `steps` would refuse for so many vectors, without a draw."""

    @property
    @abstractmethod
    def whole(self) -> Any:
        """The integer law, or laws, that are drawn from."""

    @property
    @abstractmethod
    def words(self) -> str:
        """Its scale as a certificate states it."""

    @abstractmethod
    def variance(self, j: int) -> float: ...

    @abstractmethod
    def mean_absolute_error(self, j: int) -> float: ...

    @abstractmethod
    def half_width(self, j: int, level: Fraction) -> float:
        """Half of the shortest symmetric interval of component j."""

    @abstractmethod
    def alone(self, j: int, unit: Fraction) -> Any:
        """The law of `unit` times component j, as Bayes uses it."""

    def quick_mean_absolute_error(self, j: int) -> float:
        return self.mean_absolute_error(j)

    def quick_half_width(self, j: int, level: Fraction) -> float:
        return self.half_width(j, level)

    def independent(self, j: int) -> GridLaw | None:
        """The law of component j, if it is independent of the others."""
        return None

    def blend(self, share: float, sign: int) -> Blend:
        """Of share·x₀ − sign·(1 − share)·x₁, for the pairs that means are read off."""
        raise Fault("this noise is not for a pair")


@singledispatch
def joint(law: object) -> Joint:
    """The questions above, answered for a law of noise, or for a tuple of independent laws."""
    raise Fault(f"{type(law).__name__} is no noise of whole numbers")
