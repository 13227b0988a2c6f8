"""Reserves prices, and ends every reservation exactly once.

A function here either writes facts in the journal or refuses. It refuses before it writes, so a
refusal never affects other requests of the transaction. (The one exception writes what is true in
any case: that a reservation's owner is dead.)
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction

from ...arguments import flag, whole
from ...errors import OverBudget, Refused, refuse
from ...privacy.loss import NOTHING, EpsilonDelta
from ...text import exactly
from ..canonical_text import given_text, readable
from ..composition import Charge, Column
from ..facts import Answered, Asked, Reserved, Returned, Unanswered
from ..results import Reservation
from ..totals import ANSWERED, EVERYONE, OPEN, RETURNED, Dataset, Ticket, scoped
from .flight import Flight
from .journal import Journal


@dataclass(frozen=True)
class Purchase:
    """The arguments of a call of `reserve`, validated."""

    dataset: str
    analyst: str
    charge: Charge
    key: str | None
    question_digest: str
    cache_key: str | None
    column: Column
    question_name: str | None
    times: int | None
    asked: str | None = None
    fresh: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.charge, Charge):
            raise refuse("ledger.charge-wrong-type", type=type(self.charge).__name__)
        if self.column not in ("dp", "individual"):
            raise refuse("ledger.unknown-charge-column", column=str(self.column)[:60])
        charge = self.charge
        if self.column == "individual" and (charge.loss.delta or charge.person is not None):
            raise refuse("ledger.individual-charge-extras")
        if self.times is not None and (self.question_name is None or self.column != "individual"):
            raise refuse("ledger.times-without-question")
        for name in ("dataset", "analyst", "key", "question_digest", "cache_key", "question_name"):
            value = getattr(self, name)
            if value is not None or name in ("dataset", "analyst", "question_digest"):
                object.__setattr__(self, name, given_text(value, name))
        flag(self.fresh, "fresh")
        if self.times is not None:
            object.__setattr__(self, "times", whole(self.times, "times"))
        if self.asked is not None:
            object.__setattr__(self, "asked", readable(self.asked))


# -- The end of a reservation: answered, refunded unread, or unanswered ----------------------------


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
    """Refunds a price, because the caller states that no row was read."""
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
    """Finalises as spent every reservation that dead processes left open; returns their number."""
    before = len(journal.written)
    for owner in {ticket.owner for ticket in journal.totals.open_tickets()}:
        if not journal.alive(owner):
            bury(journal, owner)
    return len(journal.written) - before


def bury(journal: Journal, owner: str, *, since: int = 0) -> None:
    """Finalises as spent what an owner left open in entries after `since`."""
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


# -- Reserving a price, or refusing it -------------------------------------------------------------

_LARGEST_SUM = EpsilonDelta(2**62)  # sums stay within the 64 bits of a stored integer


def reserve(journal: Journal, wanted: Purchase) -> Reservation | Flight:
    """Debits a price; or returns the stored answer of the key or the question; or the reservation
    whose answer is being computed."""
    dataset = known_dataset(journal, wanted.dataset)
    known = replay(journal, wanted)
    if known is not None:
        return known
    ticket = _asked_already(journal, wanted)
    if ticket is not None and not wanted.fresh:
        if ticket.settled is None:
            return Flight(ticket.owner, ticket.sequence)
        return _answered(journal, wanted, ticket, ticket.settled)
    pay = _afford if wanted.column == "dp" else _asked_before
    cost = pay(journal, dataset, wanted)
    charge, owner = wanted.charge, journal.owner()
    sequence = journal.write(
        Reserved(
            dataset=wanted.dataset,
            analyst=wanted.analyst,
            column=wanted.column,
            nano=charge.nano,
            atto=charge.atto,
            neighbours=charge.neighbours,
            person=charge.person,
            question_digest=wanted.question_digest,
            question_name=wanted.question_name,
            key=wanted.key,
            # the first answer stays the one that is repeated
            cache_key=wanted.cache_key if ticket is None else None,
            owner=owner,
        )
    )
    if wanted.asked is not None:
        journal.write(Asked(dataset=wanted.dataset, reservation=sequence, text=wanted.asked))
    return Reservation(wanted.dataset, wanted.analyst, wanted.key, sequence, owner, cost)


def replay(journal: Journal, wanted: Purchase) -> Reservation | None:
    """The reservation whose answer this key already has; None if the key is free."""
    name = scoped(wanted.key, wanted.dataset, wanted.analyst)
    ticket = None if name is None else journal.totals.ticket_named(name)
    if ticket is None:
        return None
    before = journal.totals.reserved(ticket.sequence)
    charge = wanted.charge
    if (
        before.question_digest != wanted.question_digest
        or before.column != wanted.column
        or before.loss != charge.loss
        or (before.neighbours, before.person) != (charge.neighbours, charge.person)
    ):
        raise refuse("ledger.key-conflict", key=wanted.key)
    if ticket.outcome == ANSWERED and ticket.settled is not None:
        return _answered(journal, wanted, ticket, ticket.settled)
    if ticket.outcome == OPEN:
        if journal.alive(ticket.owner):
            raise refuse("ledger.in-flight", key=wanted.key)
        bury(journal, ticket.owner)
    raise refuse("ledger.spent-unanswered", key=wanted.key, decimal=exactly(before.loss.epsilon))


def _asked_already(journal: Journal, wanted: Purchase) -> Ticket | None:
    """The ticket that was answered under the same cache key, else one in flight; None if the
    question is new. A ticket of a dead owner under the key is finalised as spent."""
    cache = scoped(wanted.cache_key, wanted.dataset)
    tickets = [] if cache is None else journal.totals.tickets_cached(cache)
    answered = [ticket for ticket in tickets if ticket.outcome == ANSWERED]
    if answered:
        return max(answered, key=lambda ticket: ticket.settled or 0)
    for ticket in tickets:
        if journal.alive(ticket.owner):
            return ticket
    for owner in {ticket.owner for ticket in tickets}:
        bury(journal, owner)
    return None


def _answered(journal: Journal, wanted: Purchase, ticket: Ticket, at: int) -> Reservation:
    """The stored answer of a ticket, at no price."""
    answer = journal.totals.answer(at)
    return Reservation(
        wanted.dataset, wanted.analyst, wanted.key, ticket.sequence, ticket.owner, 0, answer
    )


def known_dataset(journal: Journal, name: str) -> Dataset:
    dataset = journal.totals.dataset(name)
    if dataset is None:
        raise refuse("ledger.dataset-without-budget", name=name)
    return dataset


def _asked_before(journal: Journal, dataset: Dataset, wanted: Purchase) -> int:
    if wanted.question_name is not None and wanted.times is not None:
        asked = journal.totals.times(wanted.dataset, wanted.question_name)
        if asked >= wanted.times:
            name, times = wanted.question_name, wanted.times
            raise refuse("ledger.asked-too-often", times=times, asked=asked, question_name=name)
    spent = journal.totals.account(wanted.dataset, EVERYONE).individual_spent
    price, cap = wanted.charge.loss, dataset.individual_budget
    if cap is not None and not price <= (room := cap.room(spent, NOTHING)):
        raise _over_limit("individual", wanted.dataset, price.epsilon, room.epsilon)
    if not spent + price <= _LARGEST_SUM:
        largest = exactly(_LARGEST_SUM.epsilon)
        raise refuse("ledger.individual-budget-full", dataset=wanted.dataset, decimal=largest)
    return price.units


def _afford(journal: Journal, dataset: Dataset, wanted: Purchase) -> int:
    """The price in this ledger's adjacency, if both data set and analyst can pay it."""
    price = wanted.charge.loss.under(wanted.charge.neighbours, dataset.neighbours)
    for analyst, cap in ((EVERYONE, dataset.budget), (wanted.analyst, dataset.quota)):
        if cap is None:
            continue
        room = _room(journal, wanted, analyst, cap)
        if price <= room:
            continue
        if price.epsilon > room.epsilon:
            raise _over(wanted, dataset, analyst, price, room)
        raise _over_limit("delta", wanted.dataset, price.delta, room.delta)
    return price.units


