"""Values computed from one row: numbers whose bounds follow, and keys of groups.

Only numbers and booleans of the table, constants, + - *, division by a number, CASE, COALESCE,
FLOOR, CEIL and fields of dates. Everything is exact, and no content of a row makes it fail.

The cells of keys follow from the question and the schema, so that no key reveals anything about
rows. A row without a value, such as one for which no condition of a CASE is true, is in no cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeGuard

from sqlglot import exp

from ...engine.computed_column import (
    FIELDS,
    Among,
    Choice,
    DateField,
    Missing,
    Not,
    Predicate,
    Quotient,
    Steps,
    Sum,
    check_range,
    leaf_ends,
)
from ...engine.request import Bin, Group, Key
from ...errors import Refused, nearest, refuse
from ...schema import Boolean, Column, Date, Datetime, Named, Number, Table
from ...schema.toml_values import show
from ..question import ComputedColumn, Label, column_of, every_value
from .constant import in_reach, read_constant, sql_label
from .exact_expr import (
    Amount,
    added,
    check_parts,
    chosen,
    constant,
    multiplied,
    name_of,
    rounded_down,
    scaled,
)
from .logic import render_where
from .predicate import compared_with, known_columns, read_condition
from .scope import Scope, find_column, is_column, refuse_unquoted
from .tree import Tree
from .unsupported import INSTEAD, list_words, name_called, refuse_word, too_deep

_DEEPEST = 100
_PARTS: dict[type[exp.Expr], str] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.DayOfWeekIso: "isodow",
    exp.Hour: "hour",
}
_ONE = constant(Fraction(1))


def read_value(tree: Tree, node: exp.Expr, scope: Scope, depth: int = 0) -> Amount:
    """The amount that an expression computes from a row; refused if it is anything else."""
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


def is_computed(node: exp.Expr | None) -> TypeGuard[exp.Expr]:
    """Whether a node has the form of a value computed from a row."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper() == "DATE_PART"
    kinds = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Case, exp.Coalesce, exp.Floor)
    return type(node) in (*kinds, exp.Ceil, exp.WidthBucket, exp.Extract, *_PARTS)


def computed_column(tree: Tree, amount: Amount, scope: Scope) -> Number:
    """The computed column of an amount; refused if it may be too large."""
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
    """The table with the columns computed so far, which conditions may name."""
    if not tree.columns:
        return scope.schema
    return replace(scope.schema, columns=Named(known_columns(tree, scope).items()))


def condition_column(tree: Tree, node: exp.Expr, scope: Scope) -> Column | None:
    """The computed column of a condition; None if it computes nothing."""
    labelled = labelled_column(tree, node, scope)
    if labelled is not None:
        return labelled
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
    raise refuse("ask.not-a-computable-column", name=column.name, type=column.type)


def _computed(tree: Tree, node: exp.Expr, scope: Scope, depth: int) -> Amount | None:
    kind = type(node)
    if kind is exp.Neg:
        (this,) = tree.parts(node, "this")
        return scaled(read_value(tree, this, scope, depth), Fraction(-1))
    if kind in (exp.Add, exp.Sub, exp.Mul, exp.Div):
        sides = tree.parts(node, "this", "expression")
        left, right = (read_value(tree, side, scope, depth) for side in sides)
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
        return _bucket(tree, node, scope)
    return _date_field(tree, node, scope)


def _divided(left: Amount, right: Amount) -> Amount:
    if right.number is None:
        raise refuse("ask.division-by-column")
    if not right.number:
        raise refuse("ask.division-by-zero")
    return scaled(left, 1 / right.number)


def _case(tree: Tree, node: exp.Expr, scope: Scope, depth: int) -> Amount:
    cases, default = read_cases(tree, node, scope)
    made = [(when, read_value(tree, then, scope, depth)) for when, then in cases]
    otherwise = None if default is None else read_value(tree, default, scope, depth)
    return chosen(made, otherwise)


