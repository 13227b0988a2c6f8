"""A table in Spark as Arrow columns, without a schema: for those who evaluate it, and for the draft
of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ...errors import refuse
from ..duckdb.describe import LOOKED_AT, Described, describe_arrow
from ..source.location import InSpark
from ..storage import Opaque
from .dialect import SPARK, storage
from .session import Session

if TYPE_CHECKING:
    import pyarrow


def open_table(
    source: InSpark,
) -> tuple[tuple[str, ...], Callable[[Sequence[str]], pyarrow.Table]]:
    """The names of a table's columns, and how they are read; refused if it is no table.

    Decimals are read as doubles. The columns asked for must fit into memory.
    """
    session = Session(source)
    try:
        names = tuple(name for name, _ in session.columns)
    finally:
        session.close()
    return names, lambda chosen: _load(source, chosen, None)


def describe(source: InSpark, *, values: bool) -> list[Described]:
    """The columns of a table; with `values`, also what its rows hold."""
    session = Session(source)
    try:
        names = [n for n, kind in session.columns if not isinstance(storage(kind), Opaque)]
    finally:
        session.close()
    every = _load(source, names, None) if values else None
    return describe_arrow(_load(source, names, LOOKED_AT), every)


def _load(source: InSpark, names: Sequence[str], most: int | None) -> pyarrow.Table:
    session, found = Session(source), None
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
