"""Anchor, recount and seal."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tenue.errors import InvalidArgument, LedgerFault
from tenue.ledger import Charge, Memory, SQLite, facts
from tenue.ledger.verify import MARK, Anchor, compared, given_certificate, sealed
from tenue.promise import Certificate, Pure

LINK = bytes(range(32))


def test_an_anchor_is_kept_in_one_small_file(tmp_path: Path) -> None:
    path = tmp_path / "a.anchor"
    assert Anchor.read_if_there(path) is None
    anchor = Anchor.now(7, LINK)
    anchor.write(path)
    assert Anchor.read(path) == anchor == Anchor.read_if_there(path)
    assert [each.name for each in tmp_path.iterdir()] == ["a.anchor"]
    assert path.stat().st_mode & 0o077 == 0


def test_what_goes_on_from_an_anchor() -> None:
    anchor = Anchor(7, LINK.hex(), "now")
    assert anchor.missed_by(7, LINK) == anchor.missed_by(8, LINK) == ""
    assert anchor.missed_by(6, None)
    assert anchor.missed_by(6, LINK)
    assert anchor.missed_by(8, bytes(32))
    assert anchor.missed_by(8, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "7",
        f'{{"entries": -1, "head": "{LINK.hex()}", "time": ""}}',
        f'{{"entries": true, "head": "{LINK.hex()}", "time": ""}}',
        '{"entries": 1, "head": "abcd", "time": ""}',
        '{"entries": 1, "head": 5, "time": ""}',
    ],
)
def test_what_is_no_anchor_is_a_fault(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.anchor"
    path.write_text(text)
    with pytest.raises(LedgerFault):
        Anchor.read_if_there(path)


def test_a_missing_or_unwritable_anchor_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(LedgerFault):
        Anchor.read(tmp_path / "none")
    with pytest.raises(LedgerFault):
        Anchor.now(1, LINK).write(tmp_path / "no" / "such" / "folder")


# -- Every way of tampering with a ledger file by its tables, and what sees it ---------------------

CHARGE = Charge.of(epsilon="0.5", neighbours="replace")
ABOUT = Charge.of(epsilon="0.1", neighbours="add-or-remove", person="17")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed ledger with every kind of row in it, and an anchor beside it for the test."""
    made = tmp_path / "a.ledger"
    with SQLite(made) as ledger:
        ledger.open_dataset("census", 5, 3, neighbours="replace")
        for number in range(4):
            paid = ledger.reserve(
                "census", "ann", CHARGE, f"k{number}", "q", cache_key="c", fresh=True
            )
            if number == 1:
                ledger.release_unread(paid)
            elif number == 2:
                ledger.abandon(paid)
            else:
                ledger.commit(paid, b"answer %d" % number)
        ledger.reserve("census", "bob", ABOUT, None, "q")
        options = {"column": "individual", "question_name": "median", "times": 3}
        ledger.reserve("census", "bob", CHARGE, "i", "q", **options)  # type: ignore[arg-type]
        ledger.register_release("census", "r1", method="swap")
        ledger.anchor(tmp_path / "anchor")
    with SQLite(made) as ledger:  # settles what was left open
        assert ledger.verify(tmp_path / "anchor")
    return made


