"""A question with every way to answer it and the one chosen, as people and programs see it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ...engine.request import Request
from ...mechanism.additive_noise import Part
from ...noise.criterion import Criterion
from ...privacy.loss import EpsilonDelta
from ...text import exactly, html_table, notes, sentence, shortly, text_table
from ..aggregates.reading import Expectation, Reading
from ..aggregates.strategy import Strategy
from ..question import Question
from .truncation import NOT_COVERED, OFFERED, CutCount, Limit, cut_count

DECLARED = "declared by the schema"
"""The mechanism of what is public: no row is read, and nothing is paid."""


@dataclass(frozen=True)
class Candidate:
    """One admissible way to answer.

    only_if_asked: why it is never chosen unasked, for people; empty for all others.
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
class Plan:
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

    @cached_property
    def offer(self) -> CutCount | None:
        """What a part of the price would buy: how many persons are above the limits; None where
        that was bought, nothing can be cut, or the price is too small to be shared."""
        measured = all(limit.measured is not None for limit in self.limits)
        if self.cut is not None or not (self.limits and measured) or not self.price.part(OFFERED):
            return None
        return cut_count(self.limits, self.request, self.neighbours, OFFERED, self.price)

    @property
    def interval_epsilon(self) -> Fraction:
        """The part of the price that went into the ends of value intervals."""
        ends = (draw.epsilon for draw in self.strategy.draws if draw.for_interval)
        return sum(ends, start=Fraction(0))

    @property
    def counted(self) -> str:
        """What of each person counts, in words; empty if all does."""
        return ", and ".join(limit.words for limit in self.limits)

    @cached_property
    def epsilon(self) -> Fraction:
        """The epsilon that it costs."""
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
        return {
            "question": self.sql,
            **self.price.to_dict(),
            "neighbours": self.neighbours,
            "unit": self.unit,
            "cells": self.cells,
            "counted": self.counted,
            "limits": [limit.to_dict() for limit in self.limits],
            "measure_cut": self._measured_cut(),
            "criterion": str(self.criterion),
            "interval": None
            if self.interval is None
            else {"level": exactly(self.interval), "epsilon": exactly(self.interval_epsilon)},
            "chosen": self.chosen.to_dict(),
            "candidates": [candidate.to_dict() for candidate in self.candidates],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def _measured_cut(self) -> dict[str, Any] | None:
        found = self.cut or self.offer
        if found is None:
            return None
        return {
            "share": exactly(found.share),
            "epsilon": exactly(found.epsilon),
            "interval_95": found.half_width,
            "bought": self.cut is not None,
        }

    def _head(self) -> str:
        cells = f", {self.cells:,} cells" if self.question.keys else ""
        price = f"epsilon {exactly(self.epsilon)}"
        return f"{price}, neighbours {self.neighbours}, unit {self.unit}{cells}"

    def _table(self) -> list[list[str]]:
        """What people see: a header, and a row for each output of each candidate."""
        rows = [["", "mechanism", "output", "mean |error|", "95 % within ±"]]
        for candidate in self.candidates:
            mark = "→" if candidate is self.chosen else " "
            for place, e in enumerate(candidate.expectations):
                name = [mark, candidate.mechanism] if place == 0 else ["", ""]
                words = e.words or (shown(e.expected_error), shown(e.half_width))
                rows.append([*name, e.alias, *words])
        return rows

    def _notes(self) -> list[str]:
        """What the table leaves to be said."""
        said = []
        words = {word for row in self._table() for word in row}
        if "after" in words:
            said.append("“after” is told with the answer: it depends on the number of rows.")
        if self.limits:
            said.append(sentence(f"{self.counted}; {NOT_COVERED}."))
            said += self._of_cut()
        said += dict.fromkeys(e.note for e in self.chosen.expectations if e.note)
        if self.interval is not None:
            said.append(self._bought())
        if self.free:
            said.append(
                "The number of rows is public (neighbours replace, all rows) and the schema states "
                "it: no row is read, and it costs nothing."
            )
        said += [one.only_if_asked for one in self.candidates if one.only_if_asked]
        told = (e.legend for one in self.candidates for e in one.expectations)
        return [*said, *dict.fromkeys(legend for legend in told if legend)]

    def __str__(self) -> str:
        lines = text_table(self._table(), left=3)
        return "\n".join([self.sql, self._head(), "", *lines, *notes(self._notes())])

    def _repr_html_(self) -> str:
        return html_table(self._table(), [self.sql, self._head()], self._notes())

    def _of_cut(self) -> list[str]:
        """The offer to buy how many persons are above the limits, or that it is bought."""
        found = self.cut or self.offer
        if found is None:
            return []
        above = "the limit" if len(self.limits) == 1 else "each limit"
        word = "Offer" if self.cut is None else "Bought"
        return [
            f"{word}: with measure_cut {exactly(found.share)}, epsilon "
            f"{exactly(found.epsilon)} of {exactly(self.epsilon)} buys how many persons "
            f"are above {above}, ± {shortly(found.half_width)} with 95 %. It bounds persons cut, "
            "not rows."
        ]

    def _bought(self) -> str:
        part = f"epsilon {exactly(self.interval_epsilon)} of {exactly(self.epsilon)} buys them"
        return (
            f"The answer has intervals in values at {float(self.interval or 0):.10g}: "
            + (part if self.interval_epsilon else "an extreme and its bound cost nothing more")
            + "."
        )

    def __repr__(self) -> str:
        return str(self)


def shown(number: float | None) -> str:
    """A number to three digits, or "after" where it can only be told with the answer."""
    return "after" if number is None else shortly(number)
