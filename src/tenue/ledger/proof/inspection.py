"""Everything in a ledger recounted from its entries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import fields

from ...errors import LedgerFault, Refused
from .. import chain
from ..dictionaries import Dictionaries
from ..fact import Answered, Fact, Reserved, Returned, Unanswered
from ..record import Verification
from ..row import ANSWERED, EVERYONE, OPEN, RETURNED, UNANSWERED, Books, Line, Stored
from ..totals import Totals
from .anchor import Anchor

_OUTCOME: dict[type[Fact], int] = {Answered: ANSWERED, Returned: RETURNED, Unanswered: UNANSWERED}


class _Recount(Totals):
    """Totals built from the first entry on, against which the stored rows are held.

    A settled reservation is forgotten at once, so that memory follows what is open.
    """

    def __init__(self) -> None:
        super().__init__(Dictionaries())
        self.reservations = 0
        self.replies = 0
        self._claims: dict[int, tuple[int, int]] = {}

    def take(self, fact: Fact, line: Line) -> None:
        """Posts one entry; a fault if a row beside it says otherwise."""
        sequence, ticket, answer = line[0], line[3:9], line[9]
        self.post(sequence, fact)
        if isinstance(fact, Reserved):
            self.reservations += 1
            self._take_ticket(sequence, ticket)
            self._within_cap(fact)
        elif isinstance(fact, Answered | Returned | Unanswered):
            claim = (fact.reservation, _OUTCOME[type(fact)])
            if self._claims.pop(sequence, None) != claim:
                raise LedgerFault(f"the ticket of reservation {fact.reservation} says otherwise")
            self._forget(fact.reservation)
            if isinstance(fact, Answered):
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

    def _within_cap(self, fact: Reserved) -> None:
        if fact.column != "dp":
            return
        dataset = self._known(fact.dataset)
        account = self.account(fact.dataset, EVERYONE)
        if not account.spent <= dataset.budget:
            raise LedgerFault("the reservation exceeds the cap of its time")

    def _forget(self, reservation: int) -> None:
        ticket = self.tickets.pop(reservation)
        self._reserved.pop(reservation)
        if ticket.name is not None:
            self._names.pop(ticket.name, None)
        if ticket.cache is not None:
            self._caches.pop(ticket.cache, None)

    def differs_from(self, stored: Stored) -> str:
        """What in the stored totals is not what the entries amount to; empty if nothing is."""
        if self._claims:
            return "a ticket was settled by an entry that is not there"
        if stored.tickets != self.reservations or stored.answers != self.replies:
            return "tickets or answers are there that no entry speaks of"
        for each in fields(Books):
            if getattr(stored.books, each.name) != getattr(self, each.name):
                return f"the running totals of {each.name} are not what the entries amount to"
        return ""


def inspect(lines: Iterable[Line], totals: Stored, anchor: Anchor | None) -> Verification:
    """Walks all entries and compares everything stored with what they amount to."""
    recount = _Recount()
    count, link = 0, chain.GENESIS
    anchored = link if anchor is not None and anchor.entries == 0 else None
    for line in lines:
        sequence, text = line[0], line[1]
        try:
            if sequence != count + 1:
                raise LedgerFault(f"entry {count + 1} is missing")
            if type(text) is not str or chain.link(link, text) != line[2]:
                raise LedgerFault("the hash does not follow from the entry and the one before")
            recount.take(chain.read(sequence, text)[1], line)
        except (LedgerFault, Refused) as fault:
            return Verification(False, count, link.hex(), count + 1, str(fault))
        except (TypeError, ValueError, AttributeError, OverflowError):
            # a forged entry whose hash fits but whose values are of the wrong kind
            return Verification(False, count, link.hex(), count + 1, "the entry makes no sense")
        count, link = sequence, line[2]
        if anchor is not None and anchor.entries == count:
            anchored = link
    reason = recount.differs_from(totals)
    if not reason and anchor is not None:
        reason = anchor.missed_by(count, anchored)
    return Verification(not reason, count, link.hex(), None, reason)
