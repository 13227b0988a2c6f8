"""How a release leaves: registered once, then handed out or renamed on the disk.

A second release of the same table is refused unless overridden. A table is recognised by its name,
and by row fingerprints under another name. What was registered and then could not leave is recorded
as withdrawn, so that the next attempt is not refused as a second release.

Guarantee
    Making a release registers nothing; it is registered when its table is first handed out or
    saved. The first caller registers it, others wait, and if that is refused nothing is handed out.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from ..ask.belief.check_prior import unit_in_words
from ..ask.belief.protocol import allow_without_protocol
from ..errors import Fault, OverBudget, Refused, refuse
from ..ledger import digest
from ..ledger.composition import charge
from ..ledger.contract import Ledger
from ..ledger.locate import NOWHERE, Place, Where, ledger_place
from ..privacy import Certificate, checked_neighbours
from ..schema import Schema
from ..text import exactly
from .methods.contract import SECOND, Method
from .save import Draft, Report
from .table.parquet_output import WrittenTable

HOLDER = "holder"
"""The analyst whose quota pays for a release."""


class Register:
    """The ledger of a release. Its file is created when it is needed, so that a refusal leaves
    nothing behind. If it was opened here, it is closed with the last `with`, and opened again if
    the release leaves later.
    """

    def __init__(
        self, ledger: Ledger | None, where: Where | None = None, place: Place = NOWHERE
    ) -> None:
        self._ledger, self._where, self._place = ledger, where, place
        self._used = 0

    def __enter__(self) -> Self:
        self._used += 1
        return self

    def __exit__(self, *exception: object) -> None:
        self._used -= 1
        if not self._used and self._where is not None and self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    @property
    def path(self) -> Path | None:
        """The ledger's file, if it is kept in one."""
        if self._ledger is not None:
            return self._ledger.path
        return self._where if isinstance(self._where, Path) else None

    @property
    def known(self) -> Ledger | None:
        """The ledger; None if its file does not exist yet."""
        where = self._where
        if self._ledger is None and (isinstance(where, str) or (where and where.exists())):
            return self.made()
        return self._ledger

    def made(self) -> Ledger:
        """The ledger; its file is created if necessary."""
        if self._ledger is None:
            if self._where is None:
                raise Fault("there is neither a ledger nor a path for one")
            self._ledger = self._place.open(self._where)
        return self._ledger


def given_register(given: object, place: Place) -> Register | None:
    """The register for `given`: a ledger, its path or address; False for none; None for the one of
    its place, or for none if schema and table are in no file."""
    if isinstance(given, Ledger):
        return Register(given)
    where = ledger_place(given, place, optional=True)
    return None if where is None else Register(None, where, place)


def check_first(ledger: Ledger, method: Method) -> None:
    """Refuses a second release before a row is read; the ledger refuses it again, atomically."""
    name = ledger.known_as(method.schema.name)
    released = name in ledger.datasets() and ledger.balance(name).releases
    if released and SECOND not in method.override:
        raise refuse("publish.table-released-before", name=name)


def check_rows(books: Register, method: Method, marks: Sequence[str]) -> None:
    """Refuses rows that were released under another name, before the work is done."""
    earlier = None if books.known is None else books.known.released_before(marks)
    if earlier is not None and SECOND not in method.override:
        raise refuse("publish.rows-released-before", earlier=earlier, name=method.schema.name)


def register(
    ledger: Ledger, method: Method, digest: str, marks: Sequence[str] = (), *, draft: bool = False
) -> int:
    """Records the release durably; returns the number of its entry. A draft may be withdrawn, by
    the same ledger object."""
    return ledger.register_release(
        _opened_dataset(ledger, method.schema),
        digest,
        method=method.label,
        override=SECOND in method.override,
        marks=marks,
        draft=draft,
    )


def check_payable(method: Method) -> None:
    """Refuses a price that the schema has no budget for, whatever has been spent."""
    allow_without_protocol(method.schema, "publish")
    if method.schema.budget is None:
        raise refuse("ask.budget-missing", name=method.schema.name)


@contextmanager
def paid(books: Register | None, method: Method) -> Iterator[None]:
    """Debits the method's price before a row is read; it stays spent if no release follows."""
    if not method.price:
        yield
        return
    if books is None:
        raise refuse("publish.priced-method-without-ledger", method=method.name)
    check_payable(method)
    ledger = books.made()
    name = _opened_dataset(ledger, method.schema, spending=True)
    neighbours = checked_neighbours(method.schema.neighbours)
    cost = charge(method.price, neighbours)
    asked = f"publish {method.label}"
    try:
        reservation = ledger.reserve(name, HOLDER, cost, None, digest(asked), asked=asked)
    except OverBudget as over:
        raise _over_budget(name, method.price.epsilon, over) from None
    try:
        yield
        ledger.commit(reservation, b"released")
    except BaseException:
        with suppress(Refused, Fault):  # the first failure is the one reported
            ledger.abandon(reservation, "no release")
        raise


