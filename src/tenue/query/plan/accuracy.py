"""The least epsilon that gives a wanted accuracy."""

from __future__ import annotations

from fractions import Fraction

from ...errors import refuse
from ...number import NANO, above_zero, fraction_of_one
from ...schema import Schema
from ..question import Output, Question
from .make import make_plan

LARGEST = 100 * NANO
"""An epsilon above this promises nothing and is not looked for."""


def epsilon_for(
    accuracy: object,
    question: Question,
    schema: Schema,
    minimise: object,
    mechanism: str | None = None,
) -> int:
    """The least nano-epsilon at which every output's interval is within ±reach at the level.

    Refused where the error depends on rows: means, ratios. Rounded up to whole nano-epsilon.
    """
    level, reach = _wanted(accuracy)

    def reached(price: int) -> bool:
        plan = make_plan(question, schema, price, minimise, mechanism=mechanism)
        widest = 0.0
        for reading in plan.readings:
            error = reading.before_rows(plan.parts, None)
            if error is None:
                raise refuse("query.error-of-mean-or-ratio-depends-on")
            widest = max(widest, error.half_width(level))
        return Fraction(widest) <= reach

    if not any(isinstance(output, Output) for output in question.outputs):
        return NANO
    high = NANO // 1000
    while not reached(high):
        high *= 2
        if high > LARGEST:
            raise refuse("query.would-need-epsilon", reach=float(reach), largest=LARGEST // NANO)
    low = high // 2
    while high - low > max(1, high // 1_000_000):
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _wanted(accuracy: object) -> tuple[Fraction, Fraction]:
    if isinstance(accuracy, tuple | list) and len(accuracy) == 3 and accuracy[0] == "interval":
        return fraction_of_one(accuracy[1], "level"), above_zero(accuracy[2], "reach")
    raise refuse("query.accuracy-is-accuracy-is-interval-level-reach", accuracy=accuracy)
