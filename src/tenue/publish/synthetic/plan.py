"""The plan of a private release: its method and rough expected error, before anything is read or
spent.

The method is chosen by the number of rows, epsilon, and the types and number of columns; never by a
row. The limits were found by measuring on a few tables (`benchmarks/private_release.py`). They
decide how good the result is, never how private.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
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
from .persons import Persons
from .privtree import Tree
from .synthesis import Synthesis
from .two_stage import TwoStage

if TYPE_CHECKING:
    from ...report.picture import Picture


WAYS: dict[str, type[Synthesis]] = {
    way.name: way for way in (Tree, TwoStage, Columns, Copula, Network, Microaggregation)
}


ROUGH = (
    "It is a rough figure: measured on such values, the error was between half and twice as much, "
    "and by microaggregation up to six times as much."
)
"""How far `expected_error` was from the mean of three releases in 102 plans of one to eight
columns; `tests/unit/publish/test_synthetic_plan.py` measures some again."""
FEW = 1_000
"""Below so many rows times epsilon no method reveals much."""
_PAIRS = 10_000
_MANY_COLUMNS, _MANY_MIXED = 5, 6
"""From so many columns on other methods are chosen; the latter where some are numbers, some not."""
_DISTINCT = 512
_COPULA_LEAST, _COPULA_MOST = 10, 75_000
_NETWORK_LEAST = 600
_NUMBERS_LEAST, _NUMBERS_MOST = 250, 2_000
"""Between so many rows times epsilon a column, some of many columns that are numbers are worth more
together than a network of all."""
_COLUMNS_LEAST = 40
"""Below so many rows times epsilon a column, each of few columns by itself has too little."""
_COPULA_OF_FEW = 2_500
"""Up to so many rows times epsilon a column, a correlation of each two of few columns is worth more
than finer tables."""
_TREE_OF_TWO = 50_000
"""From so many rows times epsilon on, a tree of two columns is finer than tables of groups."""


def chosen_way(domain: Domain, rows: int, epsilon: Fraction) -> tuple[str, str]:
    """The name of the method, and the reason in a sentence."""
    columns, strength = len(domain.axes), rows * epsilon
    numbers = sum(axis.ordered for axis in domain.axes)
    numeric, each = numbers == columns, strength / columns
    product = f"{round(strength):,}" if strength >= 10 else f"{float(strength):.2g}"
    product = f"rows times epsilon is {product}"
    little = f"{sentence(product)}, too little to see how {columns} columns depend on each other."
    of_numbers = "columns of numbers" if numeric else "columns, not all of numbers"
    facts = f"There are {columns} {of_numbers}, and {product}"
    pairs, triples = (
        f"{facts}: enough for tables of two.",
        f"{facts}: enough for tables of two or three.",
    )
    grid = f"{facts}: enough for one table of the numbers."
    correlations = f"{facts}: enough for a correlation of each two."
    if columns == 1:
        if numeric:
            return (
                "tree",
                "There is one column of numbers, and a tree is finer where more rows are.",
            )
        return "columns", "There is one column of categories, and each gets a noisy count."
    if numeric and columns >= _MANY_COLUMNS:
        if strength < _COPULA_LEAST * columns**2:
            return "columns", little
        return ("copula", correlations) if each <= _COPULA_MOST else ("network", triples)
    if not numeric and columns >= (_MANY_MIXED if numbers > 1 else _MANY_COLUMNS):
        if numbers > 1 and _NUMBERS_LEAST <= each < _NUMBERS_MOST:
            return "two-stage", grid if strength < _PAIRS else pairs
        return ("columns", little) if each < _NETWORK_LEAST else ("network", triples)
    if not numeric:
        if strength < _PAIRS and (strength < FEW or numbers < 2):
            return "columns", f"{facts}: too little for tables of two."
        return "two-stage", grid if strength < _PAIRS else pairs
    if strength < FEW:
        # made-up tables of three and four columns with 2,000 rows: at epsilon .05 a tree halves the
        # distances of skewed ones and is a third worse on normal ones; at .2 columns alone win
        least = columns == 2 or strength < _COLUMNS_LEAST * columns
        reason = f"{sentence(product)}, which is little: expect a coarse picture."
        return "tree" if least else "columns", reason
    # one column of few values among finer ones does not keep these from following a normal law
    heaped = all(axis.size <= _DISTINCT for axis in domain.axes)
    if not heaped and strength <= _COPULA_OF_FEW * columns:
        return "copula", correlations
    if columns > 2 or heaped or strength < _TREE_OF_TWO:
        return "two-stage", f"{facts}: enough to see each by itself, then all together."
    return "tree", "There are two columns of numbers, and a tree is finer where more rows are."


AUTO: Literal["auto"] = "auto"
_OTHER_PRICES = tuple(Fraction(2) ** power for power in range(-3, 4))
_WIDE = Fraction(1, 4)
"""Noise of a mean, over the width of its domain, that hides most of it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasePlan:
    """The plan of `publish(method="private")`. It reads no row and costs nothing.

    by: the method of drawing; `reason`: a sentence on why it was chosen.
    expected_error: roughly the expected absolute error of the share of rows in a random interval of
        a random column, from noise and resolution alone, for values spread evenly over their
        domain; `ROUGH` says how roughly. The error from the true shape of the values is unknown
        before, and not reported afterwards.
    k, clusters, sensitivity, scale: of microaggregation: rows in a cluster, how many clusters, by
        how much one record moves all normalised centroids together, and the noise of a centroid
        of each column, in its own unit. None for other methods.
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
    persons: Persons | None = field(default=None, repr=False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the holder should consider before spending."""
        texts = []
        if self.way.rows * self.way.epsilon < FEW:
            texts.append(
                f"{sentence(many(self.rows, 'row'))} at epsilon {exactly(self.epsilon)} reveal "
                "little: expect a coarse picture, or spend more."
            )
        if self.sensitivity is not None and self.sensitivity > _WIDE * self.way.epsilon:
            wide = percent(self.sensitivity / float(self.way.epsilon))
            texts.append(
                f"The mean of a group has noise of {wide} of the width of its domain, which hides "
                "the true mean: choose a larger k or another method."
            )
        return tuple(texts)

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON values."""
        names = [field.name for field in fields(self) if field.name not in ("way", "persons")]
        return {name: getattr(self, name) for name in names} | {
            "epsilon": exactly(self.epsilon),
            "parameters": dict(self.parameters),
            "scale": None if self.scale is None else dict(self.scale),
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict())

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("By", f"{self.by}: {self.way.mechanism}."),
            ("Because", self.reason),
            ("Price", f"Epsilon {exactly(self.epsilon)}, for a table of {many(self.rows, 'row')}."),
            (
                "Error",
                "For values spread evenly between their bounds, the share of rows between two "
                f"values of a column is off by roughly {percent(self.expected_error)} on average. "
                f"{ROUGH} The error from their true shape is not known beforehand.",
            ),
            *((sentence(name), value) for name, value in self.parameters.items()),
            *(("WARNING", text) for text in self.warnings),
        ]

    def _at(self, price: Fraction) -> ReleasePlan:
        """The same method at another price."""
        if self.persons is None:
            return planned(self.way.domain, self.rows, price, self.by, self.k or AUTO)
        persons = replace(self.persons, epsilon=price)
        return planned_for(persons, self.way.domain, self.rows, self.by, self.k or AUTO)

    def picture(self) -> Picture:
        """The picture of `tn.report.plot`: the expected error of the same method at other prices,
        without those that are too small for it."""
        from ...report.picture import Axis, Curve, Dots, Panel, Picture, Words

        points = []
        for factor in _OTHER_PRICES:
            with suppress(Refused):
                price = price_of(self.epsilon * factor)
                other = self._at(price)
                points.append((float(price), other.expected_error))
        here = float(self.epsilon), self.expected_error
        label = f"epsilon {exactly(self.epsilon)}: {percent(self.expected_error)}"
        panel = Panel(
            [
                Curve(points),
                Dots([here]),
                Words(label, *here, tone="main", bold=True, right=9, down=-9),
            ],
            x=Axis("epsilon", log=True, ticks=tuple(price for price, _ in points), write="~g"),
            y=Axis(low=0, high=1.15 * max(error for _, error in points), write=".1%", grid=True),
            title="rough expected error of the share of rows between two values",
            width=440,
            height=240,
        )
        return Picture(
            f"A private table of {many(self.rows, 'row')}, by {self.by}",
            [panel],
            "a rough figure, for values spread evenly; the error from their true shape is not "
            "known beforehand",
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
    """The plan of a private release and roughly its error; reads no row and costs nothing.

    Parameters
        schema: a `Schema`, or the path of its file.
        n: how many rows the table has, of persons about how many are kept; None for the number that
            the schema states.
        epsilon: the price.
        by: "auto", or the name of a method of drawing.
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
    domain, price = Domain.of(described), price_of(epsilon)
    persons = Persons.of(described, price)
    if persons is not None:
        check_for(persons, domain, by, k)
        return planned_for(persons, domain, rows, by, k)
    return planned(domain, rows, price, by, k)


