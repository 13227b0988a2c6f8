"""How DuckDB reads each kind of source, and what it says of its columns."""

from __future__ import annotations

import gzip
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.contract import FAULT, Cells
from tenue.engine.duckdb.profile import Described
from tenue.engine.open import describe_table as describe
from tenue.engine.open import open_engine
from tenue.engine.request import Group, Measure, Request
from tenue.errors import EngineFault, InvalidTable
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "n": {"type": "number", "bounds": [0, 1000]},
            "c": {"type": "category", "categories": ["a", "b c"]},
        },
    }
)
ALL = Request((Measure("rows"), Measure("present", "n"), Measure("total", "n")))
BY = Request((Measure("rows"), Measure("total", "n")), keys=(Group("c", 2),))


def measured(path: Path | str, request: Request = ALL) -> Cells:
    engine = open_engine(path, SCHEMA)
    found = engine.measure(request)
    engine.close()
    return found


def csv(folder: Path, text: str | bytes, name: str = "t.csv") -> Path:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


def test_one_odd_value_does_not_change_how_the_others_are_read(tmp_path: Path) -> None:
    # a sniffer would call the whole column text, or guess another date format, because of one row
    plain = "n,c\n" + "5,a\n" * 3000
    assert measured(csv(tmp_path, plain)) == {(): (3000, 3000, 15000)}
    for odd in ("five", "5kg", "1e2x", "--", "2020-01-01", "0x10"):
        assert measured(csv(tmp_path, plain + f"{odd},a\n")) == {(): (3001, 3000, 15000)}


def test_numbers_may_be_written_in_every_usual_way(tmp_path: Path) -> None:
    text = 'n,c\n 7 ,a\n"8",a\n1e1,a\n+5,a\n2.5,a\ninf,a\n-inf,a\nnan,a\n,a\n1e400,a\n'
    assert measured(csv(tmp_path, text)) == {(): (10, 8, 7 + 8 + 10 + 5 + 3 + 1000 + 0 + 1000)}


def test_a_line_that_is_no_row_is_never_left_out(tmp_path: Path) -> None:
    good = "n,c\n1,a\n2,b c\n"
    assert measured(csv(tmp_path, good)) == {(): (2, 2, 3)}
    for broken in (b"3\n", b"3,a,4\n", b'3,"a" b\n', b'3,"never closed'):
        with pytest.raises(EngineFault, match=f"^{FAULT}$"):
            measured(csv(tmp_path, good.encode() + broken))


def test_quotes_newlines_and_windows_endings(tmp_path: Path) -> None:
    text = '\ufeff"n","other, one",c\r\n1,"say ""hi""\r\nthere",a\r\n2,,"b c"\r\n'
    assert measured(csv(tmp_path, text), BY) == {(0,): (1, 1), (1,): (1, 2)}


def test_files_of_one_pattern_may_order_their_columns_differently(tmp_path: Path) -> None:
    csv(tmp_path, "n,c\n1,a\n", "p1.csv")
    csv(tmp_path, "x;c;n\n;b c;20\n", "p2.csv")
    assert measured(tmp_path / "p*.csv", BY) == {(0,): (1, 1), (1,): (1, 20)}


def test_a_header_without_a_declared_column_is_refused_by_that_columns_name(tmp_path: Path) -> None:
    # without a header the first row would be taken for one: it must not be quoted
    with pytest.raises(InvalidTable, match="no column `n`") as refused:
        measured(csv(tmp_path, "canary,17\n1,a\n"))
    assert "canary" not in str(refused.value)


def test_repeated_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidTable, match="more than one column"):
        measured(csv(tmp_path, "n,c,N\n1,a,2\n"))
    assert measured(csv(tmp_path, "n,c,x,X\n1,a,2,3\n"))[()] == (1, 1, 1), "these are invisible"
    table = pa.table([[1], [2], ["a"]], names=["n", "N", "c"])
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InvalidTable, match="more than one column"):
        measured(tmp_path / "t.parquet")


def test_nested_columns_of_parquet_are_not_mistaken_for_others(tmp_path: Path) -> None:
    table = pa.table({"s": [{"n": 1, "deep": {"n": 2}}], "n": [5], "c": ["a"]})
    pq.write_table(table, tmp_path / "t.parquet")
    assert measured(tmp_path / "t.parquet") == {(): (1, 1, 5)}


