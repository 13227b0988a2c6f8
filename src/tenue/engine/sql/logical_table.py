"""The logical table in SQL: stored columns become steps, category numbers and booleans.

Guarantee
    The SQL is made of names that this file invents, the source's own column names in quotes, and
    constants from the schema. Nothing an analyst typed is in it, and no value of any row makes it
    fail.

A category is compared as text, byte by byte; stored whole numbers and booleans as their text (`7`,
`true`). A boolean is true for 1, `1`, `true`, `t`, `yes`, `y` and false for 0, `0`, `false`, `f`,
`no`, `n`, in upper or lower case and with spaces around; anything else is missing. A derived column
is computed in doubles from its columns' steps·grid, in the order its expression is written; its
result is then treated as a stored double. Division by 0 is missing.

No row makes a computed column fail, by construction: every node is computed in a type that holds
all of its numbers (`Sized.reach`), which follow from the bounds of the columns, and a value is cast
to a narrower type only if its range fits.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from ...errors import Refused, refuse
from ...schema import Boolean, Bounded, Category, Column, Date, Datetime, Identifier, Named, Number
from ...schema.case_insensitive import folded
from ...schema.expression import Constant, Name, Negative, Tree
from ..computed_column import (
    Absolute,
    All,
    Among,
    Any_,
    Choice,
    Computed,
    Curve,
    DateField,
    Ends,
    Extreme,
    Formula,
    Missing,
    Not,
    Predicate,
    Product,
    Quotient,
    Ratio,
    Sized,
    Steps,
    Sum,
    Within,
    check_range,
    check_sizes,
    columns_of,
    curve_terms,
    leaf_ends,
    parts_of,
    raised_by,
    ratio_raised_by,
    with_parts,
)
from ..request import ContributionRequest, RankRequest, Request
from ..storage import Fixed, Floating, Integer, Nothing, Opaque, Storage, Text, Truth, Written
from .dialect import Dialect, Stage
from .grid_values import (
    DAY,
    counts,
    first_step,
    last_step,
    number_stages,
    spread_stages,
    time_stages,
    value_stages,
    with_missing,
)
from .int_expr import Whole, integer

_TRUE = ("true", "t", "yes", "y", "1")
_FALSE = ("false", "f", "no", "n", "0")
_EXACT = 2**53
HOUR = DAY // 24
"""The microseconds of an hour."""
_MINUTE = HOUR // 60


def unmarked(column: Column, stored: Storage, name: str, dialect: Dialect) -> str:
    """The SQL of a stored value, NULL where it is a missing-value marker.

    A text is compared byte by byte, without the spaces around it; a number as a number, however a
    text writes it. Stored whole numbers of a category or an identifier count as their text.
    """
    tests = [
        f"{value} IN ({', '.join(listed)})"
        for value, listed in (
            _text_markers(column, stored, name, dialect),
            _number_markers(column, stored, name, dialect),
        )
        if listed
    ]
    return f"CASE WHEN {' OR '.join(tests)} THEN NULL ELSE {name} END" if tests else name


def _text_markers(
    column: Column, stored: Storage, name: str, dialect: Dialect
) -> tuple[str, list[str]]:
    codes = isinstance(column, Category | Identifier) and isinstance(stored, Integer | Truth)
    if not codes and not isinstance(stored, Text | Written):
        return name, []
    listed = [dialect.literal(marker) for marker in column.marks if isinstance(marker, str)]
    return dialect.trimmed(f"CAST({name} AS {dialect.text})"), listed


def _number_markers(
    column: Column, stored: Storage, name: str, dialect: Dialect
) -> tuple[str, list[str]]:
    markers = [marker for marker in column.marks if isinstance(marker, Fraction)]
    if not isinstance(column, Number):
        return name, []
    if isinstance(stored, Integer):
        whole = [m for m in markers if m.denominator == 1 and stored.low <= m <= stored.high]
        return name, [f"CAST({marker} AS {stored.type})" for marker in whole]
    if isinstance(stored, Fixed):
        most, kind = 10**stored.width - 1, f"DECIMAL({stored.width}, {stored.scale})"
        units = [marker * 10**stored.scale for marker in markers]
        whole = [unit for unit in units if unit.denominator == 1 and abs(unit) <= most]
        return name, [f"CAST('{unit}e-{stored.scale}' AS {kind})" for unit in whole]
    if isinstance(stored, Written):
        return dialect.read(name, dialect.double), [dialect.number(float(m)) for m in markers]
    if isinstance(stored, Floating):
        narrow = _single if stored.single else float
        listed = [dialect.number(narrow(float(marker))) for marker in markers]
        return f"CAST({name} AS {dialect.double})", listed
    return name, []


def _single(number: float) -> float:
    """The nearest number of 32 bits, which is how the source stores the marker."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return number