def tamper(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


EDITS = {
    "a smaller price": "UPDATE entry SET text = replace(text, ':50000', ':4') WHERE sequence = 4",
    "another analyst": "UPDATE entry SET text = replace(text, 'ann', 'bob') WHERE sequence = 2",
    "another time": "UPDATE entry SET text = replace(text, ':00\"', ':01\"') WHERE sequence = 3",
    "another hash": "UPDATE entry SET link = zeroblob(32) WHERE sequence = 3",
    "a deleted entry": "DELETE FROM entry WHERE sequence = 3",
    "a deleted first entry": "DELETE FROM entry WHERE sequence = 1",
    "a renumbered entry": "UPDATE entry SET sequence = -3 WHERE sequence = 3",
    "a cut tail that forgot the totals": "DELETE FROM entry WHERE sequence > 9",
    "a total reset": "UPDATE account SET statistical = 0 WHERE analyst = ''",
    "an analyst's total reset": "UPDATE account SET statistical = 0 WHERE analyst = 'ann'",
    "the individual column reset": "UPDATE account SET individual = 0",
    "an account removed": "DELETE FROM account WHERE analyst = 'bob'",
    "an account invented": "INSERT INTO account VALUES ('census', 'eve', 0, 0, 0, 0, 0)",
    "a person forgotten": "DELETE FROM person",
    "a person's total lowered": "UPDATE person SET nano = 1",
    "a raised cap": "UPDATE dataset SET total = total * 2",
    "a dropped quota": "UPDATE dataset SET per_analyst = NULL",
    "another adjacency": "UPDATE dataset SET neighbours = 'add-or-remove'",
    "a question asked less often": "UPDATE question SET times = 0",
    "a release forgotten": "DELETE FROM release",
    "another answer": "UPDATE answer SET content = 'answer 9'",
    "an answer removed": "DELETE FROM answer WHERE sequence = 3",
    "an answer invented": "INSERT INTO answer VALUES (2, x'00')",
    "a key freed": "UPDATE ticket SET name = NULL WHERE sequence = 2",
    "a key made free by another outcome": "UPDATE ticket SET outcome = 2 WHERE sequence = 2",
    "a ticket reopened": "UPDATE ticket SET outcome = 0, settled = NULL WHERE sequence = 2",
    "a ticket half open": "UPDATE ticket SET outcome = 0 WHERE sequence = 2",
    "a ticket removed": "DELETE FROM ticket WHERE sequence = 2",
    "a ticket invented": "INSERT INTO ticket VALUES (1, NULL, NULL, 'x', 1, 3)",
    "a ticket settled elsewhere": "UPDATE ticket SET settled = 5 WHERE sequence = 2",
    "another cached answer": "UPDATE ticket SET cache = zeroblob(32) WHERE sequence = 2",
    "another owner": "UPDATE ticket SET owner = 'x' WHERE sequence = 2",
}


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_is_seen(path: Path, edit: str) -> None:
    tamper(path, EDITS[edit])
    with SQLite(path) as ledger:
        found = ledger.verify()
    assert not found
    assert found.reason


def test_the_first_bad_entry_is_named(path: Path) -> None:
    tamper(path, EDITS["another time"])
    with SQLite(path) as ledger:
        found = ledger.verify()
    assert (found.ok, found.entries, found.first_bad) == (False, 2, 3)


def test_swapped_entries_are_seen(path: Path) -> None:
    tamper(
        path,
        "UPDATE entry SET sequence = -1 WHERE sequence = 4",
        "UPDATE entry SET sequence = 4 WHERE sequence = 5",
        "UPDATE entry SET sequence = 5 WHERE sequence = -1",
    )
    with SQLite(path) as ledger:
        assert ledger.verify().first_bad == 4


@pytest.mark.parametrize(
    "change",
    [
        "DROP INDEX ticket_name",
        "CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM account; END",
        "CREATE VIEW v AS SELECT 1",
    ],
)
def test_other_tables_are_not_opened(path: Path, change: str) -> None:
    tamper(path, change)
    with pytest.raises(LedgerFault, match="tables"):
        SQLite(path)


def test_a_broken_head_is_not_opened(path: Path) -> None:
    tamper(
        path,
        "UPDATE entry SET text = text || ' ' WHERE sequence = (SELECT MAX(sequence) FROM entry)",
    )
    with pytest.raises(LedgerFault, match="last entry"):
        SQLite(path)


def test_a_history_beyond_the_cap_is_seen() -> None:
    """Even if every hash and total agrees: what a ledger with a broken cashier would leave."""
    from tenue.ledger import Memory
    from tenue.ledger.transactions import reserve as cashier

    ledger = Memory()
    ledger.open_dataset("census", 1, neighbours="replace")
    kept = cashier._afford
    cashier._afford = lambda journal, dataset, wanted: wanted.charge.nano
    try:
        for _ in range(3):
            ledger.reserve("census", "ann", CHARGE, None, "q")
    finally:
        cashier._afford = kept
    found = ledger.verify()
    assert (found.ok, found.first_bad) == (False, 4)
    assert "cap" in found.reason


def test_an_old_copy_is_seen_with_an_anchor_only(path: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.ledger"
    shutil.copy(path, old)
    with SQLite(path) as ledger:
        ledger.reserve("census", "bob", CHARGE, "new", "q")
        ledger.anchor(tmp_path / "anchor")
    shutil.copy(old, path)
    with SQLite(path) as ledger:
        assert ledger.verify()
        found = ledger.verify(anchor=tmp_path / "anchor")
        assert not found
        assert "anchor" in found.reason
    with pytest.raises(LedgerFault, match="anchor"):
        SQLite(path, anchor=tmp_path / "anchor")


def rewritten(path: Path) -> None:
    """What an intruder does who can write the file: a new history, every hash made to fit."""
    connection = sqlite3.connect(path)
    link = facts.GENESIS
    for sequence, text in connection.execute("SELECT sequence, text FROM entry").fetchall():
        text = text.replace('"method":"swap"', '"method":"none"')
        link = facts.link(link, text)
        connection.execute(
            "UPDATE entry SET text = ?, link = ? WHERE sequence = ?", (text, link, sequence)
        )
    connection.commit()
    connection.close()


def test_a_history_written_anew_is_seen_with_an_anchor_only(path: Path, tmp_path: Path) -> None:
    rewritten(path)
    with SQLite(path) as ledger:
        assert ledger.verify()
        assert not ledger.verify(tmp_path / "anchor")
    with pytest.raises(LedgerFault, match="not the anchored one"):
        SQLite(path, anchor=tmp_path / "anchor")


# -- A seal tells one schema from another, and what it is to the ledger's holder alone -------------

ONE, OTHER = (digit * 64 for digit in "ab")
PLAIN = Certificate(promise=Pure(1), neighbours="replace", unit="record", mechanism="noise")


def test_it_is_an_hmac_of_the_digest_under_the_key() -> None:
    found = sealed(b"k" * 32, ONE)
    text = b"schema of a certificate\n" + ONE.encode()
    assert found == MARK + hmac.new(b"k" * 32, text, hashlib.sha256).hexdigest()
    assert len({found, sealed(b"K" * 32, ONE), sealed(b"k" * 32, OTHER)}) == 3


def ledger() -> Memory:
    made = Memory()
    made.open_dataset("people", 1, neighbours="replace", schema_digest=OTHER)
    made.open_dataset("census", 1, neighbours="replace")
    made.record_schema("census", ONE)
    made.record_schema("census", ONE)
    return made


def test_the_holder_finds_the_schema_and_nobody_else_does() -> None:
    books = ledger()
    assert len(list(books.entries())) == 3  # nothing is written twice
    certificate = replace(PLAIN, schema_hash=books.seal(ONE))
    found = books.verify_certificate(certificate)
    assert (found.ok, found.dataset, found.entry) == (True, "census", 3)
    assert str(found) == "the certificate is of `census`, under the schema of entry 3"
    other = ledger().verify_certificate(certificate)
    assert not other
    assert str(other) == "NOT OF THIS LEDGER: no schema of this ledger has its seal"
    forged = replace(certificate, schema_hash=certificate.schema_hash[:-1] + "x")
    assert not books.verify_certificate(forged)
    assert not books.verify_certificate(replace(PLAIN, schema_hash=books.seal("c" * 64)))


def test_what_0_1_0_wrote_is_compared_as_it_is_and_nothing_is_nothing() -> None:
    books = ledger()
    assert books.verify_certificate(replace(PLAIN, schema_hash=ONE)).dataset == "census"
    assert not books.verify_certificate(replace(PLAIN, schema_hash="c" * 64))
    silent = books.verify_certificate(PLAIN)
    assert silent.reason == "the certificate does not state its schema"
    # a data set that was opened without a schema does not stand for a certificate without one
    assert not compared("", books.entries(), b"")


def test_a_file_holds_a_certificate_or_an_answer_with_one(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_text(PLAIN.to_json() + "\n")
    assert given_certificate(str(path)) == PLAIN
    path.write_text(json.dumps({"value": 3, "certificate": PLAIN.to_dict()}))
    assert given_certificate(path) == given_certificate(PLAIN) == PLAIN
    path.write_text("no")
    for wrong in (path, tmp_path / "none.json", 7):
        with pytest.raises(InvalidArgument):
            given_certificate(wrong)
    path.write_text("[]")
    with pytest.raises(InvalidArgument, match="not a certificate"):
        given_certificate(path)
