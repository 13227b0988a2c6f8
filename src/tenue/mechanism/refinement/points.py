"""A belief with points, refined."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import lcm
from typing import Any

import numpy as np

from ...arguments import Number, law_epsilon
from ...errors import refuse
from ...noise.law import checked_source
from ...noise.source import Source
from ...prior.belief import Finite, shown_value, shown_values
from ...prior.distance import Metric
from ...prior.normalise import checked_size, picks
from .update_factors import Factors, power_below


def log_of(ratio: Fraction) -> float:
    """The logarithm of a rational, rounded to the nearest double: never above a rounded ε."""
    with localcontext() as context:
        context.prec = 60 + (ratio.numerator // ratio.denominator).bit_length() // 3
        return float((Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln())


class Refined:
    """The common part of refined laws over points and over a density."""

    prior: Any
    _factors: Factors

    @property
    def factor_up(self) -> Fraction:
        """The factor near the truth; public, for it depends on epsilon and the kind only."""
        return self._factors.up

    @property
    def factor_down(self) -> Fraction:
        """The factor far from the truth; public, for it depends on epsilon and the kind only."""
        return self._factors.down

    def ratio_against(self, other_truth: object) -> Fraction | None:
        """The largest ratio of probabilities between this truth and another, either way; exact."""
        raise NotImplementedError

    def loss_against(self, other_truth: object) -> float:
        """The privacy loss between this truth and another: the largest |log-ratio|; exact."""
        ratio = self.ratio_against(other_truth)
        return float("inf") if ratio is None else log_of(ratio)

    def __repr__(self) -> str:
        factors = self._factors
        return f"Refined({self.prior!r}, epsilon={float(factors.epsilon):g}, kind={factors.kind!r})"


class RefinedPoints(Refined):
    """The refined law over the values of a prior: exact rational masses.

    Guarantee
        Only a sample may leave, for the law reveals the truth: its core is centred on it. Masses
        add up to exactly 1; without delta every factor lies in [factor_down, factor_up]; the
        probability of being within any distance of the truth is never below the prior's.
    """

    def __init__(
        self,
        prior: Finite,
        metric: Metric,
        factors: Factors,
        weights: Sequence[int],
        total: int,
        core: tuple[int, ...],
    ) -> None:
        self.prior = prior
        self._metric = metric
        self._factors = factors
        self._weights = weights
        self._total = total
        self._core = core

    @classmethod
    def of(cls, prior: Finite, metric: Metric, factors: Factors, truth: object) -> RefinedPoints:
        """The law for one truth; the unmodified prior if the truth has no place in it."""
        keys = None if truth is None else metric.keys(truth)
        if keys is None:  # one shell: the same walk, and every factor is 1
            keys = np.zeros(len(prior.values), dtype=np.int64)
        order = np.argsort(keys, kind="stable").tolist()
        sorted_keys = keys[order].tolist()
        near = [prior.weights[place] for place in order]
        sums = list(accumulate(near))
        total = prior.total
        # the largest ball whose mass does not exceed the core's; then the one shell in between
        wanted = factors.core_mass * total
        end = bisect_right(sums, wanted)
        if end < len(order):
            end = bisect_left(sorted_keys, sorted_keys[end])
        inside = sums[end - 1] if end else 0
        shell = end if inside == wanted else bisect_right(sorted_keys, sorted_keys[end])
        between = (sums[shell - 1] if shell else 0) - inside
        scale = lcm(factors.up.denominator, factors.down.denominator)
        up, down = int(factors.up * scale), int(factors.down * scale)
        rest = total * scale - up * inside - down * (total - inside - between)
        span = between or 1
        refined = [weight * up * span for weight in near[:end]]
        refined += [weight * rest for weight in near[end:shell]]
        refined += [weight * down * span for weight in near[shell:]]
        new_total = total * scale * span
        if factors.moved:
            refined, new_total = _moved(refined, new_total, near, sorted_keys, end, factors.moved)
        weights = [0] * len(order)
        for place, weight in zip(order, refined, strict=True):
            weights[place] = weight
        return cls(prior, metric, factors, weights, new_total, tuple(sorted(order[:end])))

    # -- facts that depend on the truth: for the holder only --------------------------------------

    @property
    def core(self) -> tuple[Any, ...]:
        """The values that were raised by `factor_up`. Never show it: it is centred on the truth."""
        return tuple(shown_value(self.prior.values[place]) for place in self._core)

    def mass(self, value: object) -> Fraction:
        """The exact probability that the answer is `value`."""
        place = self.prior.places.get(self.prior.canonical(value))
        return Fraction(0) if place is None else Fraction(self._weights[place], self._total)

    @property
    def masses(self) -> dict[Any, Fraction]:
        """The exact probability of every value of the prior."""
        pairs = zip(self.prior.values, self._weights, strict=True)
        return {value: Fraction(weight, self._total) for value, weight in pairs}

    def cdf(self, x: object) -> Fraction:
        """P(answer ≤ x), for beliefs about numbers."""
        limit = self.prior.canonical(x)
        if not isinstance(limit, Fraction):
            raise refuse("mechanism.cdf-without-numbers")
        end = bisect_right(self.prior.values, limit)
        return Fraction(sum(self._weights[:end]), self._total)

    # -- losses ------------------------------------------------------------------------------------

    def _other(self, other_truth: object) -> RefinedPoints:
        return RefinedPoints.of(self.prior, self._metric, self._factors, other_truth)

    def ratio_against(self, other_truth: object) -> Fraction | None:
        """The largest ratio of masses between this truth and another, either way; exact.

        `other_truth` None means an absent person: the unmodified prior. The result is None if one
        law has answers that are impossible under the other, which happens only with delta.
        """
        other = self._other(other_truth)
        top = bottom = 1
        for mine, theirs in set(zip(self._weights, other._weights, strict=True)):
            large, small = sorted((mine * other._total, theirs * self._total), reverse=True)
            if large and not small:
                return None
            if large * bottom > top * small:
                top, bottom = large, small
        return Fraction(top, bottom)

    def divergence_against(self, other_truth: object, epsilon: Number | None = None) -> Fraction:
        """The δ that this truth and another need at `epsilon` (or the law's own), either way.

        The hockey-stick divergence Σ max(0, P − e^ε·Q), with e^ε rounded down by 2^-96: never too
        small.
        """
        other = self._other(other_truth)
        level = self._factors.epsilon if epsilon is None else law_epsilon(epsilon)
        power = power_below(level)
        both = []
        for one, two in ((self, other), (other, self)):
            left, right = two._total * power.denominator, one._total * power.numerator
            pairs = zip(one._weights, two._weights, strict=True)
            excess = sum(max(0, mine * left - theirs * right) for mine, theirs in pairs)
            both.append(Fraction(excess, one._total * left))
        return max(both)

    # -- the answer --------------------------------------------------------------------------------

    @cached_property
    def _cumulative(self) -> list[int]:
        return list(accumulate(self._weights))

    def sample(self, size: int | None = None, source: Source | None = None) -> Any:
        """Independent exact draws: the only thing that may be shown."""
        places = picks(self._cumulative, checked_size(size), checked_source(source))
        drawn = [self.prior.values[place] for place in places]
        return shown_value(drawn[0]) if size is None else shown_values(drawn)

    def draw(self, source: Source) -> Any:
        """One answer, exactly as it stands among the prior's values."""
        return self.prior.values[picks(self._cumulative, 1, source)[0]]


def _moved(
    refined: list[int], total: int, near: list[int], keys: list[int], end: int, wanted: Fraction
) -> tuple[list[int], int]:
    """Moves mass from the farthest shells to the nearest one, in proportion to the prior there.

    The nearest shell and the raised core give nothing, so at most the mass beyond them moves.
    """
    first = bisect_right(keys, keys[0])
    refined = [weight * wanted.denominator for weight in refined]
    left = wanted.numerator * total
    total *= wanted.denominator
    moved, stop = 0, len(keys)
    while left and stop > max(first, end):
        start = bisect_left(keys, keys[stop - 1])
        shell = sum(refined[start:stop])
        if shell <= left:
            refined[start:stop] = [0] * (stop - start)
            moved, left, stop = moved + shell, left - shell, start
        else:  # the last shell gives the same share at each of its points
            shrunk = [weight * (shell - left) for weight in refined[start:stop]]
            refined = [weight * shell for weight in refined]
            refined[start:stop] = shrunk
            total, moved, left = total * shell, (moved + left) * shell, 0
    here = sum(near[:first])
    refined = [weight * here for weight in refined]
    refined[:first] = [
        weight + moved * mass for weight, mass in zip(refined[:first], near[:first], strict=True)
    ]
    return refined, total * here
