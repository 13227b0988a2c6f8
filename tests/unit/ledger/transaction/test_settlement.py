from __future__ import annotations

import pytest

from tenue.errors import Conflict
from tenue.ledger import Charge, Memory
from tenue.ledger.transaction.journal import Journal
from tenue.ledger.transaction.settlement import abandon, recover

CHARGE = Charge.of(epsilon=1, neighbours="replace")


def test_recovery_settles_the_dead_and_spares_the_living() -> None:
    ledger = Memory()
    ledger.open_dataset("d", 10, neighbours="replace")
    rows = ledger._rows
    for owner in ("dead", "alive", "dead"):
        journal = Journal(rows, rows.head(), lambda owner=owner: owner, lambda name: True)  # type: ignore[misc]
        from tenue.ledger.transaction.payment import reserve
        from tenue.ledger.transaction.purchase import Purchase

        reserve(journal, Purchase("d", "ann", CHARGE, None, "q", None, "dp", None, None))
        rows.take(journal)
    journal = Journal(rows, rows.head(), lambda: "me", lambda name: name == "alive")
    assert recover(journal) == 2
    rows.take(journal)
    assert [ticket.owner for ticket in rows.open_tickets()] == ["alive"]
    assert ledger.balance().spent == 3  # nothing came back
    journal = Journal(rows, rows.head(), lambda: "me", lambda name: name == "alive")
    assert recover(journal) == 0
    assert ledger.verify()


def test_nobody_settles_for_another() -> None:
    ledger = Memory()
    ledger.open_dataset("d", 10, neighbours="replace")
    paid = ledger.reserve("d", "ann", CHARGE, None, "q")
    journal = Journal(ledger._rows, ledger._rows.head(), lambda: "other", lambda name: True)
    with pytest.raises(Conflict) as refusal:
        abandon(journal, paid, "")
    assert refusal.value.code == "not-yours"
    assert journal.written == []
