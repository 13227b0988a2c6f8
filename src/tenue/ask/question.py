"""A parsed question: a closed grammar, typed against the schema.

A question is a value. Two texts of one meaning have the same value, and `canonical` writes it down
for the ledger's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import prod
from typing import Literal

from ..engine.computed_column import (
    Computed,
    DateField,
    Ends,
    Formula,
    Predicate,
    Steps,
    check_range,
    columns_in,
    columns_of,
    leaf_ends,
    never_missing,
)
from ..engine.request import Bin, Group, Key, Units
from ..schema import Bounded, Category, Column, Named, Number, Schema, Table
from ..schema.case_insensitive import folded
from ..taxonomy import Taxonomy


@dataclass(frozen=True)
class Aggregate:
    """An aggregate of the rows of a group.

    kind: one that a family of aggregates declares (`aggregates/`).
    column, other: of which columns; None for all rows.
    q: which quantile.
    """

    kind: str
    column: str | None = None
    other: str | None = None
    q: Fraction | None = None

    def __repr__(self) -> str:
        # `canonical` consists of this: a question keeps its text when aggregates are added
        others = {"other": self.other, "q": self.q}
        more = "".join(f", {name}={v!r}" for name, v in others.items() if v is not None)
        return f"Aggregate(kind={self.kind!r}, column={self.column!r}{more})"

    @property
    def name(self) -> str:
        """The SQL function."""
        if self.kind == "quantile":
            return "MEDIAN" if self.q == Fraction(1, 2) else "QUANTILE"
        named = {"units": "COUNT", "distinct": "COUNT"}
        return named.get(self.kind, self.kind.removeprefix("clipped_").upper())


@dataclass(frozen=True)
class Constant:
    """A number the analyst wrote."""

    value: Fraction


@dataclass(frozen=True)
class Arithmetic:
    """An operation on private answers: post-processing."""

    operator: Literal["+", "-", "*", "/"]
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Applied:
    """A function of a private answer and a number: post-processing.

    round: the answer with so many decimals, half away from zero; a negative number rounds to tens.
    coalesce: the number where the answer is undefined. nullif: undefined where it is the number.
    """

    function: Literal["round", "coalesce", "nullif"]
    of: Expression
    number: Fraction


OverFunction = Literal[
    "sum",
    "avg",
    "min",
    "max",
    "lag",
    "lead",
    "first_value",
    "rank",
    "dense_rank",
    "row_number",
]


@dataclass(frozen=True)
class Over:
    """A window over the groups of the answer: post-processing.

    It sees all declared groups, before HAVING and LIMIT.

    function: sum, avg, min, max of the answers of some groups; lag, lead, first_value: the answer
        of one other group; rank, dense_rank, row_number: the place of the group.
    of: what is asked of each group; None for its place.
    by: PARTITION BY. order: ORDER BY, keys or expressions, and whether they descend.
    rows: how many groups before and after are in the window, None for all; where it is None as a
        whole: all groups, with an order up to this one and those that are sorted alike.
    offset: how many groups LAG and LEAD are away.
    """

    function: OverFunction
    of: Expression | None = None
    by: tuple[Key, ...] = ()
    order: tuple[tuple[Key | Expression, bool], ...] = ()
    rows: tuple[int | None, int | None] | None = None
    offset: int = 1

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys that it names."""
        return (*self.by, *(one for one, _ in self.order if not isinstance(one, Expression)))


Expression = Aggregate | Constant | Arithmetic | Applied | Over


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that it is computed from."""
    if isinstance(expression, Arithmetic):
        return expression.left, expression.right
    if isinstance(expression, Applied):
        return (expression.of,)
    if isinstance(expression, Over):
        of = () if expression.of is None else (expression.of,)
        return (*of, *(one for one, _ in expression.order if isinstance(one, Expression)))
    return ()


def windows_in(expression: Expression) -> list[Over]:
    """The windows of an expression, from left to right."""
    own = [expression] if isinstance(expression, Over) else []
    return own + [found for part in parts_of(expression) for found in windows_in(part)]


def aggregates_in(expression: Expression) -> list[Aggregate]:
    """The aggregates of an expression, from left to right."""
    own = [expression] if isinstance(expression, Aggregate) else []
    return own + [found for part in parts_of(expression) for found in aggregates_in(part)]


@dataclass(frozen=True)
class KeyOutput:
    """A column of the answer that repeats the group's key. key: its index in `keys`."""

    alias: str
    key: int


@dataclass(frozen=True)
class Output:
    """A column of the answer that is computed from private answers."""

    alias: str
    expression: Expression


@dataclass(frozen=True)
class Comparison:
    """HAVING: an output or a key (by alias) compared with a constant, after the noise.

    A key is compared by the values of its column in the answer; text keys by = and <> only.
    """

    alias: str
    operator: Literal["=", "<>", "<", "<=", ">", ">="]
    value: Fraction | str | bool


@dataclass(frozen=True)
class Order:
    """ORDER BY an alias, after the noise."""

    alias: str
    descending: bool = False


Label = str | bool | Fraction


