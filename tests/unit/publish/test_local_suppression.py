"""Local suppression: few cells, and k-anonymity by our own `check`, missing a value of its own."""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenue as tn
from tenue.errors import InvalidArgument, Unreachable
from tenue.noise.source import SYSTEM, Seeded
from tenue.publish.methods.local_suppression import OWN_VALUE
from tenue.publish.partition.fewest_cells import fewest_cells
from unit.publish.census import people, schema

BY_TWO = {"job": None}
"""Changes of the schema that leave age and sex."""


def released(table: pa.Table, k: int, **options: Any) -> Any:
    return tn.publish(table, schema=schema(**BY_TWO), method="local-suppression", k=k, **options)


def rows_of(table: Any, *names: str) -> list[tuple[Any, ...]]:
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def hidden_in(codes: list[list[int]], k: int, seed: int = 1, **options: Any) -> np.ndarray:
    return fewest_cells([np.array(one) for one in codes], k, Seeded(seed), **options)


def smallest(codes: list[list[int]], hidden: np.ndarray, persons: list[int] | None = None) -> int:
    """k of what is left, counted in plain Python."""
    left = np.where(hidden, -1, np.array(codes)).T.tolist()
    who = range(len(left)) if persons is None else persons
    pairs = {(tuple(row), one) for row, one in zip(left, who, strict=True)}
    return min(Counter(row for row, _ in pairs).values())


def fewest(codes: list[list[int]], k: int, weights: list[int] | None = None) -> int:
    """The least weight of suppressed cells, over all partitions into groups of k to 2k - 1 rows."""
    rows = list(zip(*codes, strict=True))
    weight = weights or [1] * len(codes)

    def price(group: tuple[int, ...]) -> int:
        return sum(
            each * sum(rows[i][j] >= 0 for i in group)
            for j, each in enumerate(weight)
            if len({rows[i][j] for i in group}) > 1
        )

    @lru_cache(None)
    def best(left: frozenset[int]) -> int:
        if not left:
            return 0
        first, *rest = sorted(left)
        found = [10**9]
        for size in range(k - 1, min(len(rest), 2 * k - 2) + 1):
            for chosen in combinations(rest, size):
                after = left - {first, *chosen}
                if not after or len(after) >= k:
                    found.append(price((first, *chosen)) + best(after))
        return min(found)

    return best(frozenset(range(len(rows))))


TABLES = st.integers(2, 3).flatmap(
    lambda columns: st.lists(
        st.tuples(*[st.integers(-1, 2)] * columns), min_size=4, max_size=30
    ).map(lambda rows: [list(column) for column in zip(*rows, strict=True)])
)


@given(TABLES, st.integers(2, 4), st.integers(0, 99))
@settings(max_examples=5)
def test_what_is_left_is_k_anonymous_with_missing_as_a_value(
    codes: list[list[int]], k: int, seed: int
) -> None:
    hidden = hidden_in(codes, k, seed)
    assert smallest(codes, hidden) >= k
    assert not hidden[np.array(codes) < 0].any()  # a cell that is missing cannot be suppressed
    if smallest(codes, np.zeros_like(hidden)) >= k:
        assert not hidden.any()


@given(TABLES, st.data())
@settings(max_examples=4)
def test_persons_are_counted_and_not_rows(codes: list[list[int]], data: Any) -> None:
    size = len(codes[0])
    persons = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    who = np.unique(persons, return_inverse=True)[1]
    if len(set(persons)) >= 2:
        hidden = hidden_in(codes, 2, persons=who)
        assert smallest(codes, hidden, persons) >= 2


def compared(tables: int) -> tuple[int, int]:
    """Cells suppressed in small tables, and the fewest possible; every third has missing ones."""
    rng, found, least = random.Random(5), 0, 0
    for number in range(tables):
        size, columns, k = rng.randint(6, 9), rng.randint(2, 4), rng.randint(2, 3)
        low, high = -1 if number % 3 == 0 else 0, rng.randint(1, 3)
        codes = [[rng.randint(low, high) for _ in range(size)] for _ in range(columns)]
        here, best = int(hidden_in(codes, k, number).sum()), fewest(codes, k)
        assert here >= best
        found, least = found + here, least + best
    return found, least


def test_cells_are_nearly_the_fewest() -> None:
    found, least = compared(3)
    assert found <= least * 1.05


@pytest.mark.slow
def test_cells_are_nearly_the_fewest_on_many_tables() -> None:
    found, least = compared(200)
    assert found <= least * 1.02


def test_one_rare_row_borrows_from_a_class_that_can_spare_some() -> None:
    codes = [[1] * 9, [1] * 8 + [2]]
    hidden = hidden_in(codes, 3)
    assert hidden.sum() == 3  # 1 and 2 of the others, of which six stay; not all nine
    assert hidden[1, 8]


