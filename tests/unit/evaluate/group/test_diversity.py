"""l: values of each group, blanks left out, persons with several rows once for each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenue as tn
from tenue.evaluate.check import check_groups
from tenue.evaluate.code import Codes
from tenue.evaluate.group.count import Counts, Groups, counted
from tenue.evaluate.group.diversity import (
    distinct_values,
    effective_values,
    holdings,
    needed_values,
    single_valued,
)
from unit.evaluate import oracle
from unit.evaluate.stated import AGE, NAME, schema

LABELS = [0, 0, 0, 0, 1, 1, 2, 2, 3]
VALUES = [0, 1, 1, -1, 2, -1, -1, -1, 0]


def counts() -> Counts:
    groups = Groups(np.array(LABELS), 4)
    return counted(groups, Codes(np.array(VALUES), 3))


def members(group: int) -> list[int | None]:
    pairs = zip(LABELS, VALUES, strict=True)
    return [None if v < 0 else v for label, v in pairs if label == group]


def test_blanks_hide_nobody() -> None:
    found = distinct_values(counts()).tolist()
    assert found == [oracle.distinct(members(g)) for g in range(4)] == [2, 1, 1, 1]
    counting_blanks = [len(set(members(g))) for g in range(4)]
    assert found != counting_blanks


def test_effective_values_are_the_exponential_of_the_entropy() -> None:
    found = effective_values(counts())
    assert found.tolist() == pytest.approx([oracle.effective(members(g)) for g in range(4)])
    assert found[0] == pytest.approx(3 / 2 ** (2 / 3))
    # a table of equally frequent values has as many as it has, and not a rounding more
    even = counted(Groups(np.zeros(21, np.int64), 1), Codes(np.arange(21) % 7, 7))
    assert effective_values(even)[0] <= 7
    assert effective_values(even)[0] == pytest.approx(7)


def test_a_column_without_values_has_one() -> None:
    nothing = counted(Groups(np.array([0, 1, 1]), 2), Codes(np.full(3, -1), 0))
    assert distinct_values(nothing).tolist() == [1, 1]
    assert effective_values(nothing).tolist() == [1, 1]


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(-1, 4)), min_size=1, max_size=25
)


def found(rows: list[tuple[int, int, int]]) -> tuple[list[int], list[int], list[int], Groups]:
    group, person, value = (list(part) for part in zip(*rows, strict=True))
    return group, person, value, Groups(np.array(group), 3)


@given(ROWS)
def test_l_is_at_most_the_smallest_hitting_set_and_one_when_that_is(
    rows: list[tuple[int, int, int]],
) -> None:
    group, person, value, groups = found(rows)
    held = holdings(groups, Codes(np.array(value), 5), Codes(np.array(person), 5))
    needed = needed_values(held)
    plain = [v if v >= 0 else None for v in value]
    for g in range(3):
        members = [i for i, own in enumerate(group) if own == g]
        truth = oracle.hitting(members, person, plain)
        assert 1 <= needed[g] <= truth
        assert (needed[g] == 1) == (truth == 1)


@given(ROWS)
def test_where_each_has_one_value_l_is_the_number_of_values(
    rows: list[tuple[int, int, int]],
) -> None:
    group, _, value, groups = found(rows)
    alone = Codes(np.arange(len(rows)), len(rows))
    needed = needed_values(holdings(groups, Codes(np.array(value), 5), alone))
    plain = [v if v >= 0 else None for v in value]
    for g in range(3):
        inside = [v for v, own in zip(plain, group, strict=True) if own == g]
        assert needed[g] == oracle.distinct(inside)


@given(ROWS)
def test_each_person_and_value_is_told_once(rows: list[tuple[int, int, int]]) -> None:
    group, person, value, groups = found(rows)
    held = holdings(groups, Codes(np.array(value), 5), Codes(np.array(person), 5))
    counts = counted(held.groups, held.values)
    triples = {(g, p, v) for g, p, v in zip(group, person, value, strict=True) if v >= 0}
    got = zip(counts.group.tolist(), counts.value.tolist(), counts.times.tolist(), strict=True)
    for g, v, times in got:
        assert times == sum((g, p, v) in triples for p in range(5))
    assert counts.rows == len(triples)


def test_one_person_with_many_rows_does_not_make_a_group_diverse() -> None:
    rows = {
        "who": ["a"] * 51 + list("bcde"),
        "age": [1] * 55,
        "ill": [f"x{i}" for i in range(50)] + ["flu"] * 5,
    }
    by_rows = tn.evaluate.check(pa.table(rows), None, ["age"], ["ill"])
    assert by_rows.l == 51  # the wrong way to count
    by_person = tn.evaluate.check(pa.table(rows), None, ["age"], ["ill"], "who")
    assert (by_person.k, by_person.l, by_person.homogeneous_groups) == (5, 1, 1)
    assert by_person.homogeneous_share == 1


def test_persons_may_stand_beside_the_table() -> None:
    secret = {"type": "category", "categories": ["a", "b"], "role": "confidential"}
    declared = schema(
        {"who": NAME, "age": AGE, "ill": secret},
        unit="who",
        neighbours="add-or-remove",
        rows_per_unit=3,
    )
    rows = {"age": [1, 1, 1, 1], "ill": ["a", "b", "a", "b"]}
    persons = np.array([0, 0, 1, 2])
    beside = check_groups(pa.table(rows), declared, persons, None)
    inside = tn.evaluate.check(pa.table({**rows, "who": ["x", "x", "y", "z"]}), declared)
    assert (beside.k, beside.l, beside.t, beside.unit) == (inside.k, inside.l, inside.t, "who")
    assert beside.k == 3
    assert beside.notes == ()  # neither that a name is there, nor that one is lacking


def test_single_valued_groups_are_counted() -> None:
    labels = np.array([0, 0, 1, 1, 2, 2, 3])
    assert single_valued(np.array([0, 1, 1, 1, -1, 1, -1]), labels) == 3
    assert single_valued(np.array([0, 1, 1, 0, 0, 1, 1]), labels) == 1


def test_a_value_that_every_person_has_makes_a_group_single_valued() -> None:
    labels, persons = np.zeros(5, np.int64), np.array([0, 0, 0, 1, 2])
    values = np.array([0, 1, 2, 0, 0])
    assert single_valued(values, labels) == 0  # counting rows
    assert single_valued(values, labels, persons) == 1
    assert single_valued(np.array([0, 1, 2, 0, 1]), labels, persons) == 0
