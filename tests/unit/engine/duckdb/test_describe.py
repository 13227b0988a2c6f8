"""What a file says about its own columns."""

from __future__ import annotations

import gzip
from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.duckdb.describe import Described
from tenue.engine.open import describe_table as describe
from tenue.errors import InvalidTable

TABLE = pa.table(
    {
        "n": pa.array([3, 9], pa.int32()),
        "x": [0.5, 2.25],
        "c": ["b", "a"],
        "t": [True, None],
        "d": [date(2020, 1, 1), date(2021, 1, 1)],
        "same": [4, 4],
    }
)


def test_types_come_without_values(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    assert describe(tmp_path / "t.parquet") == [
        Described("n", "number", whole=True),
        Described("x", "number"),
        Described("c", "category"),
        Described("t", "boolean"),
        Described("d", "date"),
        Described("same", "number", whole=True),
    ]


def test_values_come_only_when_asked_for(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    n, x, c, _, d, same = describe(tmp_path / "t.parquet", values=True)
    assert (n.bounds, x.bounds, c.categories) == ((3, 9), (0.5, 2.25), ("a", "b"))
    assert d.bounds == (date(2020, 1, 1), date(2021, 1, 1))
    assert same.bounds is None  # one value is no interval


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"PAR1 and then nothing"])
def test_what_is_no_table_is_refused_without_quoting_it(tmp_path: Path, content: bytes) -> None:
    for name in ("t.parquet", "t.txt"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidTable) as refused:
            describe(tmp_path / name)
        assert "nothing" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("twice.csv", b"a,A\n1,2\n"),
        ("wide.csv", b",".join(b"c%d" % i for i in range(10_001)) + b"\n"),
    ],
)
def test_what_could_not_be_asked_is_not_described(
    tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidTable):
        describe(tmp_path / name)


def test_zipped_files_are_described(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a;b\n1;x\n2;y\n"))
    assert [c.name for c in describe(path)] == ["a", "b"]


def write(path: Path, columns: dict[str, list[str]]) -> Path:
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *map(",".join, rows)]) + "\n")
    return path


def test_usual_marks_are_found_and_do_not_hide_what_a_column_is(tmp_path: Path) -> None:
    columns = {
        "age": ["30", "?", "41", " NA "],
        "rate": ["0.5", "-", "2", "2"],
        "born": ["2001-02-03", "N/A", "", "1999-1-1"],
        "seen": ["2001-02-03 10:00:00", "null", "", "1999-01-01T01:02:03"],
        "well": ["true", "unknown", "False", "true"],
        "code": ["007", "?", "012", "100"],
        "word": ["x", "y", "refused", "?"],
    }
    assert describe(write(tmp_path / "t.csv", columns)) == [
        Described("age", "number", whole=True, marks=("?", "NA")),
        Described("rate", "number", marks=("-",)),
        Described("born", "date", marks=("N/A",)),
        Described("seen", "datetime", marks=("null",)),
        Described("well", "boolean", marks=("unknown",)),
        Described("code", "category", marks=("?",)),
        Described("word", "category", marks=("?",)),
    ]


def test_numbers_are_never_guessed_to_be_marks_and_no_other_text_is(tmp_path: Path) -> None:
    columns = {"age": ["30"] * 298 + ["-9", "refused"]}
    assert describe(write(tmp_path / "t.csv", columns)) == [Described("age", "number")]


def test_marks_are_no_bounds_and_no_categories(tmp_path: Path) -> None:
    columns = {"age": ["30", "?", "41"], "word": ["b", "NA", "a"]}
    age, word = describe(write(tmp_path / "t.csv", columns), values=True)
    assert age.bounds == (30, 41)
    assert word.categories == ("a", "b")


@pytest.mark.parametrize(
    "name", ["id", "ID", "patient_id", "patientId", "person-ID", "uuid", "user_email", "SSN"]
)
def test_names_of_identifiers_are_known(tmp_path: Path, name: str) -> None:
    (found,) = describe(write(tmp_path / "t.csv", {name: ["1", "1", "2"]}))
    assert found.type == "identifier"


@pytest.mark.parametrize("name", ["paid", "PAID", "idea", "humid", "rapid", "width"])
def test_names_that_only_end_alike_are_not(tmp_path: Path, name: str) -> None:
    (found,) = describe(write(tmp_path / "t.csv", {name: ["1", "1", "2"]}))
    assert found.type == "number"


def test_what_never_repeats_names_somebody(tmp_path: Path) -> None:
    columns = {
        "number": [str(i) for i in range(200)],
        "word": [f"w{i}" for i in range(200)],
        "account": [str(10**9 + 7919 * i**2) for i in range(200)],
        "rate": [f"{i}.5" for i in range(200)],
        "twice": [str(i // 2) for i in range(200)],
        "income": [str(i**2 * 7) for i in range(200)],
    }
    path = write(tmp_path / "t.csv", columns)
    assert [c.type for c in describe(path)] == ["identifier"] * 3 + ["number"] * 3
    few = {name: values[:50] for name, values in columns.items()}
    found = describe(write(tmp_path / "few.csv", few))
    assert [c.type for c in found] == ["number", "category", *["number"] * 4]


def test_every_kind_of_stored_table_is_described(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"n": 3, "c": "x"}, {"n": null, "c": "?"}]')
    (tmp_path / "b.jsonl").write_text('{"n": 3, "c": "x"}\n{"c": "?"}\n')
    (tmp_path / "c.json.gz").write_bytes(gzip.compress(b'[{"n": 3, "c": "?"}]'))
    pq.write_table(pa.table({"n": [3], "c": ["?"]}), tmp_path / "d1.parquet")
    pq.write_table(pa.table({"n": [4], "c": ["x"]}), tmp_path / "d2.parquet")
    with duckdb.connect(str(tmp_path / "e.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 3 AS n, '?' AS c")
    expected = [Described("n", "number", whole=True), Described("c", "category", marks=("?",))]
    for name in ("a.json", "b.jsonl", "c.json.gz", "d*.parquet"):
        assert describe(tmp_path / name) == expected
    assert describe(f"duckdb://{tmp_path / 'e.duckdb'}#t") == expected
    with pytest.raises(InvalidTable, match="Only files"):
        describe(TABLE)
