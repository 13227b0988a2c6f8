"""Runs of sorted rows stay whole, wherever batches are cut."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tenue.engine.runs import begins_of, whole_runs


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
