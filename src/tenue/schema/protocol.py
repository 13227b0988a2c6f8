"""How the holder lets a table be asked: the interactive protocols of the thesis, section 5.4.1."""

from __future__ import annotations

from fractions import Fraction

from ..frozen import dataclass
from .literal import show

FIXED_NOISE = "fixed-noise"
REFINEMENT = "refinement"
PROTOCOLS = (FIXED_NOISE, REFINEMENT)


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """What every question about the table is answered with.

    kind: "fixed-noise": each answer has discrete Laplace noise of exactly the scale and costs its
        sensitivity over the scale, while the budget lasts (protocol 1). "refinement": each question
        comes with a prior and an epsilon of its own and is answered by refinement (protocol 2).
    scale: the scale of the noise, in units of the answer; None for refinement.
    """

    kind: str
    scale: Fraction | None = None

    def __str__(self) -> str:
        return self.kind if self.scale is None else f"{self.kind} of scale {show(self.scale)}"
