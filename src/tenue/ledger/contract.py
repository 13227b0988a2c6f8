"""What every ledger promises, wherever its entries are kept.

An implementation says how a transaction runs (`_write`), how rows are read (`_read`), how entries
are listed, where its key is kept and how the whole is inspected; everything a caller sees is here.
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

from ..arguments import checked_call
from ..errors import Fault, LedgerFault, Refused, refuse
from ..privacy import Certificate, Neighbours
from ..privacy.loss import EpsilonDelta
from .canonical_text import given_text, readable
from .composition import Charge, Column, given_neighbours
from .facts import (
    DatasetOpened,
    Entry,
    Fact,
    ReleaseRegistered,
    ReleaseWithdrawn,
    RowsReleased,
    SchemaChanged,
    SourceValidated,
    stored_caps,
)
from .results import Balance, Reservation, Verification, balance_of, balances_in_html
from .totals import EVERYONE, OPEN, Shelf, Source, cache_name, standing, ticket_name
from .transactions import admin, reserve
from .transactions import flight as flights
from .transactions import reserve as cashier
from .transactions.admin import overlapped
from .transactions.flight import FLIGHTS, Flight, pauses
from .transactions.journal import Journal
from .transactions.reserve import Purchase
from .verify import Anchor, CertificateVerification, compared, given_certificate, sealed

LARGEST_ANSWER = 64 * 1024 * 1024
"""The most bytes that an answer may have."""

T = TypeVar("T")


class Stamped(Protocol):
    """What files are known again by, as `SourceValidated` says."""

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


class Rows(Shelf, Protocol):
    """A shelf that can also be looked through."""

    def cached(self, cache: bytes) -> int | None: ...
    def head(self) -> tuple[int, bytes]: ...


class Ledger(abc.ABC):
    """What has been spent, by whom, on what, and what may still be.

    Guarantee
        A price is debited durably before `reserve` returns, and an answer is stored durably before
        `commit` returns. The recorded spend never exceeds the data set's cap, under any
        concurrency, crash or retry: failure loses budget, it never mints it. One key has at most
        one debit and one answer, for ever. Changing a past entry is seen by `verify`; cutting off
        the newest ones is seen with an `anchor` kept elsewhere.

    Columns
        dp: differential privacy (epsilon, delta); the data set's cap always binds, quotas of
            analysts bind besides.
        individual: individual differential privacy, counted apart and never added to dp; a cap of
            its own binds if the holder states one.
        releases: syntactic releases, registered.
    """

    @property
    def path(self) -> Path | None:
        """The file that it is kept in, if it is."""
        return None

    @property
    def is_new(self) -> bool:
        """Whether its file was made by opening it."""
        return False

    @checked_call
    def open_dataset(
        self,
        dataset: str,
        total: object,
        per_analyst: object | None = None,
        *,
        neighbours: Neighbours,
        total_delta: object = 0,
        individual: object | None = None,
        schema_digest: str = "",
        data_version: str = "",
        protocol: str = "",
        unit: str = "",
    ) -> tuple[Fact, ...]:
        """Gives a data set its budget, or records what changed; returns the facts written.

        What was spent belongs to the data set's name and survives every change. A change of
        neighbours from "add-or-remove" to "replace" counts every past price twice from then on; the
        other direction is refused once something was spent, because a promise under replace is
        none under add-or-remove.

        Parameters
            total, total_delta: the caps, rounded down to whole units.
            per_analyst: every analyst's quota of epsilon, or None.
            individual: the cap of the individual column, all analysts together; None for none.
            neighbours: "replace" or "add-or-remove".
            schema_digest, data_version: what the holder declares; part of the history only.
            protocol: how every question is answered, in words; whoever answers keeps to it.
            unit: who is protected, in words; another unit is refused once something was spent. With
                " by " and a column, that column may change while no person was asked about.
        """
        budget = EpsilonDelta.cap(total, total_delta, name="total")
        quota = None if per_analyst is None else EpsilonDelta.cap(per_analyst, name="per_analyst")
        wanted = DatasetOpened(
            dataset=given_text(dataset, "dataset"),
            neighbours=given_neighbours(neighbours),
            **stored_caps(*budget.stored, None if quota is None else quota.units),
            schema_digest=given_text(schema_digest, "schema_digest", empty=True),
            data_version=given_text(data_version, "data_version", empty=True),
        )
        capped = None if individual is None else EpsilonDelta.cap(individual, name="individual")
        how = given_text(protocol, "protocol", empty=True)
        who = given_text(unit, "unit", empty=True)
        return self._write(lambda journal: admin.open_dataset(journal, wanted, capped, how, who))

    def record_schema(self, dataset: str, schema_digest: str) -> None:
        """Records durably by which schema a data set leaves; its budget stays as it is."""
        wanted = SchemaChanged(
            dataset=given_text(dataset, "dataset"),
            schema_digest=given_text(schema_digest, "schema_digest"),
        )
        self._write(lambda journal: admin.record_schema(journal, wanted))

    def record_validation(self, dataset: str, stamp: Stamped, digest: str) -> None:
        """Records durably that the holder opened these files and they were read to their end.

        Nothing is written if they are those of the last record. What was found in them is not
        part of it.
        """
        wanted = SourceValidated(
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
        """By what the files are known that the holder opened last; None if there were none."""
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

        Check `reservation.answer` first: if it holds bytes, the key or the question was answered
        before, nothing was debited and nothing may be drawn. Refused with `OverBudget` if data set
        or analyst cannot pay, with `Conflict` if the key stands for another question
        ("key-conflict"), is being answered ("in-flight"), or was paid for by a process that ended
        before it answered ("spent-unanswered": noise may have been drawn, so it is never drawn
        again).

        Settle every reservation: `commit`, `abandon`, or `release_unread`. One that a live process
        forgets keeps its key in flight until that process ends; its price is spent either way.

        Single flight: of all who ask with one `cache_key` at the same time, whichever their process
        or thread, one pays and draws, and the others wait for that answer, which costs them
        nothing. If it ends without an answer, or its process does, one of those who wait pays in
        turn, and is refused with `OverBudget` if that is too much. Waiting ends after ten minutes
        with a `Conflict` ("in-flight"); for the thread that has reserved the question itself and
        not settled it, at once. Whether somebody waits depends on what was asked, never on rows.

        Parameters
            key: the caller's idempotency key, in the scope of data set and analyst; None if the
                question will never be retried.
            question_digest: what the question is; with the charge, what the key stands for.
            cache_key: what is the same for the same question, whoever asks it; its first answer
                is found under it. A `key` that was used before goes before it.
            fresh: pay and draw although the same question was answered or is being answered. The
                answer is found under `cache_key` only if it is the first.
            column: "dp", or "individual" for individual differential privacy.
            question_name, times: an approved question, and how often it may be asked in all.
            asked: how the question reads, for whoever looks at the ledger.
        """
        wanted = Purchase(
            dataset,
            analyst,
            charge,
            key,
            question_digest,
            cache_key,
            column,
            question_name,
            times,
            asked,
            fresh,
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
        """One attempt in a transaction of its own; if it is interrupted, nothing was reserved."""
        granted: list[Reservation] = []
        interrupted = False

        def attempt(journal: Journal) -> Reservation | Flight | None:
            if interrupted:
                return None
            found = cashier.reserve(journal, wanted)
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
        except BaseException:  # as by Ctrl-C: the transaction may still be to come
            interrupted = True
            with suppress(Refused, Fault):
                self._write(undo)
            raise
        assert found is not None  # noqa: S101 - nobody was interrupted
        return found

    def _wait(self, flight: Flight) -> None:
        """Returns when a flight has ended, or when its owner's life is to be looked into again."""
        signal = FLIGHTS.signal(flight)
        again = time.monotonic() + flights.LIVENESS

        def going(rows: Rows) -> bool:
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
        """Gives the price back, because no row was read and no noise was drawn.

        Only for failures that cannot depend on data: the engine could not be reached, the caller
        went away before it was called. Once a row may have been read there is no refund, for the
        failure itself may be an answer: use `abandon`. The key is free again afterwards.
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
        """The answer stored under a cache key of this data set, or None; costs nothing.

        Of several, as before single flight, the latest.
        """
        name = cache_name(given_text(dataset, "dataset"), given_text(cache_key, "cache_key"))

        def look(rows: Rows) -> bytes | None:
            at = None if name is None else rows.cached(name)
            return None if at is None else rows.answer(at)

        return self._read(look)

    def has_key(self, dataset: str, analyst: str, key: str) -> bool:
        """Whether the key already stands for a question of this analyst; costs nothing."""
        name = ticket_name(
            given_text(dataset, "dataset"), given_text(analyst, "analyst"), given_text(key, "key")
        )
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
        """Records that a protected copy of the table leaves; returns the entry's number.

        A second release of the same data set overlaps the first and is refused unless
        `override=True`, which is recorded. So is one of a data set of another name whose `marks`
        say that rows are the same (`overlap`). The same release registered again is the first one.

        Parameters
            draft: it has not left yet. Until `release_left` says that it has, this ledger object,
                and no other, may withdraw it.
        """
        name = given_text(dataset, "dataset")
        digest = given_text(release_digest, "release_digest")
        how = given_text(method, "method")
        words = " ".join(given_text(mark, "marks") for mark in marks)
        facts: dict[str, Any] = {
            "release_digest": digest,
            "method": how,
            "override": bool(override),
        }
        wanted = (
            RowsReleased(dataset=name, marks=words, **facts)
            if words
            else ReleaseRegistered(dataset=name, **facts)
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
        """The releases that were registered through this object and have not left."""
        return set()

    def release_left(self, dataset: str, release_digest: str) -> None:
        """Says that a draft has left: from now on nobody can withdraw it."""
        self._drafts.discard((dataset, release_digest))

    @checked_call
    def withdraw_release(self, dataset: str, release_digest: str, *, reason: str) -> None:
        """Records that a draft was never handed to anybody, and why.

        It no longer stands in the way of another. Refused for a release that may have left: two
        releases reveal the records in which they differ, whatever a ledger says.
        """
        if (dataset, release_digest) not in self._drafts and self._read(
            lambda rows: release_digest in standing(rows.releases(dataset))
        ):
            raise refuse("ledger.release-not-withdrawable")
        wanted = ReleaseWithdrawn(
            dataset=given_text(dataset, "dataset"),
            release_digest=given_text(release_digest, "release_digest"),
            reason=given_text(reason, "reason"),
        )
        self._write(lambda journal: admin.withdraw_release(journal, wanted))
        self._drafts.discard((wanted.dataset, wanted.release_digest))

    def released_before(self, marks: Sequence[str]) -> int | None:
        """The entry under which rows with these marks were released last, under any name."""
        words = " ".join(marks)
        return self._read(lambda rows: overlapped(words, standing(rows.releases(EVERYONE))))

    def datasets(self) -> list[str]:
        """The names of all data sets, sorted."""
        return self._read(lambda rows: rows.datasets())

    def known_as(self, dataset: str) -> str:
        """The name as the ledger has it: upper and lower case do not make another data set."""
        return next((n for n in self.datasets() if n.lower() == dataset.lower()), dataset)

    def balance(self, dataset: str | None = None) -> Balance:
        """What a data set has spent and may still spend; a lone data set need not be named."""
        name = None if dataset is None else given_text(dataset, "dataset")

        def look(rows: Rows) -> Balance:
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
        """Writes every entry as one line of JSON with its hash; returns how many.

        A line without its `hash` member is, in canonical form, the text that was hashed after the
        hash of the line before.
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

        An anchor never goes backwards: a ledger that is behind the anchor, or beside it, is a
        `LedgerFault` and leaves the file as it is. One process at a time should write it.
        """
        kept = Anchor.read_if_there(path)
        if kept is not None:
            self._hold_to(kept)
        count, head = self._read(lambda rows: rows.head())
        anchor = Anchor.now(count, head)
        anchor.write(path)
        return anchor

    def verify(self, anchor: str | os.PathLike[str] | Anchor | None = None) -> Verification:
        """Recounts everything from the entries and says whether the ledger is whole.

        Checks the hash chain, every stored answer against its digest, every running total against
        a recount from the facts, and that no reservation exceeded the cap of its time; with an
        anchor, also that nothing was cut off. Without one, a cut tail is not seen.
        """
        kept = anchor if isinstance(anchor, Anchor | None) else Anchor.read(anchor)
        return self._inspect(kept)

    def seal(self, schema_digest: str) -> str:
        """What a certificate says of its schema: the same for the same schema, and nothing else.

        The digest itself would tell a secret: whoever knows all of a schema but one bound finds the
        bound by trying. Only this ledger has the key, so only its holder can compare.
        """
        return sealed(self._secret(), given_text(schema_digest, "schema_digest"))

    def verify_certificate(
        self, certificate: Certificate | str | os.PathLike[str]
    ) -> CertificateVerification:
        """Whether a certificate speaks of a data set of this ledger, by a schema that it had.

        Parameters
            certificate: the certificate, or the path of the file that holds it.

        It says by which schema the certificate was made. Its other sentences are not sealed:
        compare them with those of the answer or the release.
        """
        found = given_certificate(certificate)
        stated = (e for e in self._entries() if isinstance(e.fact, DatasetOpened | SchemaChanged))
        return compared(found.schema_hash, stated, self._secret())

    @abc.abstractmethod
    def _secret(self) -> bytes:
        """The key of this ledger's certificates: 256 bits that nothing else is made of."""

    def _view(self) -> tuple[list[Balance], str]:
        """What a prompt or a notebook shows. It names no question and no analyst, because whoever
        asks holds the ledger too, in `session.ledger`.
        """
        try:
            found = [self.balance(name).seen_by("") for name in self.datasets()]
            entries, _ = self._read(lambda rows: rows.head())
        except (Refused, LedgerFault):
            return [], "A ledger that is closed or cannot be read."
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
        """Runs `work` in a transaction of its own or shared; returns once it is durable."""

    @abc.abstractmethod
    def _read(self, look: Callable[[Rows], T]) -> T:
        """Runs `look` on one consistent state."""

    @abc.abstractmethod
    def _entries(self) -> Iterator[Entry]:
        """Every entry, in order."""

    @abc.abstractmethod
    def _inspect(self, anchor: Anchor | None) -> Verification:
        """Recounts everything."""

    @abc.abstractmethod
    def _hold_to(self, anchor: Anchor) -> None:
        """A fault unless the ledger goes on from `anchor`."""


def _flight(reservation: Reservation) -> Flight:
    return Flight(reservation.owner, reservation.sequence)


def closed() -> Refused:
    """The refusal of a ledger that was closed."""
    return refuse("ledger.ledger-closed")


def _unknown(name: str | None, known: list[str]) -> Refused:
    said = "The data set is not named" if name is None else f"There is no data set `{name}`"
    advice = "Choose one of " + ", ".join(known[:20]) if known else "Call open_dataset first"
    return refuse("ledger.unknown-dataset", said=said, many=len(known), advice=advice)
