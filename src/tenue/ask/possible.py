"""The values that an output can have at all, and answers that say nothing about which: too noisy.

The ends follow from question and schema, so that keeping an answer between them is post-processing.
An interval keeps its confidence, because the true value lies between the ends.

Counts and sums are left as they were drawn, below 0 too: people add them up and average over them,
and a total of many numbers that were each moved up to 0 is far too large. `consistent` makes them
whole and not negative, with an error of its own. Everything else is moved to the nearest end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..schema import Schema
from ..text import readable, shortly
from .aggregates.contract import ANY_VALUE, Ends
from .aggregates.reading import Expectation, Interval, rounded
from .aggregates.registry import FAMILY_OF
from .question import (
    Aggregate,
    Applied,
    Constant,
    Expression,
    Output,
    Over,
    Question,
    aggregates_in,
    seen_by,
)

TOO_NOISY = "too noisy"
LEGEND = (
    "“too noisy”: the margin of error is no less than the range of all possible values, or than "
    "the number of rows in the group, so that the value says nothing; ORDER BY puts it last."
)
BELOW_ZERO = (
    "What is below 0 is noise around a small number. It stays, because adding up or averaging over "
    "numbers that were moved up to 0 would give too much."
)
_TENTH = 10


@dataclass(frozen=True)
class Domain:
    """The values that an output can have.

    low, high: None where there is no end.
    adds_up: whether people add such values up, so that they stay as they were drawn.
    """

    low: Fraction | None
    high: Fraction | None
    adds_up: bool

    @property
    def width(self) -> Fraction | None:
        return None if self.low is None or self.high is None else self.high - self.low

    def impossible(self, value: Fraction) -> bool:
        return self._nearest(value) != value

    def kept(self, value: Fraction) -> Fraction:
        """The value, or the nearest that is possible."""
        return value if self.adds_up else self._nearest(value)

    def kept_interval(self, interval: Interval, value: Fraction) -> Interval:
        """The possible part of an interval. If it has none, the interval is moved along with the
        value; if it is wider than all that is possible, it is all of that.

        value: as it was drawn.
        """
        if self.adds_up:
            return interval
        low, high = interval
        if self.width is not None and high - low >= 2 * self.width:
            assert self.low is not None and self.high is not None  # noqa: S101, PT018 - for the type
            return self.low, self.high
        moved = self._nearest(value) - value
        if (self.high is not None and low > self.high) or (
            self.low is not None and high < self.low
        ):
            low, high = low + moved, high + moved
        return self._nearest(low), self._nearest(high)

    def says_nothing(self, interval: Interval) -> bool:
        """Whether an interval, as it was drawn, excludes no possible value or is wider than all."""
        if self.width is None or self.low is None or self.high is None:
            return False
        low, high = interval
        return high - low >= 2 * self.width or (low <= self.low and high >= self.high)

    def _nearest(self, value: Fraction) -> Fraction:
        if self.low is not None and value < self.low:
            return self.low
        return self.high if self.high is not None and value > self.high else value


def domain_of(expression: Expression, seen: Schema) -> Domain:
    """The domain of an output.

    seen: the schema with the columns that the question computes.
    """
    asked = aggregates_in(expression)
    return Domain(
        *_ends(expression, seen), all(a.kind in FAMILY_OF[a.kind].adding_up for a in asked)
    )


def _ends(expression: Expression, seen: Schema) -> Ends:
    if isinstance(expression, Aggregate):
        return FAMILY_OF[expression.kind].possible(expression, seen)
    if isinstance(expression, Constant):
        return expression.value, expression.value
    if isinstance(expression, Applied):
        low, high = _ends(expression.of, seen)
        if expression.function == "round":
            digits = int(expression.number)
            low, high = (None if end is None else rounded(end, digits) for end in (low, high))
        elif expression.function == "coalesce":
            low = None if low is None else min(low, expression.number)
            high = None if high is None else max(high, expression.number)
        return low, high
    if isinstance(expression, Over):
        if expression.of is None or expression.function == "sum":
            return ANY_VALUE
        return _ends(expression.of, seen)
    left, right = _ends(expression.left, seen), _ends(expression.right, seen)
    if expression.operator == "+":
        return _plus(left[0], right[0]), _plus(left[1], right[1])
    if expression.operator == "-":
        return _minus(left[0], right[1]), _minus(left[1], right[0])
    if expression.operator == "*" and isinstance(expression.left, Constant):
        return _times(right, expression.left.value)
    if isinstance(expression.right, Constant):
        factor = expression.right.value
        if expression.operator == "*":
            return _times(left, factor)
        if factor:
            return _times(left, 1 / factor)
    return ANY_VALUE


def _plus(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other


def _minus(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one - other


def _times(ends: Ends, factor: Fraction) -> Ends:
    low, high = (None if end is None else end * factor for end in ends)
    return (low, high) if factor >= 0 else (high, low)


def warnings_of(
    question: Question, schema: Schema, expected: Sequence[Expectation], epsilon: Fraction
) -> tuple[str, ...]:
    """What a plan says of outputs that will be too noisy, or may be, before anything is paid.

    expected: the errors of each output at this epsilon.
    """
    if not expected:
        return ()
    seen = seen_by(question, schema)
    outputs = [output for output in question.outputs if isinstance(output, Output)]
    warnings = []
    for output, one in zip(outputs, expected, strict=True):
        domain = domain_of(output.expression, seen)
        width, half = domain.width, one.half_width
        if width and half is not None and half >= width:
            assert domain.low is not None and domain.high is not None  # noqa: S101, PT018
            enough = float(epsilon) * half / float(width) * _TENTH
            warnings.append(
                f"Too noisy: `{output.alias}` lies between {readable(domain.low)} and "
                f"{readable(domain.high)}, and its margin of error is ± {shortly(half)}. A tenth "
                f"of that range takes about epsilon {shortly(enough)}, or fewer groups, or lower "
                "contribution limits."
            )
        behind = one.rank if one.rank is not None else one.votes
        if behind is None:
            continue
        if schema.rows is not None and behind >= schema.rows:
            warnings.append(
                f"Too noisy: `{output.alias}` may be off by {shortly(behind)} rows, and the whole "
                f"table has {schema.rows:,}."
            )
        elif lacks_count(question):
            warnings.append(any_value_in(output.alias, behind))
    return tuple(warnings)


def lacks_count(question: Question) -> bool:
    """Whether an answer cannot tell how many rows are in its groups, or meet its condition."""
    if not question.keys and question.where is None:
        return False
    return not any(isinstance(o, Output) and is_count(o.expression) for o in question.outputs)


def any_value_in(alias: str, rows: float) -> str:
    """The remark on a value that is selected by ranks or votes, where no rows are counted."""
    return (
        f"`{alias}` may be any value where there are at most {shortly(rows)} rows. Ask for "
        "COUNT(*) as well: what seems to have so few is then marked as too noisy."
    )


def is_count(expression: Expression) -> bool:
    """Whether an output is how many rows there are."""
    return isinstance(expression, Aggregate) and expression.kind == "count"
