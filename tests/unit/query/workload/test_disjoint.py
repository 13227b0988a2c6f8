from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tenue.engine.request import All, Among, Any_, Not, Predicate, Within
from tenue.query.workload.disjoint import all_disjoint, disjoint

SEXES, AGES = ("f", "m"), range(4)
within = st.builds(
    Within, st.just("age"), st.none() | st.integers(0, 3), st.none() | st.integers(0, 3)
)
among = st.builds(
    lambda values: Among("sex", tuple(values)), st.lists(st.sampled_from(SEXES), max_size=2)
)
conditions = st.recursive(
    within | among,
    lambda inner: st.one_of(
        st.builds(lambda parts: All(tuple(parts)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: Any_(tuple(parts)), st.lists(inner, min_size=1, max_size=3)),
        st.builds(Not, inner),
    ),
    max_leaves=6,
)


def holds(condition: Predicate, sex: str, age: int) -> bool:
    if isinstance(condition, Within):
        first = 0 if condition.first is None else condition.first
        return first <= age <= (3 if condition.last is None else condition.last)
    if isinstance(condition, Among):
        return sex in condition.values
    if isinstance(condition, All):
        return all(holds(part, sex, age) for part in condition.parts)
    if isinstance(condition, Any_):
        return any(holds(part, sex, age) for part in condition.parts)
    assert isinstance(condition, Not)
    return not holds(condition.part, sex, age)


@given(conditions, conditions)
def test_what_is_called_disjoint_shares_no_row(one: Predicate, other: Predicate) -> None:
    if disjoint(one, other):
        rows = itertools.product(SEXES, AGES)
        assert not any(holds(one, *row) and holds(other, *row) for row in rows)


def test_plain_partitions_are_seen() -> None:
    assert all_disjoint([Among("sex", ("f",)), Among("sex", ("m",))])
    assert all_disjoint([Within("age", None, 1), Within("age", 2, 2), Within("age", 3, None)])
    assert not all_disjoint([Within("age", None, 2), Within("age", 2, None)])
    assert not all_disjoint([Among("sex", ("f",)), Within("age", 2, None)])
    assert not all_disjoint([Among("sex", ("f",)), None])
    assert all_disjoint([None])
