"""Refined beliefs: thesis, chapter 5, and PASSAT 2012; and what chapter 5 gets wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any

from tenue import prior
from tenue.mechanism import RefinedDensity, expected_error, refine
from tenue.noise import Laplace

from .cell import Cell, amended, beside, claimed, formula, met, met_or_amended, refuted
from .data import Data
from .draw import Figure, Panel, Series, between, curve, panels, plot
from .exhibit import beyond, erratum, example, figure, table

LN2 = "0.6931471805599453094172321214581765680755"
E = math.e
Q = math.exp(-1)
BITS = (0, 1)
COMPLEMENT = "1 minus a number that was truncated."


def uniform(
    epsilon: str | float | Fraction, truth: object = "0.5", kind: str = "individual"
) -> RefinedDensity:
    law = refine(prior.Uniform(0, 1), truth, epsilon, kind=kind)
    if not isinstance(law, RefinedDensity):
        raise TypeError("a uniform prior is refined to a density")
    return law


def core(law: RefinedDensity) -> tuple[float, float]:
    """The interval in which the belief was raised."""
    return law.core or (0.0, 0.0)


def bit(truth: int | None, one: str = "0.01") -> Any:
    """The answer about one person's bit, which is 1 with probability `one` as far as is known."""
    belief = prior.Points({0: 1 - Fraction(one), 1: Fraction(one)})
    return refine(belief, truth, 1, kind="individual")


def mass(law: Any, value: object) -> float:
    return float(law.mass(value))


def thresholded(truth: int) -> float:
    """P(1) if Laplace noise is added to the bit and the sum compared with ½."""
    return 1 - float(Laplace(sensitivity="0.5", epsilon=1).cdf(0.5 - truth))


def joint(first: int | None, second: int | None, answers: tuple[int, int]) -> float:
    """P(answers) about two people, each with a fair coin as prior; None is a missing person."""
    return mass(bit(first, "0.5"), answers[0]) * mass(bit(second, "0.5"), answers[1])


PAIRS = tuple(product(BITS, BITS))


# -- Examples 6 and 8, section 5.5.1, PASSAT examples 1 to 3 ---------------------------------------


def uniform_example(_: Data) -> Iterator[Cell]:
    """α_u / α_d is the loss, and the total mass stays 1."""
    law = uniform(1, "0.3", "statistical")
    ratio = float(law.factor_up / law.factor_down)
    worst = max(law.loss_against(Fraction(k, 10)) for k in range(11))
    row, tight = "largest loss over truths", 0.99 < worst <= 1 + 1e-12
    yield formula("α_u / α_d", "ε = 1", "at most e^ε", ratio, E, within=1e-9)
    yield claimed(row, "ε = 1", "ln(α_u / α_d)", worst, holds=tight)
    yield claimed("total mass", "U[0, 1]", "1", float(law.cdf(1)), holds=law.cdf(1) == 1)


def boolean_example(_: Data) -> Iterator[Cell]:
    zero, one, column = bit(0), bit(1), "on average"
    noisy = 0.99 * thresholded(0) + 0.01 * thresholded(1)
    both = 0.99 * mass(zero, 1) + 0.01 * mass(one, 1)
    sums = "Sums of truncated numbers; the thesis also prints 0.02182 for 0.027182."
    first, second, third = "Laplace, P(1)", "refined, P(1)", "refined, P(0)"
    truncated = partial(met_or_amended, second)
    yield met(first, "bit 0", "0.184", thresholded(0), right="0.18393972058572")
    yield met(first, "bit 1", "0.816", thresholded(1), right="0.81606027941428")
    yield met(first, column, "0.19", noisy, right="0.19026092617401")
    yield truncated("bit 0", "0.003678", mass(zero, 1), right="0.0036787944117144")
    yield amended(
        *(third, "bit 0", "0.996322", mass(zero, 0)), right="0.99632120558829", because=COMPLEMENT
    )
    yield truncated("bit 1", "0.027182", mass(one, 1), right="0.02718281828459")
    yield met(third, "bit 1", "0.972817", mass(one, 0), right="0.97281718171541")
    yield truncated(column, "0.003912", both, right="0.0039138346504432", because=sums)


