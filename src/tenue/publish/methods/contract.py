"""What every method of publishing says and does, in memory and in passes.

A journey asks for `read` (options and schema), `make` (the tables and what is told of them) and
the certificate. `make` asks in this order: `prepare` (rows), `publish` (tables), `verify` (what was
promised), `assess` (risk and utility), the history. Whatever a method leaves out here is done as
for all the others.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from ...arguments import whole
from ...engine.contract import Passes
from ...errors import Fault, Refused, nearest, refuse
from ...evaluate.one_table.identifying_columns import telling
from ...noise.source import Source
from ...privacy import Promise
from ...privacy.loss import NOTHING, EpsilonDelta
from ...schema import Column, Number, Schema
from ...schema.table import RECORD
from ...schema.toml_values import key
from ...text import many
from ..assessment import Assessment, Step, assessed
from ..permute import mixed, shuffled
from ..synthetic.synthesis import VALUE
from ..table.cells import Cells, Coding, Numbers, table_of
from ..table.input_table import LEAST_MEMORY, MEMORY, Original, Validated
from ..table.parquet_output import WrittenTable

if TYPE_CHECKING:
    import pyarrow

    from ...evaluate import Check, Risk
    from ..synthetic.plan import ReleasePlan


SECOND = "second-release"
"""What a holder may insist on, whatever the method."""


@dataclass(frozen=True, eq=False)
class Published:
    """What a method made of a table.

    cells: the columns as they leave, row by row beside the original.
    groups: the group of each row; by confidential column where each has its own.
    tables: the Arrow tables that leave, by name, if it is not the one table of `cells`; that may
        leave as well.
    centres: of columns that leave as texts, a value that stands for each; to measure risk by.
    rows: which rows of the original these are, in this order; None if it is all of them.
    steps: what the history says besides, for the holder alone.
    """

    cells: Mapping[str, Cells]
    groups: Mapping[str, Numbers] = field(default_factory=dict)
    tables: Mapping[str, Any] = field(default_factory=dict)
    centres: Mapping[str, Cells] = field(default_factory=dict)
    rows: Numbers | None = None
    steps: tuple[Step, ...] = ()

    def of(self, original: Original) -> Original:
        """The rows of the original that are beside those that leave."""
        return original if self.rows is None else original.take(self.rows)


@dataclass(frozen=True, eq=False)
class Made:
    """The tables that leave, in random order, and what their holder is told.

    table: all columns side by side, in memory or in files.
    sample: the rows of what was made which a report counts.
    before: the same rows as they were read, where the report compares them.
    sizes: how many groups have how many units, by column where each has its own.
    telling: the unprotected columns that tell nearly everybody apart, and the share of rows found.
    tables: the tables that leave, by name, if it is not the one table; that may leave as well.
    """

    table: pyarrow.Table | WrittenTable
    sample: pyarrow.Table
    assessment: Assessment
    history: tuple[Step, ...]
    before: pyarrow.Table | None = None
    sizes: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    telling: Mapping[str, float] = field(default_factory=dict)
    tables: Mapping[str, Any] = field(default_factory=dict)


class Look(Protocol):
    """Who looks at the rows of a table as they are read, before anything is made of them.

    name: is shown some stored values of an identifier at a time, where rows are read in passes;
        None if nobody asks for them.
    """

    name: Callable[[str, Any], None] | None

    def held(self, read: Original) -> None:
        """All rows, in memory."""

    def rows(self, passes: Passes, coding: Coding) -> None:
        """All rows, as the coding has them."""


@dataclass(frozen=True)
class Way:
    """What is done, in a few words, and where it is proved."""

    mechanism: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Method(abc.ABC):
    """A way of publishing, with its options, that suits a schema.

    override: what the holder insists on; each word is recorded in the certificate.
    """

    name: ClassVar[str]
    overrides: ClassVar[tuple[str, ...]] = ()
    """What a holder may insist on besides `SECOND`."""
    named_roles: ClassVar[bool] = True
    """Whether every column that leaves must state its role."""
    reads_all: ClassVar[bool] = False
    """Whether a value that cannot be read counts as missing; otherwise the table is refused."""
    stored_types: ClassVar[bool] = True
    """Whether columns keep the source's types, which may follow from rows; else the schema's."""
    repeatable: ClassVar[bool] = False
    """Whether a second release of a table reveals no more than both of their prices."""
    report_compares: ClassVar[bool] = True
    """Whether its report shows the release beside the original; else only what may leave."""
    step: ClassVar[str] = "partition and publish"
    """What whoever waits is told while it makes the table."""

    schema: Schema
    override: frozenset[str] = frozenset()

    # -- what was asked for ------------------------------------------------------------------------

    @classmethod
    @abc.abstractmethod
    def read(cls, schema: Schema, override: object, *given: Any, **options: Any) -> Self:
        """The method with these options; refused if they are none, or do not suit the schema.

        A method names its options as keywords of their own: `publish` takes them, and no others.
        """

    @classmethod
    def insisted(cls, given: object) -> frozenset[str]:
        """The words of `override`, each refused if it is none that this method knows."""
        words = [given] if isinstance(given, str) else given
        if not isinstance(words, Collection):
            words = [words]
        known = cls.overrides if cls.repeatable else (SECOND, *cls.overrides)
        if words and not known:
            raise refuse("publish.override-without-effect", method=cls.name)
        return frozenset(one_of(word, "override", known) for word in words)

    @property
    def memory(self) -> int | None:
        """How many bytes may be held of the table that is read; None for all that there are."""
        return None

    def in_passes(self, table: Validated) -> bool:
        """Whether the table is read in passes, for it would not fit; by public facts alone."""
        return False

    def streamed(self) -> Self:
        """The method as it is done of a table that is read in passes, if that is not the same."""
        return self

    def sized(self, rows: int) -> Self:
        """The method for a table of so many rows; refused if it does not suit them.

        Asked before anything is paid, and only of methods that show how many rows there are.
        """
        return self

    @property
    def planned(self) -> ReleasePlan:
        """What is done, of a method that has a price; known once the number of rows is."""
        raise Fault(f"{self.name} has no plan")

    @property
    def label(self) -> str:
        """The method in a few words, for the ledger and the history."""
        return self.name

    # -- the schema --------------------------------------------------------------------------------

    @cached_property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers that are published."""
        return self._stored(self.schema.quasi_identifiers)

    @cached_property
    def confidential(self) -> tuple[str, ...]:
        """The confidential columns that are published."""
        return self._stored(self.schema.confidential)

    @cached_property
    def sensitive(self) -> tuple[str, ...]:
        """Those of them that are declared sensitive."""
        return tuple(name for name in self.confidential if self.schema.columns[name].sensitive)

    @cached_property
    def unprotected(self) -> tuple[str, ...]:
        """The columns of role other, which leave as they are."""
        return tuple(
            column.name
            for column in self.schema.columns.values()
            if column.role == "other" and not self._names_a_person(column) and not _derived(column)
        )

    def _stored(self, columns: Iterable[Column]) -> tuple[str, ...]:
        for column in columns:
            if _derived(column):
                raise refuse("publish.derived-column-role", column=column.name, role=column.role)
        return tuple(column.name for column in columns if not self._names_a_person(column))

    def _names_a_person(self, column: Column) -> bool:
        return column.name.lower() == self.schema.unit.lower()

    def no_role(self, role: str, why: str) -> Refused:
        """The refusal of a schema that lacks a role which the method needs."""
        return refuse("publish.columns-of-role-missing", name=self.schema.name, role=role, why=why)

    # -- the rows ----------------------------------------------------------------------------------

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns whose values the method reads or moves; none of them may be missing."""
        return self.quasi + self.confidential

    @property
    def fewest(self) -> int:
        """How many units a table must have."""
        return 1

    @property
    @abc.abstractmethod
    def changed(self) -> tuple[str, ...]:
        """The columns whose values are no longer those of the original."""

    def prepare(self, read: Original, source: Source) -> Original:
        """The rows that can be published, in random order.

        A missing value becomes what the schema declares for it. Where the schema declares nothing,
        the row is left out if the method must read or move that value, and else keeps its blank.
        Rows are shuffled first, so that equal distances are not decided by the order of a file.
        """
        cells = {name: column.filled() for name, column in read.cells.items()}
        keep = np.ones(read.size, dtype=bool)
        for name in self.quasi + self.confidential:
            if not cells[name].present.any():
                raise refuse(
                    "publish.published-column-empty", column=name, role=cells[name].column.role
                )
        for name in self.compared:
            keep &= cells[name].present
        rows = np.flatnonzero(keep)
        if rows.size == 0:
            raise refuse("publish.no-complete-row")
        full = Original(cells, read.persons, read.size)
        full = full.take(rows[shuffled(int(rows.size), source)])
        units = full.size if full.persons is None else int(full.persons.max()) + 1
        if units < self.fewest:
            word = "rows" if full.persons is None else "persons"
            fix = f"Choose k = {units} at most" if units > 1 else "Publish a larger table"
            raise refuse("publish.fewer-units-than-k", largest=self.fewest, word=word, word2=fix)
        for name in self.quasi + self.confidential:
            _check_varies(full.cells[name])
        return full

    def make(
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Look
    ) -> Made:
        """Reads the rows, which are paid for, and makes the release, measured as it was promised.

        Parameters
            tell: is told the name of each step when it begins.
            look: is shown the rows as they were read.
        """
        if self.in_passes(table):
            return self.stream(table, source, tell, look)
        read = table.read(all_values=self.reads_all)
        look.held(read)
        original = self.prepare(read, source)
        tell(self.step)
        made = self.publish(original, source)
        tell("evaluate")
        beside = made.of(original)
        before, after = (table_of(cells, self.schema) for cells in (beside.cells, made.cells))
        self.verify(after, beside.persons)
        told = self.assess(before, after, source, beside, made)
        loose = {name: after.column(name) for name in self.unprotected}
        return Made(
            mixed(after, source),
            after,
            told,
            self.history(read, original, made) + told.steps,
            before,
            sizes_counted(self.group_sizes(beside, made)),
            telling(loose),
            {name: mixed(one, source) for name, one in made.tables.items()},
        )

    @abc.abstractmethod
    def publish(self, original: Original, source: Source) -> Published:
        """The table after the method; refused if that would tell what it must not."""

    def stream(
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Look
    ) -> Made:
        """The same for a table that is read in passes, measured as it was promised."""
        raise Fault(f"{self.name} holds the whole table")

    @abc.abstractmethod
    def verify(self, table: Any, persons: Numbers | None) -> None:
        """Measures what was promised once more, on the Arrow table; a `Fault` if it does not hold.

        Parameters
            persons: whose each row is; None if each row is a person.
        """

    def assess(
        self, before: Any, after: Any, source: Source, original: Original, made: Published
    ) -> Assessment:
        """Risk and utility, from original and release together: for the holder alone.

        Parameters
            before, after: the tables that would leave, row by row.
        """
        return assessed(before, after, self.schema, source, original.persons, self.explained)

    def explained(self, check: Check) -> Check:
        """What was measured on the release, with what the reader must know of the method."""
        return check

    # -- the certificate ---------------------------------------------------------------------------

    @property
    @abc.abstractmethod
    def promise(self) -> Promise: ...

    @property
    def price(self) -> EpsilonDelta:
        """What is debited before a row is read; nothing if the promise is about looks."""
        return NOTHING

    @property
    @abc.abstractmethod
    def way(self) -> Way: ...

    @property
    def parameters(self) -> dict[str, str]:
        """What the method was called with, and on which columns; nothing of the rows."""
        return {}

    @property
    def assumptions(self) -> Sequence[str]:
        """What the promise rests on besides what every release rests on."""
        return ()

    @property
    @abc.abstractmethod
    def limits(self) -> Sequence[str]:
        """What is not promised, besides what no release promises."""

    # -- the holder's screen -----------------------------------------------------------------------

    def history(self, read: Original, original: Original, made: Published) -> tuple[Step, ...]:
        """The steps from the table as it was read to the table as it leaves."""
        steps = read_steps(read.size, len(read.cells), read.beyond)
        if read.size > original.size:
            text = f"{read.size - original.size} rows with a missing value in "
            steps.append(Step("left out", text + ", ".join(self.compared)))
        steps += self.group_steps(made.of(original), made)
        return (*steps, *made.steps, *self.publish_steps())

    def publish_steps(self) -> list[Step]:
        """How the history ends."""
        steps = [Step("publish", f"{self.label}: {', '.join(self.changed)}")]
        return steps + [Step("insisted on", word) for word in sorted(self.override)]

    def group_steps(self, original: Original, made: Published) -> Iterable[Step]:
        """What the history says of groups, where there are any."""
        return ()

    def group_sizes(self, original: Original, made: Published) -> Mapping[str, Numbers]:
        """How many units each group has; by confidential column where each has its own groups."""
        sizes = {n: np.bincount(original.of_persons(one)) for n, one in made.groups.items()}
        labels = list(made.groups.values())
        if len(labels) > 1 and all(np.array_equal(one, labels[0]) for one in labels[1:]):
            return {"": next(iter(sizes.values()))}
        return sizes

    def instead_of_k(self, check: Check) -> str | None:
        """What to say of look-alikes where k, l and t measure nothing that is promised."""
        return None

    def remarks(self) -> Sequence[str]:
        """What a reader of the risk must know of the method."""
        return ()

    def warnings(self, risk: Risk | None) -> list[str]:
        """What the holder should think about before the release leaves."""
        return []


def sizes_counted(sizes: Mapping[str, Numbers]) -> dict[str, dict[int, int]]:
    """How many groups have how many units."""
    counted = {}
    for name, each in sizes.items():
        size, times = np.unique(each, return_counts=True)
        counted[name] = dict(zip(size.tolist(), times.tolist(), strict=True))
    return counted


def read_steps(rows: int, columns: int, beyond: Mapping[str, int]) -> list[Step]:
    """How the history begins: what was read, and what of it lay beyond its bounds."""
    steps = [Step("read", f"{many(rows, 'row')}, {many(columns, 'column')} besides identifiers")]
    for name, count in beyond.items():
        if count:
            values = many(count, "value")
            text = f"{values} of `{name}` beyond the declared bounds became the nearest bound"
            steps.append(Step("clamped", text))
    return steps


def one_of(given: object, name: str, known: Collection[str]) -> str:
    """The word, refused if it is none of those that are known."""
    if isinstance(given, str) and given in known:
        return given
    listed = ", ".join(f'"{word}"' for word in known)
    near = nearest(str(given), known)
    raise refuse(
        "publish.unknown-option-value", name=name, given=given, listed=listed, nearest=near
    )


def check_roles(schema: Schema) -> None:
    """Refuses a schema in which some column's role is not stated."""
    lacking = schema.without_role
    if lacking:
        names, first = ", ".join(f"`{name}`" for name in lacking), key(lacking[0])
        word = " and in the others" if lacking[1:] else ""
        raise refuse("publish.roles-missing", columns=lacking, names=names, key=first, word=word)


