"""Rows on disk are narrow, gone at the end, and a failure says nothing of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from tenue.engine.contract import FAULT, Numbers
from tenue.engine.duckdb import passes
from tenue.engine.duckdb.passes import keep
from tenue.errors import EngineFault

MEMORY = 128 << 20


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def rows_of(*columns: list[int]) -> Callable[[Callable[[Numbers], None]], None]:
    return lambda take: take(np.array(columns, np.int64).T)


def test_columns_take_the_bytes_they_need_and_nothing_stays(scratch: Path) -> None:
    with keep(
        rows_of([255] * 9, [256] * 9, [2**32] * 9), (256, 257, 2**33), memory=MEMORY, batch=4
    ):
        sizes = sorted(path.stat().st_size for path in scratch.rglob("*.bin"))
        assert sizes == [9, 18, 72]
        assert {path.stat().st_mode & 0o077 for path in scratch.iterdir()} == {0}
    assert list(scratch.iterdir()) == []


def test_rows_that_were_made_of_others_go_first(scratch: Path) -> None:
    with keep(rows_of([1, 2, 3]), (4,), memory=MEMORY, batch=2) as kept:
        with kept.map(lambda part: part * 2, (7,)) as made:
            assert made.take(np.arange(3))[:, 0].tolist() == [2, 4, 6]
            assert len(list(scratch.rglob("*.bin"))) == 2
        assert len(list(scratch.rglob("*.bin"))) == 1


def test_a_sort_larger_than_its_memory_is_whole(scratch: Path) -> None:
    numbers = np.random.default_rng(3).integers(0, 2**50, (1_500_000, 2))
    with keep(lambda take: take(numbers), (2**50,) * 2, memory=24 << 20, batch=1 << 16) as kept:
        parts = list(kept.sort(lambda part: [part[:, 0], part[:, 1]]))
    first, second = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort([numbers[:, 1], numbers[:, 0]])
    assert (first == numbers[order, 0]).all()
    assert (second == numbers[order, 1]).all()


def test_whatever_fails_is_one_fault_and_leaves_nothing(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(take: Callable[[Numbers], None]) -> None:
        take(np.zeros((3, 1), np.int64))
        raise OSError("no space left, canary")

    with pytest.raises(EngineFault, match=FAULT), keep(full, (2,), memory=MEMORY, batch=2):
        pass
    assert list(scratch.iterdir()) == []

    with keep(rows_of([1, 2, 3]), (4,), memory=MEMORY, batch=2) as kept:
        (path,) = scratch.rglob("*.bin")
        path.write_bytes(b"\1")  # what is cut short is not a smaller table
        with pytest.raises(EngineFault, match=FAULT):
            kept.sum(lambda part: part.sum(axis=0))

    def broken(*given: Any, **named: Any) -> Any:
        raise duckdb.Error("canary")

    with keep(rows_of([1, 2, 3]), (4,), memory=MEMORY, batch=2) as kept:
        monkeypatch.setattr(passes, "_reader", broken)
        with pytest.raises(EngineFault, match=FAULT) as caught:
            list(kept.sort(lambda part: [part[:, 0]]))
    assert "canary" not in repr(caught.value.__context__)
    assert list(scratch.iterdir()) == []
