"""The least noise that differential privacy allows (thesis, chapter 4)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tenue import noise

from .cell import Cell, amended, beside, claimed, formula, met, met_or_amended, refuted
from .data import Data
from .draw import Figure, Panel, Points, Series, between, curve, pairs, panels, plot
from .exhibit import beyond, erratum, example, figure, table

INTERVAL = ("interval", "0.95")


def laplace(epsilon: str = "1", sensitivity: int = 1) -> noise.Laplace:
    return noise.Laplace(sensitivity=sensitivity, epsilon=epsilon)


def best(epsilon: str = "1", minimise: Any = "variance") -> noise.Optimal:
    return noise.Optimal(sensitivity=1, epsilon=epsilon, minimise=minimise)


def with_core(d: float) -> noise.Optimal:
    return noise.Optimal(sensitivity=1, epsilon=1, d=repr(d))


def from_laplace() -> noise.Optimal:
    """Section 4.3: Laplace's mass moved inwards; the peak stays Laplace's, ε / 2."""
    return with_core(1 - 1 / math.expm1(1))


def example_box() -> noise.OptimalBox:
    """The box of Example 5."""
    return noise.OptimalBox(sensitivities=[1, 10], epsilon=1, core=["0.1", 1])


def width(law: noise.Laplace | noise.Optimal) -> float:
    low, high = law.interval("0.95")
    return high - low


# -- Figure 4.1 ------------------------------------------------------------------------------------


def construction(_: Data) -> Figure:
    places = between(-4, 4, 801)
    return plot(
        *("Noise for one answer, ε = 1, sensitivity 1", "noise", "density"),
        curve("Laplace", places, laplace().pdf),
        curve("built from it", places, from_laplace().pdf, "step"),
        caption="Mass moves towards 0 inside each interval of one sensitivity.",
    )


def construction_cells(_: Data) -> Iterator[Cell]:
    built = from_laplace()
    levels = ("0.1", "0.3", "0.5", "0.7", "0.9", "0.95", "0.99")
    ends = [(built.interval(level)[1], laplace().interval(level)[1]) for level in levels]
    inward = all(ours <= theirs + 1e-12 for ours, theirs in ends)
    ratio = ends[2][0] / ends[2][1]
    mass = built.cdf(1.0) - built.cdf(0.0)
    kept = "kept in every interval"
    yield claimed(
        "intervals at seven levels", "built / Laplace", "more mass near 0", ratio, holds=inward
    )
    yield formula("mass of [0, 1]", "built", kept, mass, (1 - math.exp(-1)) / 2)
    yield formula("peak", "built", "Laplace's, ½", built.pdf(0.0), 0.5)
    yield beside("variance", "built", built.variance, right="1.9181051832495")


# -- Figures 4.2 and 4.3 ---------------------------------------------------------------------------


def over_d(title: str, y: str, minimise: object) -> Figure:
    def height(d: float) -> float:
        law = with_core(d)
        return law.variance if minimise == "variance" else width(law)

    d = best(minimise=minimise).d
    return plot(
        *(title, "d, half the width of the core", y),
        curve("optimal noise", between(0, 1, 101), height),
        Series("best", ((d, height(d)),), "point"),
        caption="No d between 0 and 1 is dominated; each criterion has its own best.",
    )


def variance_cells(_: Data) -> Iterator[Cell]:
    law, ends = best(), "2.1746805217489"
    known = {0: ends, 0.25: "1.9496193740125", 0.5: "1.9246805217489", 1: ends}
    yield met("lowest point", "d", "0.416737", law.d, right="0.41673743492888")
    yield met("lowest point", "variance", "1.9181", law.variance, right="1.9181035312355")
    for d, right in known.items():
        yield beside(f"d = {d:g}", "variance", with_core(d).variance, right=right)


def interval_cells(_: Data) -> Iterator[Cell]:
    known = {0: "5.9950219503128", 0.5: "5.9907451041534"}
    yield met("lowest point", "d", "0.993", best(minimise=INTERVAL).d, right="0.9932629423561")
    for d, right in known.items():
        yield beside(f"d = {d:g}", "width", width(with_core(d)), right=right)


# -- Figures 4.4 and 4.5 ---------------------------------------------------------------------------


def diamond(second: float) -> Figure:
    """The differences of neighbours, and where Laplace noise loses no more than ε."""
    reach, side = 1 + second, 1 - 1e-9  # lines are drawn from left to right
    box = ((-1.0, -second), (-side, second), (side, second), (1.0, -second))
    floor = ((-1.0, -second), (1.0, -second))
    halves = [((-reach, 0.0), (0.0, sign * reach), (reach, 0.0)) for sign in (1, -1)]
    return plot(
        *(f"Sensitivities 1 and {second:g}", "first answer", "second answer"),
        Series("differences of neighbours", box),
        Series("differences of neighbours", floor),
        *(Series("protected by Laplace noise", half, "dashed") for half in halves),
        square=True,
        caption="Between box and diamond Laplace noise protects without need.",
    )


def diamond_cells(second: int, printed: str) -> Iterator[Cell]:
    reach = 1 + second
    law = noise.IndependentLaplace(scales=[reach, reach])
    corners = [law.loss([1, second]), law.loss([reach, 0]), law.loss([0, reach])]
    equal = all(math.isclose(loss, 1, rel_tol=1e-12) for loss in corners)
    says = "ε at all of them"
    yield met("sensitivity", "L1", printed, reach * law.loss([1, second]), right=reach)
    yield claimed("loss at the corners", "box and diamond", says, max(corners), holds=equal)
    yield beside("diamond / box", "area", 2 * reach**2 / (4 * second))


# -- Figures 4.6 and 4.7 ---------------------------------------------------------------------------


def along(j: int) -> tuple[Series, Series]:
    """Both joint densities along one axis."""
    law, other = example_box(), laplace(sensitivity=11)
    scale = float(other.pdf(0.0))
    places = between(*((-6, 6), (-60, 60))[j], 601)

    def height(x: float) -> float:
        return float(law.pdf([x, 0.0] if j == 0 else [0.0, x]))

    return (
        curve("optimal box", places, height, "step"),
        curve("Laplace", places, lambda x: scale * float(other.pdf(x)), "line"),
    )


def joint(_: Data) -> Figure:
    first = Panel("Along the first answer", "noise of the first", "joint density", along(0))
    second = Panel("Along the second answer", "noise of the second", "joint density", along(1))
    return panels(first, second, caption="The box follows the sensitivity of each answer.")


def joint_cells(_: Data) -> Iterator[Cell]:
    law = example_box()
    peak, top = float(laplace(sensitivity=11).pdf(0.0)) ** 2, float(law.pdf([0.0, 0.0]))
    corner = float(law.pdf([1.0, 10.0])) / top
    bounded = corner >= math.exp(-1) - 1e-12
    says = "much more mass around 0"
    yield claimed("at 0", "box / Laplace", says, top / peak, holds=top > 4 * peak)
    yield claimed("at (1, 10) / at 0", "both", "both lose at most ε", corner, holds=bounded)


def components(_: Data) -> Figure:
    drawn = []
    for j, (name, reach) in enumerate((("first", 8), ("second", 60))):
        series = (
            Series("optimal box", component_steps(j, reach), "step"),
            curve("Laplace", between(-reach, reach, 301), laplace(sensitivity=11).pdf),
        )
        drawn.append(Panel(f"The {name} answer", "noise", "density", series))
    return panels(*drawn, caption="Far better for the first answer, a little worse for the second.")


def component_steps(j: int, reach: float) -> Points:
    """The component's density, as differences of its distribution function."""
    law = example_box().marginal(j)
    places = between(-reach, reach, 641)
    below = [float(law.cdf(x)) for x in places]
    step = places[1] - places[0]
    middles = [(a + b) / 2 for a, b in pairwise(places)]
    return pairs(middles, [(after - before) / step for before, after in pairwise(below)])


