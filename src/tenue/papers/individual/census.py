"""Medians, maxima and range counts of a real table: four ways to answer them.

The paper compares formulas. Here each way answers about Census, and its error is computed exactly:
noise for the worst table, for the smooth sensitivity, for this table (individual), and selection.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ...mechanism.choose import rank_score
from ...mechanism.choose.rank_score import RankScore
from ...mechanism.choose.selection import Selection
from ...noise import DiscreteLaplace, HeavyTail, Laplace
from ...sensitivity import local, smooth
from ..cell import Cell, beside, claimed
from ..data import CENSUS, Data
from ..exhibit import beyond

Values = npt.NDArray[np.int64]
COLUMNS = ("AGI", "FEDTAX", "PTOTVAL", "TAXINC")
LEVEL = "0.5"
"""Half of the answers are closer than this: every noise has such a bound, a mean not always."""


def upper(values: Values) -> int:
    """The holder's bound: the next power of two above what people earn, at least 2^18."""
    return 1 << max(18, int(values.max()).bit_length())


def selected(score: RankScore, values: Values, high: int, truth: float) -> float:
    """Within what distance of the truth half of the answers lie, from the exact probabilities."""
    selection = Selection(score, 0, high, Fraction(1))
    kinds, firsts, counts = np.unique(values, return_index=True, return_counts=True)
    del firsts
    below = np.concatenate([[0], np.cumsum(counts)[:-1]])
    known = [(int(v), int(b), int(c)) for v, b, c in zip(kinds, below, counts, strict=True)]
    weights: dict[float, float] = {}
    for part in selection.intervals(values.size, known):
        weight = math.exp(-float(selection.law.fall) * part.score)
        for first, last in _cut(part.first, part.first + part.points - 1, truth):
            near, far = sorted((abs(first - truth), abs(last - truth)))
            for place in np.linspace(near, far, min(64, last - first + 1)):
                share = weight * (last - first + 1) / min(64, last - first + 1)
                weights[float(place)] = weights.get(float(place), 0.0) + share
    half, seen = sum(weights.values()) / 2, 0.0
    for place in sorted(weights):
        seen += weights[place]
        if seen >= half:
            return place
    return math.inf


def _cut(first: int, last: int, truth: float) -> list[tuple[int, int]]:
    """An interval without the truth inside, so that distances run one way."""
    middle = math.floor(truth)
    if first <= middle < last:
        return [(first, middle), (middle + 1, last)]
    return [(first, last)]


def half_width(law: Laplace | HeavyTail) -> float:
    return float(law.interval(LEVEL)[1])


def ways(statistic: str, values: Values, score: RankScore, truth: float) -> dict[str, float]:
    high = upper(values)
    listed = values.tolist()
    own = float(local(statistic, listed, bounds=(0, high)))
    spread = smooth(statistic, listed, bounds=(0, high), beta="1/3")
    return {
        "worst table": half_width(Laplace(sensitivity=high, epsilon=1)),
        "smooth, γ = 3": half_width(HeavyTail(gamma=3, smooth_sensitivity=repr(spread), epsilon=1)),
        "individual": half_width(Laplace(sensitivity=repr(own), epsilon=1)) if own else 0.0,
        "selection": selected(score, values, high, truth),
    }


def _column(data: Data, name: str) -> Values:
    return np.sort(data.census.only([name]).values[:, 0].astype(np.int64).clip(0))


def medians(data: Data) -> list[Cell]:
    cells = []
    for name in COLUMNS:
        values = _column(data, name)
        truth = float(np.median(values))
        found = ways("median", values, rank_score.quantile(Fraction(1, 2), "replace"), truth)
        cells += [beside(f"median of {name}", way, error) for way, error in found.items()]
        cells.append(
            claimed(
                f"median of {name}",
                "worst table / individual",
                "iDP much better",
                found["worst table"] / max(found["individual"], 1.0),
                holds=found["individual"] <= found["smooth, γ = 3"] <= found["worst table"],
                remark="Selection is differentially private at the same price."
                if found["selection"] < found["smooth, γ = 3"]
                else "",
            )
        )
    return cells


def maxima(data: Data) -> list[Cell]:
    cells = []
    for name in COLUMNS:
        values = _column(data, name)
        points = upper(values) + 1
        for statistic, rank in (("max", 1), ("second-max", 2)):
            truth = float(values[-rank])
            found = ways(statistic, values, rank_score.maximum(Fraction(1), points), truth)
            row = f"{'maximum' if rank == 1 else 'second largest'} of {name}"
            cells += [beside(row, way, error) for way, error in found.items()]
            ratio = found["smooth, γ = 3"] / max(found["individual"], 1.0)
            cells.append(
                claimed(row, "smooth, γ = 3 / individual", "iDP better", ratio, holds=ratio >= 1)
            )
    return cells


def ranges(data: Data) -> list[Cell]:
    values = _column(data, "AGI")
    law = DiscreteLaplace(sensitivity=1, epsilon=1)
    counted = int(((values >= 20_000) & (values <= 40_000)).sum())
    own = float(local("range-count", values.tolist(), bounds=(0, 2**18), low=20_000, high=40_000))
    return [
        beside("AGI from 20,000 to 40,000", "records", float(counted)),
        claimed(
            "AGI from 20,000 to 40,000",
            "local sensitivity",
            "1, as in the worst case",
            own,
            holds=own == 1,
        ),
        beside(
            "discrete Laplace (DP)",
            "mean absolute error",
            law.mean_absolute_error,
            right="0.85091812823932",
        ),
        beside(
            "individual, cut to ±1",
            "mean absolute error",
            1 - float(law.mass(0)),
            right="0.53788284273999",
            remark="0.31 less error, for an answer that proves a bit with probability 0.27.",
        ),
    ]


NOTE = (
    "Half of the answers are closer to the truth than the number shown; ε = 1, one record "
    "replaced, bounds from 0 to a power of two. The selection of a maximum aims at a rank below "
    "it, so that it does not fall outside the data. Its errors come from the probabilities with "
    "which `ask` draws a median, read inside the library: no public name gives them away, because "
    "they depend on the rows."
)
EXHIBITS = (
    beyond(
        "idp.median",
        "Medians of Census, four ways",
        "Individual DP, section 6.1",
        medians,
        needs=(CENSUS,),
        note=NOTE,
    ),
    beyond(
        "idp.maximum",
        "Maxima of Census, four ways",
        "Individual DP, section 6.2",
        maxima,
        needs=(CENSUS,),
        note=NOTE,
    ),
    beyond(
        "idp.range",
        "A range count of Census",
        "Individual DP, section 6.3",
        ranges,
        needs=(CENSUS,),
    ),
)
