"""The least noise that differential privacy allows (thesis, chapter 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from tenue import noise

from .cell import Cell, amended, beside, claimed, met, refuted
from .data import Data
from .draw import Figure, Panel, Series, between, curve, panels
from .exhibit import beyond, erratum, example, figure, table

BOX = {"sensitivities": [1, 10], "epsilon": 1, "core": ["0.1", 1]}


def at(d: float) -> noise.Optimal:
    return noise.Optimal(sensitivity=1, epsilon=1, d=repr(d))


def from_laplace() -> noise.Optimal:
    """Section 4.3: Laplace's mass moved inwards; the peak stays Laplace's, ε / 2."""
    return at(1 - 1 / math.expm1(1))


# -- 4.1 -------------------------------------------------------------------------------------------


def construction(_: Data) -> Figure:
    laplace, built = noise.Laplace(sensitivity=1, epsilon=1), from_laplace()
    places = between(-4, 4, 801)
    panel = Panel(
        "Noise for one answer, ε = 1, sensitivity 1",
        "noise",
        "density",
        (
            curve("Laplace", places, laplace.pdf),
            curve("built from it", places, built.pdf, "step"),
        ),
    )
    return panels(panel, caption="Mass moves towards 0 inside each interval of one sensitivity.")


def construction_cells(_: Data) -> list[Cell]:
    laplace, built = noise.Laplace(sensitivity=1, epsilon=1), from_laplace()
    inward = all(
        built.interval(level)[1] <= laplace.interval(level)[1] + 1e-12
        for level in ("0.1", "0.3", "0.5", "0.7", "0.9", "0.95", "0.99")
    )
    mass = built.cdf(1.0) - built.cdf(0.0)
    return [
        claimed(
            "intervals at seven levels",
            "built / Laplace",
            "more mass near 0",
            built.interval("0.5")[1] / laplace.interval("0.5")[1],
            holds=inward,
        ),
        claimed(
            "mass of [0, 1]",
            "built",
            "kept in every interval",
            float(mass),
            holds=math.isclose(mass, (1 - math.exp(-1)) / 2, rel_tol=1e-12),
        ),
        claimed(
            "peak",
            "built",
            "Laplace's, ½",
            float(built.pdf(0.0)),
            holds=math.isclose(built.pdf(0.0), 0.5, rel_tol=1e-12),
        ),
        beside("variance", "built", built.variance, right="1.9181051832495"),
    ]


# -- 4.2 and 4.3 -----------------------------------------------------------------------------------


def over_d(title: str, y: str, value: str, best: noise.Optimal) -> Figure:
    def height(d: float) -> float:
        law = at(d)
        return law.variance if value == "variance" else 2 * law.interval("0.95")[1]

    low = height(best.d)
    panel = Panel(
        title,
        "d, half the width of the core",
        y,
        (
            curve("optimal noise", between(0, 1, 101), height),
            Series("best", ((best.d, low),), "point"),
        ),
    )
    return panels(panel, caption="Every d between 0 and 1 is undominated; each aim has its best.")


def variance_over_d(_: Data) -> Figure:
    law = noise.Optimal(sensitivity=1, epsilon=1)
    return over_d("Variance, ε = 1", "variance", "variance", law)


def variance_cells(_: Data) -> list[Cell]:
    law = noise.Optimal(sensitivity=1, epsilon=1)
    known = {
        0: "2.1746805217489",
        0.25: "1.9496193740125",
        0.5: "1.9246805217489",
        1: "2.1746805217489",
    }
    seen = [
        beside(f"d = {d:g}", "variance", at(d).variance, right=right) for d, right in known.items()
    ]
    return [
        met("lowest point", "d", "0.416737", law.d, right="0.41673743492888"),
        met("lowest point", "variance", "1.9181", law.variance, right="1.9181035312355"),
        *seen,
    ]


def interval_over_d(_: Data) -> Figure:
    law = noise.Optimal(sensitivity=1, epsilon=1, minimise=("interval", "0.95"))
    return over_d("95 % interval, ε = 1", "width of the interval", "interval", law)


def interval_cells(_: Data) -> list[Cell]:
    law = noise.Optimal(sensitivity=1, epsilon=1, minimise=("interval", "0.95"))
    wide = {0: "5.9950219503128", 0.5: "5.9907451041534"}
    seen = [
        beside(f"d = {d:g}", "width", 2 * at(d).interval("0.95")[1], right=right)
        for d, right in wide.items()
    ]
    return [met("lowest point", "d", "0.993", law.d, right="0.9932629423561"), *seen]


# -- 4.4 and 4.5 -----------------------------------------------------------------------------------


def diamond(second: float) -> Figure:
    """The differences of neighbours, and where Laplace noise loses no more than ε."""
    reach, side = 1 + second, 1 - 1e-9  # lines are drawn from left to right
    box = ((-1.0, -second), (-side, second), (side, second), (1.0, -second))
    floor = ((-1.0, -second), (1.0, -second))
    halves = [((-reach, 0.0), (0.0, sign * reach), (reach, 0.0)) for sign in (1, -1)]
    panel = Panel(
        f"Sensitivities 1 and {second:g}",
        "first answer",
        "second answer",
        (
            Series("differences of neighbours", box),
            Series("differences of neighbours", floor),
            *(Series("protected by Laplace noise", half, "dashed") for half in halves),
        ),
        square=True,
    )
    return panels(
        panel, caption="Whatever lies inside the diamond and outside the box is protected in vain."
    )


def diamond_cells(second: int, printed: str) -> list[Cell]:
    reach = 1 + second
    law = noise.IndependentLaplace(scales=[reach, reach])
    corners = [law.loss([1, second]), law.loss([reach, 0]), law.loss([0, reach])]
    return [
        met("sensitivity", "L1", printed, reach * law.loss([1, second]), right=reach),
        claimed(
            "loss at the corners",
            "box and diamond",
            "ε at all of them",
            max(corners),
            holds=all(math.isclose(loss, 1, rel_tol=1e-12) for loss in corners),
        ),
        beside("diamond / box", "area", 2 * reach**2 / (4 * second)),
    ]


# -- 4.6 and 4.7 -----------------------------------------------------------------------------------


def along(j: int) -> tuple[Series, Series]:
    law = noise.OptimalBox(**BOX)  # type: ignore[arg-type]
    laplace = noise.Laplace(sensitivity=11, epsilon=1)
    reach = (6, 60)[j]

    def point(x: float) -> list[float]:
        return [x, 0.0] if j == 0 else [0.0, x]

    scale = float(laplace.pdf(0.0))
    places = between(-reach, reach, 601)
    return (
        curve("optimal box", places, lambda x: float(law.pdf(point(x))), "step"),
        curve("Laplace", places, lambda x: scale * float(laplace.pdf(x)), "line"),
    )


def joint(_: Data) -> Figure:
    first = Panel("Along the first answer", "noise of the first", "joint density", along(0))
    second = Panel("Along the second answer", "noise of the second", "joint density", along(1))
    return panels(first, second, caption="The box follows each answer's own sensitivity.")


def joint_cells(_: Data) -> list[Cell]:
    law, laplace = noise.OptimalBox(**BOX), noise.Laplace(sensitivity=11, epsilon=1)  # type: ignore[arg-type]
    peak = float(laplace.pdf(0.0)) ** 2
    top = float(law.pdf([0.0, 0.0]))
    return [
        claimed(
            "at 0", "box / Laplace", "much more mass around 0", top / peak, holds=top > 4 * peak
        ),
        claimed(
            "at (1, 10) / at 0",
            "both",
            "both lose at most ε",
            float(law.pdf([1.0, 10.0])) / top,
            holds=float(law.pdf([1.0, 10.0])) / top >= math.exp(-1) - 1e-12,
        ),
    ]


def components(_: Data) -> Figure:
    laplace = noise.Laplace(sensitivity=11, epsilon=1)
    drawn = []
    for j, name in enumerate(("first", "second")):
        reach = (8, 60)[j]
        drawn.append(
            Panel(
                f"The {name} answer",
                "noise",
                "density",
                (
                    Series("optimal box", component_steps(j, reach), "step"),
                    curve("Laplace", between(-reach, reach, 301), laplace.pdf),
                ),
            )
        )
    return panels(*drawn, caption="Far better for the first answer, a little worse for the second.")


def component_steps(j: int, reach: float) -> tuple[tuple[float, float], ...]:
    """The component's density, as differences of its distribution function."""
    law = noise.OptimalBox(**BOX).marginal(j)  # type: ignore[arg-type]
    places = between(-reach, reach, 641)
    below = [float(law.cdf(x)) for x in places]
    step = places[1] - places[0]
    return tuple(
        ((a + b) / 2, (after - before) / step)
        for a, b, before, after in zip(places, places[1:], below, below[1:], strict=False)
    )


