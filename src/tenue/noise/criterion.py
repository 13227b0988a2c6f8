"""The criterion by which noise is optimal."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ..arguments import Number, fraction_of_one
from ..errors import refuse
from ..text import exactly

Kind = Literal["variance", "absolute-error", "interval"]


@dataclass(frozen=True)
class Criterion:
    """Least variance, least mean absolute error, or the shortest interval at `level`."""

    kind: Kind
    level: Fraction | None = None

    def __str__(self) -> str:
        return self.kind if self.level is None else f"{self.kind} at {exactly(self.level)}"


VARIANCE = Criterion("variance")
ABSOLUTE_ERROR = Criterion("absolute-error")


Minimise = (
    Literal["variance", "absolute-error"] | tuple[Literal["interval", "volume"], Number] | Criterion
)
"""Which error is made least: "variance", "absolute-error", or ("interval", level)."""


def criterion(given: object) -> Criterion:
    """The criterion named by "variance", "absolute-error" or ("interval", level)."""
    if isinstance(given, Criterion):
        return given
    if isinstance(given, str) and given == "variance":
        return VARIANCE
    if isinstance(given, str) and given == "absolute-error":
        return ABSOLUTE_ERROR
    if (
        isinstance(given, tuple | list)
        and len(given) == 2
        and str(given[0]) in ("interval", "volume")
    ):
        return Criterion("interval", fraction_of_one(given[1], "level"))
    raise refuse("noise.unknown-minimise", given=given)
