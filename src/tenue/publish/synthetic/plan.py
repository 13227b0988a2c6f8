"""What a private release will do and how good it can be, before anything is read or spent.

number of columns; never by a row.

The limits were found by measuring on a few tables (`benchmarks/private_release.py`). They decide
how good the result is, never how private.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from ...arguments import LEAST_EPSILON, Number, checked_call, law_epsilon, whole
from ...errors import Refused, nearest, refuse
from ...privacy.loss import EpsilonDelta
from ...schema import Schema
from ...schema.schema import given_schema
from ...schema.table import RECORD
from ...text import exactly, html_facts, many, percent, sentence, wrapped_facts
from .bayes_network import Network
from .copula import Copula
from .domain import Domain
from .independent_columns import Columns
from .microaggregation import Microaggregation
from .privtree import Tree
from .synthesis import Synthesis
from .two_stage import TwoStage

if TYPE_CHECKING:
    from ...report.picture import Picture


WAYS: dict[str, type[Synthesis]] = {
    way.name: way for way in (Tree, TwoStage, Columns, Copula, Network, Microaggregation)
}


# Which way of drawing a private table is taken: by the number of rows, epsilon, and the types
# and.

FEW = 1_000
"""Below so many rows times epsilon no way tells much."""
_PAIRS = 10_000
_MANY_COLUMNS, _MANY_MIXED = 5, 6
"""From so many columns on other ways are taken; the latter where some are numbers, some not."""
_DISTINCT = 512
_COPULA_LEAST, _COPULA_MOST = 10, 75_000
_NETWORK_LEAST = 600
_NUMBERS_LEAST, _NUMBERS_MOST = 250, 2_000
"""Between so many rows times epsilon a column, some of many columns that are numbers are worth more
together than a network of all."""
_COLUMNS_LEAST = 40
"""Below so many rows times epsilon a column, each of few columns by itself has too little."""
_COPULA_OF_FEW = 2_500
"""Up to so many rows times epsilon a column, a correlation of each two of few columns tells more
than a closer look."""
_TREE_OF_TWO = 50_000
"""From so many rows times epsilon on, a tree of two columns is finer than tables of groups."""


def chosen_way(domain: Domain, rows: int, epsilon: Fraction) -> tuple[str, str]:
    """The name of the way, and the reason in a sentence."""
    columns, strength = len(domain.axes), rows * epsilon
    told = f"rows times epsilon is {_short(strength)}"
    little = f"{sentence(told)}, too little to see how {columns} columns depend on each other."
    numeric = all(axis.ordered for axis in domain.axes)
    if columns == 1:
        if domain.axes[0].ordered:
            return (
                "tree",
                "There is one column of numbers, and a tree looks closer where more rows are.",
            )
        return "columns", "There is one column of categories, and each gets a noisy count."
    several = sum(axis.ordered for axis in domain.axes) > 1
    if columns >= (_MANY_MIXED if several and not numeric else _MANY_COLUMNS):
        each = strength / columns
        if numeric:
            if strength < _COPULA_LEAST * columns**2:
                return "columns", little
            enough = f"There are {columns} columns of numbers, and {told}: enough for"
            if each <= _COPULA_MOST:
                return "copula", f"{enough} a correlation of each two."
            return "network", f"{enough} tables of two or three."
        if several and _NUMBERS_LEAST <= each < _NUMBERS_MOST:
            joined = "one table of the numbers" if strength < _PAIRS else "tables of two"
            mixed = f"There are {columns} columns, not all of numbers, and {told}"
            return "two-stage", f"{mixed}: enough for {joined}."
        if each < _NETWORK_LEAST:
            return "columns", little
        enough = "enough for tables of two or three."
        return "network", f"There are {columns} columns, not all of numbers, and {told}: {enough}"
    if not numeric:
        mixed = f"There are {columns} columns, not all of numbers, and {told}"
        if strength >= _PAIRS:
            return "two-stage", f"{mixed}: enough for tables of two."
        if strength >= FEW and several:
            return "two-stage", f"{mixed}: enough for one table of the numbers."
        return "columns", f"{mixed}: too little for tables of two."
    if strength < FEW:
        # made-up tables of three and four columns with 2,000 rows: at epsilon .05 a tree halves the
        # distances of skewed ones and is a third worse on normal ones; at .2 columns alone win
        least = columns == 2 or strength < _COLUMNS_LEAST * columns
        way = "tree" if least else "columns"
        return way, f"{sentence(told)}, which is little: expect a coarse picture."
    # one column of few values among finer ones does not keep these from following a normal law
    heaped = all(axis.size <= _DISTINCT for axis in domain.axes)
    if not heaped and strength <= _COPULA_OF_FEW * columns:
        enough = "enough for a correlation of each two."
        return "copula", f"There are {columns} columns of numbers, and {told}: {enough}"
    if columns > 2 or heaped or strength < _TREE_OF_TWO:
        seen = "enough to see each by itself, then all together."
        return "two-stage", f"There are {columns} columns of numbers, and {told}: {seen}"
    return "tree", "There are two columns of numbers, and a tree looks closer where more rows are."


def _short(number: Fraction) -> str:
    return f"{round(number):,}" if number >= 10 else f"{float(number):.2g}"


# What a private release will do and how good it can be, before anything is read or spent.

AUTO: Literal["auto"] = "auto"
_OTHER_PRICES = tuple(Fraction(2) ** power for power in range(-3, 4))
_WIDE = Fraction(1, 4)
"""Noise of a mean, over the width of its domain, that hides most of it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasePlan:
    """What `publish(method="private")` would do. It reads no row and costs nothing.

    by: the way, and `reason`, a sentence, why it is taken.
    expected_error: by how much the share of rows in a random interval of a random column is
        expected to be off, from noise and resolution alone, for values spread evenly over their
        domain; what the rows' own shape adds is unknown before, and is not said after.
    k, clusters, sensitivity, scale: of microaggregation: rows in a cluster, how many clusters, by
        how much one record moves all normalised centroids together, and the noise of a centroid
        of each column, in its own unit. None for other ways.
    """

    by: str
    reason: str
    rows: int
    epsilon: Fraction
    expected_error: float
    parameters: Mapping[str, str]
    k: int | None = None
    clusters: int | None = None
    sensitivity: float | None = None
    scale: Mapping[str, float] | None = None
    way: Synthesis = field(repr=False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the holder should think about before spending."""
        found = []
        if self.rows * self.epsilon < FEW:
            found.append(
                f"Little can be seen of {many(self.rows, 'row')} at epsilon "
                f"{exactly(self.epsilon)}: expect a coarse picture, or spend more."
            )
        if self.sensitivity is not None and self.sensitivity > _WIDE * self.epsilon:
            wide = percent(self.sensitivity / float(self.epsilon))
            found.append(
                f"The mean of a group has noise of {wide} of the width of its domain, which hides "
                "what it was: choose a larger k or another way."
            )
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        return {
            "by": self.by,
            "reason": self.reason,
            "rows": self.rows,
            "epsilon": exactly(self.epsilon),
            "expected_error": self.expected_error,
            "parameters": dict(self.parameters),
            "k": self.k,
            "clusters": self.clusters,
            "sensitivity": self.sensitivity,
            "scale": None if self.scale is None else dict(self.scale),
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict())

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("By", f"{self.by}: {self.way.mechanism}."),
            ("Because", self.reason),
            ("Price", f"Epsilon {exactly(self.epsilon)}, for a table of {many(self.rows, 'row')}."),
            (
                "Error",
                f"The share of rows between two values of a column would be off by "
                f"{percent(self.expected_error)} on average if values were spread evenly between "
                "their bounds. What their true shape adds is not known before.",
            ),
            *((sentence(name), value) for name, value in self.parameters.items()),
            *(("WARNING", text) for text in self.warnings),
        ]

    def picture(self) -> Picture:
        """What `tn.report.plot` draws: what the same way would err for other prices, without rows;
        prices that are too small for it are left out."""
        from ...report.picture import Axis, Curve, Dots, Panel, Picture, Words

        points = []
        for factor in _OTHER_PRICES:
            with suppress(Refused):
                price = price_of(self.epsilon * factor)
                other = planned(self.way.domain, self.rows, price, self.by, self.k or AUTO)
                points.append((float(price), other.expected_error))
        here = float(self.epsilon), self.expected_error
        told = f"epsilon {exactly(self.epsilon)}: {percent(self.expected_error)}"
        panel = Panel(
            [
                Curve(points),
                Dots([here]),
                Words(told, *here, tone="main", bold=True, right=9, down=-9),
            ],
            x=Axis("epsilon", log=True, ticks=tuple(price for price, _ in points), write="~g"),
            y=Axis(low=0, high=1.15 * max(error for _, error in points), write=".1%", grid=True),
            title="by how much the share of rows between two values would be off",
            width=440,
            height=240,
        )
        return Picture(
            f"A private table of {many(self.rows, 'row')}, by {self.by}",
            [panel],
            "if values were spread evenly; what their true shape adds is not known before",
        )

    def __str__(self) -> str:
        return "\n".join(["Plan of a private table", *wrapped_facts(self._facts())])

    def _repr_html_(self) -> str:
        rows = html_facts(self._facts())
        return f"<table class='tenue-plan'><tbody>{rows}</tbody></table>"


@checked_call
def plan_release(
    schema: Schema | str | os.PathLike[str] | Mapping[str, Any],
    n: int | None = None,
    epsilon: Number | None = None,
    by: str = AUTO,
    k: int | Literal["auto"] = AUTO,
) -> ReleasePlan:
    """What a private release will do, and the error to expect; reads no row, costs nothing.

    Parameters
        schema: a `Schema`, or the path of its file.
        n: how many rows the table has; None for the number that the schema states.
        epsilon: the price.
        by: "auto", or the name of a way.
        k: rows in a cluster; giving it means microaggregation.

    Example
        >>> plan = plan_release({
        ...     "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        ...     "columns": {"x": {"type": "number", "bounds": [0, 1000]}}}, n=10_000, epsilon=1)
        >>> plan.by
        'tree'
    """
    described, _ = given_schema(schema)
    check_promisable(described)
    if epsilon is None:
        raise refuse("publish.private-epsilon-missing")
    rows = described.rows if n is None else whole(n, "n", least=1)
    if rows is None:
        raise refuse("publish.row-count-unknown", name=described.name)
    return planned(Domain.of(described), rows, price_of(epsilon), by, k)


def price_of(epsilon: object) -> Fraction:
    """Epsilon in whole billionths, rounded up, by which law and debit go alike."""
    return law_epsilon(EpsilonDelta.of(epsilon).epsilon)


def check_promisable(schema: Schema) -> None:
    """Refuses a table whose number of rows is secret, or in which a person has several rows."""
    if schema.unit != RECORD:
        raise refuse("publish.private-unit-not-record", unit=schema.unit)
    if schema.neighbours != "replace":
        raise refuse("publish.private-row-count-secret")


def planned(
    domain: Domain, rows: int, epsilon: Fraction, by: str = AUTO, k: int | Literal["auto"] = AUTO
) -> ReleasePlan:
    """The plan from public facts alone."""
    options: dict[str, Any] = {}
    if k != AUTO:
        if by not in (AUTO, "microaggregation"):
            raise refuse("publish.k-without-clusters", by=by)
        by, reason = "microaggregation", "It was asked for with k, the rows in a cluster."
        if isinstance(k, Mapping):
            raise refuse("publish.one-k-only")
        options["k"] = whole(k, "k", least=1)
    elif by == AUTO:
        by, reason = chosen_way(domain, rows, epsilon)
    else:
        if by not in WAYS:
            listed = ", ".join(f'"{name}"' for name in (AUTO, *WAYS))
            near = nearest(str(by), (AUTO, *WAYS))
            raise refuse(
                "publish.unknown-option-value", name="by", given=by, listed=listed, nearest=near
            )
        usual, _ = chosen_way(domain, rows, epsilon)
        also = "and is what suits the table" if usual == by else f"instead of {usual}"
        reason = f"It was asked for, {also}."
    way = WAYS[by].planned(domain, rows, epsilon, **options)
    if way.least_epsilon < LEAST_EPSILON:
        needed = epsilon * LEAST_EPSILON / way.least_epsilon
        raise refuse(
            "publish.epsilon-split-too-thin",
            epsilon=exactly(epsilon),
            by=by,
            columns=len(domain.axes),
            needed=exactly(EpsilonDelta.of(needed).epsilon),
        )
    moved = getattr(way, "sensitivity", None)
    return ReleasePlan(
        by=by,
        reason=reason,
        rows=rows,
        epsilon=epsilon,
        expected_error=way.expected_error,
        parameters=way.parameters,
        k=getattr(way, "k", None),
        clusters=getattr(way, "clusters", None),
        sensitivity=None if moved is None else float(moved),
        scale=getattr(way, "scale", None),
        way=way,
    )
