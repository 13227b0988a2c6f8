"""Centres: exact means on the grid, least marginal concepts, and one value for each group."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.microdata import individual_ranking
from tenue.microdata.method import microaggregate
from tenue.microdata.method.catalogue import chosen_method
from tenue.microdata.method.microaggregate import COMBINED, centroids
from tenue.microdata.protected_copy import warnings_of
from tenue.microdata.table.cells import Cells
from tenue.microdata.table.original import read_original
from tenue.noise import Seeded
from tenue.schema.column import Boolean, Category, Column, Number
from tenue.taxonomy import Taxonomy
from unit.microdata.census import people, schema

SPORT = Taxonomy.from_nested(
    {"sport": {"water": [f"w{i}" for i in range(9)], "snow": ["skiing", "sledging"]}}
)


def cells(column: Column, numbers: list[int]) -> Cells:
    return Cells(column, np.array(numbers, np.int64), np.ones(len(numbers), bool), None)


def number(high: int = 1000) -> Number:
    return Number(name="x", role="other", low=Fraction(0), high=Fraction(high), grid=Fraction(1))


def test_the_mean_is_exact_and_halves_go_up() -> None:
    labels = np.array([0, 1, 0, 1, 2, 2, 2])
    got = centroids(cells(number(), [1, 10, 2, 10, 0, 0, 1]), labels)
    assert got.numbers.tolist() == [2, 10, 2, 10, 0, 0, 0]
    assert centroids(cells(number(), [-1, 0]), np.array([0, 0])).numbers.tolist() == [0, 0]


def test_numbers_beyond_doubles_keep_their_last_digit() -> None:
    """A mean of doubles, the obvious way, does not."""
    big = 2**61
    values = [big + 1, big + 3, big + 1, big + 3]
    got = centroids(cells(number(2**62), values), np.zeros(4, np.int64))
    assert got.numbers.tolist() == [big + 2] * 4
    assert int(np.mean(np.array(values, float))) != big + 2


def test_means_are_those_of_fractions() -> None:
    rng = random.Random(4)
    labels = np.array([rng.randrange(9) for _ in range(200)] + list(range(9)))
    values = [rng.randrange(-(10**9), 10**9) for _ in labels]
    got = centroids(cells(number(10**9), values), labels)
    for group in range(9):
        members = [value for value, g in zip(values, labels, strict=True) if g == group]
        middle = Fraction(sum(members), len(members))
        assert set(got.numbers[labels == group].tolist()) == {
            (2 * middle.numerator + middle.denominator) // (2 * middle.denominator)
        }


def test_a_flat_category_becomes_the_most_frequent_first_declared_one() -> None:
    words = ("a", "b", "c", "d", "e", "f")
    column = Category(name="c", role="other", taxonomy=Taxonomy.flat(words), stated=words)
    labels = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 2])
    got = centroids(cells(column, [2, 1, 2, 3, 1, 0, 1, 2, 3, 4, 5]), labels)
    assert got.numbers.tolist() == [2, 2, 2, 1, 1] + [0] * 6
    # the least marginal concept of six different ones is the root, which no row may hold
    assert Taxonomy.flat(words).least_marginal(words) == "any"


def test_a_category_with_a_taxonomy_becomes_the_least_marginal_concept() -> None:
    rng = random.Random(5)
    column = Category(name="s", role="other", taxonomy=SPORT, stated="sport.json")
    labels = np.array([rng.randrange(30) for _ in range(200)] + list(range(30)))
    numbers = [rng.randrange(9 + 2 * (g % 2)) for g in labels]
    got = centroids(cells(column, numbers), labels)
    seen = set()
    for group in range(30):
        members = [SPORT.categories[n] for n, g in zip(numbers, labels, strict=True) if g == group]
        (name,) = {got.labels[n] for n in got.numbers[labels == group]}
        assert name == SPORT.least_marginal(Counter(members))
        seen.add(name)
    assert seen - set(SPORT.categories), "no group met above its leaves: the test is too weak"


def test_a_concept_goes_by_the_name_that_rows_have_for_it() -> None:
    tree = Taxonomy([("cat", "animal"), ("dog", "animal")], {"Katze": "cat", "Hund": "dog"})
    column = Category(name="t", role="other", taxonomy=tree, stated="t.json")
    got = centroids(cells(column, [0, 0, 1]), np.zeros(3, np.int64))
    assert [got.labels[n] for n in got.numbers] == ["Katze"] * 3


@pytest.mark.parametrize(("flags", "middle"), [([1, 1, 0], 1), ([1, 0], 0), ([0], 0), ([1], 1)])
def test_a_boolean_becomes_the_more_frequent_value(flags: list[int], middle: int) -> None:
    got = centroids(cells(Boolean(name="b", role="other"), flags), np.zeros(len(flags), np.int64))
    assert got.numbers.tolist() == [middle] * len(flags)


def test_a_microaggregation_has_one_grouping_and_leaves_other_columns_alone() -> None:
    method = chosen_method(schema(), "microaggregate", k=4)
    original = method.prepare(read_original(people(), schema()), Seeded(2))
    done = method.publish(original, Seeded(2))
    (labels,) = done.groups.values()
    for name in ("age", "job", "sex"):
        values = done.cells[name].numbers
        assert all(np.unique(values[labels == g]).size == 1 for g in range(labels.max() + 1))
    for name in ("income", "ill", "note"):
        assert done.cells[name] is original.cells[name]


EACH: dict[str, Any] = {"method": "microaggregate", "by": "each-quasi-identifier"}


def lines(**columns: list[int]) -> tuple[pa.Table, dict[str, Any]]:
    """A table of quasi-identifiers, and a confidential column."""
    size = len(next(iter(columns.values())))
    number = {"type": "number", "bounds": [0, 999]}
    known = {name: {**number, "role": "quasi-identifier"} for name in columns}
    declared = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {**known, "pay": {**number, "role": "confidential"}},
    }
    return pa.table({**columns, "pay": list(range(size))}), declared


def test_each_column_has_the_centres_of_its_own_groups() -> None:
    table, declared = lines(a=[1, 2, 3, 50, 51, 52, 53], b=[9, 1, 9, 1, 9, 1, 9])
    made: Any = tn.publish(table, schema=declared, ledger=False, k=3, **EACH)
    found = {pay: (a, b) for a, b, pay in zip(*made.table.to_pydict().values(), strict=True)}
    assert [found[i] for i in range(7)] == [
        (2, 9), (2, 1), (2, 9), (52, 1), (52, 9), (52, 1), (52, 9)
    ]  # fmt: skip
    assert made.certificate.promise == tn.ColumnKAnonymity(3)
    assert made.risk.check.k == 1  # which is said, and warned of
    assert COMBINED in made.certificate.does_not_promise
    assert any("with nobody" in text for text in warnings_of(made))


def test_equal_values_are_never_parted() -> None:
    """The mutant cuts ranks, as individual ranking does: 4 and 4 would become 3 and 5."""
    table, declared = lines(a=[1, 4, 4, 4, 4, 9])
    made: Any = tn.publish(table, schema=declared, ledger=False, k=3, **EACH)
    assert len(set(made.table["a"].to_pylist())) == 1
    assert len(set(individual_ranking([1, 4, 4, 4, 4, 9], 3).labels[1:5].tolist())) == 2


def test_one_quasi_identifier_alone_is_k_anonymous() -> None:
    table, declared = lines(a=[1, 2, 3, 50, 51, 52, 53])
    made: Any = tn.publish(table, schema=declared, ledger=False, k=3, **EACH)
    assert made.certificate.promise == tn.KAnonymity(3)
    assert made.risk.check.k == 3
    assert COMBINED not in made.certificate.does_not_promise


def test_a_column_whose_groups_are_too_small_never_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    table, declared = lines(a=[1, 2, 3, 50, 51, 52, 53], b=[9, 1, 9, 1, 9, 1, 9])
    real = microaggregate.whole_values
    monkeypatch.setattr(microaggregate, "whole_values", lambda units, k: real(units, k - 1))
    with pytest.raises(tn.Fault):
        tn.publish(table, schema=declared, ledger=False, k=3, **EACH)


def test_persons_count_once_and_have_one_value() -> None:
    table, declared = lines(a=[1, 1, 1, 2, 3, 50, 51, 52, 53])
    declared["table"] |= {"unit": "who", "rows_per_unit": 3}
    declared["columns"]["who"] = {"type": "identifier"}
    people = table.append_column("who", pa.array(list("aaabcdefg")))
    made: Any = tn.publish(people, schema=declared, ledger=False, k=3, **EACH)
    # b and c are needed beside the three rows of a
    assert sorted(set(made.table["a"].to_pylist())) == [2, 52]
    several = people.set_column(0, "a", pa.array([1, 2, 1, 2, 3, 50, 51, 52, 53]))
    with pytest.raises(tn.Refused, match="several values of `a`"):
        tn.publish(several, schema=declared, ledger=False, k=3, **EACH)


def test_a_combination_that_tells_a_sensitive_value_is_refused() -> None:
    table, declared = lines(a=[1, 2, 3, 50, 51, 52, 53], b=[9, 1, 9, 1, 9, 1, 9])
    declared["columns"]["pay"]["sensitive"] = True
    with pytest.raises(tn.Refused, match='by="mdav" with l=2'):
        tn.publish(table, schema=declared, ledger=False, k=3, **EACH)


def test_rows_that_stand_for_several_have_the_same_centres() -> None:
    words = ("a", "b", "c")
    flat = Category(name="c", role="other", taxonomy=Taxonomy.flat(words), stated=words)
    tree = Category(name="s", role="other", taxonomy=SPORT, stated="sport.json")
    labels, times = np.array([0, 0, 1, 1, 1]), np.array([2, 3, 1, 1, 4])
    every = np.repeat(np.arange(5), times)
    for column in (flat, tree, number(), Boolean(name="b", role="other")):
        numbers = [0, 1, 0, 1, 1] if isinstance(column, Boolean) else [0, 1, 2, 0, 1]
        short = centroids(cells(column, numbers), labels, times)
        full = centroids(cells(column, [numbers[i] for i in every]), labels[every])
        assert short.numbers[every].tolist() == full.numbers.tolist()


def test_large_numbers_that_stand_for_many_are_added_exactly() -> None:
    """Products of 64 bits would wrap around, and the centre would be somewhere else."""
    column = number(2**60)
    numbers, times = [2**60 - 1, 2**60 - 3], np.array([2**20, 2**20])
    found = centroids(cells(column, numbers), np.array([0, 0]), times)
    assert found.numbers.tolist() == [2**60 - 2] * 2
