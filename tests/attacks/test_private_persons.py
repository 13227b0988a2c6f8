"""Attacks on private tables of persons: the exact loss of whole releases, one person added, removed
or replaced.

What leaves is the noisy number of rows, and the noisy counts of as many rows as follow from it.
Every choice of rows and every order is tried with the code as it is; the noise that it asked for
has masses that are known. So the law of whole releases is compared, for every two neighbours.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from private_laws import categories, outcomes
from tenue.noise.discrete_laplace import DiscreteLaplace
from tenue.noise.source import Seeded
from tenue.publish.synthetic import persons as module
from tenue.publish.synthetic.persons import Persons
from tenue.publish.synthetic.plan import planned_for

EPSILON, MOST = Fraction(8), 2
HELD = categories(2)
SOURCE = Seeded(1)
Bag = tuple[int, ...]
"""The values of some rows, in order."""

OTHERS: list[Bag] = [(), (0,), (1,), (0, 1)]
OF_ONE: list[Bag] = [
    bag for size in range(4) for bag in itertools.combinations_with_replacement((0, 1), size)
]
FEW: tuple[list[Bag], list[Bag]] = ([(1,)], [(), (0, 0), (1, 1), (0, 0, 0)])


def chosen(way: Persons, bag: Bag, patch: pytest.MonkeyPatch) -> Iterator[Bag]:
    """Every choice of the rows of one person, equally likely."""
    size = min(len(bag), way.most)
    for taken in itertools.combinations(range(len(bag)), size):

        def few(units: Any, limit: int, source: Any, taken: Any = taken) -> Any:
            kept = np.zeros(len(units), bool)
            kept[list(taken) if limit < len(units) else slice(None)] = True
            return kept

        patch.setattr(module, "few", few)
        kept = way.kept(np.zeros(len(bag), np.int64), SOURCE)
        yield tuple(bag[row] for row in kept)


def tables(way: Persons, rows: Bag, size: int, patch: pytest.MonkeyPatch) -> Counter[Bag]:
    """How often each table of that size follows, over all orders of the rows."""
    found: Counter[Bag] = Counter()
    places = np.array(rows, np.int64).reshape(-1, 1)
    for order in itertools.permutations(range(len(rows))):
        patch.setattr(module, "shuffled", lambda *_, order=order: np.array(order, np.int64))
        made = way.resized(places, size, HELD, SOURCE)
        assert len(made) == size
        found[tuple(sorted(made[:, 0].tolist()))] += 1
    return found


@cache
def counts_and_rate(size: int, rate_of: Fraction, bag: Bag) -> tuple[float, tuple[int, ...]]:
    """The rate of the noise of the counts of a table, and the counts, as a way releases them."""
    way = planned_for(Persons(1, rate_of), HELD, size, "columns").way
    way = type(way)(domain=HELD, rows=size, epsilon=rate_of)
    with pytest.MonkeyPatch.context() as patch:
        (only,) = outcomes(way, tuple((value,) for value in bag), patch).values()
    ((rate, counts),) = only.vectors
    return float(rate), counts


def masses(law: DiscreteLaplace, rows: int, numbers: np.ndarray) -> np.ndarray:
    rate = float(law.epsilon / law.sensitivity)
    return np.exp(-rate * np.abs(numbers - rows)) * math.tanh(rate / 2)


GRID = np.arange(-1, 8)
NUMBERS = np.arange(14, 25)


def releases(way: Persons, others: Bag, one: Bag) -> tuple[np.ndarray, list[int]]:
    """P(noisy number of rows, noisy counts of both values); and the number of rows that a way
    sees, on which its rows depend."""
    found, sizes = np.zeros((NUMBERS.size, GRID.size, GRID.size)), [0] * NUMBERS.size
    with pytest.MonkeyPatch.context() as patch:
        choices = list(chosen(way, one, patch))
        for kept in choices:
            rows = others + kept
            chance = masses(way.law, len(rows), NUMBERS) / len(choices)
            for i, number in enumerate(NUMBERS.tolist()):

                class Noise:
                    def steps(self, *_: Any, number: int = number, held: int = len(rows)) -> Any:
                        return [number - held]

                with pytest.MonkeyPatch.context() as inner:
                    scale = way.spare
                    inner.setattr(type(way), "spare", scale)
                    inner.setattr(type(way), "law", Noise())
                    size, drawn = way.counted(len(rows), SOURCE)
                assert drawn == max(number, 1)
                sizes[i] = size
                every = tables(way, rows, size, patch)
                for bag, times in every.items():
                    rate, (first, second) = counts_and_rate(size, way.row_epsilon, bag)
                    a, b = (np.exp(-rate * np.abs(GRID - held)) for held in (first, second))
                    found[i] += chance[i] * times / every.total() * np.outer(a, b)
    return found, sizes


def worst(way: Persons, others: list[Bag], one: list[Bag]) -> float:
    """The greatest log-ratio over all pairs of which one person's rows differ."""
    loss = 0.0
    for rest in others:
        laws = [releases(way, rest, rows) for rows in one]
        for (first, sizes), (second, other) in itertools.permutations(laws, 2):
            if sizes != other:
                return math.inf
            loss = max(loss, float(np.log(first / second).max()))
    return loss


def test_one_person_costs_epsilon() -> None:
    assert 0.99 * EPSILON < worst(Persons(MOST, EPSILON), *FEW) <= EPSILON + 1e-9


@pytest.mark.slow
def test_one_person_costs_epsilon_whatever_their_rows() -> None:
    assert 0.99 * EPSILON < worst(Persons(MOST, EPSILON), OTHERS, OF_ONE) <= EPSILON + 1e-9


class NotLimited(Persons):
    def kept(self, persons: Any, source: Any) -> Any:
        return np.arange(len(persons))


class PaidOnce(Persons):
    @property
    def row_epsilon(self) -> Fraction:
        return self.epsilon - self.count_epsilon


class CountOfRows(Persons):
    @property
    def law(self) -> DiscreteLaplace:
        return DiscreteLaplace(sensitivity=1, epsilon=self.count_epsilon)


class FilledWithRows(Persons):
    def resized(self, places: Any, rows: int, domain: Any, source: Any) -> Any:
        if not len(places):
            return super().resized(places, rows, domain, source)
        order = module.shuffled(len(places), source)
        return places[np.resize(order, rows)]


class Counted(Persons):
    """A way sees as many rows as there are."""

    def counted(self, rows: int, source: Any) -> tuple[int, int]:
        noisy = rows + int(self.law.steps(1, source)[0])
        return max(rows, 1), max(noisy, 1)


@pytest.mark.parametrize("mutant", [NotLimited, PaidOnce, CountOfRows, FilledWithRows, Counted])
def test_a_person_who_is_not_paid_for_is_seen(mutant: type[Persons]) -> None:
    assert worst(mutant(MOST, EPSILON), *FEW) > 1.01 * EPSILON
