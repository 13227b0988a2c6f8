"""Counts of a table in Spark, made by its machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from ...errors import refuse
from ..source import tally
from ..source.location import InSpark
from ..source.tally import Cell, Tally
from .dialect import SPARK, storage
from .session import Session

if TYPE_CHECKING:
    import pyarrow


@contextmanager
def open_tally(source: InSpark) -> Iterator[Tally]:
    """The counts of a table, as long as the context lasts; refused if it is none."""
    with closing(Session(source)) as session:
        cells = {name: Cell(SPARK.quoted(name), storage(kind)) for name, kind in session.columns}
        table = SPARK.quoted(session.name)
        yield Tally("Spark", SPARK, table, cells, lambda sql: _run(session, sql))


def _run(session: Session, sql: str) -> Iterator[pyarrow.RecordBatch]:
    begun = False
    with suppress(Exception):
        for batch in session.batches(sql, tally.BATCH):
            begun = True
            yield batch
        return
    # machines without Python and pyarrow hand counts over all at once
    with suppress(Exception):
        if not begun:
            yield from session.arrow(sql).to_batches(tally.BATCH)
            return
    # raised out of reach of the error above, which may quote a row
    raise refuse("engine.rows-not-read")
