"""The Gaussian law on a grid: the noise of many answers from one budget in rho."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ..arguments import Number, checked_call, exact, moderate
from ..errors import refuse
from .enclosure import Enclosure, exp_minus
from .law import GridLaw, Ints, Real, checked_steps, like, real_array
from .samplers import LARGEST, geometric, signs, uniform
from .source import Source
from .table import Table

_REACH = 5
"""Deviations that the table covers; the rest, less than 10^-6, is drawn apart."""
_CELLS = 256
"""Cells for each deviation, where it has more steps than that."""
_EXACT_SUMS = 1024
"""Up to this deviation, sums go over all steps; beyond, over the integral and its corrections."""
_ALL = 40
"""Doubles hold no mass beyond so many deviations."""
_DOUBT = 2.0**-40
"""Far above the error of an exponential in doubles: closer comparisons are made exactly."""


class DiscreteGaussian(GridLaw):
    """Adds k grid steps with probability proportional to e^(-k²/(2σ²)).

    Guarantee
        ρ-zero-concentrated differential privacy with ρ = Σ μⱼ²/(2σ²) when one unit moves values on
        the grid by μⱼ each, and each gets independent noise: give `sensitivity`, the largest L2
        norm of such a move, and `rho`. It has no epsilon without a delta: `loss` is infinite,
        `delta(epsilon, shift)` is exact for one value.

    Parameters
        sigma: the deviation, finite, above 0; or
        sensitivity, rho: both finite, above 0: σ² = sensitivity²/(2·rho), as if sensitivity were
            rounded up to whole grid steps.
        grid: the step; values are its multiples.

    Example
        >>> law = DiscreteGaussian(sensitivity=1, rho="0.5")
        >>> round(law.variance, 6), law.interval(0.95), law.rho(1)
        (1.0, (-2, 2), Fraction(1, 2))
        >>> round(law.delta(epsilon=1, shift=1), 4)
        0.1414

    Source
        Canonne, Kamath and Steinke 2020.
    """

    @checked_call
    def __init__(
        self,
        *,
        sigma: Number | None = None,
        sensitivity: Number | None = None,
        rho: Number | None = None,
        grid: Number = 1,
    ) -> None:
        self.grid = moderate(grid, "grid")
        self._given: dict[str, Number] = {}
        if sigma is not None and sensitivity is None and rho is None:
            self._given = {"sigma": sigma}
            self._square = (moderate(sigma, "sigma") / self.grid) ** 2
        elif sigma is None and sensitivity is not None and rho is not None:
            self._given = {"sensitivity": sensitivity, "rho": rho}
            moved = checked_steps(moderate(sensitivity, "sensitivity"), self.grid, "sensitivity")
            self._square = Fraction(moved**2) / (2 * moderate(rho, "rho"))
        else:
            raise refuse("noise.gaussian-scale")
        self._deviation = math.sqrt(self._square)
        if self._deviation >= LARGEST >> 6:
            raise refuse("noise.noise-scale-too-large", value=self._deviation, largest=LARGEST >> 6)

    @property
    def sigma(self) -> float:
        """σ, in units of the answer; the deviation is slightly less where σ is few steps."""
        return self._deviation * float(self.grid)

    # -- privacy -------------------------------------------------------------------------------

    def rho(self, shift: Number) -> Fraction:
        """The ρ of zero-concentrated differential privacy for a shift by whole grid steps."""
        return Fraction(self._whole(shift)) ** 2 / (2 * self._square)

    def renyi(self, alpha: float, shift: Number) -> float:
        """The Rényi divergence of order alpha > 1 between the law and itself moved by `shift`.

        At most alpha·rho(shift): the sum of the masses' powers is e^(α(α-1)μ²/2σ²) times a theta
        series moved by (1-α)μ, which is largest where it is moved by a whole number.
        """
        moved = self._whole(shift)
        off = (1 - alpha) * moved
        square = float(self._square)
        series = _theta(square, off - round(off)) / _theta(square)
        return alpha * moved**2 / (2 * square) + math.log(series) / (alpha - 1)

    def delta(self, epsilon: Number, shift: Number) -> float:
        """The least delta with which a shift of one value is (epsilon, delta)-indistinguishable.

        The hockey-stick divergence: P(K ≤ t) - e^ε·P(K ≤ t - μ), where t is the last step at which
        the masses have a ratio above e^ε.
        """
        moved, spent = self._whole(shift), exact(epsilon, "epsilon")
        if moved == 0:
            return 0.0
        edge = (moved**2 - 2 * spent * self._square) / (2 * moved)
        last = math.ceil(edge) - 1
        return max(0.0, self._below(last) - math.exp(spent) * self._below(last - moved))

    def _whole(self, shift: Number) -> int:
        steps = abs(exact(shift, "shift")) / self.grid
        if steps.denominator != 1:
            raise refuse("noise.gaussian-shift-off-grid", shift=shift, grid=float(self.grid))
        return int(steps)

    def _below(self, step: int) -> float:
        """P(K ≤ step)."""
        tail = float(self._tail(np.asarray(float(max(abs(step), 1))))) / 2
        if step < 0:
            return tail
        return 1 - tail + self.mass(step) if step else 1 - tail

    def _loss_of_steps(self, steps: Fraction) -> float:
        return math.inf if steps else 0.0

    # -- formulas ------------------------------------------------------------------------------

    def mass(self, i: Any) -> Any:
        k = real_array(i, "i")
        return like(i, np.where(k == np.floor(k), _density(float(self._square), k), 0.0))

    def _tail(self, m: Real) -> Real:
        if self._deviation <= _EXACT_SUMS:
            sums = _suffix_sums(self._square)
            return np.asarray(2 * sums[np.minimum(m, sums.size - 1).astype(np.int64)])
        with np.errstate(under="ignore", over="ignore", invalid="ignore"):
            square = float(self._square)
            x = np.minimum(m, _ALL * self._deviation)
            fall = x / square  # -f'/f, which is small
            series = 1 / 2 + fall / 12 - (fall**3 - 3 * fall / square) / 720
            beyond = np.frompyfunc(math.erfc, 1, 1)(x / (self._deviation * math.sqrt(2)))
            whole = self._deviation * math.sqrt(math.pi / 2) * np.asarray(beyond, np.float64)
            tails = 2 * (whole / _theta(square) + _density(square, x) * series)
        return np.where(m > x, 0.0, tails)

    @property
    def _moments(self) -> tuple[float, float]:
        square = float(self._square)
        if self._deviation <= _EXACT_SUMS:
            k = np.arange(1.0, _ALL * self._deviation + 2)
            masses = 2 * _density(square, k)
            return float((k * masses).sum()), float((k**2 * masses).sum())
        # Euler and Maclaurin; the corrections of the second moment are below any double
        first = square - 1 / 12 - 1 / (240 * square)
        return 2 * first / _theta(square), square

    # -- draws ---------------------------------------------------------------------------------

    def _draw(self, size: int, source: Source) -> Ints:
        drawn, kept = self._proposed(size, source)
        open_ = np.flatnonzero(~kept)
        while open_.size:
            again, kept = self._proposed(open_.size, source)
            drawn[open_[kept]] = again[kept]
            open_ = open_[~kept]
        return drawn

    def _proposed(self, size: int, source: Source) -> tuple[Ints, Any]:
        """Steps, and whether each is kept.

        A cell is proposed with the mass of its step nearest to 0, a step of the cell evenly, and
        kept with its own mass over that: e^(-γ), γ·2σ² being the product of the step's distance
        from the cell's first one and of their sum; in the last cell the square of that distance.
        """
        table, cell, last = _table(self._square)
        cells = table.draw(size, source)
        steps = cells.astype(np.int64)
        kept = np.ones(size, np.bool_)
        if cell > 1:
            off = uniform(cell, size, source)
            steps *= cell
            steps += off
            # the chance is nearly 1, so that 16 bits of a word mostly decide
            first = source.words(size, 16)
            sure = int(math.exp(-(last + 1) * cell * cell / float(self._square)) * 65535) - 1
            close = np.flatnonzero((first >= sure) & (cells != last))
            rest = source.words(close.size, 64) & np.uint64((1 << 48) - 1)
            words = first[close].astype(np.uint64) << np.uint64(48) | rest
            kept[close] = self._accepted(words, off[close], 2 * steps[close] - off[close], source)
        far = np.flatnonzero(cells == last)
        if far.size:
            off = geometric(last * cell / self._square, far.size, source)
            steps[far] = last * cell + off
            kept[far] = self._accepted(source.words(far.size, 64), off, off, source)
        sign = signs(size, source)
        if cell > 1:  # where cells are steps, the table has half of the first
            kept &= (steps > 0) | (sign > 0)
        steps *= sign
        return steps, kept

    def _accepted(self, words: Any, one: Ints, other: Ints, source: Source) -> Any:
        """True with probability e^(-one·other / 2σ²), exactly."""
        drawn = words * 2.0**-64
        power = one.astype(np.float64) * other.astype(np.float64) / (2 * float(self._square))
        chance = np.exp(-power)
        kept = drawn < chance
        for close in np.flatnonzero(np.abs(drawn - chance) <= _DOUBT):
            product = Fraction(int(one[close]) * int(other[close]))
            kept[close] = _below_exp(int(words[close]), product / (2 * self._square), source)
        return kept

    def _check_draw(self) -> None:
        _table(self._square)

    def on_grid(self, grid: Number) -> DiscreteGaussian:
        """The same deviation on another grid."""
        return DiscreteGaussian(**self._given, grid=grid)

    def __repr__(self) -> str:
        return f"DiscreteGaussian(sigma={self.sigma:g}, grid={float(self.grid):g})"


@lru_cache(maxsize=64)
def _table(square: Fraction) -> tuple[Table, int, int]:
    """What proposes cells, the width of a cell in steps, and the number of the open last one.

    The last cell has no end: a geometric law, kept less often the farther out, proposes there.
    Every step but 0 is drawn with two signs, so the step 0 has half the weight of another; where
    cells have more steps, 0 with a negative sign is not kept instead.
    """
    cell = max(1, math.isqrt(int(square)) // _CELLS)
    last = math.ceil(_REACH * math.sqrt(square) / cell)
    first = last * cell

    def cumulative(bits: int) -> list[Enclosure]:
        work = bits + 32
        falls = [exp_minus(Fraction((h * cell) ** 2) / (2 * square), work) for h in range(last + 1)]
        beyond = falls.pop() / exp_minus(Fraction(first) / square, work).from_one()
        sums, total = [], Enclosure.of(0, work)
        for h, fall in enumerate(falls):
            total += fall.times(1 if cell == 1 and h == 0 else 2 * cell)
            sums.append(total)
        whole = total + beyond.times(2)
        ratios = [each / whole for each in sums]
        return [Enclosure(r.low >> 32, -(-r.high >> 32), bits) for r in ratios]

    return Table(cumulative), cell, last


@lru_cache(maxsize=64)
def _suffix_sums(square: Fraction) -> Real:
    """P(K ≥ m) for m = 0 …, added from the far end, and 0."""
    masses = _density(float(square), np.arange(0.0, _ALL * math.sqrt(square) + 2))
    return np.append(np.cumsum(masses[::-1])[::-1], 0.0)


def _density(square: float, k: Real) -> Real:
    with np.errstate(under="ignore", over="ignore"):
        return np.asarray(np.exp(-(k**2) / (2 * square)) / _theta(square))


@lru_cache(maxsize=256)
def _theta(square: float, off: float = 0.0) -> float:
    """Σ e^(-(k - off)²/(2σ²)) over whole k, |off| ≤ 1/2; by Poisson's formula where σ ≥ 1."""
    if square < 1:
        k = np.arange(-_ALL, _ALL + 1)
        with np.errstate(under="ignore"):
            return float(np.exp(-((k - off) ** 2) / (2 * square)).sum())
    waves = sum(
        2 * math.exp(-2 * math.pi**2 * square * n**2) * math.cos(2 * math.pi * n * off)
        for n in (1, 2, 3)
    )
    return math.sqrt(2 * math.pi * square) * (1 + waves)


def _below_exp(word: int, power: Fraction, source: Source) -> bool:
    """Whether a uniform number that begins with the 64 bits of a word is below e^-power."""
    bits = 64
    while True:
        fall = exp_minus(power, bits + 32)
        if (word + 1) << 32 <= fall.low:
            return True
        if word << 32 >= fall.high:
            return False
        bits += 64
        word = word << 64 | int(source.words(1, 64)[0])
