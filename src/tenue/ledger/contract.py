"""What every ledger promises, wherever its entries are stored.

An implementation defines how a transaction runs (`_write`), how rows are read (`_read`), how
entries are listed, where its key is stored and how everything is verified.
"""

from __future__ import annotations

import abc
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self, TextIO, TypeVar

from ..arguments import Number, checked_call
from ..errors import Fault, LedgerFault, Refused, refuse
from ..privacy import Certificate, Neighbours
from ..privacy.loss import EpsilonDelta
from . import facts
from .canonical_text import given_text, readable
from .composition import Charge, Column, given_neighbours
from .facts import Entry
from .results import Balance, Reservation, Verification, balance_of, balances_in_html
from .totals import EVERYONE, OPEN, Shelf, Source, scoped, standing
from .transactions import admin, reserve
from .transactions import flight as flights
from .transactions.flight import FLIGHTS, Flight, pauses
from .transactions.journal import Journal
from .transactions.reserve import Purchase
from .verify import Anchor, CertificateVerification, compared, given_certificate, sealed

LARGEST_ANSWER = 64 * 1024 * 1024
"""The size limit of an answer, in bytes."""

T = TypeVar("T")


class Stamped(Protocol):
    """What identifies files, as in `SourceValidated`."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def size(self) -> int: ...
    @property
    def modified(self) -> int: ...
    @property
    def mark(self) -> str: ...
    @property
    def reading(self) -> str: ...


class Ledger(abc.ABC):
    """What has been spent, by whom, on what, and what remains.

    Guarantee
        A price is debited durably before `reserve` returns, and an answer is stored durably before
        `commit` returns. The recorded spend never exceeds the data set's cap, under any
        concurrency, crash or retry: a failure may lose budget, but never creates it. One key has at
        most one debit and one answer, for ever. `verify` detects a change of a past entry, and with
        an `anchor` kept elsewhere the removal of the newest ones.

    Columns
        dp: differential privacy (epsilon, delta), limited by the data set's cap and by quotas of
            analysts.
        individual: individual differential privacy, counted apart and never added to dp, with a cap
            of its own if the holder states one.
        releases: registered syntactic releases.
    """

    @property
    def path(self) -> Path | None:
        """The file in which it is stored, if any."""
        return None

    @property
    def is_new(self) -> bool:
        """Whether opening it made its file."""
        return False

    @checked_call
    def open_dataset(
        self,
        dataset: str,
        total: Number,
        per_analyst: Number | None = None,
        *,
        neighbours: Neighbours,
        total_delta: Number = 0,
        individual: Number | None = None,
        schema_digest: str = "",
        data_version: str = "",
        protocol: str = "",
        unit: str = "",
        dry: bool = False,
    ) -> tuple[facts.Fact, ...]:
        """Gives a data set its budget, or records what changed; returns the facts written.

        Spending belongs to the data set's name and survives every change. A change of neighbours
        from "add-or-remove" to "replace" counts every past price twice from then on; the other
        direction is refused once something was spent, because a promise under replace says nothing
        under add-or-remove.

        Parameters
            total, total_delta: the caps, rounded down to whole units.
            per_analyst: every analyst's quota of epsilon, or None.
            individual: the cap of the individual column, all analysts together; None for none.
            schema_digest, data_version: for the history only.
            protocol: how every question must be answered, in words.
            unit: who is protected, in words; another unit is refused once something was spent. With
                " by " and a column, that column may change until a question is about one person.
            dry: whether nothing is written: the facts, or the refusal, are those of an opening now.
        """
        budget = EpsilonDelta.cap(total, total_delta, name="total")
        quota = None if per_analyst is None else EpsilonDelta.cap(per_analyst, name="per_analyst")
        wanted = facts.DatasetOpened(
            dataset=given_text(dataset, "dataset"),
            neighbours=given_neighbours(neighbours),
            **facts.stored_caps(*budget.stored, None if quota is None else quota.units),
            schema_digest=given_text(schema_digest, "schema_digest", empty=True),
            data_version=given_text(data_version, "data_version", empty=True),
        )
        cap = None if individual is None else EpsilonDelta.cap(individual, name="individual")
        texts = (given_text(protocol, "protocol", empty=True), given_text(unit, "unit", empty=True))
        return self._write(
            lambda journal: admin.open_dataset(journal, wanted, cap, *texts, dry=dry)
        )

    def record_schema(self, dataset: str, schema_digest: str) -> None:
        """Records durably under which schema a data set is published."""
        wanted = facts.SchemaChanged(
            dataset=given_text(dataset, "dataset"),
            schema_digest=given_text(schema_digest, "schema_digest"),
        )
        self._write(lambda journal: admin.record_schema(journal, wanted))

    def record_validation(self, dataset: str, stamp: Stamped, digest: str) -> None:
        """Records durably that the holder opened these files and they were read to their end.

        Nothing is written if they are those of the last record. The record has no fact about rows.
        """
        wanted = facts.SourceValidated(
            dataset=given_text(dataset, "dataset"),
            names="\n".join(map(readable, stamp.names)),
            size=stamp.size,
            modified=stamp.modified,
            mark=given_text(stamp.mark, "mark"),
            reading=given_text(stamp.reading, "reading"),
            digest=given_text(digest, "digest"),
        )
        self._write(lambda journal: admin.record_validation(journal, wanted))

    def validated(self, dataset: str) -> Source | None:
        """What identifies the files that the holder opened last; None if there were none."""
        name = given_text(dataset, "dataset")
        return self._read(lambda rows: rows.source(name))

    def reserve(
        self,
        dataset: str,
        analyst: str,
        charge: Charge,
        key: str | None,
        question_digest: str,
        *,
        cache_key: str | None = None,
        fresh: bool = False,
        column: Column = "dp",
        question_name: str | None = None,
        times: int | None = None,
        asked: str | None = None,
    ) -> Reservation:
        """Debits `charge` durably and returns the right to draw once; or a stored answer.

        Check `reservation.answer` first: if it has bytes, the key or the question was answered
        before, nothing was debited and nothing may be drawn. Refused with `OverBudget` if data set
        or analyst cannot pay, with `Conflict` if the key belongs to another question
        ("key-conflict"), is being answered ("in-flight"), or was paid for by a process that ended
        before it answered ("spent-unanswered": noise may have been drawn, so it is never drawn
        again).

        Settle every reservation: `commit`, `abandon`, or `release_unread`. One that a live process
        never settles keeps its key in flight until that process ends; its price is spent either
        way.

        Single flight: of concurrent requests with one `cache_key`, in any process or thread, one
        pays and draws, and the others wait for that answer, which costs them nothing. If it fails,
        or its process ends, one of the waiting requests pays instead, or is refused with
        `OverBudget`. Waiting ends after ten minutes with a `Conflict` ("in-flight"); at once for a
        thread that waits for its own reservation. Whether a request waits depends on questions,
        never on rows.

        Parameters
            key: the caller's idempotency key, in the scope of data set and analyst; None if the
                question will never be retried. It takes precedence over `cache_key`.
            question_digest: identifies the question; a key belongs to it and the charge.
            cache_key: the same for the same question of every analyst; its first answer is stored
                under it.
            fresh: pay and draw although the same question was answered or is being answered. The
                answer is stored under `cache_key` only if it is the first.
            column: "dp", or "individual" for individual differential privacy.
            question_name, times: an approved question, and how often it may be asked in all.
            asked: the text of the question, for readers of the ledger.
        """
        wanted = Purchase(
            *(dataset, analyst, charge, key, question_digest, cache_key),
            *(column, question_name, times, asked, fresh),
        )
        deadline = None
        while True:
            found = self._reserve(wanted)
            if isinstance(found, Reservation):
                return found
            if deadline is None:
                deadline = time.monotonic() + flights.PATIENCE
            if FLIGHTS.is_own(found) or time.monotonic() > deadline:
                raise refuse("ledger.question-in-flight")
            self._wait(found)

    def _reserve(self, wanted: Purchase) -> Reservation | Flight:
        """One attempt in a transaction; if it is interrupted, the reservation is undone."""
        granted: list[Reservation] = []
        interrupted = False

        def attempt(journal: Journal) -> Reservation | Flight | None:
            if interrupted:
                return None
            found = reserve.reserve(journal, wanted)
            if isinstance(found, Reservation) and found.answer is None:
                granted.append(found)
            return found

        def undo(journal: Journal) -> None:
            for reservation in granted:
                reserve.release_unread(journal, reservation, "interrupted")

        try:
            found = self._write(attempt)
            if granted:
                FLIGHTS.opened(_flight(granted[0]))
        except (Refused, Fault):
            raise
        except BaseException:  # such as Ctrl-C: the transaction may still be waiting
            interrupted = True
            with suppress(Refused, Fault):
                self._write(undo)
            raise
        assert found is not None  # noqa: S101 - nobody was interrupted
        return found

    def _wait(self, flight: Flight) -> None:
        """Returns when a flight has ended, or when it is time to check its owner's liveness."""
        signal = FLIGHTS.signal(flight)
        again = time.monotonic() + flights.LIVENESS

        def going(rows: Shelf) -> bool:
            ticket = rows.ticket(flight.sequence)
            return ticket is not None and ticket.outcome == OPEN

        for pause in pauses():
            if signal.wait(pause) or time.monotonic() > again or not self._read(going):
                return

    def commit(self, reservation: Reservation, answer: bytes) -> None:
        """Stores the answer durably; only then may it leave.

        Committing the same bytes again does nothing; any other second settlement is a `Conflict`.
        """
        if not isinstance(answer, bytes):
            raise refuse("ledger.answer-not-bytes", type=type(answer).__name__)
        if len(answer) > LARGEST_ANSWER:
            raise refuse("ledger.answer-too-large", many=len(answer), largest_answer=LARGEST_ANSWER)
        self._write(lambda journal: reserve.commit(journal, reservation, answer))
        FLIGHTS.ended(_flight(reservation))

    def release_unread(self, reservation: Reservation, reason: str = "") -> None:
        """Refunds the price, because no row was read and no noise was drawn.

        Only for failures that cannot depend on data, such as an engine that cannot be reached. Once
        a row may have been read there is no refund, because the failure itself may be an answer:
        use `abandon`. The key is free again afterwards.
        """
        why = given_text(reason, "reason", empty=True)
        self._write(lambda journal: reserve.release_unread(journal, reservation, why))
        FLIGHTS.ended(_flight(reservation))

    def abandon(self, reservation: Reservation, reason: str = "") -> None:
        """Ends a reservation without an answer. The price stays spent and the key used up."""
        why = given_text(reason, "reason", empty=True)
        self._write(lambda journal: reserve.abandon(journal, reservation, why))
        FLIGHTS.ended(_flight(reservation))

    def cached(self, dataset: str, cache_key: str) -> bytes | None:
        """The answer stored under a cache key of this data set, or None; costs nothing."""
        name = scoped(given_text(cache_key, "cache_key"), given_text(dataset, "dataset"))

        def look(rows: Shelf) -> bytes | None:
            at = None if name is None else _answered(rows, name)
            return None if at is None else rows.answer(at)

        return self._read(look)

    def cached_at(self, dataset: str, cache_key: str) -> int | None:
        """The number of the entry that stored the answer which `cached` gives; None without one."""
        name = scoped(given_text(cache_key, "cache_key"), given_text(dataset, "dataset"))
        return None if name is None else self._read(lambda rows: _answered(rows, name))

    def written_at(self, sequence: int) -> str:
        """The time of an entry, as it was written down."""
        return self._read(lambda rows: facts.read(sequence, rows.text(sequence))[0])

    def validations(self, dataset: str) -> tuple[tuple[int, str], ...]:
        """Every opening at which the holder's files were read: its entry, and the SHA-256 of what
        they held. Earlier answers are of earlier rows wherever this digest has changed."""
        name, kind = given_text(dataset, "dataset"), facts.SourceValidated.kind
        texts = self._read(lambda rows: rows.texts_with(f'"kind":"{kind}"'))
        read = ((at, facts.read(at, text)[1]) for at, text in texts)
        return tuple(
            (at, fact.digest)
            for at, fact in read
            if isinstance(fact, facts.SourceValidated) and fact.dataset == name
        )

    @property
    def length(self) -> int:
        """The number of its last entry."""
        return self._read(lambda rows: rows.head()[0])

    def has_key(self, dataset: str, analyst: str, key: str) -> bool:
        """Whether the key already belongs to a question of this analyst; costs nothing."""
        scope = given_text(dataset, "dataset"), given_text(analyst, "analyst")
        name = scoped(given_text(key, "key"), *scope)
        return self._read(lambda rows: name is not None and rows.ticket_named(name) is not None)

    @checked_call
    def register_release(
        self,
        dataset: str,
        release_digest: str,
        *,
        method: str,
        override: bool = False,
        marks: Sequence[str] = (),
        draft: bool = False,
    ) -> int:
        """Records that a protected copy of the table is published; returns the entry's number.

        A second release of the same data set overlaps the first and is refused unless
        `override=True`, which is recorded. So is one of another data set whose `marks`, the
        fingerprints of its rows, show common rows. A release registered again keeps its entry.

        Parameters
            draft: it is not published yet. Until `release_left` is called, this ledger object, and
                no other, may withdraw it.
        """
        name = given_text(dataset, "dataset")
        digest = given_text(release_digest, "release_digest")
        how = given_text(method, "method")
        words = " ".join(given_text(mark, "marks") for mark in marks)
        stated: dict[str, Any] = {"dataset": name, "release_digest": digest}
        stated |= {"method": how, "override": bool(override)}
        wanted = (
            facts.RowsReleased(marks=words, **stated)
            if words
            else facts.ReleaseRegistered(**stated)
        )

        def registered(journal: Journal) -> tuple[int, bool]:
            known = digest in journal.totals.releases_of(name)
            return admin.register_release(journal, wanted), not known

        number, new = self._write(registered)
        if draft and new:
            self._drafts.add((name, digest))
        return number

    @cached_property
    def _drafts(self) -> set[tuple[str, str]]:
        """The releases that were registered through this object and are not published."""
        return set()

    def release_saved(self, dataset: str, release_digest: str, *, method: str, place: str) -> None:
        """Records into which folder a release was written, for `tenue ledger show`.

        Parameters
            place: the folder, relative to that of the ledger's file.
        """
        wanted = facts.ReleaseSaved(
            dataset=given_text(dataset, "dataset"),
            release_digest=given_text(release_digest, "release_digest"),
            method=given_text(method, "method"),
            place=given_text(place, "place"),
        )
        self._write(lambda journal: admin.record_saved(journal, wanted))

    def release_left(self, dataset: str, release_digest: str) -> None:
        """Records in this object that a draft is published, and cannot be withdrawn any more."""
        self._drafts.discard((dataset, release_digest))

    @checked_call
    def withdraw_release(self, dataset: str, release_digest: str, *, reason: str) -> None:
        """Records that a draft was never published, and why, so that another release may be.

        Refused for a release that may have been published: two releases reveal the records in which
        they differ.
        """
        if (dataset, release_digest) not in self._drafts and self._read(
            lambda rows: release_digest in standing(rows.releases(dataset))
        ):
            raise refuse("ledger.release-not-withdrawable")
        wanted = facts.ReleaseWithdrawn(
            dataset=given_text(dataset, "dataset"),
            release_digest=given_text(release_digest, "release_digest"),
            reason=given_text(reason, "reason"),
        )
        self._write(lambda journal: admin.withdraw_release(journal, wanted))
        self._drafts.discard((wanted.dataset, wanted.release_digest))

    def released_before(self, marks: Sequence[str]) -> int | None:
        """The entry of the last release, of any data set, of rows with these fingerprints."""
        words = " ".join(marks)
        return self._read(lambda rows: admin.overlapped(words, standing(rows.releases(EVERYONE))))

    def datasets(self) -> list[str]:
        """The names of all data sets, sorted."""
        return self._read(lambda rows: rows.datasets())

    def known_as(self, dataset: str) -> str:
        """The data set's name as first written; names that differ only in case are the same."""
        return next((n for n in self.datasets() if n.lower() == dataset.lower()), dataset)

    def balance(self, dataset: str | None = None) -> Balance:
        """What a data set has spent and what remains; the only data set need not be named."""
        name = None if dataset is None else given_text(dataset, "dataset")

        def look(rows: Shelf) -> Balance:
            known = rows.datasets()
            chosen = known[0] if name is None and len(known) == 1 else name or ""
            found = rows.dataset(chosen)
            if found is None:
                raise _unknown(name, known)
            releases = len(standing(rows.releases(chosen)))
            accounts, protocol = rows.accounts(chosen), rows.protocol(chosen)
            return balance_of(chosen, found, accounts, releases, protocol)

        return self._read(look)

    def entries(self, dataset: str | None = None) -> Iterator[Entry]:
        """Every entry in order, or those of one data set."""
        name = None if dataset is None else given_text(dataset, "dataset")
        return (entry for entry in self._entries() if name is None or entry.dataset == name)

    def export(self, target: str | os.PathLike[str] | TextIO) -> int:
        """Writes every entry as one line of JSON with its hash; returns their number.

        The canonical form of a line without its `hash` is the text that was hashed, after the hash
        of the previous line.
        """
        if isinstance(target, str | os.PathLike):
            with Path(target).open("w", encoding="utf-8") as file:
                return self.export(file)
        count = 0
        for entry in self._entries():
            target.write(entry.to_json() + "\n")
            count += 1
        return count

    def anchor(self, path: str | os.PathLike[str]) -> Anchor:
        """Writes number and hash of the last entry to `path`, which belongs on another machine.

        A ledger that does not continue the anchor in the file is a `LedgerFault`, and the file is
        not changed. One process at a time should write it.
        """
        kept = Anchor.read_if_there(path)
        if kept is not None:
            self._hold_to(kept)
        count, head = self._read(lambda rows: rows.head())
        anchor = Anchor.now(count, head)
        anchor.write(path)
        return anchor

    def verify(self, anchor: str | os.PathLike[str] | Anchor | None = None) -> Verification:
        """Recomputes everything from the entries, and reports whether the ledger is intact.

        Checks the hash chain, every stored answer against its digest, every running total against
        a recount from the facts, and that no reservation exceeded the cap of its time. Only with an
        anchor, it also detects that the newest entries were removed.
        """
        kept = anchor if isinstance(anchor, Anchor | None) else Anchor.read(anchor)
        return self._inspect(kept)

    def seal(self, schema_digest: str) -> str:
        """A seal that identifies a schema in certificates, and reveals nothing about it.

        The digest itself would reveal it: an intruder who knows all of a schema but one bound finds
        the bound by trying. Only the holder of this ledger has the key, and can compare.
        """
        return sealed(self._secret(), given_text(schema_digest, "schema_digest"))

    def verify_certificate(
        self, certificate: Certificate | str | os.PathLike[str]
    ) -> CertificateVerification:
        """Whether a certificate was issued under a schema of this ledger.

        Parameters
            certificate: the certificate, or the path of its file.

        Only the schema is sealed: compare the other sentences with those of the answer or release.
        """
        sealed_hash = given_certificate(certificate).schema_hash
        return compared(sealed_hash, self._entries(), self._secret())

    @abc.abstractmethod
    def _secret(self) -> bytes:
        """The key of this ledger's certificates: 256 bits with no other use."""

    def _view(self) -> tuple[list[Balance], str]:
        """What a prompt or a notebook shows. It names no question and no analyst, because every
        analyst has access to the ledger, as `session.ledger`."""
        try:
            found = [self.balance(name).seen_by("") for name in self.datasets()]
            entries, _ = self._read(lambda rows: rows.head())
        except (Refused, LedgerFault):
            return [], "The ledger is closed or cannot be read."
        return found, f"Entries: {entries:,}. verify() checks them, entries() lists them."

    def __repr__(self) -> str:
        balances, note = self._view()
        return "\n".join([*map(str, balances), note])

    def _repr_html_(self) -> str:
        return balances_in_html(*self._view())

    @abc.abstractmethod
    def close(self) -> None:
        """Ends the use of the ledger. Reservations still open are then spent unanswered."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @abc.abstractmethod
    def _write(self, work: Callable[[Journal], T]) -> T:
        """Runs `work` in a transaction, perhaps with others; returns once it is durable."""

    @abc.abstractmethod
    def _read(self, look: Callable[[Shelf], T]) -> T:
        """Runs `look` on one consistent state."""

    @abc.abstractmethod
    def _entries(self) -> Iterator[Entry]:
        """Every entry, in order."""

    @abc.abstractmethod
    def _inspect(self, anchor: Anchor | None) -> Verification:
        """The result of `verify`."""

    def _hold_to(self, anchor: Anchor) -> None:
        """A fault unless the ledger continues `anchor`."""
        missed = self._read(
            lambda rows: anchor.missed_by(rows.head()[0], rows.link(anchor.entries))
        )
        if missed:
            raise LedgerFault(missed)


def _answered(rows: Shelf, name: bytes) -> int | None:
    """The entry of the answer under a cache name: the latest, if there are several, as ledgers
    from before single flight may have."""
    tickets = rows.tickets_cached(name)
    return max((one.settled for one in tickets if one.settled is not None), default=None)


def _flight(reservation: Reservation) -> Flight:
    return Flight(reservation.owner, reservation.sequence)


def closed() -> Refused:
    """The refusal of a ledger that was closed."""
    return refuse("ledger.ledger-closed")


def _unknown(name: str | None, known: list[str]) -> Refused:
    what = "The data set is not named" if name is None else f"There is no data set `{name}`"
    advice = "Choose one of " + ", ".join(known[:20]) if known else "Call open_dataset first"
    return refuse("ledger.unknown-dataset", said=what, many=len(known), advice=advice)
