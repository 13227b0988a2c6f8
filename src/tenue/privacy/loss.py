"""What a release costs, as a value.

A promise is stated to people in exact numbers. A loss counts whole units of nano-epsilon and
atto-delta, so that sums are exact: a price is rounded up and a budget down, and rounding never
gives anything away. One integer drives both the law of the noise and the debit in the ledger. Only
this file and the ledger's stored facts know the units; other rooms add, compare, share and write
losses.

Source
    Sequential and parallel composition; to replace a record is to remove one and to add another,
    and two steps of (ε, δ) are (2ε, δ(1 + e^ε)) (group privacy).
"""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any, Self

from ..arguments import above_zero, exact
from ..errors import refuse
from ..text import exactly
from .promise import Approximate, Neighbours, Promise, Pure

NANO = 10**9
"""One epsilon is this many nano-epsilon."""
ATTO = 10**18
"""One delta is this many atto-delta."""
LARGEST = 10**15
"""The largest price or budget in nano-epsilon: a promise of epsilon above a million is none."""


class Loss(abc.ABC):
    """An amount of privacy: the price of an answer, what was spent, a budget, what is left of it.

    Losses of one kind, under one relation of neighbours, add up and compare. `<=` holds if every
    part is at most the other's, a partial order.
    """

    __slots__ = ()

    # -- composition ---------------------------------------------------------------------------

    @abc.abstractmethod
    def __add__(self, other: Self) -> Self:
        """Both, about the same units: sequential composition."""

    @abc.abstractmethod
    def __sub__(self, other: Self) -> Self:
        """Less a part of it: a price that is refunded, or paid from a larger one."""

    @abc.abstractmethod
    def __mul__(self, times: int) -> Self:
        """The same loss, `times` times."""

    def __rmul__(self, times: int) -> Self:
        return self * times

    @abc.abstractmethod
    def __floordiv__(self, shares: int) -> Self:
        """The largest loss that fits `shares` times."""

    @abc.abstractmethod
    def most(self, other: Self) -> Self:
        """Either, about different individuals: the maximum of each part (parallel composition)."""

    @abc.abstractmethod
    def under_replace(self, widest: Self | None = None) -> Self:
        """The loss under replace of one proved under add-or-remove.

        widest: of a sum, its largest summand; None for a single loss.
        """

    @abc.abstractmethod
    def largest(self, proved: Neighbours, kept: Neighbours) -> Self:
        """The largest price, proved under `proved`, that fits this budget, kept under `kept`."""

    def under(self, proved: Neighbours, kept: Neighbours) -> Self:
        """What a loss proved under `proved` counts where neighbours are `kept`.

        To replace a record is to remove one and to add another, hence `under_replace`. The converse
        does not hold: a sum over values in [1000, 1001] with sensitivity 1 under replace moves by
        1001 when a record leaves, and the number of records is free under replace only. Such an
        answer is refused.
        """
        if proved == kept:
            return self
        if kept == "replace":
            return self.under_replace()
        raise refuse("privacy.answer-under-replace")

    # -- comparison ----------------------------------------------------------------------------

    @abc.abstractmethod
    def __le__(self, cap: Self) -> bool:
        """Whether no part is above that of the cap."""

    def __lt__(self, cap: Self) -> bool:
        return self <= cap and self != cap

    @abc.abstractmethod
    def __bool__(self) -> bool:
        """Whether anything is lost."""

    @abc.abstractmethod
    def room(self, spent: Self, spared: Self) -> Self:
        """What is left of this cap, part by part and never below zero.

        spared: how much less a further question costs, when it is about a person on whom less was
            spent than on another. Nothing is left of a cap that was lowered below what is spent.
        """

    # -- what it means -------------------------------------------------------------------------

    @property
    @abc.abstractmethod
    def epsilon(self) -> Fraction:
        """The epsilon of the largest pure answer that it pays for."""

    @abc.abstractmethod
    def promise(self) -> Promise:
        """What a mechanism of this loss promises."""

    @property
    @abc.abstractmethod
    def stored(self) -> tuple[int, int]:
        """Its parts as the ledger stores them."""

    @abc.abstractmethod
    def to_dict(self) -> dict[str, str]:
        """Its parts by name, exactly, as text."""


