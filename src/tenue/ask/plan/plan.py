"""A question with its candidates and the chosen one, as people and programs see it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ...engine.computed_column import steps_of
from ...engine.request import Request
from ...mechanism.additive_noise import Part
from ...noise.criterion import Criterion
from ...privacy.loss import EpsilonDelta
from ...text import exactly, html_table, notes, sentence, shortly, text_table
from ..aggregates.reading import Expectation, Reading
from ..aggregates.strategy import Strategy
from ..cells import Shown
from ..question import Question
from .truncation import NOT_COVERED, OFFERED, CutCount, Limit, cut_count

DECLARED = "declared by the schema"
"""The mechanism of a public answer: no row is read, and nothing is paid."""


@dataclass(frozen=True)
class Candidate:
    """One admissible strategy, as a plan shows it.

    only_if_asked: why it must be asked for, as text; empty for all others.
    """

    mechanism: str
    epsilon: Fraction
    expectations: tuple[Expectation, ...]
    score: float
    only_if_asked: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "mechanism": self.mechanism,
            "epsilon": exactly(self.epsilon),
            **({"only_if_asked": self.only_if_asked} if self.only_if_asked else {}),
            "outputs": [
                {
                    "alias": e.alias,
                    "expected_error": e.expected_error,
                    "interval_95": e.half_width,
                    "standard_deviation": e.standard_deviation,
                    "rank_95": e.rank,
                    "votes_95": e.votes,
                }
                for e in self.expectations
            ],
        }


@dataclass(frozen=True, repr=False)
class Plan(Shown):
    """A question with its candidates and the chosen one. Reads no rows."""

    question: Question
    sql: str
    neighbours: str
    unit: str
    criterion: Criterion
    price: EpsilonDelta
    candidates: tuple[Candidate, ...]
    chosen: Candidate
    strategy: Strategy
    request: Request
    readings: tuple[Reading, ...]
    needs_row_count: bool
    interval: Fraction | None = None
    limits: tuple[Limit, ...] = ()
    cut: CutCount | None = None
    warnings: tuple[str, ...] = ()

    @cached_property
    def offer(self) -> CutCount | None:
        """What a part of the price could measure: how many persons are above the limits. None where
        it does, nothing can be truncated, or the price is too small to be shared."""
        limits = self.truncating
        measured = all(limit.measured is not None for limit in limits)
        if self.cut is not None or not (limits and measured) or not self.price.part(OFFERED):
            return None
        return cut_count(limits, self.request, self.neighbours, OFFERED, self.price)

    @property
    def interval_epsilon(self) -> Fraction:
        """The part of the price that pays for intervals in values."""
        ends = (draw.epsilon for draw in self.strategy.draws if draw.for_interval)
        return sum(ends, start=Fraction(0))

    @property
    def truncating(self) -> tuple[Limit, ...]:
        """The limits on what one person contributes."""
        return tuple(limit for limit in self.limits if limit.kind != "unit")

    @property
    def counted(self) -> str:
        """The contribution limits as text; empty if none can truncate."""
        return ", and ".join(limit.words for limit in self.limits)

    @property
    def caveats(self) -> list[str]:
        """What no rendering may leave out: too much noise, and limits that may truncate."""
        limits = [sentence(f"{self.counted}; {NOT_COVERED}.")] if self.limits else []
        return [*self.warnings, *limits]

    @cached_property
    def epsilon(self) -> Fraction:
        """Its price."""
        return self.price.epsilon

    @cached_property
    def free(self) -> bool:
        """Whether the answer is public: no row is read for it."""
        return self.strategy.name == DECLARED

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.strategy.parts

    @property
    def cells(self) -> int:
        return self.question.cells

    def to_dict(self) -> dict[str, Any]:
        cut, interval = self.cut or self.offer, None
        if self.interval is not None:
            interval = {
                "level": exactly(self.interval),
                "epsilon": exactly(self.interval_epsilon),
            }
        return {
            "question": self.sql,
            **self.price.to_dict(),
            "neighbours": self.neighbours,
            "unit": self.unit,
            "cells": self.cells,
            "counted": self.counted,
            "limits": [limit.to_dict() for limit in self.limits],
            "measure_cut": None
            if cut is None
            else {
                "share": exactly(cut.share),
                "epsilon": exactly(cut.epsilon),
                "interval_95": cut.half_width,
                "bought": self.cut is not None,
            },
            "criterion": str(self.criterion),
            **({"warnings": list(self.warnings)} if self.warnings else {}),
            "interval": interval,
            "chosen": self.chosen.to_dict(),
            "candidates": [candidate.to_dict() for candidate in self.candidates],
        }

    def _head(self) -> str:
        cells = f", {self.cells:,} cells" if self.question.keys else ""
        price = f"epsilon {exactly(self.epsilon)}"
        return f"{price}, neighbours {self.neighbours}, unit {self.unit}{cells}"

    def _table(self) -> list[list[str]]:
        rows = [["", "mechanism", "output", "mean |error|", "95 % within ±"]]
        for candidate in self.candidates:
            name = ["→" if candidate is self.chosen else " ", candidate.mechanism]
            for e in candidate.expectations:
                errors = e.words or (shown(e.expected_error), shown(e.half_width))
                rows.append([*name, e.alias, *errors])
                name = ["", ""]
        return rows

    def _notes(self) -> list[str]:
        texts = [*self.warnings]
        if any("after" in row for row in self._table()):
            texts.append(
                "“after”: reported with the answer, because it depends on the number of rows."
            )
        if self.limits:
            texts.append(sentence(f"{self.counted}; {NOT_COVERED}."))
            texts += self._count_above()
        texts += dict.fromkeys(e.note for e in self.chosen.expectations if e.note)
        texts += own_grids(self.question)
        if self.interval is not None:
            cost = "an extreme and its bound cost nothing more"
            if self.interval_epsilon:
                part = exactly(self.interval_epsilon)
                cost = f"epsilon {part} of {exactly(self.epsilon)} pays for them"
            level = f"{float(self.interval):.10g}"
            texts.append(f"The answer has confidence intervals in values at {level}: {cost}.")
        if self.free:
            texts.append(
                "The number of rows is public (neighbours replace, all rows) and the schema states "
                "it: no row is read, and it costs nothing."
            )
        texts += [one.only_if_asked for one in self.candidates if one.only_if_asked]
        legends = (e.legend for one in self.candidates for e in one.expectations)
        return [*texts, *dict.fromkeys(filter(None, legends))]

    def _count_above(self) -> list[str]:
        """The offer to measure how many persons are above the limits, or that it is done."""
        cut = self.cut or self.offer
        if cut is None:
            return []
        above = "the limit" if len(self.truncating) == 1 else "each limit"
        word = "Offer" if self.cut is None else "Measured"
        return [
            f"{word}: with measure_cut {exactly(cut.share)}, epsilon {exactly(cut.epsilon)} of "
            f"{exactly(self.epsilon)} measures how many persons are above {above}, "
            f"± {shortly(cut.half_width)} with 95 %. It counts persons, not rows."
        ]

    def __str__(self) -> str:
        lines = text_table(self._table(), left=3)
        return "\n".join([self.sql, self._head(), "", *lines, *notes(self._notes())])

    def _repr_html_(self) -> str:
        return html_table(self._table(), [self.sql, self._head()], self._notes())


def own_grids(question: Question) -> list[str]:
    """The grids to which quotients and functions of columns are rounded, in words."""
    inner = () if question.persons is None else question.persons.computed
    texts = []
    for computed in (*inner, *question.computed):
        steps = sorted(set(steps_of(computed.formula)))
        if steps:
            grids = " and ".join(exactly(step) for step in steps)
            texts.append(
                f"`{computed.name[1:-1]}`: quotients and functions of columns are rounded to "
                f"multiples of {grids}, which follow from the schema alone; no margin of error "
                "covers that."
            )
    return texts


def shown(number: float | None) -> str:
    """A number to three digits, or "after" where only the answer can state it."""
    return "after" if number is None else shortly(number)
