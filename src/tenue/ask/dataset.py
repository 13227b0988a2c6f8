"""A protected table: schema, engine and ledger opened once, for any number of sessions.

The holder's first opening reads every row; an analyst is refused a file that is not the one the
holder opened. A session on an open data set reads no row.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

from ..arguments import checked_call
from ..engine.contract import Engine, Validated
from ..engine.fingerprint import Stamp
from ..engine.open import open_engine
from ..engine.source.location import ledger_places
from ..errors import InvalidTable, Refused, refuse
from ..ledger.canonical_text import given_text
from ..ledger.contract import Ledger
from ..ledger.fork import Forkable, watch
from ..ledger.locate import NOWHERE, Place, given_ledger, ledger_place, open_ledger
from ..ledger.totals import Source
from ..privacy import checked_neighbours
from ..schema import Schema
from ..schema.schema import given_schema
from ..schema.table import RECORD, Budget
from ..text import many, paragraphs
from .answer import Earlier
from .belief.check_prior import unit_in_words
from .session import HOLDER, Session, planned, planned_many

V = TypeVar("V")

MOST_PLANS = 512
"""How many plans of single questions a data set keeps."""
MOST_WORKLOADS = 8
"""How many plans of several questions it keeps; one may be of 10,000 questions."""

_parents: list[Engine] = []
"""Engines of the parent process, kept after a fork: closing them would wait for its threads."""


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
    while the file differs from the one that the holder opened last.

    For several analysts, open the table once: `open_dataset`, or `for_analyst` of the session.
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


class Dataset(Forkable):
    """A protected table, open for sessions of any number of analysts.

    Sessions are cheap and may be used from any number of threads at once; the engine measures one
    question at a time. After a fork the child opens engine and ledger for itself when it first
    asks, if the table is in files or on a PostgreSQL server, and is refused otherwise.

    schema: the declarations about the table.
    ledger: what was spent.
    opening: what the holder learned by opening the table; None if an analyst opened it.
    name: its name in the ledger.
    plans, workloads: plan one question, or several; the last plans are kept, for all analysts.
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
        self._opened_at = ledger.length
        self._validations: tuple[tuple[int, str], ...] | None = None
        self.plans = lru_cache(MOST_PLANS)(partial(planned, schema, self.seal))
        self.workloads = lru_cache(MOST_WORKLOADS)(partial(planned_many, schema, self.seal))
        self._engine = engine
        self._reopen = reopen
        self._closed = False
        self._inherited = False
        self._turn = threading.Lock()
        watch(self)

    @property
    def engine(self) -> Engine:
        """The engine that reads the rows; a forked child has its own. Refused if it is closed."""
        with self._turn:
            if self._closed:
                raise refuse("ask.data-set-closed", name=self.schema.name)
            if self._inherited:
                self._engine, self._inherited = self._opened_anew(), False
            return self._engine

    def earlier(self, sequence: int) -> Earlier | None:
        """What may have changed since the ledger's entry of a stored answer; None if nothing has.

        Files are known by the digests of the holder's openings. Of a table that is not in files
        nothing is recorded, so that any answer from before this opening may be of other rows.
        """
        if self.engine.files is None:
            if sequence > self._opened_at:
                return None
            return Earlier(self.ledger.written_at(sequence)[:10], known=False)
        if self._validations is None:
            self._validations = self.ledger.validations(self.name)
        before = [digest for at, digest in self._validations if at <= sequence]
        if not before or before[-1] == self._validations[-1][1]:
            return None
        return Earlier(self.ledger.written_at(sequence)[:10], known=True)

    def session(self, analyst: str | None = None) -> Session:
        """The table as one analyst sees it, or the holder. Reads no row; closing it closes nothing.

        Parameters
            analyst: as in `protect`, with the same refusals.
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
            known = self.ledger.validated(self.name)
            if not _same_files(known, files.stamp()) or not files.unchanged():
                raise refuse("ask.table-changed")
        return Session(self, analyst)

    def close(self) -> None:
        """Closes the table and the ledger, for all its sessions.

        A question that is being answered meanwhile may stay paid without an answer.
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
        before = self._engine
        if before.files is None or not before.reopens or self._reopen is None:
            # a data frame or a connection may not hold the same rows any more
            raise refuse("ask.opened-before-fork", name=self.schema.name)
        engine = self._reopen()
        if engine.files is None or engine.files.stamp() != before.files.stamp():
            engine.close()
            raise refuse("ask.table-changed")
        _parents.append(before)
        return engine

    def _after_fork_in_child(self) -> None:
        self._turn = threading.Lock()
        self._inherited = True


