"""The answers to questions that were asked together."""

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
from .answer import MOST_SHOWN, Answer
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

    @property
    def covariance(self) -> npt.NDArray[np.float64]:
        """How the errors of all counts and sums hang together, before a row is read.

        A row and a column for each answer, for each of its cells, for each of its outputs, in the
        order in which they are asked for. Refused where answers have no joint law.
        """
        from .workload.combine import covariance

        return covariance(self)

    def combine(self, coefficients: Mapping[Any, Given]) -> Combination:
        """A weighted sum of counts and sums of this call, with its own interval, for free.

        Parameters
            coefficients: numbers, by the number of an answer, from 0; in an answer with groups by
                the number and the values of its keys: {(1, "f"): 1, 0: -1}; the name of an output
                comes last if there are several. Choose them before you see the answers: the
                interval of the most striking of many sums is no honest one.
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
        within = [(0, plain(x)) for x in labels if (first is None or first <= x) and x <= last]
        if not within:
            name = keys[0].column
            raise refuse("ask.workload-not-a-range", low=low, high=high, name=name)
        return within

    def consistent(self) -> list[Consistent]:
        """The answers made whole and not negative, for free; and where one is the total of another,
        by fewer keys and over the same rows, its parts add up to it."""
        from .consistent_answer import make_consistent

        return make_consistent([one._raw for one in self])

    def _repr_html_(self) -> str:
        found = [
            f"<p><code>{escaped(one.plan.sql)}</code></p>{one._repr_html_()}"
            for one in self[:MOST_SHOWN]
        ]
        return "".join([*found, *(f"<p>{escaped(note)}</p>" for note in self._notes("ε = "))])

    def __str__(self) -> str:
        pages = [(one.plan.sql, *one._page()) for one in self[:MOST_SHOWN]]
        # what is said of every answer is said once, below all of them
        common = [n for n in (pages[0][2] if pages else []) if all(n in said for *_, said in pages)]
        shown = [
            "\n".join([sql, *lines, *notes(n for n in said if n not in common)])
            for sql, lines, said in pages
        ]
        below = "\n".join(notes(common)).lstrip("\n")
        return "\n\n".join([*shown, *filter(None, [below]), *self._notes("epsilon ")])

    def _notes(self, word: str) -> list[str]:
        more = len(self) - MOST_SHOWN
        return [*([f"… and {more:,} answers more"] if more > 0 else []), self._note(word)]

    def _note(self, word: str) -> str:
        if len(self) == 1:
            return self[0]._cost(word)
        ways = "; ".join(dict.fromkeys(one.plan.chosen.mechanism for one in self))
        paid = f"{word}{exactly(self.price)} for {len(self)} answers together"
        if self and all(one.replayed for one in self):
            paid = f"nothing, all {len(self)} answers were given before"
        less = f"with {self.saved:.0%} less variance than if they were asked one by one"
        return f"Cost: {paid} ({ways}), {less}."

    __repr__ = __str__

    def to_json(self) -> str:
        """One JSON object: the price, what was saved, and every answer."""
        answers = [one.to_dict() for one in self]
        found = {"price": exactly(self.price), "saved": self.saved, "answers": answers}
        return json.dumps(found, ensure_ascii=False)
