"""A new budget for the same rows: by a copy of the schema, or of the ledger without its log."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

import pyarrow.csv
import pytest

import tenue as tn
from tenue.errors import Conflict, InvalidArgument, OverBudget
from unit.microdata.census import people, schema

QUESTION = "SELECT COUNT(*) FROM people WHERE age > 40"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table, its schema, and nothing left of its budget."""
    place = tmp_path / "house"
    place.mkdir()
    pyarrow.csv.write_csv(people().drop_columns(["undeclared"]), place / "people.csv")
    stated = schema().replace(budget={"total": 1}, table={"source": "people.csv"})
    stated.save(place / "people.toml")
    with tn.protect(schema=place / "people.toml") as data:
        data.ask(QUESTION, epsilon=1)
    return place


def ask_again(path: Path) -> None:
    with tn.protect(schema=path) as data:
        data.ask(QUESTION, epsilon=1, fresh=True)


def copied(folder: Path) -> list[Path]:
    """The schema under another name, and elsewhere, where it names the table by its whole path."""
    near, far = folder / "copy.toml", folder.parent / "far" / "people.toml"
    shutil.copy(folder / "people.toml", near)
    far.parent.mkdir()
    text = (folder / "people.toml").read_text()
    far.write_text(text.replace('"people.csv"', f'"{folder / "people.csv"}"'))
    return [near, far]


def beside_the_schema_only(patch: pytest.MonkeyPatch) -> None:
    """The old rule: a ledger lies beside the schema, wherever the rows are."""
    for name in ("tenue.query.session", "tenue.microdata.release"):
        patch.setattr(importlib.import_module(name), "ledger_places", lambda *given: ())


def test_a_copy_of_the_schema_starts_no_budget_and_no_register(
    folder: Path, tmp_path: Path
) -> None:
    release = tn.publish(schema=folder / "people.toml", method="swap", k=4)
    release.save(tmp_path / "out")
    for path in copied(folder):
        with pytest.raises(OverBudget):
            ask_again(path)
        with pytest.raises(Conflict) as refused:
            tn.publish(schema=path, method="swap", k=4)
        assert refused.value.code == "second-release"
    assert list(tmp_path.rglob("*.ledger")) == [folder / "people.ledger"]


def test_with_the_old_rule_it_did(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        beside_the_schema_only(patch)
        tables = [tn.publish(schema=folder / "people.toml", method="swap", k=4).table]
        for path in copied(folder):
            ask_again(path)
            tables.append(tn.publish(schema=path, method="swap", k=4).table)
    assert len(tables) == 3
    # what the old rule left behind is not taken up: two ledgers speak of one table
    with pytest.raises(Conflict) as refused:
        ask_again(folder / "copy.toml")
    assert refused.value.code == "two-ledgers"


def test_another_way_to_the_same_rows_has_the_same_ledger(folder: Path) -> None:
    (folder.parent / "link.csv").symlink_to(folder / "people.csv")
    described = tn.Schema.load(folder / "people.toml")
    loose = tn.Schema.from_dict(described.to_dict())
    for source in (folder / "people.csv", folder.parent / "link.csv"):
        with pytest.raises(OverBudget), tn.protect(source, schema=loose) as data:
            data.ask(QUESTION, epsilon=1, fresh=True)
    shutil.copy(folder / "people.csv", folder.parent / "copy.csv")
    copy = folder.parent / "copy.csv"
    with pytest.raises(OverBudget), tn.protect(copy, schema=described) as data:
        data.ask(QUESTION, epsilon=1, fresh=True)
    # rows that were loaded belong to the file that their schema names
    with pytest.raises(OverBudget), tn.protect(people(), schema=described) as data:
        data.ask(QUESTION, epsilon=1, fresh=True)


def moved(folder: Path, with_log: bool) -> Path:
    """The house on another machine, copied while its ledger is in use."""
    stated = tn.Schema.load(folder / "people.toml").replace(budget={"total": 2})
    stated.save(folder / "people.toml")
    with tn.protect(schema=folder / "people.toml") as data:
        data.ask(QUESTION, epsilon=1, fresh=True)
        other = folder.parent / f"moved {with_log}"
        other.mkdir()
        for name in ("people.csv", "people.toml", "people.ledger"):
            shutil.copy(folder / name, other / name)
        if with_log:
            shutil.copy(folder / "people.ledger-wal", other / "people.ledger-wal")
    return other / "people.toml"


def test_a_ledger_without_its_log_pays_for_nothing(folder: Path) -> None:
    with pytest.raises(InvalidArgument) as refused:
        ask_again(moved(folder, with_log=False))
    assert refused.value.code == "ledger-without-log"
    with pytest.raises(OverBudget):
        ask_again(moved(folder, with_log=True))


def test_unannounced_it_paid_once_more(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant does not make the file say that it is in use."""
    monkeypatch.setattr("tenue.ledger.sqlite.file.announce", lambda connection: None)
    ask_again(moved(folder, with_log=False))