def _refuse_holder(analyst: str) -> None:
    if analyst.strip().casefold() == HOLDER:
        raise refuse("ask.analyst-is-holder", analyst=analyst)


# -- What the holder learns at an opening; counted from rows, so shown to the holder alone ---------


@dataclass(frozen=True, repr=False)
class Opening:
    """How a table was opened, as text and as facts.

    read: whether every row was read now; False if that was done before and nothing has changed.
    unreadable: for each such column, how many values are not of the declared type; in questions
        they are missing. Empty if nothing was read now.
    rounded: for each column without a declared grid, how many values have a fraction and count as
        the nearest whole number. Empty likewise.
    nobodys, rows: how many rows have no unit, and so count in no question, of how many. 0 likewise.
    excess: privileges, besides reading, of the role that reads a table on a server.
    """

    read: bool
    unreadable: Mapping[str, int] = field(default_factory=dict)
    rounded: Mapping[str, int] = field(default_factory=dict)
    excess: tuple[str, ...] = ()
    _types: Mapping[str, str] = field(default_factory=dict)
    nobodys: int = 0
    rows: int = 0
    _unit: str = ""

    @classmethod
    def now(cls, schema: Schema, validated: Validated, excess: tuple[str, ...] = ()) -> Opening:
        """For a table that was read from end to end."""
        types = {name: schema.columns[name].type for name in validated.unreadable}
        return cls(
            *(True, dict(validated.unreadable), dict(validated.rounded), excess, types),
            *(validated.nobodys, validated.rows, schema.unit),
        )

    def __str__(self) -> str:
        if self.remarks:
            return " ".join(self.remarks)
        if not self.read:
            return "The table was read from end to end at an earlier opening and has not changed."
        return "The table was read from end to end, and every declared value could be read."

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return paragraphs(self.remarks or [str(self)])

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the holder should know, a sentence each; nothing if all is as declared."""
        remarks = []
        if self.nobodys:
            remarks.append(
                f"{self.nobodys:,} of {many(self.rows, 'row')} have no `{self._unit}`: they belong "
                "to nobody who could be protected, and count in no question, whatever it asks. If "
                f"they should count, give each of these rows a value of `{self._unit}`."
            )
        if self.unreadable:
            columns = ", ".join(
                f"`{name}` {count:,} (no {self._types[name]})"
                for name, count in self.unreadable.items()
            )
            remarks.append(f"Values that cannot be read as declared count as missing: {columns}.")
        if self.rounded:
            columns = ", ".join(f"`{name}` {count:,}" for name, count in self.rounded.items())
            remarks.append(
                "Values with a fraction count as the nearest whole number, because no grid is "
                f"declared: {columns}. Write grid = 0.01, for instance, to keep more digits."
            )
        if self.excess:
            remarks.append(
                f"The role that reads the table may do more: it {'; it '.join(self.excess)}. "
                "Named analysts are refused until it may only read; see tenue doctor."
            )
        return tuple(remarks)


def refuse_excess(excess: tuple[str, ...]) -> None:
    """Refuses named analysts while the role of the engine may do more than read."""
    if excess:
        raise refuse("ask.excessive-grant", excess="; it ".join(excess))


def refuse_other_rows(schema: Schema, rows: int) -> None:
    """Refuses a table whose number of rows is public and differs from the one the schema states.

    Answers are computed with the stated number; a wrong one would make them wrong unseen.
    """
    public = schema.neighbours == "replace" and schema.unit == RECORD
    if public and schema.rows not in (None, rows):
        raise refuse("ask.row-count-differs", rows=schema.rows, name=schema.name)


# -- opening ---------------------------------------------------------------------------------------


def _open(source: object, schema: object, ledger: object, *, holder: bool) -> Dataset:
    """schema → ledger's place → engine → ledger → validate; a refusal leaves nothing open."""
    described, beside = given_schema(schema)
    refuse_unasked(described)
    place = _place(ledger, source, described, beside, holder=holder)
    rows, folder = source if source is not None else described.location, _here()
    # before the ledger: a refusal here must not leave one behind
    engine = _opened(rows, described, holder=holder)
    try:
        books = given_ledger(ledger, place)
        name = open_in(books, described)
        opening = _validated(engine, books, name, described, holder=holder)
    except BaseException:
        engine.close()
        raise

    def reopen() -> Engine:
        return _opened(rows, described, folder, holder=holder)

    # a data frame need not be kept for a child, which could not open it
    return Dataset(described, engine, books, opening, None if engine.files is None else reopen)