def price_of(epsilon: object) -> Fraction:
    """Epsilon in whole billionths, rounded up, for law and debit alike."""
    return law_epsilon(EpsilonDelta.of(epsilon).epsilon)


def check_promisable(schema: Schema) -> None:
    """Refuses a table of records whose number is secret, or a person without a limit of rows."""
    if schema.unit != RECORD:
        if schema.rows_per_unit is None:
            raise refuse("ask.rows-per-unit-missing", name=schema.name, unit=schema.unit)
    elif schema.neighbours != "replace":
        raise refuse("publish.private-row-count-secret")


def planned_for(
    persons: Persons,
    domain: Domain,
    rows: int,
    by: str = AUTO,
    k: int | Literal["auto"] = AUTO,
    *,
    drawn: int | None = None,
) -> ReleasePlan:
    """The plan for persons, of so many of whose rows a method reads; it never fails where
    `check_for` does not.

    drawn: how many rows are drawn; None for as many as are read.
    """
    k = k if k == AUTO or isinstance(k, Mapping) else min(whole(k, "k", least=1), rows)
    more = 0 if drawn is None else drawn - rows
    plan = planned(domain, rows, persons.row_epsilon, by, k, paid=persons.epsilon)
    return replace(
        plan,
        rows=rows + more,
        epsilon=persons.epsilon,
        parameters={**persons.parameters, **plan.parameters},
        way=replace(plan.way, more=more),
        persons=persons,
    )


