"""Each question by itself, at an equal share of the price: the bar for what is done together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...noise.criterion import VARIANCE, Criterion
from ...promise.loss import NOTHING, EpsilonDelta
from ...schema import Schema
from ..family.strategy import sizes, split
from ..plan.make import make_plan
from ..plan.plan import Plan
from ..question import Aggregate, Question


@dataclass(eq=False)
class Alone:
    """The questions one by one.

    free: which of them are public. share: the price of each of the others.
    """

    questions: Sequence[Question]
    texts: Sequence[str]
    schema: Schema
    price: EpsilonDelta
    wanted: Criterion
    _plans: dict[Any, Plan] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.free = [self._like(question, self.price).free for question in self.questions]
        paying = self.free.count(False)
        self.share = split(self.price, paying) if paying else NOTHING

    def _like(self, question: Question, price: EpsilonDelta) -> Plan:
        """A plan of the same errors: they depend on what is asked, not on which rows."""
        kind = (
            *(question.aggregates(), question.keys and question.cells, question.where is None),
            *(question.computed, question.persons, price),
        )
        if kind not in self._plans:
            self._plans[kind] = make_plan(question, self.schema, price, self.wanted)
        return self._plans[kind]

    def like(self, number: int) -> Plan:
        """A plan with the errors of a question at its share."""
        return self._like(self.questions[number], self.price if self.free[number] else self.share)

    def plan(self, number: int) -> Plan:
        """The plan of a question at its share."""
        price = self.price if self.free[number] else self.share
        question, text = self.questions[number], self.texts[number]
        return make_plan(question, self.schema, price, self.wanted, text)

    def variances(self, number: int) -> dict[Aggregate, float]:
        """The variance of each of its aggregates, in squared units."""
        return {a: size**2 for a, size in sizes(self.like(number).strategy, VARIANCE).items()}

    def sizes(self, number: int) -> dict[Aggregate, float]:
        """Their errors, as the caller's criterion counts them."""
        return sizes(self.like(number).strategy, self.wanted)
