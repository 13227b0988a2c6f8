"""A journal chains what a transaction writes, and nothing is kept before the shelf takes it."""

from __future__ import annotations

import json

import pytest

from tenue.errors import LedgerFault
from tenue.ledger import chain
from tenue.ledger.fact import DataChanged, DatasetOpened, Fact
from tenue.ledger.memory import Memory
from tenue.ledger.transaction.journal import Journal

OPENED = DatasetOpened(
    dataset="d",
    neighbours="replace",
    total_nano=10,
    total_atto=0,
    per_analyst_nano=None,
    schema_digest="",
    data_version="",
)


def journal_of(ledger: Memory) -> Journal:
    rows = ledger._rows
    return Journal(rows, rows.head(), lambda: "me", lambda owner: owner == "me")


def test_entries_are_numbered_and_chained_one_after_another() -> None:
    journal = journal_of(Memory())
    facts: list[Fact] = [OPENED, DataChanged(dataset="d", data_version="2")]
    assert [journal.write(fact) for fact in facts] == [1, 2]
    link = chain.GENESIS
    for (sequence, text, stored), fact in zip(journal.written, facts, strict=True):
        link = chain.link(link, text)
        assert stored == link
        assert chain.read(sequence, text)[1] == fact
    assert journal.head == (2, link)


def test_a_journal_goes_on_from_the_last_entry() -> None:
    ledger = Memory()
    first = journal_of(ledger)
    first.write(OPENED)
    ledger._rows.take(first)
    second = journal_of(ledger)
    assert second.write(DataChanged(dataset="d", data_version="2")) == 2
    assert second.written[0][2] == chain.link(first.head[1], second.written[0][1])


def test_totals_move_at_once_and_the_shelf_not_at_all() -> None:
    ledger = Memory()
    journal = journal_of(ledger)
    journal.write(OPENED)
    found = journal.totals.dataset("d")
    assert found is not None
    assert found.total == 10
    assert ledger.datasets() == []
    assert ledger._rows.entries == []


def test_a_fact_that_cannot_be_posted_is_not_written() -> None:
    journal = journal_of(Memory())
    before = journal.head
    with pytest.raises(LedgerFault):
        journal.write(DataChanged(dataset="never opened", data_version="2"))
    assert journal.written == []
    assert journal.head == before


def test_all_entries_of_a_transaction_have_one_time() -> None:
    journal = journal_of(Memory())
    journal.write(OPENED)
    journal.write(DataChanged(dataset="d", data_version="2"))
    times = {json.loads(text)["time"] for _, text, _ in journal.written}
    assert len(times) == 1
    assert times.pop().endswith("+00:00")
