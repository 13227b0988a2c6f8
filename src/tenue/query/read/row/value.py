"""What is computed of one row inside an aggregate: numbers, with bounds that follow.

Only numbers and booleans of the table, constants, + - *, division by a number, CASE, COALESCE,
FLOOR, CEIL and fields of dates. Everything is exact, and nothing that a row holds makes it fail.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from ....engine.formula import FIELDS, Steps, check_range, leaf_ends
from ....engine.predicate import Among, Predicate
from ....errors import Refused, nearest, refuse
from ....schema import Boolean, Column, Date, Datetime, Named, Number, Table
from ....schema.literal import show
from ...question import ComputedColumn
from ..constant import in_reach, read_constant
from ..predicate import Conditions, compared_with, known_columns
from ..scope import Scope, find_column, refuse_unquoted
from ..tree import Tree
from ..unsupported import INSTEAD, list_words, name_called, refuse_word, too_deep
from .amount import Amount, added, chosen, constant, field, filled, multiplied, rounded_down, scaled
from .text import check_parts, name_of

_DEEPEST = 100
_PARTS: dict[type[exp.Expr], str] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.DayOfWeekIso: "isodow",
    exp.Hour: "hour",
}
DATE_FIELDS = (*_PARTS, exp.Extract)
"""The nodes that are fields of a date."""

_ONE = constant(Fraction(1))


def read_value(tree: Tree, node: exp.Expr, scope: Scope, depth: int = 0) -> Amount:
    """The amount that an expression computes of a row; refused if it is anything else."""
    node = tree.unwrap(node)
    if depth > _DEEPEST:
        raise too_deep()
    if is_column(node):
        return amount_of(tree, find_column(tree, node, scope))
    if type(node) is exp.Literal or type(node) is exp.Neg:
        value = read_constant(tree, node)
        if isinstance(value, Fraction):
            return constant(value)
    found = _computed(tree, node, scope, depth + 1)
    if found is None:
        refuse_unquoted(node, scope)
        raise not_a_value(tree, node)
    in_reach(found.grid)
    return found


def is_column(node: exp.Expr | None) -> bool:
    """Whether a node names a column."""
    return type(node) is exp.Column and type(node.this) is exp.Identifier


def is_computed(node: exp.Expr | None) -> bool:
    """Whether a node is written like something that is computed of a row."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper() == "DATE_PART"
    kinds = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Case, exp.Coalesce, exp.Floor)
    return type(node) in (*kinds, exp.Ceil, exp.WidthBucket, *DATE_FIELDS)


def computed_column(tree: Tree, amount: Amount, scope: Scope) -> Number:
    """The column that an amount is to the question; refused if it may be too large."""
    table = scope.schema
    if isinstance(amount.formula, Steps):
        column = table.column(amount.formula.column)
        if isinstance(column, Number) and column.grid == amount.grid:
            return column
    check_parts(tree, amount.formula)
    low, high = check_range(amount.formula, lambda leaf: leaf_ends(table.column(leaf.column), leaf))
    name = name_of(amount, visible(tree, scope))
    tree.computed[name] = ComputedColumn(name, amount.formula, amount.grid)
    ends = low * amount.grid, high * amount.grid
    column = Number(name=name, role="other", low=ends[0], high=ends[1], grid=amount.grid)
    tree.columns[name] = column
    return column


def visible(tree: Tree, scope: Scope) -> Table:
    """The table with the columns that were computed so far, which conditions may name."""
    if not tree.columns:
        return scope.schema
    return replace(scope.schema, columns=Named(known_columns(tree, scope).items()))


def condition_column(tree: Tree, node: exp.Expr, scope: Scope) -> Column | None:
    """The column that a condition is about where it computes something; None if it does not."""
    if not is_computed(node) or not any(node.find_all(exp.Column)):
        return None
    amount = read_value(tree, node, scope)
    return None if amount.number is not None else computed_column(tree, amount, scope)


