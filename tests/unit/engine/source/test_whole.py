"""Files are read from end to end: digest, rows, and the line that is none."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from tenue.engine.source.whole import Text, read_whole
from tenue.engine.watch import Watched
from tenue.errors import InvalidTable

PLAIN = b"a,b\n1,2\n3,4\n"


def written(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def test_the_digest_is_of_the_bytes_and_the_rows_of_the_text(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", PLAIN)
    assert read_whole([Text(path, ",")]) == (hashlib.sha256(PLAIN).hexdigest(), 2)
    zipped = gzip.compress(PLAIN[:7]) + gzip.compress(PLAIN[7:])
    other = written(tmp_path, "t.csv.gz", zipped)
    assert read_whole([Text(other, ",", True)]) == (hashlib.sha256(zipped).hexdigest(), 2)
    marked = written(tmp_path, "m.csv", b"\xef\xbb\xbf" + PLAIN)
    assert read_whole([Text(marked, ",")])[1] == 2
    assert read_whole([Text(path)])[1] == 0, "the structure was not asked for"


def test_several_files_have_one_digest_and_all_their_rows(tmp_path: Path) -> None:
    paths = [written(tmp_path, f"{i}.csv", PLAIN + b"5,6\n" * i) for i in range(3)]
    digest, rows = read_whole([Text(path, ",") for path in paths])
    assert rows == 2 + 3 + 4
    assert digest == Watched(paths).digest()
    assert digest != Watched(paths[::-1]).digest()


def test_a_large_file_is_read_in_blocks_that_cut_anything(tmp_path: Path) -> None:
    row = '1,"é ""x""\nü"\n'.encode()
    path = written(tmp_path, "t.csv", b"a,b\n" + row * 400_000)
    assert read_whole([Text(path, ",")])[1] == 400_000
    written(tmp_path, "t.csv", b"a,b\n" + row * 400_000 + b"canary\n" + row)
    with pytest.raises(InvalidTable) as refused:
        read_whole([Text(path, ",")])
    assert refused.value.what == "Line 800002 of t.csv has too many or too few values."
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize("separator", [",", ""])
def test_a_broken_gzip_file_is_refused(tmp_path: Path, separator: str) -> None:
    zipped = gzip.compress(PLAIN * 100)
    for broken in (zipped[:-9], zipped[:-8] + b"12345678", b"canary", zipped + b"canary"):
        path = written(tmp_path, "t.csv.gz", broken)
        with pytest.raises(InvalidTable, match=r"t\.csv\.gz is not a whole gzip file") as refused:
            read_whole([Text(path, separator, True)])
        assert refused.value.__context__ is None


def test_a_file_that_is_gone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidTable, match=r"t\.csv could not be read to its end") as refused:
        read_whole([Text(tmp_path / "t.csv", ",")])
    assert refused.value.__context__ is None
