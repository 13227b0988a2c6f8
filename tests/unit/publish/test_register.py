"""How a release leaves."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tenue.errors import Conflict, Fault, InvalidArgument, NotPromised
from tenue.ledger import Memory, SQLite
from tenue.ledger.locate import NOWHERE, Place
from tenue.promise import Certificate, KAnonymity
from tenue.publish import register as leaving
from tenue.publish import save as saving
from tenue.publish.methods.catalogue import chosen_method
from tenue.publish.methods.contract import Method
from tenue.publish.publish import publish_into
from tenue.publish.register import (
    Departure,
    Preview,
    Registration,
    Target,
    check_first,
    given_register,
    register,
)
from unit.publish.census import people, schema

SETTINGS: dict[str, Any] = {
    "method": "swap",
    "k": 4,
    **dict.fromkeys(("by", "l", "t", "gamma")),
    "override": (),
}


def publish(folder: Path, ledger: Memory | None, **changes: Any) -> Any:
    settings = {**SETTINGS, **changes}
    return publish_into(Target(folder), people(), schema=schema(), ledger=ledger, **settings)


def kinds(ledger: Memory) -> list[str]:
    return [entry.kind for entry in ledger.entries()]


def hidden(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_release_is_registered_and_then_there(tmp_path: Path) -> None:
    ledger = Memory()
    release, manifest = publish(tmp_path / "out", ledger)
    (entry,) = [e for e in ledger.entries() if e.kind == "rows-released"]
    assert entry.fact.release_digest == release.digest  # type: ignore[union-attr]
    assert manifest["rows"] == 60
    assert (tmp_path / "out" / "table.parquet").exists()
    assert hidden(tmp_path) == []
    with pytest.raises(Conflict):
        publish(tmp_path / "two", ledger)


def test_at_the_moment_of_registering_nothing_has_its_name_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant saves first: a release would be there while the ledger still may refuse it."""
    seen = []

    def watching(*given: Any, **how: Any) -> None:
        (draft,) = hidden(tmp_path)
        seen.append((draft.stat().st_mode & 0o777, sorted(p.name for p in draft.iterdir())))
        assert not (tmp_path / "out").exists()

    monkeypatch.setattr(leaving, "register", watching)
    publish(tmp_path / "out", Memory())
    names = ["certificate.json", "manifest.json", "report.html", "table.parquet"]
    assert seen == [(0o700, names)]


def test_what_cannot_be_written_is_never_registered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    ledger = Memory()
    with monkeypatch.context() as patch:
        patch.setattr(saving, "_fill", full)
        with pytest.raises(InvalidArgument):
            publish(tmp_path / "out", ledger)
    assert kinds(ledger) == []
    assert list(tmp_path.iterdir()) == []
    publish(tmp_path / "out", ledger)


def test_what_cannot_get_its_name_is_withdrawn_and_may_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(*given: Any, **how: Any) -> None:
        raise OSError(13, "Permission denied")

    ledger = Memory()
    with monkeypatch.context() as patch:
        patch.setattr(saving, "_take_place", stuck)
        with pytest.raises(InvalidArgument):
            publish(tmp_path / "out", ledger)
    assert kinds(ledger)[-2:] == ["rows-released", "release-withdrawn"]
    assert ledger.balance("people").releases == 0
    assert list(tmp_path.iterdir()) == []
    publish(tmp_path / "out", ledger)
    assert ledger.balance("people").releases == 1
    assert ledger.verify()


