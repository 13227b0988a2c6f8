"""Rows in passes: in memory, sorted, in parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.engine.contract import Part
from tenue.engine.passes import in_memory
from tenue.engine.passes.in_memory import InMemory
from tenue.engine.passes.parquet_parts import check_parts, one_part, part_name, write_part
from tenue.engine.passes.sorted_runs import (
    WORDS,
    all_different,
    begins_of,
    random_words,
    until_different,
    whole_runs,
)
from tenue.errors import EngineFault
from tenue.noise.source import Seeded


def test_a_measure_sees_few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_memory, "BATCH", 4)
    seen: list[int] = []

    def measure(part: np.ndarray) -> np.ndarray:
        seen.append(len(part))
        return part.sum(axis=0)

    assert InMemory(np.arange(10)[:, None]).sum(measure).tolist() == [45]
    assert seen == [4, 4, 2]


def test_a_measure_of_no_rows() -> None:
    assert InMemory(np.zeros((0, 2), np.int64)).sum(lambda part: part.sum(axis=0)).tolist() == [
        0,
        0,
    ]


# -- Runs of sorted rows stay whole, wherever batches are cut --------------------------------------


def test_a_run_begins_where_any_key_changes() -> None:
    assert begins_of([np.array([1, 1, 2, 2]), np.array([5, 6, 6, 6])]).tolist() == [0, 1, 2]
    assert begins_of([np.zeros(0, np.int64)]).tolist() == []


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=20),
    st.lists(st.integers(0, 20), max_size=6),
)
def test_no_run_is_cut_and_no_row_is_lost(rows: list[tuple[int, int]], cuts: list[int]) -> None:
    rows.sort()
    columns = np.array([*zip(*rows, strict=True)] or [[], []], np.int64)
    columns = np.vstack([columns, np.arange(len(rows))])
    parts = np.split(columns, sorted(min(cut, len(rows)) for cut in cuts), axis=1)
    found = list(whole_runs(iter([list(part) for part in parts]), 2))
    keys = [{(a, b) for a, b in zip(*part[:2], strict=True)} for part in found]
    assert sum(map(len, keys)) == len(set(rows))
    joined = np.concatenate([np.stack(part) for part in found], axis=1) if found else columns
    assert joined.tolist() == columns.tolist()


# -- Random words put rows into a uniform order, unless two rows of a group have the same ----------


def test_each_row_has_words_of_its_own() -> None:
    words = random_words(1000, Seeded(1))
    assert len(words) == WORDS
    assert all(len(np.unique(column)) == 1000 for column in words)
    assert min(column.min() for column in words) < 0  # all 64 bits


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_equal_neighbours_are_noticed_inside_a_batch_and_between_two(cut: int) -> None:
    """A check inside batches alone would miss those at their border."""

    def batches(*columns: list[int]) -> list[list[np.ndarray]]:
        made = [np.array(column) for column in columns]
        return [[one[:cut] for one in made], [one[cut:] for one in made]]

    fine = batches([0, 0, 1, 1], [5, 6, 6, 7], [9, 8, 7, 6])
    assert [part[0].tolist() for part in all_different(iter(fine), 2)] == [
        [9, 8, 7, 6][:cut],
        [9, 8, 7, 6][cut:],
    ]
    twice = batches([0, 1, 1, 2], [5, 6, 6, 7], [9, 8, 7, 6])
    tries = iter([twice, fine])
    found = until_different(lambda: [*all_different(iter(next(tries)), 2)])
    assert np.concatenate([part[0] for part in found]).tolist() == [9, 8, 7, 6]
    assert next(tries, None) is None


# -- A part has its name once it is complete, and nothing else is left -----------------------------

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
