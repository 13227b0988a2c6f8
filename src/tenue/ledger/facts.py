"""The facts of a ledger, apart from their costs, and the hash chain of its entries.

Each class is one kind of fact: frozen, without arithmetic. A fact's meaning never changes; a new
meaning gets a new kind with a new name. Amounts are whole nano-epsilon and atto-delta, as stated by
the mechanism; as losses they add up and compare (`privacy.loss`).

Guarantee
    A verification of the chain detects that an entry was changed, deleted, inserted or moved. It
    does not detect, for the chain has no secret, that the newest entries were removed, or that
    history was rewritten from some entry on, hashes included. An `anchor` kept elsewhere does.

The hash of entry n is SHA-256(hash of entry n-1 followed by the entry's canonical JSON), and the
text holds the sequence number.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, fields
from typing import Any, ClassVar, get_args

from ..errors import LedgerFault
from ..privacy import Neighbours
from ..privacy.loss import EpsilonDelta
from .canonical_text import canonical
from .composition import Column


@dataclass(frozen=True, kw_only=True)
class _OfDataset:
    """Every fact is about a data set."""

    dataset: str


Caps = tuple[int, int, int | None]
"""Budget of epsilon, budget of delta, and quota of each analyst, as stored."""


@dataclass(frozen=True, kw_only=True)
class DatasetOpened(_OfDataset):
    """A data set was given its budget."""

    kind: ClassVar[str] = "dataset-opened"
    neighbours: Neighbours
    total_nano: int
    total_atto: int
    per_analyst_nano: int | None
    schema_digest: str
    data_version: str

    @property
    def caps(self) -> Caps:
        return self.total_nano, self.total_atto, self.per_analyst_nano


@dataclass(frozen=True, kw_only=True)
class CapChanged(_OfDataset):
    """The holder raised or lowered what may be spent."""

    kind: ClassVar[str] = "cap-changed"
    total_nano: int
    total_atto: int
    per_analyst_nano: int | None

    @property
    def caps(self) -> Caps:
        return self.total_nano, self.total_atto, self.per_analyst_nano


def stored_caps(epsilon: int, delta: int, per_analyst: int | None) -> dict[str, Any]:
    """Budgets and the quota of each analyst, under the names of the facts' fields."""
    return {"total_nano": epsilon, "total_atto": delta, "per_analyst_nano": per_analyst}


@dataclass(frozen=True, kw_only=True)
class IndividualCapped(_OfDataset):
    """The holder stated how much individual epsilon may be spent in all; None for no cap."""

    kind: ClassVar[str] = "individual-capped"
    individual_nano: int | None

    @property
    def cap(self) -> int | None:
        return self.individual_nano

    @classmethod
    def at(cls, dataset: str, cap: EpsilonDelta | None) -> IndividualCapped:
        return cls(dataset=dataset, individual_nano=None if cap is None else cap.nano)


@dataclass(frozen=True, kw_only=True)
class NeighboursChanged(_OfDataset):
    """The data set is protected under another adjacency from here on; the past is priced anew."""

    kind: ClassVar[str] = "neighbours-changed"
    neighbours: Neighbours


@dataclass(frozen=True, kw_only=True)
class UnitStated(_OfDataset):
    """The holder stated who is protected."""

    kind: ClassVar[str] = "unit-stated"
    unit: str


@dataclass(frozen=True, kw_only=True)
class ProtocolChanged(_OfDataset):
    """The holder decided how every question is answered from here on; empty for in any way."""

    kind: ClassVar[str] = "protocol-changed"
    protocol: str


@dataclass(frozen=True, kw_only=True)
class SchemaChanged(_OfDataset):
    """The description of the table changed."""

    kind: ClassVar[str] = "schema-changed"
    schema_digest: str


@dataclass(frozen=True, kw_only=True)
class DataChanged(_OfDataset):
    """The rows changed: the table grew, or the holder declared a new version."""

    kind: ClassVar[str] = "data-changed"
    data_version: str


@dataclass(frozen=True, kw_only=True)
class SourceValidated(_OfDataset):
    """The holder opened the table's files, and they were read from end to end.

    names: the last parts of their names, at most a hundred, each on a line of its own.
    size, modified: their bytes together, and when the last was written, in nanoseconds.
    mark: a digest of every name, size and time of writing.
    reading: a digest of how they are read.
    digest: the SHA-256 of what they hold.
    """

    kind: ClassVar[str] = "source-validated"
    names: str
    size: int
    modified: int
    mark: str
    reading: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class Reserved(_OfDataset):
    """A price was debited, before any row was read."""

    kind: ClassVar[str] = "reserved"
    analyst: str
    column: Column
    nano: int
    atto: int
    neighbours: Neighbours
    person: str | None
    question_digest: str
    question_name: str | None
    key: str | None
    cache_key: str | None
    owner: str

    @property
    def loss(self) -> EpsilonDelta:
        """The price, as the mechanism stated it."""
        return EpsilonDelta(self.nano, self.atto)