def test_what_has_its_name_is_not_withdrawn_whatever_fails_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody may have seen it: the mutant that withdraws on every failure lets a second leave."""
    real = saving._take_place

    def late(draft: Path, target: Path, *, replace: bool) -> None:
        real(draft, target, replace=replace)
        raise KeyboardInterrupt

    ledger = Memory()
    with monkeypatch.context() as patch:
        patch.setattr(saving, "_take_place", late)
        with pytest.raises(KeyboardInterrupt):
            publish(tmp_path / "out", ledger)
    assert (tmp_path / "out" / "table.parquet").exists()
    assert ledger.balance("people").releases == 1
    with pytest.raises(Conflict):
        publish(tmp_path / "two", ledger)


def test_a_refused_registration_leaves_nothing_on_the_disk(tmp_path: Path) -> None:
    ledger = Memory()
    publish(tmp_path / "out", ledger)
    release = importlib.import_module("tenue.publish.publish")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release, "check_first", lambda *given: None)
        patch.setattr(release, "check_rows", lambda *given: None)
        with pytest.raises(Conflict):
            publish(tmp_path / "two", ledger)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert "release-withdrawn" not in kinds(ledger)


def chosen(**changes: Any) -> Method:
    declared = changes.pop("schema", schema())
    return chosen_method(declared, "swap", k=5, **changes)


def test_a_release_is_registered_with_its_method() -> None:
    ledger = Memory()
    check_first(ledger, chosen())
    number = register(ledger, chosen(), "d" * 64)
    (entry,) = [e for e in ledger.entries() if e.sequence == number]
    assert entry.fact.method == "swap by quasi-identifiers"  # type: ignore[union-attr]
    assert entry.fact.override is False  # type: ignore[union-attr]
    assert ledger.balance("people").total == 0  # there is no budget: nothing may be asked


def test_the_budget_of_the_schema_is_opened_and_an_open_one_left_alone() -> None:
    rich = schema().replace(budget={"total": 2})
    ledger = Memory()
    register(ledger, chosen(schema=rich), "a" * 64)
    assert ledger.balance("people").total == 2
    held = Memory()
    held.open_dataset("people", 7, neighbours="replace")
    register(held, chosen(schema=rich), "a" * 64)
    assert held.balance("people").total == 7


def test_a_second_one_is_refused_first_and_last() -> None:
    ledger = Memory()
    register(ledger, chosen(), "a" * 64)
    with pytest.raises(Conflict):
        check_first(ledger, chosen())
    with pytest.raises(Conflict):
        register(ledger, chosen(), "b" * 64)
    insisting = chosen(override="second-release")
    check_first(ledger, insisting)
    register(ledger, insisting, "b" * 64)
    with pytest.raises(Conflict):
        check_first(ledger, chosen(override="homogeneous-groups"))


def test_another_table_is_another_matter() -> None:
    ledger = Memory()
    ledger.open_dataset("others", 1, neighbours="replace")
    ledger.register_release("others", "x", method="swap")
    check_first(ledger, chosen())


def test_a_ledger_from_a_path_is_closed_and_a_given_one_is_not(tmp_path: Path) -> None:
    books = given_register(tmp_path / "a.ledger", NOWHERE)
    assert books is not None
    with books:
        assert books.known is None
        assert list(tmp_path.iterdir()) == []  # made when something is written, not before
        ledger = books.made()
        assert isinstance(ledger, SQLite)
        with books:
            assert books.known is ledger
        ledger.datasets()  # still open: the outer one goes on
    with pytest.raises(InvalidArgument):
        ledger.datasets()
    with books:  # a release that leaves later opens it again
        assert books.made() is not ledger
        assert books.made().datasets() == []
    held = Memory()
    books = given_register(held, NOWHERE)
    assert books is not None
    with books:
        assert books.known is books.made() is held
    held.datasets()
    for wrong in (3, True):
        with pytest.raises(InvalidArgument):
            given_register(wrong, NOWHERE)


def test_the_register_has_its_place_unless_told_otherwise(tmp_path: Path) -> None:
    beside = Place(schema=tmp_path / "people.toml")
    books = given_register(None, beside)
    assert books is not None
    with books:
        books.made()
    assert (tmp_path / "people.ledger").exists()
    for given, place in ((None, NOWHERE), (False, NOWHERE), (False, beside)):
        assert given_register(given, place) is None


def test_the_schema_of_a_release_is_on_record() -> None:
    """Else nobody could tell by which schema a release was made."""
    ledger = Memory()
    register(ledger, chosen(), "a" * 64)
    other = schema().replace(columns={"age": {"bounds": [0, 130]}})
    register(ledger, chosen(schema=other, override="second-release"), "b" * 64)
    registered = "release-registered"
    assert kinds(ledger) == ["dataset-opened", registered, "schema-changed", registered]
    assert ledger.balance("people").schema_digest == other.digest


def test_upper_and_lower_case_do_not_make_another_table() -> None:
    ledger = Memory()
    register(ledger, chosen(), "a" * 64)
    shouted = schema().replace(table={"name": "PEOPLE"})
    with pytest.raises(Conflict):
        check_first(ledger, chosen(schema=shouted))
    with pytest.raises(Conflict):
        register(ledger, chosen(schema=shouted), "b" * 64)
    assert list(ledger.datasets()) == ["people"]


def test_a_ledger_of_releases_alone_says_so() -> None:
    ledger = Memory()
    register(ledger, chosen(), "a" * 64)
    text = str(ledger.balance("people"))
    assert "no budget" in text
    assert "releases registered: 1" in text
    assert "epsilon 0 of 0" not in text


# -- A release leaves once, registered before; a preview never -------------------------------------

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
    assert "registers it when it leaves" in one.where()
    for _ in range(2):
        one.leave()
        assert (one.left, releases(ledger)) == (True, 1)
        assert one.where() == "handed out as a table; registered in its ledger"
    assert one.leave(Target(tmp_path / "out"))["rows"] == 2
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
        one.leave(Target(tmp_path / "full"))
    assert (one.left, releases(ledger)) == (False, 0)

    def stuck(draft: object) -> None:
        raise Fault("no")

    with monkeypatch.context() as patch:
        patch.setattr(leaving.Draft, "place", stuck)
        with pytest.raises(Fault):
            one.leave(Target(tmp_path / "out"))
    assert (one.left, releases(ledger)) == (False, 0)  # recorded as withdrawn
    one.leave(Target(tmp_path / "out"))
    assert (one.left, releases(ledger)) == (True, 1)


def test_what_is_refused_does_not_leave_however_often_it_is_tried(tmp_path: Path) -> None:
    ledger = Memory()
    departure(ledger).leave()
    other = departure(ledger)
    other.certificate = Certificate(
        promise=KAnonymity(3), neighbours="replace", unit="record", mechanism="swap"
    )
    for _ in range(2):
        with pytest.raises(Conflict, match="override="):
            other.leave()
        with pytest.raises(Conflict):
            other.leave(Target(tmp_path / "out"))
    assert not other.left
    assert list(tmp_path.iterdir()) == []


def test_its_ledger_is_opened_when_it_leaves_and_closed_again(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    one = departure(path)
    for _ in range(2):
        assert [file.name for file in tmp_path.iterdir()] == ["a.ledger"]  # and no log beside it
        one.leave()
    with SQLite(path) as ledger:
        assert ledger.balance("people").releases == 1


def test_without_a_ledger_it_says_that_nobody_will_notice() -> None:
    one = departure(False)
    one.leave()
    assert "would not be noticed" in one.where()


def test_it_says_where_it_is_registered_once_it_is(tmp_path: Path) -> None:
    one = departure(tmp_path / "x.ledger")
    assert one.registered_in is None
    one.leave()
    assert one.registered_in == tmp_path / "x.ledger"
    for nowhere in (departure(None), departure(Memory())):
        nowhere.leave()
        assert nowhere.registered_in is None


def test_a_preview_never_leaves(tmp_path: Path) -> None:
    preview = Preview(CERTIFICATE)
    for attempt in (preview.leave, lambda: preview.leave(Target(tmp_path / "out"))):
        with pytest.raises(NotPromised, match="Publish without preview=True"):
            attempt()
    assert not preview.left
    assert "preview" in preview.where()
    assert list(tmp_path.iterdir()) == []
