"""Columns that follow from others are found, and chance is not taken for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.evaluate.group.dependence import LINEAR, PURE, Determined, Seen, determined
from tenue.evaluate.value import typed
from tenue.noise import Seeded


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
    assert "100 % of what the most frequent value leaves open" in str(told["town"])


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
