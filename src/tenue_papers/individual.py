"""Individual differential privacy (Soria-Comas and others, 2017).

The paper compares formulas. Here each way answers about Census, and its error is computed exactly:
noise for the worst table, for the smooth sensitivity, for this table (individual), and selection.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate, combinations_with_replacement, pairwise

import numpy as np
import numpy.typing as npt

from tenue.mechanism import individual, rank_score
from tenue.mechanism.exponential_mechanism import Selection
from tenue.mechanism.rank_score import RankScore
from tenue.noise import DiscreteLaplace, HeavyTail, Laplace, Seeded
from tenue.sensitivity import admissible_beta, dilation_loss, is_admissible, local, smooth

from .cell import Cell, amended, beside, claimed, met, refuted
from .data import CENSUS, Data
from .draw import Figure, Panel, Series, between, curve, panels
from .exhibit import beyond, erratum, example, figure, table

ENDS = (-6.6, 6.6)
LN2 = "0.6931471805599453094172321214581765680755"
TABLE, DOMAIN = (0, 1, 1), (0, 1)
"""A table whose median has local and smooth sensitivity 1."""


def own_noise(epsilon: object = 1) -> Laplace:
    return Laplace(sensitivity=local("median", TABLE, bounds=DOMAIN), epsilon=epsilon)  # type: ignore[arg-type]


def smooth_noise(gamma: int) -> HeavyTail:
    spread = smooth("median", TABLE, bounds=DOMAIN, beta=f"1/{gamma}")
    return HeavyTail(gamma=gamma, smooth_sensitivity=repr(spread), epsilon=1)


def intervals(_: Data) -> list[Cell]:
    return [
        met("±", "individual", "3", own_noise().interval("0.95")[1], right="2.995732273554"),
        amended(
            "±",
            "smooth, γ = 2",
            "101.7",
            smooth_noise(2).interval("0.95")[1],
            right="101.6496378894",
            because="8·tan(0.475π) rounds to 101.6.",
        ),
        met(
            "±",
            "smooth, γ = 3",
            "34.2",
            smooth_noise(3).interval("0.95")[1],
            right="34.217864904138",
        ),
    ]


def densities(_: Data) -> Figure:
    places = between(-40, 40, 801)
    panel = Panel(
        "Noise of a median, ε = 1, sensitivities 1",
        "noise",
        "density",
        (
            curve("individual", places, own_noise().pdf),
            curve("smooth, γ = 2", places, smooth_noise(2).pdf),
            curve("smooth, γ = 3", places, smooth_noise(3).pdf),
        ),
        log_y=True,
        y_range=(1e-4, 1),
    )
    return panels(panel, caption="Noise for smooth sensitivity has tails that never get thin.")


def densities_cells(_: Data) -> list[Cell]:
    own, two, three = own_noise(), smooth_noise(2), smooth_noise(3)
    return [
        claimed(
            "density at 100",
            "γ = 2 / individual",
            "heavy tails",
            float(two.pdf(100.0) / own.pdf(100.0)),
            holds=bool(two.pdf(100.0) > three.pdf(100.0) > 1000 * own.pdf(100.0)),
        ),
        claimed(
            "95 % interval",
            "γ = 3 / individual",
            "much better accuracy",
            three.interval("0.95")[1] / own.interval("0.95")[1],
            holds=three.interval("0.95")[1] > 10 * own.interval("0.95")[1],
        ),
    ]


# -- range counts ----------------------------------------------------------------------------------


ERRORS = {
    "0.1": ("9.98", "9.9833527572961", "0.95", "0.95004162504212"),
    "ln 2": ("1.33", "1.3333333333333", "0.66", "0.66666666666667"),
    "1": ("0.85", "0.85091812823932", "0.53", "0.53788284273999"),
    "2": ("0.27", "0.27572056477178", "0.23", "0.23840584404424"),
    "5": ("0.013", "0.013476505830589", "0.013", "0.01338570184857"),
}
CUT = "The print is the right value cut off after its last digit, not rounded."


def counting(epsilon: str) -> DiscreteLaplace:
    return DiscreteLaplace(sensitivity=1, epsilon=LN2 if epsilon == "ln 2" else epsilon)


def truncated_error(law: DiscreteLaplace) -> float:
    """Cut to f(D) ± 1, every answer but the truth is off by exactly 1."""
    return 1 - float(law.mass(0))


def errors(_: Data) -> list[Cell]:
    cells = []
    for epsilon, (whole, right, cut, right_cut) in ERRORS.items():
        law, row = counting(epsilon), f"ε = {epsilon}"
        facts = (
            ("DP", whole, law.mean_absolute_error, right),
            ("individual, cut to ±1", cut, truncated_error(law), right_cut),
        )
        for column, printed, ours, exact in facts:
            rounds = f"{float(exact):.{len(printed.split('.')[1])}f}" == printed
            cells.append(
                met(row, column, printed, ours, right=exact)
                if rounds
                else amended(row, column, printed, ours, right=exact, because=CUT)
            )
    return cells


def error_laws(_: Data) -> Figure:
    law = counting("1")
    whole = tuple((k, float(law.mass(k))) for k in range(-6, 7))
    side = (1 - float(law.mass(0))) / 2
    cut = ((-1, side), (0, float(law.mass(0))), (1, side))
    return panels(
        Panel(
            "ε-DP, ε = 1",
            "error",
            "probability",
            (Series("DP", whole, "bar"),),
            x_range=ENDS,
            y_range=(0, 0.5),
        ),
        Panel(
            "individual, cut to ±1",
            "error",
            "probability",
            (Series("individual", cut, "bar"),),
            x_range=ENDS,
            y_range=(0, 0.5),
        ),
        caption="What lay beyond ±1 is put on ±1, where it proves the bit of a known neighbour.",
    )


def error_laws_cells(_: Data) -> list[Cell]:
    law = counting("1")
    beyond = 1 - sum(float(law.mass(k)) for k in (-1, 0, 1))
    return [
        claimed("errors beyond ±1", "DP", "a good chance", beyond, holds=0.1 < beyond < 0.5),
        claimed(
            "at ±1",
            "individual",
            "what was beyond is put there",
            truncated_error(law),
            holds=math.isclose(
                truncated_error(law), 2 * float(law.mass(1)) + beyond, rel_tol=1e-12
            ),
        ),
    ]


# -- examples --------------------------------------------------------------------------------------


def bits(zeros: int, ones: int) -> list[int]:
    return [0] * zeros + [1] * ones


def example_1(_: Data) -> list[Cell]:
    """Medians of bits: sensitivity 1 at two tables only."""
    m = 5
    found = {
        ones: local("median", bits(2 * m + 1 - ones, ones), bounds=(0, 1))
        for ones in range(2 * m + 2)
    }
    at = [ones for ones, spread in found.items() if spread == 1]
    return [
        claimed(
            "global sensitivity",
            "11 bits",
            "1",
            float(max(found.values())),
            holds=max(found.values()) == 1,
        ),
        claimed(
            "tables with local sensitivity 1",
            "numbers of ones",
            "m and m + 1 only",
            ", ".join(map(str, at)),
            holds=at == [m, m + 1],
        ),
    ]


def example_2(_: Data) -> list[Cell]:
    m = 5
    first, second = bits(m + 2, m - 1), bits(m + 1, m)
    spreads = [local("median", rows, bounds=(0, 1)) for rows in (first, second)]
    medians = [sorted(rows)[m] for rows in (first, second)]
    return [
        met("X", "median", "0", medians[0]),
        met("X", "local sensitivity", "0", float(spreads[0])),
        met("X'", "median", "0", medians[1]),
        met("X'", "local sensitivity", "1", float(spreads[1]), right=1),
    ]


def small_tables(rows: int, top: int = 4) -> list[tuple[int, ...]]:
    return list(combinations_with_replacement(range(top + 1), rows))


TABLES = (
    table("idp.1", "95 % intervals of three noises", "Individual DP, Table 1", intervals),
    table("idp.2", "Error of a range count", "Individual DP, Table 2", errors),
    figure("idp.fig1", "Noise of a median", "Individual DP, Figure 1", densities_cells, densities),
    figure(
        "idp.fig2",
        "Error of a range count",
        "Individual DP, Figure 2",
        error_laws_cells,
        error_laws,
    ),
    example("idp.ex1", "Local and global sensitivity", "Individual DP, Example 1", example_1),
    example("idp.ex2", "Same median, other sensitivity", "Individual DP, Example 2", example_2),
)


# -- Medians, maxima and range counts of a real table: four ways to answer them --------------------

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
ON_CENSUS = (
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


# -- What individual differential privacy does not give, and what its paper gets wrong -------------


def exact_answers(_: Data) -> list[Cell]:
    """Local sensitivity 0: the answer is exact every time, and says that it is."""
    m = 5
    first, second = bits(m + 2, m - 1), bits(m + 1, m)
    seen = {individual("median", first, bounds=(0, 1), epsilon="0.1").value for _ in range(50)}
    spread = local("median", second, bounds=(0, 1))
    return [
        refuted(
            "median of X",
            "50 answers at ε = 0.1",
            "the presence of one record is unnoticeable",
            ", ".join(sorted(map(str, seen))),
            fails=seen == {0} and spread == 1,
            because="X is answered exactly and its neighbour X' with noise of scale 10: whoever "
            "sees two different answers knows that it was not X.",
        )
    ]


def total_variation(ratio: float) -> float:
    """Between Laplace noises whose scales have this ratio, around the same answer."""
    small, large = Laplace(sensitivity=1, epsilon=1), Laplace(sensitivity=repr(ratio), epsilon=1)
    crossing = math.log(ratio) / (1 - 1 / ratio)
    return float(2 * (small.cdf(crossing) - large.cdf(crossing)))


def scales_differ(_: Data) -> list[Cell]:
    known = {10.0: "0.69683731441301", 100.0: "0.94500297209522"}
    cells = []
    for ratio, right in known.items():
        found = total_variation(ratio)
        cells += [
            refuted(
                f"sensitivities 1 and {ratio:g}",
                "total variation",
                "small for small ε",
                found,
                fails=found > 0.5,
                because="Equal answers, neighbouring tables: the noise alone tells them apart, "
                "and no ε makes it smaller.",
                right=right,
            ),
        ]
    return cells


def proven_bit(_: Data) -> list[Cell]:
    """The truncated count says f(D) ± 1 and nothing else: at an end it proves a bit."""
    known = {"1": "0.26894142137", "2": "0.11920292202212", "5": "0.0066928509242849"}
    cells = []
    for epsilon in ("0.1", *known):
        chance = truncated_error(counting(epsilon)) / 2
        cells.append(beside(f"ε = {epsilon}", "P(bit proved)", chance, right=known.get(epsilon)))
    rows = [1] * 10 + [0] * 10
    seen = {_truncated(rows) for _ in range(60)}
    weak, strong = truncated_error(counting("0.1")) / 2, truncated_error(counting("1")) / 2
    return [
        refuted(
            "smaller ε",
            "P(bit proved), 0.1 against 1",
            "more privacy",
            weak / strong,
            fails=weak > strong,
            because="Less ε puts more mass on f(D) ± 1. Whoever knows the other records and "
            "sees f + 1 knows that the bit is 1.",
        ),
        claimed(
            "60 truncated counts",
            "values seen",
            "f(D) − 1, f(D), f(D) + 1",
            f"{min(seen)} to {max(seen)}",
            holds=(min(seen), max(seen)) == (9, 11),
        ),
        *cells,
    ]


def _truncated(rows: list[int]) -> int:
    given = {"bounds": (0, 1), "low": 1, "high": 1}
    return int(float(individual("range-count", rows, epsilon="0.1", truncated=True, **given).value))  # type: ignore[arg-type]


def median_ranks(_: Data) -> list[Cell]:
    """n = 2m + 1 rows, and x_m called the median: the formula then misses."""
    tables = small_tables(5)
    wrong = [rows for rows in tables if _printed_median(rows) != _right(rows)]
    tried = [rows for rows in tables if _tried_median(rows) != _right(rows)]
    even = [rows for n in (2, 4) for rows in small_tables(n)]
    even_wrong = [rows for rows in even if _odd_formula(rows) != _right(rows)]
    return [
        refuted(
            "odd median, x_m",
            "wrong of 126 tables",
            "its local sensitivity",
            len(wrong),
            fails=len(wrong) == 58,
            because="With n = 2m + 1 rows the median is x_(m+1), and so are the ranks around.",
        ),
        claimed(
            "odd median, x_(m+1)",
            "wrong of 126 tables",
            "equal to trying all neighbours",
            len(tried),
            holds=not tried,
        ),
        refuted(
            "even median by the odd formula",
            "wrong of 85 tables",
            "its local sensitivity",
            len(even_wrong),
            fails=len(even_wrong) == 66,
            because="The mean of two middle rows moves by half of two gaps.",
        ),
    ]


def _right(rows: tuple[int, ...]) -> Fraction:
    return local("median", rows, bounds=(0, 4))


def _at(rows: tuple[int, ...], rank: int) -> int:
    return 0 if rank < 1 else 4 if rank > len(rows) else sorted(rows)[rank - 1]


def _gaps(rows: tuple[int, ...], m: int) -> Fraction:
    return Fraction(max(_at(rows, m) - _at(rows, m - 1), _at(rows, m + 1) - _at(rows, m)))


def _printed_median(rows: tuple[int, ...]) -> Fraction:
    return _gaps(rows, (len(rows) - 1) // 2)


def _odd_formula(rows: tuple[int, ...]) -> Fraction:
    return _gaps(rows, len(rows) // 2)


def _tried_median(rows: tuple[int, ...]) -> Fraction:
    middle = sorted(rows)[len(rows) // 2]
    others = [(*rows[:i], value, *rows[i + 1 :]) for i in range(len(rows)) for value in range(5)]
    return Fraction(max(abs(sorted(other)[len(rows) // 2] - middle) for other in others))


def halves(_: Data) -> list[Cell]:
    """The admissible noise: sliding and dilation do not take half of ε each."""
    dilation = float(dilation_loss(3, beta=admissible_beta(3, 1)))
    alone = is_admissible(3, 1, alpha="1/12", beta="1/3")
    return [
        refuted(
            "γ = 3, β = ε/3",
            "loss by dilation",
            "at most ε/2",
            dilation,
            fails=dilation > 0.5,
            because="Dilation alone takes two thirds; together with sliding it stays below ε.",
        ),
        claimed(
            "γ = 3, α = ε/12, β = ε/3",
            "together",
            "ε-DP",
            "holds" if alone else "fails",
            holds=alone,
        ),
    ]


def scale(_: Data) -> list[Cell]:
    """The scale of Laplace noise is Δ/ε; turned over, a small ε gets little noise."""
    right = Laplace(sensitivity=2, epsilon="0.5").loss(2)
    turned = 2 / 0.25  # Δ divided by the scale ε/Δ = 0.25
    own = DiscreteLaplace(sensitivity=2, epsilon="0.5").loss(2)
    law = Laplace(sensitivity=2, epsilon=1)  # e^(−|x|/Δ), over the factor ε/(2Δ) of the print
    mass = 0.5 / (2 * 2) / float(law.pdf(0.0))
    return [
        refuted(
            "scale ε/Δ",
            "loss, Δ = 2, ε = 0.5",
            "0.5",
            turned,
            fails=turned > 10 * right,
            because="The loss of Laplace noise is the shift over its scale, so the scale is Δ/ε; "
            "the inverse loses Δ²/ε.",
        ),
        claimed("scale Δ/ε", "loss, Δ = 2, ε = 0.5", "0.5", right, holds=right == own == 0.5),
        refuted(
            "density ε/(2Δ)·e^(−|x|/Δ)",
            "total mass, ε = 0.5",
            "1",
            mass,
            fails=mass == 0.5,
            because="The exponent has lost its ε (thesis, section 2): it is −ε|x|/Δ.",
        ),
    ]


def rebuilt(_: Data) -> list[Cell]:
    """Truncated prefix counts at a tiny ε are f ± 1: their parity gives every bit away."""
    rows, source = 1000, Seeded(16)
    hidden = [(7 * i * i + 3 * i) % 11 % 2 for i in range(rows)]
    law = DiscreteLaplace(sensitivity=1, epsilon=f"1/{rows}")
    noise = law.sample(rows, source=source)
    answers = [f + max(-1, min(1, int(y))) for f, y in zip(accumulate(hidden), noise, strict=True)]
    parity = [(answer + 1) % 2 for answer in answers]
    guessed = [bit ^ before for before, bit in pairwise([0, *parity])]
    found = sum(a == b for a, b in zip(hidden, guessed, strict=True)) / rows
    return [
        refuted(
            "1,000 truncated prefix counts",
            "bits found, total ε = 1",
            "composition: ε = 1 in all",
            found,
            fails=found > 0.99,
            because="Each answer is the count plus or minus 1, hardly ever the count: its parity "
            "says whether the next bit is 1.",
        )
    ]


ERRATA = (
    erratum(
        "err.exact",
        "Local sensitivity 0: the answer is exact",
        "section 2",
        exact_answers,
        note="The guarantee compares the noise of this table on two tables, never this table "
        "with what would have been said of another.",
    ),
    erratum("err.scales", "Equal answers, different noise", "Proposition 3", scales_differ),
    erratum("err.truncated", "The truncated count proves a bit", "section 6.3", proven_bit),
    erratum("err.rebuilt", "A column rebuilt from truncated counts", "section 6.3", rebuilt),
    erratum("err.ranks", "The ranks of the median are off by one", "section 6.1", median_ranks),
    erratum("err.halves", "Half of ε for dilation is not enough", "section 6.1.4", halves),
    erratum(
        "err.scale",
        "The scale of Laplace noise, turned over",
        "Proposition 1",
        scale,
    ),
)
