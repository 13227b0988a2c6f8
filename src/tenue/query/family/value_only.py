"""A value about which nothing can be told: individual differential privacy, smooth sensitivity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Told:
    """The value, in units of the column; scale, interval and error would be facts about rows.

    differential: whether it is differentially private.
    """

    unit: Fraction
    differential: bool = False

    def value(self, noisy: Sequence[Sequence[int]], rows: int | None) -> Fraction:
        top, bottom = noisy[0]
        return Fraction(top, bottom) * self.unit

    def interval(self, *anything: object) -> None:
        """None: it would be a fact about the rows."""

    def expected_error(self, *anything: object) -> None:
        """None: it would be a fact about the rows."""

    def before_rows(self, *anything: object) -> None:
        """None: it would be a fact about the rows."""
