"""What files and servers share, on tables that lie nowhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from tenue.errors import LedgerFault, Refused, refuse
from tenue.ledger import SQLite
from tenue.ledger.proof.anchor import Anchor
from tenue.ledger.record import Verification
from tenue.ledger.sql.database import Database, carry_out, check_head, new_secret
from tenue.ledger.sql.tables import Tables
from tenue.ledger.transaction.journal import Journal
from tenue.ledger.transaction.writer import Request


class Written:
    head = (3, b"link")
    written = 2


class Nowhere(Database):
    """Counts what it is told to take and how often it lets go."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[Any] = []
        self.let_go = 0

    def read(self, look: Callable[[Tables], Any]) -> Any:
        self._usable()
        return look(cast(Tables, self))

    def inspect(self, anchor: Anchor | None) -> Verification:
        raise LedgerFault("nothing to inspect")

    def take(self, journal: Any) -> None:
        self.taken.append(journal)

    def _carry_out(self, batch: list[Request[Any]]) -> None:
        assert carry_out(batch, cast(Journal, Written()), cast(Tables, self)) == (3, b"link")

    def _let_go(self) -> None:
        self.let_go += 1


def refuses(_: Journal) -> None:
    raise refuse("ledger.ledger-closed")


def test_a_refusal_is_its_requests_own_and_the_batch_is_written() -> None:
    database = Nowhere()
    with pytest.raises(Refused):
        database.write(refuses)
    assert database.write(lambda journal: 7) == 7
    assert len(database.taken) == 2
    database.close()


def test_closed_once_and_of_no_use_afterwards() -> None:
    database = Nowhere()
    database.close()
    database.close()
    assert database.let_go == 1
    with pytest.raises(Refused, match="closed"):
        database.write(lambda journal: 7)
    faulty = Nowhere()
    faulty._fault = "the disk is gone"
    with pytest.raises(LedgerFault, match="the disk is gone"):
        faulty.write(lambda journal: 7)
    faulty.close()


def test_a_last_entry_that_does_not_follow_is_a_fault(tmp_path: Path) -> None:
    with SQLite(tmp_path / "a.ledger") as ledger:
        for total in (1, 2):
            ledger.open_dataset("census", total=total, neighbours="replace")
        ledger._database.read(check_head)
        with ledger._database._connections.take("write") as connection:
            connection.execute("UPDATE entry SET text = text || ' ' WHERE sequence = 2")
        with pytest.raises(LedgerFault, match="does not follow"):
            ledger._database.read(check_head)


@pytest.mark.any_draw("two secrets of 256 bits differ")
def test_secrets_differ() -> None:
    assert len(new_secret()) == 32
    assert new_secret() != new_secret()
