"""t: known examples, both distances against their definition, and wrong ones that are caught."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.evaluate.code import Codes
from tenue.evaluate.group import closeness
from tenue.evaluate.group.closeness import beyond, earth_movers, ratio
from tenue.evaluate.group.count import Counts, Groups, counted
from unit.evaluate import oracle

LABELS = st.lists(st.integers(0, 3), min_size=1, max_size=24)


def counts_of(labels: list[int], values: list[int]) -> Counts:
    names = sorted(set(labels))
    known = sorted({v for v in values if v >= 0})
    codes = np.array([known.index(v) if v >= 0 else -1 for v in values])
    groups = Groups(np.array([names.index(label) for label in labels]), len(names))
    return counted(groups, Codes(codes, len(known)))


def truth(labels: list[int], values: list[int], ordered: bool) -> tuple[Any, Any]:
    members = [[i for i, own in enumerate(labels) if own == name] for name in sorted(set(labels))]
    plain = [v if v >= 0 else None for v in values]
    return oracle.closeness([[plain[i] for i in g] for g in members], ordered=ordered)


def test_the_salaries_of_the_paper_that_introduced_it() -> None:
    """Nine salaries from 3 to 11 thousand: the three least of them, and three spread out."""
    salaries = [3, 4, 5, 6, 7, 8, 9, 10, 11]
    low = [0 if s in (3, 4, 5) else 1 for s in salaries]
    spread = [0 if s in (6, 8, 11) else 1 for s in salaries]
    assert earth_movers(counts_of(low, salaries), ordered=True) == (Fraction(3, 8), 0)
    assert earth_movers(counts_of(spread, salaries), ordered=True) == (Fraction(1, 6), 0)
    # as categories both are equally far, for all values differ alike
    assert earth_movers(counts_of(low, salaries), ordered=False)[0] == Fraction(2, 3)
    assert earth_movers(counts_of(spread, salaries), ordered=False)[0] == Fraction(2, 3)


def test_the_three_groups_of_the_thesis() -> None:
    """Figure 7.5: buckets of a third each; groups with 2, 1, 1 of them are 1.5-close."""
    labels = [0] * 4 + [1] * 4 + [2] * 4
    buckets = [0, 0, 1, 2, 0, 1, 1, 2, 0, 1, 2, 2]
    assert ratio(counts_of(labels, buckets)) == Fraction(3, 2)


def test_a_group_that_lacks_a_value_is_infinitely_far() -> None:
    assert ratio(counts_of([0, 0, 1, 1], [0, 1, 0, 0])) is None
    assert ratio(counts_of([0, 0, 1, 1], [0, 1, 0, 1])) == 1


@given(LABELS, st.data(), st.booleans())
def test_both_distances_are_their_definition(labels: list[int], data: Any, ordered: bool) -> None:
    values = data.draw(
        st.lists(st.integers(-1, 6), min_size=len(labels), max_size=len(labels)), label="values"
    )
    counts = counts_of(labels, values)
    t, quotient = truth(labels, values, ordered)
    found, group = earth_movers(counts, ordered=ordered)
    assert found == t
    assert ratio(counts) == quotient
    if t > 0:
        member = [
            v for own, v in zip(labels, values, strict=True) if own == sorted(set(labels))[group]
        ]
        inside = oracle.shares([v if v >= 0 else None for v in member])
        whole = oracle.shares([v if v >= 0 else None for v in values])
        assert oracle.carried(inside, whole, ordered=ordered) == t


@given(LABELS, st.data())
def test_large_tables_go_another_way_to_the_same_number(labels: list[int], data: Any) -> None:
    values = data.draw(
        st.lists(st.integers(-1, 6), min_size=len(labels), max_size=len(labels)), label="values"
    )
    counts = counts_of(labels, values)
    usual = earth_movers(counts, ordered=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(closeness, "_SAFE", 0)
        assert earth_movers(counts, ordered=True) == usual


def test_wrong_distances_are_told_apart() -> None:
    """What is easily written instead gives other numbers on this table."""
    labels, values = [0, 0, 0, 1, 1, 1], [0, 1, 3, 3, 3, 0]
    t, _ = earth_movers(counts_of(labels, values), ordered=True)
    members = [[0, 1, 2], [3, 4, 5]]
    whole = oracle.shares(values)
    parts = [oracle.shares([values[i] for i in group]) for group in members]
    assert t == max(oracle.carried(part, whole, ordered=True) for part in parts)
    assert t != max(oracle.carried(part, whole, ordered=False) for part in parts)
    assert t != _by_value(parts, whole)


def _by_value(parts: list[dict[Any, Fraction]], whole: dict[Any, Fraction]) -> Fraction:
    """The distance of values instead of ranks: 0, 1, 3 are not equally spaced."""
    far = []
    for part in parts:
        work = reached = Fraction(0)
        for value in range(3):
            reached += part.get(value, Fraction(0)) - whole.get(value, Fraction(0))
            work += abs(reached)
        far.append(work / 3)
    return max(far)


@given(LABELS, st.data(), st.booleans())
def test_groups_beyond_a_limit_are_those_whose_distance_is(
    labels: list[int], data: Any, ordered: bool
) -> None:
    """Also at the limit itself, where a double may say either."""
    count = len(labels)
    values = data.draw(st.lists(st.integers(-1, 4), min_size=count, max_size=count))
    counts = counts_of(labels, values)
    far, group = earth_movers(counts, ordered=ordered)
    assert not beyond(counts, far, ordered=ordered).any()
    if far:
        found = beyond(counts, far - Fraction(1, 10**30), ordered=ordered)
        assert found[group]
