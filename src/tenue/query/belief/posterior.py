"""What an analyst may conclude from an answer and a belief, at no price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import refuse
from ...estimate import count, require_free, total
from ...mechanism.error import Term
from ...mechanism.part import Component
from ..family.reading import Linear

if TYPE_CHECKING:
    from ...estimate.posterior import Posterior
    from ..answer import Answer
    from ..plan.plan import Plan


@dataclass(frozen=True)
class Noise:
    """The noise of a plan whose answer is one noisy number.

    law: in units of the answer. counted: whether the number counts rows or units.
    """

    term: Term
    law: Any
    counted: bool


def noise_of(plan: Plan) -> Noise | None:
    """The law of the one count or sum that a plan answers; None for any other."""
    reading = plan.readings[0] if len(plan.readings) == 1 and plan.cells == 1 else None
    if not isinstance(reading, Linear) or len(reading.terms) != 1 or reading.constant:
        return None
    (term,) = reading.terms
    part = plan.parts[term.part]
    component = part.components[term.component]
    if not isinstance(component, Component):
        return None
    unit = abs(term.weight)
    counted = component.kind in ("rows", "present", "units") and unit == 1
    return Noise(term, part.noise.alone(term.component, unit), counted)


def estimate(answer: Answer, prior: Any) -> Posterior:
    """The posterior of the one count or sum that an answer holds.

    Guarantee
        Bayes' rule with the law that was really drawn from. Refused after individual differential
        privacy, and where a value is not one noisy number: means, ranks, several cells.
    """
    require_free(promise=answer.certificate.promise)
    noise = noise_of(answer.plan)
    if noise is None:
        raise refuse("query.answer-is-not-one-noisy-count-or")
    term = noise.term
    value = term.weight * answer.released.cells[0][term.part][term.component]
    return (count if noise.counted else total)(value, noise.law, prior)
