"""The discrete Gaussian: its exact draw, its divergences, and what a wrong one would show."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import exp as mp_exp
from mpmath import mp, mpf

from tenue.errors import InvalidArgument
from tenue.noise import DiscreteGaussian, Seeded
from tenue.noise import discrete_gaussian as module
from tenue.noise.discrete_gaussian import _table

Array = np.ndarray[Any, Any]
ALPHAS = (1.01, 1.5, 2.0, 3.0, 7.5, 20.0, 100.0)
SCALES = (Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40))


def drawn_law(square: Fraction, reach: int) -> list[mpf]:
    """The law of a proposal that is kept, from the table's own thresholds and the chances that
    the draw states; for steps from 0 to `reach`, which all lie before the last cell."""
    table, cell, last = _table(square)
    thresholds = [0, *map(int, table.thresholds), 1 << 64]
    with mp.workdps(40):
        found = []
        for step in range(reach + 1):
            h, off = divmod(step, cell)
            assert h < last
            proposed = mpf(thresholds[h + 1] - thresholds[h]) / 2**64 / cell
            power = Fraction(off * (2 * h * cell + off)) / (2 * square)
            kept = mp_exp(-mpf(power.numerator) / power.denominator)
            signs = 1 if cell == 1 and step == 0 else 2
            found.append(proposed * kept / signs)
        return [each / found[0] for each in found]


@pytest.mark.parametrize("sigma", SCALES)
@pytest.mark.parametrize("cells", [256, 2])
def test_each_step_is_drawn_with_its_own_mass(
    sigma: Fraction, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proposed times kept, up to a constant: to 2^-64, which is what a word tells."""
    _table.cache_clear()
    monkeypatch.setattr(module, "_CELLS", cells)
    law = DiscreteGaussian(sigma=sigma)
    reach = math.floor(4 * sigma)
    masses = [mp_exp(-mpf(k * k) / (2 * mpf(float(sigma**2)))) for k in range(reach + 1)]
    found = drawn_law(sigma**2, reach)
    _table.cache_clear()
    for one, other in zip(found, masses, strict=True):
        assert float(one) == pytest.approx(float(other), rel=1e-9)
    assert law.mass(reach) / law.mass(0) == pytest.approx(float(masses[-1]), rel=1e-12)


class Words:
    """64-bit words as given, then those of a seeded source."""

    safe = False

    def __init__(self, *words: int) -> None:
        self._words = list(words)
        self._rest = Seeded(1)
        self.asked = 0

    def words(self, count: int, bits: int = 64) -> Array:
        self.asked += 1
        if self._words:
            taken, self._words = self._words[:count], self._words[count:]
            return np.array(taken, dtype=f"u{bits // 8}")
        return self._rest.words(count, bits)


@pytest.mark.parametrize("off", [1, 2, 5])
def test_a_comparison_that_doubles_cannot_decide_is_made_exactly(off: int) -> None:
    """Words just below and above e^-γ·2^64, closer than a double tells."""
    law = DiscreteGaussian(sigma=7)
    with mp.workdps(60):
        chance = mp_exp(-mpf(off * off) / 98)
        border = int(chance * 2**64)
    factors = np.array([off]), np.array([off])
    for word, kept in ((border - 1, True), (border + 1, False), (border - 3000, True)):
        source = Words()
        words = np.array([word], dtype=np.uint64)
        assert law._accepted(words, *factors, source).tolist() == [kept]
        assert source.asked == 0
    # the word that holds the border is decided by further bits
    with mp.workdps(60):
        further = int((chance * 2**64 - border) * mpf(2) ** 64)
    for more, kept in ((further - 1, True), (further + 1, False)):
        found = law._accepted(np.array([border], dtype=np.uint64), *factors, Words(more))
        assert found.tolist() == [kept]


def test_a_draw_beyond_the_table_goes_on() -> None:
    """The last cell is open: no step is impossible."""
    law = DiscreteGaussian(sigma=2)
    _, _, last = _table(law._square)

    class Last(Words):
        """The largest word first, which stands for the last cell."""

        def words(self, count: int, bits: int = 64) -> Array:
            if self.asked < 2:  # 16 bits, and 48 more
                self.asked += 1
                return np.full(count, (1 << bits) - 1, dtype=f"u{bits // 8}")
            return self._rest.words(count, bits)

    assert abs(law.steps(source=Last())) >= last


