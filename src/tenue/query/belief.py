"""Answers that refine what the analyst believes.

A question about one person, or a count that the analyst has a belief about, is answered by one
sample of the belief, raised near the truth as far as the promise allows. Nothing else leaves:
neither the raised belief nor its interval nor its error, for each of them is the truth in disguise
(soundness section 4).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..engine.contract import Engine
from ..errors import InvalidPrior, NotPromised
from ..estimate import refined
from ..mechanism import expected_error, refine
from ..noise.source import SYSTEM, Source, require_safe
from ..promise import Certificate, Pure, show
from ..schema import Boolean, Bounded, Category, Column, Number, Schema
from ..version import VERSION
from .certify import ASSUMPTIONS
from .personal import Personal
from .plan import shown

__all__ = [
    "BeliefPlan",
    "Believed",
    "answer_personal",
    "certify_personal",
    "plan_personal",
    "stored_value",
]

MECHANISM = "knowledge refinement"
_LIMITS = (
    "Mass never leaves the belief: what the analyst held impossible is never answered.",
    "The answer does not say whether the person is in the table.",
    "Questions about one person add up for that person, whoever asks them.",
)


@dataclass(frozen=True)
class BeliefPlan:
    """How a question about one person is answered, and how far off that will be.

    expected_error: averaged over the belief, in units of its distance; reads no rows.
    without: the error of answering from the belief alone.
    """

    question: Personal
    prior: Any
    distance: Any
    epsilon: Fraction
    nano: int
    expected_error: float
    without: float

    def __str__(self) -> str:
        q = self.question
        return "\n".join(
            [
                f"{q.column} of one {q.unit} in {q.table}: a question about one person",
                f"epsilon {show(self.epsilon)}",
                "",
                "   mechanism             mean |error| under the prior",
                f"→  {MECHANISM:20}  {shown(self.expected_error)}",
                f"   the prior alone       {shown(self.without)}",
                "",
                "Noise is no candidate: one person decides the whole answer.",
            ]
        )

    __repr__ = __str__


@dataclass(frozen=True, repr=False)
class Believed:
    """The answer: one sample, and all that may be said about it.

    value: the sample. expected_error: averaged over the prior. posterior: what the analyst may
    conclude, given that the person is there.
    """

    plan: BeliefPlan
    value: Any
    certificate: Certificate
    price: Fraction
    replayed: bool = False

    @property
    def expected_error(self) -> float:
        return self.plan.expected_error

    @property
    def posterior(self) -> Any:
        """Bayes' rule from the prior and the sample: free."""
        return refined(
            self.value,
            self.plan.prior,
            self.plan.epsilon,
            kind="individual",
            distance=self.plan.distance,
        )

    def to_json(self) -> str:
        return json.dumps(
            {
                "value": self.value
                if isinstance(self.value, str | bool | int)
                else float(self.value),
                "expected_error": self.expected_error,
                "price": show(self.price),
                "replayed": self.replayed,
                "mechanism": MECHANISM,
                "certificate": self.certificate.to_dict(),
            },
            ensure_ascii=False,
        )

    def __str__(self) -> str:
        paid = "answered before, no charge" if self.replayed else f"epsilon {show(self.price)}"
        return f"{self.value}\n\n{paid}, {MECHANISM}; a sample of your prior, moved to the truth"

    __repr__ = __str__


def plan_personal(
    question: Personal, schema: Schema, prior: Any, nano: int, epsilon: Fraction
) -> BeliefPlan:
    """Checks the belief against the column, without looking at a row, and knows the error."""
    column = schema.column(question.column)
    belief = _fitted(prior, column)
    taxonomy = column.taxonomy if isinstance(column, Category) else None
    distance = taxonomy if taxonomy is not None and _branched(taxonomy) else None
    return BeliefPlan(
        question,
        belief,
        distance,
        epsilon,
        nano,
        expected_error(belief, epsilon, kind="individual", distance=distance),
        expected_error(belief, Fraction(1, 10**9), kind="individual", distance=distance),
    )


def answer_personal(
    plan: BeliefPlan, engine: Engine, schema: Schema, source: Source = SYSTEM
) -> bytes:
    """One sample of the refined belief, ready to be stored."""
    require_safe(source)
    q = plan.question
    found = engine.look_up(q.unit, q.name, q.column)
    truth = found[0] if len(found) == 1 else None
    value = None if truth is None else _value(schema.column(q.column), truth)
    law = refine(plan.prior, value, plan.epsilon, kind="individual", distance=plan.distance)
    sample = law.sample(None, source)
    kind = "number" if isinstance(sample, Fraction) else "plain"
    return json.dumps({kind: str(sample) if kind == "number" else sample}).encode()


def stored_value(stored: bytes) -> Any:
    """The sample that was stored."""
    given = json.loads(stored)
    return Fraction(given["number"]) if "number" in given else given["plain"]


def certify_personal(plan: BeliefPlan, schema: Schema) -> Certificate:
    """What is promised: a function of question, belief, schema and price only."""
    return Certificate(
        promise=Pure(plan.epsilon),
        neighbours="add-or-remove",
        unit=schema.unit,
        mechanism=MECHANISM,
        parameters={"epsilon": show(plan.epsilon), "prior": plan.prior.to_json()},
        source="Thesis, chapter 5, corrected: soundness section 4",
        assumptions=ASSUMPTIONS,
        does_not_promise=_LIMITS,
        schema_hash=schema.digest,
        version=VERSION,
    )


def _value(column: Column, number: int) -> Any:
    if isinstance(column, Category):
        return column.categories[number]
    if isinstance(column, Boolean):
        return bool(number)
    assert isinstance(column, Number)  # noqa: S101 - others were refused
    return number * column.grid


def _fitted(prior: Any, column: Column) -> Any:
    """The belief on the column's own values, or a refusal."""
    if not hasattr(prior, "to_json"):
        raise InvalidPrior(
            f"`prior` is of type {type(prior).__name__}",
            "`prior` is a belief of tn.prior",
            'Write tn.prior.Categorical({"flu": 0.1, "none": 0.9})',
        )
    if isinstance(column, Bounded) and not isinstance(column, Number):
        raise NotPromised(
            f"`{column.name}` is a {column.type}",
            "Beliefs are refined for categories, booleans and numbers",
            "Ask for another column",
        )
    if isinstance(column, Number):
        belief = prior.on_grid(column.grid) if hasattr(prior, "on_grid") else prior
        ends = [v for v in getattr(belief, "values", ()) if not column.low <= v <= column.high]
        if not hasattr(prior, "on_grid") or ends:
            raise InvalidPrior(
                f"The prior does not fit `{column.name}`",
                f"`{column.name}` goes from {float(column.low):g} to {float(column.high):g}",
                "Believe in numbers between those",
            )
        return belief
    allowed: tuple[Any, ...] = (
        tuple(column.categories) if isinstance(column, Category) else (False, True)
    )
    strange = [v for v in getattr(prior, "values", ()) if v not in allowed]
    if strange or not hasattr(prior, "values"):
        raise InvalidPrior(
            f"The prior holds values that `{column.name}` cannot have",
            f"`{column.name}` has {len(allowed)} categories",
            "Give masses to those only",
        )
    return prior


def _branched(taxonomy: Any) -> bool:
    """Whether some categories are nearer to each other than others."""
    return bool(taxonomy.depth > 1) if hasattr(taxonomy, "depth") else True
