"""The engine for a table in Spark: its machines count, and only what was counted leaves them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ...errors import EngineFault, refuse
from ...noise.source import SYSTEM
from ...schema import Table
from ...schema.table import RECORD
from ..contract import FAULT, KeptThere, Numbers, Rows, Validated
from ..relational import Relational, held_as, how_read, stored_columns
from ..server import InServer
from ..source.location import Cluster, InSpark, paths_of
from ..sql.logical import Logical, Stored
from ..sql.rows import Types
from ..watch import Known, Watched
from .dialect import SPARK, storage
from .doctor import chooses
from .people import Bench
from .session import Session, quiet

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

    from ..people.measure import Place


class Spark(Relational[Session]):
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

    def __init__(self, source: InSpark, schema: Table) -> None:
        super().__init__(schema.unit, Bench, SPARK)
        self._session: Session | None = Session(source)
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
        from .rows import validate

        persons = self._unit != RECORD
        if persons and self._session is not None and not chooses(self._session):
            raise refuse("engine.spark-workers-lack-numpy")
        digest = "" if self.files is None else self.files.digest()
        return self._within(lambda session: validate(self._table, session, digest))

    def read_all(self) -> Rows:
        """Every row, for those who publish the table."""
        from .rows import read_all

        return self._within(lambda session: read_all(self._table, session))

    @contextmanager
    def keep(
        self,
        numbers: Callable[[pyarrow.RecordBatch], Numbers],
        width: int,
        named: Callable[[str, pyarrow.Array], None] | None,
    ) -> Iterator[KeptThere]:
        """All rows in passes, on the machines that hold them."""
        from .rows import keep_rows

        if self._session is None:
            raise EngineFault(FAULT)
        with keep_rows(self._table, self._session, numbers, width, named) as kept:
            yield kept

    def logical_frame(self, *columns: str) -> DataFrame:
        """The logical values of these columns, or of all that are no identifiers, for every row.

        Whole numbers of 64 bits: grid steps, category numbers, 0 and 1; null where missing. What
        the schema declares for missing values is not filled in. Nothing is computed yet.
        """
        from .rows import write_logical

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

    def _people(self, state: Session) -> Place:
        from ..people.crowd import Reader
        from .people import Spread

        reader = Reader(state.run, state.arrow)
        return Spread(self._table, reader, self._opened_bench, SPARK, SYSTEM, state)

    def _types(self, state: Session) -> Types:
        from .rows import types_of

        return types_of(self._table, state)

    def _let_go(self) -> None:
        if self._session is not None:
            self._session.close()
        self._session = None

    @contextmanager
    def _state(self) -> Iterator[Session]:
        if self._session is None:
            raise ConnectionError
        try:
            yield self._session
        finally:
            self._session.sweep()


def _known(source: Cluster, session: Session, how: str) -> Known:
    paths = paths_of(source)
    if paths:
        return Watched(paths).read_as(how)
    return InServer(".".join(source.table) or "files", session.described, how)
