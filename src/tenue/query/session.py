"""The journey of a question, on one page.

parse → plan → choose → ledger.reserve → engine → mechanism → ledger.commit → answer

The ledger is debited durably before a row is read, and the answer is stored before it leaves.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ..engine.contract import Engine
from ..engine.open import open_engine
from ..errors import InvalidArgument, InvalidSchema, NotPromised
from ..ledger.composition import Charge
from ..ledger.contract import Ledger
from ..ledger.record import Balance
from ..number import NANO, Number, checked_call, law_epsilon, nano
from ..promise import checked_neighbours, show
from ..schema import Schema
from ..version import VERSION
from .accuracy import epsilon_for
from .answer import Answer, Answers, Released
from .batch import Batch, plan_batch
from .belief import (
    BeliefPlan,
    Believed,
    answer_personal,
    certify_personal,
    plan_personal,
    stored_value,
)
from .certify import certify
from .individual import approval, certify_individual, plan_individual, release_individual
from .opening import given_ledger, given_schema
from .parse import parse
from .personal import read_personal
from .plan import Plan, make_plan
from .release import release, release_batch
from .render import render

__all__ = ["Session", "explain_for", "protect"]

HOLDER = "holder"


@checked_call
def protect(
    source: object = None,
    *,
    schema: Schema | str | os.PathLike[str] | Mapping[str, Any],
    ledger: Ledger | str | os.PathLike[str] | None = None,
    analyst: str | None = None,
) -> Session:
    """A table that answers private questions, each paid from its ledger.

    Parameters
        source: the table: a path, a data frame or a connection; None for the schema's own source.
        schema: a `Schema`, or the path of its file.
        ledger: a ledger or its path; None for `<schema>.ledger` beside the schema's file.
        analyst: who asks; quotas are kept by this name. None is the holder, whose name nobody else
            may have.
    """
    if isinstance(analyst, str) and analyst.strip().casefold() == HOLDER:
        raise InvalidArgument(
            f"`analyst` is {analyst!r}",
            "The holder asks with analyst=None; an analyst of that name would have the holder's "
            "rights",
            "Leave `analyst` out, or give the analyst's own name",
        )
    described, beside = given_schema(schema)
    if not described.private:
        raise NotPromised(
            f"The bounds of `{described.name}` were read from its rows",
            "Bounds must be stated by the holder; those read from rows tell something about them",
            "Review the bounds, then remove `bounds_from_data` from the schema",
        )
    if described.budget is None:
        raise InvalidSchema(
            f"The schema of `{described.name}` has no budget",
            "A table is asked within a budget",
            "Add a section [budget] with total = 1.0, or what you decide",
        )
    books = given_ledger(ledger, beside)
    books.open_dataset(
        described.name,
        described.budget.total,
        described.budget.per_analyst,
        neighbours=checked_neighbours(described.neighbours),
        individual=described.budget.individual,
        schema_digest=described.digest,
        data_version=described.version or "",
    )
    engine = open_engine(source if source is not None else described.location, described)
    return Session(described, engine, books, HOLDER if analyst is None else analyst)


class Session:
    """A protected table, as one analyst sees it."""

    def __init__(self, schema: Schema, engine: Engine, ledger: Ledger, analyst: str) -> None:
        self.schema = schema
        self.ledger = ledger
        self.analyst = analyst
        self._engine = engine

    @property
    def budget(self) -> Balance:
        """What was spent and what remains."""
        return self.ledger.balance(self.schema.name)

    @checked_call
    def explain(
        self,
        sql: str,
        *,
        epsilon: Number | None = None,
        minimise: object = "variance",
        accuracy: object = None,
        prior: Any = None,
        interval: Number | None = None,
        mechanism: str | None = None,
    ) -> Plan | BeliefPlan:
        """Every admissible mechanism with its expected error and price. Reads no rows, costs
        nothing."""
        if prior is not None:
            return self._belief_plan(sql, prior, epsilon)
        return explain_for(
            sql,
            self.schema,
            epsilon=epsilon,
            minimise=minimise,
            accuracy=accuracy,
            interval=interval,
            mechanism=mechanism,
        )

    @checked_call
    def ask(
        self,
        sql: str,
        *,
        epsilon: Number | None = None,
        minimise: object = "variance",
        accuracy: object = None,
        key: str | None = None,
        fresh: bool = False,
        individual: bool = False,
        prior: Any = None,
        interval: Number | None = None,
        mechanism: str | None = None,
    ) -> Answer | Believed:
        """The private answer to a question.

        Parameters
            epsilon: what it may cost; or give `accuracy`.
            minimise: what shall be small: "variance", "absolute-error" or ("interval", level).
            accuracy: ("interval", level, reach): the least epsilon whose interval at `level` is
                within ±reach; refused where that depends on rows.
            key: an idempotency key: a retry with the same key gets the same answer and one debit.
            fresh: draw anew although the same question was answered before; costs again.
            individual: answer with individual differential privacy, which is not differential
                privacy: read `INDIVIDUAL_LIMITS`. It has a column of its own in the ledger. A named
                analyst may ask approved questions only; their limits hold for everybody.
            prior: for a question about one person, what you believe before asking; the answer is a
                sample of it, moved towards the truth.
            interval: a level such as 0.95: part of epsilon buys intervals in values for MEDIAN,
                QUANTILE, MIN and MAX, which otherwise have none. `answer.interval(0.95)` has them.
            mechanism: the name of a candidate of `explain`; None for the one with the least error.
        """
        if (interval is not None or mechanism is not None) and (individual or prior is not None):
            raise InvalidArgument(
                "`interval` or `mechanism` is given together with `individual` or `prior`",
                "An interval is bought, and a mechanism named, with differential privacy",
                "Leave one of them out",
            )
        if prior is not None and (individual or accuracy is not None):
            raise InvalidArgument(
                "`prior` is given together with `individual` or `accuracy`",
                "A belief is refined at an epsilon, with differential privacy",
                "Leave the others out",
            )
        if prior is not None:
            return self._ask_about_one(sql, prior, epsilon, key, fresh)
        if individual:
            return self._ask_individually(sql, epsilon, accuracy, key)
        plan = explain_for(
            sql,
            self.schema,
            epsilon=epsilon,
            minimise=minimise,
            accuracy=accuracy,
            interval=interval,
            mechanism=mechanism,
        )
        if plan.free:
            return self._answer(plan, Released(((),)), Fraction(0), replayed=False)
        cache_key = self._cache_key(plan)
        stored = self.ledger.cached(self.schema.name, cache_key)
        known = key is not None and self.ledger.has_key(self.schema.name, self.analyst, key)
        if stored is not None and not fresh and not known:
            return self._answer(plan, Released.from_bytes(stored), Fraction(0), replayed=True)
        for part in plan.parts:
            part.draw(1)  # whatever a law may refuse, it refuses before anything is paid
        found, before = self._paid(
            plan.nano,
            key,
            cache_key,  # with mechanism and schema: an answer is never read as another's
            lambda: release(plan, self._engine, self.schema).to_bytes(),
            # the first answer stays the one that is repeated, so a retry never sees another
            cache_key=cache_key if stored is None else None,
        )
        price = Fraction(0) if before else plan.epsilon
        return self._answer(plan, Released.from_bytes(found), price, replayed=before)

    @checked_call
    def ask_many(
        self,
        questions: Sequence[str],
        *,
        epsilon: Number,
        minimise: object = "variance",
        key: str | None = None,
        fresh: bool = False,
    ) -> Answers:
        """The private answers to several questions, at one price for all of them.

        The answers share one noise where that is better, so they are never worse than asked one by
        one at the same total; `.saved` says by how much the variance fell.

        Parameters
            epsilon: what all of them may cost together.
            minimise, key, fresh: as in `ask`.
        """
        batch = self._batch(questions, epsilon, minimise)
        if not batch.nano:
            free = Released.list_to_bytes([Released(((),))] * len(batch.plans))
            return self._answers(batch, free, Fraction(0), replayed=False)
        cache_key = hashlib.sha256(
            "\n".join(map(self._cache_key, batch.plans)).encode()
        ).hexdigest()
        stored = self.ledger.cached(self.schema.name, cache_key)
        known = key is not None and self.ledger.has_key(self.schema.name, self.analyst, key)
        if stored is not None and not fresh and not known:
            return self._answers(batch, stored, Fraction(0), replayed=True)
        for part in {part for plan in batch.plans for part in plan.parts}:
            part.draw(1)
        found, before = self._paid(
            batch.nano,
            key,
            cache_key,
            lambda: release_batch(batch, self._engine, self.schema),
            cache_key=cache_key if stored is None else None,
        )
        price = Fraction(0) if before else Fraction(batch.nano, NANO)
        return self._answers(batch, found, price, replayed=before)

    # -- the steps -----------------------------------------------------------------------------

    def _belief_plan(self, sql: str, prior: Any, epsilon: Number | None) -> BeliefPlan:
        question = read_personal(sql, self.schema)
        if question is None:
            raise NotPromised(
                "A prior is given for a question that is not about one person",
                "A belief is refined by SELECT column FROM table WHERE unit = constant",
                "Leave `prior` out, and give it to the answer: .estimate(prior)",
            )
        if epsilon is None:
            raise InvalidArgument(
                "`epsilon` is not given", "A belief is refined at an epsilon", "Add epsilon=1"
            )
        price = affordable(epsilon)
        return plan_personal(question, self.schema, prior, price, Fraction(price, NANO))

    def _ask_about_one(
        self, sql: str, prior: Any, epsilon: Number | None, key: str | None, fresh: bool
    ) -> Believed:
        plan = self._belief_plan(sql, prior, epsilon)
        person = hashlib.sha256(f"{plan.question.unit.lower()}\n{plan.question.name}".encode())
        parts = (
            plan.question.canonical,
            str(plan.nano),
            plan.prior.to_json(),
            VERSION,
            self.schema.digest,
            self.schema.version or "",
        )
        cache_key = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        stored = self.ledger.cached(self.schema.name, cache_key)
        known = key is not None and self.ledger.has_key(self.schema.name, self.analyst, key)
        if stored is not None and not fresh and not known:
            found, before = stored, True
        else:
            found, before = self._paid(
                plan.nano,
                key,
                cache_key,
                lambda: answer_personal(plan, self._engine, self.schema),
                person=person.hexdigest(),
                cache_key=cache_key if stored is None else None,
            )
        return Believed(
            plan=plan,
            value=stored_value(found),
            certificate=certify_personal(plan, self.schema),
            # replacing a person is removing one and adding another
            price=plan.epsilon * (0 if before else 2 if self.schema.neighbours == "replace" else 1),
            replayed=before,
        )

    def _ask_individually(
        self, sql: str, epsilon: Number | None, accuracy: object, key: str | None
    ) -> Answer:
        if epsilon is None or accuracy is not None:
            raise InvalidArgument(
                "Individual differential privacy is asked without an epsilon",
                "No accuracy can be told, for it would be a fact about the rows",
                "Write epsilon=0.5",
            )
        question = parse(sql, self.schema)
        plan = plan_individual(
            question, render(question, self.schema), self.schema, affordable(epsilon)
        )
        approved = approval(question, self.schema)
        if self.analyst != HOLDER and (approved is None or not approved.limited):
            raise NotPromised(
                "The holder has not approved the question for individual differential privacy",
                "Analysts may ask approved questions that state `epsilon` and `times`",
                "Ask without individual=True, or ask the holder to approve it in [questions]",
            )
        least = None if approved is None else approved.epsilon
        if least is not None and plan.epsilon < least:
            raise NotPromised(
                f"`epsilon` is {show(plan.epsilon)}",
                f"The holder approved the question for at least {show(least)}",
                f"Ask with epsilon={show(least)}",
            )
        found, before = self._paid(
            plan.nano,
            key,
            self._cache_key(plan),
            lambda: release_individual(plan, self._engine, self.schema).to_bytes(),
            column="individual",
            question_name=None if approved is None else approved.name,
            times=None if approved is None else approved.times,
        )
        answer = self._answer(
            plan,
            Released.from_bytes(found),
            Fraction(0) if before else plan.epsilon,
            replayed=before,
        )
        return replace(answer, certificate=certify_individual(plan, self.schema))

    def _paid(
        self,
        price: int,
        key: str | None,
        question: str,
        draw: Callable[[], bytes],
        person: str | None = None,
        **options: Any,
    ) -> tuple[bytes, bool]:
        """Pays, draws and stores; or what is stored under the key, and True.

        The price stays spent whatever goes wrong after it was paid: a row may have been read.
        """
        # a question about one person is proved under add-or-remove; the ledger knows what it costs
        proved = self.schema.neighbours if person is None else "add-or-remove"
        charge = Charge(nano=price, atto=0, neighbours=checked_neighbours(proved), person=person)
        reservation = self.ledger.reserve(
            self.schema.name, self.analyst, charge, key, question, **options
        )
        if reservation.answer is not None:
            return reservation.answer, True
        try:
            drawn = draw()
            self.ledger.commit(reservation, drawn)
        except BaseException:
            self.ledger.abandon(reservation, "no answer")
            raise
        return drawn, False

    def _batch(self, questions: Sequence[str], epsilon: Number, minimise: object) -> Batch:
        if isinstance(questions, str) or not all(isinstance(q, str) for q in questions):
            raise InvalidArgument(
                "`questions` is not a list of texts",
                "Several questions are asked as a list of SQL texts",
                'Write ["SELECT ...", "SELECT ..."]',
            )
        parsed = [parse(sql, self.schema) for sql in questions]
        texts = [render(question, self.schema) for question in parsed]
        return plan_batch(parsed, texts, self.schema, affordable(epsilon), minimise)

    def _answers(self, batch: Batch, stored: bytes, price: Fraction, *, replayed: bool) -> Answers:
        together = len(batch.plans)
        answers = [
            replace(self._answer(plan, one, price, replayed=replayed), together=together)
            for plan, one in zip(batch.plans, Released.list_from_bytes(stored), strict=True)
        ]
        return Answers(answers, price, batch.saved)

    def _cache_key(self, plan: Plan) -> str:
        """What decides the released numbers and how they are read: question, price, criterion,
        mechanism, intervals bought, schema, data version, and the version of Tenue."""
        parts = (
            plan.question.canonical,
            str(plan.nano),
            str(plan.criterion),
            plan.chosen.mechanism,
            *(() if plan.interval is None else (f"interval {show(plan.interval)}",)),
            VERSION,
            self.schema.digest,
            self.schema.version or "",
        )
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def _answer(self, plan: Plan, released: Released, price: Fraction, *, replayed: bool) -> Answer:
        return Answer(
            plan=plan,
            schema=self.schema,
            released=released,
            certificate=certify(plan, self.schema),
            price=price,
            replayed=replayed,
        )

    def close(self) -> None:
        """Lets go of the table and of the ledger's file."""
        self._engine.close()
        self.ledger.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def affordable(epsilon: Number) -> int:
    """Nano-epsilon that a law of noise can be made for; refused here, before anything is paid."""
    price = nano(epsilon)
    law_epsilon(Fraction(price, NANO))
    return price


def explain_for(
    sql: str,
    schema: Schema,
    *,
    epsilon: Number | None = None,
    minimise: object = "variance",
    accuracy: object = None,
    interval: Number | None = None,
    mechanism: str | None = None,
) -> Plan:
    """parse → plan → choose: all that happens before the ledger, from the schema alone."""
    question = parse(sql, schema)
    if (epsilon is None) == (accuracy is None):
        missing = epsilon is None
        raise InvalidArgument(
            f"{'Neither' if missing else 'Both'} `epsilon` {'nor' if missing else 'and'} "
            f"`accuracy` {'is' if missing else 'are'} given",
            "A question is asked at an epsilon, or for an accuracy",
            "Add epsilon=0.5" if missing else "Leave one of them out",
        )
    if epsilon is not None:
        price = affordable(epsilon)
    else:
        price = epsilon_for(accuracy, question, schema, minimise, mechanism)
    text = render(question, schema)
    return make_plan(
        question, schema, price, minimise, text, interval=interval, mechanism=mechanism
    )