def _over_budget(name: str, price: Fraction, over: OverBudget) -> Refused:
    """The ledger's refusal, in the words of publishing."""
    left = Fraction(str(over.facts["remaining"]))
    quota = over.facts["limit"] == "analyst"
    whose = "the holder's own quota, `per_analyst`" if quota else "the table's budget"
    again = "Hand out an earlier release again"
    return refuse(
        "publish.release-over-budget",
        price=exactly(price),
        left=exactly(left) if left else "nothing",
        name=name,
        whose=whose,
        way_out=f"Publish with epsilon at most {exactly(left)}" if left else again,
        more="`per_analyst`" if quota else "`total`",
        cost=price,
        remaining=left,
        limit=over.facts["limit"],
    )


def _opened_dataset(ledger: Ledger, schema: Schema, *, spending: bool = False) -> str:
    """The table's name in the ledger, opened with the schema's budget if it is new there or if
    something is to be spent."""
    name, budget = ledger.known_as(schema.name), schema.budget
    if spending or name not in ledger.datasets():
        ledger.open_dataset(
            name,
            0 if budget is None else budget.total,
            None if budget is None else budget.per_analyst,
            neighbours=checked_neighbours(schema.neighbours),
            individual=None if budget is None else budget.individual,
            total_delta=0 if budget is None else budget.delta or 0,
            schema_digest=schema.digest,
            data_version=schema.version or "",
            unit=unit_in_words(schema) if spending else "",
        )
    ledger.record_schema(name, schema.digest)
    return name


@dataclass(frozen=True)
class Target:
    """Where and how a release is saved, as for `Release.save`.

    public: whether the report leaves out what was computed from the original.
    report: makes the page that is saved with the tables; None for none.
    """

    folder: Path
    kind: str | None = None
    replace: bool = False
    public: bool = False
    report: Callable[[], Report] | None = None


@dataclass(frozen=True)
class Purchase:
    """The ledger that knows a release, by its price or by its registration."""

    books: Register
    method: Method

    def saved(self, digest: str, folder: Path) -> None:
        """Records where the files are. They have left: if that fails, only this record is lost."""
        with suppress(Refused, Fault), self.books:
            ledger = self.books.known
            if ledger is None:
                return
            place = folder.absolute().name
            if ledger.path is not None:
                with suppress(ValueError):  # another drive
                    above = ledger.path.absolute().parent
                    place = Path(os.path.relpath(folder.absolute(), above)).as_posix()
            name, method = ledger.known_as(self.method.schema.name), self.method.label
            ledger.release_saved(name, digest, method=method, place=place)


@dataclass(frozen=True)
class Registration:
    """What a release is registered with.

    marks: the row fingerprints of the original.
    seal: how the ledger sealed the schema when the release was made.
    """

    books: Register
    method: Method
    marks: tuple[str, ...]
    seal: str

    def write(self, digest: str, *, draft: bool = False) -> None:
        """Registers the release; refuses a second one.

        Refused too if the ledger was replaced or removed since: a new one would know neither
        earlier releases nor the certificate of this one.
        """
        ledger = self.books.known
        if ledger is None or ledger.seal(self.method.schema.digest) != self.seal:
            raise refuse("publish.registration-ledger-lost")
        check_first(ledger, self.method)
        check_rows(self.books, self.method, self.marks)
        register(ledger, self.method, digest, self.marks, draft=draft)

    def left(self, digest: str) -> None:
        """Records that the release has left, so that nobody can withdraw it."""
        ledger = self.books.made()
        ledger.release_left(ledger.known_as(self.method.schema.name), digest)

    def withdraw(self, digest: str) -> None:
        """Records that the release never left."""
        ledger = self.books.made()
        name = ledger.known_as(self.method.schema.name)
        ledger.withdraw_release(name, digest, reason="the files could not be given their name")


