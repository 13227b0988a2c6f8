"""A CSV file that is accepted has one reading: DuckDB's, Python's and ours are the same."""

from __future__ import annotations

import csv
import io
import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from tenue.engine.duckdb.reader import prepare
from tenue.engine.source.location import Files
from tenue.engine.source.scan import LONGEST_ROW, Scan, advance


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
