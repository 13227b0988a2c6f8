"""A private table: rows drawn from noisy numbers, none of which belongs to anybody.

The whole table is one answer under differential privacy. It is paid for like one, before a row is
read, and may be published again for its price again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from ...arguments import whole
from ...errors import Fault, refuse
from ...evaluate.two_tables.distribution_similarity import likeness
from ...noise.source import Source
from ...privacy import Promise
from ...privacy.loss import EpsilonDelta
from ...schema import Schema
from ...text import exactly, many, named
from ..assessment import Assessment, Step
from ..synthetic.domain import Domain
from ..synthetic.plan import AUTO, ReleasePlan, check_promisable, planned, price_of
from ..synthetic.synthesis import VALUE, stream
from ..table.cells import Numbers
from ..table.input_table import LEAST_MEMORY, MEMORY, Original, Validated
from .contract import Look, Made, Method, Published, Way, read_steps

if TYPE_CHECKING:
    from ...evaluate import Risk

NOBODY = "A row stands for nobody: it was drawn, and says nothing of any one person's record."
MANY = (
    "What holds for many people is not hidden, only what one record changes: a conclusion about a "
    "group reaches each of its members."
)
ADDS_UP = (
    "The promise is about this table alone. Answers and private tables from the same rows add up, "
    "each with its epsilon; a swapped or microaggregated copy has none that could be added."
)
COARSE = "Noise shows: combinations of values appear that no record has, and rare ones get lost."
FILLED = (
    "A missing value of {names} counts as a value drawn at random from all that the column can "
    "hold, for the schema says neither what stands for it nor how it is marked."
)

_BROKEN = "a release was about to leave without what it promises"


@dataclass(frozen=True, kw_only=True)
class Private(Method):
    """The released table is `epsilon`-differentially private when one record takes any other value
    of the domain; how many rows there are is public.

    by, k: the way that is asked for, and rows in a cluster, as `plan_release` reads them.
    held: how many bytes of the table that is read may be held in memory.
    plan: what is done, once the number of rows is known.

    Source
        Thesis, chapter 6, corrected (the chain theorem); trees, columns, copula and network as
        their own files say.
    """

    name = "private"
    named_roles: ClassVar[bool] = False
    reads_all: ClassVar[bool] = True
    stored_types: ClassVar[bool] = False
    repeatable: ClassVar[bool] = True
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
        epsilon: Any,
        by: str | None = None,
        k: int | Literal["auto"] = AUTO,
        memory: int = MEMORY,
    ) -> Self:
        check_promisable(schema)
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
        if schema.rows is not None:  # whatever does not suit the table is refused at once
            return made.sized(schema.rows)
        return made

    def sized(self, rows: int) -> Self:
        if self.schema.rows is not None and rows != self.schema.rows:
            raise refuse(
                "ask.row-count-differs",
                rows=self.schema.rows,
                name=self.schema.name,
            )
        domain = Domain.of(self.schema)
        return replace(self, plan=planned(domain, rows, self.epsilon, self.by, self.k))

    @property
    def planned(self) -> ReleasePlan:
        """What is done; known once the number of rows is."""
        if self.plan is None:
            raise Fault("a private release was begun before it was planned")
        return self.plan

    @property
    def label(self) -> str:
        return self.name if self.plan is None else f"{self.name} by {self.plan.by}"

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
        values = self.planned.rows * len(self.planned.way.domain.axes)
        return table.stored and values * VALUE > self.held

    def stream(
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Look
    ) -> Made:
        made = stream(
            self.planned.way, table, self.schema, self.held, source, tell, self._check_piece
        )
        if made.table.num_rows != self.planned.rows:
            raise Fault(_BROKEN)
        text = (
            f"{many(made.sample.num_rows, 'row')} of each table, drawn at random; a value that "
            "became a random one counts as that one"
        )
        steps = [
            *read_steps(self.planned.rows, made.columns, made.beyond),
            *self._drawn_steps(made.missing),
            *self.publish_steps(),
            Step("evaluate", text),
        ]
        return Made(made.table, made.sample, Assessment(None, made.likeness, ()), tuple(steps))

    def prepare(self, read: Original, source: Source) -> Original:
        """All rows as they are: one that was left out would be noticed."""
        return read

    def publish(self, original: Original, source: Source) -> Published:
        way = self.planned.way
        places = way.domain.places(original.cells, source)
        return Published(way.domain.cells(way.draw(places, source)))

    def verify(self, table: Any, persons: Numbers | None) -> None:
        """Every row and column is there, and nothing is blank that may not be."""
        self._check_piece(table)
        if table.num_rows != self.planned.rows:
            raise Fault(_BROKEN)

    def _check_piece(self, table: Any) -> None:
        blank = {axis.name for axis in self.planned.way.domain.axes if axis.blank}
        if tuple(table.column_names) != self.changed or any(
            table.column(name).null_count for name in self.changed if name not in blank
        ):
            raise Fault(_BROKEN)

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
        open_ = [a.name for a in domain.axes if not a.blank and a.column.missing is None]
        filled = [FILLED.format(names=named(open_))] if open_ else []
        return [NOBODY, MANY, COARSE, *self.planned.way.limits, *filled, ADDS_UP]

    # -- the holder's screen -----------------------------------------------------------------------

    def group_steps(self, original: Original, made: Published) -> Iterator[Step]:
        cells = original.cells.items()
        yield from self._drawn_steps({name: int((~held.present).sum()) for name, held in cells})

    def _drawn_steps(self, missing: Mapping[str, int]) -> Iterator[Step]:
        yield Step("plan", f"{self.planned.by}. {self.planned.reason}")
        for axis in self.planned.way.domain.axes:
            gone = missing[axis.name]
            if gone and axis.column.missing is None and not axis.blank:
                text = f"{many(gone, 'missing value')} of `{axis.name}` became random values"
                yield Step("missing", text)

    def warnings(self, risk: Risk | None) -> list[str]:
        return list(self.planned.warnings)
