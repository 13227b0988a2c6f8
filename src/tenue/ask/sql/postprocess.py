"""HAVING, ORDER BY and LIMIT: post-processing of the answer.

They see the columns of the answer and nothing else. A key in HAVING is compared with a
value of its column: a declared category, a boolean, the low end of a bin, or the begin of a
calendar cell, in days since 1970 began (in seconds for hours).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from ...engine.request import Bin, Calendar, Group, Key
from ...errors import nearest, refuse
from ...schema import Bounded, Category, Date, Datetime
from ...schema import Column as Declared
from ...schema.toml_values import show
from ..question import (
    Aggregate,
    Comparison,
    Expression,
    GroupingOutput,
    KeyOutput,
    Label,
    Order,
    Output,
)
from .aggregate import has_aggregate, read_expression
from .constant import Constant, instant, read_constant, refuse_value
from .output import SECONDS_PER_DAY, is_key, place, read_grouping, read_key
from .predicate import COMPARISONS, FLIPPED, Operator, chain, find_categories
from .scope import Scope, find_column, is_column, read_name, read_reference
from .tree import Tree

Column = KeyOutput | Output | GroupingOutput
"""A column of the answer."""
Content = Key | tuple[Key, ...] | Expression
"""What a column of the answer is: a key, the keys of GROUPING, or an expression."""

_MOST_COMPARISONS = 100


@dataclass(frozen=True)
class Afterwards:
    """The columns of an answer, and how HAVING and ORDER BY find them."""

    tree: Tree
    scope: Scope
    outputs: tuple[Column, ...]
    keys: tuple[Key, ...]

    def read_having(self, having: exp.Expr | None) -> tuple[Comparison, ...]:
        """The comparisons, each once, in one order."""
        if having is None:
            return ()
        (condition,) = self.tree.parts(having, "this")
        found = set(self._comparisons(condition))
        if len(found) > _MOST_COMPARISONS:
            raise refuse(
                "ask.too-many-having-comparisons",
                many=len(found),
                most_comparisons=_MOST_COMPARISONS,
            )
        return tuple(sorted(found, key=repr))

    def read_order(self, order: exp.Expr | None) -> tuple[Order, ...]:
        """The order of the answer; of a repeated column only the first entry counts."""
        if order is None:
            return ()
        if not self.keys:
            raise refuse("ask.order-of-one-row")
        orders: dict[str, Order] = {}
        for entry in self.tree.listed(order):
            if type(entry) is not exp.Ordered:
                raise refuse("ask.order-not-allowed")
            this, descending = self.tree.read(entry, "this", "desc")
            this = self.tree.unwrap(this)
            at = place(self.tree, this, len(self.outputs))
            if at is None:
                alias = self._find(this, aliases_first=True).alias
            else:
                alias = self._first_like(self.outputs[at]).alias
            orders.setdefault(alias, Order(alias, bool(descending)))
        return tuple(orders.values())

    def read_limit(self, limit: exp.Expr | None, cells: int) -> int | None:
        """The number of rows that are kept; None for all."""
        if limit is None:
            return None
        value = None
        if type(limit) is exp.Limit:
            (expression,) = self.tree.parts(limit, "expression")
            value = read_constant(self.tree, expression)
        least = 0 if self.keys else 1
        if type(value) is not Fraction or value.denominator != 1 or value < least:
            raise refuse("ask.limit-not-a-number", least=least)
        return int(value) if value < cells else None

    def _comparisons(self, condition: exp.Expr) -> Iterator[Comparison]:
        for part in chain(self.tree, self.tree.unwrap(condition), exp.And):
            node = self.tree.unwrap(part)
            if type(node) is exp.And:
                yield from self._comparisons(node)
            elif type(node) in COMPARISONS:
                yield self._comparison(node)
            elif type(node) is exp.Between:
                this, low, high = self.tree.parts(node, "this", "low", "high")
                yield self._compared(this, ">=", read_constant(self.tree, low))
                yield self._compared(this, "<=", read_constant(self.tree, high))
            else:
                raise refuse("ask.having-not-a-comparison")

    def _comparison(self, node: exp.Expr) -> Comparison:
        left, right = self.tree.parts(node, "this", "expression")
        operator = COMPARISONS[type(node)]
        value = read_constant(self.tree, left)
        if value is None:
            return self._compared(left, operator, read_constant(self.tree, right))
        return self._compared(right, FLIPPED[operator], value)

    def _compared(self, node: exp.Expr, operator: Operator, value: Constant | None) -> Comparison:
        if value is None:
            raise refuse("ask.having-not-a-comparison")
        output = self._find(self.tree.unwrap(node), aliases_first=False)
        return Comparison(output.alias, operator, self._typed(output, operator, value))

    def _typed(self, output: Column, operator: Operator, value: Constant) -> Fraction | str | bool:
        key = self.keys[output.key] if isinstance(output, KeyOutput) else None
        if isinstance(key, Calendar | Bin):
            named_by = self.scope.schema.columns.get(key.column)
            if isinstance(named_by, Date | Datetime):
                return self._moment(key, value)
        computed = None if key is None else self.tree.computed.get(key.column)
        if computed is not None and computed.labels:
            return _labelled(output, computed.labels, operator, value)
        named = key.column if isinstance(key, Group) else _category(output)
        if named is not None:
            column = self.scope.schema.columns[named]
            if operator not in ("=", "<>"):
                raise refuse("ask.output-without-order", name=column.name, type=column.type)
            if isinstance(column, Category):
                find_categories(column, [value])
            elif not isinstance(value, bool):
                raise refuse_value(column, value)
            if isinstance(value, str | bool):
                return value
        if type(value) is not Fraction:
            raise refuse("ask.output-compared-with-text", alias=output.alias, value=show(value))
        return value

    def _moment(self, key: Calendar | Bin, value: Constant) -> Fraction:
        column = self.scope.schema.columns[key.column]
        if not isinstance(column, Bounded):
            raise refuse_value(column, value)
        number = instant(column, value)
        whole_days = isinstance(key, Calendar) and key.part != "hour"
        in_seconds = isinstance(column, Datetime) and whole_days
        return number / SECONDS_PER_DAY if in_seconds else number

    def _content(self, output: Column) -> Content:
        if isinstance(output, KeyOutput):
            return self.keys[output.key]
        if isinstance(output, GroupingOutput):
            return tuple(self.keys[place] for place in output.keys)
        return output.expression

    def _first(self, content: Content, said: str) -> Column:
        for output in self.outputs:
            if self._content(output) == content:
                return output
        raise refuse("ask.having-not-selected", said=said)

    def _first_like(self, output: Column) -> Column:
        """The first column with the same content, so that it does not matter which is named."""
        return next(o for o in self.outputs if self._content(o) == self._content(output))

    def _find(self, node: exp.Expr, *, aliases_first: bool) -> Column:
        if is_column(node):
            return self._find_name(node, aliases_first)
        if is_key(node):
            key = read_key(self.tree, node, self.scope)
            return self._first(key, f"A key of `{key.column}`")
        if type(node) is exp.Grouping:
            return self._first(read_grouping(self.tree, node, self.scope), "GROUPING")
        expression = read_expression(self.tree, node, self.scope)
        if not has_aggregate(expression):
            raise refuse("ask.having-not-a-comparison")
        return self._first(expression, "An aggregate")

    def _find_name(self, node: exp.Expr, aliases_first: bool) -> Column:
        name = read_name(self.tree, read_reference(self.tree, node, self.scope))
        column = self.scope.columns.get(name)
        by_alias = [output for output in self.outputs if output.alias.lower() == name.lower()]
        if node.args.get("table") is not None:
            column, by_alias = find_column(self.tree, node, self.scope), []
        by_column = [
            output
            for output in self.outputs
            if isinstance(output, KeyOutput)
            and column is not None
            and (key := self.keys[output.key]).column == column.name
            and _is_plain(key, column)
        ]
        for found in (by_alias, by_column) if aliases_first else (by_column, by_alias):
            if found:
                return self._first_like(found[0])
        raise refuse(
            "ask.not-an-output",
            name=show(name),
            nearest=nearest(name[:100], (output.alias for output in self.outputs)),
        )


def _is_plain(key: Key, column: Declared) -> bool:
    """Whether a key has a cell for each value of its column."""
    if isinstance(key, Calendar):
        return isinstance(column, Date) and key.part == "day"
    return isinstance(key, Group) or key.width == 1


def _labelled(
    output: Column, labels: tuple[Label, ...], operator: Operator, value: Constant
) -> Label:
    """A constant that is compared with a label of a computed key."""
    same_kind = type(value) is type(labels[0])
    if not same_kind or (operator not in ("=", "<>") and not isinstance(value, Fraction)):
        raise refuse("ask.output-compared-with-text", alias=output.alias, value=show(value))
    return value  # type: ignore[return-value]


def _category(output: Column) -> str | None:
    """The column whose category an output is."""
    asked = output.expression if isinstance(output, Output) else None
    return asked.column if isinstance(asked, Aggregate) and asked.kind == "mode" else None
