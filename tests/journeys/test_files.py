"""A file from its first opening to its last: validated by the holder, once; watched ever after."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.engine.contract import CHANGED, FAULT
from tenue.engine.duckdb.engine import DuckDB
from tenue.errors import EngineFault, InvalidQuestion, InvalidSchema, InvalidTable
from tenue.ledger import Memory

COUNT = "SELECT COUNT(*) FROM people WHERE age > 10"
FIXED = "The table is not as its holder opened it last."


def schema(**table: Any) -> dict[str, Any]:
    return {
        "table": {"name": "people", "unit": "record", "neighbours": "replace", **table},
        "columns": {"age": {"type": "number", "bounds": [0, 100]}},
        "budget": {"total": 1000, "per_analyst": 500},
    }


def write(path: Path, ages: list[int]) -> None:
    """A table of these ages, in the kind that the path says."""
    table = pa.table({"age": ages, "note": ["x"] * len(ages)})
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    elif path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        path.unlink(missing_ok=True)
        with duckdb.connect(str(path)) as connection:
            connection.register("given", table)
            connection.execute("CREATE TABLE people AS SELECT * FROM given")


KINDS = ["csv", "parquet", "jsonl", "duckdb"]


@pytest.fixture(params=KINDS)
def path(request: Any, tmp_path: Path) -> Path:
    made: Path = tmp_path / f"people.{request.param}"
    write(made, [20] * 300)
    return made


def source(path: Path) -> str:
    return f"duckdb://{path}#people" if path.suffix == ".duckdb" else str(path)


def opened(path: Path, ledger: Any, analyst: str | None = None, **table: Any) -> Any:
    return tn.protect(source(path), schema=schema(**table), ledger=ledger, analyst=analyst)


def kinds(ledger: Any) -> list[str]:
    return [entry.kind for entry in ledger.entries()]


def test_the_holder_validates_once_and_later_openings_read_no_row(path: Path) -> None:
    books = Memory()
    with pytest.raises(InvalidTable) as refused:
        opened(path, books, "ann")
    assert refused.value.what == FIXED
    assert opened(path, books).opening.read
    with (
        mock.patch.object(DuckDB, "validate", side_effect=AssertionError),
        mock.patch.object(DuckDB, "_run", side_effect=AssertionError),
        mock.patch("tenue.engine.fingerprint.Watched.digest", side_effect=AssertionError),
    ):
        assert not opened(path, books).opening.read
        assert opened(path, books, "ann").opening is None
    assert abs(opened(path, books, "ann").ask(COUNT, epsilon=100).value - 300) < 5
    assert kinds(books).count("source-validated") == 1
    assert books.verify()


def test_an_opening_reads_as_many_bytes_whatever_the_rows(tmp_path: Path) -> None:
    read: list[int] = []
    for rows in (5_000, 500_000):
        path, books = tmp_path / f"{rows}.csv", tn.ledger.SQLite(tmp_path / f"{rows}.ledger")
        write(path, [20] * rows)
        opened(path, books)
        before = int(Path("/proc/self/io").read_text().split()[1])
        opened(path, books, "ann")
        read.append(int(Path("/proc/self/io").read_text().split()[1]) - before)
    assert path.stat().st_size > 3_000_000
    assert read[1] < read[0] + 1_200_000, "a header is looked for in a mebibyte"


def test_a_changed_file_is_refused_until_the_holder_opens_it_again(path: Path) -> None:
    books = Memory()
    opened(path, books)
    write(path, [20] * 200)
    os.utime(path, ns=(1, 1))
    messages = set()
    for change in (lambda: None, lambda: os.truncate(path, 10), path.unlink):
        change()
        with pytest.raises(InvalidTable) as refused:
            opened(path, books, "ann")
        messages.add(str(refused.value))
        assert refused.value.__context__ is None
    assert len(messages) == 1
    write(path, [20] * 100)
    assert opened(path, books).opening.read
    assert abs(opened(path, books, "ann").ask(COUNT, epsilon=100).value - 100) < 5
    assert kinds(books).count("source-validated") == 2


def test_a_file_that_was_copied_is_known_by_its_digest(path: Path) -> None:
    books = Memory()
    opened(path, books)
    os.utime(path, ns=(10**18, 10**18))
    with mock.patch.object(DuckDB, "validate", side_effect=AssertionError):
        assert not opened(path, books).opening.read
        assert opened(path, books, "ann").opening is None
    facts: list[Any] = [e.fact for e in books.entries() if e.kind == "source-validated"]
    assert len({fact.digest for fact in facts}) == 1
    assert [fact.modified == 10**18 for fact in facts] == [False, True]


def test_another_declared_column_is_validated_before_it_is_asked_about(tmp_path: Path) -> None:
    path, books = tmp_path / "people.parquet", Memory()
    far = pa.array([0, 10**16], pa.timestamp("ms"))
    pq.write_table(pa.table({"age": [1, 2], "at": far}), path)
    opened(path, books)
    more = schema()
    bounds = ["2020-01-01T00:00:00", "2021-01-01T00:00:00"]
    more["columns"]["at"] = {"type": "datetime", "bounds": bounds}
    with pytest.raises(InvalidTable, match="not as its holder opened it"):
        tn.protect(path, schema=more, ledger=books, analyst="ann")
    with pytest.raises(InvalidTable, match=r"column `at` of people\.parquet could not be read"):
        tn.protect(path, schema=more, ledger=books)
    assert kinds(books).count("source-validated") == 1


def test_the_stated_number_of_rows_is_the_holders_business(path: Path) -> None:
    books = Memory()
    with pytest.raises(InvalidSchema, match="states rows = 299"):
        opened(path, books, rows=299)
    with pytest.raises(InvalidTable, match="not as its holder opened it"):
        opened(path, books, "ann", rows=299)
    opened(path, books, rows=300)
    with mock.patch.object(DuckDB, "measure", side_effect=AssertionError):
        opened(path, books, "ann", rows=300)
    with pytest.raises(InvalidTable, match="not as its holder opened it"):
        opened(path, books, "ann", rows=299)


def other(path: Path) -> Path:
    """A file of the same kind with other rows, beside it."""
    made = path.with_name(f"other{path.suffix}")
    write(made, [20] * 9)
    return made


def swapped_back(path: Path) -> None:
    aside, new = path.with_name("aside"), other(path)
    path.rename(aside)
    new.rename(path)
    path.unlink()
    aside.rename(path)


CHANGES: dict[str, Callable[[Path], object]] = {
    "replaced": lambda path: other(path).replace(path),
    "truncated": lambda path: os.truncate(path, path.stat().st_size // 2),
    "removed": Path.unlink,
    "swapped and swapped back": swapped_back,
    "written in place": lambda path: shutil.copyfile(other(path), path),
}


@pytest.mark.parametrize("change", CHANGES)
def test_between_two_questions(path: Path, change: str) -> None:
    books = Memory()
    opened(path, books)
    with opened(path, books, "ann") as data:
        data.ask(COUNT, epsilon=1)
        CHANGES[change](path)
        for ask, what in ((data.ask, COUNT), (data.ask_many, [COUNT])):
            with pytest.raises(InvalidTable) as refused:
                ask(what, fresh=True, epsilon=1)
            assert refused.value.what == FIXED
        assert data.budget.spent == 1, "nothing was charged"
        assert data.ask(COUNT, epsilon=1).price == 0, "an answer that was given may be repeated"


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("moment", ["before the rows are read", "after"])
def test_during_a_question(path: Path, change: str, moment: str) -> None:
    books = Memory()
    with opened(path, books) as data:
        real = data._dataset.engine._run

        def run(sql: str) -> Any:
            if moment == "after":
                found = real(sql)
                CHANGES[change](path)
                return found
            CHANGES[change](path)
            return real(sql)

        data._dataset.engine._run = run
        with pytest.raises(EngineFault) as failed:
            data.ask(COUNT, epsilon=1, key="k")
        assert str(failed.value) in (FAULT, CHANGED)
        assert data.budget.spent == 1, "a row may have been read"
        assert kinds(books)[-1] == "unanswered"
        assert "answered" not in kinds(books)


def test_a_session_that_does_not_look_would_answer_from_another_file(tmp_path: Path) -> None:
    # the mutant: without looking, the question is answered from rows that nobody validated
    path, books = tmp_path / "people.csv", Memory()
    write(path, [20] * 300)
    with opened(path, books) as data:
        write(path, [20] * 9)
        with mock.patch("tenue.engine.fingerprint.Watched.unchanged", return_value=True):
            assert abs(data.ask(COUNT, epsilon=100).value - 9) < 5
        with pytest.raises(InvalidTable):
            data.ask(COUNT, epsilon=100, fresh=True)


def with_note(folder: Path, note: str) -> Path:
    """A file of 3,000 rows, one of which has this in a column that nobody declared."""
    rows = ["20,x"] * 3000
    rows[4] = f"20,{note}"
    path = folder / "people.csv"
    path.write_bytes("\n".join(["age,note", *rows, ""]).encode())
    return path


@pytest.mark.parametrize("note", ['"Ann" Smith', '"Ann', "Ann\rb", ' "Ann"', "Ann,y"])
def test_a_field_that_nobody_declared_swallows_no_row(tmp_path: Path, note: str) -> None:
    with pytest.raises(InvalidTable) as refused:
        opened(with_note(tmp_path, note), Memory())
    assert refused.value.what.startswith("Line 6 of people.csv ")
    assert "Ann" not in str(refused.value)


@pytest.mark.parametrize("note", ['"Ann ""A."" Smith"', 'Ann "A." Smith', "Ann\0", '"A\nnn"', ""])
def test_what_has_one_reading_is_read(tmp_path: Path, note: str) -> None:
    with opened(with_note(tmp_path, note), Memory()) as data:
        assert abs(data.ask(COUNT, epsilon=100).value - 3000) < 5


def test_the_old_reader_swallowed_them(tmp_path: Path) -> None:
    # the mutant: lines that are no rows are left out, as they were until 0.1.0
    path = with_note(tmp_path, '"Ann')
    lenient = (
        f"SELECT count(*) FROM read_csv('{path}', auto_detect = false, "  # noqa: S608
        "header = true, delim = ',', quote = '\"', escape = '\"', ignore_errors = true, "
        "columns = {'f0': 'VARCHAR', 'f1': 'VARCHAR'})"
    )
    with duckdb.connect() as connection:
        assert connection.execute(lenient).fetchall() == [(4,)]


def test_relations_and_connections_are_read_whenever_they_are_opened() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE base AS SELECT '20' AS word FROM range(50)")
        connection.execute("CREATE VIEW people AS SELECT CAST(word AS INTEGER) AS age FROM base")
        books = Memory()
        assert tn.protect(connection, schema=schema(), ledger=books).opening.read
        connection.execute("UPDATE base SET word = 'canary' WHERE rowid = 7")
        for analyst, said in ((None, "The column `age` could not be read."), ("ann", FIXED)):
            with pytest.raises(InvalidTable) as refused:
                tn.protect(connection, schema=schema(), ledger=books, analyst=analyst)
            assert refused.value.what == said
            assert "canary" not in str(refused.value)
        assert "source-validated" not in kinds(books)


def test_what_is_unreadable_is_told_to_the_holder_and_to_nobody_else(tmp_path: Path) -> None:
    path, ledger = tmp_path / "people.csv", tmp_path / "people.ledger"
    path.write_text("age,note\n" + "20,x\n" * 50 + "twenty,x\n" * 7)
    holder = opened(path, ledger)
    assert holder.opening.unreadable == {"age": 7}
    assert str(holder.opening) == (
        "Values that cannot be read as declared count as missing: `age` 7 (no number)."
    )
    holder.ledger.export(tmp_path / "export.jsonl")
    assert "unreadable" not in (tmp_path / "export.jsonl").read_text()
    holder.close()
    analyst = opened(path, ledger, "ann")
    assert analyst.opening is None


def test_a_declared_separator_and_gzip(tmp_path: Path) -> None:
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(b"age:note,age\n" + b"20:x,1\n" * 300))
    with opened(path, Memory(), separator=":") as data:
        assert abs(data.ask(COUNT, epsilon=100).value - 300) < 5
    path.write_bytes(gzip.compress(b"age:note,age\n" + b"20:x,1\n" * 300)[:-5])
    with pytest.raises(InvalidTable, match=r"people\.csv\.gz is not a whole gzip file"):
        opened(path, Memory(), separator=":")


@pytest.mark.parametrize("spelled", ["data", "data/", "data/*.parquet", "data/**/*.parquet"])
def test_folders_of_parquet_files(tmp_path: Path, spelled: str) -> None:
    nested = tmp_path / "data" / "year=2020"
    nested.mkdir(parents=True)
    for place in (tmp_path / "data" / "a.parquet", tmp_path / "data" / "b.parquet"):
        write(place, [20] * 100)
    write(nested / "c.parquet", [20] * 100)
    expected = 200 if spelled == "data/*.parquet" else 300
    books = Memory()
    given = f"{tmp_path}/{spelled}"
    data = tn.protect(given, schema=schema(), ledger=books)
    assert abs(data.ask(COUNT, epsilon=100).value - expected) < 5
    write(tmp_path / "data" / "d.parquet", [20])
    with pytest.raises(InvalidTable, match="not as its holder"):
        tn.protect(given, schema=schema(), ledger=books, analyst="ann")


def test_a_lone_surrogate_in_a_question_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    write(path, [20] * 30)
    with opened(path, Memory()) as data:
        for sql in (f"{COUNT} AND note = '\ud800'", "SELECT \udfff FROM people"):
            for call in (data.ask, data.explain):
                with pytest.raises(InvalidQuestion, match="surrogate"):
                    call(sql, epsilon=1)
            with pytest.raises(InvalidQuestion, match="surrogate"):
                data.ask_many([sql], epsilon=1)
        assert data.budget.spent == 0


@pytest.mark.any_draw("what is told of a file, and that an answer is repeated, hangs on no draw")
def test_the_command_line_tells_the_holder_once_on_standard_error(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,note\n" + "20,x\n" * 50 + "canary,x\n" * 7)
    (tmp_path / "people.toml").write_text(
        '[table]\nname = "people"\nsource = "people.csv"\nunit = "record"\n'
        'neighbours = "replace"\n[columns.age]\ntype = "number"\nbounds = [0, 100]\n'
        "[budget]\ntotal = 10\n"
    )

    def asked() -> subprocess.CompletedProcess[str]:
        line = ["-m", "tenue", "ask", COUNT, "--schema", "people.toml", "--epsilon", "1", "--json"]
        return subprocess.run(
            [sys.executable, *line], cwd=tmp_path, capture_output=True, text=True, check=True
        )

    first, second = asked(), asked()
    assert "`age` 7 (no number)" in first.stderr
    assert second.stderr == ""
    assert json.loads(first.stdout)["value"] == json.loads(second.stdout)["value"]
    assert "canary" not in first.stderr + first.stdout


def test_validation_is_what_every_holder_goes_through(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('age,note\n20,x\n20,"Ann" Smith\n')
    broken = r"Line 3 of people\.csv has something behind a closing quote"
    with pytest.raises(InvalidTable, match=broken):
        opened(path, Memory())
    with pytest.raises(InvalidTable, match=broken):
        tn.evaluate.check(path, quasi_identifiers=["age"])
    released = schema()
    released["columns"]["age"]["role"] = "quasi-identifier"
    with pytest.raises(InvalidTable, match=broken):
        tn.publish(path, schema=released, method="microaggregate", k=2, ledger=False)
