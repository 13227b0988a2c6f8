"""A table in a file is read piece by piece, and gone with whoever knows it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tenue.engine.contract import FAULT
from tenue.errors import EngineFault
from tenue.microdata.leave.leave import digest_of
from tenue.microdata.table.written import write_table
from tenue.promise import Certificate


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


PIECES = [pa.table({"x": [1, 2], "word": ["a", None]}), pa.table({"x": [3], "word": ["b"]})]


def test_pieces_are_one_table(scratch: Path) -> None:
    written = write_table(iter(PIECES))
    assert (written.num_rows, written.column_names) == (3, ["x", "word"])
    assert written.read().equals(pa.concat_tables(PIECES))
    assert sum(batch.num_rows for batch in written.to_batches()) == 3
    assert {path.stat().st_mode & 0o077 for path in scratch.iterdir()} == {0}
    del written
    gc.collect()
    assert list(scratch.iterdir()) == []


def test_a_digest_is_that_of_the_rows(scratch: Path) -> None:
    class Said:
        def to_json(self) -> str:
            return "{}"

    said: Certificate = Said()  # type: ignore[assignment]
    written = write_table(iter(PIECES))
    other = write_table(iter([PIECES[0], pa.table({"x": [4], "word": ["b"]})]))
    assert digest_of({"table": written}, said) == digest_of({"table": written.read()}, said)
    assert digest_of({"table": written}, said) != digest_of({"table": other}, said)


def test_what_fails_leaves_nothing_and_quotes_nothing(scratch: Path) -> None:
    def broken(error: Exception) -> Iterator[pa.Table]:
        yield PIECES[0]
        raise error

    with pytest.raises(EngineFault, match=FAULT) as caught:
        write_table(broken(OSError("canary")))
    assert caught.value.__context__ is None
    with pytest.raises(ZeroDivisionError):
        write_table(broken(ZeroDivisionError()))
    assert list(scratch.iterdir()) == []
