"""Counts of a table in Spark, made by its machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from ...errors import refuse
from ..source.location import InSpark
from ..source.tally import Cell, Tally
from ..storage import Fixed, Text
from .dialect import SPARK, storage
from .session import Session

if TYPE_CHECKING:
    import pyarrow

_BATCH = 1 << 16
_TABLE = "tenue_rows"


def open_tally(source: InSpark) -> Tally:
    """The counts of a table; only they, and a sample of bounded size, reach this process."""
    with closing(Session(source)) as session:
        cells = {name: Cell(_chosen(name, kind), storage(kind)) for name, kind in session.columns}
    return Tally(cells, _TABLE, "monotonically_increasing_id()", lambda sql: _run(source, sql))


def _run(source: InSpark, sql: str) -> Iterator[pyarrow.RecordBatch]:
    with closing(Session(source)) as session:
        given = f"WITH {_TABLE} AS (SELECT * FROM {SPARK.quoted(session.name)}) {sql}"  # noqa: S608
        begun = False
        with suppress(Exception):
            for batch in session.batches(given, _BATCH):
                begun = True
                yield batch
            return
        # machines without Python and pyarrow hand counts over all at once
        with suppress(Exception):
            if not begun:
                yield from session.arrow(given).to_batches(_BATCH)
                return
    # raised out of reach of the error above, which may quote a row
    raise refuse("engine.rows-could-not-be-read")


def _chosen(name: str, kind: str) -> str:
    """A column as `whole.py` reads it; text without a collation, which takes A and a for one."""
    own, stored = SPARK.quoted(name), storage(kind)
    if isinstance(stored, Fixed):
        return f"CAST({own} AS {SPARK.double})"
    if isinstance(stored, Text) and stored.type:
        return f"CAST(CAST({own} AS BINARY) AS STRING)"
    return own