def component_cells(_: Data) -> list[Cell]:
    box, laplace = noise.OptimalBox(**BOX), noise.Laplace(sensitivity=11, epsilon=1)  # type: ignore[arg-type]
    first, second = box.variance[0] / laplace.variance, box.variance[1] / laplace.variance
    return [
        claimed(
            "first answer", "variance, box / Laplace", "clearly better", first, holds=first < 0.1
        ),
        claimed(
            "second answer",
            "variance, box / Laplace",
            "slightly worse",
            second,
            holds=1 < second < 2,
            remark="403.38 against 242.",
        ),
    ]


FIGURES = (
    figure(
        "fig4.1", "Better noise built from Laplace", "Figure 4.1", construction_cells, construction
    ),
    figure("fig4.2", "Variance over d", "Figure 4.2", variance_cells, variance_over_d),
    figure("fig4.3", "95 % interval over d", "Figure 4.3", interval_cells, interval_over_d),
    figure(
        "fig4.4",
        "What Laplace protects, equal sensitivities",
        "Figure 4.4",
        lambda _: diamond_cells(1, "2"),
        lambda _: diamond(1),
    ),
    figure(
        "fig4.5",
        "What Laplace protects, sensitivities 1 and 10",
        "Figure 4.5",
        lambda _: diamond_cells(10, "11"),
        lambda _: diamond(10),
    ),
    figure("fig4.6", "Joint densities", "Figure 4.6", joint_cells, joint),
    figure("fig4.7", "Component densities", "Figure 4.7", component_cells, components),
)