@dataclass(frozen=True)
class ComputedColumn:
    """A column that the question computes from declared ones.

    name: its text in brackets, so that no declared column has this name: round ones around a
        number, square ones around labels.
    formula, grid: it is grid·formula.
    labels: where it is a category, the label of each number of the formula.
    """

    name: str
    formula: Formula
    grid: Fraction = Fraction(1)
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True)
class Persons:
    """The derived table of a question that has one row for each person.

    units: the values of each person, in whole steps.
    grids: the size of a step of each value.
    computed: the columns that are computed from their rows.
    """

    units: Units
    grids: tuple[Fraction, ...]
    computed: tuple[ComputedColumn, ...] = ()


@dataclass(frozen=True)
class Question:
    """A question about one table.

    outputs: the columns of the answer, in the order asked.
    keys: GROUP BY; every declared cell appears in the answer, present in the data or not.
    where: which rows; None for all.
    having, order, limit: post-processing of the private answer. `having` is a conjunction.
    computed: the columns that the question computes, which it names like declared ones.
    persons: the table of persons that it is about; None if it is about rows.
    """

    table: str
    outputs: tuple[KeyOutput | Output, ...]
    keys: tuple[Key, ...] = ()
    where: Predicate | None = None
    having: tuple[Comparison, ...] = ()
    order: tuple[Order, ...] = ()
    limit: int | None = None
    computed: tuple[ComputedColumn, ...] = ()
    persons: Persons | None = None

    def __repr__(self) -> str:
        # `canonical` consists of this: a question keeps its text when there is more to ask
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        shown = [n for n, value in named.items() if n not in _LATER or value not in ((), None)]
        return f"Question({', '.join(f'{name}={named[name]!r}' for name in shown)})"

    @property
    def cells(self) -> int:
        """How many groups the answer has before HAVING and LIMIT."""
        return prod(key.cells for key in self.keys)

    @property
    def canonical(self) -> str:
        """One text for one meaning."""
        return repr(self)

    def aggregates(self) -> tuple[Aggregate, ...]:
        """The different aggregates, in the order they first appear."""
        asked = (aggregates_in(o.expression) for o in self.outputs if isinstance(o, Output))
        return tuple(dict.fromkeys(chain.from_iterable(asked)))

    @cached_property
    def windows(self) -> tuple[Over, ...]:
        """The windows over its groups."""
        asked = (windows_in(o.expression) for o in self.outputs if isinstance(o, Output))
        return tuple(chain.from_iterable(asked))

    def with_aggregates(self, change: Callable[[Aggregate], Aggregate]) -> Question:
        """The same question of other aggregates, which `change` gives for each."""

        def walk(expression: Expression) -> Expression:
            if isinstance(expression, Aggregate):
                return change(expression)
            if isinstance(expression, Arithmetic):
                return replace(expression, left=walk(expression.left), right=walk(expression.right))
            if isinstance(expression, Applied):
                return replace(expression, of=walk(expression.of))
            if isinstance(expression, Over):
                order = tuple(
                    (walk(one) if isinstance(one, Expression) else one, descending)
                    for one, descending in expression.order
                )
                of = None if expression.of is None else walk(expression.of)
                return replace(expression, of=of, order=order)
            return expression

        outputs = tuple(
            replace(output, expression=walk(output.expression))
            if isinstance(output, Output)
            else output
            for output in self.outputs
        )
        return replace(self, outputs=outputs)

    def labels(self, key: Key) -> tuple[Label, ...]:
        """The labels of the cells of a key, if the question itself defines them."""
        named = (one.labels for one in self.computed if one.name == key.column)
        return next(named, ())


@dataclass(frozen=True)
class GroupingOutput:
    """A column of the answer that says over which keys a row is a total: GROUPING(a, b).

    keys: their indices. The first is the highest binary digit, 1 where the row is a total over it.
    """

    alias: str
    keys: tuple[int, ...]

    def of(self, grouped: tuple[int, ...]) -> int:
        """Its value in the table by these keys."""
        return sum((key not in grouped) << i for i, key in enumerate(reversed(self.keys)))


@dataclass(frozen=True)
class GroupingSets:
    """One SELECT that asks for several tables of the same rows: ROLLUP, CUBE, GROUPING SETS.

    sets: the keys of each table, by their indices in `keys`, in increasing order.
    The rest is as in `Question`. HAVING, ORDER BY and LIMIT are about all tables as one.
    """

    table: str
    outputs: tuple[KeyOutput | Output | GroupingOutput, ...]
    keys: tuple[Key, ...]
    sets: tuple[tuple[int, ...], ...]
    where: Predicate | None = None
    having: tuple[Comparison, ...] = ()
    order: tuple[Order, ...] = ()
    limit: int | None = None
    computed: tuple[ComputedColumn, ...] = ()
    persons: Persons | None = None

    @property
    def canonical(self) -> str:
        """One text for one meaning."""
        return repr(self)

    def parts(self) -> tuple[Question, ...]:
        """The question of each table."""
        return tuple(self._part(grouped) for grouped in self.sets)

    def _part(self, grouped: tuple[int, ...]) -> Question:
        outputs: list[KeyOutput | Output] = []
        for output in self.outputs:
            if isinstance(output, Output):
                outputs.append(output)
            elif isinstance(output, KeyOutput) and output.key in grouped:
                outputs.append(KeyOutput(output.alias, grouped.index(output.key)))
        keys = tuple(self.keys[index] for index in grouped)
        question = Question(self.table, tuple(outputs), keys, self.where, persons=self.persons)
        known = {one.name: one for one in self.computed}
        return replace(question, computed=used_columns(question, known))


