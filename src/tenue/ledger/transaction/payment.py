"""Who may pay what: prices are reserved here, or refused.

A function here either writes facts at the desk or refuses. It refuses before it writes, so a
refusal never spoils the others that share the transaction. (The one exception writes what is true
anyway: that a reservation's owner is dead.)
"""

from __future__ import annotations

from ...errors import Conflict, InvalidArgument, OverBudget, Refused
from ..amount import decimal, in_delta, in_epsilon
from ..composition import charge_in, delta_in
from ..fact import Asked, Reserved
from ..record import Reservation
from ..row import ANSWERED, EVERYONE, OPEN, Dataset, ticket_name
from .journal import Desk
from .purchase import Purchase
from .settlement import bury

__all__ = ["known_dataset", "replay", "reserve"]

_LARGEST_SUM = 2**62  # sums stay within the 64 bits of a stored integer


def reserve(desk: Desk, wanted: Purchase) -> Reservation:
    """Debits a price, or hands out the answer that the key already has."""
    dataset = known_dataset(desk, wanted.dataset)
    known = replay(desk, wanted)
    if known is not None:
        return known
    if wanted.column == "dp":
        cost = _afford(desk, dataset, wanted)
    else:
        cost = _asked_before(desk, dataset, wanted)
    charge, owner = wanted.charge, desk.owner()
    sequence = desk.write(
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
        desk.write(Asked(dataset=wanted.dataset, reservation=sequence, text=wanted.asked))
    return Reservation(wanted.dataset, wanted.analyst, wanted.key, sequence, owner, cost)


def replay(desk: Desk, wanted: Purchase) -> Reservation | None:
    """The reservation whose answer this key already has; None if the key is free."""
    name = ticket_name(wanted.dataset, wanted.analyst, wanted.key)
    ticket = None if name is None else desk.books.ticket_named(name)
    if ticket is None:
        return None
    before = desk.books.reserved(ticket.sequence)
    charge = wanted.charge
    if (
        before.question_digest != wanted.question_digest
        or before.column != wanted.column
        or (before.nano, before.atto) != (charge.nano, charge.atto)
        or (before.neighbours, before.person) != (charge.neighbours, charge.person)
    ):
        raise Conflict(
            f"The key `{wanted.key}` already stands for another question",
            "A key stands for one question at one price, for ever",
            "Use a new key for a new question",
            code="key-conflict",
        )
    if ticket.outcome == ANSWERED and ticket.settled is not None:
        return Reservation(
            wanted.dataset,
            wanted.analyst,
            wanted.key,
            ticket.sequence,
            ticket.owner,
            0,
            desk.books.answer(ticket.settled),
        )
    if ticket.outcome == OPEN:
        if desk.alive(ticket.owner):
            raise Conflict(
                f"The question with key `{wanted.key}` is still being answered",
                "A key is answered once",
                "Ask again with the same key a little later",
                code="in-flight",
            )
        bury(desk, ticket.owner)
    raise Conflict(
        f"The question with key `{wanted.key}`, asked with epsilon "
        f"{decimal(in_epsilon(before.nano))}, was paid for and never answered: its price is spent",
        "A key is answered at most once, and noise is never drawn twice for it",
        "Ask again with a new key, which is paid for anew",
        code="spent-unanswered",
    )


def known_dataset(desk: Desk, name: str) -> Dataset:
    dataset = desk.books.dataset(name)
    if dataset is None:
        raise InvalidArgument(
            f"The ledger has no data set `{name}`",
            "A data set must have a budget before anything is spent from it",
            "Call open_dataset first",
            code="unknown-dataset",
        )
    return dataset


def _asked_before(desk: Desk, dataset: Dataset, wanted: Purchase) -> int:
    if wanted.question_name is not None and wanted.times is not None:
        asked = desk.books.times(wanted.dataset, wanted.question_name)
        if asked >= wanted.times:
            raise OverBudget(
                f"`{wanted.question_name}` has been asked {asked} times",
                f"It may be asked {wanted.times} times in all",
                "Use an answer already given, which costs nothing to repeat",
                code="asked-too-often",
                times=wanted.times,
                asked=asked,
            )
    spent = desk.books.account(wanted.dataset, EVERYONE).individual
    nano, room = wanted.charge.nano, dataset.individual
    if room is not None and nano > (room := max(0, room - spent)):
        raise OverBudget(
            f"This question costs individual epsilon {decimal(in_epsilon(nano))}, and "
            f"{decimal(in_epsilon(room))} remains for `{wanted.dataset}`",
            "A price must fit in what remains of the individual column, all analysts together",
            "Ask without individual=True, or let the holder raise `individual` in [budget]",
            cost=in_epsilon(nano),
            remaining=in_epsilon(room),
            limit="individual",
        )
    if spent + wanted.charge.nano > _LARGEST_SUM:
        raise OverBudget(
            f"The individual column of `{wanted.dataset}` is full",
            f"It holds an epsilon of at most {decimal(in_epsilon(_LARGEST_SUM))}",
            "Use an answer already given, which costs nothing to repeat",
        )
    return wanted.charge.nano


def _afford(desk: Desk, dataset: Dataset, wanted: Purchase) -> int:
    """The price in this ledger's adjacency, if both data set and analyst can pay it."""
    charge = wanted.charge
    nano = charge_in(dataset.neighbours, charge.neighbours, charge.nano)
    atto = delta_in(dataset.neighbours, charge.neighbours, charge.nano, charge.atto)
    for analyst, cap in ((EVERYONE, dataset.total), (wanted.analyst, dataset.per_analyst)):
        if cap is None:
            continue
        room, room_delta = _room(desk, wanted, analyst, cap, dataset.total_delta)
        if nano > room:
            raise _over(wanted, analyst, nano, room)
        if analyst == EVERYONE and atto > room_delta:
            raise OverBudget(
                f"This question costs delta {decimal(in_delta(atto))} and "
                f"{decimal(in_delta(room_delta))} remains for `{wanted.dataset}`",
                "A price must fit in what remains of the data set's budget",
                "Ask for a pure promise (delta 0), or let the holder set a budget of delta",
                cost=in_delta(atto),
                remaining=in_delta(room_delta),
                limit="delta",
            )
    return nano


def _room(desk: Desk, wanted: Purchase, analyst: str, cap: int, delta_cap: int) -> tuple[int, int]:
    """The largest price that this account could pay for this kind of question."""
    account = desk.books.account(wanted.dataset, analyst)
    room, room_delta = cap - account.spent, delta_cap - account.spent_delta
    if wanted.charge.person is not None:
        person = desk.books.person(wanted.dataset, analyst, wanted.charge.person)
        if room >= 0:
            room += account.most - person.nano
        if room_delta >= 0:
            room_delta += account.most_delta - person.atto
    return max(0, room), max(0, room_delta)


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
        fix = f"Ask with epsilon at most {decimal(in_epsilon(fits))}, or see `tenue ledger show`"
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
