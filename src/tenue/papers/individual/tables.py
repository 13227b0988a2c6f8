"""Tables 1 and 2, Figures 1 and 2, Examples 1 and 2: noise for this table only."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

from ...noise import DiscreteLaplace, HeavyTail, Laplace
from ...sensitivity import local, smooth
from ..cell import Cell, amended, claimed, met
from ..data import Data
from ..exhibit import example, figure, table
from ..figure import Figure, Panel, Series, between, curve, panels

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


EXHIBITS = (
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
