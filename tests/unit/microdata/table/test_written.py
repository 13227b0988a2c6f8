"""A table in a file is read piece by piece, and gone with whoever knows it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tenue.engine.contract import FAULT, Part
from tenue.engine.parts import write_part
from tenue.errors import EngineFault
from tenue.microdata.leave.leave import digest_of
from tenue.microdata.leave.save import write_release
from tenue.microdata.table.written import WrittenTable, write_passes, write_table
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


def in_parts(folder: Path) -> list[Part]:
    made = [write_part(iter([piece]), folder, number) for number, piece in enumerate(PIECES)]
    return [part for part in made if part is not None]


class Spread:
    """Rows that two machines write."""

    def write(self, table: object, folder: Path) -> list[Part]:
        return in_parts(folder)


def test_parts_of_many_machines_are_one_table(scratch: Path, tmp_path: Path) -> None:
    written = write_passes(Spread(), lambda rows: PIECES[0])  # type: ignore[arg-type]
    assert written.num_rows == 3
    assert written.read().equals(pa.concat_tables(PIECES))
    manifest = write_release(tmp_path / "out", {"table": written}, "{}", "parquet", replace=False)
    names = ["table-00000.parquet", "table-00001.parquet"]
    assert list(manifest["files"]) == [*names, "certificate.json"]
    assert (manifest["rows"], manifest["parts"]) == (3, 2)
    for name, part in zip(names, written.parts, strict=True):
        assert manifest["files"][name] == part.digest
        assert (tmp_path / "out" / name).stat().st_mode & 0o777 == 0o644
    write_release(tmp_path / "out", {"table": written}, "{}", "csv", replace=True)
    assert (tmp_path / "out" / "table.csv").read_text().count("\n") == 4
    # a part that is not what its machine wrote leaves nothing
    (scratch / next(scratch.iterdir()).name / "table" / written.parts[1].name).write_bytes(b"x")
    with pytest.raises(EngineFault):
        write_release(tmp_path / "new", {"table": written}, "{}", "parquet", replace=False)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out", "scratch"]


def test_a_digest_of_parts_is_that_of_their_bytes(scratch: Path) -> None:
    class Said:
        def to_json(self) -> str:
            return "{}"

    said: Certificate = Said()  # type: ignore[assignment]
    one = write_passes(Spread(), lambda rows: PIECES[0])  # type: ignore[arg-type]
    found = digest_of({"table": one}, said)
    assert found == digest_of({"table": one}, said)
    changed = [*one.parts[:1], Part(one.parts[1].name, 1, "00" * 32)]
    other = WrittenTable(one._scratch, changed)
    assert digest_of({"table": other}, said) != found
