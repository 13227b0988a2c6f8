"""Figures of refined beliefs: 5.1 to 5.7 of the thesis, 1 to 4 of PASSAT 2012; Table 5.5."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from tenue import prior
from tenue.mechanism import RefinedDensity, expected_error, refine
from tenue.noise import Laplace

from .cell import Cell, amended, beside, claimed, met
from .data import Data
from .draw import Figure, Panel, Series, between, curve, panels
from .exhibit import beyond, figure, table

LN2 = "0.6931471805599453094172321214581765680755"


def uniform(epsilon: object, truth: object = "0.5", kind: str = "individual") -> RefinedDensity:
    law = refine(prior.Uniform(0, 1), truth, epsilon, kind=kind)
    if not isinstance(law, RefinedDensity):
        raise TypeError("a uniform prior is refined to a density")
    return law


def core(law: RefinedDensity) -> tuple[float, float]:
    """Where the belief was raised."""
    low, high = law.core or (0.0, 0.0)
    return low, high


def height(law: RefinedDensity) -> Callable[[float], float]:
    return lambda x: float(law.density(repr(x)))


PLACES = between(0.0005, 0.9995, 500)


def refined_panel(title: str, epsilon: object, truth: object, kind: str) -> Panel:
    law = uniform(epsilon, truth, kind)
    return Panel(
        title,
        "answer",
        "density",
        (
            curve("refined", PLACES, height(law), "step"),
            Series("prior", ((0.0, 1.0), (1.0, 1.0)), "dashed"),
            Series("truth", ((float(str(truth)), 0.0),), "rule"),
        ),
        y_range=(0, max(2.2, 1.1 * float(law.factor_up))),
    )


# -- 5.1 and PASSAT 1 ------------------------------------------------------------------------------


def two_truths(_: Data) -> Figure:
    return panels(
        refined_panel("f(D) = 0.3", LN2, "0.3", "statistical"),
        refined_panel("f(D') = 0.7", LN2, "0.7", "statistical"),
        caption="At any point the two densities differ by at most e^ε; 0.6 is high in one only.",
    )


def two_truths_cells(_: Data) -> list[Cell]:
    one, other = uniform(LN2, "0.3", "statistical"), uniform(LN2, "0.7", "statistical")
    ratio = float(other.density("0.6") / one.density("0.6"))
    return [
        claimed(
            "the point 0.6",
            "ratio",
            "α_u / α_d = e^ε = 2",
            ratio,
            holds=math.isclose(ratio, 2, rel_tol=1e-9),
        ),
        claimed(
            "all points",
            "largest loss",
            "ε",
            one.loss_against("0.7"),
            holds=math.isclose(one.loss_against("0.7"), math.log(2), rel_tol=1e-9),
        ),
    ]


# -- 5.2 and 5.3: with δ ---------------------------------------------------------------------------


@cache
def sixtieths() -> Any:
    """The uniform prior cut into sixty points, for mass that moves needs points."""
    return prior.Points({Fraction(2 * k + 1, 120): "1/60" for k in range(60)})


def individual_law(moved: Fraction) -> Any:
    return refine(sixtieths(), "0.5", LN2, kind="individual", delta=moved * 2)


def statistical_law(truth: Fraction, moved: Fraction) -> Any:
    return refine(sixtieths(), truth, LN2, kind="statistical", delta=moved * 3, alpha_up="1.5")


def smallest_delta(moved: Fraction) -> float:
    """What moving this much mass to the truth costs against the prior."""
    return float(individual_law(moved).divergence_against(None))


def pair_delta(moved: Fraction) -> float:
    """What it costs between two truths, at worst."""
    truths = [Fraction(k, 60) for k in range(61)]
    ones = [statistical_law(truths[k], moved) for k in (0, 10, 30)]
    return max(float(one.divergence_against(truth)) for one in ones for truth in truths)


def _points(law: Any) -> tuple[tuple[float, float], ...]:
    return tuple((float(v), 60 * float(m)) for v, m in sorted(law.masses.items()))


def _steps_panel(title: str, law: Any, highest: float) -> Panel:
    series = (Series("refined", _points(law), "bar"),)
    return Panel(title, "answer", "mass × 60", series, x_range=(0, 1), y_range=(0, highest))


def delta_alone(_: Data) -> Figure:
    return panels(
        _steps_panel("ε = ln 2", individual_law(Fraction(0)), 5.2),
        _steps_panel("ε = ln 2, δ = 0.2", individual_law(Fraction(1, 10)), 5.2),
        caption="With δ some mass moves from the far ends to the truth: 0.1, not 0.2.",
    )


def delta_alone_cells(_: Data) -> list[Cell]:
    before, after = individual_law(Fraction(0)), individual_law(Fraction(1, 10))
    gained = sum(max(0.0, float(after.mass(v) - before.mass(v))) for v in before.masses)
    return [
        met("δ", "of the right panel", "0.2", smallest_delta(Fraction(1, 10)), right="0.2"),
        claimed(
            "mass at the truth",
            "gained",
            "δ·e^-ε (the text has δ)",
            gained,
            holds=math.isclose(gained, 0.1, rel_tol=1e-9),
        ),
    ]


def delta_pairs(_: Data) -> Figure:
    one, other = Fraction(1, 6), Fraction(5, 6)
    none, some = Fraction(0), Fraction(1, 15)
    return panels(
        _steps_panel("f(D) = 0.166, ε = ln 2", statistical_law(one, none), 3.7),
        _steps_panel("f(D) = 0.833, ε = ln 2", statistical_law(other, none), 3.7),
        _steps_panel("f(D) = 0.166, δ = 0.2", statistical_law(one, some), 3.7),
        _steps_panel("f(D) = 0.833, δ = 0.2", statistical_law(other, some), 3.7),
        caption="Between two truths the moved mass counts three times at ε = ln 2: 1/15 may move.",
    )


def delta_pairs_cells(_: Data) -> list[Cell]:
    law = statistical_law(Fraction(1, 6), Fraction(1, 15))
    pair = float(law.divergence_against(Fraction(5, 6)))
    return [
        met("δ, the pair drawn", "lower panels", "0.2", pair, right="0.2"),
        met("δ, all pairs", "lower panels", "0.2", pair_delta(Fraction(1, 15)), right="0.2"),
    ]


# -- Boolean attributes ----------------------------------------------------------------------------


def boolean(truth: int | None, one: str) -> Any:
    belief = prior.Points({0: 1 - Fraction(one), 1: Fraction(one)})
    return refine(belief, truth, 1, kind="individual")


def _bits(title: str, laws: dict[str, Any]) -> Panel:
    series = tuple(
        Series(name, tuple((v, float(law.mass(v))) for v in (0, 1)), "bar")
        for name, law in laws.items()
    )
    return Panel(title, "answer", "probability", series, y_range=(0, 1), x_ticks=(0, 1))


def fair_coin(_: Data) -> Figure:
    laws = {"prior": boolean(None, "0.5"), "refined, bit 0": boolean(0, "0.5")}
    return panels(_bits("One question, ε = 1", laws), caption="Both people alike; the bit is 0.")


def fair_coin_cells(_: Data) -> list[Cell]:
    law = boolean(0, "0.5")
    return [
        met("answer 1", "refined", "0.1839", float(law.mass(1)), right="0.18393972058572"),
        met("answer 0", "refined", "0.8161", float(law.mass(0)), right="0.81606027941428"),
    ]


def laplace_bits(_: Data) -> Figure:
    law, places = Laplace(sensitivity="0.5", epsilon=1), between(-3, 4, 561)
    panel = Panel(
        "Laplace noise, ε = 1",
        "answer",
        "density",
        (curve("bit 0", places, law.pdf), curve("bit 1", places, lambda x: float(law.pdf(x - 1)))),
    )
    return panels(panel, caption="Answers beyond ½ are read as 1, whatever was known before.")


def laplace_bits_cells(_: Data) -> list[Cell]:
    law = Laplace(sensitivity="0.5", epsilon=1)
    beyond = 1 - float(law.cdf(0.5))
    return [
        met("bit 0 read as 1", "Laplace", "0.184", beyond, right="0.18393972058572"),
        met(
            "bit 1 read as 1",
            "Laplace",
            "0.816",
            1 - float(law.cdf(-0.5)),
            right="0.81606027941428",
        ),
    ]


def refined_bits(_: Data) -> Figure:
    laws = {
        "prior": boolean(None, "0.01"),
        "bit 0": boolean(0, "0.01"),
        "bit 1": boolean(1, "0.01"),
    }
    return panels(_bits("Refined, ε = 1", laws), caption="A rare 1 stays rare, whatever the bit.")


def refined_bits_cells(_: Data) -> list[Cell]:
    one = float(boolean(1, "0.01").mass(1))
    zero = float(boolean(0, "0.01").mass(1))
    return [
        claimed(
            "P(1), bit 1",
            "over the prior",
            "e^ε",
            one / 0.01,
            holds=math.isclose(one / 0.01, math.e, rel_tol=1e-9),
        ),
        claimed(
            "P(1), bit 0",
            "over the prior",
            "e^-ε",
            zero / 0.01,
            holds=math.isclose(zero / 0.01, math.exp(-1), rel_tol=1e-9),
        ),
    ]


THESIS = (
    figure(
        "fig5.1", "Two neighbours, two refined laws", "Figure 5.1", two_truths_cells, two_truths
    ),
    figure(
        "fig5.2", "Refinement with δ, an individual", "Figure 5.2", delta_alone_cells, delta_alone
    ),
    figure(
        "fig5.3", "Refinement with δ, a statistic", "Figure 5.3", delta_pairs_cells, delta_pairs
    ),
    figure("fig5.4", "A fair coin, refined", "Figure 5.4", fair_coin_cells, fair_coin),
    figure("fig5.5", "A bit with Laplace noise", "Figure 5.5", laplace_bits_cells, laplace_bits),
    figure("fig5.6", "A rare bit, refined", "Figure 5.6", refined_bits_cells, refined_bits),
)
PASSAT = (
    figure(
        "passat.fig1",
        "Two neighbours, two refined laws",
        "PASSAT, Figure 1",
        two_truths_cells,
        two_truths,
    ),
    figure(
        "passat.fig2",
        "A bit with Laplace noise",
        "PASSAT, Figure 2",
        laplace_bits_cells,
        laplace_bits,
    ),
    figure(
        "passat.fig3", "A rare bit, refined", "PASSAT, Figure 3", refined_bits_cells, refined_bits
    ),
    figure("passat.fig4", "A fair coin, refined", "PASSAT, Figure 4", fair_coin_cells, fair_coin),
)


# -- Table 5.5 and Figure 5.7: a number in [0, 1], with Laplace noise or by refinement -------------

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