def read_cases(
    tree: Tree, node: exp.Expr, scope: Scope
) -> tuple[list[tuple[Predicate, exp.Expr]], exp.Expr | None]:
    """The conditions of CASE with their values; the value of ELSE, if not NULL."""
    this, ifs, default = tree.read(node, "this", "ifs", "default")
    found = []
    for one in ifs:
        when, then = tree.parts(one, "this", "true")
        compared = when if this is None else exp.EQ(this=this.copy(), expression=when.copy())
        if this is not None:
            for part in (*this.walk(), *when.walk()):  # their copies are read
                tree.read(part, *part.args)
        found.append((read_condition(tree, compared, scope), then))
    if type(default) is exp.Null:
        tree.read(default)
        default = None
    return found, default


def _coalesce(tree: Tree, node: exp.Expr, scope: Scope, depth: int) -> Amount:
    this, others = tree.read(node, "this", "expressions")
    this = tree.unwrap(this)
    if not is_column(this) or not others or len(others) != 1:
        raise refuse("ask.row-coalesce-arguments")
    column = find_column(tree, this, scope)
    if column.name in tree.computed:
        raise refuse("ask.row-coalesce-arguments")
    instead = read_value(tree, others[0], scope, depth)
    if instead.number is None:
        raise refuse("ask.row-coalesce-arguments")
    return chosen([(Not(Missing(column.name)), amount_of(tree, column))], instead)


def _bucket(tree: Tree, node: exp.Expr, scope: Scope) -> Amount:
    """WIDTH_BUCKET(x, low, high, n): 0 below, n + 1 from `high` on, else 1 to n."""
    this, *given = tree.parts(node, "this", "min_value", "max_value", "num_buckets")
    values = [read_constant(tree, part) for part in given]
    node = tree.unwrap(this)
    numbers = [value for value in values if isinstance(value, Fraction)]
    if not is_column(node) or len(numbers) < len(values):
        raise refuse("ask.width-bucket-arguments")
    column, (low, high, many) = find_column(tree, node, scope), numbers
    if not isinstance(column, Number) or column.name in tree.computed or not low < high:
        raise refuse("ask.width-bucket-arguments")
    if many.denominator != 1 or not 1 <= many <= 10_000:
        raise refuse("ask.width-bucket-arguments")
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


def read_argument(tree: Tree, node: exp.Expr, scope: Scope) -> Column:
    """The column that a field of a date, BIN or DATE_TRUNC is of."""
    node = tree.unwrap(node)
    if is_column(node):
        return find_column(tree, node, scope)
    raise refuse("ask.computed-key")


def _field(tree: Tree, node: exp.Expr, name: str, scope: Scope) -> Amount:
    column = read_argument(tree, node, scope)
    names = tuple(FIELDS)
    timed = isinstance(column, Datetime) or (isinstance(column, Date) and name != "hour")
    if name not in FIELDS or not timed:
        raise refuse(
            "ask.unknown-date-field",
            name=column.name,
            type=column.type,
            field=show(name),
            names=list_words(names),
            nearest=nearest(name[:100], names),
        )
    return Amount(Fraction(1), DateField(column.name, name))


def not_a_value(tree: Tree, node: exp.Expr) -> Refused:
    """The refusal of an expression that cannot be computed from a row."""
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
    return refuse("ask.not-computable-per-row", said=said, instead=instead)


# -- Keys that are computed: bins with uneven edges, buckets, fields of dates ----------------------


def read_computed_key(tree: Tree, node: exp.Expr, scope: Scope) -> Key:
    """The key that an expression is."""
    if type(node) is exp.Case and _labelled(node):
        computed = _labels(tree, node, scope)
        return Group(computed.name, len(computed.labels))
    amount = read_value(tree, node, scope)
    floored = _plain_bin(amount, scope.schema)
    if floored is not None:
        return floored
    column = computed_column(tree, amount, scope)
    if column.name not in tree.computed:
        raise refuse(
            "ask.key-type-not-groupable",
            name=column.name,
            type=column.type,
            advice=f"Write BIN({column.name}, 10) in SELECT and GROUP BY",
        )
    return every_value(column)