def component_cells(_: Data) -> Iterator[Cell]:
    column = "variance, box / Laplace"
    first, second = (float(x) / laplace(sensitivity=11).variance for x in example_box().variance)
    worse, remark = 1 < second < 2, "403.38 against 242."
    yield claimed("first answer", column, "clearly better", first, holds=first < 0.1)
    yield claimed("second answer", column, "slightly worse", second, holds=worse, remark=remark)


FIGURES = (
    figure("fig4.1", "Better noise built from Laplace", construction_cells, construction),
    figure(
        *("fig4.2", "Variance over d", variance_cells),
        lambda _: over_d("Variance, ε = 1", "variance", "variance"),
    ),
    figure(
        *("fig4.3", "95 % interval over d", interval_cells),
        lambda _: over_d("95 % interval, ε = 1", "width of the interval", INTERVAL),
    ),
    figure(
        *("fig4.4", "What Laplace protects, equal sensitivities"),
        *(lambda _: diamond_cells(1, "2"), lambda _: diamond(1)),
    ),
    figure(
        *("fig4.5", "What Laplace protects, sensitivities 1 and 10"),
        *(lambda _: diamond_cells(10, "11"), lambda _: diamond(10)),
    ),
    figure("fig4.6", "Joint densities", joint_cells, joint),
    figure("fig4.7", "Component densities", component_cells, components),
)


# -- Tables 4.1 to 4.4, Examples 4 and 5, and the comparison that the chapter lacks ----------------


