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
from ..errors import refuse
from ..ledger.amount import atto, in_delta, in_epsilon
from ..ledger.composition import Charge, charge_in, delta_in
from ..ledger.contract import Ledger
from ..ledger.record import Balance
from ..number import NANO, Number, checked_call, flag
from ..promise import Neighbours, checked_neighbours
from ..schema import Schema
from ..screen.number import exactly
from ..version import VERSION
from .answer import Answer, Answers
from .belief.answer import BeliefPlan, Believed
from .belief.person import unit_in_words
from .belief.plan import believe_for, identity_of, person_of
from .belief.protocol import allow_without_protocol, plan_fixed_noise, priced_by
from .belief.refine import answer_refined, certify_refined, stored_sample
from .certify import certify
from .individual.question import approval, certify_individual, plan_individual, release_individual
from .opening import given_ledger, given_schema
from .plan.accuracy import epsilon_for
from .plan.make import affordable, make_plan
from .plan.plan import Plan
from .read.parse import parse
from .release import Released, refuse_other_rows, release, release_batch
from .workload.batch import Batch, plan_batch
from .write.question import render

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
        raise refuse("query.analyst-is-holder-asks-with-analyst-none", analyst=analyst)
    described, beside = given_schema(schema)
    if not described.private:
        raise refuse("query.bounds-of-were-read-from-its-rows", name=described.name)
    if described.budget is None:
        raise refuse("query.schema-of-has-no-budget", name=described.name)
    books = given_ledger(ledger, beside)
    books.open_dataset(
        books.known_as(described.name),
        described.budget.total,
        described.budget.per_analyst,
        neighbours=checked_neighbours(described.neighbours),
        individual=described.budget.individual,
        total_delta=described.budget.delta or 0,
        schema_digest=described.digest,
        data_version=described.version or "",
        protocol="" if described.protocol is None else str(described.protocol),
        unit=unit_in_words(described),
    )
    engine = open_engine(source if source is not None else described.location, described)
    try:
        refuse_other_rows(described, engine)
    except BaseException:
        engine.close()
        raise
    return Session(described, engine, books, HOLDER if analyst is None else analyst)


