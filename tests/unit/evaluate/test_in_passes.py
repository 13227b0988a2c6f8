"""Counts that come in order give what the whole table gives, group by group."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenue as tn
from tenue.engine import held
from tenue.engine.held import Held
from tenue.evaluate import in_passes
from tenue.evaluate.check import check_groups
from tenue.evaluate.in_passes import Secret, check_in_passes

SCHEMA = tn.Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "age": {"type": "number", "bounds": [0, 9], "role": "quasi-identifier"},
            "town": {"type": "category", "categories": ["a", "b"], "role": "quasi-identifier"},
            "pay": {"type": "number", "bounds": [0, 99], "role": "confidential"},
            "ill": {
                "type": "category",
                "categories": ["flu", "Flu ", "cold"],
                "role": "confidential",
            },
        },
    }
)
ROW = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 6), st.integers(0, 3))


def arrow(rows: np.ndarray) -> pa.Table:
    """What the numbers of rows stand for."""

    def column(j: int, values: list[Any]) -> pa.Array:
        return pa.array([values[code - 1] if code else None for code in rows[:, j].tolist()])

    return pa.table(
        {
            "age": column(0, list(range(10))),
            "town": column(1, ["a", "b"]),
            "pay": column(2, list(range(100))),
            "ill": column(3, ["flu", "Flu ", "cold"]),
        }
    )


def streamed(rows: np.ndarray) -> Any:
    secrets = [Secret(SCHEMA.columns["pay"], 2), Secret(SCHEMA.columns["ill"], 3)]
    groups = lambda part: [part[:, 0], part[:, 1]]  # noqa: E731
    return check_in_passes(Held(rows), groups, ["age", "town"], secrets)


@given(st.lists(ROW, min_size=1, max_size=25), st.integers(1, 5))
def test_k_l_and_t_are_those_of_the_table(given: list[tuple[int, ...]], batch: int) -> None:
    rows = np.array(given)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held, "BATCH", batch)
        found = streamed(rows)
    expected = check_groups(arrow(rows), SCHEMA)
    sizes = [one.size_of_farthest for one in (*found.confidential, *expected.confidential)]
    same = [replace(one, size_of_farthest=0) for one in found.confidential]
    wanted = [replace(one, size_of_farthest=0) for one in expected.confidential]
    assert all(size > 0 for size in sizes)  # which of two that are equally far is not said
    for one, other in zip(same, wanted, strict=True):
        assert one.l_entropy == pytest.approx(other.l_entropy)
        assert replace(one, l_entropy=0) == replace(other, l_entropy=0)
    assert replace(found, confidential=()) == replace(expected, confidential=())


def test_a_group_that_is_cut_by_a_batch_would_look_smaller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant takes batches as they come."""
    rows = np.array([[1, 1, pay, 1] for pay in (1, 2, 3, 4)])
    monkeypatch.setattr(held, "BATCH", 2)
    assert streamed(rows).confidential[0].l == 4
    monkeypatch.setattr(in_passes, "whole_runs", lambda batches, keys: map(list, batches))
    with pytest.raises((AssertionError, ValueError)):
        assert streamed(rows).confidential[0].l == 4