def _derived(column: Column) -> bool:
    return isinstance(column, Number) and column.expression is not None


def _check_varies(column: Cells) -> None:
    values = column.numbers[column.present]
    if values.size and (values == values[0]).all():
        raise refuse("publish.constant-column", column=column.name, role=column.column.role)


# -- Methods that can read a table in passes, where it would not fit into memory -------------------


@dataclass(frozen=True, kw_only=True)
class Passable(Method):
    """A method that holds a table, or reads it in passes.

    held: how many bytes of a stored table may be held; None for all that there are.
    """

    held: int | None = None

    @property
    def in_order(self) -> bool:
        """Whether groups follow from counts and places that come in order."""
        return False

    @property
    def passable(self) -> bool:
        """Whether groups can be found of a table that is not held."""
        return self.in_order and self.schema.unit == RECORD

    def room(self, memory: object) -> int | None:
        """How many bytes may be held; refused where groups are formed of the whole table at once.

        Counted in rows: whose rows belong together is only known of a table that is held.
        """
        if memory is None:
            return None
        if self.schema.unit != RECORD:
            raise refuse("publish.memory-with-persons", unit=self.schema.unit)
        if not self.in_order:
            raise refuse("publish.memory-with-whole-table", label=self.label)
        return whole(memory, "memory", least=LEAST_MEMORY)

    @property
    def memory(self) -> int | None:
        return self.held

    def in_passes(self, table: Validated) -> bool:
        if not self.passable or not table.stored or (self.held is None and not table.spread):
            return False
        return table.rows * len(Coding.of(self.schema).columns) * VALUE > self.room_for_rows

    @property
    def room_for_rows(self) -> int:
        """How many bytes of a table may be held; those of many machines would fill this one."""
        return MEMORY if self.held is None else self.held
