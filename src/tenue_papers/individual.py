"""Individual differential privacy (Soria-Comas and others, 2017).

The paper compares formulas. Here each mechanism answers about Census, and its error is computed
exactly: noise for the worst table, for the smooth sensitivity, for this table (individual), and
selection.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import accumulate, combinations_with_replacement, pairwise

import numpy as np
import numpy.typing as npt

from tenue.mechanism import individual, rank_score
from tenue.mechanism.exponential_mechanism import Selection
from tenue.mechanism.rank_score import RankScore
from tenue.noise import DiscreteLaplace, HeavyTail, Laplace, Seeded
from tenue.sensitivity import admissible_beta, dilation_loss, is_admissible, local, smooth

from .cell import Cell, amended, beside, claimed, formula, met, met_or_amended, refuted
from .data import CENSUS, Data
from .draw import Figure, Panel, Series, between, curve, panels, plot
from .exhibit import beyond, erratum, example, figure, table

LN2 = "0.6931471805599453094172321214581765680755"
TABLE, DOMAIN = (0, 1, 1), (0, 1)
"""A table whose median has local and smooth sensitivity 1."""


def individual_noise() -> Laplace:
    return Laplace(sensitivity=local("median", TABLE, bounds=DOMAIN), epsilon=1)


def smooth_noise(gamma: int) -> HeavyTail:
    spread = smooth("median", TABLE, bounds=DOMAIN, beta=f"1/{gamma}")
    return HeavyTail(gamma=gamma, smooth_sensitivity=repr(spread), epsilon=1)


def intervals(_: Data) -> Iterator[Cell]:
    own, two, three = (
        law.interval("0.95")[1] for law in (individual_noise(), smooth_noise(2), smooth_noise(3))
    )
    rounding, right = "8·tan(0.475π) rounds to 101.6.", "101.6496378894"
    yield met("±", "individual", "3", own, right="2.995732273554")
    yield amended("±", "smooth, γ = 2", "101.7", two, right=right, because=rounding)
    yield met("±", "smooth, γ = 3", "34.2", three, right="34.217864904138")


def densities(_: Data) -> Figure:
    places = between(-40, 40, 801)
    return plot(
        *("Noise of a median, ε = 1, sensitivities 1", "noise", "density"),
        curve("individual", places, individual_noise().pdf),
        curve("smooth, γ = 2", places, smooth_noise(2).pdf),
        curve("smooth, γ = 3", places, smooth_noise(3).pdf),
        log_y=True,
        y_range=(1e-4, 1),
        caption="Noise for smooth sensitivity has heavy tails.",
    )


def densities_cells(_: Data) -> Iterator[Cell]:
    own, two, three = individual_noise(), smooth_noise(2), smooth_noise(3)
    heavy = bool(two.pdf(100.0) > three.pdf(100.0) > 1000 * own.pdf(100.0))
    tail = float(two.pdf(100.0) / own.pdf(100.0))
    ratio = three.interval("0.95")[1] / own.interval("0.95")[1]
    column, says = "γ = 3 / individual", "much better accuracy"
    yield claimed("density at 100", "γ = 2 / individual", "heavy tails", tail, holds=heavy)
    yield claimed("95 % interval", column, says, ratio, holds=ratio > 10)


# -- range counts ----------------------------------------------------------------------------------

ERRORS = {
    "0.1": ("9.98", "9.9833527572961", "0.95", "0.95004162504212"),
    "ln 2": ("1.33", "1.3333333333333", "0.66", "0.66666666666667"),
    "1": ("0.85", "0.85091812823932", "0.53", "0.53788284273999"),
    "2": ("0.27", "0.27572056477178", "0.23", "0.23840584404424"),
    "5": ("0.013", "0.013476505830589", "0.013", "0.01338570184857"),
}
TRUNCATED = "individual, truncated to ±1"


def counting(epsilon: str) -> DiscreteLaplace:
    return DiscreteLaplace(sensitivity=1, epsilon=LN2 if epsilon == "ln 2" else epsilon)


def truncated_error(law: DiscreteLaplace) -> float:
    """Truncated to f(D) ± 1, every answer but the truth is off by exactly 1."""
    return 1 - float(law.mass(0))


def errors(_: Data) -> Iterator[Cell]:
    for epsilon, (whole, right, truncated, right_truncated) in ERRORS.items():
        law, row = counting(epsilon), f"ε = {epsilon}"
        ours = truncated_error(law)
        yield met_or_amended(row, "DP", whole, law.mean_absolute_error, right=right)
        yield met_or_amended(row, TRUNCATED, truncated, ours, right=right_truncated)


def error_laws(_: Data) -> Figure:
    def bars(title: str, name: str, masses: dict[int, float]) -> Panel:
        series = (Series(name, tuple(masses.items()), "bar"),)
        ranges = {"x_range": (-6.6, 6.6), "y_range": (0, 0.5)}
        return Panel(title, "error", "probability", series, **ranges)  # type: ignore[arg-type]

    law = counting("1")
    side = truncated_error(law) / 2
    return panels(
        bars("ε-DP, ε = 1", "DP", {k: float(law.mass(k)) for k in range(-6, 7)}),
        bars(TRUNCATED, "individual", {-1: side, 0: float(law.mass(0)), 1: side}),
        caption="The mass beyond ±1 moves to ±1, where it proves the bit of a known neighbour.",
    )


def error_laws_cells(_: Data) -> Iterator[Cell]:
    law = counting("1")
    beyond = 1 - sum(float(law.mass(k)) for k in (-1, 0, 1))
    likely, says = 0.1 < beyond < 0.5, "the mass beyond is put there"
    ends = 2 * float(law.mass(1)) + beyond
    yield claimed("errors beyond ±1", "DP", "a good chance", beyond, holds=likely)
    yield formula("at ±1", "individual", says, truncated_error(law), ends)


# -- examples --------------------------------------------------------------------------------------


def bits(zeros: int, ones: int) -> list[int]:
    return [0] * zeros + [1] * ones


def example_1(_: Data) -> Iterator[Cell]:
    """Medians of bits: sensitivity 1 at two tables only."""
    m = 5
    spreads = [local("median", bits(2 * m + 1 - k, k), bounds=DOMAIN) for k in range(2 * m + 2)]
    ones, row = [k for k, spread in enumerate(spreads) if spread == 1], "numbers of ones"
    text, says = ", ".join(map(str, ones)), "m and m + 1 only"
    most = float(max(spreads))
    yield claimed("global sensitivity", "11 bits", "1", most, holds=most == 1)
    yield claimed("tables with local sensitivity 1", row, says, text, holds=ones == [m, m + 1])


def example_2(_: Data) -> Iterator[Cell]:
    m = 5
    first, second = bits(m + 2, m - 1), bits(m + 1, m)
    column = "local sensitivity"
    spreads = [float(local("median", rows, bounds=DOMAIN)) for rows in (first, second)]
    yield met("X", "median", "0", sorted(first)[m])
    yield met("X", column, "0", spreads[0])
    yield met("X'", "median", "0", sorted(second)[m])
    yield met("X'", column, "1", spreads[1], right=1)


TABLES = (
    table("idp.1", "95 % intervals of three noises", intervals),
    table("idp.2", "Error of a range count", errors),
    figure("idp.fig1", "Noise of a median", densities_cells, densities),
    figure("idp.fig2", "Error of a range count", error_laws_cells, error_laws),
    example("idp.ex1", "Local and global sensitivity", example_1),
    example("idp.ex2", "Same median, other sensitivity", example_2),
)


# -- Medians, maxima and range counts of a real table: four ways to answer them --------------------

Values = npt.NDArray[np.int64]
COLUMNS = ("AGI", "FEDTAX", "PTOTVAL", "TAXINC")
LEVEL = "0.5"
"""Half of the answers are closer than this: every noise has such a bound, a mean not always."""


def upper(values: Values) -> int:
    """The holder's bound: the next power of two above all values, at least 2^18."""
    return 1 << max(18, int(values.max()).bit_length())