@dataclass(frozen=True)
class Held:
    """A declared column as a source stores it.

    name: how the source spells it.
    words: for a category, what the dialect needs to number its declared categories.
    """

    column: Column
    name: str
    stored: Storage
    words: str = ""


@dataclass(frozen=True)
class Stored:
    """The table that is read.

    sql: the table, as it stands after FROM.
    held: its columns, by declared name in lower case.
    declared: all declared columns, by name in any case.
    dialect: the SQL of its engine.
    formulas: the formula of each computed column, by folded name.
    """

    sql: str
    held: Mapping[str, Held]
    declared: Mapping[str, Column]
    dialect: Dialect
    formulas: Mapping[str, Formula] = field(default_factory=dict)


def unfit(column: Column, what: str) -> Refused:
    """The refusal of a request that does not fit the type of a column."""
    return refuse("engine.request-type-mismatch", name=column.name, type=column.type, said=what)


@dataclass
class Logical:
    """Collects the columns that one request needs, and writes the table that holds them."""

    table: Stored
    _raw: dict[str, str] = field(default_factory=dict)
    _layers: list[dict[str, str]] = field(default_factory=list)
    _ready: dict[str, tuple[str, int]] = field(default_factory=dict)
    _spread: dict[str, tuple[str, str] | None] = field(default_factory=dict)
    _computed_at: set[int] = field(default_factory=set)

    @property
    def dialect(self) -> Dialect:
        return self.table.dialect

    def column(self, name: str | None) -> Column:
        """The declared column of that name."""
        if name is None or name not in self.table.declared:
            raise refuse("engine.request-undeclared-column")
        return self.table.declared[name]

    def bounded(self, name: str | None, lacks: str) -> Bounded:
        """The same; refused unless it is bounded, with what another column lacks."""
        column = self.column(name)
        if not isinstance(column, Bounded):
            raise unfit(column, lacks)
        return column

    def is_computed(self, name: str) -> bool:
        """Whether the request computes the column, so that it is not stored."""
        return folded(name) in self.table.formulas

    def raw(self, name: str) -> str:
        """The name under which the stored value of a column is found."""
        return self._raw.setdefault(folded(name), f"r{len(self._raw)}")

    def value(self, name: str) -> str:
        """The name under which the logical value is found: steps, category number or boolean."""
        return self._prepared(self.column(name))[0]

    def steps(self, column: Bounded) -> Whole:
        """The logical value of a bounded column, with its range."""
        ends = first_step(column), last_step(column)
        return Whole(self.value(column.name), *ends, self.dialect)

    def ends(self, leaf: Steps | DateField) -> Ends:
        return leaf_ends(self.column(leaf.column), leaf)

    def count(self, column: Date | Datetime) -> Whole:
        """The logical value as days, or microseconds, since 1970 began."""
        low, _, grid = counts(column)
        return self.steps(column).times(grid).plus(low)

    def whole(self, name: str) -> str:
        """The SQL of the logical value as a whole number of 64 bits; false is 0."""
        value = self.value(name)
        if isinstance(self.column(name), Boolean):  # not every engine casts these at once
            value = f"CAST({value} AS INTEGER)"
        return f"CAST({value} AS {self.dialect.long})"

    def spoken_by(self, dialect: Dialect) -> Logical:
        """The same names, for SQL of another engine that was handed their values."""
        return replace(self, table=replace(self.table, dialect=dialect))

    def present(self, name: str) -> str:
        """A name that is NULL exactly where the logical value is missing, and quick to count."""
        column = self.column(name)
        stored = None if folded(column.name) not in self.table.held else self._held(column).stored
        if isinstance(column, Number) and isinstance(stored, Integer) and not column.expression:
            return self.raw(name)  # a stored whole number is never NaN
        spread = self.spread(column)
        return self.value(name) if spread is None else spread[0]

    def spread(self, column: Column) -> tuple[str, str] | None:
        """A name that is NULL exactly where the number is missing, and one of 2·steps − first step
        − last step as a double; None where the steps themselves are as quick to add up."""
        name = folded(column.name)
        if name not in self._spread:
            self._spread[name] = self._spread_out(column)
        return self._spread[name]

    def unit(self, name: str) -> str:
        """The name under which the unit of a row is found; NULL where it belongs to nobody."""
        column = self.column(name)
        if not isinstance(column, Identifier | Category):
            raise unfit(column, "names nobody")
        if isinstance(column, Category):
            return self.value(name)
        return self.stage_stored(name, _identity(column, self.stored(name), self.dialect))

    def stored(self, name: str) -> Storage:
        return self._held(self.column(name)).stored

    def stage(self, name: str, stages: list[Stage]) -> str:
        """The name of a value computed from the logical value of a column."""
        return self._staged(*self._prepared(self.column(name)), stages)[0]

    def stage_stored(self, name: str, stages: list[Stage]) -> str:
        """The name of a value computed from the stored value of a column."""
        return self._staged(self.raw(name), 0, stages)[0]

    def number(self, name: str, stored: str) -> str:
        """The SQL of a category's or boolean's number, given the SQL of its stored value."""
        column = self.column(name)
        if isinstance(column, Category):
            return self._category(column)(stored)
        return f"CAST({_truth(self._held(column), self.dialect)(stored)} AS INTEGER)"

    def write(self) -> str:
        """The SQL of the table that has every name asked for."""
        chosen = [f"{self._plain(name)} AS {alias}" for name, alias in self._raw.items()]
        sql = f"SELECT {', '.join(chosen) or '1 AS one'} FROM {self.table.sql}"  # noqa: S608
        for depth, layer in enumerate(self._layers):
            made = ", ".join(f"{expression} AS {alias}" for alias, expression in layer.items())
            sql = f"SELECT *, {made} FROM {self._nested(sql, depth)}"  # noqa: S608
        return sql

    def _nested(self, sql: str, depth: int) -> str:
        """The table so far, as it stands after FROM. A computed column names each part of a row
        several times; it is fenced, for an engine might expand every name."""
        around = {depth, depth - 1} & self._computed_at
        return self.dialect.fenced(sql) if around else self.dialect.nested(sql)

    def select(self, outputs: Sequence[str], condition: str | None = None) -> str:
        """The SELECT of these from that table, where the condition is true."""
        where = "" if condition is None else f" WHERE {condition}"
        source = self._nested(self.write(), len(self._layers))
        return f"SELECT {', '.join(outputs)} FROM {source}{where}"  # noqa: S608

    def _held(self, column: Column) -> Held:
        return self.table.held[folded(column.name)]

    def _plain(self, name: str) -> str:
        """The stored column, NULL for its markers, compared byte by byte whatever its collation."""
        held = self.table.held[name]
        name = self.dialect.stored(self.dialect.quoted(held.name), held.stored)
        collated = f" COLLATE {self.dialect.collation}" if held.stored == Text() else ""
        if not held.column.marks:
            return name + collated
        value = unmarked(held.column, held.stored, name + collated, self.dialect)
        return value if value == name + collated else f"({value}){collated}"

    def _prepared(self, column: Column) -> tuple[str, int]:
        name = folded(column.name)
        if name not in self._ready:
            self._ready[name] = self._prepare(column)
        return self._ready[name]

    def _compute(self, formula: Formula) -> tuple[str, int]:
        inputs = [self._prepared(self.column(name)) for name in columns_of(formula)]
        depth = max((depth for _, depth in inputs), default=0)
        self._computed_at.add(depth)
        return self._staged("", depth, [lambda _: written(formula, self)])

    def _prepare(self, column: Column) -> tuple[str, int]:
        if self.is_computed(column.name):
            return self._compute(self.table.formulas[folded(column.name)])
        if isinstance(column, Number) and column.expression is not None:
            inputs = {name: self._prepared(self.column(name)) for name in column.expression.names}
            value = _arithmetic(column.expression.tree, self, inputs)
            stages = value_stages(column, lambda _: value, self.dialect)
            depth = max(depth for _, depth in inputs.values())
            return self._staged("", depth, with_missing(column, stages))
        if isinstance(column, Identifier):
            raise refuse("engine.request-names-identifier", name=column.name)
        return self._staged(self.raw(column.name), 0, self._stages(column))

    def _spread_out(self, column: Column) -> tuple[str, str] | None:
        if not isinstance(column, Number) or folded(column.name) not in self.table.held:
            return None
        stages = spread_stages(column, self._held(column).stored, self.dialect)
        if stages is None:
            return None
        there = self._staged(self.raw(column.name), 0, stages[0])
        return there[0], self._staged(*there, stages[1])[0]

    def _stages(self, column: Column) -> list[Stage]:
        held = self._held(column)
        if isinstance(column, Number):
            return with_missing(column, number_stages(column, held.stored, self.dialect))
        if isinstance(column, Date | Datetime):
            return with_missing(column, time_stages(column, held.stored, self.dialect))
        if isinstance(column, Category):
            return [self._category(column)]
        return [_truth(held, self.dialect)]

    def _staged(self, name: str, depth: int, stages: list[Stage]) -> tuple[str, int]:
        for stage in stages:
            if depth == len(self._layers):
                self._layers.append({})
            alias = f"c{depth}_{len(self._layers[depth])}"
            self._layers[depth][alias] = stage(name)
            name, depth = alias, depth + 1
        return name, depth

    def _category(self, column: Category) -> Stage:
        held = self._held(column)

        def code(name: str) -> str:
            is_text = held.stored in (Text(), Written())
            text = name if is_text else f"CAST({name} AS {self.dialect.text})"
            number = self.dialect.category(text, held.words)
            if column.missing is None:
                return number
            return f"COALESCE({number}, {column.categories.index(str(column.missing))})"

        return code


