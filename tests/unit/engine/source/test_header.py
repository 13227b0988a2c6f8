"""The header decides how a CSV file is split, and rows do not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tenue.engine.source.header import read_header
from tenue.errors import InvalidTable

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
