"""When a box of a tree is split, and exactly what all these decisions together tell.

A box that holds c records and lies below t earlier decisions is split if

    max(c − t·bias, −bias) + noise > 0,

with noise of mass proportional to e^(−rate·|k|) on whole numbers. A record is counted by the boxes
of one path only. Along a path counts never rise and t rises by one, so the biased counts x fall by
`bias` or more from one decision to the next, down to −bias, where they no longer follow the record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ...errors import refuse
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.enclosure import exp_minus
from ...noise.source import Source

_BITS = 128
_TERMS = 12
_FINENESS = 1024


@dataclass(frozen=True)
class SplitLaw:
    """Decides which boxes are split; the same law for every box of a tree.

    Guarantee
        All decisions of a tree together are `loss`-differentially private when one record is
        replaced by another and the number of records is public, whatever the fan-outs are.
    """

    rate: Fraction
    bias: int

    @classmethod
    def within(cls, budget: Fraction, fan_out: int) -> SplitLaw:
        """The law with the least noise whose loss keeps within the budget.

        `fan_out` is the greatest number of parts of a box. The bias is large enough for empty boxes
        to have less than half an offspring on average, so that noise alone grows no tree.
        """
        return _within(budget, fan_out)

    @cached_property
    def loss(self) -> Fraction:
        """No less than the greatest log-ratio of the law of all decisions, and hardly more.

        The record that leaves lowers the counts of one path, the one that comes raises those of
        another, and boxes that hold both are as before. Let a = e^-rate and f(x) the chance of a
        split. Where a record left, splits became less likely, and only the last box of the path,
        which is not split, weighs in, by (1 − f(x−1))/(1 − f(x)) ≤ 1/a. Where one came, the splits
        weigh in, each by f(x+1)/f(x): 1/a for −bias ≤ x ≤ 0, falling for x > 0, and nothing below.
        So the worst path meets −bias, 0, bias, 2·bias and so on.
        """
        return 3 * self.rate + self._above

    @property
    def _above(self) -> Fraction:
        """A bound on Σ ln(f(x+1)/f(x)) over x = bias, 2·bias, …, f(x) = 1 − a^x/(1+a)."""
        low, _ = self._power(1)
        total = Fraction(0)
        for m in range(1, _TERMS + 1):
            _, fallen = self._power(m * self.bias)
            ratio = fallen * (1 - low) / (1 + low - fallen)
            total += ratio - ratio**2 / 2 + ratio**3 / 3  # ln(1 + ratio) is less
        _, step = self._power(self.bias)
        return total + fallen * step / (1 - step) * (1 - low) / (1 + low - step)

    def _power(self, steps: int) -> tuple[Fraction, Fraction]:
        found = exp_minus(self.rate * steps, _BITS)
        return Fraction(found.low, 1 << _BITS), Fraction(found.high, 1 << _BITS)

    def require_within(self, budget: Fraction) -> SplitLaw:
        """Refuses a law whose decisions tell more than the budget."""
        if self.loss > budget:
            raise refuse(
                "microdata.tree-decisions-over-budget", loss=float(self.loss), budget=float(budget)
            )
        return self

    def decide(
        self, counts: NDArray[np.int64], tests: NDArray[np.int64], source: Source
    ) -> NDArray[np.bool_]:
        """Which boxes are split, given how many records each holds and decisions are above it."""
        noise = DiscreteLaplace(sensitivity=1, epsilon=self.rate).steps(counts.size, source=source)
        biased = np.maximum(counts - tests * self.bias, -self.bias)
        return np.asarray(biased + noise > 0)

    def depth(self, rows: int, fan_out: int) -> int:
        """How many times boxes are split where records are spread evenly, but for noise."""
        depth = 0
        while rows > fan_out**depth * max(depth, 1) * self.bias:
            depth += 1
        return depth


@lru_cache(maxsize=256)
def _within(budget: Fraction, fan_out: int) -> SplitLaw:
    rates = (budget * k / _FINENESS for k in range(_FINENESS // 3, _FINENESS // 4, -1))
    laws = [SplitLaw(rate, math.ceil(math.log(fan_out) / float(rate))) for rate in rates]
    found = next((law for law in laws if law.loss <= budget), laws[-1])
    return found.require_within(budget)