def selected(score: RankScore, values: Values, high: int, truth: float) -> float:
    """The distance from the truth within which half of the answers lie, by exact probabilities."""
    selection = Selection(score, 0, high, Fraction(1))
    distinct, counts = np.unique(values, return_counts=True)
    below = np.cumsum(counts) - counts
    known = list(zip(distinct.tolist(), below.tolist(), counts.tolist(), strict=True))
    weights: dict[float, float] = {}
    for part in selection.intervals(values.size, known):
        weight = math.exp(-float(selection.law.fall) * part.score)
        for first, last in _split(part.first, part.first + part.points - 1, truth):
            near, far = sorted((abs(first - truth), abs(last - truth)))
            for place in np.linspace(near, far, min(64, last - first + 1)):
                share = weight * (last - first + 1) / min(64, last - first + 1)
                weights[float(place)] = weights.get(float(place), 0.0) + share
    places = sorted(weights)
    sums = accumulate(weights[place] for place in places)
    half = sum(weights.values()) / 2
    return next((p for p, total in zip(places, sums, strict=True) if total >= half), math.inf)


def _split(first: int, last: int, truth: float) -> list[tuple[int, int]]:
    """Intervals without the truth inside, so that distances from it are monotone."""
    middle = math.floor(truth)
    if first <= middle < last:
        return [(first, middle), (middle + 1, last)]
    return [(first, last)]