def where_true(condition: Predicate, amount: Amount = _ONE) -> Amount:
    """The amount in rows for which the condition is true, and missing in the others."""
    return chosen([(condition, amount)])


def amount_of(tree: Tree, column: Column) -> Amount:
    """A number, or a boolean as 0 and 1; refused for anything else."""
    known = tree.computed.get(column.name)
    if known is not None and not known.labels:
        return Amount(known.grid, known.formula)
    if isinstance(column, Number):
        return Amount(column.grid, Steps(column.name))
    if isinstance(column, Boolean):
        values = {True: constant(Fraction(1)), False: constant(Fraction(0))}
        return chosen([(Among(column.name, (value,)), amount) for value, amount in values.items()])
    raise refuse("query.not-a-computable-column", name=column.name, type=column.type)


def _computed(tree: Tree, node: exp.Expr, scope: Scope, depth: int) -> Amount | None:
    kind = type(node)
    if kind is exp.Neg:
        (this,) = tree.parts(node, "this")
        return scaled(read_value(tree, this, scope, depth), Fraction(-1))
    if kind in (exp.Add, exp.Sub, exp.Mul, exp.Div):
        left, right = (read_value(tree, side, scope, depth) for side in _sides(tree, node))
        if kind is exp.Mul:
            return multiplied(left, right)
        if kind is exp.Div:
            return _divided(left, right)
        return added([left, scaled(right, Fraction(1 if kind is exp.Add else -1))])
    if kind is exp.Case:
        return _case(tree, node, scope, depth)
    if kind is exp.Coalesce:
        return _coalesce(tree, node, scope, depth)
    if kind is exp.Floor or kind is exp.Ceil:
        sign = Fraction(1 if kind is exp.Floor else -1)
        (this,) = tree.parts(node, "this")
        down = rounded_down(scaled(read_value(tree, this, scope, depth), sign))
        return scaled(down, sign)
    if kind is exp.WidthBucket:
        return _bucket(tree, node, scope, depth)
    return _date_field(tree, node, scope)


def _sides(tree: Tree, node: exp.Expr) -> tuple[exp.Expr, ...]:
    return tree.parts(node, "this", "expression")


def _divided(left: Amount, right: Amount) -> Amount:
    if right.number is None:
        raise refuse("query.division-by-column")
    if not right.number:
        raise refuse("query.division-by-zero")
    return scaled(left, 1 / right.number)


def _case(tree: Tree, node: exp.Expr, scope: Scope, depth: int) -> Amount:
    cases, default = read_cases(tree, node, scope)
    made = [(when, read_value(tree, then, scope, depth)) for when, then in cases]
    otherwise = None if default is None else read_value(tree, default, scope, depth)
    return chosen(made, otherwise)


def read_cases(
    tree: Tree, node: exp.Expr, scope: Scope
) -> tuple[list[tuple[Predicate, exp.Expr]], exp.Expr | None]:
    """The conditions of CASE and what stands beside each; what stands after ELSE, if not NULL."""
    this, ifs, default = tree.read(node, "this", "ifs", "default")
    conditions, found = Conditions(tree), []
    for one in ifs:
        when, then = tree.parts(one, "this", "true")
        compared = when if this is None else exp.EQ(this=this.copy(), expression=when.copy())
        if this is not None:
            for copied in (this, when):
                mark_read(tree, copied)
        found.append((conditions.read_condition(compared, scope), then))
    if type(default) is exp.Null:
        tree.read(default)
        default = None
    return found, default


def mark_read(tree: Tree, node: exp.Expr) -> None:
    """Takes a node as read, of which a copy is."""
    for part in node.walk():
        tree.read(part, *part.args)


