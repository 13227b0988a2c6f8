"""The least epsilon that gives a wanted accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from ...errors import Refused, refuse
from ...number import NANO, Number, above_zero, fraction_of_one
from ...schema import Schema
from ..question import Output, Question
from .make import make_plan
from .plan import Plan

LARGEST = 100 * NANO
"""An epsilon above this promises nothing and is not looked for."""
_FIRST = NANO // 1000
_CLOSE = 1_000_000


def epsilon_for(
    accuracy: object,
    question: Question,
    schema: Schema,
    minimise: object,
    *,
    mechanism: str | None = None,
    measure_cut: Number | None = None,
) -> int:
    """The least nano-epsilon at which every output's interval is within ±reach at the level, up to
    a millionth of itself.

    Refused where the error depends on rows: means and ratios, unless the number of rows is stated.
    """
    if not any(isinstance(output, Output) for output in question.outputs):
        return NANO

    def plans(price: int) -> list[Plan]:
        return [
            make_plan(
                *(question, schema, price, minimise), mechanism=mechanism, measure_cut=measure_cut
            )
        ]

    return least_price(accuracy, schema, plans)


def least_price(accuracy: object, schema: Schema, plans: Callable[[int], Iterable[Plan]]) -> int:
    """The same for plans that are paid for together.

    Parameters
        plans: the plans that a price buys.
    """
    level, reach = _wanted(accuracy)

    def reached(price: int) -> bool:
        return all(Fraction(_widest(plan, schema, level)) <= reach for plan in plans(price))

    def still_reached(price: int) -> bool:
        try:
            return reached(price)
        except Refused:  # too little to be shared, though more of it would do
            return False

    high = _FIRST
    while not reached(high):
        high *= 2
        if high > LARGEST:
            raise refuse("query.accuracy-out-of-reach", reach=float(reach), largest=LARGEST // NANO)
    while high > 1 and still_reached(high // 2):
        high //= 2
    low = high // 2
    while high - low > max(1, high // _CLOSE):
        middle = (low + high) // 2
        low, high = (low, middle) if still_reached(middle) else (middle, high)
    return high


def _widest(plan: Plan, schema: Schema, level: Fraction) -> float:
    widest = 0.0
    for reading in plan.readings:
        error = reading.promised(plan.parts, schema.rows)
        if error is None:
            raise reading.refuse_accuracy()
        widest = max(widest, error.half_width(level))
    return widest


def _wanted(accuracy: object) -> tuple[Fraction, Fraction]:
    if isinstance(accuracy, tuple | list) and len(accuracy) == 3 and accuracy[0] == "interval":
        return fraction_of_one(accuracy[1], "level"), above_zero(accuracy[2], "reach")
    raise refuse("query.invalid-accuracy", accuracy=accuracy)
