"""A protected table: schema, engine and ledger opened once, for any number of sessions.

Opening is where a table is looked at: the holder's first opening reads every row, an analyst is
refused a file that is not the one the holder opened. A session on an open data set reads no row.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..arguments import checked_call
from ..engine.contract import Engine, Validated
from ..engine.open import open_engine
from ..engine.source.location import ledger_places
from ..errors import InvalidTable, Refused, refuse
from ..ledger.canonical_text import given_text
from ..ledger.contract import Ledger
from ..ledger.fork import InChild
from ..ledger.locate import NOWHERE, Place, given_ledger
from ..privacy import checked_neighbours
from ..schema import Schema
from ..schema.schema import given_schema
from .belief.check_prior import unit_in_words
from .paid_request import Inquiry
from .plan.kept_plans import Kept
from .session import HOLDER, Session
from .validation_result import Opening, refuse_excess, refuse_other_rows

MOST_PLANS = 512
"""How many plans a data set keeps."""

_parents: list[Engine] = []
"""Engines of the process that was forked, kept: to close them here would wait for its threads."""


@checked_call
def protect(
    source: object = None,
    *,
    schema: Schema | str | os.PathLike[str] | Mapping[str, Any],
    ledger: Ledger | str | os.PathLike[str] | None = None,
    analyst: str | None = None,
) -> Session:
    """A table that answers private questions, each paid from its ledger.

    Parameters
        source: the table: a path, a data frame or a connection; None for the schema's own source.
        schema: a `Schema`, or the path of its file.
        ledger: a ledger or its path; None for the one that the schema names, else the one beside
            the table's file (`census.ledger` for `census.csv`), else beside the schema's file.
        analyst: who asks; quotas are kept by this name. None is the holder, whose name nobody else
            may have.

    A file is read from end to end when the holder opens it for the first time, and again when it
    has changed; the ledger records that. Later openings read no row, and an analyst is refused
    while a file is not what the holder opened last.

    To ask for several analysts, open the table once: `open_dataset`, or `for_analyst` of the
    session.
    """
    if isinstance(analyst, str):
        _refuse_holder(analyst)
    opened = _open(source, schema, ledger, holder=analyst is None)
    return Session(opened, HOLDER if analyst is None else analyst, opened.opening, owns=True)


@checked_call
def open_dataset(
    source: object = None,
    *,
    schema: Schema | str | os.PathLike[str] | Mapping[str, Any],
    ledger: Ledger | str | os.PathLike[str] | None = None,
) -> Dataset:
    """The same table opened by its holder, for any number of analysts at once.

    Parameters
        source, schema, ledger: as in `protect`.

    Example
        >>> import pandas as pd
        >>> import tenue as tn
        >>> people = tn.open_dataset(
        ...     pd.DataFrame({"age": [31, 52, 78] * 400}),
        ...     ledger=tn.ledger.Memory(),
        ...     schema={
        ...         "table": {"name": "people", "unit": "record", "neighbours": "replace"},
        ...         "columns": {"age": {"type": "number", "bounds": [0, 120]}},
        ...         "budget": {"total": 5, "per_analyst": 1},
        ...     },
        ... )
        >>> with people, people.session("ann") as data:
        ...     answer = data.ask("SELECT COUNT(*) FROM people WHERE age > 50", epsilon=0.5)
        ...     print(data.budget.spent)
        1/2
    """
    return _open(source, schema, ledger, holder=True)


class Dataset:
    """A protected table, open for sessions of any number of analysts.

    Sessions are cheap and may be used from any number of threads at once; the engine measures one
    question at a time. After a fork the child opens engine and ledger for itself when it first
    asks, if the table is in files or on a PostgreSQL server, and is refused otherwise.

    schema: what is declared about the table.
    ledger: what was spent.
    opening: what the holder learned by opening the table; None if an analyst opened it.
    name: what the ledger calls it.
    """

    def __init__(
        self,
        schema: Schema,
        engine: Engine,
        ledger: Ledger,
        opening: Opening | None = None,
        reopen: Callable[[], Engine] | None = None,
    ) -> None:
        self.schema = schema
        self.ledger = ledger
        self.opening = opening
        self.name = ledger.known_as(schema.name)
        self.seal = ledger.seal(schema.digest)
        self.plans: Kept[tuple[str, str], Inquiry[Any]] = Kept(MOST_PLANS)
        self._engine = engine
        self._reopen = reopen
        self._closed = False
        self._inherited = False
        self._turn = threading.Lock()
        self._in_child = InChild(self._begin_anew)

    @property
    def engine(self) -> Engine:
        """What reads the rows; in a forked child one of its own. Refused if it is closed."""
        with self._turn:
            if self._closed:
                raise refuse("ask.data-set-closed", name=self.schema.name)
            if self._inherited:
                self._engine, self._inherited = self._opened_anew(), False
            return self._engine

    def session(self, analyst: str | None = None) -> Session:
        """The table as one analyst sees it, or the holder. Reads no row; closing it closes nothing.

        Parameters
            analyst: as in `protect`; what is refused there is refused here.
        """
        engine = self.engine
        if analyst is None:
            if self.opening is None:
                raise refuse("ask.data-set-of-analyst", name=self.schema.name)
            return Session(self, HOLDER, self.opening)
        _refuse_holder(given_text(analyst, "analyst"))
        refuse_excess(engine.excess)
        files = engine.files
        if files is not None:
            stamp, known = files.stamp(), self.ledger.validated(self.name)
            same = known is not None and (known.mark, known.reading) == (stamp.mark, stamp.reading)
            if not same or not files.unchanged():
                raise _changed()
        return Session(self, analyst)

    def close(self) -> None:
        """Lets go of the table and of the ledger, for all its sessions.

        A question that is being answered meanwhile may stay paid and have no answer.
        """
        with self._turn:
            self._closed = True
            if not self._inherited:
                self._engine.close()
        self.ledger.close()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        closed = "; it is closed" if self._closed else ""
        return f"{self.schema}\n\nAsk with session(analyst).ask(sql, epsilon=0.1){closed}."

    def _opened_anew(self) -> Engine:
        """The same table, opened by a forked child; refused if it is not the same any more."""
        before = self._engine
        if before.files is None or not before.reopens or self._reopen is None:
            # of a data frame or a connection nobody knows whether it still holds the same rows
            raise refuse("ask.opened-before-fork", name=self.schema.name)
        engine = self._reopen()
        if engine.files is None or engine.files.stamp() != before.files.stamp():
            engine.close()
            raise _changed()
        _parents.append(before)
        return engine

    def _begin_anew(self) -> None:
        """In a forked child: the engine is the parent's, neither used nor closed here."""
        self._turn = threading.Lock()
        self._inherited = True
        self.plans.begin_anew()


