from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from exhibits import anew, assert_as_expected, cell, data, needs_data
from tenue.noise import Seeded
from tenue.papers.cell import Verdict
from tenue.papers.swapping import method
from tenue.papers.swapping import tables as module

EXPECTED = {
    "3.6": "corrected",
    "3.7": "not reproducible",
    "3.8": "not reproducible",
    "3.9": "not reproducible",
    "3.10": "not reproducible",
    "3.11": "not reproducible",
}


@pytest.mark.slow
def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


@needs_data
def test_a_zero_that_was_lost_is_put_back() -> None:
    found = cell("3.6", "A9", "A12")
    assert (found.printed, found.verdict) == ("0.70", Verdict.CORRECTED)
    assert found.ours == pytest.approx(0.0700546, rel=1e-5)


@needs_data
def test_most_cells_are_as_printed() -> None:
    from exhibits import shown

    equal = {
        name: sum(c.verdict is Verdict.EQUAL for c in shown(name).cells)
        for name in ("3.6", "3.7", "3.8", "3.9")
    }
    assert equal["3.6"] == 62
    assert equal["3.7"] == 49
    assert equal["3.8"] >= 60
    assert equal["3.9"] >= 60


@needs_data
def test_another_way_of_swapping_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def still(labels: object, source: object) -> object:
        return np.arange(len(labels))  # type: ignore[arg-type]

    monkeypatch.setattr(method, "permuted", still)
    assert anew("3.8") is Verdict.DIFFERENT


@needs_data
@pytest.mark.parametrize("more", [-1, 1])
def test_groups_one_record_off_turn_red(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: groups of 11 or 13 instead of 12."""
    right = method.individual_ranking
    monkeypatch.setattr(method, "individual_ranking", lambda values, k: right(values, k + more))
    assert anew("3.9") is Verdict.DIFFERENT


@needs_data
@pytest.mark.parametrize("stream", ["1", "2", "3"])
def test_other_seeds_are_not_red(stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "seeded", lambda name: method.seeded(name + stream))
    assert anew("3.9") is not Verdict.DIFFERENT


Rows = np.ndarray[Any, Any]


def not_in_sequence(table: Rows, confidential: Sequence[int], k: int, source: Seeded) -> Rows:
    """Every column is grouped beside the original of the others."""
    now = table.copy()
    for j in confidential:
        groups = method.mdav(np.delete(table, j, axis=1), k)
        now[:, j] = table[method.permuted(groups.labels, source), j]
    return now


def by_known_columns(table: Rows, confidential: Sequence[int], k: int, source: Seeded) -> Rows:
    """One grouping for all, by the first six columns."""
    now, groups = table.copy(), method.mdav(table[:, :6], k)
    for j in confidential:
        now[:, j] = table[method.permuted(groups.labels, source), j]
    return now


@needs_data
@pytest.mark.parametrize(
    ("table", "mutant", "runs", "theirs"),
    [
        ("3.8", not_in_sequence, 25, 60),
        ("3.8", by_known_columns, 25, 60),
        ("3.8", method.ir_swap, 25, 60),
        ("3.9", method.mdav_swap, 10, 200),
        ("3.9", by_known_columns, 10, 200),
    ],
)
def test_another_method_is_told_apart(table: str, mutant: Any, runs: int, theirs: int) -> None:
    found = module.swapped(table, mutant, runs, theirs)(data())
    assert Verdict.DIFFERENT in {one.verdict for one in found}
