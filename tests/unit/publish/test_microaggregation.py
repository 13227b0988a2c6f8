"""Noisy means of groups on a line.

What is read of the rows are the groups' sums and scores (`tallies`); what is drawn for them has
masses that are known exactly. So the loss of two neighbours is computed, not estimated:

* a number pays rate·|change| for each group, in Fractions, for that is the greatest log-ratio of
  the discrete Laplace law;
* a choice pays the greatest log-ratio over its candidates.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from private_laws import domain as rows_domain
from tenue.engine.passes.in_memory import InMemory
from tenue.errors import InvalidArgument, NotPromised
from tenue.mechanism.exponential_mechanism import Exponential
from tenue.noise import Optimal
from tenue.noise.discrete_laplace import DiscreteLaplace
from tenue.noise.source import Seeded
from tenue.publish.synthetic import microaggregation
from tenue.publish.synthetic import microaggregation as module
from tenue.publish.synthetic.axis import (
    CategoryLine,
    MeaningLine,
    NumberLine,
    lines_of,
    plain_line,
    taxonomy_line,
)
from tenue.publish.synthetic.domain import Domain
from tenue.publish.synthetic.microaggregation import (
    Means,
    Microaggregation,
    Tallies,
    best_groups,
    group_of,
    isotonic,
    share_error,
    shares_of,
    smoothed,
    spread,
)
from tenue.schema import Schema
from tenue.sensitivity import chain
from tenue.taxonomy import DISTANCE_STEPS, Taxonomy, total_order

JOBS = Taxonomy.from_nested({"any": {"desk": ["clerk", "judge"], "field": {"mine": ["miner"]}}})
SEVERAL = Taxonomy.from_edges(
    [("a", "top"), ("b", "top"), ("x", "a"), ("x", "b"), ("y", "b"), ("z", "top")],
    {"one": "x", "two": "y", "three": "z", "uno": "x"},
)
LINES = {
    "tree": taxonomy_line(JOBS),
    "several parents": taxonomy_line(SEVERAL),
    "flat": taxonomy_line(Taxonomy.flat(["m", "f", "d"])),
    "flat with blank": taxonomy_line(Taxonomy.flat(["m", "f", "d"]), blank=True),
    "tree with blank": taxonomy_line(JOBS, blank=True),
    "truth": plain_line(2),
    "truth with blank": plain_line(2, blank=True),
    "no metric": CategoryLine(np.array([[0, 9, 1], [9, 0, 1], [1, 1, 0]])),
}


@pytest.mark.parametrize("name", LINES)
def test_scores_move_no_more_than_the_line_says(name: str) -> None:
    line = LINES[name]
    size = line.distances.shape[1]
    for v, w in combinations(range(size), 2):
        moved = max(abs(int(row[v] - row[w])) for row in line.distances)
        assert line.metric[v, w] == line.metric[w, v] == moved
        assert moved <= abs(int(line.positions[v] - line.positions[w])) <= line.length


@pytest.mark.parametrize("name", LINES)
def test_neighbours_are_as_far_apart_as_scores_tell(name: str) -> None:
    line = LINES[name]
    steps = [int(line.metric[v, v + 1]) for v in range(line.distances.shape[1] - 1)]
    assert [b - a for a, b in pairwise(line.positions.tolist())] == steps
    assert line.length == sum(steps)


def test_plain_distances_would_be_too_short_for_a_table_that_is_no_metric() -> None:
    """Mutant: δ̃ itself instead of D. Replacing 1 by 2 moves the score of 0 by 8, not by 1."""
    line = LINES["no metric"]
    assert line.distances[1, 2] == 1
    assert line.metric[1, 2] == 8


def test_the_table_is_the_taxonomys() -> None:
    labels = JOBS.depth_first
    for i, one in enumerate(labels):
        for j, other in enumerate(labels):
            exact = JOBS.rational_distance(one, other) * DISTANCE_STEPS
            assert LINES["tree"].distances[i, j] == exact


def test_flat_categories_are_as_the_slow_table_has_them() -> None:
    flat = Taxonomy.from_edges([("a", "any"), ("b", "any")], {"x": "a", "y": "b", "z": "a"})
    table = taxonomy_line(flat).distances
    labels = flat.depth_first
    slow = [[flat.rational_distance(a, b) * DISTANCE_STEPS for b in labels] for a in labels]
    assert table.tolist() == slow


def test_a_blank_is_far_from_all() -> None:
    table = LINES["tree with blank"].distances
    assert set(table[-1, :-1]) == {table[:-1, :-1].max()}
    assert table[-1, -1] == 0
    alone = taxonomy_line(Taxonomy.flat(["only"]), blank=True)
    assert alone.length == 1


def test_one_category_has_a_line_of_no_length() -> None:
    assert taxonomy_line(Taxonomy.flat(["only"])).length == 0


# -- What microaggregation reads of a column -------------------------------------------------------

GIVEN = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "a": {"type": "number", "bounds": [0, 10]},
            "b": {"type": "category", "categories": ["x", "y", "z"], "missing": ["NA"]},
            "c": {"type": "boolean", "missing": False},
            "d": {"type": "number", "bounds": [0, 2**61], "missing": 0},
        },
    }
)
A, B, C, D = Domain.of(GIVEN).axes
PLACES = np.array([[0, 3, 1, 2**61], [10, 0, 0, 5], [11, 1, 1, 0]])


def test_a_missing_number_lies_beyond_the_last() -> None:
    line = NumberLine(A, 0)
    assert (line.last, line.beyond, line.length) == (10, 5, 15)
    assert line.values(PLACES).tolist() == [0, 10, 15]
    one_value = replace(line, axis=replace(A, size=2))
    assert (one_value.last, one_value.beyond, one_value.length) == (0, 1, 1)


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_value_and_missing_move_as_far_as_their_line(shift: int) -> None:
    line = NumberLine(A, 0, shift)
    values = line.values(np.arange(A.size)[:, None])
    for v, w in combinations(values.tolist(), 2):
        value = abs(min(v, line.last) - min(w, line.last))
        assert value + line.beyond * ((v > line.last) != (w > line.last)) == abs(v - w)


def test_a_missing_category_is_one_more() -> None:
    line = MeaningLine.of(B, 1)
    assert line.distances.shape == (4, 4)
    assert line.values(PLACES).tolist() == [3, 0, 1]


def test_a_truth_value_is_a_category() -> None:
    line = MeaningLine.of(C, 2)
    assert line.distances.shape == (2, 2)
    assert line.at(line.values(PLACES)).tolist() == [line.length, 0, line.length]


def test_few_groups_make_short_chains_of_categories_unless_they_are_many() -> None:
    assert MeaningLine.of(B, 1).chain(2) == Fraction(2, 3)
    assert MeaningLine.of(B, 1).chain(9) == 1
    many = {"type": "category", "categories": [str(i) for i in range(chain.MOST_EXACT + 1)]}
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    (wide,) = Domain.of(Schema.from_dict({"table": table, "columns": {"e": many}})).axes
    assert MeaningLine.of(wide, 0).chain(2) == 1


def test_scores_are_sums_of_distances() -> None:
    line = MeaningLine.of(B, 1)
    far = int(line.distances[0, 1])
    scores = np.array([[2, 1, 0, 0]]) @ line.distances.T
    assert scores.tolist() == [[far, 2 * far, 3 * far, 3 * far]]


def test_long_lines_are_made_shorter() -> None:
    line = NumberLine(D, 3).coarsened(1000)
    assert 500 < line.length <= 1000
    values = line.values(PLACES)
    assert values.max() == line.length
    assert NumberLine(A, 0).coarsened(1000).shift == 0


def test_shares_become_the_nearest_places() -> None:
    found = NumberLine(A, 0).places(np.array([-1, 0, 0.14, 0.16, 1, 7.0]))
    assert found.tolist() == [0, 0, 1, 2, 10, 10]
    assert NumberLine(D, 3).places(np.ones(1)).tolist() == [2**61]


# -- What is made of noisy means afterwards --------------------------------------------------------

NUMBERS = st.lists(st.floats(-10, 10), min_size=1, max_size=8)


@given(NUMBERS, st.data())
def test_isotonic_is_the_nearest_that_never_falls(values: list[float], data: st.DataObject) -> None:
    y = np.array(values)
    w = np.array(data.draw(st.lists(st.floats(1, 9), min_size=y.size, max_size=y.size)))
    found = isotonic(y, w)
    assert all(a <= b + 1e-12 for a, b in pairwise(found.tolist()))
    # the greatest of least weighted means: max over i ≤ t of min over j ≥ t
    for t in range(y.size):
        means = [
            [np.average(y[i : j + 1], weights=w[i : j + 1]) for j in range(t, y.size)]
            for i in range(t + 1)
        ]
        assert found[t] == pytest.approx(max(min(row) for row in means), abs=1e-9)


def test_what_rises_stays() -> None:
    y = np.array([0.0, 1.0, 4.0])
    assert isotonic(y, np.ones(3)).tolist() == y.tolist()


@given(NUMBERS)
def test_shares_keep_their_sum(values: list[float]) -> None:
    """Mutant: each clipped by itself."""
    found = shares_of(np.array(values))
    assert found.min() >= 0
    assert found.max() <= 1
    assert found.sum() == pytest.approx(min(max(sum(values), 0), len(values)), abs=1e-6)
    assert np.clip([-1.0, 1.5], 0, 1).sum() == 1.0 != shares_of(np.array([-1.0, 1.5])).sum()


def test_pure_noise_becomes_its_mean() -> None:
    y = np.random.default_rng(1).laplace(size=400) / np.sqrt(2)
    assert smoothed(y, 1.0).std() < 0.1


def test_a_signal_far_above_its_noise_stays() -> None:
    y = np.random.default_rng(1).uniform(size=50)
    assert smoothed(y, 1e-9) == pytest.approx(y, abs=1e-3)


def test_a_slow_wave_is_found_in_noise() -> None:
    truth = np.sin(np.arange(300) / 30)
    y = truth + np.random.default_rng(2).laplace(size=300) / np.sqrt(2)
    before, after = ((y - truth) ** 2).mean(), ((smoothed(y, 1.0) - truth) ** 2).mean()
    assert after < before / 5


def test_two_groups_are_left_alone() -> None:
    """So few say nothing about what is noise."""
    assert smoothed(np.array([0.2, 0.9]), 0.01).tolist() == pytest.approx([0.2, 0.9])
    assert smoothed(np.array([0.4]), 0.01).tolist() == pytest.approx([0.4])


def test_spread_stays_around_its_mean_between_its_neighbours() -> None:
    sizes = np.array([2000, 2000, 2001])
    found = spread(np.array([0.0, 0.2, 0.8]), np.repeat(np.arange(3), sizes), Seeded(1))
    parts = np.split(found, np.cumsum(sizes)[:-1])
    for part, mean, width in zip(parts, (0, 0.2, 0.8), (0.2, 0.6, 0.6), strict=True):
        assert part.size in sizes
        assert abs(part.mean() - mean) < 0.02
        assert width * 0.98 < part.max() - part.min() <= width


# -- Rows are the means of their groups, in blocks as at once --------------------------------------

SEX = {"type": "category", "categories": ["f", "m"]}
HELD = rows_domain(c=SEX, x={"type": "number", "bounds": [0, 100]})
CATEGORY, NUMBER = lines_of(HELD)
SHARES, CHOSEN = np.array([0.1, 0.5, 0.9]), np.array([0, 1, 0])


def means(spread: bool) -> Means:
    assert isinstance(NUMBER, NumberLine)
    assert isinstance(CATEGORY, MeaningLine)
    return Means(
        3, 3, 2, ((NUMBER, SHARES),), ((CATEGORY, CHOSEN),), spread, (np.zeros(3),), 11, 11
    )


def test_the_last_group_has_the_rest() -> None:
    assert group_of(np.arange(11), 3, 3).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2]


def test_blocks_are_the_rows_of_one_block() -> None:
    whole = means(spread=False).block(range(11), Seeded(1))
    assert whole.tolist() == [[0, 10]] * 3 + [[1, 50]] * 3 + [[0, 90]] * 5
    for number in range(4):
        part = means(spread=False).block(range(number, 11, 4), Seeded(2))
        assert part.tolist() == whole[number::4].tolist()


def test_numbers_are_spread_and_categories_are_not() -> None:
    made = means(spread=True).block(range(11), Seeded(1))
    assert made[:, 0].tolist() == [0] * 3 + [1] * 3 + [0] * 5
    assert len(set(made[:3, 1].tolist())) > 1
    assert (np.abs(made[:, 1] - 100 * SHARES[group_of(np.arange(11), 3, 3)]) <= 20).all()


# -- How many groups there are follows from public numbers, and is best for them -------------------


def test_balance_groups_are_chosen_without_rows() -> None:
    assert best_groups(2, 30_162, Fraction(1)) == 38
    for columns in range(1, 17):
        assert 1 <= best_groups(columns, 10, Fraction(1, 100)) <= 10


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_the_number_of_groups_balances_its_two_errors(columns: int) -> None:
    loss_, length = microaggregation._SHAPE[columns]
    rows, best = 10**5, best_groups(columns, 10**5, Fraction(1))

    def error(n: float) -> float:
        links = length * n ** ((columns - 1) / columns)
        return loss_ * n ** (-2 / columns) + 2 * columns * (links * n / rows) ** 2

    assert error(best) <= min(error(best * 0.9), error(best * 1.1))


def test_more_noise_and_fewer_groups_are_expected_to_err_more() -> None:
    assert share_error(2, 100, 0.01) < share_error(2, 100, 0.1) < share_error(2, 100, 1.0)
    assert share_error(2, 400, 0.01) < share_error(2, 25, 0.01)
    assert share_error(1, 10**6, 0.0) < 1e-3


# Microaggregation is private: its exact loss on every small table, on adversarial ones, in law.

TREE = {"any": {"desk": ["clerk", "judge"], "field": {"mine": ["miner"]}}}
KINDS: dict[str, dict[str, Any]] = {
    "n1": {"type": "number", "bounds": [0, 1], "missing": 0},
    "n2": {"type": "number", "bounds": [0, 2], "missing": 0},
    "n4": {"type": "number", "bounds": [10, 12], "grid": 0.5, "missing": 10},
    "day": {"type": "date", "bounds": ["2000-01-01", "2000-01-03"], "missing": "2000-01-01"},
    "job": {"type": "category", "taxonomy": TREE, "missing": "clerk"},
    "sex": {"type": "category", "categories": ["m", "f"], "missing": "m"},
    "ill": {"type": "boolean", "missing": False},
    "gap": {"type": "number", "bounds": [0, 2]},
    "who": {"type": "category", "categories": ["a", "b"]},
    "big": {"type": "number", "bounds": [0, 100_000], "missing": 0},
    "holed": {"type": "number", "bounds": [0, 100_000]},
}


def domain(*kinds: str) -> Domain:
    columns = {f"{kind}_{i}": KINDS[kind] for i, kind in enumerate(kinds)}
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    return Domain.of(Schema.from_dict({"table": table, "columns": columns}))


def planned(
    kinds: tuple[str, ...], rows: int, epsilon: Fraction | int = 1, **options: Any
) -> Microaggregation:
    return Microaggregation.planned(domain(*kinds), rows, Fraction(epsilon), **options)


# -- the exact loss --------------------------------------------------------------------------------


def moved(plan: Microaggregation, one: Tallies, other: Tallies) -> Fraction:
    """How far the groups moved, all columns together, each line being 1 long."""
    total = Fraction(0)
    for line, a, b in zip(plan._numbers, one.sums, other.sums, strict=True):
        if line.length:
            total += Fraction(int(np.abs(a - b).sum()), line.length)
    for line, a, b in zip(plan._numbers, one.missing, other.missing, strict=True):
        if line.beyond:
            total += Fraction(line.beyond * int(np.abs(a - b).sum()), line.length)
    for category, x, y in zip(plan._categories, one.scores, other.scores, strict=True):
        if category.length:
            total += Fraction(int(np.abs(x - y).max(axis=1).sum()), category.length)
    return total


def log_masses(choice: Exponential, scores: list[int]) -> list[Decimal]:
    """The exact law of a choice by distances, to 40 digits."""
    with localcontext() as context:
        context.prec = 40
        fall = Decimal(choice.fall.numerator) / Decimal(choice.fall.denominator)
        logs = [Decimal(0)] * len(scores)
        for score, places in choice.classes([-s for s in scores]).items():
            for place in places:
                logs[place] = -fall * score
        total = sum((log.exp() for log in logs), Decimal(0)).ln()
        return [log - total for log in logs]


def loss(plan: Microaggregation, one: Tallies, other: Tallies) -> Decimal:
    """The exact loss of the whole release between two tables."""
    exact = Fraction(0)
    for line, a, b in zip(plan._numbers, one.sums, other.sums, strict=True):
        if line.length:
            law = plan._law(line)
            exact += law.epsilon / law.sensitivity * int(np.abs(a - b).sum())
    for line, a, b in zip(plan._numbers, one.missing, other.missing, strict=True):
        if line.beyond:
            law = plan._count_law(line)
            exact += law.epsilon / law.sensitivity * int(np.abs(a - b).sum())
        else:
            assert not a.any()
            assert not b.any()
    total = Decimal(exact.numerator) / Decimal(exact.denominator)
    for category, x, y in zip(plan._categories, one.scores, other.scores, strict=True):
        choice = plan._choice(category)
        for p, q in zip(x.tolist(), y.tolist(), strict=True):
            if p != q:
                pairs = zip(log_masses(choice, p), log_masses(choice, q), strict=True)
                total += max(abs(a - b) for a, b in pairs)
    return total


def every_neighbour(
    size: int, rows: int
) -> tuple[list[tuple[int, ...]], Iterator[tuple[tuple[int, ...], tuple[int, ...]]]]:
    """All multisets of records, and all pairs of them that differ in one record."""
    tables = list(itertools.combinations_with_replacement(range(size), rows))
    sharing = defaultdict(list)
    for table in tables:
        for i in range(rows):
            if i == 0 or table[i] != table[i - 1]:
                sharing[table[:i] + table[i + 1 :]].append(table)
    pairs = (pair for group in sharing.values() for pair in itertools.combinations(group, 2))
    return tables, pairs


@cache
def largest(kinds: tuple[str, ...], rows: int, k: int) -> tuple[Fraction, Decimal]:
    """The greatest move and the greatest loss over all neighbours."""
    plan = planned(kinds, rows, k=k)
    records = np.array(list(itertools.product(*map(range, plan.domain.sizes))), np.int64)
    tables, pairs = every_neighbour(len(records), rows)
    found = {table: plan.tallies(InMemory(records[list(table)])) for table in tables}
    most, seen = Fraction(0), defaultdict(list)
    for one, other in pairs:
        there = moved(plan, found[one], found[other])
        seen[there].append((one, other))
        most = max(most, there)
    worst = Decimal(0)
    for there in sorted(seen, reverse=True)[:3]:  # the loss is at most ε·move/L_N
        for one, other in seen[there][:40]:
            worst = max(worst, loss(plan, found[one], found[other]))
    return most, worst


EXACT = [
    (("n4",), 6, 2),
    (("n4",), 7, 3),
    (("n4",), 8, 3),
    (("day",), 5, 1),
    (("job",), 7, 2),
    (("job",), 8, 2),
    (("job",), 5, 1),
    (("sex",), 8, 3),
    (("ill",), 6, 2),
    (("gap",), 7, 2),
    (("who",), 8, 3),
]
BOUNDED = [
    (("n2", "n2"), 4, 1),
    (("n2", "n2"), 5, 2),
    (("n1", "n1"), 8, 1),
    (("n1", "n1"), 8, 3),
    (("n2", "job"), 5, 2),
    (("sex", "job"), 5, 1),
    (("n1", "n1", "n1"), 5, 1),
    (("n1", "sex", "ill"), 5, 2),
    (("gap", "who"), 4, 1),
]


@pytest.mark.parametrize(("kinds", "rows", "k"), EXACT)
def test_sensitivity_is_exact_in_one_column(kinds: tuple[str, ...], rows: int, k: int) -> None:
    plan = planned(kinds, rows, k=k)
    most, worst = largest(kinds, rows, k)
    assert most == plan.length == plan.sensitivity * k
    assert worst <= 1


@pytest.mark.parametrize(("kinds", "rows", "k"), BOUNDED)
def test_sensitivity_is_never_exceeded_in_several(
    kinds: tuple[str, ...], rows: int, k: int
) -> None:
    plan = planned(kinds, rows, k=k)
    most, worst = largest(kinds, rows, k)
    assert Fraction(1, 3) * plan.length < most <= plan.length
    assert Decimal("0.2") < worst <= 1


# -- larger tables ---------------------------------------------------------------------------------


def chained(plan: Microaggregation, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A table and a neighbour whose groups all change, along a chain that jumps as far as it can.

    Records of a random sample are sorted; from each group's first record on, the next is one of
    the following that is furthest away. Each group is filled with copies of its link.
    """
    sizes = np.array(plan.domain.sizes)
    many = 6 * plan.clusters + 2
    places = rng.integers(0, sizes, (many, sizes.size))
    ends = rng.integers(0, 2, places.shape) * (sizes - 1)
    places = np.where(rng.random(places.shape) < 0.7, ends, places)
    single = Microaggregation.planned(plan.domain, many, plan.epsilon, k=1)
    places = places[np.lexsort(single.key(places)[::-1])]
    links, at = [places[0]], 0
    for left in range(plan.clusters - 1, -1, -1):
        ahead = places[at + 1 : max(at + 2, many - 5 * left)]
        far = np.abs((ahead - links[-1]) / np.maximum(sizes - 1, 1)).sum(axis=1)
        step = int(np.argmax(far))
        at += step + 1
        links.append(places[at])
    table = np.repeat(np.array(links[:-1]), plan.sizes, axis=0)
    other = table.copy()
    other[0] = links[-1]
    rows = rng.permutation(plan.rows)
    return table[rows], other[rng.permutation(plan.rows)]


