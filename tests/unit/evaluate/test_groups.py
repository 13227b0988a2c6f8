"""Groups of equal rows: how large, how diverse, how close to the table."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenue as tn
from tenue.evaluate.check import check_groups
from tenue.evaluate.factorize import Codes
from tenue.evaluate.one_table import closeness
from tenue.evaluate.one_table import count as group
from tenue.evaluate.one_table.closeness import beyond, farthest, ratio
from tenue.evaluate.one_table.count import Counts, Groups, counted, grouped
from tenue.evaluate.one_table.diversity import (
    distinct_values,
    effective_values,
    holdings,
    needed_values,
    single_valued,
)
from unit.evaluate import oracle
from unit.evaluate.stated import AGE, NAME, schema

COUNT_ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(-1, 3), min_size=width, max_size=width), min_size=1, max_size=25
    )
)


def earth_movers(counts: Counts, *, ordered: bool) -> tuple[Fraction, int]:
    """The largest distance, and the first group that has it."""
    t, groups = farthest(counts, ordered=ordered)
    return t, int(groups[0])


def codes_of(rows: list[list[int]]) -> list[Codes]:
    """Codes of each column, spread out by gaps that the count covers."""
    return [Codes(np.array(column), 4) for column in zip(*rows, strict=True)]


def same(labels: np.ndarray, rows: list[list[int]]) -> bool:
    expected = sorted(oracle.groups(rows))
    found = sorted(np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1))
    return found == expected


@given(COUNT_ROWS, st.sampled_from([2**62, 64, 8]), st.booleans())
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


@given(COUNT_ROWS, st.booleans())
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


# -- l: values of each group, blanks left out, persons with several rows once for each -------------

DIVERSITY_LABELS = [0, 0, 0, 0, 1, 1, 2, 2, 3]
VALUES = [0, 1, 1, -1, 2, -1, -1, -1, 0]


def counts() -> Counts:
    groups = Groups(np.array(DIVERSITY_LABELS), 4)
    return counted(groups, Codes(np.array(VALUES), 3))


def members(group: int) -> list[int | None]:
    pairs = zip(DIVERSITY_LABELS, VALUES, strict=True)
    return [None if v < 0 else v for label, v in pairs if label == group]


def test_blanks_hide_nobody() -> None:
    found = distinct_values(counts()).tolist()
    assert found == [oracle.distinct(members(g)) for g in range(4)] == [2, 1, 1, 1]
    counting_blanks = [len(set(members(g))) for g in range(4)]
    assert found != counting_blanks


def test_effective_values_are_the_exponential_of_the_entropy() -> None:
    found = effective_values(counts(), distinct_values(counts()))
    assert found.tolist() == pytest.approx([oracle.effective(members(g)) for g in range(4)])
    assert found[0] == pytest.approx(3 / 2 ** (2 / 3))
    # a table of equally frequent values has as many as it has, and not a rounding more
    even = counted(Groups(np.zeros(21, np.int64), 1), Codes(np.arange(21) % 7, 7))
    assert effective_values(even, distinct_values(even))[0] <= 7
    assert effective_values(even, distinct_values(even))[0] == pytest.approx(7)


def test_a_column_without_values_has_one() -> None:
    nothing = counted(Groups(np.array([0, 1, 1]), 2), Codes(np.full(3, -1), 0))
    assert distinct_values(nothing).tolist() == [1, 1]
    assert effective_values(nothing, distinct_values(nothing)).tolist() == [1, 1]


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


# t: known examples, both distances against their definition, and wrong ones that are caught.

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
