"""The contract of all methods of publishing, in memory and in passes.

`publish` calls `read` (options and schema), `make` (tables and measurements) and the parts of the
certificate. `make` calls, in this order: `prepare` (rows), `publish` (tables), `verify` (the
promise), `assess` (risk and utility), `history`. What a method does not override is done as here.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ...arguments import whole
from ...errors import Fault, Refused, nearest, refuse
from ...evaluate.certificate import explained
from ...evaluate.one_table.identifying_columns import telling
from ...noise.source import Source
from ...privacy import Promise
from ...privacy.loss import NOTHING, EpsilonDelta
from ...schema import Column, Number, Schema
from ...schema.table import RECORD
from ...schema.toml_values import key
from ...text import many, percent
from ..assessment import Assessment, Step, assessed
from ..permute import mixed, shuffled
from ..row_fingerprint import Marking
from ..synthetic.synthesis import VALUE
from ..table.cells import Cells, Coding, Numbers, table_of
from ..table.input_table import LEAST_MEMORY, MEMORY, Original, Validated
from ..table.parquet_output import WrittenTable

if TYPE_CHECKING:
    import pyarrow

    from ...evaluate import Check, Risk
    from ..synthetic.plan import ReleasePlan


SECOND = "second-release"
"""The override that every method without a price accepts."""


@dataclass(frozen=True, eq=False)
class Published:
    """The result of a method.

    cells: the released columns, row by row beside the original.
    groups: the group of each row; by confidential column where each has its own groups.
    tables: the released Arrow tables, by name, if they are not the one table of `cells`; linked
        tables may leave beside that one.
    centres: for columns released as text, a representative value, to measure risk with.
    rows: which rows of the original these are, in this order; None for all.
    steps: further entries of the history, for the holder only.
    """

    cells: Mapping[str, Cells]
    groups: Mapping[str, Numbers] = field(default_factory=dict)
    tables: Mapping[str, Any] = field(default_factory=dict)
    centres: Mapping[str, Cells] = field(default_factory=dict)
    rows: Numbers | None = None
    steps: tuple[Step, ...] = ()

    def of(self, original: Original) -> Original:
        """The rows of the original beside the released ones."""
        return original if self.rows is None else original.take(self.rows)


@dataclass(frozen=True, eq=False)
class Made:
    """The released tables, in random order, and what was measured of them.

    table: all columns side by side, in memory or in files.
    sample: the released rows that a report counts.
    before: the same rows of the original, where the report compares them.
    sizes: how many groups have how many units, by column where each has its own groups.
    telling: unprotected columns that identify nearly every row, with the share of rows identified.
    tables: as in `Published`.
    way: the method as it was applied, where that follows from what was released first.
    """

    table: pyarrow.Table | WrittenTable
    sample: pyarrow.Table
    assessment: Assessment
    history: tuple[Step, ...]
    before: pyarrow.Table | None = None
    sizes: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    telling: Mapping[str, float] = field(default_factory=dict)
    tables: Mapping[str, Any] = field(default_factory=dict)
    way: Method | None = None


@dataclass(frozen=True)
class Way:
    """The mechanism in a few words, and the source of its proof."""

    mechanism: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Method(abc.ABC):
    """A method of publishing, with options that suit the schema.

    override: refusals that the holder overrides; each is recorded in the certificate.
    """

    name: ClassVar[str]
    overrides: ClassVar[tuple[str, ...]] = ()
    """The overrides that it accepts besides `SECOND`."""
    named_roles: ClassVar[bool] = True
    """Whether every released column must state its role."""
    reads_all: ClassVar[bool] = False
    """Whether an unreadable value counts as missing; otherwise the table is refused."""
    stored_types: ClassVar[bool] = True
    """Whether columns keep the source's types, which may follow from rows; else the schema's."""
    hides_rows: ClassVar[bool] = False
    """Whether it protects all rows of a person, so that how many there are stays hidden."""
    repeatable: ClassVar[bool] = False
    """Whether a second release of a table reveals no more than both of their prices."""
    title: ClassVar[str] = "A protected copy of {name}"
    """The title of its report."""
    report_compares: ClassVar[bool] = True
    """Whether its report shows the release beside the original; else only what may leave."""
    step: ClassVar[str] = "partition and publish"
    """The name of its main step, for progress."""

    schema: Schema
    override: frozenset[str] = frozenset()

    # -- what was asked for ------------------------------------------------------------------------

    @classmethod
    @abc.abstractmethod
    def read(cls, schema: Schema, override: object, *given: Any, **options: Any) -> Self:
        """The method with these options; refused if they are invalid or do not suit the schema.

        Options are declared as keywords: `publish` takes these and no others.
        """

    @classmethod
    def insisted(cls, given: object) -> frozenset[str]:
        """The words of `override`; refused if the method does not know one."""
        words = [given] if isinstance(given, str) else given
        if not isinstance(words, Collection):
            words = [words]
        known = cls.overrides if cls.repeatable else (SECOND, *cls.overrides)
        if words and not known:
            raise refuse("publish.override-without-effect", method=cls.name)
        return frozenset(one_of(word, "override", known) for word in words)

    @property
    def memory(self) -> int | None:
        """How many bytes of the table may be held in memory; None for no limit."""
        return None

    def in_passes(self, table: Validated) -> bool:
        """Whether the table is too large to be held, by public facts alone."""
        return False

    def streamed(self) -> Self:
        """The method as applied to a table that is read in passes."""
        return self

    def sized(self, rows: int) -> Self:
        """The method for so many rows; refused if it does not suit them. Called before payment."""
        return self

    @property
    def planned(self) -> ReleasePlan:
        """The plan of a method that has a price, once the number of rows is known."""
        raise Fault(f"{self.name} has no plan")

    @property
    def label(self) -> str:
        """The method in a few words, for the ledger and the history."""
        return self.name

    # -- the schema --------------------------------------------------------------------------------

    @cached_property
    def quasi(self) -> tuple[str, ...]:
        """The published quasi-identifiers."""
        return self._stored(self.schema.quasi_identifiers)

    @cached_property
    def confidential(self) -> tuple[str, ...]:
        """The published confidential columns."""
        return self._stored(self.schema.confidential)

    @cached_property
    def sensitive(self) -> tuple[str, ...]:
        return tuple(name for name in self.confidential if self.schema.columns[name].sensitive)

    @cached_property
    def unprotected(self) -> tuple[str, ...]:
        """The columns of role other, which are published unchanged."""
        return tuple(
            column.name
            for column in self.schema.columns.values()
            if column.role == "other" and not self._names_a_person(column) and not _derived(column)
        )

    @property
    def released(self) -> tuple[str, ...]:
        return (*self.quasi, *self.confidential, *self.unprotected)

    def _stored(self, columns: Iterable[Column]) -> tuple[str, ...]:
        for column in columns:
            if _derived(column):
                raise refuse("publish.derived-column-role", column=column.name, role=column.role)
        return tuple(column.name for column in columns if not self._names_a_person(column))

    def _names_a_person(self, column: Column) -> bool:
        return column.name.lower() == self.schema.unit.lower()

    def no_role(self, role: str, why: str) -> Refused:
        """The refusal of a schema without columns of a role that the method needs."""
        return refuse("publish.columns-of-role-missing", name=self.schema.name, role=role, why=why)

    # -- the rows ----------------------------------------------------------------------------------

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns whose values the method reads or moves; rows that lack one are left out."""
        return self.quasi + self.confidential

    @property
    def fewest(self) -> int:
        """The least number of units in a table."""
        return 1

    @property
    def changed(self) -> tuple[str, ...]:
        """The columns whose values differ from the original."""
        return self.confidential

    def prepare(self, read: Original, source: Source) -> Original:
        """The rows that can be published, in random order.

        A missing value becomes what the schema declares for it. Where the schema declares nothing,
        the row is left out if the method must read or move that value, and else keeps its blank.
        Rows are shuffled first, so that equal distances are not decided by the order of a file.
        """
        cells = {name: column.filled() for name, column in read.cells.items()}
        for name in self.quasi + self.confidential:
            if not cells[name].present.any():
                role = cells[name].column.role
                raise refuse("publish.published-column-empty", column=name, role=role)
        keep = np.ones(read.size, dtype=bool)
        for name in self.compared:
            keep &= cells[name].present
        rows = np.flatnonzero(keep)
        if rows.size == 0:
            raise refuse("publish.no-complete-row")
        full = Original(cells, read.persons, read.size)
        full = full.take(rows[shuffled(int(rows.size), source)])
        if full.persons is None:
            self.check_units(full.size, "rows")
        else:
            self.check_units(int(full.persons.max()) + 1, "persons")
        for name in self.quasi + self.confidential:
            column = full.cells[name]
            values = column.numbers[column.present]
            if values.size and (values == values[0]).all():
                raise refuse("publish.constant-column", column=name, role=column.column.role)
        return full

    def check_units(self, units: int, word: str) -> None:
        """Refuses a table with fewer units than the method needs."""
        if units < self.fewest:
            fix = f"Choose k = {units} at most" if units > 1 else "Publish a larger table"
            raise refuse("publish.fewer-units-than-k", largest=self.fewest, word=word, word2=fix)

    def make(
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Marking
    ) -> Made:
        """Reads the rows, which are paid for, and makes and measures the release.

        Parameters
            tell: receives the name of each step when it begins.
            look: computes the fingerprints of the rows as they were read.
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
        assessment = self.assess(before, after, source, beside, made)
        return Made(
            mixed(after, source),
            after,
            assessment,
            self.history(read, original, made) + assessment.steps,
            before,
            sizes_counted(self.group_sizes(beside, made)),
            telling({name: after.column(name) for name in self.unprotected}),
            {name: mixed(one, source) for name, one in made.tables.items()},
        )

    @abc.abstractmethod
    def publish(self, original: Original, source: Source) -> Published:
        """The released table; refused if it would disclose what it must not."""

    def stream(
        self, table: Validated, source: Source, tell: Callable[[str], None], look: Marking
    ) -> Made:
        """As `make`, for a table that is read in passes."""
        raise Fault(f"{self.name} holds the whole table")

    @abc.abstractmethod
    def verify(self, table: Any, persons: Numbers | None) -> None:
        """Measures the promise again, on the Arrow table; a `Fault` if it does not hold.

        Parameters
            persons: the person of each row; None if each row is a person.
        """

    def assess(
        self, before: Any, after: Any, source: Source, original: Original, made: Published
    ) -> Assessment:
        """Risk and utility, from original and release together: for the holder only.

        Parameters
            before, after: original and release, row by row.
        """
        return assessed(before, after, self.schema, source, original.persons, self.explained)

    def explained(self, check: Check) -> Check:
        """The measured k, l and t, with the notes that the promise requires."""
        return explained(check, self.promise)

    # -- the certificate ---------------------------------------------------------------------------

    @property
    @abc.abstractmethod
    def promise(self) -> Promise: ...

    @property
    def price(self) -> EpsilonDelta:
        """What is debited before a row is read; nothing for a syntactic promise."""
        return NOTHING

    @property
    @abc.abstractmethod
    def way(self) -> Way: ...

    @property
    def parameters(self) -> dict[str, str]:
        """The options and the columns by role; nothing that depends on rows."""
        return {}

    @property
    def assumptions(self) -> Sequence[str]:
        """The assumptions of the promise besides those of every release."""
        return ()

    @property
    @abc.abstractmethod
    def limits(self) -> Sequence[str]:
        """What is not promised, besides what no release promises."""

    # -- the holder's screen -----------------------------------------------------------------------

    def history(self, read: Original, original: Original, made: Published) -> tuple[Step, ...]:
        """The steps from the table as read to the release."""
        gaps = {name: int((~read.cells[name].filled().present).sum()) for name in self.compared}
        return (
            *read_steps(read.size, len(read.cells), read.beyond),
            *self.left_out_steps(read.size - original.size, read.size, gaps),
            *self.group_steps(made.of(original), made),
            *made.steps,
            *self.publish_steps(),
        )

    def left_out_steps(self, rows: int, of: int, gaps: Mapping[str, int]) -> list[Step]:
        """How many rows were left out because a value is missing.

        Parameters
            of: how many rows the table has.
            gaps: how many of them lack a value that is needed, by column.
        """
        columns = ", ".join(f"`{name}` {count:,}" for name, count in gaps.items() if count)
        text = (
            f"{rows:,} of {many(of, 'row')} ({percent(rows / of)}), for missing values: {columns}"
        )
        return [Step("left out", text)] if rows else []

    def publish_steps(self) -> list[Step]:
        """The last steps of the history."""
        steps = [Step("publish", f"{self.label}: {', '.join(self.changed)}")]
        return steps + [Step("overridden", word) for word in sorted(self.override)]

    def group_steps(self, original: Original, made: Published) -> Iterable[Step]:
        return ()

    def group_sizes(self, original: Original, made: Published) -> Mapping[str, Numbers]:
        """How many units each group has; by confidential column where each has its own groups."""
        sizes = {n: np.bincount(original.of_persons(one)) for n, one in made.groups.items()}
        labels = list(made.groups.values())
        if len(labels) > 1 and all(np.array_equal(one, labels[0]) for one in labels[1:]):
            return {"": next(iter(sizes.values()))}
        return sizes

    def instead_of_k(self, check: Check) -> str | None:
        """The sentence about unique rows, where k, l and t do not measure the promise."""
        return None

    def remarks(self) -> Sequence[str]:
        """What a reader of the risk must know about the method."""
        return ()

    def warnings(self, risk: Risk | None) -> list[str]:
        """What the holder should consider before the release leaves."""
        return []

    def largest_risk(self, risk: Risk | None, telling: Mapping[str, float]) -> str:
        """The largest disclosure risk that was measured, with its figure.

        Parameters
            telling: unprotected columns that identify nearly every row, with that share.
        """
        found = [
            (share, f"{percent(share)} of the rows are found by `{name}`, which is unprotected")
            for name, share in telling.items()
        ]
        found += [] if risk is None else [risk.largest()]
        return max(found, key=lambda one: one[0])[1] if found else "none was measured"


def sizes_counted(sizes: Mapping[str, Numbers]) -> dict[str, dict[int, int]]:
    """How many groups have how many units."""
    counted = {}
    for name, each in sizes.items():
        size, times = np.unique(each, return_counts=True)
        counted[name] = dict(zip(size.tolist(), times.tolist(), strict=True))
    return counted


def read_steps(rows: int, columns: int, beyond: Mapping[str, int]) -> Iterator[Step]:
    """The first steps of the history: what was read, and how many values were clipped."""
    yield Step("read", f"{many(rows, 'row')}, {many(columns, 'column')} besides identifiers")
    for name, count in beyond.items():
        if count:
            yield Step("clipped", f"{many(count, 'value')} of `{name}` outside the declared bounds")


def one_of(given: object, name: str, known: Collection[str]) -> str:
    """The word; refused if it is unknown."""
    if isinstance(given, str) and given in known:
        return given
    listed, near = ", ".join(f'"{word}"' for word in known), nearest(str(given), known)
    raise refuse(
        "publish.unknown-option-value", name=name, given=given, listed=listed, nearest=near
    )


def check_kept(holds: bool) -> None:
    """A `Fault` if a release does not keep its promise."""
    if not holds:
        raise Fault("a release was about to leave without what it promises")


def check_roles(schema: Schema) -> None:
    """Refuses a schema in which some column's role is not stated."""
    lacking = schema.without_role
    if lacking:
        names, first = ", ".join(f"`{name}`" for name in lacking), key(lacking[0])
        word = " and in the others" if lacking[1:] else ""
        raise refuse("publish.roles-missing", columns=lacking, names=names, key=first, word=word)


def _derived(column: Column) -> bool:
    return isinstance(column, Number) and column.expression is not None


@dataclass(frozen=True, kw_only=True)
class Passable(Method):
    """A method that holds a table in memory, or reads it in passes.

    held: how many bytes of a stored table may be held; None for no limit.
    """

    held: int | None = None

    @property
    def in_order(self) -> bool:
        """Whether groups follow from counts in sorted order."""
        return False

    @property
    def passable(self) -> bool:
        """Whether groups can be formed without holding the table."""
        return self.in_order and self.schema.unit == RECORD

    def room(self, memory: object) -> int | None:
        """How many bytes may be held; refused if groups are formed of the whole table at once, or
        if persons have several rows, which belong together only in a table that is held."""
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
        """How many bytes may be held; a table on many machines is limited even without `held`."""
        return MEMORY if self.held is None else self.held