def variances(_: Data) -> Iterator[Cell]:
    printed = {
        "0.1": ("200.00", "200", "199.92", "199.91668056106"),
        "0.5": ("8.00", "8", "7.92", "7.9170172153663"),
        "1": ("2.00", "2", "1.92", "1.9181035312355"),
    }
    for epsilon, (plain, exact, optimal, right) in printed.items():
        column = f"ε = {epsilon}"
        yield met("Laplace", column, plain, laplace(epsilon).variance, right=exact)
        yield met("optimal", column, optimal, best(epsilon).variance, right=right)
    yield met("best d", "ε = 1", "0.416737", best().d, right="0.41673743492888")
    yield met("variance there", "ε = 1", "1.9181", best().variance, right="1.9181035312355")


def intervals(_: Data) -> Iterator[Cell]:
    printed = {
        "0.1": ("59.91", "59.91464547108", "59.91", "59.910497749119"),
        "0.5": ("11.98", "11.982929094216", "11.97", "11.978353420678"),
        "1": ("5.99", "5.991464547108", "5.98", "5.9865258847122"),
    }
    for epsilon, (plain, exact, optimal, right) in printed.items():
        column, ours = f"ε = {epsilon}", width(best(epsilon, INTERVAL))
        yield met("Laplace", column, plain, width(laplace(epsilon)), right=exact)
        yield met_or_amended("optimal", column, optimal, ours, right=right)
    shortest = best(minimise=INTERVAL).d
    yield met("best d", "ε = 1", "0.993", shortest, right="0.9932629423561")


def laplace_regions(_: Data) -> Iterator[Cell]:
    printed = {
        "0.99": ("73.02", "73.021872747932", "10663", "10664.38779923"),
        "0.95": ("52.18", "52.182509702296", "5445", "5446.0286376605"),
        "0.90": ("42.79", "42.786921868542", "3662", "3661.4413659694"),
    }
    law = noise.IndependentLaplace(scales=[11, 11])
    because = "The print squares a radius that was rounded before."
    for level, (alpha, radius, size, volume) in printed.items():
        yield met(level, "α", alpha, law.radius(level) * 11, right=radius)
        yield amended(level, "size", size, law.volume(level), right=volume, because=because)


def box_regions(_: Data) -> Iterator[Cell]:
    printed = {
        "0.99": ("6.99", "6.5885478399111", "1790.2", "1789.4668882712"),
        "0.95": ("4.79", "4.6877174847536", "916.6", "916.88954855262"),
        "0.90": ("3.90", "3.8083953800524", "611.2", "611.0221778726"),
    }
    law = example_box()
    squared = "The print squares a half side that was rounded before."
    for level, (beta, right, size, volume) in printed.items():
        ours = law.region(level)[0] - 0.1
        misprint = ", and 6.99 is a misprint of 6.69" if level == "0.99" else ""
        why = f"The print is the half side of the box in sensitivities, 0.1 + β{misprint}."
        yield amended(level, "β", beta, ours, right=right, because=why)
        yield amended(level, "size", size, law.volume(level), right=volume, because=squared)


def example_4(_: Data) -> Iterator[Cell]:
    law = noise.IndependentLaplace(scales=[2, 2])
    outside, says = law.loss([2, 0]), "L1 norm 2 outside the box loses no more than ε"
    equal = outside == law.loss([1, 1]) == 1.0
    yield met("sensitivity", "two answers", "2", law.loss([1, 1]) * 2, right="2")
    yield claimed("overprotected", "two answers", says, outside, holds=equal)


def example_5(_: Data) -> Iterator[Cell]:
    plain = noise.IndependentLaplace(scales=[11, 11])
    scaled = noise.IndependentLaplace(scales=[2, 20])
    row, remark = "Laplace, scales 2 and 20", "A fair baseline: it is 1-differentially private too."
    yield met("Laplace", "sensitivity", "11", 11 * plain.loss([1, 10]), right="11")
    facts = (("4.0338", "4.0338047988488", "8"), ("403.38", "403.38047988488", "800"))
    for j, (printed, right, fair) in enumerate(facts):
        column = f"Var(Y{j + 1})"
        yield met("Laplace, scale 11", column, "242", plain.variance[j], right="242")
        yield met("optimal box", column, printed, example_box().variance[j], right=right)
        yield beside(row, column, scaled.variance[j], right=fair, remark=remark)
    yield beside(row, "loss", scaled.loss([1, 10]), right="1")