@dataclass(frozen=True, kw_only=True)
class Asked(_OfDataset):
    """The text of a reservation's question, for readers."""

    kind: ClassVar[str] = "asked"
    reservation: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Answered(_OfDataset):
    """The answer to a reservation was stored, before it was returned."""

    kind: ClassVar[str] = "answered"
    reservation: int
    answer_digest: str
    size: int


@dataclass(frozen=True, kw_only=True)
class Returned(_OfDataset):
    """A reservation was refunded: the caller states that no row was read."""

    kind: ClassVar[str] = "returned"
    reservation: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Unanswered(_OfDataset):
    """A reservation ended without an answer; its price is spent."""

    kind: ClassVar[str] = "unanswered"
    reservation: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class ReleaseRegistered(_OfDataset):
    """A protected copy of the table was published."""

    kind: ClassVar[str] = "release-registered"
    release_digest: str
    method: str
    override: bool


@dataclass(frozen=True, kw_only=True)
class RowsReleased(_OfDataset):
    """The same, with the fingerprints of its rows, which identify them in another data set."""

    kind: ClassVar[str] = "rows-released"
    release_digest: str
    method: str
    override: bool
    marks: str


@dataclass(frozen=True, kw_only=True)
class ReleaseSaved(_OfDataset):
    """A release was written into a folder. It says where its files are, and permits nothing: a
    private table is paid for, another release registered.

    place: the folder, relative to that of the ledger's file; its name for a ledger in no file.
    """

    kind: ClassVar[str] = "release-saved"
    release_digest: str
    method: str
    place: str


@dataclass(frozen=True, kw_only=True)
class ReleaseWithdrawn(_OfDataset):
    """A registered release was withdrawn: the caller states that it was never published."""

    kind: ClassVar[str] = "release-withdrawn"
    release_digest: str
    reason: str


Fact = (
    DatasetOpened
    | CapChanged
    | IndividualCapped
    | NeighboursChanged
    | UnitStated
    | ProtocolChanged
    | SchemaChanged
    | DataChanged
    | SourceValidated
    | Reserved
    | Asked
    | Answered
    | Returned
    | Unanswered
    | ReleaseRegistered
    | RowsReleased
    | ReleaseSaved
    | ReleaseWithdrawn
)

KINDS: dict[str, type[Fact]] = {kind.kind: kind for kind in get_args(Fact)}
_NAMES = {kind: tuple(field.name for field in fields(kind)) for kind in KINDS.values()}


def to_fields(fact: Fact) -> dict[str, object]:
    """A fact as plain names and values, its kind among them."""
    plain: dict[str, object] = {name: getattr(fact, name) for name in _NAMES[type(fact)]}
    plain["kind"] = fact.kind
    return plain


def from_fields(plain: dict[str, Any]) -> Fact:
    """The fact that `to_fields` described; a kind unknown here is a fault, never skipped."""
    try:
        return KINDS[plain.pop("kind")](**plain)
    except (KeyError, TypeError) as error:
        raise LedgerFault(f"the ledger holds a fact this version does not know: {error}") from None


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger. Order is by `sequence`; `time` is for information only."""

    sequence: int
    time: str
    fact: Fact
    hash: str

    @property
    def kind(self) -> str:
        return self.fact.kind

    @property
    def dataset(self) -> str:
        return self.fact.dataset

    def to_json(self) -> str:
        """One line of JSON: the text that was hashed, and the hash."""
        plain = to_fields(self.fact)
        plain.update(sequence=self.sequence, time=self.time, hash=self.hash)
        return canonical(plain)


# -- The hash chain: each entry's hash covers its text and the hash before it ----------------------

_decode = json.JSONDecoder().raw_decode

GENESIS = hashlib.sha256(b"tenue ledger 1").digest()
"""The hash before the first entry."""


def write(sequence: int, time: str, fact: Fact) -> str:
    """The text of an entry, which is stored and hashed."""
    plain = to_fields(fact)
    plain["sequence"] = sequence
    plain["time"] = time
    return canonical(plain)


def link(previous: bytes, text: str) -> bytes:
    """The hash of an entry."""
    return hashlib.sha256(previous + text.encode()).digest()


def read(sequence: int, text: str) -> tuple[str, Fact]:
    """Time and fact of an entry's text; a fault if it is not the text of this entry."""
    try:
        plain, end = _decode(text)
        time = plain.pop("time")
        if plain.pop("sequence") != sequence or end != len(text):
            raise LedgerFault(f"entry {sequence} carries another number")
    except (ValueError, AttributeError, KeyError, TypeError):
        raise LedgerFault(f"entry {sequence} is not the text of an entry") from None
    return time, from_fields(plain)


def entry(sequence: int, text: str, link: bytes) -> Entry:
    """The entry as callers see it."""
    time, fact = read(sequence, text)
    return Entry(sequence, time, fact, link.hex())
