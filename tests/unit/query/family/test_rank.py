"""Value intervals: exact coverage on every small table, and what an answer says of them."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import pytest

from tenue.errors import InvalidArgument
from tenue.mechanism.choose.selection import Selection
from tenue.query.family.rank import (
    INTERVAL_END,
    Choice,
    RankInterval,
    RankReading,
    Span,
    choices_for,
)
from tenue.query.question import Aggregate

SPAN = Span(0, 4, Fraction(1))
LEVEL = Fraction(9, 10)
ASKED = [
    Aggregate("quantile", "x", q=Fraction(1, 2)),
    Aggregate("quantile", "x", q=Fraction(1, 4)),
    Aggregate("quantile", "x", q=Fraction(9, 10)),
    Aggregate("min", "x"),
    Aggregate("max", "x"),
]


def tables(most: int) -> Iterator[tuple[int, ...]]:
    for n in range(1, most + 1):
        yield from itertools.combinations_with_replacement(range(5), n)


def masses(selection: Selection, table: Sequence[int]) -> dict[int, float]:
    """The law that is drawn from, by the intervals that are drawn from."""
    counts, below, values = Counter(table), 0, []
    for value in sorted(counts):
        values.append((value, below, counts[value]))
        below += counts[value]
    scores = dict.fromkeys(range(selection.low, selection.high + 1), selection.reach)
    for interval in selection.intervals(len(table), values):
        scores |= dict.fromkeys(range(interval.first, interval.first + interval.points), 0)
        for v in range(interval.first, interval.first + interval.points):
            scores[v] = interval.score
    weights = {v: math.exp(-float(selection.law.fall) * s) for v, s in scores.items()}
    return {v: w / sum(weights.values()) for v, w in weights.items()}


def truths(asked: Aggregate, table: Sequence[int]) -> list[Fraction]:
    """All that may be called the quantile: the rank below, the rank above, and in between."""
    if asked.q is None:
        return [Fraction(min(table) if asked.kind == "min" else max(table))]
    place = asked.q * (len(table) - 1)
    low = table[math.floor(place)]
    between = low + (place - math.floor(place)) * (table[math.ceil(place)] - low)
    ranked = table[max(1, math.ceil(asked.q * len(table))) - 1]
    after = table[min(len(table), math.floor(asked.q * len(table)) + 1) - 1]
    return [Fraction(ranked), Fraction(after), between]


def coverage(
    choices: Sequence[Choice], bought: RankInterval, table: Sequence[int], truth: Fraction
) -> float:
    """The exact probability that the interval holds the truth; selections are independent."""
    reading = RankReading(0, Fraction(1), choices[0].selection, bought)
    laws = [masses(c.selection, table) for c in choices]
    total = 0.0
    for drawn in itertools.product(range(5), repeat=len(choices)):
        low, high = _ends(reading, drawn)
        if low <= truth <= high:
            total += math.prod(law[v] for law, v in zip(laws, drawn, strict=True))
    return total


@lru_cache
def _ends(reading: RankReading, drawn: tuple[int, ...]) -> tuple[Fraction, Fraction]:
    assert reading.bought is not None
    found = reading.interval((), reading.bought.level, [drawn], None)
    assert found is not None
    return found


def bought_for(
    asked: Aggregate, neighbours: str, epsilon: Fraction
) -> tuple[list[Choice], RankInterval]:
    choices, bought = choices_for(asked, SPAN, neighbours, epsilon, lambda share: share, LEVEL)
    assert bought is not None
    return choices, bought


def worst(choices: Sequence[Choice], bought: RankInterval, asked: Aggregate, most: int) -> float:
    return min(
        coverage(choices, bought, table, truth)
        for table in tables(most)
        for truth in set(truths(asked, table))
    )


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(8), Fraction(60)])
def test_the_interval_holds_the_truth_in_every_small_table(
    asked: Aggregate, neighbours: str, epsilon: Fraction
) -> None:
    choices, bought = bought_for(asked, neighbours, epsilon)
    assert sum(c.epsilon for c in choices) == epsilon
    assert worst(choices, bought, asked, 4) >= LEVEL


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_few_rows_need_the_spared_end(asked: Aggregate) -> None:
    """Mutant: without it, all points miss the aim alike, and the ends fall anywhere."""
    choices, bought = bought_for(asked, "replace", Fraction(2))

    def unspared(choice: Choice) -> Choice:
        score = replace(choice.selection.score, spared=None)
        return replace(choice, selection=replace(choice.selection, score=score))

    assert worst([unspared(c) for c in choices], bought, asked, 2) < LEVEL


def test_ends_aimed_at_the_quantile_itself_would_miss() -> None:
    """Mutant: two more draws of the median are no interval."""
    asked = ASKED[0]
    choices, bought = bought_for(asked, "replace", Fraction(8))
    middle = choices[0]
    ends = [replace(middle, selection=replace(middle.selection, epsilon=Fraction(2)))] * 2
    assert worst([middle, *ends], bought, asked, 5) < LEVEL


def test_without_a_level_nothing_is_bought() -> None:
    for asked in ASKED:
        (only,), bought = choices_for(asked, SPAN, "replace", Fraction(1), lambda share: share)
        assert (bought, only.epsilon, only.selection.score.spared) == (None, 1, None)
        assert RankReading(0, Fraction(1), only.selection).interval((), LEVEL, [[2]], None) is None


def test_half_of_the_price_buys_the_ends_of_a_quantile_and_nothing_those_of_an_extreme() -> None:
    spent = [
        sum(
            c.epsilon
            for c in bought_for(asked, "replace", Fraction(1))[0]
            if c.name == INTERVAL_END
        )
        for asked in ASKED
    ]
    assert spent == [Fraction(1, 2)] * 3 + [0, 0]


def test_an_interval_holds_its_answer_and_is_none_for_higher_levels() -> None:
    choices, bought = bought_for(ASKED[0], "replace", Fraction(1))
    reading = RankReading(0, Fraction(1, 2), choices[0].selection, bought)
    assert reading.interval((), LEVEL, [[4, 1, 3]], None) == (Fraction(1, 2), 2)
    assert reading.interval((), Fraction(1, 2), [[2, 3, 1]], None) == (
        Fraction(1, 2),
        Fraction(3, 2),
    )
    assert reading.interval((), Fraction(91, 100), [[4, 1, 3]], None) is None
    choices, bought = bought_for(Aggregate("max", "x"), "replace", Fraction(1))
    assert RankReading(0, Fraction(1), choices[0].selection, bought).interval(
        (), LEVEL, [[3]], None
    ) == (3, 4)


def test_a_grid_without_end_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="coarser"):
        choices_for(ASKED[0], Span(0, 2**62, Fraction(1)), "replace", Fraction(1), lambda s: s)