def test_parquet_files_of_one_pattern_are_stored_alike(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1], "c": ["a"]}), tmp_path / "p1.parquet")
    pq.write_table(pa.table({"n": [1.5], "c": ["a"]}), tmp_path / "p2.parquet")
    with pytest.raises(InvalidTable, match=r"p2\.parquet has other columns"):
        measured(tmp_path / "p*.parquet")


def test_folder_names_are_no_columns(tmp_path: Path) -> None:
    (tmp_path / "n=5").mkdir()
    pq.write_table(pa.table({"c": ["a"]}), tmp_path / "n=5" / "t.parquet")
    with pytest.raises(InvalidTable, match="no column `n`"):
        measured(tmp_path / "n=5" / "t.parquet")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('[{"n": 1, "c": "a"}, {"n": "2"}, null, {"n": {"x": 1}}]', (4, 2, 3)),
        ('{"n": 1}\n{"n":\n2} {"n": true}', (3, 2, 3)),
        ("", None),
        ("[]", None),
    ],
)
def test_json_in_either_layout(tmp_path: Path, text: str, rows: Any) -> None:
    found = measured(csv(tmp_path, text, "t.json"))
    assert found == ({} if rows is None else {(): rows})


def test_json_lines_that_are_no_objects_are_never_left_out(tmp_path: Path) -> None:
    good = b'{"n": 1}\n{"n": 1e999}\n{"n": NaN}\n'
    assert measured(csv(tmp_path, good, "t.jsonl")) == {(): (3, 2, 1001)}
    for broken in (b"not json\n", b'{"n": "\xff"}\n', b"5\n", b'{"n": "\\ud800"}\n'):
        with pytest.raises(EngineFault, match=f"^{FAULT}$"):
            measured(csv(tmp_path, good + broken, "t.jsonl"))


def test_text_that_is_not_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidTable, match="does not hold JSON objects") as refused:
        measured(csv(tmp_path, "canary", "t.json"))
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize("name", ["t.parquet", "t.pq"])
@pytest.mark.parametrize("content", [b"", b"canary", b"PAR1canaryPAR1", b"PAR1" + b"\xff" * 90])
def test_what_is_not_parquet_is_refused_without_quoting_it(
    tmp_path: Path, name: str, content: bytes
) -> None:
    with pytest.raises(InvalidTable, match="could not be opened") as refused:
        measured(csv(tmp_path, content, name))
    assert "canary" not in str(refused.value)
    assert refused.value.__context__ is None


def test_a_file_that_may_not_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = csv(tmp_path, "n,c\n1,a\n")

    def denied(*_: object, **__: object) -> Any:
        raise PermissionError("canary")

    monkeypatch.setattr("builtins.open", denied)
    with pytest.raises(InvalidTable) as refused:
        measured(path)
    assert "canary" not in str(refused.value)


def test_names_with_quotes_reach_the_engine_whole(tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s "odd"; DROP'
    folder.mkdir()
    assert measured(csv(folder, "n,c\n1,a\n")) == {(): (1, 1, 1)}
    pq.write_table(pa.table({"n": [1], "c": ["a"]}), folder / "t.parquet")
    assert measured(folder / "t.parquet") == {(): (1, 1, 1)}


# -- What a file says about its own columns --------------------------------------------------------

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


def test_what_nearly_never_repeats_names_somebody(tmp_path: Path) -> None:
    """One file that was entered twice made every name a category, and every number a value."""
    again = [*range(990), *range(10)]
    columns = {
        "word": [f"w{i % 900}" for i in range(1000)],
        "account": [str(10**9 + 7919 * i**2) for i in again],
        "number": [str(i) for i in again],
        "price": [str(i * 37 % 950 * 8) for i in range(1000)],
        "half": [f"h{i // 2 % 200}" for i in range(1000)],
    }
    found = describe(write(tmp_path / "t.csv", columns))
    assert [c.type for c in found] == ["identifier"] * 3 + ["number", "category"]
    assert not any(c.many for c in found)


@pytest.mark.parametrize("values", [False, True])
def test_a_list_of_many_texts_is_no_category(tmp_path: Path, values: bool) -> None:
    """It drafted 1,500 names as a category, for the holder to list them."""
    columns = {
        "street": [f"n{i % 1500}" for i in range(6000)],
        "town": [f"t{i % 200}" for i in range(6000)],
    }
    street, town = describe(write(tmp_path / "t.csv", columns), values=values)
    assert (street.type, street.many, street.categories) == ("identifier", True, None)
    assert (town.type, town.many) == ("category", False)
    assert len(town.categories or range(200)) == 200


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