# -- Tables 4.1 to 4.4, Examples 4 and 5, and what the chapter should have compared with -----------

CUT = "The print is the right value cut off after its last digit, not rounded."
LEVELS = ("0.99", "0.95", "0.90")
FIVE = {"sensitivities": [1, 10], "epsilon": 1, "core": ["0.1", 1]}
"""The box of Example 5."""


def width(interval: tuple[float, float]) -> float:
    return interval[1] - interval[0]


def best(epsilon: str, minimise: object = "variance") -> noise.Optimal:
    return noise.Optimal(sensitivity=1, epsilon=epsilon, minimise=minimise)


def variances(_: Data) -> list[Cell]:
    printed = {
        "0.1": ("200.00", "200", "199.92", "199.91668056106"),
        "0.5": ("8.00", "8", "7.92", "7.9170172153663"),
        "1": ("2.00", "2", "1.92", "1.9181035312355"),
    }
    cells = []
    for epsilon, (laplace, exact, optimal, right) in printed.items():
        column, law = f"ε = {epsilon}", noise.Laplace(sensitivity=1, epsilon=epsilon)
        cells += [
            met("Laplace", column, laplace, law.variance, right=exact),
            met("optimal", column, optimal, best(epsilon).variance, right=right),
        ]
    return [
        *cells,
        met("best d", "ε = 1", "0.416737", best("1").d, right="0.41673743492888"),
        met("variance there", "ε = 1", "1.9181", best("1").variance, right="1.9181035312355"),
    ]


def intervals(_: Data) -> list[Cell]:
    printed = {
        "0.1": ("59.91", "59.91464547108", "59.91", "59.910497749119"),
        "0.5": ("11.98", "11.982929094216", "11.97", "11.978353420678"),
        "1": ("5.99", "5.991464547108", "5.98", "5.9865258847122"),
    }
    cells = []
    for epsilon, (laplace, exact, optimal, right) in printed.items():
        column, law = f"ε = {epsilon}", noise.Laplace(sensitivity=1, epsilon=epsilon)
        ours = width(best(epsilon, ("interval", "0.95")).interval("0.95"))
        cells.append(met("Laplace", column, laplace, width(law.interval("0.95")), right=exact))
        cells.append(
            met("optimal", column, optimal, ours, right=right)
            if epsilon == "0.1"
            else amended("optimal", column, optimal, ours, right=right, because=CUT)
        )
    shortest = best("1", ("interval", "0.95")).d
    return [*cells, met("best d", "ε = 1", "0.993", shortest, right="0.9932629423561")]


def laplace_regions(_: Data) -> list[Cell]:
    printed = {
        "0.99": ("73.02", "73.021872747932", "10663", "10664.38779923"),
        "0.95": ("52.18", "52.182509702296", "5445", "5446.0286376605"),
        "0.90": ("42.79", "42.786921868542", "3662", "3661.4413659694"),
    }
    law = noise.IndependentLaplace(scales=[11, 11])
    because = "The print squares a radius that was rounded before."
    cells = []
    for level, (alpha, radius, size, volume) in printed.items():
        ours = law.radius(level) * 11
        cells += [
            met(level, "α", alpha, ours, right=radius),
            amended(level, "size", size, law.volume(level), right=volume, because=because),
        ]
    return cells