MANY = [
    (("big",), 60, 7),
    (("big", "big"), 61, 6),
    (("big", "n4"), 50, 1),
    (("big", "job"), 47, 5),
    (("n4", "job", "ill"), 40, 3),
    (("big", "big", "big"), 40, 2),
    (("big", "n1", "sex", "job"), 45, 4),
    (("job", "who"), 50, 4),
    (("gap", "big", "ill"), 40, 3),
    (("holed",), 60, 7),
    (("holed", "who", "holed"), 40, 3),
]


@pytest.mark.parametrize(("kinds", "rows", "k"), MANY)
def test_random_and_adversarial_neighbours_cost_epsilon_at_most(
    kinds: tuple[str, ...], rows: int, k: int
) -> None:
    plan = planned(kinds, rows, Fraction(3, 2), k=k)
    rng = np.random.default_rng(rows)
    sizes = plan.domain.sizes
    most = Decimal(0)
    for trial in range(240):
        if trial % 3:
            table, other = chained(plan, rng)
        else:
            table = rng.integers(0, sizes, (rows, len(sizes)))
            other = table.copy()
            other[rng.integers(rows)] = rng.integers(0, sizes)
        one, two = plan.tallies(InMemory(table)), plan.tallies(InMemory(other))
        assert moved(plan, one, two) <= plan.length
        most = max(most, loss(plan, one, two))
    assert Decimal("0.3") < most <= Decimal("1.5")


