"""What chapter 5 gets wrong, each with a check that runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

from ... import prior
from ...mechanism import refine
from ...noise import Laplace
from ..cell import Cell, amended, claimed, met, refuted
from ..data import Data
from ..exhibit import erratum
from . import figures
from .figures import core, uniform
from .tables import BITS, Q, joint


def swapped(_: Data) -> list[Cell]:
    """Algorithm 5.1: the masses of the raised and the lowered set are exchanged."""
    cells = []
    for epsilon in ("0.1", "1", "2"):
        law = uniform(epsilon)
        up, down = float(law.factor_up), float(law.factor_down)
        printed = (up - 1) / (up - down)
        right = (1 - down) / (up - down)
        low, high = core(law)
        total = up * printed + down * (1 - printed)
        cells += [
            refuted(
                "P(U_u) = (α_u − 1)/(α_u − α_d)",
                f"total mass, ε = {epsilon}",
                "1",
                total,
                fails=total > 1.005,
                because="With that set the refined law has more mass than 1. "
                "P(U_u) is (1 − α_d)/(α_u − α_d), as Table 5.5 itself has it.",
            ),
            claimed(
                "P(U_u) = (1 − α_d)/(α_u − α_d)",
                f"core, ε = {epsilon}",
                "the mass raised",
                high - low,
                holds=math.isclose(high - low, right, rel_tol=1e-9),
            ),
        ]
    return cells


def between_factor(_: Data) -> list[Cell]:
    """Where no ball has the wanted mass, the factor of the rest is printed as 0/0."""
    belief = prior.Points({0: "0.3", 1: "0.4", 2: "0.3"})
    law = refine(belief, 1, 1, kind="individual")
    shares = [float(law.mass(v) / belief.mass(v)) for v in (0, 1, 2)]
    held = all(Q - 1e-12 <= share <= math.e + 1e-12 for share in shares)
    return [
        refuted(
            "α_ud of Algorithm 5.1",
            "three values",
            "a number",
            "0/0",
            fails=sum(law.mass(v) for v in (0, 1, 2)) == 1 and held,
            because="What is left over is (1 − α_u P(U'_u) − α_d P(U'_d)) / "
            "(1 − P(U'_u) − P(U'_d)).",
        ),
        claimed(
            "corrected factors",
            "three values",
            "between α_d and α_u",
            max(shares),
            holds=held and max(shares) < math.e,
        ),
    ]


def moved_mass(_: Data) -> list[Cell]:
    """How much may be moved for a δ: figures 5.2 and 5.3 move twice too much, and half too much."""
    alone, pairs = figures.smallest_delta(Fraction(1, 5)), figures.pair_delta(Fraction(1, 10))
    ours = figures.smallest_delta(Fraction(1, 10))
    ours_pairs = figures.pair_delta(Fraction(1, 15))
    return [
        amended(
            "moves δ (individual)",
            "δ at ε = ln 2",
            "0.2",
            alone,
            right="0.4",
            because="Against the prior the moved mass counts e^ε times: move δ·e^-ε.",
        ),
        met("moves δ·e^-ε", "δ at ε = ln 2", "0.2", ours, right="0.2"),
        amended(
            "moves δ/2 (statistical)",
            "δ at ε = ln 2",
            "0.2",
            pairs,
            right="0.3",
            because="Between two truths it counts 1 + e^ε times: move δ/(1 + e^ε).",
        ),
        met("moves δ/(1 + e^ε)", "δ at ε = ln 2", "0.2", ours_pairs, right="0.2"),
    ]


def parallel(_: Data) -> list[Cell]:
    """Parallel composition over parts chosen by value: a replaced record changes two of them."""
    law = Laplace(sensitivity=1, epsilon=1)
    moved = law.loss(1) + law.loss(-1)
    alone = math.log(max(_ratios(lambda a, b: joint(0, 0, a, b) / joint(1, 0, a, b))))
    return [
        refuted(
            "counts of x < ½ and x ≥ ½",
            "loss, one record replaced",
            "max ε = 1",
            moved,
            fails=moved > 1.5,
            because="The record leaves one part and enters the other: both counts move. Parts "
            "fixed by identity compose in parallel; parts by value only under add or remove.",
        ),
        refuted(
            "one person, other value",
            "loss, replace",
            "ε = 1",
            alone,
            fails=1 + 1e-9 < alone <= 2,
            because="An individual question is ε-DP under add or remove; "
            "replacing a person costs up to 2ε.",
        ),
    ]


def _ratios(of: Callable[[int, int], float]) -> Iterator[float]:
    for a, b in product(BITS, BITS):
        yield max(of(a, b), 1 / of(a, b))


EXHIBITS = (
    erratum("err.masses", "Algorithm 5.1 swaps two masses", "section 5.2", swapped),
    erratum("err.between", "Algorithm 5.1 divides 0 by 0", "section 5.2", between_factor),
    erratum("err.delta", "How much mass a δ lets move", "section 5.2", moved_mass),
    erratum(
        "err.parallel",
        "Parts chosen by value do not compose in parallel",
        "Proposition 4, section 6.3",
        parallel,
    ),
)
