"""Verifies that entries and certificates are genuine: anchor, recount and seal.

Guarantee
    A ledger that does not continue the anchored entry is refused. An anchor kept beside the ledger
    proves nothing, because both can be rolled back together.

Guarantee
    A seal is HMAC-SHA256 of the schema's digest under a 256-bit key of the ledger. An intruder
    without the key learns whether two certificates have the same schema, and nothing about the
    schema, however many schemas they try.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from ..errors import LedgerFault, Refused, refuse
from ..privacy import Certificate
from . import facts
from .canonical_text import canonical
from .facts import Entry
from .memory_store import Dictionaries
from .results import Verification
from .totals import ANSWERED, EVERYONE, OPEN, RETURNED, UNANSWERED, Books, Line, Stored, Totals


@dataclass(frozen=True, slots=True)
class Anchor:
    """A lower bound of a ledger's number of entries, and the hash of the last of them."""

    entries: int
    head: str
    time: str

    @classmethod
    def now(cls, entries: int, head: bytes) -> Anchor:
        return cls(entries, head.hex(), datetime.now(UTC).isoformat(timespec="milliseconds"))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Anchor:
        """The anchor in a file; a fault if there is none."""
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
            anchor = cls(**plain)
            if type(anchor.entries) is not int or anchor.entries < 0:
                raise ValueError("entries")
            if len(bytes.fromhex(anchor.head)) != 32:
                raise ValueError("head")
        except (OSError, ValueError, TypeError) as error:
            raise LedgerFault(f"the anchor `{path}` cannot be read: {error}") from None
        return anchor

    @classmethod
    def read_if_there(cls, path: str | os.PathLike[str]) -> Anchor | None:
        """The anchor in a file, or None if there is no such file."""
        return cls.read(path) if os.path.lexists(path) else None

    def write(self, path: str | os.PathLike[str]) -> None:
        """Replaces the file at once and durably: a crash leaves the old anchor or the new one."""
        target = Path(path).absolute()
        scratch = target.with_name(f".{target.name}.{os.getpid()}.new")
        try:
            handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(canonical(asdict(self)) + "\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(scratch, target)
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise LedgerFault(f"the anchor `{path}` cannot be written: {error}") from None

    def missed_by(self, entries: int, link: bytes | None) -> str:
        """Why a ledger with so many entries, and this hash at the anchored one, does not continue
        the anchor; empty if it does."""
        if entries < self.entries:
            return f"the ledger has {entries} entries and the anchor {self.entries}"
        if link is None or link.hex() != self.head:
            return f"entry {self.entries} is not the anchored one"
        return ""


# -- Recounting everything from the entries --------------------------------------------------------

_OUTCOME: dict[type[facts.Fact], int] = {
    facts.Answered: ANSWERED,
    facts.Returned: RETURNED,
    facts.Unanswered: UNANSWERED,
}


class _Recount(Totals):
    """Totals of all entries, with which the stored rows are compared.

    Settled reservations are forgotten, so that memory is proportional to open ones.
    """

    def __init__(self) -> None:
        super().__init__(Dictionaries())
        self.reservations = 0
        self.replies = 0
        self._claims: dict[int, tuple[int, int]] = {}

    def take(self, fact: facts.Fact, line: Line) -> None:
        """Posts one entry; a fault if a stored row contradicts it."""
        sequence, ticket, answer = line[0], line[3:9], line[9]
        self.post(sequence, fact)
        if isinstance(fact, facts.Reserved):
            self.reservations += 1
            self._take_ticket(sequence, ticket)
            dataset, account = self._known(fact.dataset), self.account(fact.dataset, EVERYONE)
            if fact.column == "dp" and not account.spent <= dataset.budget:
                raise LedgerFault("the reservation exceeds the cap of its time")
        elif isinstance(fact, facts.Answered | facts.Returned | facts.Unanswered):
            claim = (fact.reservation, _OUTCOME[type(fact)])
            if self._claims.pop(sequence, None) != claim:
                raise LedgerFault(f"the ticket of reservation {fact.reservation} contradicts it")
            self._forget(fact.reservation)
            if isinstance(fact, facts.Answered):
                self.replies += 1
                digest = hashlib.sha256(answer).hexdigest() if type(answer) is bytes else None
                if digest != fact.answer_digest:
                    raise LedgerFault("the stored answer is not the one that was given")

    def _take_ticket(self, sequence: int, stored: tuple[object, ...]) -> None:
        if stored[:4] != self.tickets[sequence][:4]:
            raise LedgerFault("the ticket is not the one that was opened")
        outcome, settled = stored[4:]
        if outcome == OPEN:
            if settled is not None:
                raise LedgerFault("the ticket is both open and settled")
        elif type(outcome) is not int or type(settled) is not int or settled in self._claims:
            raise LedgerFault("the ticket was settled by no entry of its own")
        else:
            self._claims[settled] = (sequence, outcome)

    def _forget(self, reservation: int) -> None:
        ticket = self.tickets.pop(reservation)
        self._reserved.pop(reservation)
        if ticket.name is not None:
            self._names.pop(ticket.name, None)
        if ticket.cache is not None:
            self._caches.pop(ticket.cache, None)

    def differs_from(self, stored: Stored) -> str:
        """How the stored totals first differ from the recount; empty if they do not."""
        if self._claims:
            return "a ticket was settled by an entry that does not exist"
        if stored.tickets != self.reservations or stored.answers != self.replies:
            return "there are tickets or answers without an entry"
        for each in fields(Books):
            if getattr(stored.books, each.name) != getattr(self, each.name):
                return f"the running totals of {each.name} do not follow from the entries"
        return ""


def inspect(lines: Iterable[Line], totals: Stored, anchor: Anchor | None) -> Verification:
    """Compares everything stored with a recount of all entries."""
    recount = _Recount()
    count, link = 0, facts.GENESIS
    anchored = link if anchor is not None and anchor.entries == 0 else None
    for line in lines:
        sequence, text = line[0], line[1]
        try:
            if sequence != count + 1:
                raise LedgerFault(f"entry {count + 1} is missing")
            if type(text) is not str or facts.link(link, text) != line[2]:
                raise LedgerFault("the hash does not follow from the entry and the one before")
            recount.take(facts.read(sequence, text)[1], line)
        except (LedgerFault, Refused) as fault:
            return Verification(False, count, link.hex(), count + 1, str(fault))
        except (TypeError, ValueError, AttributeError, OverflowError):
            # a forged entry whose hash fits but whose values have the wrong type
            return Verification(False, count, link.hex(), count + 1, "the entry is malformed")
        count, link = sequence, line[2]
        if anchor is not None and anchor.entries == count:
            anchored = link
    reason = recount.differs_from(totals)
    if not reason and anchor is not None:
        reason = anchor.missed_by(count, anchored)
    return Verification(not reason, count, link.hex(), None, reason)


# -- Seals of schemas, which only the ledger's holder can compare ----------------------------------

MARK = "hmac-sha256:"
"""Begins a seal; anything else is the plain digest that 0.1.0 wrote."""
_ABOUT = b"schema of a certificate\n"  # the key may seal other things in future


def new_secret() -> bytes:
    """A key for the seals of a new ledger."""
    from ..noise.source import SYSTEM  # which loads numpy, for new ledgers only

    return SYSTEM.words(4).tobytes()


def sealed(secret: bytes, schema_digest: str) -> str:
    """The seal of a schema's digest."""
    return MARK + hmac.new(secret, _ABOUT + schema_digest.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class CertificateVerification:
    """Whether a certificate belongs to a ledger: truthy if it does.

    entry: the one that first recorded the certificate's schema.
    reason: why it does not belong to the ledger.
    """

    ok: bool
    dataset: str | None = None
    entry: int | None = None
    reason: str = ""

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return f"the certificate is of `{self.dataset}`, under the schema of entry {self.entry}"
        return f"NOT OF THIS LEDGER: {self.reason}"


def compared(schema_hash: str, entries: Iterable[Entry], secret: bytes) -> CertificateVerification:
    """Looks for the schema of a certificate among those that entries state."""
    if not schema_hash:
        return CertificateVerification(False, reason="the certificate does not state its schema")
    for entry in entries:
        fact = entry.fact
        if isinstance(fact, facts.DatasetOpened | facts.SchemaChanged) and fact.schema_digest:
            digest = fact.schema_digest
            wanted = sealed(secret, digest) if schema_hash.startswith(MARK) else digest
            if hmac.compare_digest(wanted.encode(), schema_hash.encode()):
                return CertificateVerification(True, fact.dataset, entry.sequence)
    return CertificateVerification(False, reason="no schema of this ledger has its seal")


def given_certificate(given: object) -> Certificate:
    """The certificate itself, or that in a file, which may have a whole answer."""
    if isinstance(given, Certificate):
        return given
    if not isinstance(given, str | os.PathLike):
        raise refuse("ledger.certificate-wrong-type", type=type(given).__name__)
    path = Path(given)
    try:
        text = path.read_text(encoding="utf-8")
        plain = json.loads(text)
    except (OSError, ValueError):
        raise refuse("ledger.unreadable-certificate", name=path.name) from None
    if isinstance(plain, dict) and isinstance(plain.get("certificate"), dict):
        text = json.dumps(plain["certificate"])
    return Certificate.from_json(text)
