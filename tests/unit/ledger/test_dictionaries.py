"""A shelf of dictionaries holds what a transaction wrote, and nothing before."""

from __future__ import annotations

import pytest

from tenue.errors import LedgerFault
from tenue.ledger import chain
from tenue.ledger.dictionaries import Dictionaries
from tenue.ledger.fact import Answered, DatasetOpened, Reserved
from tenue.ledger.row import EVERYONE, Person, ticket_name
from tenue.ledger.transaction.journal import Journal

OPENED = DatasetOpened(
    dataset="census",
    neighbours="replace",
    total_nano=10,
    total_atto=0,
    per_analyst_nano=None,
    schema_digest="",
    data_version="",
)
RESERVED = Reserved(
    dataset="census",
    analyst="ann",
    column="dp",
    nano=3,
    atto=0,
    neighbours="replace",
    person="p1",
    question_digest="q",
    question_name=None,
    key="k",
    cache_key=None,
    owner="me",
)


def test_a_new_shelf_is_empty() -> None:
    rows = Dictionaries()
    assert rows.head() == (0, chain.GENESIS)
    assert rows.datasets() == []
    assert rows.dataset("census") is rows.account("census", EVERYONE) is rows.ticket(1) is None
    assert rows.most("census", EVERYONE, []) == Person(0, 0)
    assert (rows.times("census", "q"), rows.protocol("census")) == (0, "")
    with pytest.raises(LedgerFault, match="there is no reservation 1"):
        rows.reserved(1)


def test_what_a_transaction_wrote_is_there_once_taken() -> None:
    rows = Dictionaries()
    journal = Journal(rows, rows.head(), lambda: "me", "me".__eq__)
    for fact in (OPENED, RESERVED):
        journal.write(fact)
    assert rows.datasets() == []
    rows.take(journal)
    name = ticket_name("census", "ann", "k")
    assert name is not None
    assert rows.datasets() == ["census"]
    assert rows.reserved(2) == RESERVED
    assert rows.ticket_named(name) == rows.ticket(2) == rows.open_tickets()[0]
    assert rows.accounts("census").keys() == {EVERYONE, "ann"}
    assert rows.persons("census", "ann") == {"p1": Person(3, 0)}
    assert rows.most("census", "ann", ["p1"]) == Person(0, 0)
    with pytest.raises(LedgerFault, match="there is no reservation 1"):
        rows.reserved(1)


def test_a_settled_ticket_is_open_no_longer() -> None:
    rows = Dictionaries()
    journal = Journal(rows, rows.head(), lambda: "me", "me".__eq__)
    for fact in (OPENED, RESERVED):
        journal.write(fact)
    rows.take(journal)
    later = Journal(rows, rows.head(), lambda: "me", "me".__eq__)
    later.write(Answered(dataset="census", reservation=2, answer_digest="d", size=1))
    rows.take(later)
    assert rows.open_tickets() == []
    assert rows.totals().books.datasets.keys() == {"census"}
    assert rows.totals()[1:] == (1, 0)