def two_people(_: Data, ones: str = "0.1839", zeros: str = "0.8161") -> Iterator[Cell]:
    law, row = bit(0, "0.5"), "ratios to Table 5.4"
    ratios = [joint(0, 0, pair) / joint(None, 0, pair) for pair in PAIRS]
    right = ("0.81606027941428", "0.18393972058572")
    yield met_or_amended("P(1)", "bit 0", ones, mass(law, 1), right=right[1])
    yield met_or_amended("P(0)", "bit 0", zeros, mass(law, 0), right=right[0], because=COMPLEMENT)
    yield formula(row, "lowest", "α_d = e^-1", min(ratios), Q)
    yield formula(row, "highest", "2 − α_d", max(ratios), 2 - Q)


def present(_: Data) -> Iterator[Cell]:
    """Tables I and 5.3, which print formulas: both people are there, both bits are 0."""
    factor = {0: 1 - Q / 2, 1: Q / 2}
    says = ("(1 − ½α_d)²", "(1 − ½α_d)·½α_d", "¼α_d²")
    for a, b in PAIRS:
        row, value = f"answers {a}, {b}", factor[a] * factor[b]
        yield formula(row, "probability", says[a + b], joint(0, 0, (a, b)), value)


def absent(_: Data) -> Iterator[Cell]:
    """Tables II and 5.4: one of the two is missing."""
    for missing, (a, b) in product((1, 2), PAIRS):
        first, second, answer = (None, 0, b) if missing == 1 else (0, None, a)
        says, value = ("½(1 − ½α_d)", (1 - Q / 2) / 2) if answer == 0 else ("¼α_d", Q / 4)
        row = f"person {missing} missing, answers {a}, {b}"
        yield formula(row, "probability", says, joint(first, second, (a, b)), value)


# -- Tables 5.1 and 5.2 ----------------------------------------------------------------------------


def distances(_: Data) -> Iterator[Cell]:
    """Which values count as near, read off the refined law: nearer ones never get less."""
    number = refine(prior.Points(dict.fromkeys(range(5), "0.2")), 1, 1, kind="individual")
    nominal = refine(prior.Categorical(dict.fromkeys("abcde", "0.2")), "b", 1, kind="individual")
    ordinal = refine(prior.Ordinal(list("abcde"), ["0.2"] * 5), "b", 1, kind="individual")
    numbers = [mass(number, k) for k in (1, 2, 3, 4)]
    others = {mass(nominal, c) for c in "acde"}
    ranks = [mass(ordinal, c) for c in "bcde"]
    falls, climbs = (
        sorted(masses, reverse=True) == masses and masses[0] > masses[-1]
        for masses in (numbers, ranks)
    )
    equal, says = len(others) == 1 and mass(nominal, "b") > min(others), "0 if equal, else 1"
    yield claimed("continuous", "distance", "|x − y|", numbers[-1], holds=falls)
    yield claimed("nominal", "distance", says, min(others), holds=equal)
    yield claimed("ordinal", "distance", "|i − j|", ranks[-1], holds=climbs)


def factors(_: Data) -> Iterator[Cell]:
    for epsilon in ("0.5", "1", "2"):
        one, many = uniform(epsilon), uniform(epsilon, kind="statistical")
        for row, name, ours, power in (
            ("individual", "α_u", one.factor_up, 1),
            ("individual", "α_d", one.factor_down, -1),
            ("statistical", "α_u / α_d", many.factor_up / many.factor_down, 1),
        ):
            column, says = f"{name}, ε = {epsilon}", "e^-ε" if power < 0 else "e^ε"
            value = math.exp(power * float(epsilon))
            yield formula(row, column, says, float(ours), value, within=1e-9)


# -- Figure 5.1 and PASSAT figure 1 ----------------------------------------------------------------

PLACES = between(0.0005, 0.9995, 500)


def refined_curve(law: RefinedDensity) -> Series:
    return curve("refined", PLACES, lambda x: float(law.density(repr(x))), "step")


def refined_panel(title: str, truth: str) -> Panel:
    law = uniform(LN2, truth, "statistical")
    series = (
        refined_curve(law),
        Series("prior", ((0.0, 1.0), (1.0, 1.0)), "dashed"),
        Series("truth", ((float(truth), 0.0),), "rule"),
    )
    highest = max(2.2, 1.1 * float(law.factor_up))
    return Panel(title, "answer", "density", series, y_range=(0, highest))


