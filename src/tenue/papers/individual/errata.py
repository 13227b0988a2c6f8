"""What individual differential privacy does not give, and what its paper gets wrong."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate, pairwise

from ...mechanism import individual
from ...noise import DiscreteLaplace, Laplace, Seeded
from ...sensitivity import admissible_beta, dilation_loss, is_admissible, local
from ..cell import Cell, beside, claimed, refuted
from ..data import Data
from ..exhibit import erratum
from .tables import bits, counting, small_tables, truncated_error


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


EXHIBITS = (
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
