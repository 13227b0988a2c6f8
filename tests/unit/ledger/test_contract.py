"""What every ledger promises, and where it lies."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tenue.errors import Conflict, InvalidArgument, Refused
from tenue.ledger import Charge, Ledger, Memory, SQLite
from tenue.ledger.contract import LARGEST_ANSWER, closed
from tenue.ledger.locate import NOWHERE, Place, given_ledger, ledger_place

CHARGE = Charge.of(epsilon=1, neighbours="replace")


@pytest.fixture
def ledger() -> Memory:
    made = Memory()
    made.open_dataset("census", 5, neighbours="replace")
    return made


def test_whoever_keeps_rows_says_these_things() -> None:
    assert Ledger.__abstractmethods__ == {
        "_write",
        "_read",
        "_entries",
        "_inspect",
        "_secret",
        "close",
    }


def test_a_balance_needs_no_name_while_there_is_one_data_set(ledger: Memory) -> None:
    assert ledger.balance().dataset == "census"
    ledger.open_dataset("other", 1, neighbours="replace")
    with pytest.raises(Refused) as refusal:
        ledger.balance()
    assert refusal.value.code == "unknown-dataset"
    assert str(refusal.value) == (
        "The data set is not named. The ledger has 2 data sets. Choose one of census, other."
    )
    with pytest.raises(Refused) as refusal:
        Memory().balance("census")
    assert str(refusal.value) == (
        "There is no data set `census`. The ledger has 0 data sets. Call open_dataset first."
    )


def test_the_export_is_one_line_of_json_for_each_entry(ledger: Memory, tmp_path: Path) -> None:
    ledger.commit(ledger.reserve("census", "ann", CHARGE, "k", "q"), b"1")
    text = io.StringIO()
    assert ledger.export(text) == 3
    lines = [json.loads(line) for line in text.getvalue().splitlines()]
    assert [line["sequence"] for line in lines] == [1, 2, 3]
    assert ledger.export(tmp_path / "out.jsonl") == 3
    assert (tmp_path / "out.jsonl").read_text() == text.getvalue()


def test_entries_may_be_those_of_one_data_set(ledger: Memory) -> None:
    ledger.open_dataset("other", 1, neighbours="replace")
    assert [entry.dataset for entry in ledger.entries()] == ["census", "other"]
    assert [entry.sequence for entry in ledger.entries("other")] == [2]
    assert list(ledger.entries("none")) == []


def test_a_name_is_known_in_its_own_spelling(ledger: Memory) -> None:
    assert ledger.known_as("CENSUS") == "census"
    assert ledger.known_as("unknown") == "unknown"


def test_keys_and_caches_are_looked_up_for_nothing(ledger: Memory) -> None:
    assert not ledger.has_key("census", "ann", "k")
    paid = ledger.reserve("census", "ann", CHARGE, "k", "q", cache_key="c")
    assert ledger.has_key("census", "ann", "k")
    assert ledger.cached("census", "c") is None  # not answered yet
    ledger.commit(paid, b"answer")
    assert ledger.cached("census", "c") == b"answer"
    assert ledger.cached("census", "d") is None
    assert ledger.balance().spent == 1


def test_drafts_belong_to_the_object_that_made_them(ledger: Memory) -> None:
    number = ledger.register_release("census", "r", method="swap", draft=True)
    ledger.release_left("census", "r")
    with pytest.raises(Refused):
        ledger.withdraw_release("census", "r", reason="too late")
    again = ledger.register_release("census", "r", method="swap", draft=True)
    assert again == number
    with pytest.raises(Refused):  # registered again, it is still the one that left
        ledger.withdraw_release("census", "r", reason="too late")


@pytest.mark.parametrize("answer", ["text", None, bytearray(b"x")])
def test_an_answer_is_bytes(ledger: Memory, answer: Any) -> None:
    paid = ledger.reserve("census", "ann", CHARGE, None, "q")
    with pytest.raises(Refused):
        ledger.commit(paid, answer)
    ledger.commit(paid, b"")


def test_an_answer_has_a_largest_size(ledger: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert LARGEST_ANSWER == 64 * 2**20
    monkeypatch.setattr("tenue.ledger.contract.LARGEST_ANSWER", 3)
    paid = ledger.reserve("census", "ann", CHARGE, None, "q")
    with pytest.raises(Refused):
        ledger.commit(paid, b"four")
    ledger.commit(paid, b"abc")


def test_a_block_closes_its_ledger() -> None:
    with Memory() as ledger:
        ledger.datasets()
    with pytest.raises(Refused) as refusal:
        ledger.datasets()
    assert str(refusal.value) == str(closed())


# -- Where a ledger lies: given, named, beside the data, beside the schema; and never two ----------


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
        with pytest.raises(Conflict, match=r"link.*does not exist.*Move the ledger") as refused:
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
    monkeypatch.setattr("tenue.ledger.locate.os.access", lambda *given: False)
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
    monkeypatch.setattr("tenue.ledger.locate.os.access", lambda *given: may)
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