def two_truths(_: Data) -> Figure:
    return panels(
        refined_panel("f(D) = 0.3", "0.3"),
        refined_panel("f(D') = 0.7", "0.7"),
        caption="At any point the two densities differ by at most e^ε; 0.6 is high in one only.",
    )


def two_truths_cells(_: Data) -> Iterator[Cell]:
    one, other = uniform(LN2, "0.3", "statistical"), uniform(LN2, "0.7", "statistical")
    ratio, loss = float(other.density("0.6") / one.density("0.6")), one.loss_against("0.7")
    yield formula("the point 0.6", "ratio", "α_u / α_d = e^ε = 2", ratio, 2, within=1e-9)
    yield formula("all points", "largest loss", "ε", loss, math.log(2), within=1e-9)


# -- Figures 5.2 and 5.3: with δ -------------------------------------------------------------------


@cache
def sixtieths() -> Any:
    """The uniform prior as sixty points, because only mass on points can be moved."""
    return prior.Points({Fraction(2 * k + 1, 120): "1/60" for k in range(60)})


def individual_law(moved: Fraction) -> Any:
    return refine(sixtieths(), "0.5", LN2, kind="individual", delta=moved * 2)


def statistical_law(truth: Fraction, moved: Fraction) -> Any:
    return refine(sixtieths(), truth, LN2, kind="statistical", delta=moved * 3, alpha_up="1.5")


def smallest_delta(moved: Fraction) -> float:
    """The δ that moving this much mass to the truth needs against the prior."""
    return float(individual_law(moved).divergence_against(None))


def pair_delta(moved: Fraction) -> float:
    """The δ that it needs between two truths, at worst."""
    truths = [Fraction(k, 60) for k in range(61)]
    ones = [statistical_law(truths[k], moved) for k in (0, 10, 30)]
    return max(float(one.divergence_against(truth)) for one in ones for truth in truths)


def _bars_panel(title: str, law: Any, highest: float) -> Panel:
    points = tuple((float(v), 60 * float(m)) for v, m in sorted(law.masses.items()))
    series = (Series("refined", points, "bar"),)
    return Panel(title, "answer", "mass × 60", series, x_range=(0, 1), y_range=(0, highest))


def delta_alone(_: Data) -> Figure:
    return panels(
        _bars_panel("ε = ln 2", individual_law(Fraction(0)), 5.2),
        _bars_panel("ε = ln 2, δ = 0.2", individual_law(Fraction(1, 10)), 5.2),
        caption="With δ some mass moves from the far ends to the truth: 0.1, not 0.2.",
    )


def delta_alone_cells(_: Data) -> Iterator[Cell]:
    before, after = individual_law(Fraction(0)), individual_law(Fraction(1, 10))
    gained = sum(max(0.0, float(after.mass(v) - before.mass(v))) for v in before.masses)
    says = "δ·e^-ε (the text has δ)"
    yield met("δ", "of the right panel", "0.2", smallest_delta(Fraction(1, 10)), right="0.2")
    yield formula("mass at the truth", "gained", says, gained, 0.1, within=1e-9)


def delta_pairs(_: Data) -> Figure:
    one, other = Fraction(1, 6), Fraction(5, 6)
    none, some = Fraction(0), Fraction(1, 15)
    return panels(
        _bars_panel("f(D) = 0.166, ε = ln 2", statistical_law(one, none), 3.7),
        _bars_panel("f(D) = 0.833, ε = ln 2", statistical_law(other, none), 3.7),
        _bars_panel("f(D) = 0.166, δ = 0.2", statistical_law(one, some), 3.7),
        _bars_panel("f(D) = 0.833, δ = 0.2", statistical_law(other, some), 3.7),
        caption="Between two truths the moved mass counts three times at ε = ln 2: 1/15 may move.",
    )


def delta_pairs_cells(_: Data) -> Iterator[Cell]:
    law = statistical_law(Fraction(1, 6), Fraction(1, 15))
    pair = float(law.divergence_against(Fraction(5, 6)))
    yield met("δ, the pair drawn", "lower panels", "0.2", pair, right="0.2")
    yield met("δ, all pairs", "lower panels", "0.2", pair_delta(Fraction(1, 15)), right="0.2")


# -- Figures 5.4 to 5.6, PASSAT figures 2 to 4: Boolean attributes ---------------------------------


