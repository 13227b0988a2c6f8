"""A part has its name once it is complete, and nothing else is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tenue.engine.contract import Part
from tenue.engine.parts import check_parts, one_part, part_name, write_part
from tenue.errors import EngineFault

PIECES = [pa.table({"x": [1, 2]}), pa.table({"x": [3]})]


def test_pieces_come_one_after_the_other(tmp_path: Path) -> None:
    part = write_part(iter(PIECES), tmp_path, 7)
    assert part is not None
    assert (part.name, part.rows) == ("part-00007.parquet", 3)
    assert pq.read_table(tmp_path / part.name)["x"].to_pylist() == [1, 2, 3]
    assert [one.name for one in tmp_path.iterdir()] == [part.name]
    # who does the work again writes the same
    assert write_part(iter(PIECES), tmp_path, 7) == part
    assert write_part(iter([]), tmp_path, 8) is None
    assert [one.name for one in tmp_path.iterdir()] == [part.name]


def test_half_a_part_never_has_a_name(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    def broken() -> Iterator[pa.Table]:
        yield PIECES[0]
        seen.append([one.name for one in tmp_path.iterdir() if one.name.startswith("part")])
        raise OSError("canary")

    with pytest.raises(EngineFault) as caught:
        one_part(broken(), tmp_path)
    assert "canary" not in str(caught.value)
    assert seen == [[]]
    assert list(tmp_path.iterdir()) == []


def test_parts_that_are_lacking_or_too_many_are_a_fault(tmp_path: Path) -> None:
    parts = []
    for number in (1, 0):
        part = write_part(iter(PIECES), tmp_path, number)
        assert part is not None
        parts.append(part)
    assert [one.name for one in check_parts(parts, 6, tmp_path)] == [part_name(0), part_name(1)]
    assert len(check_parts([*parts, parts[0]], 6, tmp_path)) == 2  # told twice, written once
    for wrong, rows in (
        (parts[:1], 3),
        (parts, 7),
        ([*parts, Part("part-00002.parquet", 0, "")], 6),
    ):
        with pytest.raises(EngineFault):
            check_parts(wrong, rows, tmp_path)