class Session:
    """A protected table, as one analyst sees it."""

    def __init__(self, schema: Schema, engine: Engine, ledger: Ledger, analyst: str) -> None:
        self.schema = schema
        self.ledger = ledger
        self.analyst = analyst
        self._engine = engine
        self._dataset = ledger.known_as(schema.name)

    @property
    def budget(self) -> Balance:
        """What was spent and what remains."""
        return self.ledger.balance(self._dataset)

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
        delta: Number | None = None,
    ) -> Plan | BeliefPlan:
        """Every admissible mechanism with its expected error and price. Reads no rows, costs
        nothing. With a prior, the errors are averaged over it."""
        if prior is not None or delta is not None:
            return believe_for(
                sql,
                self.schema,
                prior,
                epsilon=epsilon,
                delta=delta,
                minimise=minimise,
                accuracy=accuracy,
                interval=interval,
                mechanism=mechanism,
            )
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
        delta: Number | None = None,
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
            prior: what you believe before asking about one person, or about a count, sum or mean.
                The answer is a sample of it, moved towards the truth, or a noisy number with its
                posterior: whatever `explain` shows to be nearer on average.
            interval: a level such as 0.95: part of epsilon buys intervals in values for MEDIAN,
                QUANTILE, MIN and MAX, which otherwise have none. `answer.interval(0.95)` has them.
            mechanism: the name of a candidate of `explain`; None for the one with the least error.
            delta: lets refinement move a little more mass; paid from the budget's delta.
        """
        flag(fresh, "fresh")
        flag(individual, "individual")
        if individual and (interval is not None or mechanism is not None):
            raise refuse("query.interval-or-mechanism-is-given-together-with")
        if prior is not None or delta is not None:
            plan = believe_for(
                sql,
                self.schema,
                prior,
                epsilon=epsilon,
                delta=delta,
                minimise=minimise,
                accuracy=accuracy,
                individual=individual,
                interval=interval,
                mechanism=mechanism,
            )
            return self._ask_believing(plan, key, fresh)
        if individual:
            allow_without_protocol(self.schema, "individual differential privacy")
            return self._ask_individually(sql, epsilon, accuracy, key, fresh)
        return self._ask_planned(
            explain_for(
                sql,
                self.schema,
                epsilon=epsilon,
                minimise=minimise,
                accuracy=accuracy,
                interval=interval,
                mechanism=mechanism,
            ),
            key,
            fresh,
        )

    def _ask_planned(self, plan: Plan, key: str | None, fresh: bool) -> Answer:
        if plan.free:
            return self._answer(plan, Released(((),)), Fraction(0), replayed=False)
        cache_key = self._cache_key(plan)
        stored, again = self._stored(cache_key, key, fresh)
        if stored is not None and again:
            return self._answer(plan, Released.from_bytes(stored), Fraction(0), replayed=True)
        for part in plan.parts:
            part.draw(1)  # whatever a law may refuse, it refuses before anything is paid
        with priced_by(self.schema):
            found, before = self._paid(
                plan.nano,
                key,
                cache_key,  # with mechanism and schema: an answer is never read as another's
                lambda: release(plan, self._engine, self.schema).to_bytes(),
                # the first answer stays the one that is repeated, so a retry never sees another
                cache_key=cache_key if stored is None else None,
                asked=plan.sql,
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
        allow_without_protocol(self.schema, "ask_many")
        flag(fresh, "fresh")
        batch = self._batch(questions, epsilon, minimise)
        if not batch.nano:
            free = Released.list_to_bytes([Released(((),))] * len(batch.plans))
            return self._answers(batch, free, Fraction(0), replayed=False)
        cache_key = hashlib.sha256(
            "\n".join(map(self._cache_key, batch.plans)).encode()
        ).hexdigest()
        stored, again = self._stored(cache_key, key, fresh)
        if stored is not None and again:
            return self._answers(batch, stored, Fraction(0), replayed=True)
        for part in {part for plan in batch.plans for part in plan.parts}:
            part.draw(1)
        found, before = self._paid(
            batch.nano,
            key,
            cache_key,
            lambda: release_batch(batch, self._engine, self.schema),
            cache_key=cache_key if stored is None else None,
            asked="; ".join(plan.sql for plan in batch.plans),
        )
        price = Fraction(0) if before else Fraction(batch.nano, NANO)
        return self._answers(batch, found, price, replayed=before)

    # -- the steps -----------------------------------------------------------------------------

    def _ask_believing(self, plan: BeliefPlan, key: str | None, fresh: bool) -> Believed:
        if plan.chosen.noise is not None:
            # stored without the prior: whoever believes something else reads it for nothing
            noisy = self._ask_planned(plan.chosen.noise, key, fresh)
            return Believed(
                plan, noisy.certificate, noisy.price, replayed=noisy.replayed, noisy=noisy
            )
        person, cache_key = person_of(plan, self.schema), identity_of(plan, self.schema)
        stored, again = self._stored(cache_key, key, fresh)
        if stored is not None and again:
            found, before = stored, True
        else:
            found, before = self._paid(
                plan.nano,
                key,
                cache_key,
                lambda: answer_refined(plan, self._engine, self.schema),
                person=person,
                proved=self._proved(plan),
                atto=atto(plan.delta),
                cache_key=cache_key if stored is None else None,
                asked=plan.for_the_ledger,
            )
        # replacing a person is removing one and adding another
        kept, proved = self._neighbours, self._proved(plan)
        price, delta = Fraction(0), Fraction(0)
        if not before:
            price = in_epsilon(charge_in(kept, proved, plan.nano))
            delta = in_delta(delta_in(kept, proved, plan.nano, atto(plan.delta)))
        return Believed(
            plan=plan,
            certificate=certify_refined(plan, self.schema),
            price=price,
            delta=delta,
            replayed=before,
            sample=stored_sample(found),
        )

    def _ask_individually(
        self, sql: str, epsilon: Number | None, accuracy: object, key: str | None, fresh: bool
    ) -> Answer:
        if epsilon is None or accuracy is not None:
            raise refuse("query.individual-differential-privacy-is-asked-without-epsilon")
        question = parse(sql, self.schema)
        plan = plan_individual(
            question, render(question, self.schema), self.schema, affordable(epsilon)
        )
        approved = approval(question, self.schema)
        if self.analyst != HOLDER and (approved is None or not approved.limited):
            raise refuse("query.holder-has-not-approved-question-for-individual")
        least = None if approved is None else approved.epsilon
        if least is not None and plan.epsilon < least:
            raise refuse(
                "query.epsilon-is-holder-approved-question-for-at",
                epsilon=exactly(plan.epsilon),
                least=exactly(least),
            )
        cache_key = self._cache_key(plan)
        stored, again = self._stored(cache_key, key, fresh)
        if stored is not None and again:
            found, before = stored, True
        else:
            found, before = self._paid(
                plan.nano,
                key,
                cache_key,
                lambda: release_individual(plan, self._engine, self.schema).to_bytes(),
                cache_key=cache_key if stored is None else None,
                column="individual",
                question_name=None if approved is None else approved.name,
                times=None if approved is None else approved.times,
                asked=plan.sql,
            )
        answer = self._answer(
            plan,
            Released.from_bytes(found),
            Fraction(0) if before else plan.epsilon,
            replayed=before,
        )
        return replace(answer, certificate=certify_individual(plan, self.schema))

    @property
    def _neighbours(self) -> Neighbours:
        return checked_neighbours(self.schema.neighbours)

    def _proved(self, plan: BeliefPlan) -> Neighbours:
        """A question about one person is proved under add-or-remove; the ledger knows its price."""
        return self._neighbours if plan.kind == "statistical" else "add-or-remove"

    def _stored(self, cache_key: str, key: str | None, fresh: bool) -> tuple[bytes | None, bool]:
        """What is stored for a question, and whether it is said again: a known key has its own."""
        stored = self.ledger.cached(self._dataset, cache_key)
        known = key is not None and self.ledger.has_key(self._dataset, self.analyst, key)
        return stored, not fresh and not known

    def _paid(
        self,
        price: int,
        key: str | None,
        question: str,
        draw: Callable[[], bytes],
        person: str | None = None,
        proved: Neighbours | None = None,
        atto: int = 0,
        **options: Any,
    ) -> tuple[bytes, bool]:
        """Pays, draws and stores; or what is stored under the key, and True.

        The price stays spent whatever goes wrong after it was paid: a row may have been read.
        """
        charge = Charge(price, atto, proved or self._neighbours, person)
        reservation = self.ledger.reserve(
            self._dataset, self.analyst, charge, key, question, **options
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
        if not isinstance(questions, list | tuple) or not all(
            isinstance(q, str) for q in questions
        ):
            raise refuse("query.questions-is-not-list-of-texts")
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
            *(() if plan.interval is None else (f"interval {exactly(plan.interval)}",)),
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
    if schema.protocol is not None:
        if interval is not None or mechanism is not None:
            allow_without_protocol(schema, "`interval` or `mechanism`")
        text = render(question, schema)
        return plan_fixed_noise(
            question, text, schema, epsilon=epsilon, accuracy=accuracy, minimise=minimise
        )
    if (epsilon is None) == (accuracy is None):
        missing = epsilon is None
        raise refuse(
            "query.epsilon-accuracy-given",
            word="Neither" if missing else "Both",
            word2="nor" if missing else "and",
            word3="is" if missing else "are",
            word4="Add epsilon=0.5" if missing else "Leave one of them out",
        )
    if epsilon is not None:
        price = affordable(epsilon)
    else:
        price = epsilon_for(accuracy, question, schema, minimise, mechanism)
    text = render(question, schema)
    return make_plan(
        question, schema, price, minimise, text, interval=interval, mechanism=mechanism
    )
