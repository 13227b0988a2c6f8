"""Figures 4.1 to 4.7 of the thesis: densities, and what they are worth."""

from __future__ import annotations

import math

from ... import noise
from ..cell import Cell, beside, claimed, met
from ..data import Data
from ..exhibit import figure
from ..figure import Figure, Panel, Series, between, curve, panels

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


EXHIBITS = (
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