def _coalesce(tree: Tree, node: exp.Expr, scope: Scope, depth: int) -> Amount:
    this, others = tree.read(node, "this", "expressions")
    this = tree.unwrap(this)
    if not is_column(this) or not others or len(others) != 1:
        raise refuse("query.row-coalesce-arguments")
    column = find_column(tree, this, scope)
    if column.name in tree.computed:
        raise refuse("query.row-coalesce-arguments")
    instead = read_value(tree, others[0], scope, depth)
    if instead.number is None:
        raise refuse("query.row-coalesce-arguments")
    return filled(column.name, amount_of(tree, column), instead)


def _bucket(tree: Tree, node: exp.Expr, scope: Scope, depth: int) -> Amount:
    """WIDTH_BUCKET(x, low, high, n): 0 below, n + 1 from `high` on, else 1 to n."""
    this, *given = tree.parts(node, "this", "min_value", "max_value", "num_buckets")
    low, high, many = (read_constant(tree, part) for part in given)
    node = tree.unwrap(this)
    numbers = all(isinstance(value, Fraction) for value in (low, high, many))
    if not is_column(node) or not numbers:
        raise refuse("query.width-bucket-arguments")
    column = find_column(tree, node, scope)
    assert isinstance(low, Fraction) and isinstance(high, Fraction) and isinstance(many, Fraction)  # noqa: S101, PT018
    if not isinstance(column, Number) or column.name in tree.computed or not low < high:
        raise refuse("query.width-bucket-arguments")
    if many.denominator != 1 or not 1 <= many <= 10_000:
        raise refuse("query.width-bucket-arguments")
    x = amount_of(tree, column)
    from_low = added([x, constant(-low)])
    inside = added([rounded_down(scaled(from_low, many / (high - low))), _ONE])
    below, above = compared_with(column, "<", low), compared_with(column, ">=", high)
    return chosen([(below, constant(Fraction(0))), (above, constant(many + 1))], inside)


def _date_field(tree: Tree, node: exp.Expr, scope: Scope) -> Amount | None:
    if type(node) in _PARTS:
        (this,) = tree.parts(node, "this")
        return _field(tree, this, _PARTS[type(node)], scope)
    if type(node) is exp.Extract:
        unit, this = tree.parts(node, "this", "expression")
        (word,) = tree.read(unit, "this")
        return _field(tree, this, str(word).lower(), scope)
    if type(node) is exp.Anonymous and str(node.this).upper() == "DATE_PART":
        _, arguments = tree.read(node, "this", "expressions")
        word = read_constant(tree, arguments[0]) if arguments and len(arguments) == 2 else None
        if isinstance(word, str):
            return _field(tree, arguments[1], word.lower(), scope)
    return None


def _field(tree: Tree, node: exp.Expr, name: str, scope: Scope) -> Amount:
    node = tree.unwrap(node)
    if not is_column(node):
        raise refuse("query.computed-key")
    column = find_column(tree, node, scope)
    names = tuple(FIELDS)
    timed = isinstance(column, Datetime) or (isinstance(column, Date) and name != "hour")
    if name not in FIELDS or not timed:
        raise refuse(
            "query.unknown-date-field",
            name=column.name,
            type=column.type,
            field=show(name),
            names=list_words(names),
            nearest=nearest(name[:100], names),
        )
    return field(column.name, name)


def not_a_value(tree: Tree, node: exp.Expr) -> Refused:
    """The refusal of what cannot be computed of a row."""
    said = "an expression"
    if isinstance(node, exp.Mod):
        return refuse_word("%")
    if isinstance(node, exp.AggFunc):
        said = "another aggregate"
    elif isinstance(node, exp.Func):
        name = name_called(node, tree.called)
        said = f"the function {name}" if name else "a function"
    elif isinstance(node, exp.Literal | exp.Boolean | exp.Null):
        said = "a text, TRUE, FALSE or NULL"
    elif isinstance(node, exp.Predicate | exp.Connector):
        said = "a condition"
    these = "Write it with these, or ask the holder for a derived column"
    instead = INSTEAD.get(name_called(node, tree.called), these)
    return refuse("query.not-computable-per-row", said=said, instead=instead)