def refuse_unasked(schema: Schema) -> Budget:
    """The budget of a table that may be asked; refused if it has none, or bounds from its rows."""
    if not schema.private:
        raise refuse("ask.asked-bounds-not-private", name=schema.name)
    if schema.budget is None:
        raise refuse("ask.budget-missing", name=schema.name)
    return schema.budget


def open_in(books: Ledger, schema: Schema, *, dry: bool = False) -> str:
    """Gives the table its budget in a ledger, where it has the returned name.

    dry: whether nothing is written, and only what would be refused is.
    """
    budget, name = refuse_unasked(schema), books.known_as(schema.name)
    books.open_dataset(
        name,
        budget.total,
        budget.per_analyst,
        neighbours=checked_neighbours(schema.neighbours),
        individual=budget.individual,
        total_delta=budget.delta or 0,
        schema_digest=schema.digest,
        data_version=schema.version or "",
        protocol="" if schema.protocol is None else str(schema.protocol),
        unit=unit_in_words(schema),
        dry=dry,
    )
    return name


def spent_before(
    source: object, schema: Schema, file: Path | None, given: str | os.PathLike[str] | None
) -> Fraction | None:
    """What the table has spent in the ledger that opening it would use; None if there is none yet.

    Refused as opening it would be refused. Writes nothing.

    Parameters
        file: the schema's own, if it has one.
        given: the ledger's path or address, if one is given.
    """
    place = _place(given, source, schema, file, holder=True)
    where = ledger_place(given, place)
    if where is None:
        raise refuse("ledger.no-ledger-location")
    if isinstance(where, Path) and not where.is_file():
        if not os.access(where.parent, os.W_OK):
            raise refuse("ledger.ledger-folder-not-writable", folder=where.parent)
        return None
    try:
        books = open_ledger(where, make=False)
    except Refused as refusal:
        if refusal.code == "no-ledger":
            return None
        raise
    with books:
        name = open_in(books, schema, dry=True)
        return books.balance(name).spent if name in books.datasets() else Fraction(0)


def _here() -> Path | None:
    """Where relative paths start, also for a child that goes elsewhere; None if it was removed."""
    with suppress(OSError):
        return Path.cwd()
    return None


def _hide_reason(act: Callable[[], V], *, holder: bool) -> V:
    """What `act` gives. If it refuses, an analyst learns only that the table is not the one that
    the holder opened; the holder learns why."""
    if holder:
        return act()
    with suppress(InvalidTable):
        return act()
    raise refuse("ask.table-changed")


def _place(
    ledger: object, source: object, schema: Schema, file: Path | None, *, holder: bool
) -> Place:
    if ledger is not None:
        return NOWHERE
    places = _hide_reason(lambda: ledger_places(source, schema), holder=holder)
    return Place(schema.ledger_location, places, file)


def _opened(source: object, schema: Schema, folder: Path | None = None, *, holder: bool) -> Engine:
    in_file = isinstance(source, str | os.PathLike)
    return _hide_reason(lambda: open_engine(source, schema, folder), holder=holder or not in_file)


def _same_files(known: Source | None, stamp: Stamp) -> bool:
    return known is not None and (known.mark, known.reading) == (stamp.mark, stamp.reading)


def _validated(
    engine: Engine, books: Ledger, name: str, schema: Schema, *, holder: bool
) -> Opening | None:
    """open → validate → record: what the holder learns by opening the table; None for an analyst.

    A table in the opener's own process has no record, and is read whenever it is opened.
    """
    files = engine.files
    if not holder:
        refuse_excess(engine.excess)
    if files is None:
        validated = _hide_reason(engine.validate, holder=holder)
        refuse_other_rows(schema, validated.rows)
        return Opening.now(schema, validated, engine.excess) if holder else None
    stamp, known = files.stamp(), books.validated(name)
    if _same_files(known, stamp):
        return Opening(read=False, excess=engine.excess) if holder else None
    if not holder:
        raise refuse("ask.table-changed")
    if (
        known is not None
        and known.reading == stamp.reading
        and known.digest == files.digest()
        and files.unchanged()
    ):
        books.record_validation(name, stamp, known.digest)
        return Opening(read=False, excess=engine.excess)
    validated = engine.validate()
    refuse_other_rows(schema, validated.rows)
    books.record_validation(name, stamp, validated.digest)
    return Opening.now(schema, validated, engine.excess)
