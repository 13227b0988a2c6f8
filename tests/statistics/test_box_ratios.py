"""How much less noise the shaped vector law needs than the best scaled Laplace (soundness §2).

By formula and by simulation, for both shapes. The baseline has scale D·s_j/ε on each component.
"""

from __future__ import annotations

import zlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from alarm import BUDGET, SHARE, budget, claim, mean_within
from lattice import box_margin, same_margin
from tenue.noise import DiscreteLaplace, IndependentLaplace, OptimalBox, Seeded
from tenue.noise.source import SYSTEM

FILE = "statistics/test_box_ratios.py"
DIMENSIONS = (2, 3, 5, 10, 20)
PRINTED = {
    "any": dict(zip(DIMENSIONS, ("0.50", "0.37", "0.28", "0.22", "0.19"), strict=True)),
    "same": dict(zip(DIMENSIONS, ("0.42", "0.28", "0.19", "0.13", "0.105"), strict=True)),
}
CASES = [(signs, d) for signs in PRINTED for d in DIMENSIONS]


def half_digit(printed: str) -> float:
    return 0.5 * 10.0 ** -len(printed.partition(".")[2]) * (1 + 1e-9)


@pytest.mark.parametrize(("signs", "d"), CASES)
def test_the_limit_of_small_epsilon_is_the_printed_ratio(signs: Any, d: int) -> None:
    epsilon = Fraction(1, 1000)
    sensitivities = [1 + j % 3 for j in range(d)]  # the ratio does not depend on them
    law = OptimalBox(sensitivities=sensitivities, epsilon=epsilon, signs=signs)
    baseline = IndependentLaplace(scales=[d * s / epsilon for s in sensitivities])
    assert baseline.loss(sensitivities) == pytest.approx(float(epsilon), rel=1e-14)
    ratios = [v / w for v, w in zip(law.variance, baseline.variance, strict=True)]
    exact = (d + 1) * (d + 2) / (6 * d * d)
    if signs == "same":
        exact = (d + 2) * (d + 3) / (12 * d * d)
    assert ratios == pytest.approx([exact] * d, rel=1e-4)
    assert abs(ratios[0] - float(PRINTED[signs][d])) <= half_digit(PRINTED[signs][d])


@pytest.mark.parametrize("signs", ["any", "same"])
def test_many_components_gain_twelve_and_six_times_at_most(signs: Any) -> None:
    """The limits 1/12 and 1/6, approached from above."""
    limit = {"any": 1 / 6, "same": 1 / 12}[signs]
    ratios = []
    for d in (20, 40, 80):
        law = OptimalBox(sensitivities=[1] * d, epsilon="0.001", signs=signs)
        ratios.append(law.variance[0] / (2 * (d / 0.001) ** 2))
    assert ratios == sorted(ratios, reverse=True)
    assert limit < ratios[-1] < limit * 1.1


@pytest.mark.parametrize(("epsilon", "printed"), [(1, "0.129"), (8, "0.073")])
def test_ten_counts_improve_with_epsilon(epsilon: int, printed: str) -> None:
    """On whole steps, against discrete Laplace."""
    law = OptimalBox(sensitivities=[1] * 10, epsilon=epsilon, signs="same").on_grid(1)
    baseline = DiscreteLaplace(sensitivity=10, epsilon=epsilon)
    assert abs(law.variance[0] / baseline.variance - float(printed)) <= half_digit(printed)


@pytest.mark.parametrize(
    "fresh",
    [False, pytest.param(True, marks=[pytest.mark.slow, pytest.mark.random])],
    ids=["seeded", "fresh"],
)
@pytest.mark.parametrize(
    ("signs", "d", "epsilon"),
    [(signs, d, Fraction(1, 4)) for signs, d in CASES]
    + [("same", 10, Fraction(1)), ("same", 10, Fraction(8))],
)
def test_simulated_variance_is_the_printed_share_of_laplace(
    signs: Any, d: int, epsilon: Fraction, fresh: bool
) -> None:
    """Mean of min(x², c²) over the draws (bounded: Bernstein), plus the exact rest beyond c."""
    name = f"{signs} {d} {epsilon}"
    claim(FILE, name)
    law = OptimalBox(sensitivities=[1] * d, epsilon=epsilon, core=[0] * d, signs=signs).on_grid(1)
    e = float(epsilon)
    margin = box_margin([1] * d, [0] * d, 0, e) if signs == "any" else same_margin(1, d, 0, e)
    k = np.arange(margin.size, dtype=float)
    variance = float((k**2 * margin).sum())
    cut = float(np.sqrt(variance) * 6)
    cut_square = np.minimum(k, cut) ** 2
    expected = float((cut_square * margin).sum())
    spread = float((cut_square**2 * margin).sum()) - expected**2

    draws = law.steps(20_000, SYSTEM if fresh else Seeded(zlib.crc32(name.encode())))
    seen = float((np.minimum(np.abs(draws), cut) ** 2).mean())
    within = mean_within(20_000, spread, cut**2)  # the mean of D components spreads no more
    assert abs(seen - expected) <= within, budget(case=name, seen=seen, expected=expected)

    baseline = DiscreteLaplace(sensitivity=d, epsilon=epsilon).variance
    simulated = (seen + variance - expected) / baseline
    formula = law.variance[0] / baseline
    assert law.variance == pytest.approx([variance] * d, rel=1e-9)
    assert abs(simulated - formula) <= within / baseline, budget(ratio=simulated, formula=formula)
    for factor in (0.8, 1.25):  # 10 % of scale is 20 % of variance: this many draws must tell
        assert abs(simulated - formula * factor) > within / baseline, budget(ratio=simulated)
    printed = {1: "0.129", 8: "0.073"}.get(int(epsilon), PRINTED[signs][d])
    allowed = within / baseline + half_digit(printed) + 0.02 * float(printed)  # ε = 1/4, not 0
    assert abs(simulated - float(printed)) <= allowed, budget(ratio=simulated, printed=printed)


def test_the_budget_is_shared_not_multiplied() -> None:
    assert SHARE * 200 <= BUDGET * (1 + 1e-9)