def box_regions(_: Data) -> list[Cell]:
    printed = {
        "0.99": ("6.99", "6.5885478399111", "1790.2", "1789.4668882712"),
        "0.95": ("4.79", "4.6877174847536", "916.6", "916.88954855262"),
        "0.90": ("3.90", "3.8083953800524", "611.2", "611.0221778726"),
    }
    law = noise.OptimalBox(**FIVE)  # type: ignore[arg-type]
    cells = []
    for level, (beta, right, size, volume) in printed.items():
        ours = law.region(level)[0] - 0.1
        misprint = ", and 6.99 is a misprint of 6.69" if level == "0.99" else ""
        why = f"The print is the half side of the box in sensitivities, 0.1 + β{misprint}."
        squared = "The print squares a half side that was rounded before."
        cells += [
            amended(level, "β", beta, ours, right=right, because=why),
            amended(level, "size", size, law.volume(level), right=volume, because=squared),
        ]
    return cells


def example_4(_: Data) -> list[Cell]:
    law = noise.IndependentLaplace(scales=[2, 2])
    return [
        met("sensitivity", "two answers", "2", law.loss([1, 1]) * 2, right="2"),
        claimed(
            "overprotected",
            "two answers",
            "L1 norm 2 outside the box loses no more than ε",
            law.loss([2, 0]),
            holds=law.loss([2, 0]) == law.loss([1, 1]) == 1.0,
        ),
    ]


def example_5(_: Data) -> list[Cell]:
    laplace = noise.IndependentLaplace(scales=[11, 11])
    box = noise.OptimalBox(**FIVE)  # type: ignore[arg-type]
    scaled = noise.IndependentLaplace(scales=[2, 20])
    cells = [met("Laplace", "sensitivity", "11", 11 * laplace.loss([1, 10]), right="11")]
    for j, (first, second, right, honest) in enumerate(
        [("242", "4.0338", "4.0338047988488", "8"), ("242", "403.38", "403.38047988488", "800")]
    ):
        column = f"Var(Y{j + 1})"
        cells += [
            met("Laplace, scale 11", column, first, laplace.variance[j], right="242"),
            met("optimal box", column, second, box.variance[j], right=right),
            beside(
                "Laplace, scales 2 and 20",
                column,
                scaled.variance[j],
                right=honest,
                remark="The honest baseline: it is 1-differentially private too.",
            ),
        ]
    return [*cells, beside("Laplace, scales 2 and 20", "loss", scaled.loss([1, 10]), right="1")]


def dimensions(_: Data) -> list[Cell]:
    """Three, five and ten answers, against Laplace noise scaled to each of them."""
    known = {2: "4.0338047988488", 3: "6.6642785216828", 5: "13.99999316908"}
    cells = []
    for count in (2, 3, 5, 10):
        row, ones = f"{count} answers", [1] * count
        given = noise.OptimalBox(sensitivities=ones, epsilon=1, core=["0.1"] * count).variance[0]
        scaled = noise.IndependentLaplace(scales=[count] * count)
        right = known.get(count)
        cells += [
            beside(row, "box, core as in Example 5", given, right=right),
            beside(row, "Laplace, scaled", scaled.variance[0], right=2 * count**2),
            beside(row, "its loss", scaled.loss(ones), right=1),
            claimed(
                row,
                "Laplace, scaled / box",
                "far from optimal",
                scaled.variance[0] / given,
                holds=scaled.variance[0] / given > 1.9,
                remark="Twice at two answers, tending to six times; not the sixty of Example 5.",
            ),
            _same_sign(row, ones),
        ]
    return cells


def _same_sign(row: str, ones: Sequence[int]) -> Cell:
    law = noise.OptimalBox(sensitivities=list(ones), epsilon=1, signs="same")
    remark = "Add-or-remove moves all counts one way: a smaller ball than the box."
    return beside(row, "best, same sign", law.variance[0], remark=remark)


TABLES = (
    table("4.1", "Variance of Laplace and optimal noise", "Table 4.1", variances),
    table("4.2", "Width of the 95 % interval", "Table 4.2", intervals),
    table("4.3", "Confidence region of Laplace noise", "Table 4.3", laplace_regions),
    table("4.4", "Confidence region of the optimal box", "Table 4.4", box_regions),
    example("ex4", "Laplace noise for two answers overprotects", "Example 4", example_4),
    example("ex5", "Two answers, one ten times as sensitive", "Example 5", example_5),
    beyond(
        "4.dimensions",
        "Three, five and ten answers, against an honest baseline",
        "beyond section 4.5",
        dimensions,
        note="The paper compares with Laplace noise of one scale for all answers. Scaled to each "
        "answer, Laplace noise is far better, and the gain of the box is what is left.",
    ),
)


# -- What chapter 4 gets wrong, each with a check that runs ----------------------------------------


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


ERRATA = (
    erratum("err.exponent", "Theorem 1: the exponent is off by one", "Theorem 1", exponent),
    erratum(
        "err.criteria", "Optimal under one criterion is not under all", "section 4.1", one_criterion
    ),
    erratum("err.shells", "Theorem 3 subtracts one shell too few", "Theorem 3", shells),
)