_SIZES = tuple(2**power for power in range(45))


def check_for(persons: Persons, domain: Domain, by: str, k: int | Literal["auto"]) -> None:
    """Refuses options that do not suit persons, however many rows will be counted."""
    persons.check()
    for rows in _SIZES:
        planned_for(persons, domain, rows, by, k)


def planned(
    domain: Domain,
    rows: int,
    epsilon: Fraction,
    by: str = AUTO,
    k: int | Literal["auto"] = AUTO,
    *,
    paid: Fraction | None = None,
) -> ReleasePlan:
    """The plan from public facts alone.

    paid: the price that a refusal names, if it is not epsilon.
    """
    options: dict[str, Any] = {}
    if k != AUTO:
        if by not in (AUTO, "microaggregation"):
            raise refuse("publish.k-without-clusters", by=by)
        by, reason = "microaggregation", "It was chosen by k, the rows in a cluster."
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
        suits = "and it suits the table" if usual == by else f"instead of {usual}"
        reason = f"You chose it, {suits}."
    way = WAYS[by].planned(domain, rows, epsilon, **options)
    if way.least_epsilon < LEAST_EPSILON:
        price = paid or epsilon
        needed = price * LEAST_EPSILON / way.least_epsilon
        raise refuse(
            "publish.epsilon-split-too-thin",
            epsilon=exactly(price),
            by=by,
            columns=len(domain.axes),
            needed=exactly(EpsilonDelta.of(needed).epsilon),
        )
    sensitivity = getattr(way, "sensitivity", None)
    return ReleasePlan(
        by=by,
        reason=reason,
        rows=rows,
        epsilon=epsilon,
        expected_error=way.expected_error,
        parameters=way.parameters,
        k=getattr(way, "k", None),
        clusters=getattr(way, "clusters", None),
        sensitivity=None if sensitivity is None else float(sensitivity),
        scale=getattr(way, "scale", None),
        way=way,
    )
