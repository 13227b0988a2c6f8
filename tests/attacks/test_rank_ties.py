"""Who had which value before a swap of ranks: exactly, over every small table with ties.

The intruder sees the release, knows the rule by which ranks are cut, and holds every assignment of
each column's values to units equally likely. He asks whether the value in a unit's row came from
that unit's own record.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import Refused
from tenue.microdata import individual_ranking
from tenue.noise import Seeded
from tenue.publish.methods.catalogue import chosen_method
from tenue.publish.partition.individual_ranking import Classes, whole_values
from tenue.publish.table.input_table import read_original
from tenue.schema import Schema

Column = tuple[int, ...]
Cut = Callable[[tuple[Column, ...], int], list[list[int]]]
"""The group of each unit, column by column, of a table and k."""


def declared(columns: int) -> Schema:
    number = {"type": "number", "bounds": [0, 9], "role": "confidential"}
    named = {f"c{i}": number for i in range(columns)}
    age = {"type": "number", "bounds": [0, 99], "role": "quasi-identifier"}
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    return Schema.from_dict({"table": table, "columns": {"age": age, **named}})


def whole(table: tuple[Column, ...], k: int) -> list[list[int]]:
    """The rule of `tn.publish`, as the method applies it."""
    return [_whole(column, k) for column in table]


@functools.cache
def _whole(column: Column, k: int, different: int = 2) -> list[int]:
    line, codes = np.unique(column, return_inverse=True)
    classes = Classes(codes.astype(np.int64), line.astype(float))
    found: list[int] = whole_values(classes, k, different).labels.tolist()
    return found


def by_rows(table: tuple[Column, ...], k: int) -> list[list[int]]:
    """The rule of 0.1.0: MDAV of the ranks, equal values in the order of rows."""
    return [individual_ranking(column, k).labels.tolist() for column in table]


def by_another(table: tuple[Column, ...], k: int) -> list[list[int]]:
    """A rule that parts equal values by what stands in another column."""
    found = []
    for i, column in enumerate(table):
        other = table[i - 1]
        ranks = sorted(range(len(column)), key=lambda row: (column[row], other[row], row))
        last = len(column) // k - 1
        labels = [0] * len(column)
        for place, row in enumerate(ranks):
            labels[row] = min(place // k, last)
        found.append(labels)
    return found


def published(table: tuple[Column, ...], k: int) -> list[list[int]]:
    """The groups of the real journey, rows in the order that the release has."""
    schema = declared(len(table))
    given = pa.table({"age": range(len(table[0])), **{f"c{i}": c for i, c in enumerate(table)}})
    by = {"by": "each-confidential", "l": None, "t": None, "gamma": None, "override": ()}
    method = chosen_method(schema, "swap", k=k, **by)
    made = method.publish(read_original(given, schema), Seeded(1))
    return [made.groups[f"c{i}"].tolist() for i in range(len(table))]


def tied(n: int) -> Iterator[Column]:
    """Every way in which n values can be tied, more than one value in each."""
    for parts in itertools.product([0, 1], repeat=n - 1):
        column = tuple(np.cumsum([0, *parts]).tolist())
        if column[-1] > 0:
            yield column


def arrangements(column: Column) -> list[Column]:
    return sorted(set(itertools.permutations(column)))


@functools.cache
def ways(column: Column, labels: Column) -> list[tuple[Column, int]]:
    """Every release of a column, with its probability times n!."""
    groups = [[i for i, label in enumerate(labels) if label == g] for g in sorted(set(labels))]
    orders = [sorted(set(itertools.permutations([column[i] for i in g]))) for g in groups]
    weight = math.factorial(len(column))
    for group in groups:
        weight //= math.factorial(len(group))
    for group in groups:
        for many in Counter(column[i] for i in group).values():
            weight *= math.factorial(many)
    found = []
    for chosen in itertools.product(*orders):
        shown = list(column)
        for group, order in zip(groups, chosen, strict=True):
            for i, value in zip(group, order, strict=True):
                shown[i] = value
        found.append((tuple(shown), weight))
    return found


def worst(values: Sequence[Column], k: int, cut: Cut) -> Fraction:
    """The largest posterior probability that a row shows its own record's value in some column."""
    total: dict[tuple[Column, ...], int] = defaultdict(int)
    own: dict[tuple[tuple[Column, ...], int, int], int] = defaultdict(int)
    shares = math.lcm(*range(1, len(values[0]) + 1))
    for table in itertools.product(*(arrangements(column) for column in values)):
        labels = cut(table, k)
        each = [ways(column, tuple(label)) for column, label in zip(table, labels, strict=True)]
        alike = [Counter(zip(*both, strict=True)) for both in zip(labels, table, strict=True)]
        for released in itertools.product(*each):
            shown = tuple(column for column, _ in released)
            weight = shares * math.prod(part for _, part in released)
            total[shown] += weight
            for c, column in enumerate(table):
                for i, value in enumerate(column):
                    if shown[c][i] == value:
                        own[shown, c, i] += weight // alike[c][labels[c][i], value]
    return max(Fraction(found, total[shown]) for (shown, _, _), found in own.items())


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_no_column_with_ties_tells_more_than_one_in_k(n: int, k: int) -> None:
    found = [worst([column], k, whole) for column in tied(n)]
    assert max(found) <= Fraction(1, k)