def digest_of(tables: Mapping[str, Any], certificate: Certificate) -> str:
    """The SHA-256 of tables and certificate, by which a ledger knows the release."""
    import pyarrow

    found = hashlib.sha256(certificate.to_json().encode())
    for name, table in tables.items():
        if len(tables) > 1:
            found.update(name.encode() + b"\0")
        if isinstance(table, WrittenTable) and len(table.parts) > 1:
            # hashed where they were written
            for part in table.parts:
                found.update(bytes.fromhex(part.digest))
            continue
        whole = table.combine_chunks()
        sink = pyarrow.PythonFile(_Hashed(found), mode="w")
        with pyarrow.ipc.new_stream(sink, whole.schema) as writer:
            for piece in whole.to_batches():
                writer.write_batch(piece)
    return found.hexdigest()


class _Hashed:
    """A file whose bytes are hashed and not kept."""

    closed = False

    def __init__(self, found: hashlib._Hash) -> None:
        self._found = found

    def write(self, data: bytes) -> int:
        self._found.update(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is buffered."""


@dataclass(eq=False)
class Departure:
    """How one release leaves: registered once, before the first table is handed out or saved.

    source_kind: the kind of data frame or file that the rows came from.
    registration: None for no ledger.
    purchase: records where it is saved; None for no ledger.
    repeatable: whether nothing has to be registered, because a second release reveals no more.
    """

    tables: Mapping[str, Any]
    certificate: Certificate
    source_kind: str
    registration: Registration | None
    left: bool = False
    folder: Path | None = None
    purchase: Purchase | None = None
    word: str = "Release"
    repeatable: bool = False
    _digest: str = field(default="", repr=False)
    _turn: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def leave(self, target: Target | None = None) -> dict[str, Any]:
        """Called before the table is handed out, or to save it; returns the manifest."""
        with self._turn:
            if not self.left:
                with nullcontext() if self.registration is None else self.registration.books:
                    manifest = self._leave(target, self.registration)
                self.left = True
                self._note(target)
                return manifest
        manifest = self._leave(target, None)
        self._note(target)
        return manifest

    def _note(self, target: Target | None) -> None:
        """Where the files are, here and in the ledger."""
        if target is not None:
            self.folder = target.folder
            if self.purchase is not None:
                digest = self._digest or digest_of(self.tables, self.certificate)
                self.purchase.saved(digest, target.folder)

    def _leave(self, target: Target | None, once: Registration | None) -> dict[str, Any]:
        """Registers the release and, where there is a target, saves all files or none.

        Files are complete in a hidden folder before the release is registered. A crash after that
        leaves them there, registered; only a failure that this program sees is recorded as
        withdrawn.
        """
        digest = ""
        if once is not None:
            digest = self._digest = digest_of(self.tables, self.certificate)
        if target is None:
            if once is not None:
                once.write(digest)
            return {}
        kind = target.kind or ("csv" if self.source_kind == "csv" else "parquet")
        files = target.folder, self.tables, self.certificate.to_json(indent=2), kind
        draft = Draft.write(*files, replace=target.replace, report=target.report)
        registered = False
        try:
            if once is not None:
                once.write(digest, draft=True)
                registered = True
            manifest = draft.place()
            if once is not None:
                once.left(digest)
            return manifest
        except BaseException:
            # files that have their name have left, whatever failed afterwards
            if once is not None and registered and not draft.placed:
                draft.discard()
                once.withdraw(digest)
            raise
        finally:
            draft.discard()

    @property
    def registered_in(self) -> Path | None:
        """The ledger's file, once the release is registered."""
        if self.registration is None or not self.left:
            return None
        return self.registration.books.path

    def where(self, target: Target | None = None) -> str:
        """Where the release is, and where it is registered.

        Parameters
            target: where it is about to be saved, for its report.
        """
        leaves = self.left or target is not None
        place = "handed out as a table" if leaves else "nowhere yet: .save(folder) writes it"
        if target is not None:
            place = f"folder {target.folder.name or target.folder}"
        elif self.folder is not None:
            place = f"folder {self.folder}"
        return f"{place}; {self._registered(leaves=leaves)}"

    def _registered(self, *, leaves: bool) -> str:
        if self.registration is None:
            nowhere = "in no ledger, so a second release would not be noticed"
            return "its price is in the ledger" if self.repeatable else nowhere
        path = self.registration.books.path
        ledger = "its ledger" if path is None else path.name
        return f"registered in {ledger}" if leaves else f"{ledger} registers it when it leaves"


class Preview(Departure):
    """For a release that was only measured: it never leaves."""

    def __init__(self, certificate: Certificate) -> None:
        super().__init__({}, certificate, "", None, word="Preview")

    def leave(self, target: Target | None = None) -> dict[str, Any]:
        raise refuse("publish.preview-without-table")

    def where(self, target: Target | None = None) -> str:
        return "nowhere: this is a preview, which has no table"
