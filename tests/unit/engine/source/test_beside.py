"""A ledger lies beside the rows, whatever schema describes them."""

from __future__ import annotations

import gzip
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.source.beside import ledger_places
from tenue.engine.source.location import Files, locate
from tenue.errors import InvalidTable
from tenue.schema import Schema

ROWS = pa.table({"age": [1, 2, 3]})


def schema(source: str | None = None, folder: Path = Path()) -> Schema:
    stated = {
        "table": {"name": "people", "unit": "record", "neighbours": "replace"},
        "columns": {"age": {"type": "number", "bounds": [0, 9]}},
    }
    if source is not None:
        stated["table"]["source"] = source
    return Schema.from_dict(stated, folder=folder)


def test_one_file_has_one_ledger_in_any_format(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n1\n")
    (tmp_path / "people.csv.gz").write_bytes(gzip.compress(b"age\n1\n"))
    pq.write_table(ROWS, tmp_path / "people.parquet")
    duckdb.connect(tmp_path / "people.duckdb").close()
    usual = (tmp_path / "people.ledger",)
    for name in ("people.csv", "people.csv.gz", "people.parquet"):
        assert ledger_places(tmp_path / name, schema()) == usual
        assert ledger_places(None, schema(name, tmp_path)) == usual
    assert ledger_places(f"duckdb://{tmp_path}/people.duckdb#people", schema()) == usual


def test_a_link_is_the_file_it_stands_for(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n1\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.csv").symlink_to(tmp_path / "people.csv")
    found = ledger_places(tmp_path / "other" / "mine.csv", schema())
    assert found == (tmp_path / "people.ledger",)


def test_a_folder_has_it_beside_and_a_pattern_in_it(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    (parts / "day").mkdir(parents=True)
    for name in ("a", "day/b"):
        pq.write_table(ROWS, parts / f"{name}.parquet")
    beside, inside = tmp_path / "parts.ledger", parts / "parts.ledger"
    each = (parts / "a.ledger", parts / "day" / "b.ledger")
    assert ledger_places(parts, schema()) == (beside, inside, *each)
    assert ledger_places(parts / "**/*.parquet", schema()) == (inside, beside, *each)


def test_a_folder_or_pattern_that_finds_one_file_has_the_ledger_of_that_file(
    tmp_path: Path,
) -> None:
    """The mutant goes by the name that was given: each way to the one file starts a budget."""
    parts = tmp_path / "parts"
    (parts / "day").mkdir(parents=True)
    pq.write_table(ROWS, parts / "day" / "b.parquet")
    own = parts / "day" / "b.ledger"
    assert ledger_places(parts / "day" / "b.parquet", schema()) == (own,)
    for way in ("", "day", "**/*.parquet", "d*/b.parquet", "day/*", "../*/day/b.parquet"):
        found = ledger_places(parts / way, schema())
        assert found[0] == own
        assert len(found) == 3  # where earlier versions made it


def test_a_ledger_is_no_part_of_the_table_that_it_lies_among(tmp_path: Path) -> None:
    pq.write_table(ROWS, tmp_path / "a.parquet")
    (tmp_path / "x.ledger-owners").mkdir()
    for name in ("x.ledger", "x.ledger-wal", "x.ledger-shm", "x.ledger-owners/1"):
        (tmp_path / name).touch()
    for pattern in ("*", "**/*"):
        found = locate(str(tmp_path / pattern), "people")
        assert isinstance(found, Files)
        assert [path.name for path in found.paths] == ["a.parquet"]


def test_rows_in_no_file_belong_to_the_file_that_their_schema_names(tmp_path: Path) -> None:
    """The mutant keeps them apart: whoever loads the file first starts another budget."""
    (tmp_path / "people.csv").write_text("age\n1\n")
    assert ledger_places(ROWS, schema("people.csv", tmp_path)) == (tmp_path / "people.ledger",)
    assert ledger_places(ROWS, schema("gone.csv", tmp_path)) == ()
    assert ledger_places(ROWS, schema()) == ledger_places(None, schema()) == ()
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people (age INTEGER)")
        assert ledger_places(connection, schema()) == ()


def test_a_copy_of_the_file_is_the_same_table_to_its_schema(tmp_path: Path) -> None:
    for name in ("people", "copy"):
        (tmp_path / f"{name}.csv").write_text("age\n1\n")
    stated = schema("people.csv", tmp_path)
    copy, people = tmp_path / "copy.ledger", tmp_path / "people.ledger"
    assert ledger_places(tmp_path / "copy.csv", stated) == (copy, people)
    assert ledger_places(tmp_path / "people.csv", stated) == (people,)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidTable, match="does not exist"):
        ledger_places(tmp_path / "none.csv", schema())
