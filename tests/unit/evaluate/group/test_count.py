"""Groups of equal rows, whichever way they are found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.evaluate.code import Codes
from tenue.evaluate.group import count as group
from tenue.evaluate.group.count import counted, grouped
from unit.evaluate import oracle

ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(-1, 3), min_size=width, max_size=width), min_size=1, max_size=25
    )
)


def codes_of(rows: list[list[int]]) -> list[Codes]:
    """Codes of each column, spread out by gaps that the count covers."""
    return [Codes(np.array(column), 4) for column in zip(*rows, strict=True)]


def same(labels: np.ndarray, rows: list[list[int]]) -> bool:
    expected = sorted(oracle.groups(rows))
    found = sorted(np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1))
    return found == expected


@given(ROWS, st.sampled_from([2**62, 64, 8]), st.booleans())
def test_rows_are_together_exactly_if_equal(
    rows: list[list[int]], largest: int, dense: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group, "_LARGEST_KEY", largest)
        if not dense:
            patch.setattr(group, "_dense", lambda rows: 0)
        found = grouped(codes_of(rows), len(rows))
    assert same(found.labels, rows)
    assert found.count == len(oracle.groups(rows))
    assert found.sizes.sum() == len(rows)


def test_keys_beyond_64_bits_do_not_meet() -> None:
    """Five columns of a million values: the product has a hundred bits."""
    n = 3000
    columns = [Codes(np.arange(n) * 317 % 10**6, 10**6) for _ in range(4)]
    last = Codes(np.arange(n) % 2, 10**6)
    assert grouped([*columns, last], n).count == n
    assert grouped([last, *([last] * 6)], n).count == 2


def test_a_blank_is_no_zero() -> None:
    rows = [[-1, 0], [0, -1], [-1, -1], [0, 0], [-1, -1]]
    assert grouped(codes_of(rows), 5).count == 4
    assert grouped([], 5).count == 1


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 3)), min_size=1, max_size=30))
def test_units_are_counted_once(pairs: list[tuple[int, int]]) -> None:
    labels = [[label] for label, _ in pairs]
    found = grouped([Codes(np.array([label for label, _ in pairs]), 3)], len(pairs))
    unit = [person for _, person in pairs]
    counts = found.units(Codes(np.array(unit), 4))
    for members in oracle.groups(labels):
        assert counts[found.labels[members[0]]] == oracle.units(members, unit)


@given(ROWS, st.booleans())
def test_counts_are_of_every_pair_that_occurs(rows: list[list[int]], dense: bool) -> None:
    values = [row[-1] for row in rows]
    groups = grouped(codes_of(rows)[:1], len(rows))
    with pytest.MonkeyPatch.context() as patch:
        if not dense:
            patch.setattr(group, "_dense", lambda rows: 0)
        counts = counted(groups, Codes(np.array(values), 4))
    seen: dict[tuple[int, int], int] = {}
    for label, value in zip(groups.labels.tolist(), values, strict=True):
        if value >= 0:
            seen[label, value] = seen.get((label, value), 0) + 1
    found = zip(counts.group.tolist(), counts.value.tolist(), strict=True)
    assert dict(zip(found, counts.times.tolist(), strict=True)) == seen
    assert list(seen.keys()) == [] or counts.group.tolist() == sorted(counts.group.tolist())
    assert counts.totals.tolist() == [values.count(v) for v in range(4)]
    assert counts.rows == sum(seen.values())
    starts = [counts.group.tolist().index(g) for g in counts.filled.tolist()]
    assert counts.starts.tolist() == (starts or [0])