def _bits(title: str, caption: str, **laws: Any) -> Figure:
    series = [
        Series(name, tuple((v, mass(law, v)) for v in BITS), "bar") for name, law in laws.items()
    ]
    axes: Any = {"y_range": (0, 1), "x_ticks": BITS}
    return plot(title, "answer", "probability", *series, caption=caption, **axes)


def fair_coin(_: Data) -> Figure:
    laws = {"prior": bit(None, "0.5"), "refined, bit 0": bit(0, "0.5")}
    return _bits("One question, ε = 1", "Both people alike; the bit is 0.", **laws)


def fair_coin_cells(_: Data) -> Iterator[Cell]:
    law = bit(0, "0.5")
    yield met("answer 1", "refined", "0.1839", mass(law, 1), right="0.18393972058572")
    yield met("answer 0", "refined", "0.8161", mass(law, 0), right="0.81606027941428")


def laplace_bits(_: Data) -> Figure:
    law, places = Laplace(sensitivity="0.5", epsilon=1), between(-3, 4, 561)
    return plot(
        *("Laplace noise, ε = 1", "answer", "density"),
        curve("bit 0", places, law.pdf),
        curve("bit 1", places, lambda x: float(law.pdf(x - 1))),
        caption="Answers above ½ are read as 1, whatever was known before.",
    )


def laplace_bits_cells(_: Data) -> Iterator[Cell]:
    yield met("bit 0 read as 1", "Laplace", "0.184", thresholded(0), right="0.18393972058572")
    yield met("bit 1 read as 1", "Laplace", "0.816", thresholded(1), right="0.81606027941428")


def rare_bit(_: Data) -> Figure:
    laws = {"prior": bit(None), "bit 0": bit(0), "bit 1": bit(1)}
    return _bits("Refined, ε = 1", "A rare 1 stays rare, whatever the bit.", **laws)


def rare_bit_cells(_: Data) -> Iterator[Cell]:
    one, zero = mass(bit(1), 1) / 0.01, mass(bit(0), 1) / 0.01
    yield formula("P(1), bit 1", "over the prior", "e^ε", one, E, within=1e-9)
    yield formula("P(1), bit 0", "over the prior", "e^-ε", zero, Q, within=1e-9)


# -- Table 5.5 and Figure 5.7: a number in [0, 1], with Laplace noise or by refinement -------------

EPSILONS = (("0.1", "0.1"), ("ln 2", LN2), ("1", "1"), ("2", "2"))
COLUMNS = (
    *("Laplace, variance", "Laplace, P(inside)"),
    *("refined, variance", "refined, size of the core", "refined, P(core)"),
)
"""Table 5.5: its columns, the printed rows, and the right ones."""
PRINTED = {
    "0.1": "200 0.476 0.077 0.475 0.525",
    "ln 2": "4.16 0.549 0.046 0.333 0.667",
    "1": "2 0.607 0.034 0.269 0.731",
    "2": "0.5 0.684 0.012 0.119 0.881",
}
RIGHT = {
    "0.1": "200 0.048770575499286 0.077192529764783 0.47502081252106 0.52497918747894",
    "ln 2": "4.1627379620112 0.29289321881345 0.046296296296296 0.33333333333333 0.66666666666667",
    "1": "2 0.39346934028737 0.034466699802252 0.26894142137 0.73105857863",
    "2": "0.5 0.63212055882856 0.012301799604945 0.11920292202212 0.88079707797788",
}


def quality(_: Data) -> Iterator[Cell]:
    wrong = "The whole column is wrong: it is 1 − e^(−ε/2)."
    half = "The convention of section 5.5.1: an absent person answers ½."
    for name, epsilon in EPSILONS:
        row, law, ours = f"ε = {name}", Laplace(sensitivity=1, epsilon=epsilon), uniform(epsilon)
        low, high = core(ours)
        values = (
            law.variance,
            1 - 2 * float(law.cdf(-0.5)),
            ours.variance,
            high - low,
            float(ours.cdf(repr(high)) - ours.cdf(repr(low))),
        )
        columns = zip(COLUMNS, PRINTED[name].split(), values, RIGHT[name].split(), strict=True)
        for column, printed, value, right in columns:
            yield met_or_amended(row, column, printed, value, right=right, because=wrong)
        narrow = Laplace(sensitivity="0.5", epsilon=epsilon).variance
        yield beside(row, "Laplace, sensitivity ½", narrow, remark=half)