def _room(journal: Journal, wanted: Purchase, analyst: str, cap: EpsilonDelta) -> EpsilonDelta:
    """The largest price that this account could pay for this kind of question."""
    account, spared = journal.totals.account(wanted.dataset, analyst), NOTHING
    if wanted.charge.person is not None:
        person = journal.totals.person(wanted.dataset, analyst, wanted.charge.person)
        spared = account.persons - person.spent
    return cap.room(account.spent, spared)


def _over_limit(limit: str, dataset: str, cost: Fraction, left: Fraction) -> Refused:
    said = {"decimal": exactly(cost), "decimal2": exactly(left), "dataset": dataset}
    return refuse(f"ledger.over-{limit}-budget", cost=cost, remaining=left, limit=limit, **said)


def _over(
    wanted: Purchase, dataset: Dataset, analyst: str, price: EpsilonDelta, room: EpsilonDelta
) -> Refused:
    charge = wanted.charge
    fits = room.largest(charge.neighbours, dataset.neighbours)
    cost, remaining = exactly(price.epsilon), exactly(room.epsilon)
    same = charge.neighbours == dataset.neighbours
    twice = "" if same else ", for a price under add-or-remove counts twice under replace"
    if analyst == EVERYONE:
        whose, limit = f"for `{wanted.dataset}`", "dataset"
        allowed = "A price must fit in what remains of the data set's budget"
    else:
        whose, limit = f"of `{analyst}`'s quota for `{wanted.dataset}`", "analyst"
        allowed = "A price must fit in what remains of the analyst's quota"
    if fits:
        fix = f"Ask with epsilon at most {exactly(fits.epsilon)}, or see `tenue ledger show FILE`"
    else:
        more = "the budget" if analyst == EVERYONE else "`per_analyst`"
        fix = f"Repeat an answered question, which is free, or let the holder raise {more}"
    return OverBudget(
        f"This question costs epsilon {cost}{twice}, and {remaining} remains {whose}",
        allowed,
        fix,
        cost=price.epsilon,
        remaining=room.epsilon,
        limit=limit,
    )
