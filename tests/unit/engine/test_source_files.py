"""Files read from end to end, and counts of their values."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import itertools
import math
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.duckdb.sources import prepare
from tenue.engine.fingerprint import Watched
from tenue.engine.open import open_engine
from tenue.engine.source import file_check
from tenue.engine.source.count_queries import Cell, Tally
from tenue.engine.source.file_check import (
    LONGEST_ROW,
    Scan,
    TextFile,
    advance,
    check_parquet,
    check_size,
    read_header,
    read_whole,
)
from tenue.engine.source.location import Files
from tenue.engine.storage import Floating, Integer, Nothing, Opaque, Storage, Text
from tenue.errors import InvalidTable
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {"x": {"type": "number", "bounds": [0, 1]}},
    }
)


def test_each_limit_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"x" * 1000)
    check_parquet(
        path, rows=10**6, columns=file_check.MOST_COLUMNS, decoded=file_check.LARGEST_FILE
    )
    for wrong in (
        {"rows": file_check.MOST_ROWS + 1},
        {"columns": file_check.MOST_COLUMNS + 1},
        {"decoded": file_check.LARGEST_FILE + 1},
        {"rows": 10**6 + 1},
    ):
        with pytest.raises(InvalidTable, match="too large"):
            check_parquet(path, **({"rows": 1, "columns": 1, "decoded": 1} | wrong))


def test_a_parquet_bomb_is_refused_before_a_row_is_decoded(tmp_path: Path) -> None:
    pieces = pa.table({"x": pa.array([0] * 2**20, pa.int8())})
    with pq.ParquetWriter(tmp_path / "bomb.parquet", pieces.schema, compression="zstd") as file:
        for _ in range(8):
            file.write_table(pieces, row_group_size=2**20)
    assert (tmp_path / "bomb.parquet").stat().st_size < 2**23 / file_check.MOST_ROWS_PER_BYTE
    with pytest.raises(InvalidTable, match=r"bomb\.parquet is too large"):
        open_engine(tmp_path / "bomb.parquet", SCHEMA)


def test_a_compressed_file_counts_at_its_largest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(b"x" * 1000)
    monkeypatch.setattr(file_check, "LARGEST_FILE", 500_000)
    check_size(path, zipped=False)
    with pytest.raises(InvalidTable, match="too large"):
        check_size(path, zipped=True)


# -- The header decides how a CSV file is split, and rows do not -----------------------------------

WANTED = {"age", "pay"}


def header(folder: Path, content: bytes, kind: str = "csv") -> tuple[tuple[str, ...], str]:
    (folder / "x.csv").write_bytes(content)
    found = read_header(folder / "x.csv", kind, zipped=False, wanted=WANTED)
    return found.names, found.separator


def test_the_separator_is_the_one_that_shows_the_declared_names(tmp_path: Path) -> None:
    assert header(tmp_path, b"AGE,x,pay\n1;2;3\n") == (("AGE", "x", "pay"), ",")
    names = ("age", "a,b,c,d,e", "Pay")
    assert header(tmp_path, b"age;a,b,c,d,e;Pay\n1,2,3\n") == (names, ";"), "more is not better"
    assert header(tmp_path, b"age|pay\r\n") == (("age", "pay"), "|")
    assert header(tmp_path, b"age\tpay\n") == (("age", "pay"), "\t")
    assert header(tmp_path, b"age,pay\n", "tsv") == (("age,pay",), "\t")


def test_rows_do_not_change_it(tmp_path: Path) -> None:
    first = header(tmp_path, b"age,pay\n")
    for rows in (b"1;2;3;4\n" * 50, b"\xff\xfe,\x00\n", b'"never closed', b"a|b|c\n" * 99):
        assert header(tmp_path, b"age,pay\n" + rows) == first


def test_quotes_spaces_and_marks_are_understood(tmp_path: Path) -> None:
    content = '\ufeff"age" ,"say ""x""\nthere",pay\n'.encode()
    assert header(tmp_path, content)[0][0] == "age"
    assert header(tmp_path, content)[0][2] == "pay"


def test_a_compressed_header_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"age,pay\n1,2\n"))
    found = read_header(tmp_path / "x.csv.gz", "csv", zipped=True, wanted=WANTED)
    assert found.names == ("age", "pay")


@pytest.mark.parametrize("content", [b"", b"canary" * 40_000 + b"\n", b"\t" * 20_000 + b"\n"])
def test_what_has_no_header_is_refused_without_its_content(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InvalidTable, match=r"x\.csv has no first line") as refused:
        header(tmp_path, content, "tsv")
    assert "canary" not in str(refused.value)
    assert refused.value.__context__ is None


def test_what_is_not_gzip_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv.gz").write_bytes(b"age,pay\n")
    with pytest.raises(InvalidTable):
        read_header(tmp_path / "x.csv.gz", "csv", zipped=True, wanted=WANTED)


def test_without_wanted_names_the_sign_that_parts_most_wins(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for line, names in ((b"a;b,c;d", ("a", "b,c", "d")), (b"a|b", ("a", "b")), (b"a", ("a",))):
        path.write_bytes(line + b"\n1\n")
        assert read_header(path, "csv", zipped=False, wanted=None).names == names


def test_a_declared_separator_is_not_searched_for(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"age:pay,x,y\n")
    found = read_header(tmp_path / "x.csv", "csv", zipped=False, wanted=WANTED, separator=":")
    assert (found.names, found.separator) == (("age", "pay,x,y"), ":")


def test_a_truncated_gzip_file_is_called_that(tmp_path: Path) -> None:
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"age,pay\n" * 50)[:-3])
    with pytest.raises(InvalidTable, match=r"x\.csv\.gz is not a whole gzip file"):
        read_header(tmp_path / "x.csv.gz", "csv", zipped=True, wanted=WANTED)


# A CSV file that is accepted has one reading: DuckDB's, Python's and ours are the same.


def scanned(data: bytes, separator: str = ",", block: int = 10**9) -> tuple[str, int, int]:
    """What is wrong, the line on which that row begins, and how many rows there are."""
    scan = Scan(separator, 0)
    for start in range(0, len(data), block):
        if wrong := scan.feed(data[start : start + block]):
            return wrong, scan.line, scan.rows
    return scan.finish(), scan.line, scan.rows


def by_python(data: bytes, separator: str) -> list[tuple[str | None, ...]]:
    text = io.StringIO(data.decode(), newline="")
    names, *rows = csv.reader(text, strict=True, delimiter=separator)
    one = len(names) == 1
    return [tuple(v or None for v in row) or (None,) for row in rows if row or one]


def by_duckdb(
    data: bytes, folder: Path, connection: duckdb.DuckDBPyConnection
) -> list[tuple[Any, ...]]:
    path = folder / f"{data.hex()}.csv"  # the connection may remember what a file held
    path.write_bytes(data)
    readable = prepare(connection, Files("csv", (path,)), None, ",")
    return connection.execute(f"SELECT * FROM {readable.sql}").fetchall()  # noqa: S608


def short_files() -> Iterator[bytes]:
    """Every file of a first line and up to four signs that matter, and some that are longer."""
    for head in (b"a,b\n", b"a\n", b"a,b\r\n"):
        for length in range(5):
            for signs in itertools.product(b'a,"\n\r ', repeat=length):
                yield head + bytes(signs)
    choose = random.Random(7)
    for _ in range(4000):
        end = choose.choice([b"\n", b"\r\n"])
        parts = [b"a", b",", b'"', end, b" ", b"\t", b'"a"', b",a" + end, b',"a""b"' + end]
        parts += ["é".encode(), b"\0", b"\\", b"#", b"'"]
        length = choose.randint(3, 12)
        yield b"a,b" + end + b"".join(choose.choice(parts) for _ in range(length))


def test_what_is_accepted_is_read_alike_by_everybody(tmp_path: Path) -> None:
    accepted = 0
    connection = duckdb.connect()
    for data in short_files():
        wrong, _, rows = scanned(data)
        if not wrong:
            accepted += 1
            expected = by_python(data, ",")
            assert by_duckdb(data, tmp_path, connection) == expected, data
            assert rows == len(expected), data
    assert accepted > 500


def test_a_reader_that_trusts_duckdb_alone_would_not_pass(tmp_path: Path) -> None:
    # the mutant: whatever DuckDB's strict reader takes is well formed
    for data in (b'a,b\n1, "a"\n', b"a,b\n1,2,\n"):
        assert by_duckdb(data, tmp_path, duckdb.connect()) != by_python(data, ",")
        assert scanned(data)[0]


@pytest.mark.parametrize(
    ("body", "wrong", "line"),
    [
        (b"1,2\n3\n", "has too many or too few values", 3),
        (b"1,2\n3,4,\n", "has too many or too few values", 3),
        (b'1,"x\ny"\n\n3,"Ann" Smith\n', "has something behind a closing quote", 5),
        (b'1,2\n3,"Ann\n5,6\n', "opens a quote that is never closed", 3),
        (b'1, "a"\n', "has a quote behind a space", 2),
        (b"1,2\r3,4\n", "has a carriage return that ends no line", 2),
        (b"1,2\n3,4\r\n", "has a carriage return that ends no line", 3),
        (b"1,2\n3,\xff\n", "has bytes that are not UTF-8", 3),
        (b"1,2\n3,\xc3", "has bytes that are not UTF-8", 3),
        (b"1," + b"x" * LONGEST_ROW + b"\n", "is longer than a row may be", 2),
    ],
)
def test_the_line_is_named(body: bytes, wrong: str, line: int) -> None:
    for block in (10**9, 3) if len(body) < 100 else (10**9,):
        assert scanned(b"a,b\n" + body, block=block)[:2] == (wrong, line)


def test_lines_end_like_the_first_and_the_first_names_columns() -> None:
    assert scanned(b"a,b\r\n1,2\n")[:2] == ("ends unlike the first line", 2)
    assert scanned(b"a,b\r\n1,2\r")[0] == "has a carriage return that ends no line"
    for nameless in (b"", b"\n1,2\n", b"\r\n"):
        assert scanned(nameless)[0] == "is empty and should name the columns"
    assert scanned(b"a,b\r\n1,2\r\n3,4") == ("", 4, 2)
    assert scanned(b"a|b\n1|2,3\n", "|") == ("", 3, 1)


@pytest.mark.parametrize("text", ["é", "߿", "ࠀ", "퟿", "\ue000", "\uffff", "𐀀", "\U0010ffff"])
def test_utf_8_is_accepted_and_nothing_beside_it(text: str) -> None:
    assert scanned(b"a,b\n1," + text.encode() + b"\n") == ("", 3, 1)


def test_exactly_what_python_decodes_is_utf_8() -> None:
    pairs = [bytes(pair) for pair in itertools.product(range(128, 256), repeat=2)]
    longer = [bytes([a, b, 0x80]) for a in range(224, 245) for b in range(128, 192)]
    longest = [bytes([a, b, 0xBF, 0x80]) for a in range(240, 248) for b in range(128, 192)]
    for odd in (*pairs, *longer, *longest):
        try:
            odd.decode()
        except UnicodeDecodeError:
            assert scanned(b"a\n" + odd + b"\n")[0] == "has bytes that are not UTF-8", odd
        else:
            assert scanned(b"a\n" + odd + b"\n") == ("", 3, 1), odd


def test_the_compiled_scan_is_the_plain_one() -> None:
    choose = random.Random(3)
    compiled = Scan(",", 2**40)
    assert compiled._kernel is not None, "numba is installed where tests run"
    for _ in range(3000):
        data = b"a,b\n" + bytes(choose.choices(b'a1,"\n\r \xc3\xa9', k=choose.randint(1, 14)))
        plain: Any = [0] * 12
        plain[5] = plain[6] = 1
        other = np.array(plain, dtype=np.int64)
        found = advance(data, plain, 44)
        assert compiled._kernel(np.frombuffer(data, dtype=np.uint8), other, 44) == found
        assert other.tolist() == plain


# -- Files are read from end to end: digest, rows, and the line that is none -----------------------

PLAIN = b"a,b\n1,2\n3,4\n"


def written(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def test_the_digest_is_of_the_bytes_and_the_rows_of_the_text(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", PLAIN)
    assert read_whole([TextFile(path, ",")]) == (hashlib.sha256(PLAIN).hexdigest(), 2)
    zipped = gzip.compress(PLAIN[:7]) + gzip.compress(PLAIN[7:])
    other = written(tmp_path, "t.csv.gz", zipped)
    assert read_whole([TextFile(other, ",", True)]) == (hashlib.sha256(zipped).hexdigest(), 2)
    marked = written(tmp_path, "m.csv", b"\xef\xbb\xbf" + PLAIN)
    assert read_whole([TextFile(marked, ",")])[1] == 2
    assert read_whole([TextFile(path)])[1] == 0, "the structure was not asked for"


def test_several_files_have_one_digest_and_all_their_rows(tmp_path: Path) -> None:
    paths = [written(tmp_path, f"{i}.csv", PLAIN + b"5,6\n" * i) for i in range(3)]
    digest, rows = read_whole([TextFile(path, ",") for path in paths])
    assert rows == 2 + 3 + 4
    assert digest == Watched(paths).digest()
    assert digest != Watched(paths[::-1]).digest()


def test_a_large_file_is_read_in_blocks_that_cut_anything(tmp_path: Path) -> None:
    row = '1,"é ""x""\nü"\n'.encode()
    path = written(tmp_path, "t.csv", b"a,b\n" + row * 400_000)
    assert read_whole([TextFile(path, ",")])[1] == 400_000
    written(tmp_path, "t.csv", b"a,b\n" + row * 400_000 + b"canary\n" + row)
    with pytest.raises(InvalidTable) as refused:
        read_whole([TextFile(path, ",")])
    assert refused.value.what == "Line 800002 of t.csv has too many or too few values."
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize("separator", [",", ""])
def test_a_broken_gzip_file_is_refused(tmp_path: Path, separator: str) -> None:
    zipped = gzip.compress(PLAIN * 100)
    for broken in (zipped[:-9], zipped[:-8] + b"12345678", b"canary", zipped + b"canary"):
        path = written(tmp_path, "t.csv.gz", broken)
        with pytest.raises(InvalidTable, match=r"t\.csv\.gz is not a whole gzip file") as refused:
            read_whole([TextFile(path, separator, True)])
        assert refused.value.__context__ is None


def test_a_file_that_is_gone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidTable, match=r"t\.csv could not be read to its end") as refused:
        read_whole([TextFile(tmp_path / "t.csv", ",")])
    assert refused.value.__context__ is None


# -- Counts tell values apart as whoever reads the table does --------------------------------------

WHOLE = Integer("BIGINT", -(2**63), 2**63 - 1)
ZEROS = [0.0, -0.0, math.nan, -math.nan, None, 0.0, 1.5, None]


def tallied(values: list[object], kind: pa.DataType, stored: Storage, batch: int = 3) -> Tally:
    """One column, and the number of each row beside it."""
    table = pa.table({"x": pa.array(values, kind), "number": range(len(values))})
    connection = duckdb.connect(":memory:")
    connection.register("given", table)

    def run(sql: str) -> Iterator[pa.RecordBatch]:
        yield from connection.sql(sql).to_arrow_reader(batch)

    cells = {"x": Cell("x", stored), "number": Cell("number", WHOLE)}
    return Tally("DuckDB", DUCKDB, "given", cells, run)


def told(tally: Tally) -> list[tuple[str, int]]:
    whole = pa.concat_tables(tally.tally(["x"])).columns
    return sorted(
        (repr(value), times)
        for value, times in zip(*map(pa.ChunkedArray.to_pylist, whole), strict=True)
    )


def test_the_two_zeros_are_two_values_and_all_nan_are_one() -> None:
    tally = tallied(ZEROS, pa.float64(), Floating())
    assert told(tally) == [("-0.0", 1), ("0.0", 2), ("1.5", 1), ("None", 2), ("nan", 2)]
    assert tally.different("x") == 4
    sizes, groups = tally.sizes(["x"])
    assert dict(zip(sizes.tolist(), groups.tolist(), strict=True)) == {1: 2, 2: 3}


def test_an_engine_alone_takes_the_zeros_for_one() -> None:
    naive = tallied(ZEROS, pa.float64(), WHOLE)
    assert naive.different("x") == 3  # so k would be overstated


def test_texts_are_told_apart_byte_by_byte() -> None:
    words = ["a", "A", "a ", "á", "a\u0301", None, ""]
    assert tallied(list(words), pa.string(), Text()).different("x") == 6


def test_groups_follow_one_another() -> None:
    tally = tallied([2, 1, None, 2, 1, 2], pa.int64(), WHOLE)
    found = pa.concat_tables(tally.tally(["x", "number"]))
    seen = found.column("x").to_pylist()
    assert len(seen) == 6
    assert sum(a != b for a, b in pairwise(seen)) == 2


def test_some_rows_are_every_so_many() -> None:
    tally = tallied(list(range(10)), pa.int64(), WHOLE)
    assert tally.some(["number"], 3, 100).to_pydict() == {"number": [0, 3, 6, 9]}
    assert len(tally.some(["number"], 1, 4)) == 4


def test_an_empty_table_has_no_groups() -> None:
    tally = tallied([], pa.int64(), WHOLE)
    assert [part.tolist() for part in tally.sizes(["x"])] == [[], []]
    assert tally.different("x") == 0


def test_what_is_handed_over_is_counted() -> None:
    tally = tallied([2, 1, None, 2, 1, 2], pa.int64(), WHOLE)
    list(tally.tally(["x"]))
    assert (tally.taken.counts, tally.taken.rows, tally.taken.columns) == (3, 0, [])
    tally.sizes(["x"])
    assert tally.different("x") == 2
    assert tally.taken.counts == 3 + 3 + 1
    tally.some(["x"], 2, 9)
    tally.some(["x", "number"], 2, 2)
    assert tally.taken.rows == 3
    assert tally.load(["number", "x"]).column_names == ["number", "x"]
    tally.load(["x"])
    assert tally.taken.columns == ["number", "x"]
    assert tally.taken.counts == 7


@pytest.mark.parametrize("stored", [Opaque(), Nothing()])
def test_what_is_no_number_text_or_time_is_not_counted(stored: Storage) -> None:
    assert not tallied([1], pa.int64(), stored).can_tell("x")
    assert tallied([1], pa.int64(), WHOLE).can_tell("x")
