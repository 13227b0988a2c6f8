"""Where a ledger lies: given, named, beside the data, beside the schema; and never two."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenue.errors import Conflict, InvalidArgument
from tenue.ledger import Memory, SQLite
from tenue.ledger.given import NOWHERE, Place, given_ledger, ledger_place


def test_a_ledger_is_itself_and_a_path_is_opened(tmp_path: Path) -> None:
    held = Memory()
    assert given_ledger(held, NOWHERE) is held
    beside = Place(schema=tmp_path / "b.toml")
    for given, place in ((tmp_path / "a.ledger", NOWHERE), (None, beside)):
        with given_ledger(given, place) as ledger:
            assert isinstance(ledger, SQLite)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ledger", "b.ledger"]
    with pytest.raises(InvalidArgument, match=r"No ledger is given.*\[table\]"):
        given_ledger(None, NOWHERE)


def test_finding_makes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, schema = tmp_path / "data", tmp_path / "stated"
    for folder in (data, schema):
        folder.mkdir()
    place = Place(data=(data / "t.ledger",), schema=schema / "a.toml")
    assert ledger_place(None, place) == data / "t.ledger"
    assert ledger_place(None, Place(schema=schema / "a.toml")) == schema / "a.ledger"
    assert ledger_place(None, Place(tmp_path / "x.ledger", *_usual(place))) == tmp_path / "x.ledger"
    assert ledger_place(None, NOWHERE) is None
    monkeypatch.chdir(tmp_path)
    # where the working folder is later does not matter: a release may leave then
    assert ledger_place("b.ledger", place) == tmp_path / "b.ledger"
    assert list(data.iterdir()) == list(schema.iterdir()) == []


def _usual(place: Place) -> tuple[tuple[Path, ...], Path | None]:
    return place.data, place.schema


def test_a_ledger_that_is_there_is_used_wherever_it_lies(tmp_path: Path) -> None:
    folder, schema = tmp_path / "data", tmp_path / "a.toml"
    folder.mkdir()
    data = (folder / "t.ledger", tmp_path / "t.ledger")
    old = tmp_path / "a.ledger"
    for there in (old, data[1]):
        there.touch()
        assert Place(data=data, schema=schema).find() == there
        there.unlink()


def test_two_ledgers_are_refused_with_what_to_do(tmp_path: Path) -> None:
    one, other = tmp_path / "t.ledger", tmp_path / "a.ledger"
    place = Place(data=(one,), schema=tmp_path / "a.toml")
    one.touch()
    other.touch()
    with pytest.raises(Conflict, match=r"t\.ledger.*a\.ledger.*Move") as refused:
        ledger_place(None, place)
    assert refused.value.code == "two-ledgers"
    assert ledger_place(one, place) == one  # given is given
    assert Place(other, *_usual(place)).find() == other  # the schema decides
    other.unlink()
    other.symlink_to(one)
    assert place.find() == one  # two names of one file


def test_a_schema_names_no_new_ledger_where_there_is_one(tmp_path: Path) -> None:
    """The mutant takes whatever the schema names: a copy of it with another name starts anew."""
    there, named = tmp_path / "t.ledger", tmp_path / "elsewhere.ledger"
    there.touch()
    with pytest.raises(Conflict, match=r"Move the ledger"):
        Place(named, (there,)).find()
    there.rename(named)
    assert Place(named, (there,)).find() == named


def test_a_ledger_that_lies_elsewhere_has_a_link_beside_the_data(tmp_path: Path) -> None:
    """The mutant leaves none: whoever comes by a copy of the schema finds nothing and starts anew
    (`tests/attacks/test_budget_anew.py`)."""
    folder, old = tmp_path / "data", tmp_path / "a.ledger"
    folder.mkdir()
    usual = folder / "t.ledger"
    SQLite(old).close()
    place, copy = (Place(data=(usual,), schema=tmp_path / name) for name in ("a.toml", "b.toml"))
    assert (place.find(), copy.find(), usual.is_symlink()) == (old, usual, False)
    place.open(old).close()
    assert usual.resolve() == old
    for one in (place, copy):
        found = one.find()
        assert found is not None
        one.open(found).close()
        assert found.resolve() == old
    moved = tmp_path.rename(tmp_path.with_name(f"{tmp_path.name} elsewhere"))
    assert (moved / "data" / "t.ledger").resolve() == moved / "a.ledger"


def test_a_link_whose_ledger_is_gone_starts_no_new_one(tmp_path: Path) -> None:
    """The mutant asks whether the place exists, which a link to nothing does not."""
    usual, named = tmp_path / "t.ledger", tmp_path / "named.ledger"
    usual.symlink_to(tmp_path / "a.ledger")
    for place in (Place(data=(usual,)), Place(named, (usual,))):
        with pytest.raises(Conflict, match=r"link.*not there.*Move the ledger") as refused:
            place.find()
        assert refused.value.code == "lost-ledger"
    named.touch()
    assert Place(named, (usual,)).find() == named


def test_no_link_is_left_where_none_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, named = tmp_path / "t.ledger", tmp_path / "named.ledger"
    Place(named, (usual,)).open(named).close()
    NOWHERE.open(named).close()
    monkeypatch.setattr("tenue.ledger.given.os.access", lambda *given: False)
    Place(data=(usual,)).open(named).close()
    assert not usual.is_symlink()


@pytest.mark.parametrize("made", [False, True])
def test_where_no_link_can_be_left_the_ledger_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: bool
) -> None:
    """Nor where somebody made a ledger there meanwhile."""
    usual, old = tmp_path / "t.ledger", tmp_path / "a.ledger"

    def fail(link: Path, target: str) -> None:
        if made:
            link.touch()
        raise OSError

    monkeypatch.setattr(Path, "symlink_to", fail)
    SQLite(old).close()
    with pytest.raises(Conflict if made else InvalidArgument) as refused:
        Place(data=(usual,), schema=tmp_path / "a.toml").open(old)
    assert refused.value.code == ("two-ledgers" if made else "ledger-folder-not-writable")


@pytest.mark.parametrize("may", [False, True])
def test_a_folder_that_cannot_be_written_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, may: bool
) -> None:
    monkeypatch.setattr("tenue.ledger.given.os.access", lambda *given: may)
    place = Place(data=(tmp_path / "t.ledger",))
    if may:
        assert place.find() == tmp_path / "t.ledger"
        return
    with pytest.raises(InvalidArgument, match="No ledger can be made"):
        place.find()
    (tmp_path / "t.ledger").touch()
    assert place.find() == tmp_path / "t.ledger"


def test_false_stands_for_none_only_where_none_will_do(tmp_path: Path) -> None:
    place = Place(schema=tmp_path / "a.toml")
    assert ledger_place(False, place, optional=True) is None
    with pytest.raises(InvalidArgument, match="`ledger` is of type bool"):
        ledger_place(False, NOWHERE)
    with pytest.raises(InvalidArgument, match=r"`ledger` is True.*False for none"):
        ledger_place(True, NOWHERE, optional=True)
    with pytest.raises(InvalidArgument, match="`ledger` is a int"):
        ledger_place(3, NOWHERE, optional=True)
