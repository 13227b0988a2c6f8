"""Table 5.5 and Figure 5.7: a number in [0, 1], with Laplace noise or by refinement."""

from __future__ import annotations

import math

from ... import prior
from ...mechanism import expected_error
from ...noise import Laplace
from ..cell import Cell, amended, beside, claimed, met
from ..data import Data
from ..exhibit import beyond, figure, table
from ..figure import Figure, Panel, Series, between, curve, panels
from .figures import LN2, PLACES, core, height, uniform

TABLE_5_5 = {
    "0.1": (
        ("200", "200"),
        ("0.476", "0.048770575499286"),
        ("0.077", "0.077192529764783"),
        ("0.475", "0.47502081252106"),
        ("0.525", "0.52497918747894"),
    ),
    "ln 2": (
        ("4.16", "4.1627379620112"),
        ("0.549", "0.29289321881345"),
        ("0.046", "0.046296296296296"),
        ("0.333", "0.33333333333333"),
        ("0.667", "0.66666666666667"),
    ),
    "1": (
        ("2", "2"),
        ("0.607", "0.39346934028737"),
        ("0.034", "0.034466699802252"),
        ("0.269", "0.26894142137"),
        ("0.731", "0.73105857863"),
    ),
    "2": (
        ("0.5", "0.5"),
        ("0.684", "0.63212055882856"),
        ("0.012", "0.012301799604945"),
        ("0.119", "0.11920292202212"),
        ("0.881", "0.88079707797788"),
    ),
}


def quality(_: Data) -> list[Cell]:
    cells = []
    for name, (variance, inside, refined, size, held) in TABLE_5_5.items():
        epsilon = LN2 if name == "ln 2" else name
        row, law, ours = f"ε = {name}", Laplace(sensitivity=1, epsilon=epsilon), uniform(epsilon)
        low, high = core(ours)
        within = float(ours.cdf(repr(high)) - ours.cdf(repr(low)))
        cells += [
            met(row, "Laplace, variance", variance[0], law.variance, right=variance[1]),
            amended(
                row,
                "Laplace, P(inside)",
                inside[0],
                1 - 2 * float(law.cdf(-0.5)),
                right=inside[1],
                because="The whole column is wrong: it is 1 − e^(−ε/2).",
            ),
            met(row, "refined, variance", refined[0], ours.variance, right=refined[1]),
            met(row, "refined, size of the core", size[0], high - low, right=size[1]),
            met(row, "refined, P(core)", held[0], within, right=held[1]),
            beside(
                row,
                "Laplace, sensitivity ½",
                Laplace(sensitivity="0.5", epsilon=epsilon).variance,
                remark="The convention of section 5.5.1: an absent person answers ½.",
            ),
        ]
    return cells


EPSILONS = (("0.1", "0.1"), ("ln 2", LN2), ("1", "1"), ("2", "2"))


def continuous(_: Data) -> Figure:
    drawn = []
    for name, epsilon in EPSILONS:
        noise, law = Laplace(sensitivity=1, epsilon=epsilon), uniform(epsilon)
        drawn.append(
            Panel(
                f"ε = {name}",
                "answer",
                "density",
                (
                    _around_half(noise),
                    Series(
                        "refined",
                        (
                            (-1.5, 0.0),
                            (0.0, 0.0),
                            *curve("", PLACES, height(law)).points,
                            (1.0, 0.0),
                        ),
                        "step",
                    ),
                ),
                x_ticks=(-1, 0, 1, 2),
            )
        )
    return panels(*drawn, caption="The refined law never leaves what is possible.")


def continuous_cells(_: Data) -> list[Cell]:
    cells = []
    for name, epsilon in EPSILONS:
        noise, law = Laplace(sensitivity=1, epsilon=epsilon), uniform(epsilon)
        cells.append(
            claimed(
                f"ε = {name}",
                "variance, refined / Laplace",
                "much better",
                law.variance / noise.variance,
                holds=law.variance < noise.variance / 10,
            )
        )
    return cells


def _around_half(noise: Laplace) -> Series:
    return curve("Laplace", between(-1.5, 2.5, 401), lambda x: float(noise.pdf(x - 0.5)))


def best_alpha(_: Data) -> list[Cell]:
    """The default α_u = e^(ε/2) against the best for a uniform prior."""
    known = {"0.1": "0.32398631678999", "1": "0.24398821623168", "3": "0.11196140084305"}
    cells = []
    for epsilon, right in known.items():
        ours = expected_error(prior.Uniform(0, 1), epsilon, kind="statistical")
        least = min(
            expected_error(
                prior.Uniform(0, 1),
                epsilon,
                kind="statistical",
                alpha_up=repr(math.exp(share * float(epsilon))),
            )
            for share in (0.4, 0.45, 0.47, 0.475, 0.5)
        )
        cells += [
            beside(f"ε = {epsilon}", "error with α_u = e^(ε/2)", ours, right=right),
            claimed(
                f"ε = {epsilon}",
                "over the best tried",
                "α_u is free",
                ours / least,
                holds=1 <= ours / least < 1.008,
            ),
        ]
    return cells


EXHIBITS = (
    table("5.5", "A continuous attribute: Laplace or refinement", "Table 5.5", quality),
    figure("fig5.7", "A number in [0, 1]", "Figure 5.7", continuous_cells, continuous),
    beyond("5.alpha", "Which α_u for a statistic", "beyond section 5.2", best_alpha),
)
