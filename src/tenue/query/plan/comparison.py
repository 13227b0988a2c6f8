"""How large the error of an aggregate is, as one number that two ways to answer are compared by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from ...noise.criterion import Criterion
from ..family.mode import Voted
from ..family.moments import Spread
from ..family.rank import Chosen
from ..family.reading import Basic, Linear, Mean, MeanOfAll
from ..family.value_only import Told
from ..question import Aggregate
from .strategy import Strategy

SHOWN_LEVEL = Fraction(19, 20)
_LEAST = 1e-300
_SAME = 1 + 1e-6
"""Prices are whole billionths: two ways at the same price may differ by that little."""


def sizes(strategy: Strategy, wanted: Criterion) -> dict[Aggregate, float]:
    """The error of each aggregate: in its own unit, in ranks or rows, or as 1 / epsilon where it
    depends on the rows; the same measure in every strategy for the same question."""
    return {a: _size(r, strategy, wanted) for a, r in strategy.readings.items()}


def _size(reading: Basic, strategy: Strategy, wanted: Criterion) -> float:
    if isinstance(reading, Told):
        return math.inf
    if isinstance(reading, Chosen):
        return reading.rank_error(SHOWN_LEVEL)
    if isinstance(reading, Voted):
        return reading.behind(SHOWN_LEVEL)
    if isinstance(reading, Spread):
        return float(1 / strategy.parts[reading.part].epsilon)
    error = reading.error(strategy.parts)
    if wanted.kind == "variance":
        return math.sqrt(error.variance)
    if wanted.kind == "absolute-error" and error.quick_mean_absolute_error is not None:
        return error.quick_mean_absolute_error
    return error.quick_half_width(wanted.level or SHOWN_LEVEL)


def score_of(strategy: Strategy, wanted: Criterion) -> float:
    """The errors of all aggregates together, so that no unit of measurement matters."""
    return sum(math.log(max(size, _LEAST)) for size in sizes(strategy, wanted).values())


def no_worse(one: Mapping[Aggregate, float], other: Mapping[Aggregate, float]) -> bool:
    """Whether no aggregate has a larger error."""
    return all(size <= other[a] * _SAME for a, size in one.items())


def merged(name: str, several: list[Strategy]) -> Strategy:
    """Strategies for different aggregates, side by side; their prices add up."""
    whole = Strategy(name, (), {})
    for one in several:
        parts, places = len(whole.parts), len(whole.choices)
        whole = Strategy(
            name,
            whole.parts + one.parts,
            {**whole.readings, **{a: _moved(r, parts, places) for a, r in one.readings.items()}},
            whole.choices + one.choices,
        )
    return whole


def _moved(reading: Basic, parts: int, places: int) -> Basic:
    """The reading where so many parts and choices stand before its own."""
    if isinstance(reading, Linear):
        terms = tuple(replace(term, part=term.part + parts) for term in reading.terms)
        return replace(reading, terms=terms)
    if isinstance(reading, MeanOfAll):
        return replace(reading, total=replace(reading.total, part=reading.total.part + parts))
    if isinstance(reading, Mean | Spread):
        return replace(reading, part=reading.part + parts)
    if isinstance(reading, Chosen | Voted):
        return replace(reading, place=reading.place + places)
    return reading