def _identity(column: Identifier, stored: Storage, dialect: Dialect) -> list[Stage]:
    """How a stored identifier becomes a unit; refused if its storage has no exact equality.

    Two rows are of one unit if their identifiers are equal as stored: texts byte by byte, numbers
    as numbers, moments as moments. No case is folded, no space trimmed, no text read as a number.
    NULL and NaN belong to nobody.
    """
    if isinstance(stored, Opaque):
        raise refuse("engine.unit-wrongly-stored", column=column.name)
    if isinstance(stored, Nothing):
        return [lambda _: f"CAST(NULL AS {dialect.long})"]
    if isinstance(stored, Floating):
        return [
            lambda name: (
                f"CASE WHEN {name} = 0 THEN 0 WHEN NOT {dialect.is_nan(name)} THEN {name} END"
            )
        ]
    return [dialect.hidden]  # false statistics could make the engine take two units for one


def _truth(held: Held, dialect: Dialect) -> Stage:
    assert isinstance(held.column, Boolean)  # noqa: S101 - the caller asked for other types before
    default, stored = held.column.missing, held.stored
    true, false = (", ".join(map(dialect.literal, words)) for words in (_TRUE, _FALSE))

    def flag(name: str) -> str:
        if isinstance(stored, Truth):
            sql = name
        elif isinstance(stored, Nothing):
            sql = "CAST(NULL AS BOOLEAN)"
        elif isinstance(stored, Text | Written):
            word = f"lower({dialect.trimmed(f'CAST({name} AS {dialect.text})')})"
            sql = f"CASE WHEN {word} IN ({true}) THEN TRUE WHEN {word} IN ({false}) THEN FALSE END"
        else:
            sql = f"CASE WHEN {name} = 1 THEN TRUE WHEN {name} = 0 THEN FALSE END"
        return sql if default is None else f"COALESCE({sql}, {'TRUE' if default else 'FALSE'})"

    return flag