def test_a_rare_row_joins_those_whose_value_is_missing_already() -> None:
    hidden = hidden_in([[1] * 9, [-1] * 3 + [1] * 5 + [2]], 3)
    assert hidden.sum() == 1


def test_importance_decides_which_cells_go() -> None:
    codes = [[1, 1, 2, 2], [1, 2, 1, 2]]  # suppressing either column makes two pairs
    for weights, gone in (([5, 1], 1), ([1, 5], 0)):
        hidden = hidden_in(codes, 2, weights=weights)
        assert hidden[gone].all()
        assert not hidden[1 - gone].any()


def test_many_columns_are_searched_without_all_sets_of_them() -> None:
    rng = random.Random(2)
    codes = [[rng.randint(0, 2) for _ in range(60)] for _ in range(12)]
    codes.append([0] * 60)
    hidden = hidden_in(codes, 3)
    assert smallest(codes, hidden) >= 3
    assert not hidden[12].any()
    assert hidden.sum() < 0.9 * 60 * 12


def test_our_own_check_confirms_k() -> None:
    table = people(120)
    release = released(table, 4)
    assert release.certificate.promise == tn.KAnonymity(4)
    found = tn.evaluate.check(release.table, schema(**BY_TWO))
    assert found.k >= 4
    assert release.rows == 120
    assert release.risk.check.k == found.k
    ages = release.table.column("age")
    assert 0 < ages.null_count < 120
    # all but quasi-identifiers is as before
    assert Counter(rows_of(release.table, "income", "ill", "note")) == Counter(
        rows_of(table, "income", "ill", "note")
    )
    assert {age for age in ages.to_pylist() if age} <= set(table.column("age").to_pylist())
    (step,) = [one for one in release.history if one.name == "suppressed"]
    gone = ages.null_count + release.table.column("sex").null_count
    assert step.text.startswith(f"{gone} cells")


def test_nothing_is_suppressed_where_nothing_is_rare() -> None:
    table = people(40, age=[30, 40] * 20, sex=["f", "f", "m", "m"] * 10)
    release = released(table, 5)
    assert Counter(rows_of(release.table, "age", "sex")) == Counter(rows_of(table, "age", "sex"))


def test_rows_with_missing_values_stay() -> None:
    table = people(40, age=[None, 30, 40, 30] * 10)
    release = released(table, 3)
    assert release.rows == 40
    assert tn.evaluate.check(release.table, schema(**BY_TWO)).k >= 3
    assert all("left out" not in limit for limit in release.certificate.does_not_promise)


def test_missing_is_no_wildcard() -> None:
    """Taken for any value, one suppressed cell would do: the row would be unique all the same."""
    table = people(10, age=[30] * 9 + [31], sex=["f"] * 8 + ["m"] + ["f"])
    shown = released(table, 3).table
    assert min(Counter(rows_of(shown, "age", "sex")).values()) >= 3
    assert OWN_VALUE in released(table, 3).certificate.does_not_promise


def test_the_order_of_rows_is_not_published() -> None:
    release = released(people(80), 4)
    assert release.table.column("income").to_pylist() != people(80).column("income").to_pylist()


@pytest.mark.parametrize(
    ("importance", "word"),
    [
        ({"income": 2}, "income"),
        ({"age": 0}, "importance"),
        ({"age": 1.5}, "importance"),
        ({"age": 5000}, "1000"),
        ({"age": 2, "AGE": 3}, "each once"),
        (["age"], "list"),
    ],
)
def test_importance_that_means_nothing_is_refused(importance: Any, word: str) -> None:
    with pytest.raises(InvalidArgument, match=word):
        released(people(), 3, importance=importance)


def test_importance_is_in_the_certificate() -> None:
    release = released(people(), 3, importance={"SEX": 7})
    assert release.certificate.parameters["importance"] == "sex: 7"
    assert release.table.column("sex").null_count == 0


def test_a_sensitive_value_common_to_a_class_is_refused() -> None:
    secret = schema(**BY_TWO, ill={"sensitive": True})
    table = people(40, ill=["flu"] * 39 + ["no"])
    with pytest.raises(Unreachable):
        tn.publish(table, schema=secret, method="local-suppression", k=3)
    word = "homogeneous-groups"
    tn.publish(table, schema=secret, method="local-suppression", k=3, override=word)


def test_too_few_rows_are_refused() -> None:
    with pytest.raises((InvalidArgument, Unreachable)):
        released(people(4), 5)


def test_persons_of_a_table_are_counted() -> None:
    names = [f"p{i // 2}" for i in range(60)]
    release = tn.publish(
        people(60, name=names), schema=schema("name", **BY_TWO), method="local-suppression", k=3
    )
    assert release.risk.check.k >= 3
    assert SYSTEM.safe
