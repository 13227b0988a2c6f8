"""Columns by which rows are found, or that follow from others."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.evaluate.column_types import typed
from tenue.evaluate.one_table.functional_dependence import (
    LINEAR,
    PURE,
    Determined,
    Seen,
    determined,
)
from tenue.evaluate.one_table.identifying_columns import (
    NEARLY,
    dependent_columns,
    found_by,
    leaving,
    names_rows,
    persons_named,
    telling,
    unique_columns,
    unprotected,
)
from tenue.noise import Seeded


def column(values: list[object]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values)])


@pytest.mark.parametrize(
    ("values", "share"),
    [([1, 2, 3, 4], 1), ([1, 1, 2, 2], 0.5), ([1, None, 2, None], 0.5), ([7], 0), ([[1], [2]], 0)],
)
def test_the_share_of_rows_that_are_found(values: list[object], share: float) -> None:
    assert found_by(column(values)) == share


def test_one_duplicate_changes_little() -> None:
    """The mutant wants every value to differ, and is silent about 999 of 1000 persons."""
    values = [0, *range(999)]
    assert len(set(values)) < len(values)
    assert telling({"x": column(values), "y": column([1, 1, 2])}) == {"x": 0.999}
    at_limit = [*range(90), *([0] * 10)]
    assert telling({"x": column(at_limit)}) == {"x": NEARLY}
    assert telling({"x": column([*range(89), *([0] * 11)])}) == {}


def test_every_row_and_nearly_every_row_are_told_apart_in_words() -> None:
    every, nearly = unique_columns({"a": 1.0, "b": 0.95})
    assert "`a` has a different value in every row: an intruder" in every
    assert "`b` has a different value in nearly every row" in nearly
    assert "with probability 95 %, whatever k is." in nearly
    assert "`a`, `c` have a different value in every row" in unique_columns({"a": 1, "c": 1})[0]
    assert len(unique_columns({"a": 1, "c": 1})) == 1
    (advice,) = leaving({"a": 1.0})
    assert advice == (
        "`a` has a different value in every row and is released unchanged: an intruder who knows "
        "it of a person finds the row. Give it another role, or remove its section from the schema."
    )


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("patient_id", [7, 7], True),
        ("email", ["a", "b"], True),
        ("paid", [7, 7], False),
        ("weight_id", [0.5, 0.7], False),
        ("x", [f"name {i}" for i in range(100)], True),
        ("x", [f"name {i}" for i in range(99)], False),
        ("x", [f"name {i // 2}" for i in range(200)], False),
        ("x", list(range(1000, 1100)), True),
        ("x", [str(i) for i in range(1000, 1100)], True),
        ("x", [10_000_000 + i * i * 977 for i in range(100)], True),
        ("x", [i**4 for i in range(100)], False),
        ("x", [f"{i / 8}" for i in range(100)], False),
        ("x", [f"{datetime.date(2000, 1, 1) + datetime.timedelta(i)}" for i in range(100)], False),
    ],
)
def test_what_looks_like_names(name: str, values: list[object], expected: bool) -> None:
    assert names_rows(name, column(values)) is expected


def test_nothing_is_said_of_nothing() -> None:
    assert (
        unprotected([])
        == persons_named([], [])
        == dependent_columns([], [])
        == unique_columns({})
        == []
    )
    assert len(persons_named(["a"], ["b", "c"])) == 2
    assert "`b`, `c` seem to name" in persons_named([], ["b", "c"])[0]


def test_what_follows_is_said_by_its_role() -> None:
    one = Determined(name="town", by=("code",), measure="groups", score=1.0)
    known, wanted = dependent_columns([one], [one])
    assert "knows this quasi-identifier" in known
    assert "learns `town`, whatever k, l and t are" in wanted


def test_every_kind_of_text_is_read_alike() -> None:
    names, amounts = [f"name {i}" for i in range(100)], [str(i**4) for i in range(100)]
    for values, expected in ((names, True), (amounts, False)):
        plain = pa.array(values)
        for array in (plain.dictionary_encode(), plain.cast(pa.string_view()), plain):
            assert names_rows("x", pa.chunked_array([array])) is expected


# -- Columns that follow from others are found, and chance is not taken for it ---------------------


def draws(count: int, seed: int) -> np.ndarray:
    law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon="0.01")
    return np.array(law.sample(count, source=Seeded(seed)), np.int64)


def seen(**columns: Sequence[object]) -> list[Seen]:
    table = pa.table(columns)
    return [Seen.of(typed(name, table.column(name))) for name in table.column_names]


def found(columns: list[Seen]) -> dict[str, Determined]:
    return {one.name: one for one in determined(columns, columns)}


ONE, TWO, THREE = (draws(300, seed) for seed in range(3))


def test_a_total_follows_from_its_parts_and_each_part_from_the_rest() -> None:
    told = found(seen(a=ONE, b=TWO, c=THREE, total=ONE + TWO))
    assert {name: one.by for name, one in told.items()} == {
        "a": ("b", "total"),
        "b": ("a", "total"),
        "total": ("a", "b"),
    }
    assert all(one.measure == "linear" and one.score > 1 - 1e-9 for one in told.values())
    assert str(told["total"]) == "`total` follows from `a`, `b` (R² = 1)"


@pytest.mark.parametrize(("share", "expected"), [(0.985, False), (0.995, True)])
def test_the_limit_is_the_share_of_the_spread_that_is_left_open(
    share: float, expected: bool
) -> None:
    """R² of a + x, by construction: x is what remains of noise orthogonal to a, scaled."""
    assert LINEAR == 0.99
    a = ONE - ONE.mean()
    rest = TWO - TWO.mean()
    rest = rest - a * (rest @ a) / (a @ a)
    target = a + rest * np.sqrt((1 / share - 1) * (a @ a) / (rest @ rest))
    told = determined(seen(t=target), seen(a=a))
    assert [one.score for one in told] == ([pytest.approx(share)] if expected else [])


def test_constants_blanks_and_infinite_numbers_tell_nothing() -> None:
    columns = seen(
        a=ONE,
        same=[3.0] * 300,
        blank=pa.array([None] * 300, pa.float64()),
        far=[*([1.0] * 299), float("inf")],
    )
    assert found(columns) == {}


def test_blanks_are_no_values() -> None:
    gaps = [None if i % 3 == 0 else int(value) for i, value in enumerate(ONE)]
    assert found(seen(a=ONE, gaps=gaps)) == {}


def test_a_town_is_told_by_its_postcode_and_not_the_other_way_round() -> None:
    code = [f"p{i * 7 % 30}" for i in range(300)]
    town = [f"t{int(word[1:]) // 6}" for word in code]
    told = found(seen(code=code, town=town))
    assert list(told) == ["town"]
    assert told["town"] == Determined(name="town", by=("code",), measure="groups", score=1.0)
    assert "100 % fewer errors than by guessing the most frequent value" in str(told["town"])


def test_two_columns_tell_what_one_does_not() -> None:
    a, b = [i % 5 for i in range(300)], [i // 5 % 4 for i in range(300)]
    cell = [f"{x} {y}" if y else f"{x}" for x, y in zip(a, b, strict=True)]
    told = determined(seen(cell=cell), seen(a=list(map(str, a)), b=list(map(str, b))))
    assert [(one.by, one.score) for one in told] == [(("a", "b"), 1.0)]


def purity(target: Sequence[str], by: Sequence[str]) -> float:
    """The mutant: every row votes for itself, so a name tells whatever stands beside it."""
    groups: dict[str, list[str]] = {}
    for value, name in zip(target, by, strict=True):
        groups.setdefault(name, []).append(value)
    right = sum(max(map(inside.count, inside)) for inside in groups.values())
    most = max(map(list(target).count, target))
    return (right - most) / (len(target) - most)


def test_names_tell_nothing_for_no_row_votes_for_itself() -> None:
    coin = ["yes" if value > 0 else "no" for value in ONE]
    name = [f"n{i}" for i in range(300)]
    pairs = [f"n{i // 2}" for i in range(300)]
    assert purity(coin, name) == 1
    assert purity(coin, pairs) > 0.4
    assert found(seen(coin=coin, name=name)) == {}
    assert found(seen(coin=coin, pairs=pairs)) == {}


def test_the_most_frequent_value_counts_for_nothing() -> None:
    """95 % right is nothing where 95 % have one value."""
    rare = ["yes" if i % 20 == 0 else "no" for i in range(300)]
    word = [f"w{i % 7}" for i in range(300)]
    assert found(seen(rare=rare, word=word)) == {}
    mostly = ["yes" if i % 20 == 0 and i else "no" for i in range(300)]
    (one,) = determined(seen(rare=rare), seen(mostly=mostly))
    assert one.score == pytest.approx(14 / 15)
    assert one.score >= PURE


def test_agreement_of_few_rows_is_chance() -> None:
    assert found(seen(a=[1, 2, 4], b=[2, 4, 8])) == {}
    assert found(seen(a=["x", "x", "y", "y"], b=["p", "p", "q", "q"])) == {}


def test_long_tables_are_thinned() -> None:
    rows = 250_000
    a, b = np.arange(rows) % 1009, np.arange(rows) * 7919 % 1013
    told = found(seen(a=a, b=b, total=a + b))
    assert told["total"].by == ("a", "b")
    words = seen(code=np.arange(rows) % 28, town=np.arange(rows) % 14 % 9)
    assert found(words)["town"].by == ("code",)
