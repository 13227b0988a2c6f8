"""Centres: exact means on the grid, least marginal concepts, and one value for each group."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from tenue.microdata.method.catalogue import chosen_method
from tenue.microdata.method.microaggregate import centroids
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