def _changed() -> Refused:
    """All that an analyst hears of a file."""
    return refuse("ask.table-changed")


def _refuse_holder(analyst: str) -> None:
    if analyst.strip().casefold() == HOLDER:
        raise refuse("ask.analyst-is-holder", analyst=analyst)


# -- opening ---------------------------------------------------------------------------------------


def _open(source: object, schema: object, ledger: object, *, holder: bool) -> Dataset:
    """schema → ledger's place → engine → ledger → validate; what is refused leaves nothing open."""
    described, beside = given_schema(schema)
    if not described.private:
        raise refuse("ask.asked-bounds-not-private", name=described.name)
    if described.budget is None:
        raise refuse("ask.budget-missing", name=described.name)
    place = _place(ledger, source, described, beside, holder=holder)
    rows, folder = source if source is not None else described.location, _here()
    # before the ledger: what is refused here must not leave one behind
    engine = _opened(rows, described, holder=holder)
    try:
        books = given_ledger(ledger, place)
        name = books.known_as(described.name)
        books.open_dataset(
            name,
            described.budget.total,
            described.budget.per_analyst,
            neighbours=checked_neighbours(described.neighbours),
            individual=described.budget.individual,
            total_delta=described.budget.delta or 0,
            schema_digest=described.digest,
            data_version=described.version or "",
            protocol="" if described.protocol is None else str(described.protocol),
            unit=unit_in_words(described),
        )
        opening = _validated(engine, books, name, described, holder=holder)
    except BaseException:
        engine.close()
        raise

    def reopen() -> Engine:
        return _opened(rows, described, folder, holder=holder)

    # a data frame need not be kept for a child, which could not open it
    return Dataset(described, engine, books, opening, None if engine.files is None else reopen)


def _here() -> Path | None:
    """Where relative paths start, also for a child that goes elsewhere; None if it was removed."""
    with suppress(OSError):
        return Path.cwd()
    return None


def _place(
    ledger: object, source: object, schema: Schema, file: Path | None, *, holder: bool
) -> Place:
    """Where the ledger lies, if none is given; an analyst does not hear that a file is missing."""
    if ledger is not None:
        return NOWHERE
    try:
        return Place(schema.ledger_location, ledger_places(source, schema), file)
    except InvalidTable:
        if holder:
            raise
    raise _changed()


def _opened(source: object, schema: Schema, folder: Path | None = None, *, holder: bool) -> Engine:
    """The engine; an analyst hears of files only that they are not as the holder opened them."""
    if holder or not isinstance(source, str | os.PathLike):
        return open_engine(source, schema, folder)
    with suppress(InvalidTable):
        return open_engine(source, schema, folder)
    raise _changed()


def _read_now(engine: Engine, *, holder: bool) -> Validated:
    """Every row read once; an analyst does not hear which column could not be."""
    if holder:
        return engine.validate()
    with suppress(InvalidTable):
        return engine.validate()
    raise _changed()


def _validated(
    engine: Engine, books: Ledger, name: str, schema: Schema, *, holder: bool
) -> Opening | None:
    """open → validate → record: what the holder learns by opening the table; an analyst nothing.

    A table in the opener's own process has no record, and is read whenever it is opened.
    """
    files = engine.files
    if not holder:
        refuse_excess(engine.excess)
    if files is None:
        found = _read_now(engine, holder=holder)
        refuse_other_rows(schema, found.rows)
        return Opening.now(schema, found, engine.excess) if holder else None
    stamp, known = files.stamp(), books.validated(name)
    if known is not None and (known.mark, known.reading) == (stamp.mark, stamp.reading):
        return Opening.before(engine.excess) if holder else None
    if not holder:
        raise _changed()
    if (
        known is not None
        and known.reading == stamp.reading
        and known.digest == files.digest()
        and files.unchanged()
    ):
        books.record_validation(name, stamp, known.digest)
        return Opening.before(engine.excess)
    found = engine.validate()
    refuse_other_rows(schema, found.rows)
    books.record_validation(name, stamp, found.digest)
    return Opening.now(schema, found, engine.excess)
