"""Suggested limits, as people and programs see them: quantiles, and the noise at each of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from ...number import Number, fraction_of_one
from ...promise import Certificate
from ...promise.loss import EpsilonDelta
from ...schema import Column, Named, Schema
from ...schema import Number as NumberColumn
from ...screen.number import exactly, plain, readable, shortly
from ...screen.page import notes
from ...screen.table import html_table, text_table
from ..family.reading import SHOWN_LEVEL
from ..plan.make import make_plan
from ..question import Aggregate, Output, Question
from .quantile import Quantiles

TYPICAL = Fraction(1)
"""The epsilon of the questions whose noise is shown."""
_UNKNOWN = (
    "What cutting at these limits costs is not known: nothing here tells how much of anybody lies "
    "above them, and no ± has it."
)


@dataclass(frozen=True)
class Typical:
    """A typical question, and its 95 % half-width at the limit that each quantile suggests."""

    question: str
    half_widths: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class Suggestion:
    """Limits that most persons stay below, chosen in private.

    Guarantee
        Everything here is computed from the chosen quantiles, the schema and the price.

    Attributes
        rows: how many rows a person has, at each of the quantiles.
        groups: in how many groups a person is; None where no groups were named.
        sums: between which ends a person's sum of the column lies; None without a column.
        rows_per_unit, groups_per_unit, bounds_per_unit: what is recommended: the limits at the
            highest quantile.
        price: the epsilon debited for it; 0 if it was answered before.
    """

    plan: Quantiles
    schema: Schema
    column: str | None
    chosen: tuple[tuple[int, ...], ...]
    certificate: Certificate
    price: Fraction
    replayed: bool = False

    @property
    def quantiles(self) -> tuple[Fraction, ...]:
        """The shares of persons that the limits are for."""
        return self.plan.shares

    def _of(self, kind: str) -> tuple[int, ...] | None:
        """The quantiles of one kind, in order: to sort what was chosen is free."""
        for sought, values in zip(self.plan.sought, self.chosen, strict=True):
            if sought.contribution.kind == kind:
                return tuple(sorted(values, reverse=kind == "least"))
        return None

    @property
    def rows(self) -> tuple[int, ...]:
        return self._of("rows") or ()

    @property
    def groups(self) -> tuple[int, ...] | None:
        return self._of("cells")

    @cached_property
    def sums(self) -> tuple[tuple[Fraction, Fraction], ...] | None:
        if self.column is None:
            return None
        column = self.schema.column(self.column)
        assert isinstance(column, NumberColumn)  # noqa: S101 - others were refused
        nothing = (0,) * len(self.quantiles)
        lows, highs = self._of("least") or nothing, self._of("largest") or nothing
        return tuple(
            (min(low, 0) * column.grid, max(high, 0) * column.grid)
            for low, high in zip(lows, highs, strict=True)
        )

    @property
    def rows_per_unit(self) -> int:
        return self.rows[-1]

    @property
    def groups_per_unit(self) -> int | None:
        return None if self.groups is None else self.groups[-1]

    @property
    def bounds_per_unit(self) -> tuple[Fraction, Fraction] | None:
        """None as well where the sum of nearly everybody is 0, at which nothing can be cut."""
        ends = None if self.sums is None else self.sums[-1]
        return ends if ends is not None and any(ends) else None

    def rank_error(self, level: Number) -> float:
        """By how many persons the rank of each quantile is off at most, with probability `level`;
        the largest of all."""
        outside = 1 - float(fraction_of_one(level, "level"))
        return max(
            selection.misses(outside)
            for sought in self.plan.sought
            for selection in self.plan.selections(sought)
        )

    # -- what each limit means for a question --------------------------------------------------

    @cached_property
    def typical(self) -> tuple[Typical, ...]:
        """The noise of typical questions, each at epsilon 1, at the limits of each quantile."""
        unit, column = self.schema.unit, self.column
        found = [Typical("COUNT(*)", self._widths(Aggregate("count")))]
        if self.groups is not None:
            widths = self._widths(Aggregate("units"), groups=True)
            found.append(Typical(f"COUNT(DISTINCT {unit}) by group", widths))
        if column is not None:
            total, by = Aggregate("sum", column), self.groups is not None
            name = f"SUM({column})" + " by group" * by
            found.append(Typical(f"{name}, rows cut", self._widths(total, groups=by)))
            found.append(Typical(f"{name}, sums cut", self._widths(total, groups=by, sums=True)))
        return tuple(found)

    def _widths(
        self, asked: Aggregate, *, groups: bool = False, sums: bool = False
    ) -> tuple[float, ...]:
        keys = self.plan.keys if groups else ()
        question = Question(self.schema.name, (Output("n", asked),), keys)
        found = []
        for place in range(len(self.quantiles)):
            ends = None if not sums or self.sums is None else self.sums[place]
            if ends is not None and not any(ends):
                found.append(0.0)
                continue
            stated = replace(
                self.schema,
                rows=None,
                rows_per_unit=self.rows[place],
                groups_per_unit=self.groups[place] if groups and self.groups else None,
                columns=self._columns(ends),
            )
            plan = make_plan(question, stated, EpsilonDelta.of(TYPICAL))
            ways = [c for c in plan.candidates if ("cut by person" in c.mechanism) == sums]
            found.append(min(way.expectations[0].half_width or 0.0 for way in ways))
        return tuple(found)

    def _columns(self, ends: tuple[Fraction, Fraction] | None) -> Named[Column]:
        """The columns of the schema, with these ends for the sums of the one asked about."""
        return Named(
            (
                name,
                replace(column, bounds_per_unit=ends)
                if isinstance(column, NumberColumn) and name == self.column
                else column,
            )
            for name, column in self.schema.columns.items()
        )

    # -- shapes --------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        ends = self.bounds_per_unit
        return {
            "unit": self.schema.unit,
            "quantiles": [exactly(share) for share in self.quantiles],
            "rows": list(self.rows),
            "groups": None if self.groups is None else list(self.groups),
            "column": self.column,
            "sums": None if self.sums is None else [list(map(plain, pair)) for pair in self.sums],
            "recommended": {
                "rows_per_unit": self.rows_per_unit,
                "groups_per_unit": self.groups_per_unit,
                "bounds_per_unit": None if ends is None else list(map(plain, ends)),
            },
            "rank_95": self.rank_error(SHOWN_LEVEL),
            "typical": [
                {"question": one.question, "epsilon": exactly(TYPICAL), "interval_95": one_widths}
                for one in self.typical
                for one_widths in [list(one.half_widths)]
            ],
            "unknown": _UNKNOWN,
            "price": exactly(self.price),
            "replayed": self.replayed,
            "certificate": self.certificate.to_dict(),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def _table(self) -> list[list[str]]:
        unit, limits = self.schema.unit, list[tuple[str, Sequence[str]]]()
        limits.append((f"rows of a {unit}", [self._shown(n, "rows") for n in self.rows]))
        if self.groups is not None:
            limits.append((f"groups of a {unit}", [self._shown(n, "cells") for n in self.groups]))
        if self.sums is not None:
            ends = [f"{readable(low)} to {readable(high)}" for low, high in self.sums]
            limits.append((f"sum of {self.column} of a {unit}", ends))
        noise = [(f"± of {one.question}", [*map(shortly, one.half_widths)]) for one in self.typical]
        header = ["", *(f"{float(100 * share):.10g} %" for share in self.quantiles)]
        return [header, *([name, *cells] for name, cells in [*limits, *noise])]

    def _shown(self, number: int, kind: str) -> str:
        last = next(one.last for one in self.plan.sought if one.contribution.kind == kind)
        return f"{number:,} or more" if kind == "rows" and number == last else f"{number:,}"

    def _notes(self) -> list[str]:
        share = f"{float(100 * self.quantiles[-1]):.10g} %"
        stated = [f"rows_per_unit = {self.rows_per_unit}"]
        if self.groups_per_unit is not None:
            stated.append(f"groups_per_unit = {self.groups_per_unit}")
        if self.bounds_per_unit is not None:
            ends = ", ".join(exactly(end) for end in self.bounds_per_unit)
            stated.append(f"bounds_per_unit = [{ends}] for {self.column}")
        paid = (
            f"epsilon {exactly(self.price)}" if not self.replayed else "answered before, no charge"
        )
        return [
            f"Recommended, so that about {share} of persons are not cut: {'; '.join(stated)}.",
            f"A column is for that share of persons, give or take "
            f"{shortly(self.rank_error(SHOWN_LEVEL))} persons with 95 %. ± is what a question at "
            f"epsilon {exactly(TYPICAL)} has with 95 %, at the limit above it.",
            _UNKNOWN,
            f"{paid}, selection of {len(self.plan.sought) * len(self.quantiles)} quantiles",
        ]

    def __str__(self) -> str:
        return "\n".join([*text_table(self._table(), left=1), *notes(self._notes())])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self._table(), after=self._notes())