def dimensions(_: Data) -> Iterator[Cell]:
    """Three, five and ten answers, against Laplace noise scaled to each of them."""
    known = {2: "4.0338047988488", 3: "6.6642785216828", 5: "13.99999316908"}
    six = "Twice at two answers, tending to six times; not the sixty of Example 5."
    ball = "Add-or-remove moves all counts in one direction: a smaller ball than the box."
    for count in (2, 3, 5, 10):
        row, ones = f"{count} answers", [1] * count
        box = noise.OptimalBox(sensitivities=ones, epsilon=1, core=["0.1"] * count).variance[0]
        same = noise.OptimalBox(sensitivities=ones, epsilon=1, signs="same").variance[0]
        scaled = noise.IndependentLaplace(scales=[count] * count)
        gain, column = scaled.variance[0] / box, "Laplace, scaled / box"
        yield beside(row, "box, core as in Example 5", box, right=known.get(count))
        yield beside(row, "Laplace, scaled", scaled.variance[0], right=2 * count**2)
        yield beside(row, "its loss", scaled.loss(ones), right=1)
        yield claimed(row, column, "far from optimal", gain, holds=gain > 1.9, remark=six)
        yield beside(row, "best, same sign", same, remark=ball)


TABLES = (
    table("4.1", "Variance of Laplace and optimal noise", variances),
    table("4.2", "Width of the 95 % interval", intervals),
    table("4.3", "Confidence region of Laplace noise", laplace_regions),
    table("4.4", "Confidence region of the optimal box", box_regions),
    example("ex4", "Laplace noise for two answers overprotects", example_4),
    example("ex5", "Two answers, one ten times as sensitive", example_5),
    beyond(
        *("4.dimensions", "Three, five and ten answers, against a fair baseline", dimensions),
        source="beyond section 4.5",
        note="The paper compares with Laplace noise of one scale for all answers. Scaled to each "
        "answer, Laplace noise is far better, and the box gains less.",
    ),
)


# -- What chapter 4 gets wrong, each with a check that runs ----------------------------------------


def exponent(_: Data) -> Iterator[Cell]:
    """Theorem 1 as printed gives the first step outside the core the height of the core."""
    law, row = best(), "exponent −(i + 1)ε"
    q, d = math.exp(-1), law.d
    printed = 2 * law.pdf(0.0) * (d + 1 / (1 - q))  # heights 1, 1, q, q², …
    drop = law.pdf(d + 0.5) / law.pdf(0.0)
    yield refuted(
        *("exponent −iε", "total mass", "a density", printed),
        fails=abs(printed - 1) > 0.1,
        because="With M₀ as defined below the theorem its mass is not 1; the exponent is "
        "−(i + 1)ε.",
    )
    yield beside(row, "total mass", 2 * law.pdf(0.0) * (d + q / (1 - q)), right=1)
    yield beside(row, "first step / core", drop, right=repr(q))


def one_criterion(_: Data) -> Iterator[Cell]:
    """The noise of least variance does not have the shortest interval."""
    least, near, short = (best(minimise=m) for m in ("variance", "absolute-error", INTERVAL))
    differ = short.variance > least.variance * 1.1 and width(least) > width(short) + 1e-3
    says = "optimal under one criterion, optimal under all"
    yield refuted(
        *("best d", "variance / interval", says, short.d - least.d),
        fails=differ,
        because="No member of the family is dominated, and each criterion has its own best.",
    )
    yield beside("least variance", "d", least.d, right="0.41673743492888")
    yield beside("least absolute error", "d", near.d, right=repr(1 / (1 + math.exp(0.5))))
    yield beside("shortest 95 % interval", "d", short.d, right="0.9932629423561")


def shells(_: Data) -> Iterator[Cell]:
    """Theorem 3 subtracts S₀ … S_{i−1}: then S₁ keeps S₀, and points lie in two shells."""
    law = noise.OptimalBox(sensitivities=[1], epsilon=1, core=["0.5"])
    grid, half = law.on_grid("0.5"), Fraction(1, 2)
    levels = [int(grid.level([i])) for i in range(6)]
    once = all(b - a in (0, 1) for a, b in pairwise(levels))
    # as printed, S₁ = (S₀ + S_f) minus nothing = [−1.5, 1.5], which contains S₀ = [−0.5, 0.5]
    overlap = float(min(half, half + 1))
    says = "one level for each point, neighbours differ by at most 1"
    yield refuted(
        *("S₁ of the print", "overlap with S₀", "S₀, S₁, … cover each point once", overlap),
        fails=overlap > 0,
        because="The union must run to i, not i − 1: all earlier shells are taken away.",
    )
    yield claimed(
        *("corrected shells", "levels of 0, ½, 1, …", says, " ".join(map(str, levels))),
        holds=once and levels[0] == 0 and max(levels) >= 2,
    )


ERRATA = (
    erratum("err.exponent", "Theorem 1: the exponent is off by one", exponent, source="Theorem 1"),
    erratum(
        *("err.criteria", "Optimal under one criterion is not under all", one_criterion),
        source="section 4.1",
    ),
    erratum("err.shells", "Theorem 3 subtracts one shell too few", shells, source="Theorem 3"),
)
