"""Answers to questions that were asked together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..arguments import Number as Given
from ..arguments import exact
from ..errors import refuse
from ..schema import Number as NumberColumn
from ..text import escaped, exactly, notes, plain
from .answer import MOST_SHOWN, Answer, Earlier
from .cells import cell_labels

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .consistent_answer import Consistent
    from .workload.combine import Combination
    from .workload.plan import Workload


class Answers(list[Answer]):
    """The answers to questions that were asked together.

    price: the epsilon debited for all of them.
    saved: the share of the variance saved, against asking one by one at the same total price.
    """

    def __init__(
        self,
        answers: Sequence[Answer],
        price: Fraction,
        saved: float,
        workload: Workload | None = None,
    ) -> None:
        super().__init__(answers)
        self.price = price
        self.saved = saved
        self._workload = workload

    def _of_earlier_rows(self, earlier: Earlier) -> Answers:
        answers = [one._of_earlier_rows(earlier) for one in self]
        return Answers(answers, self.price, self.saved, self._workload)

    @property
    def covariance(self) -> npt.NDArray[np.float64]:
        """The covariance of the errors of all counts and sums, known before a row is read.

        A row and a column for each output of each cell of each answer, in the order asked. Refused
        where the answers have no joint law.
        """
        from .workload.combine import covariance

        return covariance(self)

    def combine(self, coefficients: Mapping[Any, Given]) -> Combination:
        """A weighted sum of counts and sums of this call, with its own interval. Post-processing.

        Parameters
            coefficients: numbers, by the number of an answer, from 0; in an answer with groups by
                the number and the values of its keys: {(1, "f"): 1, 0: -1}; the name of an output
                comes last if there are several. Choose them before you see the answers: the
                interval of a sum that was selected for its value is too narrow.
        """
        from .workload.combine import combine

        return combine(self, coefficients)

    def between(self, low: Given, high: Given) -> Combination:
        """How many rows are in the bins that start from `low` to `high`, for one histogram."""
        return self.combine(dict.fromkeys(self._bins(low, high), 1))

    def up_to(self, high: Given) -> Combination:
        """How many rows are in the bins that start at `high` or below, for one histogram."""
        return self.combine(dict.fromkeys(self._bins(None, high), 1))

    def _bins(self, low: Given | None, high: Given) -> list[tuple[int, Any]]:
        keys = self[0].plan.question.keys if len(self) == 1 else ()
        if len(keys) != 1 or not isinstance(self[0].schema.column(keys[0].column), NumberColumn):
            raise refuse("ask.not-a-declared-histogram")
        first = None if low is None else exact(low, "low")
        last = exact(high, "high")
        labels: list[Any] = [x for (x,) in cell_labels(self[0].plan.question, self[0].schema)]
        # exact, for the double nearest to a tenth is above a tenth
        bins = [(0, plain(x)) for x in labels if (first is None or first <= x) and x <= last]
        if not bins:
            name = keys[0].column
            raise refuse("ask.workload-not-a-range", low=low, high=high, name=name)
        return bins

    def consistent(self) -> list[Consistent]:
        """The answers as whole numbers that are not negative, as post-processing. Where one is the
        total of another, by fewer keys and over the same rows, its parts add up to it."""
        from .consistent_answer import make_consistent

        return make_consistent(self)

    def _repr_html_(self) -> str:
        tables = [
            f"<p><code>{escaped(one.plan.sql)}</code></p>{one._html(cost=False)}"
            for one in self[:MOST_SHOWN]
        ]
        return "".join([*tables, *(f"<p>{escaped(note)}</p>" for note in self._notes("ε = "))])

    def __str__(self) -> str:
        pages = [(one.plan.sql, *one._page()) for one in self[:MOST_SHOWN]]
        # notes that all answers share stand once, below all of them
        first = pages[0][2] if pages else []
        common = [note for note in first if all(note in texts for *_, texts in pages)]
        shown = [
            "\n".join([sql, *lines, *notes(note for note in texts if note not in common)])
            for sql, lines, texts in pages
        ]
        below = "\n".join(notes(common)).lstrip("\n")
        return "\n\n".join([*shown, *filter(None, [below]), *self._notes("epsilon ")])

    def _notes(self, word: str) -> list[str]:
        more = len(self) - MOST_SHOWN
        return [*([f"… and {more:,} answers more"] if more > 0 else []), self._cost(word)]

    def _cost(self, word: str) -> str:
        if len(self) == 1:
            return self[0]._cost(word)
        mechanisms = "; ".join(dict.fromkeys(one.plan.chosen.mechanism for one in self))
        paid = f"{word}{exactly(self.price)} for {len(self)} answers together"
        if self and all(one.replayed for one in self):
            paid = f"nothing, all {len(self)} answers were given before"
        less = f"with {self.saved:.0%} less variance than if they were asked one by one"
        return f"Cost: {paid} ({mechanisms}), {less}."

    __repr__ = __str__

    def to_json(self) -> str:
        """One JSON object: the price, what was saved, and every answer."""
        answers = [one.to_dict() for one in self]
        facts = {"price": exactly(self.price), "saved": self.saved, "answers": answers}
        return json.dumps(facts, ensure_ascii=False)
