"""What a holder may give as the table, and where its ledger lies."""

from __future__ import annotations

import gzip
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.source import location as sources
from tenue.engine.source.location import (
    Cluster,
    Database,
    Files,
    Frame,
    Relation,
    Server,
    ledger_places,
    locate,
    names_of,
    paths_of,
)
from tenue.errors import InvalidArgument, InvalidTable
from tenue.schema import Schema


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.csv", "b.csv", "c.parquet", "d.JSONL", "e.tsv.gz", "f.json", "g.xlsx"):
        (tmp_path / name).write_text("x")
    (tmp_path / "h.duckdb").write_text("x")
    (tmp_path / "odd [1]*.csv").write_text("x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "i.csv").write_text("x")
    return tmp_path


def test_paths_start_at_the_folder(folder: Path) -> None:
    assert locate("a.csv", "t", folder) == Files("csv", (folder / "a.csv",))
    assert locate(folder / "c.parquet", "t") == Files("parquet", (folder / "c.parquet",))
    assert locate("d.JSONL", "t", folder) == Files("jsonl", (folder / "d.JSONL",))
    assert locate("e.tsv.gz", "t", folder) == Files("tsv", (folder / "e.tsv.gz",), zipped=True)


def test_patterns_find_files_of_one_kind_in_order(folder: Path) -> None:
    assert locate("?.csv", "t", folder) == Files("csv", (folder / "a.csv", folder / "b.csv"))
    deep = locate("**/i.csv", "t", folder)
    assert deep == Files("csv", (folder / "sub" / "i.csv",))
    assert locate("odd [1]*.csv", "t", folder) == Files("csv", (folder / "odd [1]*.csv",))
    with pytest.raises(InvalidTable, match="several kinds"):
        locate("[ac].*", "t", folder)
    with pytest.raises(InvalidTable, match="No file"):
        locate("z*.csv", "t", folder)


def test_too_many_files_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST_FILES", 1)
    with pytest.raises(InvalidTable, match="2 files"):
        locate("?.csv", "t", folder)


def test_a_database_has_a_table(folder: Path) -> None:
    file = folder / "h.duckdb"
    assert locate("duckdb://h.duckdb", "people", folder) == Database(file, ("people",))
    assert locate("duckdb://h.duckdb#x", "people", folder) == Database(file, ("x",))
    assert locate("DUCKDB://h.duckdb#s.x", "people", folder) == Database(file, ("s", "x"))
    with pytest.raises(InvalidTable, match="does not exist"):
        locate("duckdb://none.duckdb", "t", folder)


def test_a_table_in_a_server_is_named_after_its_address(folder: Path) -> None:
    address = "postgresql://ann@db.example:5433/books?sslmode=require"
    assert locate(f"{address}#s.t", "people") == Server(address, ("s", "t"))
    assert locate(f"{address}#My%20table", "people") == Server(address, ("My table",))
    assert locate(address, "people") == Server(address, ("people",))
    for held in ("postgresql://u:canary@h/db#t", "postgresql://h/db?password=canary#t"):
        with pytest.raises(InvalidArgument) as refusal:
            locate(held, "people")
        assert refusal.value.code == "password-in-address"
        assert "canary" not in str(refusal.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("none.csv", "none.csv does not exist"),
        ("sub", "folder sub holds no Parquet file"),
        ("g.xlsx", "has a file ending that no table has"),
        ("h.duckdb", "duckdb://h.duckdb#table"),
        ("spark://local", "no Parquet file"),
        ("spark://local#a.csv", "no Parquet file"),
        ("sc://host:15002/;token=canary#t", "a token"),
        ("spark://canary@host#t", "a user"),
        ("https://canary/x.parquet", "network"),
        ("s3://canary/x.parquet", "network"),
        ("file:///etc/passwd", "network"),
        ("", "not the name of a file"),
        ("x\0.csv", "not the name of a file"),
        (b"a.csv", "of type bytes"),
    ],
)
def test_everything_else_is_refused(folder: Path, given: object, says: str) -> None:
    if isinstance(given, bytes):
        assert isinstance(locate(given, "t", folder), Frame), "which no data frame will turn out"
        return
    with pytest.raises(InvalidTable, match=says) as refused:
        locate(given, "t", folder)
    assert "canary" not in str(refused.value)
    assert str(folder) not in str(refused.value), "a message names a file by its last part"


def test_addresses_of_spark_name_a_table_or_files(folder: Path) -> None:
    assert locate("spark://host:7077#db.t", "x") == Cluster("spark://host:7077", ("db", "t"))
    assert locate("SC://host:15002/", "people") == Cluster("sc://host:15002", ("people",))
    assert locate("sc://h#/data/t", "x") == Cluster("sc://h", (), "/data/t")
    assert locate("spark://h:1#hdfs://d/t", "x") == Cluster("spark://h:1", (), "hdfs://d/t")


def test_nothing_is_refused_with_what_to_write() -> None:
    with pytest.raises(InvalidArgument, match="`people` has no source"):
        locate(None, "people")


def test_connections_and_relations() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS x")
        assert isinstance(locate(connection, "people"), Relation)
        assert isinstance(locate(connection.sql("SELECT 1 AS x"), "people"), Relation)
        with pytest.raises(InvalidTable, match="no table or view `others`"):
            locate(connection, "others")


def test_anything_else_may_be_a_data_frame() -> None:
    assert isinstance(locate([1], "t"), Frame)


def test_a_folder_is_its_parquet_files(tmp_path: Path) -> None:
    for name in ("b.parquet", "deep/a.pq", "_delta/c.parquet", ".hidden.parquet", "notes.csv"):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).touch()
    found = locate("data/", "t", tmp_path)
    inside = tmp_path / "data"
    assert found == Files("parquet", (inside / "b.parquet", inside / "deep" / "a.pq"))
    assert paths_of(found) == found.paths  # type: ignore[union-attr]


def test_a_database_is_its_file_and_what_was_not_merged_into_it(tmp_path: Path) -> None:
    source = Database(tmp_path / "t.duckdb", ("t",))
    assert paths_of(source) == (tmp_path / "t.duckdb", tmp_path / "t.duckdb.wal")
    assert paths_of(Frame(None)) == ()
    assert names_of(paths_of(source)[:1]) == "t.duckdb"
    assert names_of([Path("x/a.csv"), Path("b.csv"), Path("c.csv")]) == "a.csv and 2 more"


# -- A ledger lies beside the rows, whatever schema describes them ---------------------------------

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