@dataclass(frozen=True, slots=True)
class EpsilonDelta(Loss):
    """A loss of ε, or of ε and δ, in whole units.

    Example
        >>> half = EpsilonDelta.of(0.5)
        >>> str(half + half), half + half <= EpsilonDelta.cap(1, name="total")
        ('epsilon 1', True)
        >>> half.under("add-or-remove", "replace").epsilon
        Fraction(1, 1)
        >>> str(EpsilonDelta.of(0.5, 1e-6).promise())
        'approximate differential privacy (epsilon = 0.5, delta = 0.000001)'
    """

    nano: int = 0
    atto: int = 0

    @classmethod
    def of(cls, epsilon: object, delta: object = 0) -> EpsilonDelta:
        """A price, each part rounded up to whole units.

        Example
            >>> EpsilonDelta.of(0.7) + EpsilonDelta.of("0.3") == EpsilonDelta.of(1)
            True
            >>> EpsilonDelta.of("1e-10").epsilon
            Fraction(1, 1000000000)
        """
        nano = math.ceil(above_zero(epsilon, "epsilon") * NANO)
        return cls(nano, math.ceil(_probability(delta, "delta") * ATTO))

    @classmethod
    def cap(cls, epsilon: object, delta: object = 0, *, name: str) -> EpsilonDelta:
        """A budget, each part rounded down. Without delta, it pays for pure answers only.

        name: its name in refusals; its delta is called `<name>_delta`.
        """
        nano = math.floor(exact(epsilon, name) * NANO)
        if not 0 <= nano <= LARGEST:
            raise refuse(
                "privacy.budget-outside-range", name=name, total=epsilon, largest=LARGEST // NANO
            )
        return cls(nano, math.floor(_probability(delta, f"{name}_delta") * ATTO))

    def __add__(self, other: EpsilonDelta) -> EpsilonDelta:
        if not isinstance(other, EpsilonDelta):
            return NotImplemented
        return EpsilonDelta(self.nano + other.nano, self.atto + other.atto)

    def __sub__(self, other: EpsilonDelta) -> EpsilonDelta:
        if not isinstance(other, EpsilonDelta):
            return NotImplemented
        return EpsilonDelta(self.nano - other.nano, self.atto - other.atto)

    def __mul__(self, times: int) -> EpsilonDelta:
        return EpsilonDelta(self.nano * times, self.atto * times)

    def __floordiv__(self, shares: int) -> EpsilonDelta:
        return EpsilonDelta(self.nano // shares, self.atto // shares)

    def part(self, share: Fraction | float) -> EpsilonDelta:
        """A part of it, rounded down."""
        return EpsilonDelta(int(self.nano * share), int(self.atto * share))

    def shared(self, weights: Sequence[float]) -> list[EpsilonDelta]:
        """Parts of its epsilon in proportion to weights, each rounded down."""
        total = sum(weights)
        return [EpsilonDelta(int(self.nano * weight / total)) for weight in weights]

    def most(self, other: EpsilonDelta) -> EpsilonDelta:
        return EpsilonDelta(max(self.nano, other.nano), max(self.atto, other.atto))

    def under_replace(self, widest: EpsilonDelta | None = None) -> EpsilonDelta:
        """(2ε, δ(1 + e^ε)), rounded up, δ never above 1; of a sum with the ε of the widest.

        Example
            >>> EpsilonDelta(10**9, 1000).under_replace()
            EpsilonDelta(nano=2000000000, atto=3719)
        """
        nano = self.nano if widest is None else widest.nano
        atto = self.atto and min(ATTO, math.ceil(self.atto * (1 + _exp_above(nano))))
        return EpsilonDelta(2 * self.nano, atto)

    def largest(self, proved: Neighbours, kept: Neighbours) -> EpsilonDelta:
        """The largest epsilon; with a delta it may be less."""
        return EpsilonDelta(self.nano if proved == kept else self.nano // 2)

    def __le__(self, cap: EpsilonDelta) -> bool:
        if not isinstance(cap, EpsilonDelta):
            return NotImplemented
        return self.nano <= cap.nano and self.atto <= cap.atto

    def __bool__(self) -> bool:
        return self.nano > 0 or self.atto > 0

    def room(self, spent: EpsilonDelta, spared: EpsilonDelta) -> EpsilonDelta:
        def left(cap: int, spent: int, spared: int) -> int:
            return max(0, cap - spent + spared) if spent <= cap else 0

        return EpsilonDelta(
            left(self.nano, spent.nano, spared.nano), left(self.atto, spent.atto, spared.atto)
        )

    @property
    def epsilon(self) -> Fraction:
        return Fraction(self.nano, NANO)

    @property
    def delta(self) -> Fraction:
        return Fraction(self.atto, ATTO)

    @property
    def pure(self) -> bool:
        """Whether it has no delta."""
        return self.atto == 0

    @property
    def units(self) -> int:
        """Its epsilon in whole units, in which integer strategies share a price."""
        return self.nano

    def promise(self) -> Promise:
        return Approximate(self.epsilon, self.delta) if self.atto else Pure(self.epsilon)

    @property
    def stored(self) -> tuple[int, int]:
        return self.nano, self.atto

    def to_dict(self) -> dict[str, str]:
        written = {"epsilon": exactly(self.epsilon)}
        return {**written, "delta": exactly(self.delta)} if self.atto else written

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> EpsilonDelta:
        """The loss that `to_dict` wrote."""
        parts = [exact(given["epsilon"], "epsilon") * NANO, exact(given.get("delta", 0), "delta")]
        return cls(math.ceil(parts[0]), math.ceil(parts[1] * ATTO))

    def __str__(self) -> str:
        written = f"epsilon {exactly(self.epsilon)}"
        return f"{written} and delta {exactly(self.delta)}" if self.atto else written


NOTHING = EpsilonDelta()
"""The loss of what is public."""
SMALLEST = EpsilonDelta(1)
"""The smallest loss above nothing."""


def check_price(nano: int, atto: int) -> EpsilonDelta:
    """A price in whole units, refused if it is too large to promise anything."""
    if nano > LARGEST:
        raise refuse("privacy.price-too-large", largest=LARGEST // NANO)
    if atto >= ATTO:
        raise refuse("privacy.price-delta-too-large")
    return EpsilonDelta(nano, atto)


def _probability(value: object, name: str) -> Fraction:
    number = exact(value, name)
    if not 0 <= number < 1:
        raise refuse("privacy.delta-outside-range", name=name, value=value)
    return number


def _exp_above(nano: int) -> Fraction:
    """A rational at least e**(nano / 10**9)."""
    if nano > 50 * NANO:  # e**50 > 10**21: whatever atto-delta it multiplies is above 1
        return Fraction(ATTO)
    precise = Context(prec=40, rounding=ROUND_CEILING)
    # Decimal.exp is correctly rounded to half-even whatever the context; one unit more is above
    return Fraction(precise.next_plus(precise.exp(Decimal(nano).scaleb(-9))))
