"""The balance of loss and risk against another way of masking."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import refuse
from ..number import checked_call, exact
from .check import schema_of
from .pair.attributes import Names, divisors, paired
from .pair.linkage import linked_share
from .pair.loss import sse_of
from .rows import open_rows


@dataclass(frozen=True, kw_only=True)
class Score:
    """How a masked table compares with a baseline; above 1 it is better.

    sse_factor: the square root of the baseline's squared error over this one's.
    rl_factor: the baseline's record linkage over this one's.
    """

    sse_factor: float
    rl_factor: float

    @property
    def value(self) -> float:
        """The product of both factors. (The thesis writes a ratio and prints the product.)

        Infinite if only one factor is, and NaN if nothing can be said: no linkage, endless loss.
        """
        return self.sse_factor * self.rl_factor

    @classmethod
    def of(
        cls,
        *,
        sse: object,
        record_linkage: object,
        baseline_sse: object,
        baseline_record_linkage: object,
    ) -> Score:
        """The score of numbers that were measured before; linkages both as shares or in percent.

        Example
            >>> Score.of(sse=4, record_linkage=0.1, baseline_sse=1, baseline_record_linkage=0.4)
            Score(sse_factor=0.5, rl_factor=4.0)
        """
        loss = _quotient(_amount(baseline_sse, "baseline_sse"), _amount(sse, "sse"))
        risk = _quotient(
            _amount(baseline_record_linkage, "baseline_record_linkage"),
            _amount(record_linkage, "record_linkage"),
        )
        return cls(sse_factor=math.sqrt(loss), rl_factor=risk)


@checked_call
def score(
    original: object,
    masked: object,
    baseline: object,
    columns: Names = None,
    scale: object = None,
    schema: object = None,
) -> Score:
    """Compares a masked table with a baseline, by squared error and record linkage together.

    Parameters
        original, masked, baseline: tables in which row i is the same record.
        columns, scale, schema: as for `record_linkage`; the squared error is in raw units.

    Source
        Thesis, section 6.4.2, whose tables print the product.
    """
    truth = open_rows(original)  # once, for a stream cannot be read again
    measured = []
    for table in (masked, baseline):
        attributes = paired(truth, table, columns, schema_of(schema))
        share = linked_share(attributes, divisors(attributes, scale))
        measured.append((sum(map(sse_of, attributes)), share))
    (loss, risk), (baseline_loss, baseline_risk) = measured
    return Score.of(
        sse=loss,
        record_linkage=risk,
        baseline_sse=baseline_loss,
        baseline_record_linkage=baseline_risk,
    )


def _amount(value: object, name: str) -> float:
    amount = float(exact(value, name))
    if amount < 0:
        raise refuse("evaluate.negative-measure", name=name, value=value)
    return amount


def _quotient(above: float, below: float) -> float:
    if below == 0:
        return 1.0 if above == 0 else math.inf
    return above / below
