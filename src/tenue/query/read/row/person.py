"""A derived table that has one row for each person: SELECT unit, SUM(x) AS v … GROUP BY unit.

All rows of a person count, and what they add up to is cut to ends that the schema states: the sum
of a column to its `bounds_per_unit`, or else to as many rows as `rows_per_unit` says.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from ....engine.formula import MOST_STEPS, Computed
from ....engine.request import Units, UnitValue
from ....errors import Refused, refuse
from ....schema import Column, Number, Table
from ....schema.literal import show
from ....schema.table import RECORD
from ...computed import person_columns
from ...question import Aggregate, Output, Persons, Question, used_columns
from ..constant import read_constant
from ..logic import written
from ..predicate import known_columns
from ..scope import Scope, read_alias, read_name, read_reference
from ..tree import Tree
from .value import is_column

_KINDS = {"sum": "total", "min": "least", "max": "largest", "avg": "mean"}


def persons_scope(tree: Tree, chosen: list[exp.Expr], group: exp.Expr, scope: Scope) -> Scope:
    """The scope that a table of persons offers; refused unless it is grouped by the unit alone."""
    from ..aggregate import read_expression

    schema = scope.schema
    if scope.persons is not None or not _by_unit(tree, chosen, group, scope):
        raise _not_by_unit(schema)
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
            raise refuse("query.derived-value-not-number")
        name = alias or f"{expression.kind}_{len(asked)}"
        if name.lower() in [known.lower() for known, _ in asked]:
            raise refuse("query.derived-duplicate-column", name=show(name))
        asked.append((name, expression))
    if not asked:
        raise refuse("query.derived-value-not-number")
    values, grids = zip(*(_value(tree, n, a, schema) for n, a in asked), strict=True)
    where = None if scope.rows is None else written(scope.rows, known_columns(tree, scope))
    inner = Question("", tuple(Output(n, a) for n, a in asked), where=where)
    used = used_columns(inner, tree.computed)
    computed = tuple(Computed(one.name, one.formula) for one in used)
    persons = Persons(Units(schema.unit, values, where, computed), grids, used)
    columns = person_columns(persons)
    return Scope(replace(schema, columns=columns), None, columns, None, persons)


def _by_unit(tree: Tree, chosen: list[exp.Expr], group: exp.Expr, scope: Scope) -> bool:
    """Whether GROUP BY names the unit and nothing else: by its name, its place or ALL."""
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
    column = scope.columns.get(read_name(tree, read_reference(tree, node, scope)))
    return column is not None and column.name.lower() == scope.schema.unit.lower()


def _not_by_unit(schema: Table) -> Refused:
    if schema.unit == RECORD:
        return refuse("query.derived-group-of-records")
    return refuse("query.derived-group-not-unit", unit=schema.unit)


def _value(tree: Tree, name: str, asked: Aggregate, schema: Table) -> tuple[UnitValue, Fraction]:
    """What is taken of each person, and the grid it is on."""
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
            raise refuse("query.person-bounds-missing", name=column.name)
    if max(map(abs, ends)) > MOST_STEPS:
        raise refuse("engine.computed-value-too-large", bits=MOST_STEPS.bit_length() - 1)
    return UnitValue(name, _KINDS[asked.kind], asked.column, *ends), column.grid  # type: ignore[arg-type]


def _number(tree: Tree, name: str, schema: Table) -> Number:
    from ...computed import column_of

    known = tree.computed.get(name)
    column: Column = schema.column(name) if known is None else column_of(known, schema)
    if isinstance(column, Number):
        return column
    raise refuse("query.derived-value-not-number")
