"""A release leaves once, registered before; a preview never."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tenue.errors import Conflict, Fault, NotPromised
from tenue.ledger import Memory, SQLite
from tenue.ledger.given import NOWHERE
from tenue.microdata.leave import leave as leaving
from tenue.microdata.leave.departure import Departure, Preview
from tenue.microdata.leave.leave import Registration, Target, given_register
from tenue.microdata.method.catalogue import chosen_method
from tenue.promise import Certificate, KAnonymity
from unit.microdata.census import schema

TABLES = {"table": pa.table({"age": [1, 2]})}
CERTIFICATE = Certificate(
    promise=KAnonymity(2), neighbours="replace", unit="record", mechanism="swap"
)


def departure(ledger: object, **changes: Any) -> Departure:
    books = given_register(ledger, NOWHERE)
    way = chosen_method(schema(), "swap", k=4, **changes)
    if books is None:
        return Departure(TABLES, CERTIFICATE, "csv", None)
    with books:
        seal = books.made().seal(schema().digest)
    return Departure(TABLES, CERTIFICATE, "csv", Registration(books, way, (), seal))


def releases(ledger: Memory) -> int:
    return ledger.balance("people").releases if ledger.datasets() else 0


def test_the_first_who_asks_has_it_registered_and_nobody_after(tmp_path: Path) -> None:
    ledger = Memory()
    one = departure(ledger)
    assert (one.left, releases(ledger)) == (False, 0)
    assert one.said is not None
    for _ in range(2):
        one.to_caller()
        assert (one.left, releases(ledger), one.said) == (True, 1, None)
    assert one.to_folder(Target(tmp_path / "out"))["rows"] == 2
    assert (tmp_path / "out" / "table.csv").exists()
    assert releases(ledger) == 1


def test_saved_first_it_is_a_draft_until_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Memory()
    one = departure(ledger)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    with pytest.raises(Exception, match="not empty"):
        one.to_folder(Target(tmp_path / "full"))
    assert (one.left, releases(ledger)) == (False, 0)

    def stuck(draft: object) -> None:
        raise Fault("no")

    with monkeypatch.context() as patch:
        patch.setattr(leaving.Draft, "place", stuck)
        with pytest.raises(Fault):
            one.to_folder(Target(tmp_path / "out"))
    assert (one.left, releases(ledger)) == (False, 0)  # recorded as withdrawn
    one.to_folder(Target(tmp_path / "out"))
    assert (one.left, releases(ledger)) == (True, 1)


def test_what_is_refused_does_not_leave_however_often_it_is_tried(tmp_path: Path) -> None:
    ledger = Memory()
    departure(ledger).to_caller()
    other = departure(ledger)
    other.certificate = Certificate(
        promise=KAnonymity(3), neighbours="replace", unit="record", mechanism="swap"
    )
    for _ in range(2):
        with pytest.raises(Conflict, match="override="):
            other.to_caller()
        with pytest.raises(Conflict):
            other.to_folder(Target(tmp_path / "out"))
    assert not other.left
    assert list(tmp_path.iterdir()) == []


def test_its_ledger_is_opened_when_it_leaves_and_closed_again(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    one = departure(path)
    for _ in range(2):
        assert [file.name for file in tmp_path.iterdir()] == ["a.ledger"]  # and no log beside it
        one.to_caller()
    with SQLite(path) as ledger:
        assert ledger.balance("people").releases == 1


def test_without_a_ledger_it_says_that_nobody_will_notice() -> None:
    one = departure(False)
    one.to_caller()
    assert one.said is not None
    assert "would not be noticed" in one.said


def test_it_says_where_it_is_registered_once_it_is(tmp_path: Path) -> None:
    one = departure(tmp_path / "x.ledger")
    assert one.registered_in is None
    one.to_caller()
    assert one.registered_in == tmp_path / "x.ledger"
    for nowhere in (departure(None), departure(Memory())):
        nowhere.to_caller()
        assert nowhere.registered_in is None


def test_a_preview_never_leaves(tmp_path: Path) -> None:
    preview = Preview(CERTIFICATE)
    for attempt in (preview.to_caller, lambda: preview.to_folder(Target(tmp_path / "out"))):
        with pytest.raises(NotPromised, match="Publish without preview=True"):
            attempt()
    assert not preview.left
    assert "preview" in preview.said
    assert list(tmp_path.iterdir()) == []
