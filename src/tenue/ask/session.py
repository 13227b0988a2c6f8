"""The journey of a question, on one page.

read → plan → ledger.reserve → engine → mechanism → ledger.commit → answer

The ledger is debited durably before a row is read, and the answer is stored before it leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ..arguments import Number, checked_call, flag
from ..engine.contract import CHANGED, Engine
from ..errors import EngineFault, Fault, Refused, refuse
from ..ledger.canonical_text import given_text
from ..ledger.composition import charge
from ..ledger.results import Balance
from ..privacy import checked_neighbours
from ..schema import Schema
from ..text import paragraphs
from .answer import Answer
from .answers import Answers
from .belief.protocol import allow_without_protocol, priced_by
from .explain import explain, explain_many, plan_select
from .paid_request import (
    Accuracy,
    Inquiry,
    Minimise,
    Terms,
    inquire,
    inquire_many,
)
from .plan.plan import Plan

if TYPE_CHECKING:
    from .belief.answer import BeliefPlan, Believed
    from .dataset import Dataset, Opening
    from .grouping_sets import GroupedAnswer
    from .limits import BoundsSuggestion, Suggestion
    from .workload.explain import WorkloadPlan
    from .workload.workloads import Declared


T = TypeVar("T")

HOLDER = "holder"
_CLOSED = "The session is closed: open the table again with tn.protect."


@dataclass(frozen=True)
class Asked:
    """A question, or several, with its terms, by which its plan is found again.

    written: all of it as text: equal numbers of different types are different terms.
    """

    written: str
    question: Any = field(compare=False)
    terms: tuple[Any, ...] = field(compare=False)

    @classmethod
    def of(cls, question: Any, *terms: Any) -> Self:
        return cls(repr((question, terms)), question, terms)


def planned(schema: Schema, seal: str, asked: Asked) -> Inquiry[Any]:
    """read → plan, from the schema alone."""
    plan = plan_select(asked.question, schema, *asked.terms)
    if isinstance(plan, Plan):
        return inquire(plan, schema, seal)
    from .grouping_sets import inquire_sets

    return inquire_sets(plan, schema, seal)


def planned_many(schema: Schema, seal: str, asked: Asked) -> tuple[WorkloadPlan, Inquiry[Answers]]:
    """The same for several questions at one price."""
    plan = explain_many(asked.question, schema, *asked.terms)
    return plan, inquire_many(plan.workload, schema, seal)


class Session:
    """A protected table, as one analyst sees it; for any number of threads.

    schema: the declarations about the table.
    ledger: what was spent.
    analyst: who asks.
    opening: what the holder learned by opening the table; None for everybody else.
    """

    def __init__(
        self, dataset: Dataset, analyst: str, opening: Opening | None = None, *, owns: bool = False
    ) -> None:
        self.schema = dataset.schema
        self.ledger = dataset.ledger
        self.analyst = analyst
        self.opening = opening
        self._dataset = dataset
        self._seal = dataset.seal
        self._owns = owns
        self._closed = False

    def for_analyst(self, name: str) -> Session:
        """The same table for another analyst, without opening it again.

        What `protect(analyst=name)` refuses is refused here. It works until the session of
        `protect`, or the data set of `open_dataset`, is closed.
        """
        self._refuse_closed()
        return self._dataset.session(given_text(name, "name"))

    @property
    def budget(self) -> Balance:
        """What was spent and what remains; only the holder sees the other analysts."""
        self._refuse_closed()
        balance = self.ledger.balance(self._dataset.name)
        return balance if self.analyst == HOLDER else balance.seen_by(self.analyst)

    @checked_call
    def explain(
        self,
        sql: str,
        *,
        epsilon: Number | None = None,
        minimise: Minimise = "variance",
        accuracy: Accuracy | None = None,
        prior: Any = None,
        interval: Number | None = None,
        mechanism: str | None = None,
        measure_cut: Number | None = None,
        clip: str | None = None,
        delta: Number | None = None,
    ) -> Plan | BeliefPlan | WorkloadPlan:
        """Every admissible mechanism with its expected error and price. Reads no rows, costs
        nothing. With a prior, the errors are averaged over it."""
        return explain(sql, self.schema, Terms.of(locals()))

    @checked_call
    def ask(
        self,
        sql: str,
        *,
        epsilon: Number | None = None,
        minimise: Minimise = "variance",
        accuracy: Accuracy | None = None,
        key: str | None = None,
        fresh: bool = False,
        individual: bool = False,
        prior: Any = None,
        interval: Number | None = None,
        mechanism: str | None = None,
        measure_cut: Number | None = None,
        clip: str | None = None,
        delta: Number | None = None,
    ) -> Answer | GroupedAnswer | Believed:
        """The private answer to a question.

        Parameters
            epsilon: what it may cost; or give `accuracy`.
            minimise: the error to minimise: "variance", "absolute-error" or ("interval", level).
            accuracy: ("interval", level, reach): the least epsilon whose confidence interval at
                `level` has a margin of error of at most reach; refused where that depends on rows.
            key: an idempotency key: a retry with the same key gets the same answer and one debit.
            fresh: draw anew although the same question was answered before; costs again.
            individual: answer with individual differential privacy, which is not differential
                privacy: read `INDIVIDUAL_LIMITS`. It has a column of its own in the ledger. A named
                analyst may ask approved questions only; their limits hold for all analysts.
            prior: your prior about one person, or about a count, sum or mean. The answer is a
                sample of the prior, moved towards the truth, or a noisy number with its posterior:
                whatever `explain` shows to be nearer on average.
            interval: a level such as 0.95: part of epsilon pays for confidence intervals of MEDIAN,
                QUANTILE, MIN and MAX in values; without it they have none. `answer.interval(0.95)`.
            mechanism: the name of a candidate of `explain`; None for the one with the least error.
            measure_cut: a share such as 0.1: this part of epsilon measures how many persons are
                above the contribution limits; `answer.limits` has it. It counts persons, not rows.
            clip: "auto": part of epsilon chooses, in private, a value at which SUM and AVG are
                clipped above, for skewed columns whose bounds are far from most values. The answer
                states that value. Clipping may bias it, and no interval covers that.
            delta: lets refinement move a little more mass; paid from the budget's delta.
        """
        terms = Terms.of(locals())
        if terms.believes:
            from .belief.plan import believe_for, inquire_believing

            belief = believe_for(sql, self.schema, terms)
            return self._settled(inquire_believing(belief, self.schema, self._seal), key, fresh)
        if individual:
            from .individual import inquire_individually

            allow_without_protocol(self.schema, "individual differential privacy")
            holder = self.analyst == HOLDER
            one = inquire_individually(sql, self.schema, terms, holder=holder, seal=self._seal)
            return self._settled(one, key, fresh)
        inquiry: Inquiry[Answer | GroupedAnswer] = self._dataset.plans(Asked.of(sql, terms))
        return self._settled(inquiry, key, fresh)

    @checked_call
    def explain_many(
        self,
        questions: Sequence[str] | Declared,
        *,
        epsilon: Number | None = None,
        minimise: Minimise = "variance",
        accuracy: Accuracy | None = None,
    ) -> WorkloadPlan:
        """Every way to answer several questions at one price, with the mean and the largest error,
        and the price of each answer alone. Reads no rows, costs nothing. As in `ask_many`."""
        allow_without_protocol(self.schema, "explain_many")
        return self._dataset.workloads(Asked.of(questions, epsilon, minimise, accuracy))[0]

    @checked_call
    def ask_many(
        self,
        questions: Sequence[str] | Declared,
        *,
        epsilon: Number | None = None,
        minimise: Minimise = "variance",
        accuracy: Accuracy | None = None,
        key: str | None = None,
        fresh: bool = False,
    ) -> Answers:
        """The private answers to several questions, at one price for all of them.

        Counts, sums and means come from a matrix mechanism where that is better, so that totals are
        the sums of their parts. No answer is worse than asked alone at an equal share of the price;
        `.saved` is the share of the variance that is saved.

        Parameters
            questions: up to 10,000 texts in SQL; or a declared workload, such as
                `tn.workload.ranges("age")`.
            epsilon: what all of them may cost together; or give `accuracy`.
            minimise: as in `ask`, or "mean": the least mean error; some answers may then be worse
                than alone.
            accuracy: ("interval", level, reach) for the widest of their intervals, or
                ("mean-interval", level, reach) for the mean of all.
            key, fresh: as in `ask`.
        """
        allow_without_protocol(self.schema, "ask_many")
        wanted = self._dataset.workloads(Asked.of(questions, epsilon, minimise, accuracy))[1]
        return self._settled(wanted, key, fresh)

    @checked_call
    def suggest_limits(
        self,
        *,
        epsilon: Number | None = None,
        by: Sequence[str] = (),
        column: str | None = None,
        quantiles: Sequence[Number] = (0.5, 0.8, 0.95),
        most: int = 1000,
        key: str | None = None,
        fresh: bool = False,
    ) -> Suggestion:
        """Limits for the schema: private quantiles of how much each person has, from all rows.

        It suggests `rows_per_unit`, `groups_per_unit` if `by` names groups, and `bounds_per_unit`
        of a column, each at the highest of the quantiles, with the noise of typical questions. The
        error of truncation at these limits is not known.

        Parameters
            epsilon: what it may cost; every quantile has an equal part of it.
            by: the groups of a typical question, as GROUP BY has them: ["ward", "BIN(age, 10)"].
            column: a number, whose sum over one person's rows shall be limited.
            quantiles: the shares of persons that stay below the limits.
            most: the largest limit of rows and groups; chosen without looking at rows.
            key, fresh: as in `ask`.
        """
        from .limits import inquire_limits, plan_limits

        allow_without_protocol(self.schema, "suggest_limits")
        if epsilon is None:
            raise refuse("ask.epsilon-missing")
        plan = plan_limits(
            self.schema, epsilon=epsilon, by=by, column=column, quantiles=quantiles, most=most
        )
        return self._settled(inquire_limits(plan, self.schema, column, self._seal), key, fresh)

    @checked_call
    def suggest_bounds(
        self, column: str, *, epsilon: Number, key: str | None = None, fresh: bool = False
    ) -> BoundsSuggestion:
        """Narrower bounds for a number of the schema, from private quantiles of all its values.

        A suggestion lies inside the declared bounds.

        Parameters
            column: the number.
            epsilon: what it may cost; every quantile has an equal part of it.
            key, fresh: as in `ask`.
        """
        from .limits import question_of, suggest

        allow_without_protocol(self.schema, "suggest_bounds")
        answer = self.ask(question_of(self.schema, column), epsilon=epsilon, key=key, fresh=fresh)
        return suggest(self.schema, column, answer)  # type: ignore[arg-type]

    def _settled(self, wanted: Inquiry[T], key: str | None, fresh: bool) -> T:
        """look up → pay → draw → store → read: the one path of everything that has a price.

        The first look saves a transaction; the one that pays decides whether the question is new.
        The price stays spent whatever fails after it was paid: a row may have been read.
        """
        flag(fresh, "fresh")
        self._refuse_closed()
        if not wanted.price:
            return wanted.read(wanted.public, False)
        ledger, name, engine = self.ledger, self._dataset.name, self._dataset.engine
        stored = ledger.cached(name, wanted.identity)
        known = key is not None and ledger.has_key(name, self.analyst, key)
        if stored is not None and not fresh and not known:
            return self._read_again(wanted, stored, ledger.cached_at(name, wanted.identity))
        wanted.check()
        if not _files_unchanged(engine):
            raise refuse("ask.table-changed")
        proved = wanted.proved or checked_neighbours(self.schema.neighbours)
        with priced_by(self.schema):
            reservation = ledger.reserve(
                name,
                self.analyst,
                charge(wanted.price, proved, wanted.person),
                key,
                wanted.identity,
                cache_key=wanted.identity,
                fresh=fresh,
                column=wanted.column,
                question_name=wanted.question_name,
                times=wanted.times,
                asked=wanted.asked,
            )
        if reservation.answer is not None:
            return self._read_again(wanted, reservation.answer, reservation.sequence)
        try:
            drawn = wanted.draw(engine)
            if not _files_unchanged(engine):
                raise EngineFault(CHANGED)  # the rows may come from either file
            ledger.commit(reservation, drawn)
        except BaseException:
            with suppress(Refused, Fault):  # the first failure is the one to report
                ledger.abandon(reservation, "no answer")
            raise
        return wanted.read(drawn, False)

    def _read_again(self, wanted: Inquiry[T], stored: bytes, sequence: int | None) -> T:
        """A stored answer, by the ledger's entry; it says whether it is of earlier rows."""
        answer: Any = wanted.read(stored, True)
        earlier = None if sequence is None else self._dataset.earlier(sequence)
        return answer if earlier is None else answer._of_earlier_rows(earlier)  # type: ignore[no-any-return]

    def _budget_if_open(self) -> Balance | None:
        with suppress(Refused):
            return self.budget
        return None

    @property
    def _asked_by(self) -> str:
        return f"Asked by: {self.analyst}. Try explain(sql, epsilon=0.1), which is free, then ask."

    def __repr__(self) -> str:
        balance = self._budget_if_open()
        left = _CLOSED if balance is None else str(balance)
        return "\n".join([str(self.schema), "", self._asked_by, left])

    def _repr_html_(self) -> str:
        balance = self._budget_if_open()
        left = paragraphs([_CLOSED]) if balance is None else balance._repr_html_()
        return self.schema._repr_html_() + paragraphs([self._asked_by]) + left

    def _refuse_closed(self) -> None:
        if self._closed:
            raise refuse("ask.session-closed")

    def close(self) -> None:
        """Ends the session; a session of `protect` closes the table and the ledger too."""
        self._closed = True
        if self._owns:
            self._dataset.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _files_unchanged(engine: Engine) -> bool:
    return engine.files is None or engine.files.unchanged()