def _arithmetic(tree: Tree, logical: Logical, inputs: Mapping[str, tuple[str, int]]) -> str:
    number, double = logical.dialect.number, logical.dialect.double
    if isinstance(tree, Constant):
        try:
            return number(float(tree.value))
        except OverflowError:
            return number(math.inf if tree.value > 0 else -math.inf)
    if isinstance(tree, Name):
        column = logical.column(tree.name)
        assert isinstance(column, Bounded)  # noqa: S101 - the schema allows numbers only
        p, q = column.grid.numerator, column.grid.denominator
        steps = f"CAST({inputs[tree.name][0]} AS {double})"
        if max(p, q) > _EXACT:
            return f"({steps} * {number(float(column.grid))})"
        times = "" if p == 1 else f" * {number(float(p))}"
        over = "" if q == 1 else f" / {number(float(q))}"
        return f"({steps}{times}{over})"
    if isinstance(tree, Negative):
        return f"(-{_arithmetic(tree.of, logical, inputs)})"
    left, right = (_arithmetic(part, logical, inputs) for part in (tree.left, tree.right))
    right = f"NULLIF({right}, {number(0.0)})" if tree.sign == "/" else right
    return f"({left} {tree.sign} {right})"


# -- Which rows a request is about -----------------------------------------------------------------