@pytest.mark.parametrize("mutant", ["as far as the values", "missing for nothing"])
def test_missing_values_that_are_not_paid_for_are_caught(
    mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mutants: noise for the range of the values only; and for the range, whatever is missing."""
    plan = planned(("holed",), 60, k=7)
    low, gone = np.zeros((60, 1), np.int64), np.zeros((60, 1), np.int64)
    gone[0] = 100_001
    one, two = (plan.tallies(InMemory(rows)) for rows in (low, gone))
    assert loss(plan, one, two) <= 1

    def law(plan: Microaggregation, line: NumberLine) -> DiscreteLaplace:
        return DiscreteLaplace(sensitivity=line.last * plan.length, epsilon=plan.epsilon)

    def count_law(plan: Microaggregation, line: NumberLine) -> DiscreteLaplace:
        return DiscreteLaplace(sensitivity=1, epsilon=plan.epsilon)

    if mutant == "as far as the values":
        monkeypatch.setattr(Microaggregation, "_law", law)
    else:
        monkeypatch.setattr(Microaggregation, "_count_law", count_law)
    assert loss(plan, one, two) > 1


def test_a_sensitivity_that_is_a_tenth_too_small_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutant: nine tenths of the range."""
    plan = planned(("big",), 60, k=7)
    monkeypatch.setattr(Microaggregation, "length", Fraction(9, 10))
    wrong = planned(("big",), 60, k=7)
    low, high = np.zeros((60, 1), np.int64), np.zeros((60, 1), np.int64)
    high[0] = 100_000
    assert loss(wrong, plan.tallies(InMemory(low)), plan.tallies(InMemory(high))) > 1


# -- the law of the rows that leave ----------------------------------------------------------------


class OneTwo:
    """A whole release of one number and one category in two groups of one, all outcomes listed."""

    reach = 14

    def __init__(self, epsilon: Fraction) -> None:
        self.plan = planned(("n1", "sex"), 2, epsilon, k=1)
        self.records = np.array(list(itertools.product(range(2), range(2))), np.int64)
        self.tables = list(itertools.combinations_with_replacement(range(4), 2))
        span = range(-self.reach, self.reach + 2)
        rows: dict[bytes, int] = {}
        self.outcome = np.empty((len(span), len(span), 2, 2), np.int64)
        for (i, a), (j, b) in itertools.product(enumerate(span), repeat=2):
            for c, d in itertools.product(range(2), repeat=2):
                nothing = (np.zeros(2, np.int64),)
                drawn = module.Centroids((np.array([a, b]),), nothing, (np.array([c, d]),))
                row = self.plan.written(drawn).block(range(self.plan.rows), Seeded(0)).tobytes()
                self.outcome[i, j, c, d] = rows.setdefault(row, len(rows))

    def law(self, table: tuple[int, ...], plan: Microaggregation) -> np.ndarray:
        """The masses of all releases with a plan's noise; what is beyond the reach is left out."""
        tallies = plan.tallies(InMemory(self.records[list(table)]))
        law = plan._law(plan._numbers[0])
        choice = plan._choice(plan._categories[0])
        span = np.arange(-self.reach, self.reach + 2)
        first, second = (law.mass(span - int(total)) for total in tallies.sums[0])
        chosen = [
            np.array([float(p.exp()) for p in log_masses(choice, row)])
            for row in tallies.scores[0].tolist()
        ]
        joint = np.einsum("i,j,c,d->ijcd", first, second, *chosen)
        return np.bincount(self.outcome.ravel(), joint.ravel())


def test_the_law_of_the_rows_costs_epsilon_at_most() -> None:
    """All releases of all tables of two records, with the noise that is really drawn.

    Mutant: the law for twice epsilon, which the same sums show to be too little noise.
    """
    epsilon = Fraction(8)
    made = OneTwo(epsilon)
    rate = float(epsilon / made.plan._law(made.plan._numbers[0]).sensitivity)
    beyond = 4 * math.exp(-rate * (OneTwo.reach - 1))
    assert beyond < 1e-10
    gaps = []
    for plan in (made.plan, replace(made.plan, epsilon=2 * epsilon)):
        laws = {table: made.law(table, plan) for table in made.tables}
        for law in laws.values():
            assert 1 - beyond - 1e-12 <= law.sum() <= 1 + 1e-12
        gaps.append(
            max(
                float((laws[one] - math.exp(epsilon) * (laws[other] + beyond)).max())
                for one, other in itertools.permutations(made.tables, 2)
                if set(one) & set(other)
            )
        )
    assert gaps[0] <= 1e-12
    assert gaps[1] > 1e-3


def test_what_leaves_is_made_of_the_paid_numbers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """One draw for each group and column, and rows that follow from them."""
    plan = planned(("n4", "job", "big"), 23, k=4)
    rng = np.random.default_rng(1)
    table = rng.integers(0, plan.domain.sizes, (23, 3))
    asked: list[tuple[Fraction, int]] = []
    chosen: list[Fraction] = []
    steps, choose = DiscreteLaplace.steps, Exponential.choose

    def count(law: DiscreteLaplace, size: int, source: Any) -> Any:
        asked.append((law.sensitivity, size))
        return steps(law, size, source)

    def pick(choice: Exponential, scores: Any, source: Any) -> int:
        chosen.append(choice.fall)
        return choose(choice, scores, source)

    monkeypatch.setattr(DiscreteLaplace, "steps", count)
    monkeypatch.setattr(Exponential, "choose", pick)
    drawn = plan.draw(table, Seeded(5))
    assert asked == [(math.ceil(4 * plan.length), 5), (math.ceil(100_000 * plan.length), 5)]
    line = plan._categories[0]
    assert chosen == [1 / (2 * line.length * plan.length)] * 5
    paid = plan.noisy(plan.tallies(InMemory(table)), Seeded(5))
    assert np.array_equal(plan.written(paid).block(range(plan.rows), Seeded(6)), drawn)


@pytest.mark.parametrize("most", [2, 100_001])
def test_the_order_of_rows_decides_nothing(most: int) -> None:
    """Values of 0 and 1 share a cell of the curve, so that the rest of the key must decide."""
    plan = planned(("big", "big", "job"), 40, k=3)
    rng = np.random.default_rng(3)
    table = rng.integers(0, (most, most, 3), (40, 3))
    table[20:] = table[:20]
    first = plan.tallies(InMemory(table))
    for _ in range(9):
        again = plan.tallies(InMemory(table[rng.permutation(40)]))
        for one, other in zip(
            (*first.sums, *first.scores), (*again.sums, *again.scores), strict=True
        ):
            assert np.array_equal(one, other)


# -- mutants ---------------------------------------------------------------------------------------


def staircase_like_chain() -> tuple[Microaggregation, Tallies, Tallies]:
    """One number, ten groups of five, every group's sum moves by one step."""
    plan = planned(("big",), 50, k=5)
    table = np.repeat(np.arange(10), 5)[:, None] + 1
    other = table.copy()
    other[0] = 11
    return plan, plan.tallies(InMemory(table)), plan.tallies(InMemory(other))


def test_staircase_noise_on_sums_is_caught() -> None:
    """Mutant: `Optimal` for the same L1 sensitivity pays epsilon for every group that moves."""
    plan, one, other = staircase_like_chain()
    wrong = Optimal(sensitivity=100_000, epsilon=1, minimise="variance").on_grid(1)
    shifts = np.abs(one.sums[0] - other.sums[0]).tolist()
    assert sum(wrong.loss(shift) for shift in shifts if shift) == pytest.approx(10)
    assert loss(plan, one, other) <= 1


def test_the_printed_calibration_is_caught() -> None:
    """Mutant: noise of range/(k·epsilon) for each mean, as if one group moved by one record."""
    plan = planned(("big", "big"), 200, k=10)
    rng = np.random.default_rng(0)
    most = Fraction(0)
    for _ in range(40):
        table, other = chained(plan, rng)
        one, two = plan.tallies(InMemory(table)), plan.tallies(InMemory(other))
        most = max(most, moved(plan, one, two))  # the loss with that noise
        assert loss(plan, one, two) <= 1
    assert most > 7


def test_rounding_means_first_is_caught() -> None:
    """Mutant: means on the grid, with noise for range/k. Each sum moves by 1, each mean by 1."""
    plan = planned(("n4",), 50, k=5)
    assert plan._numbers[0].length == 4
    table = np.repeat([[0], [1], [2], [3]], [13, 13, 12, 12], axis=0)  # ten groups of five
    rate = Fraction(5, 4)  # epsilon over (range/k)
    worst = Fraction(0)
    for old, new in itertools.product(range(5), repeat=2):
        for row in range(50):
            if table[row, 0] == old:
                other = table.copy()
                other[row] = new
                means = [
                    np.floor(plan.tallies(InMemory(t)).sums[0] / 5 + 0.5).astype(int)
                    for t in (table, other)
                ]
                worst = max(worst, rate * int(np.abs(means[0] - means[1]).sum()))
                assert loss(plan, plan.tallies(InMemory(table)), plan.tallies(InMemory(other))) <= 1
    assert worst > 1


def test_ties_by_row_are_caught() -> None:
    """Mutant: sorted by cells alone, ties as the engine leaves them. Cells are halves here, and a
    record that leaves the lower half moves every one behind it, high and low in turn."""
    table = np.array([0, 4999] * 10 + [9999] * 10)
    other = table.copy()
    other[0] = 9999
    plan = planned(("big",), 30, k=1)

    def by_cells(values: np.ndarray) -> np.ndarray:
        return values[np.argsort(values >= 5000, kind="stable")]

    wrong = np.abs(by_cells(table) - by_cells(other)).sum() / 9999
    assert wrong > 9
    one, two = (plan.tallies(InMemory(t[:, None])) for t in (table, other))
    assert moved(plan, one, two) <= 1


def test_fresh_noise_for_each_row_is_caught() -> None:
    """Mutant: the noise of a mean, drawn anew for each of its k rows, costs k times as much."""
    plan, one, other = staircase_like_chain()
    rate = Fraction(plan.k, 100_000)  # epsilon over (range/k)
    means = np.abs(one.sums[0] - other.sums[0]) / plan.k
    once = float(rate) * means.sum()
    assert once == pytest.approx(float(loss(plan, one, other)))
    far = plan.tallies(InMemory(np.zeros((50, 1), np.int64)))
    near = plan.tallies(InMemory(np.array([[100_000]] + [[0]] * 49)))
    assert loss(plan, far, near) == 1
    fresh = float(rate) * (np.abs(far.sums[0] - near.sums[0]) / plan.k * plan.sizes).sum()
    assert fresh == pytest.approx(plan.k)


def test_candidates_of_the_sample_are_caught() -> None:
    """Mutant: only categories that occur in the group can be chosen."""
    plan = planned(("job",), 4, k=4)
    table, other = np.array([[0]] * 4), np.array([[0]] * 3 + [[2]])
    occurring = [set(t[:, 0].tolist()) for t in (table, other)]
    assert occurring[0] != occurring[1]  # category 2 has mass 0 for the one and not for the other
    choice = plan._choice(plan._categories[0])
    for t in (table, other):
        for row in plan.tallies(InMemory(t)).scores[0].tolist():
            assert all(log.is_finite() for log in log_masses(choice, row))
    assert loss(plan, plan.tallies(InMemory(table)), plan.tallies(InMemory(other))) <= 1


def test_an_order_that_is_not_the_bounds_is_caught() -> None:
    """Mutant: the bound of the Hilbert curve for records in the order of interleaved bits."""
    numbers = np.arange(1 << 10)
    cells = np.stack([(numbers >> 5), numbers & 31], axis=1)
    interleaved = sum(
        ((cells[:, j] >> level) & 1) << (2 * level + j) for j in range(2) for level in range(5)
    )
    lengths = []
    for key in (total_order.index(cells, 5).astype(np.int64), interleaved):
        line = cells[np.argsort(key)]
        apart = np.abs(line[:, None] - line[None, :]).sum(axis=2)
        forward = np.where(np.triu(np.ones_like(apart)) > 0, apart, -1)
        ends = np.zeros(len(line), np.int64)
        for _ in range(40):
            ends = np.where(forward >= 0, ends[:, None] + forward, -1).max(axis=0)
        lengths.append(Fraction(int(ends.max()), 31))
    plan = planned(("big", "big"), 40, k=1)
    assert lengths[0] <= plan.length < lengths[1]


# -- the plan --------------------------------------------------------------------------------------


def test_targets_of_the_plan() -> None:
    assert planned(("big",) * 2, 30_162, k=300).sensitivity <= Fraction("0.0955")
    assert planned(("big",) * 2, 30_162, k=1000).sensitivity <= Fraction("0.0155")
    assert planned(("big",) * 4, 1080, k=100).sensitivity <= Fraction("0.281")
    assert planned(("big",), 1080, k=100).sensitivity == Fraction(1, 100)


def test_the_scale_is_in_units_of_the_column() -> None:
    plan = planned(("n4",), 100, Fraction(1, 2), k=10)
    assert plan.scale == {"n4_0": 2 / (10 * 0.5)}  # range / (k·epsilon)


def test_groups_are_chosen_without_rows() -> None:
    plan = planned(("big", "big"), 30_162)
    assert plan.k == math.ceil(30_162 / 38)
    assert plan.sizes.sum() == 30_162
    assert plan.sizes[:-1].tolist() == [plan.k] * 36
    assert plan.k <= plan.sizes[-1] < 2 * plan.k


def test_a_table_of_constants_is_published_as_it_is() -> None:
    one = {"type": "category", "categories": ["x"], "missing": "x"}
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    only = Domain.of(Schema.from_dict({"table": table, "columns": {"a": one}}))
    plan = Microaggregation.planned(only, 9, Fraction(1), k=2)
    assert plan.draw(np.zeros((9, 1), np.int64), Seeded(1)).tolist() == [[0]] * 9
    assert plan.expected_error == 0


def test_a_long_line_still_fits() -> None:
    wide = {"type": "number", "bounds": [0, 2**60], "missing": 0}
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    far = Domain.of(Schema.from_dict({"table": table, "columns": {"a": wide, "b": wide}}))
    plan = Microaggregation.planned(far, 1000, Fraction(1, 1000), k=100)
    drawn = plan.draw(np.full((1000, 2), 2**60), Seeded(1))
    assert drawn.min() >= 0
    assert drawn.max() <= 2**60
    assert np.array_equal(
        plan.tallies(InMemory(np.full((1000, 2), 2**60))).sums[0],
        np.full(10, 100 * plan._numbers[0].length),
    )


def test_noise_that_is_too_wide_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="scale"):
        planned(("big",) * 16, 10**7, Fraction(1, 10**12), k=1).noisy(
            Tallies((np.zeros(1, np.int64),) * 16, (np.zeros(1, np.int64),) * 16, ()), Seeded(1)
        )


