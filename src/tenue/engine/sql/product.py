"""Products of powers of columns, whose sums are exact.

Guarantee
    A sum over up to 2^40 rows stays below 2^126, so the type that holds it cannot overflow. What
    might not is refused from the bounds alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import refuse
from ...number import whole
from ...schema import Bounded, Column
from ..request import Factor
from .logical import Logical, unfit
from .steps import first_step, last_step

_MOST_ROWS = 2**40
_HUGE = 2**126


def check_product(factors: Sequence[Factor], declared: Mapping[str, Column]) -> int:
    """The largest size of the product; refused if a sum of such products might be too large.

    Parameters
        factors: see `Factor`; every column is declared.
        declared: all declared columns, by name in any case.
    """
    largest = 1
    for factor in factors:
        column = declared[factor.column]
        if not isinstance(column, Bounded):
            raise unfit(column, "has no moments")
        if whole(factor.power, "power") == 0:
            continue
        ends = (first_step(column) - factor.shift, last_step(column) - factor.shift)
        size = max(1, *map(abs, ends))
        # the power itself may be too large to compute
        bits = (size.bit_length() - 1) * factor.power
        largest = largest * size**factor.power if bits < _HUGE.bit_length() else _HUGE
        if largest * _MOST_ROWS > _HUGE:
            names = ", ".join(dict.fromkeys(f"`{factor.column}`" for factor in factors))
            most = (_HUGE // _MOST_ROWS).bit_length() - 1
            raise refuse("engine.product-sum-too-large", names=names, bit_length=most)
    return largest


def product(factors: Sequence[Factor], logical: Logical) -> str:
    """The SQL of the product; NULL where one of the columns is missing."""
    for factor in factors:
        logical.column(factor.column)
    largest = check_product(factors, logical.table.declared)
    kind = logical.dialect.holding(-largest, largest)
    terms, there = ["1"], []
    for factor in factors:
        column = logical.column(factor.column)
        assert isinstance(column, Bounded)  # noqa: S101 - `check_product` refused the others
        steps = logical.steps(column)
        if factor.power == 0:
            there.append(f"{steps.sql} IS NOT NULL")
            continue
        terms += [f"CAST({steps.plus(-factor.shift).sql} AS {kind})"] * factor.power
    made = " * ".join(terms[1:] or terms)
    return f"CASE WHEN {' AND '.join(there)} THEN {made} END" if there else made