def half_width(law: Laplace | HeavyTail) -> float:
    return float(law.interval(LEVEL)[1])


def errors_of_noises(
    statistic: str, values: Values, score: RankScore, truth: float
) -> dict[str, float]:
    high = upper(values)
    rows = values.tolist()
    own = float(local(statistic, rows, bounds=(0, high)))
    spread = smooth(statistic, rows, bounds=(0, high), beta="1/3")
    return {
        "worst table": half_width(Laplace(sensitivity=high, epsilon=1)),
        "smooth, γ = 3": half_width(HeavyTail(gamma=3, smooth_sensitivity=repr(spread), epsilon=1)),
        "individual": half_width(Laplace(sensitivity=repr(own), epsilon=1)) if own else 0.0,
        "selection": selected(score, values, high, truth),
    }


def _column(data: Data, name: str) -> Values:
    return np.sort(data.census.only([name]).values[:, 0].astype(np.int64).clip(0))


def medians(data: Data) -> Iterator[Cell]:
    score, column = rank_score.quantile(Fraction(1, 2), "replace"), "worst table / individual"
    private = "Selection is differentially private at the same price."
    for name in COLUMNS:
        values, row = _column(data, name), f"median of {name}"
        errors = errors_of_noises("median", values, score, float(np.median(values)))
        worst, calm, own, selection = errors.values()
        remark = private if selection < calm else ""
        ratio, ordered = worst / max(own, 1.0), own <= calm <= worst
        for noise, error in errors.items():
            yield beside(row, noise, error)
        yield claimed(row, column, "iDP much better", ratio, holds=ordered, remark=remark)


def maxima(data: Data) -> Iterator[Cell]:
    column = "smooth, γ = 3 / individual"
    for name in COLUMNS:
        values = _column(data, name)
        score = rank_score.maximum(Fraction(1), upper(values) + 1)
        for statistic, title, rank in (("max", "maximum", 1), ("second-max", "second largest", 2)):
            errors = errors_of_noises(statistic, values, score, float(values[-rank]))
            row, ratio = (
                f"{title} of {name}",
                errors["smooth, γ = 3"] / max(errors["individual"], 1),
            )
            for noise, error in errors.items():
                yield beside(row, noise, error)
            yield claimed(row, column, "iDP better", ratio, holds=ratio >= 1)


def ranges(data: Data) -> Iterator[Cell]:
    values, row, column = _column(data, "AGI"), "AGI from 20,000 to 40,000", "mean absolute error"
    law = DiscreteLaplace(sensitivity=1, epsilon=1)
    counted = int(((values >= 20_000) & (values <= 40_000)).sum())
    own = float(local("range-count", values.tolist(), bounds=(0, 2**18), low=20_000, high=40_000))
    error, says = law.mean_absolute_error, "1, as in the worst case"
    yield beside(row, "records", float(counted))
    yield claimed(row, "local sensitivity", says, own, holds=own == 1)
    yield beside("discrete Laplace (DP)", column, error, right="0.85091812823932")
    yield beside(
        *(TRUNCATED, column, truncated_error(law)),
        right="0.53788284273999",
        remark="0.31 less error, for an answer that proves a bit with probability 0.27.",
    )


NOTE = (
    "Half of the answers are closer to the truth than the number shown; ε = 1, one record "
    "replaced, bounds from 0 to a power of two. The selection of a maximum aims at a rank below "
    "it, so that the answer does not fall outside the data. Its errors come from the probabilities "
    "with which `ask` draws a median, read inside the library: no public name reveals them, "
    "because they depend on the rows."
)
on_census = partial(beyond, needs=(CENSUS,))
SECTIONS = tuple(f"Individual DP, section 6.{i}" for i in (1, 2, 3))
ON_CENSUS = (
    on_census("idp.median", "Medians of Census, four ways", medians, source=SECTIONS[0], note=NOTE),
    on_census("idp.maximum", "Maxima of Census, four ways", maxima, source=SECTIONS[1], note=NOTE),
    on_census("idp.range", "A range count of Census", ranges, source=SECTIONS[2]),
)


# -- What individual differential privacy does not give, and what its paper gets wrong -------------