def continuous(_: Data) -> Figure:
    drawn = []
    for name, epsilon in EPSILONS:
        noise = Laplace(sensitivity=1, epsilon=epsilon)
        points = refined_curve(uniform(epsilon)).points
        around_half = [(x, float(noise.pdf(x - 0.5))) for x in between(-1.5, 2.5, 401)]
        series = (
            Series("Laplace", tuple(around_half)),
            Series("refined", ((-1.5, 0.0), (0.0, 0.0), *points, (1.0, 0.0)), "step"),
        )
        drawn.append(Panel(f"ε = {name}", "answer", "density", series, x_ticks=(-1, 0, 1, 2)))
    return panels(*drawn, caption="The refined law never leaves the possible values.")


def continuous_cells(_: Data) -> Iterator[Cell]:
    column = "variance, refined / Laplace"
    for name, epsilon in EPSILONS:
        plain, refined = Laplace(sensitivity=1, epsilon=epsilon).variance, uniform(epsilon).variance
        less = refined < plain / 10
        yield claimed(f"ε = {name}", column, "much better", refined / plain, holds=less)


def best_alpha(_: Data) -> Iterator[Cell]:
    """The default α_u = e^(ε/2) against the best for a uniform prior."""
    known = {"0.1": "0.32398631678999", "1": "0.24398821623168", "3": "0.11196140084305"}
    for epsilon, right in known.items():
        error = partial(expected_error, prior.Uniform(0, 1), epsilon, kind="statistical")
        shares, row = (0.4, 0.45, 0.47, 0.475, 0.5), f"ε = {epsilon}"
        least = min(error(alpha_up=repr(math.exp(share * float(epsilon)))) for share in shares)
        ratio = error() / least
        near = 1 <= ratio < 1.008
        yield beside(row, "error with α_u = e^(ε/2)", error(), right=right)
        yield claimed(row, "over the best tried", "α_u is free", ratio, holds=near)


TWO_TRUTHS = ("Two neighbours, two refined laws", two_truths_cells, two_truths)
FAIR_COIN = ("A fair coin, refined", fair_coin_cells, fair_coin)
LAPLACE_BITS = ("A bit with Laplace noise", laplace_bits_cells, laplace_bits)
RARE_BIT = ("A rare bit, refined", rare_bit_cells, rare_bit)
THESIS = (
    example("ex6", "A uniform prior, refined", uniform_example),
    example("ex8", "Two people, two questions", two_people),
    table("5.1", "Distances between values", distances),
    table("5.2", "The two factors", factors),
    table("5.3", "Joint answers, both present", present),
    table("5.4", "Joint answers, one missing", absent),
    example("5.bool", "A Boolean attribute", boolean_example, source="Section 5.5.1"),
    figure("fig5.1", *TWO_TRUTHS),
    figure("fig5.2", "Refinement with δ, an individual", delta_alone_cells, delta_alone),
    figure("fig5.3", "Refinement with δ, a statistic", delta_pairs_cells, delta_pairs),
    figure("fig5.4", *FAIR_COIN),
    figure("fig5.5", *LAPLACE_BITS),
    figure("fig5.6", *RARE_BIT),
    table("5.5", "A continuous attribute: Laplace or refinement", quality),
    figure("fig5.7", "A number in [0, 1]", continuous_cells, continuous),
    beyond("5.alpha", "Which α_u for a statistic", best_alpha, source="beyond section 5.2"),
)
PASSAT = (
    example("passat.ex1", "A uniform prior, refined", uniform_example),
    example("passat.ex2", "A Boolean attribute", boolean_example),
    example(
        *("passat.ex3", "Two people, two questions"),
        lambda data: two_people(data, "0.183939", "0.816061"),
    ),
    table("passat.I", "Joint answers, both present", present),
    table("passat.II", "Joint answers, one missing", absent),
    figure("passat.fig1", *TWO_TRUTHS),
    figure("passat.fig2", *LAPLACE_BITS),
    figure("passat.fig3", *RARE_BIT),
    figure("passat.fig4", *FAIR_COIN),
)


# -- What chapter 5 gets wrong, each with a check that runs ----------------------------------------


