"""The journey of a question, on one page.

read → plan → ledger.reserve → engine → mechanism → ledger.commit → answer

The ledger is debited durably before a row is read, and the answer is stored before it leaves.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..engine.contract import FAULT, Engine, Validated
from ..engine.open import open_engine
from ..engine.source.beside import ledger_places
from ..errors import EngineFault, Fault, InvalidTable, Refused, refuse
from ..ledger.composition import Charge
from ..ledger.contract import Ledger
from ..ledger.given import NOWHERE, Place, given_ledger
from ..ledger.record import Balance
from ..number import Number, checked_call, flag
from ..promise import checked_neighbours
from ..schema import Schema
from ..schema.schema import given_schema
from .answer.answer import Answer
from .answer.together import Answers
from .belief.person import unit_in_words
from .belief.protocol import allow_without_protocol, priced_by
from .explain import explain, explain_many, plan_select
from .inquiry import Inquiry, inquire, inquire_many
from .opening import Opening, refuse_excess, refuse_other_rows
from .plan.plan import Plan
from .terms import Terms
from .view import html_view, text_view

if TYPE_CHECKING:
    from .belief.answer import BeliefPlan, Believed
    from .grouping_sets import GroupedAnswer
    from .suggest.bounds import BoundsSuggestion
    from .suggest.suggestion import Suggestion
    from .workload.declare import Declared
    from .workload.explain import WorkloadPlan

T = TypeVar("T")

HOLDER = "holder"
_MOST_PLANS = 64


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
        ledger: a ledger or its path; None for the one that the schema names, else the one beside
            the table's file (`census.ledger` for `census.csv`), else beside the schema's file.
        analyst: who asks; quotas are kept by this name. None is the holder, whose name nobody else
            may have.

    A file is read from end to end when the holder opens it for the first time, and again when it
    has changed; the ledger records that. Later openings read no row, and an analyst is refused
    while a file is not what the holder opened last.
    """
    if isinstance(analyst, str) and analyst.strip().casefold() == HOLDER:
        raise refuse("query.analyst-is-holder", analyst=analyst)
    described, beside = given_schema(schema)
    if not described.private:
        raise refuse("query.asked-bounds-not-private", name=described.name)
    if described.budget is None:
        raise refuse("query.budget-missing", name=described.name)
    holder = analyst is None
    place = _place(ledger, source, described, beside, holder=holder)
    # before the ledger: what is refused here must not leave one behind
    engine = _opened(source if source is not None else described.location, described, holder=holder)
    try:
        books = given_ledger(ledger, place)
        name = books.known_as(described.name)
        books.open_dataset(
            name,
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
        opening = _validated(engine, books, name, described, holder=holder)
    except BaseException:
        engine.close()
        raise
    return Session(described, engine, books, HOLDER if analyst is None else analyst, opening)


def _place(
    ledger: object, source: object, schema: Schema, file: Path | None, *, holder: bool
) -> Place:
    """Where the ledger lies, if none is given; an analyst does not hear that a file is missing."""
    if ledger is not None:
        return NOWHERE
    try:
        return Place(schema.ledger_location, ledger_places(source, schema), file)
    except InvalidTable:
        if holder:
            raise
    raise refuse("query.table-changed")


def _opened(source: object, schema: Schema, *, holder: bool) -> Engine:
    """The engine; an analyst hears of files only that they are not as the holder opened them."""
    if holder or not isinstance(source, str | os.PathLike):
        return open_engine(source, schema)
    with suppress(InvalidTable):
        return open_engine(source, schema)
    raise refuse("query.table-changed")


def _read_now(engine: Engine, *, holder: bool) -> Validated:
    """Every row read once; an analyst does not hear which column could not be."""
    if holder:
        return engine.validate()
    with suppress(InvalidTable):
        return engine.validate()
    raise refuse("query.table-changed")


def _validated(
    engine: Engine, books: Ledger, name: str, schema: Schema, *, holder: bool
) -> Opening | None:
    """open → validate → record: what the holder learns by opening the table; an analyst nothing.

    A table in the opener's own process has no record, and is read whenever it is opened.
    """
    files = engine.files
    if not holder:
        refuse_excess(engine.excess)
    if files is None:
        found = _read_now(engine, holder=holder)
        refuse_other_rows(schema, found.rows)
        return Opening.now(schema, found, engine.excess) if holder else None
    stamp, known = files.stamp(), books.validated(name)
    if known is not None and (known.mark, known.reading) == (stamp.mark, stamp.reading):
        return Opening.before(engine.excess) if holder else None
    if not holder:
        raise refuse("query.table-changed")
    if (
        known is not None
        and known.reading == stamp.reading
        and known.digest == files.digest()
        and files.unchanged()
    ):
        books.record_validation(name, stamp, known.digest)
        return Opening.before(engine.excess)
    found = engine.validate()
    refuse_other_rows(schema, found.rows)
    books.record_validation(name, stamp, found.digest)
    return Opening.now(schema, found, engine.excess)


class Session:
    """A protected table, as one analyst sees it.

    opening: what the holder learned by opening the table; None for everybody else.
    """

    def __init__(
        self,
        schema: Schema,
        engine: Engine,
        ledger: Ledger,
        analyst: str,
        opening: Opening | None = None,
    ) -> None:
        self.schema = schema
        self.opening = opening
        self.ledger = ledger
        self.analyst = analyst
        self._engine = engine
        self._plans: dict[tuple[str, str], Inquiry[Answer] | Inquiry[GroupedAnswer]] = {}
        self._dataset = ledger.known_as(schema.name)
        self._seal = ledger.seal(schema.digest)

    @property
    def budget(self) -> Balance:
        """What was spent and what remains; of the other analysts only the holder hears."""
        found = self.ledger.balance(self._dataset)
        return found if self.analyst == HOLDER else found.seen_by(self.analyst)

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
        minimise: object = "variance",
        accuracy: object = None,
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
            measure_cut: a share such as 0.1: so much of epsilon buys how many persons are above the
                limits of the answer; `answer.limits` has it. It bounds persons cut, not rows.
            clip: "auto": part of epsilon chooses, in private, a value at which SUM and AVG are cut
                above, for skewed columns whose bounds are far from most values. The answer says
                the cut. What is cut off may bias it, and no interval covers that.
            delta: lets refinement move a little more mass; paid from the budget's delta.
        """
        terms = Terms.of(locals())
        if terms.believes:
            from .belief.plan import believe_for, inquire_believing

            belief = believe_for(sql, self.schema, terms)
            return self._settled(inquire_believing(belief, self.schema, self._seal), key, fresh)
        if individual:
            from .individual.question import inquire_individually

            allow_without_protocol(self.schema, "individual differential privacy")
            holder = self.analyst == HOLDER
            one = inquire_individually(sql, self.schema, terms, holder=holder, seal=self._seal)
            return self._settled(one, key, fresh)
        found: Inquiry[Any] = self._planned(sql, terms)
        answer: Answer | GroupedAnswer = self._settled(found, key, fresh)
        return answer

    @checked_call
    def explain_many(
        self,
        questions: Sequence[str] | Declared,
        *,
        epsilon: Number | None = None,
        minimise: object = "variance",
        accuracy: object = None,
    ) -> WorkloadPlan:
        """Every way to answer several questions at one price, with the mean and the largest error,
        and what each answer would cost alone. Reads no rows, costs nothing. As in `ask_many`."""
        allow_without_protocol(self.schema, "explain_many")
        return explain_many(questions, self.schema, epsilon, minimise, accuracy)

    @checked_call
    def ask_many(
        self,
        questions: Sequence[str] | Declared,
        *,
        epsilon: Number | None = None,
        minimise: object = "variance",
        accuracy: object = None,
        key: str | None = None,
        fresh: bool = False,
    ) -> Answers:
        """The private answers to several questions, at one price for all of them.

        Counts, sums and means are read off numbers that are released in their place where that is
        better, so that totals are the sums of their parts. No answer is worse than asked alone at
        an equal share of the price; `.saved` says by how much the variance fell.

        Parameters
            questions: up to 10,000 texts in SQL; or a declared workload, such as
                `tn.workload.ranges("age")`.
            epsilon: what all of them may cost together; or give `accuracy`.
            minimise: as in `ask`, or "mean": the least mean error, though some answer may then be
                worse than alone.
            accuracy: ("interval", level, reach) for the widest of their intervals, or
                ("mean-interval", level, reach) for the mean of all.
            key, fresh: as in `ask`.
        """
        allow_without_protocol(self.schema, "ask_many")
        plan = explain_many(questions, self.schema, epsilon, minimise, accuracy)
        return self._settled(inquire_many(plan.workload, self.schema, self._seal), key, fresh)

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

        What is suggested are `rows_per_unit`, `groups_per_unit` if `by` names groups, and
        `bounds_per_unit` of a column, each at the highest of the quantiles, with the noise of
        typical questions. What cutting there costs is not known.

        Parameters
            epsilon: what it may cost; every quantile has an equal part of it.
            by: the groups of a typical question, as GROUP BY has them: ["ward", "BIN(age, 10)"].
            column: a number, whose sums of one person shall be limited.
            quantiles: the shares of persons that the limits are for.
            most: the most rows and groups that a limit may be; stated without looking at rows.
            key, fresh: as in `ask`.
        """
        from .suggest.limits import inquire_limits, plan_limits

        allow_without_protocol(self.schema, "suggest_limits")
        if epsilon is None:
            raise refuse("query.epsilon-missing")
        plan = plan_limits(
            self.schema, epsilon=epsilon, by=by, column=column, quantiles=quantiles, most=most
        )
        return self._settled(inquire_limits(plan, self.schema, column, self._seal), key, fresh)

    @checked_call
    def suggest_bounds(
        self, column: str, *, epsilon: Number, key: str | None = None, fresh: bool = False
    ) -> BoundsSuggestion:
        """Narrower bounds for a number of the schema, from private quantiles of all its values.

        The bounds that the schema declares stay the frame: a suggestion lies inside them.

        Parameters
            column: the number.
            epsilon: what it may cost; every quantile has an equal part of it.
            key, fresh: as in `ask`.
        """
        from .suggest.bounds import question_of, suggest

        allow_without_protocol(self.schema, "suggest_bounds")
        answer = self.ask(question_of(self.schema, column), epsilon=epsilon, key=key, fresh=fresh)
        return suggest(self.schema, column, answer)  # type: ignore[arg-type]

    def _planned(self, sql: str, terms: Terms) -> Inquiry[Answer] | Inquiry[GroupedAnswer]:
        """read → plan, from the schema alone; kept for when the same is asked again."""
        asked = (sql, repr(terms))
        if asked not in self._plans:
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            plan = plan_select(sql, self.schema, terms)
            if isinstance(plan, Plan):
                self._plans[asked] = inquire(plan, self.schema, self._seal)
            else:
                from .grouping_sets import inquire_sets

                self._plans[asked] = inquire_sets(plan, self.schema, self._seal)
        return self._plans[asked]

    def _settled(self, wanted: Inquiry[T], key: str | None, fresh: bool) -> T:
        """look up → pay → draw → store → read: the one path of whatever is paid for.

        The price stays spent whatever goes wrong after it was paid: a row may have been read.
        """
        flag(fresh, "fresh")
        if not wanted.nano:
            return wanted.read(wanted.public, False)
        ledger, name = self.ledger, self._dataset
        stored = ledger.cached(name, wanted.identity)
        known = key is not None and ledger.has_key(name, self.analyst, key)
        if stored is not None and not fresh and not known:
            return wanted.read(stored, True)
        wanted.rehearse()
        if not self._unchanged():
            raise refuse("query.table-changed")
        proved = wanted.proved or checked_neighbours(self.schema.neighbours)
        with priced_by(self.schema):
            reservation = ledger.reserve(
                name,
                self.analyst,
                Charge(wanted.nano, wanted.atto, proved, wanted.person),
                key,
                wanted.identity,
                # the first answer stays the one that is repeated, so a retry never sees another
                cache_key=wanted.identity if stored is None else None,
                column=wanted.column,
                question_name=wanted.question_name,
                times=wanted.times,
                asked=wanted.asked,
            )
        if reservation.answer is not None:
            return wanted.read(reservation.answer, True)
        try:
            drawn = wanted.draw(self._engine)
            if not self._unchanged():
                raise EngineFault(FAULT)  # of which file the rows were, nobody knows
            ledger.commit(reservation, drawn)
        except BaseException:
            with suppress(Refused, Fault):  # what went wrong first is what is said
                ledger.abandon(reservation, "no answer")
            raise
        return wanted.read(drawn, False)

    def _budget_if_open(self) -> Balance | None:
        with suppress(Refused):
            return self.budget
        return None

    def __repr__(self) -> str:
        return text_view(self.schema, self.analyst, self._budget_if_open())

    def _repr_html_(self) -> str:
        return html_view(self.schema, self.analyst, self._budget_if_open())

    def _unchanged(self) -> bool:
        """Whether the table's files are those that were opened."""
        return self._engine.files is None or self._engine.files.unchanged()

    def close(self) -> None:
        """Lets go of the table and of the ledger's file."""
        self._engine.close()
        self.ledger.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
