"""A new budget for the same rows: by a copy of the schema, another name of the rows, or a copy of
the ledger without its log."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.errors import Conflict, InvalidArgument, OverBudget
from unit.publish.census import people, schema

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
    for name in ("tenue.ask.dataset", "tenue.publish.publish"):
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


TABLE = '[table]\nname = "t"\nunit = "record"\nneighbours = "replace"\n'
STATED = """
[columns.x]
type = "number"
bounds = [0, 10]
[budget]
total = 1
"""


def answered(schema: Path, sources: list[Path | None]) -> int:
    """How many of the sources answer a question that takes the whole budget."""
    for i, source in enumerate(sources):
        try:
            with tn.protect(source, schema=schema) as data:
                data.ask("SELECT COUNT(*) FROM t WHERE x > 1", epsilon=1, fresh=True)
        except OverBudget:
            return i
    return len(sources)


@pytest.fixture
def single(tmp_path: Path) -> Path:
    """A schema, and a folder with one file."""
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"x": [5] * 100}), tmp_path / "data" / "x.parquet")
    (tmp_path / "s.toml").write_text(TABLE + STATED)
    return tmp_path / "s.toml"


def test_what_is_refused_before_the_table_is_open_leaves_no_ledger(single: Path) -> None:
    """It was left beside the schema, and taken for the one of the data from then on."""
    with pytest.raises(tn.Refused):
        tn.protect(schema=single)
    wrong = single.with_name("wrong.csv")
    wrong.write_text("y\n5\n")
    with pytest.raises(tn.Refused):
        tn.protect(wrong, schema=single)
    assert list(single.parent.rglob("*.ledger*")) == []


@pytest.mark.parametrize("linked", [True, False])
def test_a_ledger_beside_the_schema_is_found_by_copies_of_the_schema(
    single: Path, monkeypatch: pytest.MonkeyPatch, linked: bool
) -> None:
    """The mutant leaves no link beside the data: the copy has a budget of its own."""
    if not linked:
        monkeypatch.setattr("tenue.ledger.locate.Place._leave_link", lambda *given: None)
    single.write_text(TABLE + 'source = "data/x.parquet"\n' + STATED)
    tn.ledger.SQLite(single.with_suffix(".ledger")).close()
    copy = single.with_name("copy.toml")
    shutil.copy(single, copy)
    assert answered(single, [None]) == 1
    assert answered(copy, [None]) == (0 if linked else 1)


NAMES = ["x.parquet", "", "*.parquet", "../*/x.parquet", "../**/*.parquet", "[x].parquet"]


@pytest.mark.parametrize("first", range(len(NAMES)))
def test_other_names_of_the_same_rows_have_the_same_budget(single: Path, first: int) -> None:
    ways = [single.parent / "data" / name for name in NAMES[first:] + NAMES[:first]]
    assert answered(single, list(ways)) == 1
    assert list(single.parent.rglob("*.ledger")) == [single.parent / "data" / "x.ledger"]


def test_by_the_name_that_was_given_they_had_three(
    single: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old rule: a folder and a pattern have ledgers of their own, however many files there
    are."""

    def by_name(source: Path, name: str) -> tuple[Path, ...]:
        return (source.parent / f"{source.name.strip('*')}.ledger",)

    monkeypatch.setattr("tenue.engine.source.location._places", by_name)
    data = single.parent / "data"
    assert answered(single, [data / "x.parquet", data, data / "*.parquet"]) == 3


def test_a_folder_of_several_files_finds_the_ledger_of_one(single: Path) -> None:
    data = single.parent / "data"
    assert answered(single, [data / "x.parquet"]) == 1
    pq.write_table(pa.table({"x": [6] * 100}), data / "y.parquet")
    assert answered(single, [data]) == answered(single, [data / "*.parquet"]) == 0
    tn.ledger.SQLite(data / "y.ledger").close()
    with pytest.raises(Conflict) as refused:
        tn.protect(data, schema=single)
    assert refused.value.code == "two-ledgers"


def test_a_folders_ledger_is_found_by_the_one_file_in_it(single: Path) -> None:
    """Earlier versions made it beside the folder; its first use leaves a link beside the file."""
    data = single.parent / "data"
    tn.ledger.SQLite(single.parent / "data.ledger").close()
    assert answered(single, [data, data / "x.parquet"]) == 1


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
    monkeypatch.setattr("tenue.ledger.store.sqlite.ledger.announce", lambda connection: None)
    ask_again(moved(folder, with_log=False))