def is_computed_key(node: exp.Expr) -> bool:
    """Whether a node computes a value from a row, without an aggregate."""
    if not is_computed(node) or not any(node.find_all(exp.Column)):
        return False
    return not any(node.find_all(exp.AggFunc, exp.Filter, exp.WithinGroup))


def _plain_bin(amount: Amount, table: Table) -> Bin | None:
    """FLOOR(x / 10) * 10, which is BIN(x, 10)."""
    formula = amount.formula
    if not isinstance(formula, Quotient) or not isinstance(formula.of, Steps):
        return None
    column = table.column(formula.of.column)
    if not isinstance(column, Number) or column.grid * formula.divisor != amount.grid:
        return None
    first, last = (int(end / column.grid) // formula.divisor for end in (column.low, column.high))
    return Bin(column.name, formula.divisor, first, last - first + 1)


def _labelled(node: exp.Case) -> bool:
    """Whether CASE chooses between constants; NULL after ELSE is the same as no ELSE."""
    results = [one.args.get("true") for one in node.args["ifs"]]
    default = node.args.get("default")
    results += [] if default is None or type(default) is exp.Null else [default]
    return all(
        isinstance(result, exp.Literal | exp.Boolean)
        or (type(result) is exp.Neg and type(result.this) is exp.Literal)
        for result in results
    )


def _labels(tree: Tree, node: exp.Expr, scope: Scope) -> ComputedColumn:
    cases, default = read_cases(tree, node, scope)
    made = [(when, _label(tree, then)) for when, then in cases]
    return labelled(tree, scope, made, None if default is None else _label(tree, default))


def labelled(
    tree: Tree, scope: Scope, cases: Sequence[tuple[Predicate, Label]], last: Label | None = None
) -> ComputedColumn:
    """The computed column that chooses between labels, by their numbers."""
    every = [*(label for _, label in cases), *([] if last is None else [last])]
    numbers = {label: number for number, label in enumerate(dict.fromkeys(every))}
    if len({type(label) for label in numbers}) > 1:
        raise refuse("ask.case-mixes-types")
    chosen = tuple((when, Sum(numbers[label])) for when, label in cases)
    formula = Choice(chosen, None if last is None else Sum(numbers[last]))
    check_parts(tree, formula)
    name = labelled_name(tree, scope, cases, last)
    tree.computed[name] = ComputedColumn(name, formula, labels=tuple(numbers))
    return tree.computed[name]


def labelled_name(
    tree: Tree, scope: Scope, cases: Sequence[tuple[Predicate, Label]], last: Label | None
) -> str:
    """The name of a computed column that chooses between labels: its text in square brackets.

    An amount of the same text is in round ones (`exact_expr.py`): it has numbers instead of the
    indices of labels, so that these are two columns.
    """
    table = visible(tree, scope)
    texts = [f"WHEN {render_where(when, table)} THEN {sql_label(label)}" for when, label in cases]
    texts += [] if last is None else [f"ELSE {sql_label(last)}"]
    return f"[CASE {' '.join(texts)} END]"


def labelled_column(tree: Tree, node: exp.Expr | None, scope: Scope) -> Column | None:
    """The category of a CASE between texts, for a condition; None if it is none."""
    if not isinstance(node, exp.Case) or not _labelled(node):
        return None
    computed = _labels(tree, node, scope)
    if not all(isinstance(label, str) for label in computed.labels):
        return None
    return category(tree, computed, scope)


def category(tree: Tree, computed: ComputedColumn, scope: Scope) -> Column:
    """The category whose values are the labels."""
    column = tree.columns[computed.name] = column_of(computed, scope.schema)
    return column


def _label(tree: Tree, node: exp.Expr) -> Label:
    value = read_constant(tree, node)
    if isinstance(value, str | bool | Fraction) and value != "":
        return value
    raise refuse("ask.case-mixes-types")
