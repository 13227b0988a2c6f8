"""What ledgers in a database share, on the one database that needs no server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenue.errors import LedgerFault
from tenue.ledger import SQLite
from tenue.ledger.sql.ledger import Tabled


def test_entries_come_page_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenue.ledger.sql.ledger._PAGE", 2)
    with SQLite(tmp_path / "a.ledger") as ledger:
        for total in range(1, 6):
            ledger.open_dataset("census", total=total, neighbours="replace")
        assert [entry.sequence for entry in ledger.entries()] == [1, 2, 3, 4, 5]


def test_a_tail_that_vanishes_while_it_is_read_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenue.ledger.sql.ledger._PAGE", 1)
    with SQLite(tmp_path / "a.ledger") as ledger:
        for total in (1, 2):
            ledger.open_dataset("census", total=total, neighbours="replace")
        entries = ledger.entries()
        next(entries)
        with ledger._database._connections.take("write") as connection:
            connection.execute("DELETE FROM entry WHERE sequence = 2")
        with pytest.raises(LedgerFault, match="gone"):
            list(entries)


def test_an_anchor_that_is_named_must_be_there(tmp_path: Path) -> None:
    path, anchor = tmp_path / "a.ledger", tmp_path / "elsewhere"
    SQLite(path, anchor=anchor).close()  # new: there is nothing that it could have lost
    with SQLite(path) as ledger:
        ledger.open_dataset("census", total=1, neighbours="replace")
        assert isinstance(ledger, Tabled)
    with pytest.raises(LedgerFault, match="is missing"):
        SQLite(path, anchor=anchor)
