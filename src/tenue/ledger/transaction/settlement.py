"""How a reservation ends: answered, returned unread, or unanswered. Once, and never otherwise."""

from __future__ import annotations

import hashlib

from ...errors import Refused, refuse
from ..fact import Answered, Returned, Unanswered
from ..record import Reservation
from ..row import ANSWERED, OPEN, RETURNED, Ticket
from .journal import Journal


def commit(journal: Journal, reservation: Reservation, answer: bytes) -> None:
    """Stores the one answer of a reservation."""
    ticket = _own(journal, reservation)
    digest = hashlib.sha256(answer).hexdigest()
    if ticket.outcome == OPEN:
        at = journal.write(
            Answered(
                dataset=reservation.dataset,
                reservation=ticket.sequence,
                answer_digest=digest,
                size=len(answer),
            )
        )
        journal.totals.answers[at] = answer
        return
    if ticket.outcome == ANSWERED and ticket.settled is not None:
        stored = journal.totals.answer(ticket.settled)
        if hashlib.sha256(stored).hexdigest() == digest:
            return
    raise _settled(ticket)


def release_unread(journal: Journal, reservation: Reservation, reason: str) -> None:
    """Gives a price back, on the caller's word that no row was read."""
    ticket = _own(journal, reservation)
    if ticket.outcome == RETURNED:
        return
    if ticket.outcome != OPEN:
        raise _settled(ticket)
    journal.write(Returned(dataset=reservation.dataset, reservation=ticket.sequence, reason=reason))


def abandon(journal: Journal, reservation: Reservation, reason: str) -> None:
    """Ends a reservation without an answer; the price stays spent."""
    ticket = _own(journal, reservation)
    if ticket.outcome == OPEN:
        journal.write(
            Unanswered(dataset=reservation.dataset, reservation=ticket.sequence, reason=reason)
        )
    elif ticket.outcome in (ANSWERED, RETURNED):
        raise _settled(ticket)


def recover(journal: Journal) -> int:
    """Finalises as spent whatever dead processes left open; returns how many."""
    before = len(journal.written)
    for owner in {ticket.owner for ticket in journal.totals.open_tickets()}:
        if not journal.alive(owner):
            bury(journal, owner)
    return len(journal.written) - before


def bury(journal: Journal, owner: str, *, since: int = 0) -> None:
    """Finalises as spent what an owner left open, of the entries after `since`."""
    for ticket in journal.totals.open_tickets():
        if ticket.owner == owner and ticket.sequence > since:
            dataset = journal.totals.reserved(ticket.sequence).dataset
            journal.write(
                Unanswered(
                    dataset=dataset,
                    reservation=ticket.sequence,
                    reason="the process that reserved it ended",
                )
            )


def _own(journal: Journal, reservation: Reservation) -> Ticket:
    ticket = journal.totals.ticket(reservation.sequence)
    if ticket is None or ticket.owner != reservation.owner or ticket.owner != journal.owner():
        raise refuse("ledger.not-yours")
    return ticket


def _settled(ticket: Ticket) -> Refused:
    said = {ANSWERED: "answered", RETURNED: "returned"}.get(ticket.outcome, "ended unanswered")
    return refuse("ledger.already-settled", sequence=ticket.sequence, said=said)