def test_rows_are_near_the_truth_where_noise_is_small() -> None:
    plan = planned(("big", "job"), 4000, 1000, k=100)
    rng = np.random.default_rng(2)
    table = rng.integers(0, plan.domain.sizes, (4000, 2))
    table[:, 0] //= 2
    for each_spread in (False, True):
        made = planned(("big", "job"), 4000, 1000, k=100, spread=each_spread).draw(table, Seeded(3))
        assert abs(made[:, 0].mean() - table[:, 0].mean()) < 500
        assert np.abs(np.bincount(made[:, 1]) - np.bincount(table[:, 1])).max() < 200
        assert (np.unique(made[:, 0]).size > 100) == each_spread


def test_smoothing_helps_where_groups_are_too_small() -> None:
    rng = np.random.default_rng(2)
    table = rng.integers(0, 100_001, (4000, 2)) // 4
    truth = np.sort(table[:, 0])
    errors = []
    for smooth in (True, False):
        plan = planned(("big", "big"), 4000, k=20, smooth=smooth)
        drawn = np.sort(plan.draw(table, Seeded(3))[:, 0])
        errors.append(np.abs(drawn - truth).mean())
    assert errors[0] < errors[1] / 2


def test_the_expected_error_is_of_the_right_size() -> None:
    """Of even rows: the share of rows in a random interval of a random column."""
    rng = np.random.default_rng(7)
    for columns, rows, k in [(1, 4000, 40), (2, 4000, 200), (2, 4000, 20), (3, 4000, 400)]:
        plan = planned(("big",) * columns, rows, k=k, smooth=False)
        table = rng.integers(0, 100_001, (rows, columns))
        drawn = plan.draw(table, Seeded(columns))
        off = []
        for _ in range(400):
            column = rng.integers(columns)
            low, high = np.sort(rng.uniform(0, 100_001, 2))
            shares = [
                ((t[:, column] >= low) & (t[:, column] < high)).mean() for t in (table, drawn)
            ]
            off.append(abs(shares[0] - shares[1]))
        assert 0.4 < plan.expected_error / np.mean(off) < 2.5