_LATER = ("computed", "persons")
"""Fields that questions did not have at first."""


def used_columns(
    question: Question, known: Mapping[str, ComputedColumn]
) -> tuple[ComputedColumn, ...]:
    """The known computed columns that the question uses, each after those it is computed from."""
    used: dict[str, ComputedColumn] = {}

    def use(name: str | None) -> None:
        computed = known.get(name or "")
        if computed is not None and computed.name not in used:
            for inner in columns_of(computed.formula):
                use(inner)
            used[computed.name] = computed

    asked = [name for a in question.aggregates() for name in (a.column, a.other)]
    keys = [key.column for key in question.keys]
    for name in (*asked, *keys, *(() if question.where is None else columns_in(question.where))):
        use(name)
    return tuple(used.values())


# -- The columns of a question: declared and computed ones -----------------------------------------

MOST_TOGETHER = 64
"""The most columns that questions which are asked together may compute."""


def column_of(computed: ComputedColumn, table: Table) -> Column:
    """A computed column in the form of a declared one.

    Its bounds follow from the bounds of the columns it is computed from. It is never missing if
    none of them is. The bounds of a constant include 0: a mean needs two ends, and a sum of it
    moves as far either way.
    """
    if computed.labels:
        words = tuple(str(label) for label in computed.labels)
        return Category(
            name=computed.name, role="other", taxonomy=Taxonomy.flat(words), stated=words
        )

    def ends(leaf: Steps | DateField) -> Ends:
        return leaf_ends(table.column(leaf.column), leaf)

    low, high = check_range(computed.formula, ends)
    if low == high:
        low, high = min(low, 0), max(high, 0) or (1 if low == 0 else 0)
    never = never_missing(computed.formula, lambda name: table.column(name).missing is not None)
    return _number(computed.name, low, high, computed.grid, missing=low if never else None)


def _number(name: str, low: int, high: int, grid: Fraction, *, missing: int | None) -> Number:
    default = None if missing is None else missing * grid
    return Number(
        name=name, role="other", missing=default, low=low * grid, high=high * grid, grid=grid
    )


def person_columns(persons: Persons) -> Named[Column]:
    """The columns of a table that has one row for each person."""
    columns = []
    for value, grid in zip(persons.units.values, persons.grids, strict=True):
        missing = 0 if value.kind in ("rows", "present") else None
        column = _number(value.name, value.low, value.high, grid, missing=missing)
        columns.append((value.name, column))
    return Named[Column](columns)


def seen_by(question: Question | GroupingSets, schema: Schema) -> Schema:
    """The schema with the columns that the question computes, of rows or of persons."""
    if not question.computed and question.persons is None:
        return schema
    table = schema
    if question.persons is not None:
        table = replace(table, columns=person_columns(question.persons))
    return with_columns(table, question.computed)


def with_columns(schema: Schema, several: Iterable[ComputedColumn]) -> Schema:
    """The schema with computed columns, each of which may be computed from those before it."""
    for computed in several:
        entry = (computed.name, column_of(computed, schema))
        schema = replace(schema, columns=Named([*schema.columns.items(), entry]))
    return schema


def computed_by(questions: Mapping[int, Question]) -> tuple[list[int], list[ComputedColumn]]:
    """The numbers of the questions that may be asked together, and all columns they compute.

    A column comes after those it is computed from. A name means one column: a question that gives
    it another meaning is left out, and so are all that compute columns if these are too many.
    """
    known: dict[str, ComputedColumn] = {}
    together = []
    for number, question in questions.items():
        own = {folded(one.name): one for one in question.computed}
        if all(known.get(name, one) == one for name, one in own.items()):
            known |= own
            together.append(number)
    if len(known) > MOST_TOGETHER:
        return [number for number in together if not questions[number].computed], []
    return together, list(known.values())


def seen_together(several: Iterable[ComputedColumn], schema: Schema) -> Schema:
    """The schema with computed columns in whole steps, as an engine sees them, without labels."""
    return with_columns(schema, (replace(one, labels=()) for one in several))


def engine_columns(several: Iterable[ComputedColumn]) -> tuple[Computed, ...]:
    """Computed columns in the terms of an engine."""
    return tuple(Computed(one.name, one.formula) for one in several)


def every_value(column: Column) -> Key:
    """The key with a cell for each value of a column."""
    if isinstance(column, Bounded):
        low = int(column.low / column.grid) if isinstance(column, Number) else 0
        return Bin(column.name, 1, low, column.steps + 1)
    return Group(column.name, len(column.categories) if isinstance(column, Category) else 2)
