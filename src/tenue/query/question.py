"""A question, once it is understood: a closed grammar, typed against the schema.

A question is a value. Two texts that mean the same have the same value, and `canonical` writes it
down for the ledger's cache.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Literal

from ..engine.request import Key, Predicate
from ..frozen import dataclass


@dataclass(frozen=True)
class Aggregate:
    """What is asked of the rows of a group.

    kind: one that a family of aggregates declares (`family/`).
    column, other: of which columns; None for all rows.
    q: which quantile.
    """

    kind: str
    column: str | None = None
    other: str | None = None
    q: Fraction | None = None

    def __repr__(self) -> str:
        # `canonical` is made of this: a question keeps its text when aggregates are added
        more = "".join(
            f", {name}={value!r}"
            for name, value in (("other", self.other), ("q", self.q))
            if value is not None
        )
        return f"Aggregate(kind={self.kind!r}, column={self.column!r}{more})"

    @property
    def name(self) -> str:
        """The SQL function."""
        if self.kind == "quantile":
            return "MEDIAN" if self.q == Fraction(1, 2) else "QUANTILE"
        return "COUNT" if self.kind == "units" else self.kind.upper()


@dataclass(frozen=True)
class Constant:
    """A number the analyst wrote."""

    value: Fraction


@dataclass(frozen=True)
class Arithmetic:
    """An operation on private answers: free, because they are already private."""

    operator: Literal["+", "-", "*", "/"]
    left: Expression
    right: Expression


Expression = Aggregate | Constant | Arithmetic


@dataclass(frozen=True)
class KeyOutput:
    """A column of the answer that repeats the group's key: the place of the key in `keys`."""

    alias: str
    key: int


@dataclass(frozen=True)
class Output:
    """A column of the answer that is computed from private answers."""

    alias: str
    expression: Expression


@dataclass(frozen=True)
class Comparison:
    """HAVING: outputs or keys (by alias) compared with a constant, after the noise.

    A key is compared with the values its column has in the answer; text keys know only = and <>.
    """

    alias: str
    operator: Literal["=", "<>", "<", "<=", ">", ">="]
    value: Fraction | str | bool


@dataclass(frozen=True)
class Order:
    """ORDER BY an alias, after the noise."""

    alias: str
    descending: bool = False


@dataclass(frozen=True)
class Question:
    """What is asked of one table.

    outputs: the columns of the answer, in the order asked.
    keys: GROUP BY; every declared cell appears in the answer, present in the data or not.
    where: which rows; None for all.
    having, order, limit: what is done with the private answer, at no price. `having` is a
        conjunction.
    """

    table: str
    outputs: tuple[KeyOutput | Output, ...]
    keys: tuple[Key, ...] = ()
    where: Predicate | None = None
    having: tuple[Comparison, ...] = ()
    order: tuple[Order, ...] = ()
    limit: int | None = None

    @property
    def cells(self) -> int:
        """How many groups the answer has before HAVING and LIMIT."""
        count = 1
        for key in self.keys:
            count *= key.cells
        return count

    @property
    def canonical(self) -> str:
        """One text for one meaning."""
        return repr(self)

    @property
    def digest(self) -> str:
        """A short name for the ledger."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()

    def aggregates(self) -> tuple[Aggregate, ...]:
        """The different aggregates, in the order they first appear."""
        found: dict[Aggregate, None] = {}

        def walk(expression: Expression) -> None:
            if isinstance(expression, Aggregate):
                found[expression] = None
            elif isinstance(expression, Arithmetic):
                walk(expression.left)
                walk(expression.right)

        for output in self.outputs:
            if isinstance(output, Output):
                walk(output.expression)
        return tuple(found)
