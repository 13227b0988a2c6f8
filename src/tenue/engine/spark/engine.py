"""The engine for a table in Spark: its machines count, and only what was counted leaves them.

of one.
"""

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
from ..contract import FAULT, KeptThere, Numbers, Rows, Validated
from ..contribution_bounds.measure import Place
from ..contribution_bounds.rows_by_unit import Crowd, limits
from ..duckdb.profile import LOOKED_AT, Described, describe_arrow
from ..finding import Finding
from ..fingerprint import InServer, Known, Watched
from ..request import People
from ..scratch import Scratch
from ..source import count_queries
from ..source.count_queries import Cell, Tally
from ..source.location import Cluster, InSpark, paths_of
from ..sql.logical_table import Held, Logical, Stored
from ..sql.row_checks import Types, checks_of, count_where, handed_over, read_rows, unfilled
from ..sql_engine import Relational, held_as, how_read, stored_columns
from ..storage import Opaque, Written
from .dialect import SPARK, storage
from .passes import keep
from .session import FREE, ClusterSession, quiet, watched
from .udfs import by_value, chooser, equipped

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

    from ..contribution_bounds.measure import Place
    from .session import ClusterSession


class SparkBench:
    """Selects from the chosen rows where they are.

    In the SQL, `handed` is the name given, and `gathered` all that was gathered.
    """

    def __init__(self) -> None:
        self._gathered: list[tuple[Chosen, str]] = []

    def select(self, table: Chosen, sql: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a SELECT from the rows of this name."""
        return table.session.run(f"WITH {table.handed} {sql}")

    def gather(self, table: Chosen, sql: str) -> None:
        """Keeps the SELECT: nothing is computed yet."""
        self._gathered.append((table, sql))

    def gathered(self, sql: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a SELECT from what was gathered; none if nothing was."""
        if not self._gathered:
            return []
        ((table, inner),) = self._gathered
        return table.session.run(f"WITH {table.handed}, gathered AS ({inner}) {sql}")

    def clear(self) -> None:
        """Forgets what was gathered."""
        self._gathered.clear()

    def close(self) -> None:
        """Forgets everything."""
        self.clear()


@dataclass(frozen=True)
class Chosen:
    """The rows chosen for one question, by a name in its session."""

    session: ClusterSession
    name: str

    @property
    def handed(self) -> str:
        """What stands after WITH."""
        return f"handed AS (SELECT * FROM {SPARK.quoted(self.name)})"  # noqa: S608


@dataclass(frozen=True)
class SparkSpread(Place):
    """People whose rows lie on many machines.

    Guarantee
        As `People`. The choice follows from a key that is drawn here for one question: every
        machine that makes it, and makes it again, chooses the same rows.
    """

    session: ClusterSession

    def parts(self, people: People, rows: Crowd, every: bool) -> Iterator[Chosen]:
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


# -- All rows of a table in Spark: what cannot be read, and what releases are made of --------------

_BATCH = 1 << 16


def validate(table: Stored, session: ClusterSession, digest: str) -> Validated:
    """Reads every declared column of every row; what is found is for the holder alone.

    Parameters
        digest: by what the table is known again.
    """
    logical = unfilled(table)
    checks = checks_of(logical)
    (row,) = session.run(logical.select(checks.chosen()))
    return checks.validated(row, digest)


def read_all(table: Stored, session: ClusterSession) -> Rows:
    """Every row, as `Engine.read_all` says."""
    return read_rows(table, session, types_of(table, session))


def types_of(table: Stored, session: ClusterSession) -> Types:
    """How Spark stores each column."""
    names = ", ".join(table.dialect.quoted(held.name) for held in table.held.values())
    stored = session.arrow(f"SELECT {names} FROM {table.sql} LIMIT 0").schema  # noqa: S608

    def type_of(held: Held) -> pyarrow.DataType | None:
        return None if held.stored == Written() else stored.field(held.name).type

    return type_of


@contextmanager
def keep_rows(
    table: Stored,
    session: ClusterSession,
    numbers: Callable[[pyarrow.RecordBatch], Numbers],
    width: int,
    named: Callable[[str, pyarrow.Array], None] | None,
) -> Iterator[KeptThere]:
    """All rows in passes, as `Spread.keep` says; the folder is that of this process, which all
    machines must reach."""
    logical, scratch = unfilled(table), Scratch()
    try:
        frame = session.of(write_logical(table, ()))
        with keep(frame, numbers, width, str(scratch.path)) as passes:
            told = handed_over(logical, session, types_of(table, session), passes.rows)
            tests = [count_where(f"{logical.whole(name)} IS NULL") for name in told.unreadable]
            counted = session.run(logical.select(tests))[0] if tests else ()
            for name in told.types if named is not None else ():
                if name not in told.unreadable:
                    own = f"{logical.raw(name)} AS {table.dialect.quoted(name)}"
                    for part in session.batches(logical.select([own]), _BATCH):
                        assert named is not None  # noqa: S101 - or no name is read
                        named(name, part.column(0))
            yield KeptThere(passes, told, dict(zip(told.unreadable, counted, strict=True)))
    finally:
        scratch.close()


def write_logical(table: Stored, columns: Sequence[str]) -> str:
    """The SELECT of the logical values of these columns, or of all that are no identifiers."""
    logical = unfilled(table)
    declared = [held.column for held in logical.table.held.values()]
    named = columns or [c.name for c in declared if not isinstance(c, Identifier)]
    chosen = [f"{logical.whole(name)} AS {table.dialect.quoted(name)}" for name in named]
    return logical.select(chosen)


# -- What a table in Spark lacks before it can be asked --------------------------------------------

_PYTHON = "Install numpy and pyarrow for the Python of every machine of the cluster, the one that "
_PYTHON += "PYSPARK_PYTHON names there; its version is that of this machine"
_RELEASES = ": questions are answered, and tables larger than memory cannot be published"


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


def chooses(session: ClusterSession) -> bool:
    """Whether the machines can choose rows of persons."""
    return _versions(session) is not None


def _versions(session: ClusterSession) -> str | None:
    """What a machine of the cluster has; None if Python with numpy and pyarrow does not run."""
    with quiet(), suppress(Exception):
        one = session.of("SELECT 1 AS one").mapInArrow(by_value(equipped), "found string")
        with watched(one.sparkSession, FREE):
            ((words,),) = one.collect()
        return str(words)
    return None


# -- Counts of a table in Spark, made by its machines ----------------------------------------------


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


# A table in Spark as Arrow columns, without a schema: for those who evaluate it, and for the
# draft.


def open_table(
    source: InSpark,
) -> tuple[tuple[str, ...], Callable[[Sequence[str]], pyarrow.Table]]:
    """The names of a table's columns, and how they are read; refused if it is no table.

    Decimals are read as doubles. The columns asked for must fit into memory.
    """
    session = ClusterSession(source)
    try:
        names = tuple(name for name, _ in session.columns)
    finally:
        session.close()
    return names, lambda chosen: _load(source, chosen, None)


def describe(source: InSpark, *, values: bool) -> list[Described]:
    """The columns of a table; with `values`, also what its rows hold."""
    session = ClusterSession(source)
    try:
        names = [n for n, kind in session.columns if not isinstance(storage(kind), Opaque)]
    finally:
        session.close()
    every = _load(source, names, None) if values else None
    return describe_arrow(_load(source, names, LOOKED_AT), every)


def _load(source: InSpark, names: Sequence[str], most: int | None) -> pyarrow.Table:
    session, found = ClusterSession(source), None
    try:
        kinds = dict(session.columns)
        listed = ", ".join(_chosen(SPARK.quoted(name), kinds[name]) for name in names)
        limit = "" if most is None else f" LIMIT {most}"
        with suppress(Exception):
            found = session.arrow(f"SELECT {listed} FROM {SPARK.quoted(session.name)}{limit}")  # noqa: S608
    finally:
        session.close()
    # raised out of reach of the error above, which may quote a row
    if found is None:
        raise refuse("engine.rows-not-read")
    return found


def _chosen(own: str, kind: str) -> str:
    return f"{SPARK.seen(own, storage(kind))} AS {own}"


# The engine for a table in Spark: its machines count, and only what was counted leaves them.


class Spark(Relational[ClusterSession]):
    """Measures requests on a table in Spark.

    Guarantee
        As `Engine`: exact integers that depend on the multiset of rows only, and one `EngineFault`
        of fixed text for whatever goes wrong. Only what was counted reaches this process, except
        where a table is published. A part of the work that is done again, because a machine was
        lost, finds the same: what is drawn there follows from a key that one question has.
        A column that is not declared is invisible.

    Parameters
        source: what `locate` found.
        schema: what is declared about the table.
    """

    reopens = False  # the gateway to the JVM is the process's own

    def __init__(self, source: InSpark, schema: Table) -> None:
        super().__init__(schema.unit, SparkBench, SPARK)
        self._session: ClusterSession | None = ClusterSession(source)
        try:
            columns = [(name, storage(kind)) for name, kind in self._session.columns]
            held = {
                column.name.lower(): held_as(column, columns, SPARK.words)
                for column in stored_columns(schema)
            }
            table = SPARK.quoted(self._session.name)
            self._table = Stored(table, held, schema.columns, SPARK)
            self._check()
            self._probe()
            if isinstance(source, Cluster):
                self.files = _known(source, self._session, "\n".join(how_read(schema)))
        except BaseException:
            self.close()
            raise

    def validate(self) -> Validated:
        """Reads every row once, in the way in which every question reads them.

        Refused where rows of persons are chosen and no machine could: later it would be paid for.
        """

        persons = self._unit != RECORD
        if persons and self._session is not None and not chooses(self._session):
            raise refuse("engine.spark-workers-lack-numpy")
        digest = "" if self.files is None else self.files.digest()
        return self._within(lambda session: validate(self._table, session, digest))

    def read_all(self) -> Rows:
        """Every row, for those who publish the table."""

        return self._within(lambda session: read_all(self._table, session))

    @contextmanager
    def keep(
        self,
        numbers: Callable[[pyarrow.RecordBatch], Numbers],
        width: int,
        named: Callable[[str, pyarrow.Array], None] | None,
    ) -> Iterator[KeptThere]:
        """All rows in passes, on the machines that hold them."""

        if self._session is None:
            raise EngineFault(FAULT)
        with keep_rows(self._table, self._session, numbers, width, named) as kept:
            yield kept

    def logical_frame(self, *columns: str) -> DataFrame:
        """The logical values of these columns, or of all that are no identifiers, for every row.

        Whole numbers of 64 bits: grid steps, category numbers, 0 and 1; null where missing. What
        the schema declares for missing values is not filled in. Nothing is computed yet.
        """

        return self._within(lambda session: session.of(write_logical(self._table, columns)))

    def _probe(self) -> None:
        """Refuses a table that Spark itself would not read so; no row is read."""
        logical, read = Logical(self._table), False
        for held in self._table.held.values():
            logical.raw(held.column.name)
        with quiet(), suppress(Exception):
            assert self._session is not None  # noqa: S101 - it was opened just now
            self._session.of(logical.write()).schema  # noqa: B018 - Spark looks at names and types
            read = True
        if not read:
            raise refuse("engine.spark-columns-unreadable")

    def _people(self, state: ClusterSession) -> Place:
        from ..contribution_bounds.rows_by_unit import Reader

        reader = Reader(state.run, state.arrow)
        return SparkSpread(self._table, reader, self._opened_bench, SPARK, SYSTEM, state)

    def _types(self, state: ClusterSession) -> Types:

        return types_of(self._table, state)

    def _let_go(self) -> None:
        if self._session is not None:
            self._session.close()
        self._session = None

    @contextmanager
    def _state(self) -> Iterator[ClusterSession]:
        if self._session is None:
            raise ConnectionError
        try:
            yield self._session
        finally:
            self._session.sweep()


def _known(source: Cluster, session: ClusterSession, how: str) -> Known:
    paths = paths_of(source)
    if paths:
        return Watched(paths).read_as(how)
    return InServer(".".join(source.table) or "files", session.described, how)