def swapped(_: Data) -> Iterator[Cell]:
    """Algorithm 5.1: the masses of the raised and the lowered set are exchanged."""
    for epsilon in ("0.1", "1", "2"):
        law = uniform(epsilon)
        up, down = float(law.factor_up), float(law.factor_down)
        printed, right = (up - 1) / (up - down), (1 - down) / (up - down)
        low, high = core(law)
        total = up * printed + down * (1 - printed)
        row, says = "P(U_u) = (1 − α_d)/(α_u − α_d)", "the mass raised"
        yield refuted(
            "P(U_u) = (α_u − 1)/(α_u − α_d)",
            *(f"total mass, ε = {epsilon}", "1", total),
            fails=total > 1.005,
            because="With this set the refined law has more mass than 1. "
            "P(U_u) is (1 − α_d)/(α_u − α_d), as Table 5.5 itself has it.",
        )
        yield formula(row, f"core, ε = {epsilon}", says, high - low, right, within=1e-9)


def between_factor(_: Data) -> Iterator[Cell]:
    """Where no ball has the wanted mass, the factor of the rest is printed as 0/0."""
    belief = prior.Points({0: "0.3", 1: "0.4", 2: "0.3"})
    law: Any = refine(belief, 1, 1, kind="individual")
    shares = [float(law.mass(v) / belief.mass(v)) for v in (0, 1, 2)]
    bounded = all(Q - 1e-12 <= share <= E + 1e-12 for share in shares)
    says, inside = "between α_d and α_u", bounded and max(shares) < E
    yield refuted(
        *("α_ud of Algorithm 5.1", "three values", "a number", "0/0"),
        fails=sum(law.mass(v) for v in (0, 1, 2)) == 1 and bounded,
        because="The factor of the rest is (1 − α_u P(U'_u) − α_d P(U'_d)) / "
        "(1 − P(U'_u) − P(U'_d)).",
    )
    yield claimed("corrected factors", "three values", says, max(shares), holds=inside)


def moved_mass(_: Data) -> Iterator[Cell]:
    """How much mass a δ lets move: figure 5.2 moves twice too much, figure 5.3 half too much."""
    column = "δ at ε = ln 2"
    alone, pairs = smallest_delta(Fraction(1, 5)), pair_delta(Fraction(1, 10))
    ours, ours_pairs = smallest_delta(Fraction(1, 10)), pair_delta(Fraction(1, 15))
    yield amended(
        *("moves δ (individual)", column, "0.2", alone),
        right="0.4",
        because="Against the prior the moved mass counts e^ε times: move δ·e^-ε.",
    )
    yield met("moves δ·e^-ε", column, "0.2", ours, right="0.2")
    yield amended(
        *("moves δ/2 (statistical)", column, "0.2", pairs),
        right="0.3",
        because="Between two truths it counts 1 + e^ε times: move δ/(1 + e^ε).",
    )
    yield met("moves δ/(1 + e^ε)", column, "0.2", ours_pairs, right="0.2")


def parallel(_: Data) -> Iterator[Cell]:
    """Parallel composition over parts chosen by value: a replaced record changes two of them."""
    law = Laplace(sensitivity=1, epsilon=1)
    moved = law.loss(1) + law.loss(-1)
    ratios = [joint(0, 0, pair) / joint(1, 0, pair) for pair in PAIRS]
    alone = math.log(max(max(ratio, 1 / ratio) for ratio in ratios))
    yield refuted(
        *("counts of x < ½ and x ≥ ½", "loss, one record replaced", "max ε = 1", moved),
        fails=moved > 1.5,
        because="The record leaves one part and enters the other: both counts move. Parts "
        "fixed by identity compose in parallel; parts by value only under add or remove.",
    )
    yield refuted(
        *("one person, other value", "loss, replace", "ε = 1", alone),
        fails=1 + 1e-9 < alone <= 2,
        because="An individual question is ε-DP under add or remove; "
        "replacing a person costs up to 2ε.",
    )


ERRATA = (
    erratum("err.masses", "Algorithm 5.1 swaps two masses", swapped, source="section 5.2"),
    erratum("err.between", "Algorithm 5.1 divides 0 by 0", between_factor, source="section 5.2"),
    erratum("err.delta", "How much mass a δ lets move", moved_mass, source="section 5.2"),
    erratum(
        *("err.parallel", "Parts chosen by value do not compose in parallel", parallel),
        source="Proposition 4, section 6.3",
    ),
)
