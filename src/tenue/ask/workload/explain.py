"""The price and the expected errors of many questions: every candidate, without rows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...arguments import above_zero, fraction_of_one
from ...errors import refuse
from ...mechanism.additive_noise import Error
from ...noise.criterion import VARIANCE
from ...noise.laplace_sum_tail import Reals
from ...privacy.loss import EpsilonDelta
from ...schema import Schema
from ...text import exactly, html_table, notes, sentence, shortly, text_table
from ..aggregates.reading import SHOWN_LEVEL
from ..aggregates.strategy import sizes
from ..plan.plan import Plan
from ..plan.planner import LARGEST
from ..plan.truncation import NOT_COVERED
from ..possible import warnings_of
from ..question import GroupingSets, Output
from .plan import Workload, WorkloadWay

_SHOWN = 20
_MOST_CLOSE, _MOST_OF_LINE = 200, 12
"""Intervals are computed of so many answers with the largest deviations; those of a line are
similar."""
_SPREAD = 12
_MOST_RANGES = 200_000
_TRIES = 40
_NEAR = 1.01
_SPARE = 0.999
"""The rounding of released numbers widens an interval by far less than the remainder."""


@dataclass(frozen=True, eq=False, repr=False)
class WorkloadPlan:
    """Many questions with all candidates that answer them together. Reads no rows.

    ways: with the mean and the largest variance of an answer, as multiples of that alone at an
        equal share of the price. chosen: the one that is used. fairest, least: the best one in
        which no answer is worse than alone, and the one with the least mean.
    asked, sql: the SELECT with several grouping sets from which they come, if they do.
    """

    workload: Workload
    schema: Schema
    asked: GroupingSets | None = None
    sql: str = ""

    @property
    def ways(self) -> tuple[WorkloadWay, ...]:
        best: dict[tuple[str, bool], WorkloadWay] = {}
        for way in self.workload.ways:
            key = way.name, way.fair
            other = best.setdefault(key, way)
            if other is not self.chosen and (way.mean < other.mean or way is self.chosen):
                best[key] = way
        return tuple(best.values())

    @property
    def chosen(self) -> WorkloadWay:
        return self.workload.chosen

    @property
    def least(self) -> WorkloadWay:
        return self.workload.least

    @property
    def fairest(self) -> WorkloadWay:
        return min((way for way in self.ways if way.fair), key=lambda way: way.mean)

    @property
    def epsilon(self) -> Fraction:
        return self.workload.epsilon

    def half_widths(self, level: Fraction) -> list[float]:
        """The margin of error of each output at `level`, in its worst cell; for a declared
        histogram of all declared sums of its cells. Refused where that depends on rows.

        Where they are many, those of the largest variances and a sample of the others are computed.
        The rest are taken to be as wide, in standard deviations, as the widest of these.
        """
        deviations, law = self._laws()
        order = np.argsort(-deviations, kind="stable")
        spread = np.linspace(0, len(order) - 1, _SPREAD).astype(np.int64)
        many = _MOST_CLOSE if self.workload.line is None else _MOST_OF_LINE
        chosen = dict.fromkeys([*order[:many].tolist(), *order[spread].tolist()])
        widths = {index: law(index).half_width(level) for index in chosen}
        ratios = (width / deviations[i] for i, width in widths.items() if deviations[i])
        most = max(ratios, default=0.0)
        return [widths.get(i, float(most * size)) for i, size in enumerate(deviations)]

    def _laws(self) -> tuple[Reals, Callable[[int], Error]]:
        """The standard deviation of every answer, and a function that returns the law of one."""
        line = self.workload.line
        if line is not None:
            if len(line) > _MOST_RANGES:
                raise refuse("ask.too-many-ranges", many=len(line), most=_MOST_RANGES)
            (block,) = self.workload.blocks
            deviations = np.sqrt(np.maximum(block.estimator.variances(line), 0))
            return deviations, lambda index: block.row_law(index, line)
        errors = []
        for plan in self.workload.plans:
            for reading in plan.readings:
                error = reading.promised(plan.parts, self.schema.rows)
                if error is None:
                    raise reading.refuse_accuracy()
                errors.append(error)
        return np.sqrt([error.variance for error in errors]), errors.__getitem__

    def alone(self, number: int) -> float:
        """The epsilon that a question would cost alone, for the errors that it has here."""
        plan, alone = self.workload.plans[number], self.workload.alone
        if plan.free:
            return 0.0
        bars = alone.variances(number)
        own = sizes(plan.strategy, VARIANCE).items()
        ratios = [bars[a] / size**2 for a, size in own if size and math.isfinite(size)]
        return float(alone.share.epsilon) * math.sqrt(max(ratios, default=1.0))

    def _table(self) -> list[list[str]]:
        rows = [["", "candidate", "mean error", "largest", "worse than alone"]]
        for way in sorted(self.ways, key=lambda way: way.mean):
            arrow = "→" if way is self.chosen else ""
            worse = "no answer" if way.fair else "some"
            rows.append([arrow, way.name, *map(_times, (way.mean, way.worst)), worse])
        return rows

    def _answers(self) -> list[list[str]]:
        rows = [["question", "95 % within ±", "epsilon alone"]]
        for number, plan in enumerate(self.workload.plans[:_SHOWN]):
            widths = []
            for reading in plan.readings:
                error = reading.promised(plan.parts, self.schema.rows)
                widths.append("after" if error is None else shortly(error.half_width(SHOWN_LEVEL)))
            rows.append([plan.sql, ", ".join(widths), shortly(self.alone(number))])
        if self.workload.line is not None and len(self.workload.line) <= _MOST_RANGES:
            deviations, law = self._laws()
            least = law(int(deviations.argmax())).half_width(SHOWN_LEVEL)
            label = f"the least accurate of {len(deviations):,} sums of its cells"
            rows.append([label, shortly(least), ""])
        return rows

    def _notes(self) -> list[str]:
        remarks = [
            "Errors are standard deviations, relative to those of the same answers if each is "
            "asked alone, at an equal share of the price."
        ]
        many = len(self.workload.plans)
        if many > _SHOWN:
            remarks.append(f"Only the first {_SHOWN} of {many:,} questions are shown.")
        if self.least is not self.chosen and self.least.mean < self.chosen.mean:
            remarks.append(
                f'With minimise "mean" the mean error would be {_times(self.least.mean)} '
                f"({self.least.name}), and the largest {_times(self.least.worst)}."
            )
        limits = self._limits
        for plan in self.workload.plans[:_SHOWN]:
            remarks += self._warnings(plan)
        if limits:
            remarks.append(sentence(f"{', and '.join(limits)}; {NOT_COVERED}."))
        return remarks

    @property
    def _limits(self) -> tuple[str, ...]:
        limits = (limit.words for plan in self.workload.plans for limit in plan.limits)
        return tuple(dict.fromkeys(limits))

    def _warnings(self, plan: Plan) -> tuple[str, ...]:
        outputs = [output for output in plan.question.outputs if isinstance(output, Output)]
        expected = [
            reading.expect(output.alias, plan.parts, self.schema.rows)
            for output, reading in zip(outputs, plan.readings, strict=True)
        ]
        return warnings_of(plan.question, self.schema, expected, self.epsilon)

    def _head(self) -> str:
        facts = f"neighbours {self.schema.neighbours}, unit {self.schema.unit}"
        many = len(self.workload.plans)
        if self.asked is not None:
            return f"{self.sql}\n{many} grouping sets, epsilon {exactly(self.epsilon)}, {facts}"
        return f"{many:,} questions together, epsilon {exactly(self.epsilon)}, {facts}"

    def __str__(self) -> str:
        ways = text_table(self._table(), left=2)
        answers = text_table(self._answers(), left=1)
        return "\n".join([self._head(), "", *ways, "", *answers, *notes(self._notes())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self._table(), [self._head()]) + html_table(
            self._answers(), after=self._notes()
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "questions": [plan.sql for plan in self.workload.plans],
            "epsilon": exactly(self.epsilon),
            "chosen": self.chosen.name,
            "least": self.least.name,
            "saved": self.workload.saved,
            "limits": list(self._limits),
            "ways": [
                {
                    "way": way.name,
                    "mean_variance": way.mean,
                    "largest_variance": way.worst,
                    "none_worse_than_alone": way.fair,
                }
                for way in self.ways
            ],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)


def _times(variance: float) -> str:
    return f"{shortly(math.sqrt(variance))} ×"


def least_price_of_many(
    accuracy: object, planned: Callable[[EpsilonDelta], WorkloadPlan]
) -> EpsilonDelta:
    """The least price, up to one percent, at which every margin of error, or the mean of all, is at
    most `reach` at the level.

    accuracy: ("interval", level, reach) or ("mean-interval", level, reach).
    """
    kinds: dict[str, Callable[[list[float]], float]]
    kinds = {"interval": max, "mean-interval": lambda widths: sum(widths) / len(widths)}
    given = tuple(accuracy) if isinstance(accuracy, tuple | list) else ()
    if len(given) != 3 or not isinstance(given[0], str) or given[0] not in kinds:
        raise refuse("ask.accuracy-of-many-invalid", accuracy=accuracy)
    level, asked = fraction_of_one(given[1], "level"), float(above_zero(given[2], "reach"))
    reach = asked * _SPARE
    largest = LARGEST.units
    price, low, high = EpsilonDelta.of(1).units, 0, largest + 1
    for _ in range(_TRIES):
        width = kinds[given[0]](planned(EpsilonDelta(price)).half_widths(level))
        if width <= reach:
            high = price
        else:
            low = price
        if high <= largest and (high == 1 or high <= low * _NEAR or 0.99 * reach <= width <= reach):
            return EpsilonDelta(high)
        if low == largest:
            break
        # a width is nearly proportional to 1/price; a little more, so that it is reached
        wanted = math.ceil(min(price * width / reach * 1.003, largest))
        price = max(wanted, 1) if low < wanted < high else math.isqrt(max(low, 1) * high)
    if high <= largest:
        return EpsilonDelta(high)
    raise refuse("ask.accuracy-out-of-reach", reach=asked, largest=int(LARGEST.epsilon))