def exact_answers(_: Data) -> Iterator[Cell]:
    """Local sensitivity 0: the answer is exact every time, and says that it is."""
    m = 5
    first, second = bits(m + 2, m - 1), bits(m + 1, m)
    seen = {individual("median", first, bounds=DOMAIN, epsilon="0.1").value for _ in range(50)}
    text, says = ", ".join(sorted(map(str, seen))), "the presence of one record is unnoticeable"
    yield refuted(
        *("median of X", "50 answers at ε = 0.1", says, text),
        fails=seen == {0} and local("median", second, bounds=DOMAIN) == 1,
        because="X is answered exactly and its neighbour X' with noise of scale 10: two "
        "different answers prove that the table was not X.",
    )


def total_variation(ratio: float) -> float:
    """Between Laplace noises whose scales have this ratio, around the same answer."""
    small, large = Laplace(sensitivity=1, epsilon=1), Laplace(sensitivity=repr(ratio), epsilon=1)
    crossing = math.log(ratio) / (1 - 1 / ratio)
    return float(2 * (small.cdf(crossing) - large.cdf(crossing)))


def scales_differ(_: Data) -> Iterator[Cell]:
    known = {10.0: "0.69683731441301", 100.0: "0.94500297209522"}
    because = "Equal answers, neighbouring tables: the noise alone distinguishes them, at any ε."
    for ratio, right in known.items():
        row, distance = f"sensitivities 1 and {ratio:g}", total_variation(ratio)
        place = (row, "total variation", "small for small ε", distance)
        yield refuted(*place, fails=distance > 0.5, because=because, right=right)


def proven_bit(_: Data) -> Iterator[Cell]:
    """The truncated count says f(D) ± 1 and nothing else: at an end it proves a bit."""
    known = {"0.1": None, "1": "0.26894142137", "2": "0.11920292202212", "5": "0.0066928509242849"}
    chances = {epsilon: truncated_error(counting(epsilon)) / 2 for epsilon in known}
    weak, strong = chances["0.1"], chances["1"]
    seen = {_truncated([1] * 10 + [0] * 10) for _ in range(60)}
    least, most, says = min(seen), max(seen), "f(D) − 1, f(D), f(D) + 1"
    yield refuted(
        *("smaller ε", "P(bit proved), 0.1 against 1", "more privacy", weak / strong),
        fails=weak > strong,
        because="Less ε puts more mass on f(D) ± 1. An intruder who knows the other records "
        "and sees f + 1 knows that the bit is 1.",
    )
    yield claimed(
        *("60 truncated counts", "values seen", says, f"{least} to {most}"),
        holds=(least, most) == (9, 11),
    )
    for epsilon, chance in chances.items():
        yield beside(f"ε = {epsilon}", "P(bit proved)", chance, right=known[epsilon])


def _truncated(rows: list[int]) -> int:
    given = {"bounds": DOMAIN, "low": 1, "high": 1}
    return int(float(individual("range-count", rows, epsilon="0.1", truncated=True, **given).value))  # type: ignore[arg-type]


