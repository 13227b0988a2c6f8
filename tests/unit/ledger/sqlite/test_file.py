"""One ledger file: recognised, read in one state, written whole, poisoned by what goes wrong."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenue.errors import LedgerFault, Refused
from tenue.ledger.dictionaries import Dictionaries
from tenue.ledger.fact import DataChanged, DatasetOpened
from tenue.ledger.sqlite.file import File
from tenue.ledger.sqlite.layout import APPLICATION, VERSION
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


@pytest.fixture
def file(tmp_path: Path) -> Iterator[File]:
    made = File(tmp_path / "a.ledger")
    made.prepare()
    yield made
    made.close()


def test_a_new_file_is_its_owners_alone_and_becomes_a_ledger(file: File) -> None:
    assert stat.S_IMODE(Path(file.path).stat().st_mode) == 0o600
    connection = sqlite3.connect(file.path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
    assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
    connection.close()
    assert file.inspect(None)


def test_to_prepare_a_ledger_again_changes_nothing(file: File) -> None:
    file.write(lambda journal: journal.write(OPENED))
    before = file.read(lambda tables: tables.head())
    file.prepare()
    assert file.read(lambda tables: tables.head()) == before


def test_what_was_written_is_read_by_whoever_opens_the_file_next(file: File) -> None:
    assert file.write(lambda journal: journal.write(OPENED)) == 1
    other = File(file.path)
    other.prepare()
    assert other.read(lambda tables: tables.datasets()) == ["d"]
    assert file.read(lambda tables: tables.head()) == other.read(lambda tables: tables.head())
    other.close()


def test_a_refusal_is_the_callers_and_does_not_poison(file: File) -> None:
    def refused(journal: Journal) -> None:
        raise Refused("no", "no", "no")

    with pytest.raises(Refused):
        file.write(refused)
    assert file.write(lambda journal: journal.write(OPENED)) == 1


def test_anything_else_poisons_and_leaves_nothing_behind(file: File) -> None:
    def broken(journal: Journal) -> None:
        journal.write(OPENED)
        journal.write(DataChanged(dataset="never opened", data_version=""))

    with pytest.raises(LedgerFault):
        file.write(broken)
    with pytest.raises(LedgerFault):
        file.write(lambda journal: journal.write(OPENED))
    with pytest.raises(LedgerFault):
        file.read(lambda tables: tables.datasets())
    fresh = File(file.path)
    fresh.prepare()
    assert fresh.read(lambda tables: tables.head())[0] == 0
    fresh.close()


def test_a_reader_cannot_write(file: File) -> None:
    journal = file.read(lambda rows: Journal(rows, rows.head(), lambda: "me", "me".__eq__))
    journal.totals.shelf = Dictionaries()
    journal.write(OPENED)
    with pytest.raises(LedgerFault):
        file.read(lambda tables: tables.take(journal))


def test_tables_that_are_not_ours_are_a_fault(file: File) -> None:
    connection = sqlite3.connect(file.path)
    connection.execute("CREATE TABLE extra (x)")
    connection.commit()
    connection.close()
    found = file.inspect(None)
    assert not found
    assert "damaged" in found.reason
    other = File(file.path)
    with pytest.raises(LedgerFault):
        other.prepare()
    other.close()


def test_a_last_entry_that_does_not_follow_is_a_fault(file: File) -> None:
    file.write(lambda journal: journal.write(OPENED))
    file.close()
    connection = sqlite3.connect(file.path)
    connection.execute("UPDATE entry SET text = replace(text, '10', '99')")
    connection.commit()
    connection.close()
    other = File(file.path)
    with pytest.raises(LedgerFault):
        other.prepare()
    other.close()


def test_a_foreign_file_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    foreign = tmp_path / "notes.txt"
    foreign.write_text("not a ledger " * 100)
    before = foreign.read_bytes()
    with pytest.raises(Refused):
        File(foreign)
    assert foreign.read_bytes() == before


def test_a_closed_file_is_refused_and_may_be_closed_again(file: File) -> None:
    file.close()
    file.close()
    with pytest.raises(Refused):
        file.read(lambda tables: tables.datasets())
    with pytest.raises(Refused):
        file.write(lambda journal: journal.write(OPENED))
