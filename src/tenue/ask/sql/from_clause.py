"""FROM: the one table, joined lookups, and derived tables with one row for each person.

The columns of a lookup are functions of a category, so they are computed columns. An INNER JOIN
leaves only rows whose category is a key: their number is secret. A LEFT JOIN keeps all rows;
categories that are not a key have no value.

All rows of a person count, and their sum is clipped to bounds that the schema states: the sum of a
column to its `bounds_per_unit`, or else to the sum of at most `rows_per_unit` rows.

Derived tables only choose, rename and filter columns, so each is folded away: its names refer to
declared columns, its conditions restrict the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import Any

from sqlglot import exp

from ...engine.computed_column import MOST_STEPS, Among, Computed
from ...engine.request import Units, UnitValue
from ...errors import Refused, nearest, refuse
from ...schema import Category, Column, Named, Number, Table
from ...schema.table import RECORD, Cell, Lookup
from ...schema.toml_values import show
from ..question import (
    Aggregate,
    Output,
    Persons,
    Question,
    column_of,
    person_columns,
    used_columns,
)
from .aggregate import read_expression
from .constant import read_constant
from .exact_expr import chosen, constant
from .logic import held, written
from .predicate import find_categories, known_columns, read_condition_rows, read_where
from .scope import (
    Scope,
    find_column,
    is_column,
    is_unit,
    read_alias,
    read_name,
    read_reference,
    refuse_names,
    start,
)
from .tree import Tree
from .unsupported import refuse_part, refuse_word
from .value import (
    category,
    computed_column,
    is_computed,
    labelled,
    labelled_column,
    read_value,
)

_SHOWN = 3


def join(tree: Tree, scope: Scope, joins: list[exp.Expr]) -> Scope:
    """The scope with the columns of all lookups that are joined."""
    for node in joins:
        scope = _joined(tree, scope, node)
    return scope


def _joined(tree: Tree, scope: Scope, node: exp.Expr) -> Scope:
    this, side, kind, using, on = tree.read(node, "this", "side", "kind", "using", "on")
    if type(this) is not exp.Table or type(this.this) is not exp.Identifier:
        raise _refused(scope)
    given, alias = tree.read(this, "this", "alias")
    lookup = scope.schema.lookups.get(read_name(tree, given))
    known = (side, kind) in ((None, None), (None, "INNER"), ("LEFT", None), ("LEFT", "OUTER"))
    if lookup is None or not known or scope.persons is not None:
        raise _refused(scope)
    title = _title(tree, alias) or lookup.name
    if title.lower() in {(scope.title or "").lower(), *scope.others}:
        raise refuse("ask.name-defined-twice", name=show(title))
    column = _key(tree, scope, lookup, title, using, on)
    columns = _columns(tree, scope, column, lookup)
    free = [(name, one) for name, one in columns.items() if name not in scope.columns]
    joined = replace(
        scope,
        columns=Named([*scope.columns.items(), *free]),
        others={**scope.others, title.lower(): columns},
    )
    if side == "LEFT":
        return joined
    matched = [value for value in column.categories if value in lookup.keys]
    return joined.among(held(column, *find_categories(column, matched)))


def _key(
    tree: Tree, scope: Scope, lookup: Lookup, title: str, using: Any, on: exp.Expr | None
) -> Category:
    """The category of the table that the key of the lookup is compared with."""
    found: Column | None = None
    if using and len(using) == 1 and on is None:
        name = read_name(tree, using[0])
        found = scope.columns.get(name) if name.lower() == lookup.key.lower() else None
    elif type(on) is exp.EQ and not using:
        sides = [tree.unwrap(part) for part in tree.parts(on, "this", "expression")]
        own = [part for part in sides if not _is_key(tree, part, lookup, title)]
        if len(own) == 1 and is_column(own[0]):
            found = find_column(tree, own[0], scope)
    if isinstance(found, Category) and found.name in scope.schema.columns:
        refuse_names(found, scope)
        return found
    raise refuse("ask.lookup-key-missing", name=lookup.name, key=lookup.key)


def _is_key(tree: Tree, node: exp.Expr, lookup: Lookup, title: str) -> bool:
    """Whether a side of ON is the key of the lookup, by its title."""
    table = node.args.get("table") if is_column(node) else None
    if table is None or table.name.lower() != title.lower():
        return False
    this, of = tree.parts(node, "this", "table")
    read_name(tree, of)
    return read_name(tree, this).lower() == lookup.key.lower()


def _columns(tree: Tree, scope: Scope, column: Category, lookup: Lookup) -> Named[Column]:
    found: list[tuple[str, Column]] = []
    for name, cells in lookup.columns.items():
        of_key, groups = dict(zip(lookup.keys, cells, strict=True)), dict[Cell, list[str]]()
        for value in column.categories:
            cell = of_key.get(value)
            if cell is not None:
                groups.setdefault(cell, []).append(value)
        if groups:
            found.append((name, _recoded(tree, scope, column, groups)))
    return Named(found)


def _recoded(tree: Tree, scope: Scope, column: Category, groups: dict[Cell, list[str]]) -> Column:
    """The column that has one value for each group of categories."""
    whens = [(Among(column.name, tuple(of)), cell) for cell, of in groups.items()]
    tree.recoded += len(column.categories) + len(column.name) * len(groups)
    if all(isinstance(cell, Fraction) for cell in groups):
        numbers = [(when, constant(cell)) for when, cell in whens if isinstance(cell, Fraction)]
        return computed_column(tree, chosen(numbers), scope)
    labels = [(when, str(cell)) for when, cell in whens]
    return category(tree, labelled(tree, scope, labels), scope)


def _refused(scope: Scope) -> Refused:
    lookups = scope.schema.lookups.values()
    if not lookups:
        return refuse_word("JOIN")
    joins = [f"LEFT JOIN {lookup.name} USING ({lookup.key})" for lookup in lookups][:_SHOWN]
    return refuse("ask.join-not-a-lookup", joins=" or ".join(joins))


# A derived table that has one row for each person: SELECT unit, SUM(x) AS v … GROUP BY unit.

_KINDS = {"sum": "total", "min": "least", "max": "largest", "avg": "mean"}


def persons_scope(
    tree: Tree, chosen: list[exp.Expr], group: exp.Expr, having: exp.Expr | None, scope: Scope
) -> Scope:
    """The scope that a table of persons offers; refused unless it is grouped by the unit alone.

    HAVING keeps persons by their values, as WHERE does in the SELECT around it.
    """
    schema = scope.schema
    if scope.persons is not None or not _by_unit(tree, chosen, group, scope):
        if schema.unit == RECORD:
            raise refuse("ask.derived-group-of-records")
        raise refuse("ask.derived-group-not-unit", unit=schema.unit)
    asked: list[tuple[str, Aggregate]] = []
    for node in chosen:
        alias = None
        if type(node) is exp.Alias:
            node, given = tree.parts(node, "this", "alias")
            alias = read_alias(tree, given)
        if _is_unit(tree, node, scope):
            continue
        expression = read_expression(tree, node, scope)
        if not isinstance(expression, Aggregate) or expression.kind not in (*_KINDS, "count"):
            raise refuse("ask.derived-value-not-number")
        name = alias or f"{expression.kind}_{len(asked)}"
        if name.lower() in [known.lower() for known, _ in asked]:
            raise refuse("ask.derived-duplicate-column", name=show(name))
        asked.append((name, expression))
    kept = None if having is None else _with_values(tree, having, asked, scope)
    if not asked:
        asked.append(("count_0", Aggregate("count")))  # everybody who has a row
    values, grids = zip(*(_value(tree, n, a, schema) for n, a in asked), strict=True)
    where = None if scope.rows is None else written(scope.rows, known_columns(tree, scope))
    inner = Question("", tuple(Output(n, a) for n, a in asked), where=where)
    used = used_columns(inner, tree.computed)
    computed = tuple(Computed(one.name, one.formula) for one in used)
    persons = Persons(Units(schema.unit, values, where, computed), grids, used)
    columns = person_columns(persons)
    found = Scope(replace(schema, columns=columns), None, columns, None, persons)
    if kept is None:
        return found
    left = read_condition_rows(tree, kept, found)
    tree.refuse_unread(kept)
    return found.among(left)


def _with_values(
    tree: Tree, having: exp.Expr, asked: list[tuple[str, Aggregate]], scope: Scope
) -> exp.Expr:
    """The condition of HAVING, whose aggregates are values of the table of persons.

    asked: these values; those that only HAVING names are added.
    """
    (condition,) = tree.parts(having, "this")
    copy = condition.copy()
    for part in condition.walk():  # the copy is read instead
        tree.read(part, *part.args)

    def value(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.AggFunc | exp.Filter):
            return node
        expression = read_expression(tree, node, scope)
        if not isinstance(expression, Aggregate) or expression.kind not in (*_KINDS, "count"):
            raise refuse("ask.derived-value-not-number")
        name = next((known for known, one in asked if one == expression), None)
        if name is None:
            taken = {known.lower() for known, _ in asked}
            numbers = (f"{expression.kind}_{number}" for number in count(len(asked)))
            name = next(free for free in numbers if free not in taken)
            asked.append((name, expression))
        return exp.Column(this=exp.Identifier(this=name, quoted=True))

    return copy.transform(value, copy=False)


def _by_unit(tree: Tree, chosen: list[exp.Expr], group: exp.Expr, scope: Scope) -> bool:
    """Whether GROUP BY names the unit and nothing else: by its name, its position or ALL."""
    places = [(type(n) is exp.Alias and n.this) or n for n in chosen]
    units = [place for place, node in enumerate(places) if _is_unit(tree, node, scope)]
    if group.args.get("all"):
        tree.read(group, "all")
        return len(units) == 1
    grouped = [tree.unwrap(node) for node in tree.listed(group)]
    if len(grouped) == 1 and type(grouped[0]) is exp.Literal:
        return read_constant(tree, grouped[0]) in [place + 1 for place in units]
    return len(grouped) == 1 and _is_unit(tree, grouped[0], scope)


def _is_unit(tree: Tree, node: exp.Expr, scope: Scope) -> bool:
    node = tree.unwrap(node)
    if scope.schema.unit == RECORD or not is_column(node):
        return False
    return is_unit(scope.columns.get(read_name(tree, read_reference(tree, node, scope))), scope)


def _value(tree: Tree, name: str, asked: Aggregate, schema: Table) -> tuple[UnitValue, Fraction]:
    """The value of each person, and its grid."""
    rows = schema.rows_per_unit or 1
    if asked.kind == "count":
        if asked.column is None:
            return UnitValue(name, "rows", None, 0, rows), Fraction(1)
        return UnitValue(name, "present", asked.column, 0, rows), Fraction(1)
    column = _number(tree, asked.column or "", schema)
    ends = int(column.low / column.grid), int(column.high / column.grid)
    if asked.kind == "sum":
        ends = min(ends[0], rows * ends[0]), max(ends[1], rows * ends[1])
        if column.bounds_per_unit is not None:
            low, high = column.bounds_per_unit
            ends = int(low / column.grid), int(high / column.grid)
        elif schema.rows_per_unit is None:
            raise refuse("ask.person-bounds-missing", name=column.name)
    if max(map(abs, ends)) > MOST_STEPS:
        raise refuse("engine.computed-value-too-large", bits=MOST_STEPS.bit_length() - 1)
    return UnitValue(name, _KINDS[asked.kind], asked.column, *ends), column.grid  # type: ignore[arg-type]


def _number(tree: Tree, name: str, schema: Table) -> Number:
    known = tree.computed.get(name)
    column: Column = schema.column(name) if known is None else column_of(known, schema)
    if isinstance(column, Number):
        return column
    raise refuse("ask.derived-value-not-number")


# -- FROM: the one table, under any number of CTEs and derived tables ------------------------------

_Known = Mapping[str, Scope]
"""The tables a FROM may name, by their names in lower case."""


def read_source(
    tree: Tree, schema: Table, from_: exp.Expr, with_: exp.Expr | None, joins: list[exp.Expr]
) -> Scope:
    """The scope of the outermost SELECT, whose FROM, JOINs and WITH these are."""
    known: dict[str, Scope] = {schema.name.lower(): start(schema)}
    defined: set[str] = set()
    for cte in tree.listed(with_) if with_ is not None else ():
        select, alias = tree.parts(cte, "this", "alias")
        name = _title(tree, alias) or ""
        if name.lower() in defined:
            raise refuse("ask.name-defined-twice", name=show(name))
        defined.add(name.lower())
        known[name.lower()] = _folded(tree, known, select).named(name)
    return join(tree, _from(tree, known, from_), joins)


def _title(tree: Tree, alias: exp.Expr | None) -> str | None:
    name = None if alias is None else tree.read(alias, "this")[0]
    return None if name is None else read_alias(tree, name)


def _from(tree: Tree, known: _Known, from_: exp.Expr | None) -> Scope:
    source = None if from_ is None else tree.read(from_, "this")[0]
    if type(source) is exp.Subquery:
        select, alias = tree.read(source, "this", "alias")
        return _folded(tree, known, select).named(_title(tree, alias))
    if type(source) is not exp.Table or type(source.this) is not exp.Identifier:
        raise refuse("ask.no-table")
    name, alias = tree.read(source, "this", "alias")
    title = read_name(tree, name)
    scope = known.get(title.lower())
    if scope is None:
        raise refuse(
            "ask.unknown-table",
            title=show(title),
            nearest=nearest(title[:100], (found.title or "" for found in known.values())),
        )
    return scope.named(_title(tree, alias) or scope.title)


def _folded(tree: Tree, known: _Known, select: exp.Expr) -> Scope:
    if type(select) is not exp.Select:
        raise refuse("ask.derived-not-a-select")
    chosen, from_, where, group, having, joins = tree.read(
        select, "expressions", "from_", "where", "group", "having", "joins"
    )
    inner = join(tree, _from(tree, known, from_), joins or [])
    left = inner.among(read_where(tree, where, inner))
    if group is not None:
        return persons_scope(tree, chosen or [], group, having, left)
    if having is not None:
        raise refuse_part("having")
    columns: dict[str, tuple[str, Column]] = {}
    for expression in chosen:
        for name, column in _projected(tree, expression, inner):
            if name.lower() in columns:
                raise refuse("ask.derived-duplicate-column", name=show(name))
            columns[name.lower()] = name, column
    if not columns:
        raise refuse("ask.derived-without-columns")
    return Scope(inner.schema, None, Named(columns.values()), left.rows, inner.persons)


def _projected(tree: Tree, node: exp.Expr, scope: Scope) -> Iterator[tuple[str, Column]]:
    alias = column = None
    if type(node) is exp.Alias:
        node, alias = tree.parts(node, "this", "alias")
    if is_column(node):
        column = find_column(tree, node, scope)
    elif alias is not None:
        column = labelled_column(tree, node, scope)
        if column is None and is_computed(node):
            column = computed_column(tree, read_value(tree, node, scope), scope)
    if column is not None:
        yield node.name if alias is None else read_alias(tree, alias), column
        return
    if type(node) is exp.Column and type(node.this) is exp.Star:
        node = read_reference(tree, node, scope)
    if type(node) is not exp.Star or alias is not None:
        raise refuse("ask.derived-unnamed-expression")
    tree.read(node)
    yield from scope.columns.items()
