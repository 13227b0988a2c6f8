"""A request that is paid for: its terms, price and identity, how it is drawn and read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar

from ..arguments import Number, exact, flag, law_epsilon
from ..engine.contract import Engine
from ..errors import refuse
from ..noise.criterion import Minimise as OfLaw
from ..privacy import Neighbours
from ..privacy.loss import SMALLEST, EpsilonDelta, Loss
from ..schema import Schema
from ..text import exactly
from ..version import LAYOUT
from .answer import Answer
from .answers import Answers
from .certify import certify
from .plan.plan import Plan
from .release import Released, ReleasedMany, release, release_many

if TYPE_CHECKING:
    from .workload.plan import Workload


Minimise = OfLaw | Literal["mean"]
"""Which error is made least; "mean" only of several questions."""
Accuracy = tuple[Literal["interval", "mean-interval"], Number, Number]
"""("interval", level, reach): a margin of error of `reach` at this level of confidence;
"mean-interval" only of several questions."""
OF_MANY = ("epsilon", "minimise", "accuracy")
"""The terms on which several questions are asked together."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The arguments of `ask` and `explain` beside the question; see `Session.ask`."""

    epsilon: Number | None = None
    minimise: Minimise = "variance"
    accuracy: Accuracy | None = None
    prior: Any = None
    delta: Number | None = None
    interval: Number | None = None
    mechanism: str | None = None
    measure_cut: Number | None = None
    clip: str | None = None
    individual: bool = False

    def __post_init__(self) -> None:
        flag(self.individual, "individual")
        if self.clip not in (None, "auto"):
            raise refuse("ask.unknown-clip", clip=str(self.clip)[:60])
        if self.clip is not None and (self.accuracy is not None or self.believes):
            raise refuse("ask.clip-with-accuracy")
        others = (self.interval, self.mechanism, self.measure_cut, self.clip)
        if self.individual and any(given is not None for given in others):
            raise refuse("ask.individual-with-other-terms")

    @classmethod
    def of(cls, call: Mapping[str, Any]) -> Self:
        """The terms among the arguments of a call, which are its `locals()`."""
        return cls(**{term.name: call[term.name] for term in fields(cls) if term.name in call})

    @property
    def believes(self) -> bool:
        """Whether the question comes with a prior."""
        return self.prior is not None or self.delta is not None


def affordable(epsilon: Number, delta: Number | None = None) -> EpsilonDelta:
    """A price that some law of noise can have; refused here, before anything is paid."""
    price = EpsilonDelta.of(epsilon, 0 if delta is None else delta)
    if exact(epsilon, "epsilon") < SMALLEST.epsilon:
        raise refuse("ask.epsilon-too-small", epsilon=epsilon)
    law_epsilon(price.epsilon)
    return price


def price_for(
    epsilon: Number | None, accuracy: object, least: Callable[[object], EpsilonDelta]
) -> EpsilonDelta:
    """The price that was given, or the `least` that reaches the accuracy; one of the two."""
    if epsilon is not None and accuracy is not None:
        raise refuse("ask.epsilon-and-accuracy")
    if epsilon is not None:
        return affordable(epsilon)
    if accuracy is None:
        raise refuse("ask.epsilon-missing")
    return least(accuracy)


T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Inquiry(Generic[T]):
    """What the session pays for, draws, stores and reads, for any kind of question.

    price: as the mechanism's proof states it. At no price nothing is paid, stored or read.
    identity: decides the law of the released numbers and how they are read; stored answers are
        found by it.
    asked: the question, as the ledger keeps it.
    draw: reads the rows and gives the released bytes; called once the price is paid.
    read: makes the answer from the released bytes and whether they were stored before.
    check: refuses whatever `draw` may refuse, before anything is paid; it draws nothing.
    public: the released bytes where nothing is paid.
    proved: the neighbours that the price is proved for; None for those of the schema.
    person, column, question_name, times: as the ledger's `Charge` and `reserve` take them.
    """

    price: Loss
    identity: str
    asked: str
    draw: Callable[[Engine], bytes]
    read: Callable[[bytes, bool], T]
    check: Callable[[], None] = lambda: None
    public: bytes = b""
    proved: Neighbours | None = None
    person: str | None = None
    column: Literal["dp", "individual"] = "dp"
    question_name: str | None = None
    times: int | None = None


def identity_of(*parts: str) -> str:
    """A digest of the parts together."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def identity_under(schema: Schema, *parts: str) -> str:
    """The same of parts that are read under a schema, and stored as this release of Tenue does."""
    return identity_of(*parts, str(LAYOUT), schema.digest, schema.version or "")


def plan_identity(plan: Plan, schema: Schema) -> str:
    """A digest of all that decides an answer and how it is read: an answer is never read as
    another's."""
    price, mechanism = str(plan.price.units), plan.chosen.mechanism
    parts = [plan.question.canonical, price, str(plan.criterion), mechanism]
    if plan.interval is not None:
        parts.append(f"interval {exactly(plan.interval)}")
    if plan.cut is not None:
        parts.append(f"measure_cut {plan.cut.price.units}")
    return identity_under(schema, *parts)


def check_draws(plan: Plan) -> None:
    """Refuses whatever the draws of a plan may refuse, before they are paid for."""
    for draw in plan.strategy.draws:
        draw.check_draw(plan.cells)
    if plan.cut is not None:
        plan.cut.part.check_draw(1)


def inquire(plan: Plan, schema: Schema, seal: str = "") -> Inquiry[Answer]:
    """One question, answered with noise or by selection; `seal` as in `certify`."""

    def read(stored: bytes, replayed: bool) -> Answer:
        price = Fraction(0) if replayed else plan.epsilon
        released, certificate = Released.from_bytes(stored), certify(plan, schema, seal)
        return Answer(plan, schema, released, certificate, price, replayed)

    return Inquiry(
        price=plan.price,
        identity=plan_identity(plan, schema),
        asked=plan.sql,
        draw=lambda engine: release(plan, engine, schema).to_bytes(),
        read=read,
        check=lambda: check_draws(plan),
        public=Released(((),)).to_bytes(),
    )


def inquire_many(workload: Workload, schema: Schema, seal: str = "") -> Inquiry[Answers]:
    """Several questions at one price."""
    plans = workload.plans

    def check() -> None:
        for plan in plans:
            check_draws(plan)
        for block in workload.blocks:
            block.check_draw()
        if workload.together is not None:
            workload.together.check_draw(1)

    def read(stored: bytes, replayed: bool) -> Answers:
        from .workload.estimate import estimated

        price = Fraction(0) if replayed else workload.epsilon
        released = ReleasedMany.from_bytes(stored)
        cells = estimated(workload, released.blocks)
        answers = [
            Answer(
                *(plan, schema, released.apart[number] or Released(cells[number])),
                *(certify(plan, schema, seal), price, replayed),
                together=len(plans),
            )
            for number, plan in enumerate(plans)
        ]
        return Answers(answers, price, workload.saved, workload)

    return Inquiry(
        price=workload.price,
        identity=identity_of(
            *(plan_identity(plan, schema) for plan in plans),
            *(block.digest for block in workload.blocks),
        ),
        asked="; ".join(plan.sql for plan in plans),
        draw=lambda engine: release_many(workload, engine, schema).to_bytes(),
        read=read,
        check=check,
        public=ReleasedMany((), (Released(((),)),) * len(plans)).to_bytes(),
    )