def summed_renyi(law: DiscreteGaussian, alpha: float, shift: int) -> float:
    """From the masses, added with mpmath."""
    with mp.workdps(60):
        square = mpf(law._square.numerator) / law._square.denominator
        reach = math.ceil(60 * math.sqrt(float(square)) + alpha * shift + 5)
        weights = {k: mp_exp(-mpf(k * k) / (2 * square)) for k in range(-reach, reach + 1)}
        total = sum(weights.values())

        def powers(k: int) -> Any:
            other = mp_exp(-mpf((k - shift) ** 2) / (2 * square))
            return weights[k] ** mpf(alpha) * other ** (1 - mpf(alpha))

        return float(mp.log(sum(map(powers, weights)) / total) / (mpf(alpha) - 1))


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(1), Fraction(13, 4)])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_renyi_divergence_of_the_masses_is_at_most_alpha_rho(sigma: Fraction, shift: int) -> None:
    """Mutants: sigma 3 % too small at the same claim; the L1 norm in place of the L2 norm."""
    law, small = DiscreteGaussian(sigma=sigma), DiscreteGaussian(sigma=sigma * Fraction(97, 100))
    claimed = float(law.rho(shift))
    for alpha in ALPHAS:
        found = law.renyi(alpha, shift)
        if alpha <= 20:
            assert found == pytest.approx(summed_renyi(law, alpha, shift), rel=1e-9)
        assert found <= alpha * claimed * (1 + 1e-12)
    assert max(small.renyi(a, shift) - a * claimed for a in ALPHAS) > 0


def test_several_values_add_their_squares() -> None:
    """A unit that moves two values by 1 each costs 2·1/(2σ²): an L2 sensitivity of √2."""
    law = DiscreteGaussian(sensitivity=Fraction(3, 2), rho="0.1")  # rounded up to 2 steps
    assert law._square == Fraction(4) / Fraction(2, 10)
    assert law.rho(2) == Fraction(1, 10)
    assert 2 * law.rho(1) == Fraction(1, 20)


def summed_delta(law: DiscreteGaussian, epsilon: float, shift: int) -> float:
    k = np.arange(-4000, 4001)
    return float(np.maximum(law.mass(k) - math.exp(epsilon) * law.mass(k - shift), 0).sum())


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(1), Fraction(9, 2), Fraction(60)])
@pytest.mark.parametrize("shift", [1, 3])
@pytest.mark.parametrize("epsilon", ["0", "0.1", "1", "4"])
def test_delta_is_the_hockey_stick_divergence(sigma: Fraction, shift: int, epsilon: str) -> None:
    law = DiscreteGaussian(sigma=sigma)
    summed = summed_delta(law, float(epsilon), shift)
    assert law.delta(epsilon, shift) == pytest.approx(summed, rel=1e-8, abs=1e-13)
    assert law.delta(epsilon, -shift) == law.delta(epsilon, shift)


@pytest.mark.parametrize("sigma", [1025, 5000, 10**6])
def test_formulas_of_wide_laws_agree_with_sums(sigma: int) -> None:
    """Beyond 1,024 steps sums are integrals with corrections."""
    law = DiscreteGaussian(sigma=sigma)
    for m in (1, sigma // 7, sigma, 5 * sigma, 12 * sigma):
        terms = np.arange(m, m + 9 * sigma // (1 + m // sigma) + 10**4) if sigma <= 5000 else None
        if terms is not None:
            k = np.arange(m, 40 * sigma)
            summed = 2 * float(np.sort(law.mass(k)).sum())
            assert float(law._tail(np.array([float(m)]))[0]) == pytest.approx(summed, rel=1e-11)
    first = 2 * float(np.sum((k := np.arange(40 * 1025)) * DiscreteGaussian(sigma=1025).mass(k)))
    assert DiscreteGaussian(sigma=1025).mean_absolute_error == pytest.approx(first, rel=1e-12)
    assert law.variance == pytest.approx(sigma**2, rel=1e-15)


def test_what_states_the_scale_twice_or_not_at_all_is_refused() -> None:
    for given in ({}, {"sigma": 1, "rho": 1}, {"sensitivity": 1}, {"rho": 1}):
        with pytest.raises(InvalidArgument, match="sigma"):
            DiscreteGaussian(**given)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="grid"):
        DiscreteGaussian(sigma=1, grid=2).rho(1)
    with pytest.raises(InvalidArgument, match="scale"):
        DiscreteGaussian(sigma=10**18)


def test_a_coarser_grid_rounds_the_sensitivity_up() -> None:
    law = DiscreteGaussian(sensitivity="1.5", rho="0.5", grid="0.5")
    assert law.sigma == 1.5
    assert law.on_grid(1).sigma == 2
    assert DiscreteGaussian(sigma=3).on_grid("0.5").sigma == 3