@pytest.mark.parametrize(("k", "reached"), [(2, Fraction(3, 5)), (3, Fraction(7, 20))])
def test_the_old_rule_told_more(k: int, reached: Fraction) -> None:
    found = [worst([column], k, by_rows) for column in tied(2 * k)]
    assert max(found) >= reached > Fraction(1, k)


@pytest.mark.parametrize(("n", "k"), [(3, 2), (4, 2), (3, 3)])
def test_two_columns_tell_no_more_together(n: int, k: int) -> None:
    """Nothing is taken for granted here: both columns are gone through jointly."""
    for pair in itertools.combinations_with_replacement(tied(n), 2):
        assert worst(pair, k, whole) <= Fraction(1, k)


@functools.cache
def alone(column: Column, k: int) -> Fraction:
    return worst((column,), k, whole)


@pytest.mark.parametrize(("n", "k"), [(3, 2), (4, 2), (3, 3), (5, 2), (5, 3), (6, 2), (6, 3)])
def test_two_columns_up_to_six_units_tell_what_each_tells_alone(n: int, k: int) -> None:
    """The law of a release is a product over columns, each a function of its own column, and so is
    the prior: what is seen of one says nothing of the other. Where all can be gone through, the
    product is compared with that."""
    patterns = list(tied(n))
    for pair in itertools.combinations_with_replacement(patterns, 2):
        together = max(alone(column, k) for column in pair)
        assert together <= Fraction(1, k)
        if n == 3:
            assert worst(pair, k, whole) == together


def test_ties_that_another_column_decides_would_tell_more() -> None:
    pairs = itertools.combinations_with_replacement(tied(4), 2)
    assert max(worst(pair, 2, by_another) for pair in pairs) > Fraction(1, 2)


@pytest.mark.parametrize("k", [2, 3])
def test_what_is_published_is_cut_by_that_rule(k: int) -> None:
    """So what was gone through above is what leaves: also for three columns, at random."""
    random = np.random.default_rng(k)
    for _ in range(40):
        n = int(random.integers(3, 7))
        table = tuple(tuple(random.integers(0, 4, n).tolist()) for _ in range(3))
        if min(len(set(column)) for column in table) > 1:
            assert published(table, k) == whole(table, k)


def test_cuts_of_three_columns_depend_on_each_ones_values_alone() -> None:
    """10,000 tables of three columns: permuting a column permutes its groups, and no other's."""
    random = np.random.default_rng(3)
    for _ in range(10_000):
        n, k = int(random.integers(2, 7)), int(random.integers(2, 4))
        table = random.integers(0, 4, (3, n))
        moved = np.array([random.permutation(column) for column in table])
        for before, after in zip(
            _pairs(table, whole(_columns(table), k)),
            _pairs(moved, whole(_columns(moved), k)),
            strict=True,
        ):
            assert before == after


def _columns(table: np.ndarray) -> tuple[Column, ...]:
    return tuple(tuple(column.tolist()) for column in table)


def _pairs(table: np.ndarray, labels: list[list[int]]) -> list[set[tuple[int, int]]]:
    both = zip(table.tolist(), labels, strict=True)
    return [set(zip(column, found, strict=True)) for column, found in both]


PERSONS = {
    "table": {"name": "t", "unit": "who", "neighbours": "replace", "rows_per_unit": 2},
    "columns": {
        "who": {"type": "identifier"},
        "age": {"type": "number", "bounds": [0, 99], "role": "quasi-identifier"},
        "x": {"type": "number", "bounds": [0, 9], "role": "confidential"},
    },
}


def test_persons_with_two_values_are_refused() -> None:
    """A, A, B, C, D with 1, 2, 3, 3, 2: counted by rows, two of a person's rows are a group."""
    rows = {"who": list("AABCD"), "age": [30, 30, 40, 50, 60], "x": [1, 1, 3, 3, 2]}
    tn.publish(
        pa.table(rows), schema=PERSONS, method="swap", by="each-confidential", k=2, ledger=False
    )
    rows["x"] = [1, 2, 3, 3, 2]
    with pytest.raises(Refused, match="several values"):
        tn.publish(
            pa.table(rows), schema=PERSONS, method="swap", by="each-confidential", k=2, ledger=False
        )


def test_rows_instead_of_persons_would_give_certainty() -> None:
    """A, A, B, C, D with 1, 1, 3, 3, 2: if rows change places, whoever knows that both rows of A
    agree sees whose the ones are; if persons do, A and D are as likely to have had them."""
    rows = _whole((1, 1, 3, 3, 2), 2, different=1)
    inside = [value for value, group in zip((1, 1, 3, 3, 2), rows, strict=True) if group == rows[0]]
    twice = [value for value, many in Counter(inside).items() if many >= 2]
    assert (inside, twice) == ([1, 1, 2], [1])
    assert worst([(1, 2, 3, 3)], 2, lambda table, k: [_whole(table[0], k, 1)]) <= Fraction(1, 2)
