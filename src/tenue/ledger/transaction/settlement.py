"""How a reservation ends: answered, returned unread, or unanswered. Once, and never otherwise."""

from __future__ import annotations

import hashlib

from ...errors import Refused, refuse
from ..fact import Answered, Returned, Unanswered
from ..record import Reservation
from ..row import ANSWERED, OPEN, RETURNED, Ticket
from .journal import Desk


def commit(desk: Desk, reservation: Reservation, answer: bytes) -> None:
    """Stores the one answer of a reservation."""
    ticket = _own(desk, reservation)
    digest = hashlib.sha256(answer).hexdigest()
    if ticket.outcome == OPEN:
        at = desk.write(
            Answered(
                dataset=reservation.dataset,
                reservation=ticket.sequence,
                answer_digest=digest,
                size=len(answer),
            )
        )
        desk.books.answers[at] = answer
        return
    if ticket.outcome == ANSWERED and ticket.settled is not None:
        stored = desk.books.answer(ticket.settled)
        if hashlib.sha256(stored).hexdigest() == digest:
            return
    raise _settled(ticket)


def release_unread(desk: Desk, reservation: Reservation, reason: str) -> None:
    """Gives a price back, on the caller's word that no row was read."""
    ticket = _own(desk, reservation)
    if ticket.outcome == RETURNED:
        return
    if ticket.outcome != OPEN:
        raise _settled(ticket)
    desk.write(Returned(dataset=reservation.dataset, reservation=ticket.sequence, reason=reason))


def abandon(desk: Desk, reservation: Reservation, reason: str) -> None:
    """Ends a reservation without an answer; the price stays spent."""
    ticket = _own(desk, reservation)
    if ticket.outcome == OPEN:
        desk.write(
            Unanswered(dataset=reservation.dataset, reservation=ticket.sequence, reason=reason)
        )
    elif ticket.outcome in (ANSWERED, RETURNED):
        raise _settled(ticket)


def recover(desk: Desk) -> int:
    """Finalises as spent whatever dead processes left open; returns how many."""
    before = len(desk.written)
    for owner in {ticket.owner for ticket in desk.books.open_tickets()}:
        if not desk.alive(owner):
            bury(desk, owner)
    return len(desk.written) - before


def bury(desk: Desk, owner: str) -> None:
    for ticket in desk.books.open_tickets():
        if ticket.owner == owner:
            dataset = desk.books.reserved(ticket.sequence).dataset
            desk.write(
                Unanswered(
                    dataset=dataset,
                    reservation=ticket.sequence,
                    reason="the process that reserved it ended",
                )
            )


def _own(desk: Desk, reservation: Reservation) -> Ticket:
    ticket = desk.books.ticket(reservation.sequence)
    if ticket is None or ticket.owner != reservation.owner or ticket.owner != desk.owner():
        raise refuse("ledger.reservation-was-not-made-by-this-ledger")
    return ticket


def _settled(ticket: Ticket) -> Refused:
    said = {ANSWERED: "answered", RETURNED: "returned"}.get(ticket.outcome, "ended unanswered")
    return refuse("ledger.reservation-is-already", sequence=ticket.sequence, said=said)