def median_ranks(_: Data) -> Iterator[Cell]:
    """n = 2m + 1 rows, and x_m called the median: the formula then misses."""
    odd = small_tables(5)
    even = small_tables(2) + small_tables(4)
    wrong = sum(_gaps(rows, (len(rows) - 1) // 2) != _right(rows) for rows in odd)
    tried = sum(_tried_median(rows) != _right(rows) for rows in odd)
    wrong_even = sum(_gaps(rows, len(rows) // 2) != _right(rows) for rows in even)
    columns, says = ("wrong of 126 tables", "wrong of 85 tables"), "its local sensitivity"
    tried_says = "equal to trying all neighbours"
    yield refuted(
        *("odd median, x_m", columns[0], says, wrong),
        fails=wrong == 58,
        because="With n = 2m + 1 rows the median is x_(m+1), and so are the ranks around.",
    )
    yield claimed("odd median, x_(m+1)", columns[0], tried_says, tried, holds=not tried)
    yield refuted(
        *("even median by the odd formula", columns[1], says, wrong_even),
        fails=wrong_even == 66,
        because="The mean of two middle rows moves by half of two gaps.",
    )


def small_tables(rows: int) -> list[tuple[int, ...]]:
    """All tables of so many values from 0 to 4."""
    return list(combinations_with_replacement(range(5), rows))


def _right(rows: tuple[int, ...]) -> Fraction:
    return local("median", rows, bounds=(0, 4))


def _gaps(rows: tuple[int, ...], m: int) -> Fraction:
    """The larger gap beside the value of rank m; beyond the rows are the ends of the domain."""
    ranked = [0, *sorted(rows), 4]
    return Fraction(max(ranked[m] - ranked[m - 1], ranked[m + 1] - ranked[m]))


def _tried_median(rows: tuple[int, ...]) -> Fraction:
    middle = sorted(rows)[len(rows) // 2]
    others = [(*rows[:i], value, *rows[i + 1 :]) for i in range(len(rows)) for value in range(5)]
    return Fraction(max(abs(sorted(other)[len(rows) // 2] - middle) for other in others))


def halves(_: Data) -> Iterator[Cell]:
    """The admissible noise: sliding and dilation do not take half of ε each."""
    dilation = float(dilation_loss(3, beta=admissible_beta(3, 1)))
    alone = is_admissible(3, 1, alpha="1/12", beta="1/3")
    row, holds = "γ = 3, α = ε/12, β = ε/3", "holds" if alone else "fails"
    yield refuted(
        *("γ = 3, β = ε/3", "loss by dilation", "at most ε/2", dilation),
        fails=dilation > 0.5,
        because="Dilation alone takes two thirds; together with sliding it stays below ε.",
    )
    yield claimed(row, "together", "ε-DP", holds, holds=alone)


def scale(_: Data) -> Iterator[Cell]:
    """The scale of Laplace noise is Δ/ε; inverted, a small ε gets little noise."""
    right = Laplace(sensitivity=2, epsilon="0.5").loss(2)
    inverted = 2 / 0.25  # Δ divided by the scale ε/Δ = 0.25
    own = DiscreteLaplace(sensitivity=2, epsilon="0.5").loss(2)
    law = Laplace(sensitivity=2, epsilon=1)  # e^(−|x|/Δ), over the factor ε/(2Δ) of the print
    mass = 0.5 / (2 * 2) / float(law.pdf(0.0))
    column = "loss, Δ = 2, ε = 0.5"
    yield refuted(
        *("scale ε/Δ", column, "0.5", inverted),
        fails=inverted > 10 * right,
        because="The loss of Laplace noise is the shift over its scale, so the scale is Δ/ε; "
        "the inverse loses Δ²/ε.",
    )
    yield claimed("scale Δ/ε", column, "0.5", right, holds=right == own == 0.5)
    yield refuted(
        *("density ε/(2Δ)·e^(−|x|/Δ)", "total mass, ε = 0.5", "1", mass),
        fails=mass == 0.5,
        because="The exponent has lost its ε (thesis, section 2): it is −ε|x|/Δ.",
    )


def rebuilt(_: Data) -> Iterator[Cell]:
    """Truncated prefix counts at a tiny ε are f ± 1: their parity gives every bit away."""
    rows, source = 1000, Seeded(16)
    hidden = [(7 * i * i + 3 * i) % 11 % 2 for i in range(rows)]
    law = DiscreteLaplace(sensitivity=1, epsilon=f"1/{rows}")
    noise = law.sample(rows, source=source)
    answers = [f + max(-1, min(1, int(y))) for f, y in zip(accumulate(hidden), noise, strict=True)]
    parity = [(answer + 1) % 2 for answer in answers]
    guessed = [bit ^ before for before, bit in pairwise([0, *parity])]
    share = sum(a == b for a, b in zip(hidden, guessed, strict=True)) / rows
    says = "composition: ε = 1 in all"
    yield refuted(
        *("1,000 truncated prefix counts", "bits found, total ε = 1", says, share),
        fails=share > 0.99,
        because="Each answer is the count plus or minus 1, hardly ever the count: its parity "
        "says whether the next bit is 1.",
    )


ERRATA = (
    erratum(
        *("err.exact", "Local sensitivity 0: the answer is exact", exact_answers),
        source="section 2",
        note="The guarantee compares the noise of this table on two tables, never this table "
        "with the answer that another table would have got.",
    ),
    erratum("err.scales", "Equal answers, different noise", scales_differ, source="Proposition 3"),
    erratum("err.truncated", "The truncated count proves a bit", proven_bit, source="section 6.3"),
    erratum("err.rebuilt", "A column rebuilt from truncated counts", rebuilt, source="section 6.3"),
    erratum(
        "err.ranks", "The ranks of the median are off by one", median_ranks, source="section 6.1"
    ),
    erratum("err.halves", "Half of ε for dilation is not enough", halves, source="section 6.1.4"),
    erratum("err.scale", "The scale of Laplace noise, inverted", scale, source="Proposition 1"),
)