def truth(predicate: Predicate, logical: Logical) -> str:
    """The SQL that is true where the predicate holds."""
    if isinstance(predicate, Not):
        return f"(NOT {truth(predicate.part, logical)})"
    if isinstance(predicate, All | Any_):
        sign, empty = (" AND ", "TRUE") if isinstance(predicate, All) else (" OR ", "FALSE")
        return f"({sign.join(truth(part, logical) for part in predicate.parts) or empty})"
    column = logical.column(predicate.column)
    name = logical.value(column.name)
    if isinstance(predicate, Missing):
        return f"({name} IS NULL)"
    if isinstance(predicate, Within):
        return _within(predicate, column, name)
    return _among(predicate, column, name)


def _within(predicate: Within, column: Column, name: str) -> str:
    if not isinstance(column, Bounded):
        raise unfit(column, "has no order")
    low, high = first_step(column), last_step(column)
    first = low if predicate.first is None else max(low, predicate.first)
    last = high if predicate.last is None else min(high, predicate.last)
    if first > last:
        return _never(name)
    return f"({name} >= {integer(first)} AND {name} <= {integer(last)})"


def _among(predicate: Among, column: Column, name: str) -> str:
    if isinstance(column, Category):
        places = {category: i for i, category in enumerate(column.categories)}
        numbers = [places[value] for value in predicate.values if value in places]
        listed = ", ".join(map(str, numbers))
    elif isinstance(column, Boolean):
        listed = ", ".join("TRUE" if value else "FALSE" for value in predicate.values)
    else:
        raise unfit(column, "has no categories")
    return f"({name} IN ({listed}))" if listed else _never(name)


def _never(name: str) -> str:
    """False where a value is present, unknown where it is missing."""
    return f"({name} <> {name})"


# -- The SQL of a computed column ------------------------------------------------------------------


def logical_table(request: Request | RankRequest | ContributionRequest, table: Stored) -> Logical:
    """The logical table of a request, with the columns that it computes."""
    return Logical(with_computed(table, request.computed))


def with_computed(table: Stored, computed: Iterable[Computed]) -> Stored:
    """The table with the columns that a request computes; each may use those before it.

    They are declared columns with steps of 1, between the ends of their ranges.
    """
    for one in (each for given in computed for each in _with_parts_named(given)):
        column = whole_column(one.name, *check_range(one.formula, Logical(table).ends))
        declared = Named([*table.declared.items(), (one.name, column)])
        formulas = {**table.formulas, folded(one.name): one.formula}
        table = replace(table, declared=declared, formulas=formulas)
    return table


def _with_parts_named(computed: Computed) -> list[Computed]:
    """A computed column after columns for those parts that its SQL names several times.

    Without names, a curve of a curve would have 500 times its text.
    """
    found: list[Computed] = []

    def named(formula: Formula) -> Formula:
        parts = [named(part) for part in parts_of(formula)]
        if isinstance(formula, Curve | Ratio) and not isinstance(parts[-1], Steps):
            found.append(Computed(f"([{len(found)}]{computed.name})", parts[-1]))
            parts[-1] = Steps(found[-1].name)
        return with_parts(formula, parts)

    last = Computed(computed.name, named(computed.formula))
    return [*found, last]


def whole_column(name: str, low: int, high: int) -> Number:
    """A column of the whole numbers from `low` to `high`."""
    first, last, one = map(Fraction, (low, high, 1))
    return Number(name=name, role="other", low=first, high=last, grid=one)


def written(formula: Formula, logical: Logical) -> str:
    """The SQL of the steps; NULL where they are missing."""
    size = check_sizes(formula, logical.ends)
    return _node(size, logical.dialect.holding(*size.ends), logical)


def _node(node: Sized, kind: str, logical: Logical) -> str:
    """The SQL of a node, in a type that holds its reach, then cast to one that holds its ends."""
    own = logical.dialect.holding(-node.reach, node.reach)
    sql = _computed(node, own, logical)
    return sql if own == kind else f"CAST({sql} AS {kind})"


