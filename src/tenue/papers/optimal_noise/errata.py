"""What chapter 4 gets wrong, each with a check that runs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from ... import noise
from ..cell import Cell, beside, claimed, refuted
from ..data import Data
from ..exhibit import erratum
from .tables import best, width


def exponent(_: Data) -> list[Cell]:
    """Theorem 1 as printed gives the first step outside the core the height of the core."""
    law = best("1")
    q, d = math.exp(-1), law.d
    printed = 2 * law.pdf(0.0) * (d + 1 / (1 - q))  # heights 1, 1, q, q², …
    drop = law.pdf(d + 0.5) / law.pdf(0.0)
    return [
        refuted(
            "exponent −iε",
            "total mass",
            "a density",
            printed,
            fails=abs(printed - 1) > 0.1,
            because="With M₀ as defined below the theorem its mass is not 1; "
            "the exponent is −(i + 1)ε.",
        ),
        beside("exponent −(i + 1)ε", "total mass", 2 * law.pdf(0.0) * (d + q / (1 - q)), right=1),
        beside("exponent −(i + 1)ε", "first step / core", drop, right=repr(q)),
    ]


def one_criterion(_: Data) -> list[Cell]:
    """The noise of least variance is not that of the shortest interval."""
    least, short = best("1"), best("1", ("interval", "0.95"))
    near = best("1", "absolute-error")
    return [
        refuted(
            "best d",
            "variance / interval",
            "optimal under one criterion, optimal under all",
            short.d - least.d,
            fails=short.variance > least.variance * 1.1
            and width(least.interval("0.95")) > width(short.interval("0.95")) + 1e-3,
            because="No member of the family is dominated, and each criterion has its own best.",
        ),
        beside("least variance", "d", least.d, right="0.41673743492888"),
        beside("least absolute error", "d", near.d, right=repr(1 / (1 + math.exp(0.5)))),
        beside("shortest 95 % interval", "d", short.d, right="0.9932629423561"),
    ]


def shells(_: Data) -> list[Cell]:
    """Theorem 3 subtracts S₀ … S_{i−1}: then S₁ keeps S₀, and points lie in two shells."""
    law = noise.OptimalBox(sensitivities=[1], epsilon=1, core=["0.5"])
    grid, half = law.on_grid("0.5"), Fraction(1, 2)
    level = [int(grid.level([i])) for i in range(6)]
    once = all(b - a in (0, 1) for a, b in pairwise(level))
    # as printed, S₁ = (S₀ + S_f) minus nothing = [−1.5, 1.5], which contains S₀ = [−0.5, 0.5]
    overlap = float(min(half, half + 1))
    return [
        refuted(
            "S₁ of the print",
            "overlap with S₀",
            "S₀, S₁, … cover each point once",
            overlap,
            fails=overlap > 0,
            because="The union must run to i, not i − 1: all earlier shells are taken away.",
        ),
        claimed(
            "corrected shells",
            "levels of 0, ½, 1, …",
            "one level for each point, neighbours differ by at most 1",
            " ".join(map(str, level)),
            holds=once and level[0] == 0 and max(level) >= 2,
        ),
    ]


EXHIBITS = (
    erratum("err.exponent", "Theorem 1: the exponent is off by one", "Theorem 1", exponent),
    erratum(
        "err.criteria", "Optimal under one criterion is not under all", "section 4.1", one_criterion
    ),
    erratum("err.shells", "Theorem 3 subtracts one shell too few", "Theorem 3", shells),
)
