"""What an analyst may conclude from an answer and a belief, at no price."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..errors import refuse
from ..estimate import count, require_free, total
from ..mechanism.error import Term
from ..promise import Promise
from .family.reading import Noisy
from .plan.plan import Plan

if TYPE_CHECKING:
    from ..estimate.posterior import Posterior


@dataclass(frozen=True)
class Noise:
    """The noise of a plan whose answer is one noisy number.

    law: in units of the answer. counted: whether the number counts rows or units.
    """

    term: Term
    law: Any
    counted: bool

    def value(self, cell: Noisy) -> Fraction:
        """The noisy number, as it left."""
        return self.term.weight * cell[self.term.part][self.term.component]


def noise_of(plan: Plan) -> Noise | None:
    """The law of the one count or sum that a plan answers; None for any other."""
    term = plan.readings[0].term if len(plan.readings) == 1 and plan.cells == 1 else None
    if term is None:
        return None
    part, unit = plan.parts[term.part], abs(term.weight)
    counts = part.components[term.component].kind in ("rows", "present", "units")
    return Noise(term, part.noise.alone(term.component, unit), counts and unit == 1)


def estimate(plan: Plan, cell: Noisy, promise: Promise, prior: Any) -> Posterior:
    """The posterior of the one count or sum that an answer holds.

    Guarantee
        Bayes' rule with the law that was really drawn from. Refused after individual differential
        privacy, and where a value is not one noisy number: means, ranks, several cells.
    """
    require_free(promise=promise)
    noise = noise_of(plan)
    if noise is None:
        raise refuse("query.answer-not-noisy-number")
    return (count if noise.counted else total)(noise.value(cell), noise.law, prior)
