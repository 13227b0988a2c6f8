"""The engine for a table in Spark: its machines count, and only counts leave them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import EngineFault, Refused, refuse
from ...noise.keyed_stream import fresh_key
from ...noise.source import SYSTEM
from ...schema import Identifier, Table
from ...schema.table import RECORD
from ..contract import CHANGED, FAULT, KeptThere, Numbers, Profiles, Validated
from ..contribution_bounds.measure import Place
from ..contribution_bounds.rows_by_unit import Reader, UnitRows, limits
from ..duckdb.profile import LOOKED_AT, Described, describe_arrow
from ..fingerprint import InServer, Watched
from ..registry import Finding, Load
from ..request import People, RankRequest
from ..scratch import Scratch
from ..source import count_queries
from ..source.count_queries import Cell, Tally
from ..source.location import Cluster, InSpark, paths_of
from ..sql.logical_table import Held, Logical, Stored
from ..sql.row_checks import Types, checks_of, count_where, handed_over, unfilled
from ..sql_engine import Relational, held_as, how_read, stored_columns
from ..storage import Opaque, Written
from .dialect import SPARK, storage
from .passes import keep
from .session import FREE, ClusterSession, quiet, watched
from .udfs import by_value, chooser, equipped

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

_BATCH = 1 << 16
_PYTHON = "Install numpy and pyarrow for the Python of every machine of the cluster, the one that "
_PYTHON += "PYSPARK_PYTHON names there; its version is that of this machine"
_RELEASES = ": questions are answered, and tables larger than memory cannot be published"


class SparkBench:
    """A `Bench` that selects from the chosen rows where they are."""

    def __init__(self) -> None:
        self._gathered: list[tuple[Chosen, str]] = []

    def select(self, table: Chosen, sql: str) -> Sequence[tuple[Any, ...]]:
        return table.session.run(f"WITH {table.handed} {sql}")

    def gather(self, table: Chosen, sql: str) -> None:
        """Keeps the SELECT: nothing is computed yet."""
        self._gathered.append((table, sql))

    def gathered(self, sql: str) -> Sequence[tuple[Any, ...]]:
        if not self._gathered:
            return []
        ((table, inner),) = self._gathered
        return table.session.run(f"WITH {table.handed}, gathered AS ({inner}) {sql}")

    def clear(self) -> None:
        self._gathered.clear()

    def close(self) -> None:
        self.clear()


@dataclass(frozen=True)
class Chosen:
    """The rows chosen for one question, by a name in its session."""

    session: ClusterSession
    name: str

    @property
    def handed(self) -> str:
        """The table `handed` of a WITH clause."""
        return f"handed AS (SELECT * FROM {SPARK.quoted(self.name)})"  # noqa: S608


@dataclass(frozen=True)
class SparkSpread(Place):
    """People whose rows lie on many machines.

    Guarantee
        As `People`. The choice follows from a key that is drawn here for one question: every
        machine that makes it, and makes it again, chooses the same rows.
    """

    session: ClusterSession

    def parts(self, people: People, rows: UnitRows, every: bool) -> Iterator[Chosen]:
        """All rows at once."""
        limit, groups = limits(people)
        session = self.session
        columns = ", ".join(["u", *rows.handed])
        frame = session.of(f"SELECT {columns} FROM {SPARK.nested(rows.sql)}")  # noqa: S608
        choose = chooser(fresh_key(self.source), limit, groups, len(rows.shape), every)
        kinds = ", ".join(f"{one.name} {one.dataType.simpleString()}" for one in frame.schema)
        marked = f"{kinds}, chosen boolean, placed boolean"
        chosen = frame.repartition("u").mapInArrow(by_value(choose), marked)
        yield Chosen(session, session.named(chosen))


def write_logical(table: Stored, columns: Sequence[str]) -> str:
    """The SELECT of the logical values of these columns, or of all that are no identifiers."""
    logical = unfilled(table)
    declared = [held.column for held in logical.table.held.values()]
    named = columns or [c.name for c in declared if not isinstance(c, Identifier)]
    chosen = [f"{logical.whole(name)} AS {table.dialect.quoted(name)}" for name in named]
    return logical.select(chosen)


def examine(source: Cluster) -> Iterator[Finding]:
    """Cluster, table and the Python of its machines; no row is read."""
    try:
        session = ClusterSession(source)
    except Refused as refusal:
        yield Finding.refused("cluster", refusal)
        return
    try:
        yield Finding("cluster", "fine", f"Spark {session.version}")
        yield Finding("table", "fine", f"It has {len(session.columns)} columns")
        found = _versions(session)
    finally:
        session.close()
    if found is None:
        yield Finding("machines", "missing", "Python functions do not run on the cluster", _PYTHON)
    else:
        yield Finding("machines", "fine", found + (_RELEASES if "without" in found else ""))


def _versions(session: ClusterSession) -> str | None:
    """The versions on a machine of the cluster; None if Python, numpy or pyarrow is missing."""
    with quiet(), suppress(Exception):
        one = session.of("SELECT 1 AS one").mapInArrow(by_value(equipped), "found string")
        with watched(one.sparkSession, FREE):
            ((words,),) = one.collect()
        return str(words)
    return None


@contextmanager
def open_tally(source: InSpark) -> Iterator[Tally]:
    """The counts of a table, as long as the context lasts; refused if it is none."""
    with closing(ClusterSession(source)) as session:
        cells = {name: Cell(SPARK.quoted(name), storage(kind)) for name, kind in session.columns}
        table = SPARK.quoted(session.name)
        yield Tally("Spark", SPARK, table, cells, lambda sql: _run(session, sql))


def _run(session: ClusterSession, sql: str) -> Iterator[pyarrow.RecordBatch]:
    begun = False
    with suppress(Exception):
        for batch in session.batches(sql, count_queries.BATCH):
            begun = True
            yield batch
        return
    # machines without Python and pyarrow hand counts over all at once
    with suppress(Exception):
        if not begun:
            yield from session.arrow(sql).to_batches(count_queries.BATCH)
            return
    # raised out of reach of the error above, which may quote a row
    raise refuse("engine.rows-not-read")


def open_table(source: InSpark) -> tuple[tuple[str, ...], Load]:
    """The names of a table's columns, and how they are read; refused if it is no table.

    Decimals are read as doubles. The columns asked for must fit into memory.
    """
    return tuple(name for name, _ in _columns(source)), lambda chosen: _load(source, chosen, None)


def describe(source: InSpark, *, values: bool) -> list[Described]:
    """The columns of a table; with `values`, also the values that its rows have."""
    names = [n for n, kind in _columns(source) if not isinstance(storage(kind), Opaque)]
    every = _load(source, names, None) if values else None
    return describe_arrow(_load(source, names, LOOKED_AT), every)


def _columns(source: InSpark) -> tuple[tuple[str, str], ...]:
    with closing(ClusterSession(source)) as session:
        return session.columns


def _load(source: InSpark, names: Sequence[str], most: int | None) -> pyarrow.Table:
    with closing(ClusterSession(source)) as session:
        kinds = dict(session.columns)

        def chosen(name: str) -> str:
            own = SPARK.quoted(name)
            return f"{SPARK.seen(own, storage(kinds[name]))} AS {own}"

        listed, limit = ", ".join(map(chosen, names)), "" if most is None else f" LIMIT {most}"
        with suppress(Exception):
            return session.arrow(f"SELECT {listed} FROM {SPARK.quoted(session.name)}{limit}")  # noqa: S608
    # raised out of reach of the error above, which may quote a row
    raise refuse("engine.rows-not-read")


class Spark(Relational[ClusterSession]):
    """Measures requests on a table in Spark.

    Guarantee
        As `Engine`: exact integers that depend on the multiset of rows only, and one `EngineFault`
        of fixed text for every failure. Only counts reach this process, except where a table is
        published. A part of the work that is done again, because a machine was lost, gives the same
        result: what is drawn there follows from a key that one question has.
        A column that is not declared is invisible.

    Parameters
        source: what `locate` found.
        schema: what is declared about the table.
    """

    reopens = False  # the gateway to the JVM is the process's own
    title = "Spark"
    _session: ClusterSession | None

    def __init__(self, source: InSpark, schema: Table) -> None:
        super().__init__(schema.unit, SparkBench, SPARK)
        self._session = session = ClusterSession(source)
        try:
            columns = [(name, storage(kind)) for name, kind in session.columns]
            held = {
                column.name.lower(): held_as(column, columns, SPARK.words)
                for column in stored_columns(schema)
            }
            self._table = Stored(SPARK.quoted(session.name), held, schema.columns, SPARK)
            self._check()
            self._probe(session)
            paths, how = paths_of(source), "\n".join(how_read(schema))
            if paths:
                self.files = Watched(paths).read_as(how)
            elif isinstance(source, Cluster):
                self.files = InServer(".".join(source.table) or "files", session.described, how)
        except BaseException:
            self.close()
            raise

    def validate(self) -> Validated:
        """Reads every row once, in the way in which every question reads them.

        Refused where rows of persons are chosen and no machine could: later it would be paid for.
        """
        persons = self._unit != RECORD
        if persons and self._session is not None and _versions(self._session) is None:
            raise refuse("engine.spark-workers-lack-numpy")
        digest = "" if self.files is None else self.files.digest()
        logical = unfilled(self._table)
        checks = checks_of(logical, self._optional_unit)
        sql = logical.select(checks.chosen())
        return self._within(lambda session: checks.validated(session.run(sql)[0], digest))

    def ranks(self, request: RankRequest) -> Profiles:
        """As `Engine`. One statement reads the rows twice, and Spark takes no snapshot of files: if
        they were written meanwhile, the result may belong to neither state, and is a fault."""
        session = None if isinstance(self.files, Watched) else self._session  # those are watched
        before = None if session is None else session.files()
        found = super().ranks(request)
        if session is not None and session.files() != before:
            raise EngineFault(CHANGED)
        return found

    @contextmanager
    def keep(
        self,
        numbers: Callable[[pyarrow.RecordBatch], Numbers],
        width: int,
        named: Callable[[str, pyarrow.Array], None] | None,
    ) -> Iterator[KeptThere]:
        """All rows in passes, as `Spread.keep` says; the folder is that of this process, which all
        machines must reach."""
        session = self._session
        if session is None:
            raise EngineFault(FAULT)
        logical, scratch = unfilled(self._table), Scratch()
        try:
            frame = session.of(write_logical(self._table, ()))
            with keep(frame, numbers, width, str(scratch.path)) as passes:
                told = handed_over(logical, session, self._types(session), passes.rows)
                tests = [count_where(f"{logical.whole(name)} IS NULL") for name in told.unreadable]
                counts = session.run(logical.select(tests))[0] if tests else ()
                identifiers = [name for name in told.types if name not in told.unreadable]
                for name in identifiers if named is not None else ():
                    own = f"{logical.raw(name)} AS {SPARK.quoted(name)}"
                    for part in session.batches(logical.select([own]), _BATCH):
                        assert named is not None  # noqa: S101 - or no name is read
                        named(name, part.column(0))
                yield KeptThere(passes, told, dict(zip(told.unreadable, counts, strict=True)))
        finally:
            scratch.close()

    def logical_frame(self, *columns: str) -> DataFrame:
        """The logical values of these columns, or of all that are no identifiers, for every row.

        Whole numbers of 64 bits: grid steps, category numbers, 0 and 1; null where missing. What
        the schema declares for missing values is not filled in. Nothing is computed yet.
        """
        return self._within(lambda session: session.of(write_logical(self._table, columns)))

    def _probe(self, session: ClusterSession) -> None:
        """Refuses a table whose declared columns Spark cannot read; no row is read."""
        logical = Logical(self._table)
        for held in self._table.held.values():
            logical.raw(held.column.name)
        with quiet(), suppress(Exception):
            session.of(logical.write()).schema  # noqa: B018 - Spark looks at names and types
            return
        raise refuse("engine.spark-columns-unreadable")

    def _people(self, state: ClusterSession) -> Place:
        reader = Reader(state.run, state.arrow)
        return SparkSpread(self._table, reader, self._opened_bench, SPARK, SYSTEM, state)

    def _types(self, state: ClusterSession) -> Types:
        names = ", ".join(SPARK.quoted(held.name) for held in self._table.held.values())
        stored = state.arrow(f"SELECT {names} FROM {self._table.sql} LIMIT 0").schema  # noqa: S608

        def type_of(held: Held) -> pyarrow.DataType | None:
            return None if held.stored == Written() else stored.field(held.name).type

        return type_of

    @contextmanager
    def _state(self) -> Iterator[ClusterSession]:
        if self._session is None:
            raise ConnectionError
        try:
            yield self._session
        finally:
            self._session.sweep()
