"""Who may pay what: prices are reserved here, or refused.

A function here either writes facts in the journal or refuses. It refuses before it writes, so a
refusal never spoils the others that share the transaction. (The one exception writes what is true
anyway: that a reservation's owner is dead.)
"""

from __future__ import annotations

from fractions import Fraction

from ...errors import OverBudget, Refused, refuse
from ..amount import decimal, in_delta, in_epsilon
from ..composition import charge_in, delta_in
from ..fact import Asked, Reserved
from ..record import Reservation
from ..row import ANSWERED, EVERYONE, OPEN, Dataset, ticket_name
from .journal import Journal
from .purchase import Purchase
from .settlement import bury

_LARGEST_SUM = 2**62  # sums stay within the 64 bits of a stored integer


def reserve(journal: Journal, wanted: Purchase) -> Reservation:
    """Debits a price, or hands out the answer that the key already has."""
    dataset = known_dataset(journal, wanted.dataset)
    known = replay(journal, wanted)
    if known is not None:
        return known
    if wanted.column == "dp":
        cost = _afford(journal, dataset, wanted)
    else:
        cost = _asked_before(journal, dataset, wanted)
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
            cache_key=wanted.cache_key,
            owner=owner,
        )
    )
    if wanted.asked is not None:
        journal.write(Asked(dataset=wanted.dataset, reservation=sequence, text=wanted.asked))
    return Reservation(wanted.dataset, wanted.analyst, wanted.key, sequence, owner, cost)


def replay(journal: Journal, wanted: Purchase) -> Reservation | None:
    """The reservation whose answer this key already has; None if the key is free."""
    name = ticket_name(wanted.dataset, wanted.analyst, wanted.key)
    ticket = None if name is None else journal.totals.ticket_named(name)
    if ticket is None:
        return None
    before = journal.totals.reserved(ticket.sequence)
    charge = wanted.charge
    if (
        before.question_digest != wanted.question_digest
        or before.column != wanted.column
        or (before.nano, before.atto) != (charge.nano, charge.atto)
        or (before.neighbours, before.person) != (charge.neighbours, charge.person)
    ):
        raise refuse("ledger.key-conflict", key=wanted.key)
    if ticket.outcome == ANSWERED and ticket.settled is not None:
        return Reservation(
            wanted.dataset,
            wanted.analyst,
            wanted.key,
            ticket.sequence,
            ticket.owner,
            0,
            journal.totals.answer(ticket.settled),
        )
    if ticket.outcome == OPEN:
        if journal.alive(ticket.owner):
            raise refuse("ledger.in-flight", key=wanted.key)
        bury(journal, ticket.owner)
    raise refuse(
        "ledger.spent-unanswered", key=wanted.key, decimal=decimal(in_epsilon(before.nano))
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
    spent = journal.totals.account(wanted.dataset, EVERYONE).individual
    nano, room = wanted.charge.nano, dataset.individual
    if room is not None and nano > (room := max(0, room - spent)):
        raise _over_limit("individual", wanted.dataset, in_epsilon(nano), in_epsilon(room))
    if spent + wanted.charge.nano > _LARGEST_SUM:
        largest = decimal(in_epsilon(_LARGEST_SUM))
        raise refuse("ledger.individual-budget-full", dataset=wanted.dataset, decimal=largest)
    return wanted.charge.nano


def _afford(journal: Journal, dataset: Dataset, wanted: Purchase) -> int:
    """The price in this ledger's adjacency, if both data set and analyst can pay it."""
    charge = wanted.charge
    nano = charge_in(dataset.neighbours, charge.neighbours, charge.nano)
    atto = delta_in(dataset.neighbours, charge.neighbours, charge.nano, charge.atto)
    for analyst, cap in ((EVERYONE, dataset.total), (wanted.analyst, dataset.per_analyst)):
        if cap is None:
            continue
        room, room_delta = _room(journal, wanted, analyst, cap, dataset.total_delta)
        if nano > room:
            raise _over(wanted, analyst, nano, room)
        if analyst == EVERYONE and atto > room_delta:
            raise _over_limit("delta", wanted.dataset, in_delta(atto), in_delta(room_delta))
    return nano


def _room(
    journal: Journal, wanted: Purchase, analyst: str, cap: int, delta_cap: int
) -> tuple[int, int]:
    """The largest price that this account could pay for this kind of question."""
    account = journal.totals.account(wanted.dataset, analyst)
    room, room_delta = cap - account.spent, delta_cap - account.spent_delta
    if wanted.charge.person is not None:
        person = journal.totals.person(wanted.dataset, analyst, wanted.charge.person)
        if room >= 0:
            room += account.most - person.nano
        if room_delta >= 0:
            room_delta += account.most_delta - person.atto
    return max(0, room), max(0, room_delta)


def _over_limit(limit: str, dataset: str, cost: Fraction, left: Fraction) -> Refused:
    said = {"decimal": decimal(cost), "decimal2": decimal(left), "dataset": dataset}
    return refuse(f"ledger.over-{limit}-budget", cost=cost, remaining=left, limit=limit, **said)


def _over(wanted: Purchase, analyst: str, nano: int, room: int) -> Refused:
    stated = wanted.charge.nano
    fits = room * stated // nano
    cost, remaining = decimal(in_epsilon(nano)), decimal(in_epsilon(room))
    twice = "" if nano == stated else ", for a price under add-or-remove counts twice under replace"
    if analyst == EVERYONE:
        whose, limit = f"for `{wanted.dataset}`", "dataset"
        allowed = "A price must fit in what remains of the data set's budget"
    else:
        whose, limit = f"of `{analyst}`'s quota for `{wanted.dataset}`", "analyst"
        allowed = "A price must fit in what remains of the analyst's quota"
    if fits:
        fix = (
            f"Ask with epsilon at most {decimal(in_epsilon(fits))}, or see `tenue ledger show FILE`"
        )
    else:
        more = "the budget" if analyst == EVERYONE else "`per_analyst`"
        fix = f"Repeat an answered question, which is free, or let the holder raise {more}"
    return OverBudget(
        f"This question costs epsilon {cost}{twice}, and {remaining} remains {whose}",
        allowed,
        fix,
        cost=in_epsilon(nano),
        remaining=in_epsilon(room),
        limit=limit,
    )