def _computed(node: Sized, own: str, logical: Logical) -> str:
    formula = node.formula
    if isinstance(formula, Steps):
        return f"CAST({logical.value(formula.column)} AS {own})"
    if isinstance(formula, DateField):
        return f"CAST({_field(formula, logical)} AS {own})"

    def constant(value: int) -> str:
        return f"CAST({integer(value)} AS {own})"

    parts = [_node(part, own, logical) for part in node.parts]
    if isinstance(formula, Sum):
        terms = [
            part if weight == 1 else f"{constant(weight)} * {part}"
            for (weight, _), part in zip(formula.terms, parts, strict=True)
        ]
        first = [constant(formula.constant)] if formula.constant or not terms else []
        return f"({' + '.join([*first, *terms])})"
    if isinstance(formula, Product):
        return f"({' * '.join(parts)})"
    if isinstance(formula, Quotient):
        up, divisor = raised_by(node.parts[0].ends[0], formula.divisor), formula.divisor
        raised = f"({parts[0]} + {constant(up * divisor)})" if up else parts[0]
        quotient = logical.dialect.quotient(raised, divisor, own)
        return f"({quotient} - {constant(up)})" if up else quotient
    if isinstance(formula, Absolute):
        return f"abs({parts[0]})"
    if isinstance(formula, Extreme):
        word = "GREATEST" if formula.greatest else "LEAST"
        return f"{word}({', '.join(parts)})" if len(parts) > 1 else parts[0]
    if isinstance(formula, Ratio):
        shift = ratio_raised_by(formula, *(part.ends for part in node.parts))
        of, by = f"{constant(2 * formula.times)} * {parts[0]}", parts[1]
        dividend = f"({of} + {constant((2 * shift + 1) * formula.over)} * {by})"
        by = f"({constant(2 * formula.over)} * {by})"
        quotient = logical.dialect.quotient(dividend, by, own)
        return f"({quotient} - {constant(shift)})" if shift else quotient
    if isinstance(formula, Curve):
        curve = curve_terms(formula.shape, formula.step, node.parts[0].ends)
        dividend = _on_lines(curve.lines, parts[0], curve.near, constant)
        quotient = logical.dialect.quotient(dividend, 2**curve.shift, own)
        return f"({quotient} - {constant(curve.up)})" if curve.up else quotient
    assert isinstance(formula, Choice)  # noqa: S101 - no other node has SQL of its own
    cases = [
        f"WHEN {truth(condition, logical)} THEN {part}"
        for (condition, _), part in zip(formula.cases, parts, strict=False)
    ]
    last = "" if formula.otherwise is None else f" ELSE {parts[-1]}"
    return f"(CASE {' '.join(cases)}{last} END)"


def _on_lines(
    lines: Sequence[tuple[int, int, int, int]], k: str, near: bool, constant: Callable[[int], str]
) -> str:
    """The dividend of a curve by bisection: constant + slope·k of the line that k is on."""
    if len(lines) > 1:
        middle = len(lines) // 2
        below, above = (
            _on_lines(some, k, near, constant) for some in (lines[:middle], lines[middle:])
        )
        # k is missing on neither side of a comparison: what is missing stays so on any line
        return f"CASE WHEN {k} < {constant(lines[middle][0])} THEN {below} ELSE {above} END"
    ((first, last, base, slope),) = lines
    if near:
        k = f"(CASE WHEN {k} < {constant(first)} THEN {constant(first)} " + (
            f"WHEN {k} > {constant(last)} THEN {constant(last)} ELSE {k} END)"
        )
    return f"({constant(base)} + {constant(slope)} * {k})"


def _field(leaf: DateField, logical: Logical) -> str:
    column = logical.column(leaf.column)
    assert isinstance(column, Date | Datetime)  # noqa: S101 - `leaf_ends` refused the others
    count = logical.count(column)
    days = count if isinstance(column, Date) else count.floor_divide(DAY)
    if leaf.field == "hour":
        return f"({count.floor_divide(HOUR).sql} - 24 * {days.sql})"
    if leaf.field == "isodow":
        return f"({days.sql} + 4 - 7 * {days.plus(3).floor_divide(7).sql})"
    if leaf.field == "dow":
        return f"({days.sql} + 4 - 7 * {days.plus(4).floor_divide(7).sql})"
    if leaf.field == "minute":
        return f"({count.floor_divide(_MINUTE).sql} - 60 * {count.floor_divide(HOUR).sql})"
    return logical.dialect.part(leaf.field, logical.dialect.date(days.sql))