def test_what_the_certificate_says() -> None:
    plan = planned(("gap", "job"), 100, k=10)
    assert plan.parameters == {
        "groups": "10 groups of at least 10 records.",
        "order": "Along a Hilbert curve through the domain.",
        "sensitivity": "One record moves all means together by at most 0.838, each as a share of "
        "the width of its domain.",
        "column gap_0": "The mean of a group has noise of scale 2.6.",
        "missing gap_0": "The number of missing values in a group has noise of scale 26.",
        "column job_1": "The category of a group is chosen with noise; one choice alone would cost "
        "at most epsilon 0.0715.",
        "after the noise": "Smoothed along the order, clipped to the bounds, rounded to the grid, "
        "repeated for each record of the group.",
    }
    alone = planned(("n4",), 100, k=10, spread=True)
    assert alone.parameters["order"] == "By value."
    assert "Made to rise" in alone.parameters["after the noise"]
    assert "spread" in alone.parameters["after the noise"]


def test_refusals() -> None:
    with pytest.raises(InvalidArgument, match="rows"):
        planned(("n1",), 5, k=6)
    with pytest.raises(InvalidArgument, match="parameter"):
        planned(("n1",), 5, clusters=6)
    with pytest.raises(NotPromised, match="17 columns"):
        planned(("n1",) * 17, 5)
    many = {"type": "category", "categories": [str(i) for i in range(3000)]}
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    wide = Domain.of(Schema.from_dict({"table": table, "columns": {"a": many}}))
    with pytest.raises(NotPromised, match="3000 categories"):
        Microaggregation.planned(wide, 5, Fraction(1))
