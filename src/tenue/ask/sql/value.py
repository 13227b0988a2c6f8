"""Values computed from one row: numbers whose bounds follow, and keys of groups.

Only numbers and booleans of the table, constants, + - * /, CASE, COALESCE, NULLIF, FLOOR, CEIL,
ROUND, ABS, LEAST, GREATEST, fields of dates, and on a grid of their own quotients of columns,
logarithms, EXP and powers. Everything is exact, and no content of a row makes it fail.

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
    TIMES,
    Among,
    Choice,
    Curve,
    DateField,
    Ends,
    Formula,
    Missing,
    Not,
    Predicate,
    Quotient,
    Ratio,
    Steps,
    Sum,
    check_range,
    columns_of,
    leaf_ends,
    sized,
)
from ...engine.curve import LARGEST_POWER, Function, Shape
from ...engine.request import Bin, Group, Key
from ...errors import Refused, nearest, refuse
from ...schema import Boolean, Column, Date, Datetime, Named, Number, Table
from ...schema.toml_values import show
from ..question import ComputedColumn, Label, column_of, every_value
from .constant import in_reach, read_constant, sql_label, sql_name, sql_number
from .exact_expr import (
    Amount,
    absolute,
    added,
    check_parts,
    chosen,
    constant,
    curved,
    divided,
    extreme,
    multiplied,
    name_of,
    rounded,
    rounded_down,
    scaled,
    text_of,
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
    exp.Week: "week",
    exp.WeekOfYear: "week",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfYear: "doy",
    exp.DayOfWeek: "dow",
    exp.DayOfWeekIso: "isodow",
    exp.Hour: "hour",
    exp.Minute: "minute",
}
_FIELD_WORDS = {
    "dayofweek": "dow",
    "weekday": "dow",
    "dayofmonth": "day",
    "dayofyear": "doy",
    "weekofyear": "week",
}
"""Other words for fields."""
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_NAMED_FIELDS: dict[type[exp.Expr], tuple[str, str, tuple[str, ...]]] = {
    exp.Dayname: ("DAYNAME", "isodow", _WEEKDAYS),
    exp.Monthname: ("MONTHNAME", "month", _MONTHS),
}
"""Functions that name a field, which begins at 1: their names, the field and its names in order."""
_CURVES: dict[type[exp.Expr], Function] = {exp.Ln: "ln", exp.Exp: "exp"}
_LOGS: dict[Fraction, Function] = {Fraction(10): "log10", Fraction(2): "log2"}
_FUNCTIONS = (
    *(exp.Abs, exp.Least, exp.Greatest, exp.Round, exp.Nullif),
    *(exp.Log, exp.Sqrt, exp.Pow, *_CURVES),
)
MOST_KEY_VALUES = 1_000
"""A number or date column with at most so many values is a key by itself."""
_MOST_FACTORS = 8
_MOST_DIGITS = 15
_MOST_EXPONENT = 100
_FINEST_EXPONENT = 10**6

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
        return str(node.this).upper() in ("DATE_PART", "DATEPART", "WEEKDAY")
    kinds = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Case, exp.Coalesce, exp.Floor)
    others = (exp.Ceil, exp.WidthBucket, exp.Extract, *_PARTS, *_FUNCTIONS, *_NAMED_FIELDS)
    return type(node) in (*kinds, *others)


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
            return _divided(tree, left, right, scope)
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
    if kind in _FUNCTIONS:
        return _function(tree, node, scope, depth)
    return _date_field(tree, node, scope)


def _ends(formula: Formula, scope: Scope) -> Ends:
    """The least and greatest steps that a formula may have, by interval arithmetic."""
    return sized(formula, lambda leaf: leaf_ends(scope.schema.column(leaf.column), leaf)).ends


def _divided(tree: Tree, left: Amount, right: Amount, scope: Scope) -> Amount:
    if right.number is not None:
        if not right.number:
            raise refuse("ask.division-by-zero")
        return scaled(left, 1 / right.number)
    low, high = _ends(right.formula, scope)
    if low > 0 or high < 0:
        return divided(left, right, _ends(left.formula, scope), (low, high))
    text = text_of(right, visible(tree, scope))
    least = constant(right.grid)
    instead = f"NULLIF({text}, 0)" if 0 in (low, high) and low < high else ""
    if not instead or not isinstance(right.formula, Steps):
        instead = f"GREATEST({text}, {sql_number(least.grid)})"
    raise refuse(
        "ask.division-by-column",
        divisor=text,
        low=sql_number(low * right.grid),
        high=sql_number(high * right.grid),
        instead=instead,
        columns=_columns(right.formula),
    )


def _columns(formula: Formula) -> str:
    names = dict.fromkeys(f"`{name}`" for name in columns_of(formula))
    return list_words(tuple(names))


def _function(tree: Tree, node: exp.Expr, scope: Scope, depth: int) -> Amount:
    """A function of numbers of a row."""
    kind = type(node)
    if kind in (exp.Least, exp.Greatest):
        this, others, _ = tree.read(node, "this", "expressions", "ignore_nulls")
        every = [read_value(tree, part, scope, depth) for part in (this, *others)]
        return extreme(every, greatest=kind is exp.Greatest)
    if kind is exp.Nullif:
        return _nullif(tree, node, scope, depth)
    if kind is exp.Round:
        this, given = tree.read(node, "this", "decimals")
        digits = Fraction(0) if given is None else read_constant(tree, given)
        if type(digits) is not Fraction or digits.denominator != 1 or abs(digits) > _MOST_DIGITS:
            raise refuse("ask.round-digits", most=_MOST_DIGITS)
        return rounded(read_value(tree, this, scope, depth), int(digits))
    if kind is exp.Pow:
        this, power = tree.parts(node, "this", "expression")
        exponent = read_constant(tree, power)
        fine = isinstance(exponent, Fraction) and exponent.denominator > _FINEST_EXPONENT
        if not isinstance(exponent, Fraction) or fine or not 0 < abs(exponent) <= _MOST_EXPONENT:
            raise refuse("ask.power-exponent", most=_MOST_EXPONENT)
        return _power(tree, read_value(tree, this, scope, depth), exponent, scope)
    if kind is exp.Log:
        base, of = tree.read(node, "this", "expression")
        found = Fraction(10) if of is None else read_constant(tree, base)
        if not isinstance(found, Fraction) or found not in _LOGS:
            raise refuse("ask.logarithm-base")
        amount = read_value(tree, base if of is None else of, scope, depth)
        return _curved(tree, _LOGS[found], Fraction(1), amount, scope)
    (this,) = tree.parts(node, "this")
    amount = read_value(tree, this, scope, depth)
    if kind is exp.Abs:
        return absolute(amount)
    if kind is exp.Sqrt:
        return _curved(tree, "power", Fraction(1, 2), amount, scope)
    return _curved(tree, _CURVES[kind], Fraction(1), amount, scope)


def _power(tree: Tree, amount: Amount, exponent: Fraction, scope: Scope) -> Amount:
    """Whole powers up to 8 are products, which are exact."""
    if exponent == -1:
        return _divided(tree, _ONE, amount, scope)
    if exponent.denominator > 1 or not 0 < exponent <= _MOST_FACTORS:
        return _curved(tree, "power", exponent, amount, scope)
    found = amount
    for _ in range(int(exponent) - 1):
        found = multiplied(found, amount)
    return found


def _curved(
    tree: Tree, function: Function, exponent: Fraction, amount: Amount, scope: Scope
) -> Amount:
    """A function of an amount, refused where its bounds leave what the function is defined for."""
    if amount.number is not None:
        raise refuse("ask.function-of-constant")
    low, high = _ends(amount.formula, scope)
    shape = Shape(function, amount.grid, exponent)
    if shape.fits(low, high):
        return curved(shape, amount, (low, high))
    text, least = text_of(amount, visible(tree, scope)), shape.least
    name = "SQRT" if exponent == Fraction(1, 2) else function.upper()
    given = {"name": name, "of": text, "columns": _columns(amount.formula)}
    after = f", {sql_number(exponent)})" if name == "POWER" else ")"
    if least is not None and low * amount.grid < least:
        inside = f"GREATEST({text}, {sql_number(least)})"
        given |= {"low": sql_number(low * amount.grid), "least": sql_number(least)}
        raise refuse("ask.function-below-domain", **given, instead=f"{name}({inside}{after}")
    most = sql_number(Fraction(LARGEST_POWER))
    if function == "exp":
        given |= {"high": sql_number(high * amount.grid), "most": most}
        raise refuse("ask.function-too-large", **given, instead=f"EXP(LEAST({text}, {most}))")
    raise refuse("engine.function-out-of-domain", name=name)


def _nullif(tree: Tree, node: exp.Expr, scope: Scope, depth: int) -> Amount:
    """NULLIF(x, number). Where the number is the end of a range, the range is one step shorter."""
    this, other = tree.parts(node, "this", "expression")
    amount, number = read_value(tree, this, scope, depth), read_constant(tree, other)
    if type(number) is not Fraction or amount.number is not None:
        raise refuse("ask.row-nullif-arguments")
    column = computed_column(tree, amount, scope)
    low, high = column.low, column.high
    step = column.grid
    if low < high and number in (low, high):
        inner = constant(low + step if number == low else high - step)
        amount = extreme([amount, inner], greatest=number == low)
    return chosen([(compared_with(column, "=", number, negate=True), amount)])


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
    if type(node) is exp.Anonymous and str(node.this).upper() == "WEEKDAY":
        _, arguments = tree.read(node, "this", "expressions")
        return _field(tree, arguments[0], "dow", scope) if len(arguments or ()) == 1 else None
    if type(node) is exp.Anonymous and str(node.this).upper() in ("DATE_PART", "DATEPART"):
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
    name = _FIELD_WORDS.get(name, name)
    column = read_argument(tree, node, scope)
    names = tuple(FIELDS)
    timed = isinstance(column, Datetime) or (isinstance(column, Date) and name not in TIMES)
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


def read_computed_key(tree: Tree, node: exp.Expr, scope: Scope) -> Key | Number:
    """The key that an expression is, or the column that it is nothing but."""
    if _labelled(node):
        computed = _labels(tree, node, scope)
        return Group(computed.name, len(computed.labels))
    amount = read_value(tree, node, scope)
    floored = _plain_bin(amount, scope.schema)
    if floored is not None:
        return floored
    column = computed_column(tree, amount, scope)
    if column.name not in tree.computed:
        return column
    if isinstance(amount.formula, Ratio | Curve) and column.steps >= MOST_KEY_VALUES:
        text = column.name[1:-1]
        raise refuse(
            "ask.key-type-not-groupable",
            name=text,
            type="number on a grid of its own",
            advice=f"Write FLOOR({text}), or FLOOR(({text}) / 0.1) * 0.1 and the like",
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


def _labelled(node: exp.Expr | None) -> TypeGuard[exp.Expr]:
    """Whether it is a name: DAYNAME, MONTHNAME, or a CASE that chooses between constants; NULL
    after ELSE is the same as no ELSE."""
    if type(node) is not exp.Case:
        return type(node) in _NAMED_FIELDS
    results = [one.args.get("true") for one in node.args["ifs"]]
    default = node.args.get("default")
    results += [] if default is None or type(default) is exp.Null else [default]
    return all(
        isinstance(result, exp.Literal | exp.Boolean)
        or (type(result) is exp.Neg and type(result.this) is exp.Literal)
        for result in results
    )


def _field_names(tree: Tree, node: exp.Expr, scope: Scope) -> ComputedColumn:
    """DAYNAME or MONTHNAME."""
    word, part, names = _NAMED_FIELDS[type(node)]
    (this,) = tree.parts(node, "this")
    leaf = _field(tree, this, part, scope).formula
    assert isinstance(leaf, DateField)  # noqa: S101 - narrows the type
    name = f"[{word}({sql_name(leaf.column)})]"
    tree.computed[name] = ComputedColumn(name, Sum(-1, ((1, leaf),)), labels=names)
    return tree.computed[name]


def _labels(tree: Tree, node: exp.Expr, scope: Scope) -> ComputedColumn:
    if type(node) in _NAMED_FIELDS:
        return _field_names(tree, node, scope)
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
    if not _labelled(node):
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
