"""A private table: rows drawn from noisy numbers, none of which is a person's record.

The whole table is one answer under differential privacy: it is paid for before a row is read, and
a second release costs its price again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from ...arguments import Number, whole
from ...errors import Fault, refuse
from ...evaluate.two_tables.distribution_similarity import likeness
from ...noise.source import Source
from ...privacy import Promise
from ...privacy.loss import EpsilonDelta
from ...schema import Schema
from ...schema.table import RECORD
from ...text import exactly, many, named, shortly
from ..assessment import Assessment, Step
from ..permute import mixed
from ..row_fingerprint import Marking
from ..synthetic.domain import Domain
from ..synthetic.persons import Persons
from ..synthetic.plan import (
    AUTO,
    ReleasePlan,
    check_for,
    check_promisable,
    planned,
    planned_for,
    price_of,
)
from ..synthetic.synthesis import VALUE, stream
from ..table.cells import Numbers, table_of
from ..table.input_table import LEAST_MEMORY, MEMORY, Original, Validated
from .contract import Made, Method, Published, Way, check_kept, read_steps

if TYPE_CHECKING:
    from ...evaluate import Risk

_MOST_EPSILON = 700
"""Beyond it, e to this power is no double."""
NOBODY = "It does not contain records of people: every row was drawn, and describes no one person."
MANY = (
    "It does not hide what holds for many people, only what one record changes: a conclusion about "
    "a group applies to each of its members."
)
ADDS_UP = (
    "It does not bound what several releases reveal together. Answers and private tables from the "
    "same rows compose, each with its epsilon; a swapped or microaggregated copy has no epsilon "
    "that could be added."
)
COARSE = (
    "It does not preserve rare combinations of values: noise loses some, and adds combinations "
    "that no record has."
)
BLANK = (
    "It does not preserve the exact number of missing values of {names}: missing is a value of the "
    "domain like any other, whose share is released with noise, so that a few may be missing where "
    "none was. A value that the schema declares for them (missing = ...) prevents that."
)
LIMITED = (
    "It does not count every row: of a person with more than {most}, so many were chosen at random "
    "(rows_per_unit), so that persons with many rows weigh less than in the original."
)
APART = (
    "It does not preserve which rows belong to one person, nor how many rows a person has: rows "
    "are drawn one by one. Nor does it preserve the exact number of rows, which has noise."
)
FILLED = (
    "It does not preserve missing values of {names}: each counts as the value that the schema "
    "declares for it."
)


@dataclass(frozen=True, kw_only=True)
class Private(Method):
    """The released table is `epsilon`-differentially private when one record takes any other value
    of the domain, and the number of rows is public; or when all rows of a person are added, removed
    or replaced, as `synthetic/persons.py` proves.

    by, k: the method of synthesis, and the rows in a cluster, as for `plan_release`.
    held: how many bytes of the table may be held in memory.
    plan: set once the number of rows is known.

    Source
        Thesis, chapter 6, corrected (the chain theorem); trees, columns, copula and network as
        their own files state.
    """

    name = "private"
    named_roles: ClassVar[bool] = False
    reads_all: ClassVar[bool] = True
    stored_types: ClassVar[bool] = False
    hides_rows: ClassVar[bool] = True
    repeatable: ClassVar[bool] = True
    title: ClassVar[str] = "A private table drawn from {name}"
    report_compares: ClassVar[bool] = False
    step: ClassVar[str] = "draw"

    epsilon: Fraction
    by: str = AUTO
    k: int | Literal["auto"] = AUTO
    held: int = MEMORY
    plan: ReleasePlan | None = None

    @classmethod
    def read(
        cls,
        schema: Schema,
        override: object,
        *,
        epsilon: Number,
        by: str | None = None,
        k: int | Literal["auto"] = AUTO,
        memory: int = MEMORY,
    ) -> Self:
        check_promisable(schema)
        if memory != MEMORY and schema.unit != RECORD:
            raise refuse("publish.memory-with-persons", unit=schema.unit)
        if epsilon is None:
            raise refuse("publish.private-epsilon-missing")
        made = cls(
            schema=schema,
            override=cls.insisted(override),
            epsilon=price_of(epsilon),
            by=AUTO if by is None else by,
            k=k,
            held=whole(memory, "memory", least=LEAST_MEMORY),
        )
        if made.persons is not None:
            check_for(made.persons, Domain.of(schema), made.by, made.k)
        # what does not suit the table is refused at once
        return made if schema.rows is None else made.sized(schema.rows)

    def sized(self, rows: int) -> Self:
        if self.schema.rows is not None and rows != self.schema.rows:
            raise refuse("ask.row-count-differs", rows=self.schema.rows, name=self.schema.name)
        domain = Domain.of(self.schema)
        if self.persons is not None:
            plan = planned_for(self.persons, domain, rows, self.by, self.k)
        else:
            plan = planned(domain, rows, self.epsilon, self.by, self.k)
        return replace(self, plan=plan)

    @cached_property
    def persons(self) -> Persons | None:
        """How persons with several rows are protected; None where every row is a person."""
        return Persons.of(self.schema, self.epsilon)

    @property
    def planned(self) -> ReleasePlan:
        if self.plan is None:
            raise Fault("a private release was begun before it was planned")
        return self.plan

    @property
    def label(self) -> str:
        # the ledger must not learn what follows from the true number of rows of persons
        hidden = self.plan is None or self.persons is not None
        return self.name if hidden else f"{self.name} by {self.planned.by}"

    # -- the rows ----------------------------------------------------------------------------------

    @property
    def compared(self) -> tuple[str, ...]:
        return ()

    @property
    def unprotected(self) -> tuple[str, ...]:
        return ()

    @property
    def changed(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in Domain.of(self.schema).axes)

    @property
    def memory(self) -> int:
        return self.held

    def in_passes(self, table: Validated) -> bool:
        if self.persons is not None:
            return False  # the rows of a person are brought together in memory
        values = self.planned.rows * len(self.planned.way.domain.axes)
        return table.stored and values * VALUE > self.held

    def stream(
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Marking
    ) -> Made:
        made = stream(
            self.planned.way, table, self.schema, self.held, source, tell, self._check_piece
        )
        check_kept(made.table.num_rows == self.planned.rows)
        text = (
            f"{many(made.sample.num_rows, 'row')} of each table, drawn at random; a missing value "
            "that was replaced counts as its replacement"
        )
        steps = [
            *read_steps(self.planned.rows, made.columns, made.beyond),
            *self._drawn_steps(made.missing),
            *self.publish_steps(),
            Step("evaluate", text),
        ]
        return Made(made.table, made.sample, Assessment(None, made.likeness, ()), tuple(steps))

    def make(
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Marking
    ) -> Made:
        if self.persons is None:
            return super().make(table, source, tell, look)
        read = table.read(all_values=True)
        if read.persons is None:
            raise Fault("rows of persons were read without persons")
        look.held(read)
        kept = self.persons.kept(read.persons, source)
        domain = Domain.of(self.schema)
        places = domain.places({name: cells.take(kept) for name, cells in read.cells.items()})
        rows, drawn = self.persons.counted(kept.size, source)
        plan = planned_for(self.persons, domain, rows, self.by, self.k, drawn=drawn)
        way = replace(self, plan=plan)
        tell(self.step)
        resized = self.persons.resized(places, rows, domain, source)
        after = domain.table(plan.way.draw(resized, source))
        tell("evaluate")
        way.verify(after, None)
        before = table_of(read.cells, self.schema)
        nobody = int((read.persons < 0).sum())
        gone = {name: int((~one.present).sum()) for name, one in read.cells.items()}
        steps = [
            *read_steps(read.size, len(read.cells), read.beyond),
            *([Step("left out", f"{many(nobody, 'row')} of nobody")] if nobody else []),
            Step("limited", self._kept_text(kept.size, read.size - nobody)),
            *way._drawn_steps(gone),
            *way.publish_steps(),
        ]
        assessment = Assessment(None, likeness(before, after, self.schema), ())
        return Made(mixed(after, source), after, assessment, tuple(steps), way=way)

    def _kept_text(self, kept: int, rows: int) -> str:
        most = many(0 if self.persons is None else self.persons.most, "row")
        return f"{kept:,} of {many(rows, 'row')} kept: at most {most} of a person, at random"

    def prepare(self, read: Original, source: Source) -> Original:
        """All rows, unchanged: the number of rows is public."""
        return read

    def publish(self, original: Original, source: Source) -> Published:
        way = self.planned.way
        places = way.domain.places(original.cells)
        return Published(way.domain.cells(way.draw(places, source)))

    def verify(self, table: Any, persons: Numbers | None) -> None:
        """Checks that all rows and columns are there, and blanks only where they may be."""
        self._check_piece(table)
        check_kept(table.num_rows == self.planned.rows)

    def _check_piece(self, table: Any) -> None:
        check_kept(tuple(table.column_names) == self.changed)
        full = [axis.name for axis in self.planned.way.domain.axes if not axis.blank]
        check_kept(not any(table.column(name).null_count for name in full))

    def assess(
        self, before: Any, after: Any, source: Source, original: Original, made: Published
    ) -> Assessment:
        return Assessment(None, likeness(before, after, self.schema), ())

    # -- the certificate ---------------------------------------------------------------------------

    @property
    def promise(self) -> Promise:
        return self.price.promise()

    @property
    def price(self) -> EpsilonDelta:
        return EpsilonDelta.of(self.epsilon)

    @property
    def way(self) -> Way:
        way = self.planned.way
        return Way(f"private table: {way.mechanism}", way.source)

    @property
    def parameters(self) -> dict[str, str]:
        plan = self.planned
        return {
            "by": plan.by,
            "because": plan.reason,
            "epsilon": exactly(plan.epsilon),
            "rows": str(plan.rows),
            **plan.parameters,
        }

    @property
    def limits(self) -> Sequence[str]:
        domain = self.planned.way.domain
        missing = [
            text.format(names=named(names))
            for text, blank in ((BLANK, True), (FILLED, False))
            if (names := [axis.name for axis in domain.axes if axis.blank == blank])
        ]
        persons = [] if self.persons is None else [LIMITED.format(most=self.persons.most), APART]
        limits = self.planned.way.limits
        return [NOBODY, MANY, COARSE, *limits, *missing, *persons, ADDS_UP]

    # -- the holder's screen -----------------------------------------------------------------------

    def group_steps(self, original: Original, made: Published) -> Iterator[Step]:
        cells = original.cells.items()
        yield from self._drawn_steps({name: int((~one.present).sum()) for name, one in cells})

    def _drawn_steps(self, missing: Mapping[str, int]) -> Iterator[Step]:
        yield Step("plan", f"{self.planned.by}. {self.planned.reason}")
        for axis in self.planned.way.domain.axes:
            if gone := missing[axis.name]:
                text = "missing is a value like any other, and leaves as a blank"
                told = f"{many(gone, 'missing value')} of `{axis.name}`: {text}"
                if not axis.blank:
                    told = f"{many(gone, 'missing value')} of `{axis.name}` replaced by the value "
                    told += "that the schema declares"
                yield Step("missing", told)

    def largest_risk(self, risk: Risk | None, telling: Mapping[str, float]) -> str:
        """What differential privacy bounds: nothing has to be measured."""
        most = shortly(math.exp(min(float(self.epsilon), _MOST_EPSILON)))
        return (
            f"the odds of any guess about one record change by a factor of at most {most}; no row "
            "is the row of a person"
        )

    def warnings(self, risk: Risk | None) -> list[str]:
        return list(self.planned.warnings)
