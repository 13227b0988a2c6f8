"""Each column by itself: its distribution is kept, how columns depend on each other is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from ...engine.contract import Passes
from ...noise.source import Source
from ...screen.number import exactly
from .column import (
    Margin,
    Measured,
    has_counts,
    least_epsilon,
    margin_error,
    private_column,
    shares,
)
from .domain import Axis, Domain, Places
from .synthesis import Synthesis

_COUNTS = "A noisy count of each value"
_TREE = "A tree of noisy counts, finer where more rows are"


@dataclass(frozen=True)
class Independent:
    """Rows whose columns have nothing to do with each other."""

    margins: Sequence[Margin]

    def block(self, rows: range, source: Source) -> Places:
        return np.stack([margin.sample(len(rows), source) for margin in self.margins], axis=1)


@dataclass(frozen=True, kw_only=True)
class Columns(Synthesis):
    """Rows of independent columns, each drawn from its private distribution.

    Guarantee
        `epsilon`-differential privacy for one record that takes any other value: the columns'
        budgets sum to it.
    """

    name: ClassVar[str] = "columns"
    mechanism: ClassVar[str] = "noisy distribution of each column by itself"
    source: ClassVar[str] = "Zhang, Xiao and Xie 2016, one column at a time"

    @classmethod
    def planned(cls, domain: Domain, rows: int, epsilon: Fraction, **options: Any) -> Self:
        return cls(domain=domain, rows=rows, epsilon=epsilon, **options)

    def release(self, records: Passes, source: Source) -> Independent:
        return Independent(private_margins(self.domain, records, self.epsilon, source))

    @property
    def expected_error(self) -> float:
        return margins_error(self.domain, self.rows, self.epsilon)

    @property
    def least_epsilon(self) -> Fraction:
        return margins_least(self.domain, self.rows, self.epsilon)

    @property
    def parameters(self) -> Mapping[str, str]:
        return margin_parameters(self.domain, self.rows, self.epsilon)

    @property
    def limits(self) -> Sequence[str]:
        if len(self.domain.axes) == 1:
            return ()
        return ("Columns are independent of each other, whatever they are in the original.",)


def budgets(domain: Domain, epsilon: Fraction, *, again: bool = False) -> list[Fraction]:
    """What is spent on each column; the sum is `epsilon`.

    again: whether categories are counted again afterwards, by which columns of numbers gain.
    """
    return [epsilon * share for share in shares(domain.axes, again=again)]


def _spent(domain: Domain, epsilon: Fraction, again: bool) -> list[tuple[Axis, Fraction]]:
    return list(zip(domain.axes, budgets(domain, epsilon, again=again), strict=True))


def private_margins(
    domain: Domain, records: Passes, epsilon: Fraction, source: Source
) -> list[Margin]:
    """The margins of all columns, by `private_columns`."""
    return [held.margin for held in private_columns(domain, records, epsilon, source)]


def private_columns(
    domain: Domain, records: Passes, epsilon: Fraction, source: Source, *, again: bool = False
) -> list[Measured]:
    """The noisy counts of all columns.

    Guarantee
        Together `epsilon`-differentially private when one record is replaced.
    """
    return [
        private_column(axis, records.only(j), budget, source)
        for j, (axis, budget) in enumerate(_spent(domain, epsilon, again))
    ]


def margins_error(domain: Domain, rows: int, epsilon: Fraction, *, again: bool = False) -> float:
    """`Synthesis.expected_error` of columns that share this budget."""
    pairs = _spent(domain, epsilon, again)
    return float(np.mean([margin_error(axis, rows, budget) for axis, budget in pairs]))


def margins_least(domain: Domain, rows: int, epsilon: Fraction, *, again: bool = False) -> Fraction:
    """`Synthesis.least_epsilon` of columns that share this budget."""
    pairs = _spent(domain, epsilon, again)
    return min(least_epsilon(axis, rows, budget) for axis, budget in pairs)


def margin_parameters(
    domain: Domain, rows: int, epsilon: Fraction, *, again: bool = False
) -> dict[str, str]:
    """How each column is drawn, for the certificate."""
    return {
        f"column {axis.name}": (
            f"{_COUNTS if has_counts(axis, rows, budget) else _TREE}, "
            f"for epsilon {float(budget):.6g}."
        )
        for axis, budget in _spent(domain, epsilon, again)
    }


def columns_text(epsilon: Fraction) -> str:
    """What all columns cost together, for the certificate of a way that goes on from them."""
    return f"A noisy distribution of each column, for epsilon {exactly(epsilon)} in all."
