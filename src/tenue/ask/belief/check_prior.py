"""Questions about one person, and whether a prior fits a question: decided without a row.

The text decides whether a question is about one person, never the analyst. It is accepted for any
constant, so that it does not reveal whether such a person is there.

A prior about a number is put on the grid of the answer, so that every draw is a possible answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlglot import exp

from ...errors import Refused, refuse
from ...prior import Belief
from ...prior.counts import Counts
from ...prior.density import Density
from ...prior.joint import Joint
from ...prior.points import Points
from ...schema import Boolean, Bounded, Category, Column, Identifier, Number, Schema
from ...schema.table import RECORD
from ..sql.constant import read_constant
from ..sql.parse import refuse_lost
from ..sql.scope import find_column, read_name, read_reference, start
from ..sql.tree import Tree, read_tokens, read_tree


@dataclass(frozen=True)
class Personal:
    """A question about one person.

    unit: the column that names people; name: the person, as text in one form.
    """

    table: str
    columns: tuple[str, ...]
    unit: str
    name: str

    @property
    def canonical(self) -> str:
        """One text for one meaning."""
        return repr(self)


def read_personal(sql: str, schema: Schema) -> Personal | None:
    """The question if it is about one person, else None."""
    tokens = read_tokens(sql, schema)
    tree = Tree(read_tree(tokens, sql))
    root = tree.root
    selected = root.args.get("expressions") or []
    where = root.args.get("where")
    others = ("group", "having", "order", "limit", "with_", "joins")
    if not selected or any(type(one) is not exp.Column for one in selected):
        return None
    if where is None or type(where.this) is not exp.EQ or any(map(root.args.get, others)):
        return None
    personal = _read(tree, schema)
    tree.refuse_unread()
    refuse_lost(tokens, root)
    return personal


def _read(tree: Tree, schema: Schema) -> Personal:
    select, from_, where = tree.read(tree.root, "expressions", "from_", "where")
    if from_ is None:
        raise _unfit("The question names no table")
    (table,) = tree.parts(from_, "this")
    title, _ = tree.read(table, "this", "alias")
    if read_name(tree, title).lower() != schema.name.lower():
        raise _unfit("The question is about another table")
    scope = start(schema)
    columns = tuple(find_column(tree, one, scope).name for one in select)
    if len(set(columns)) < len(columns):
        raise _unfit("A column is asked for twice")
    (equal,) = tree.parts(where, "this")
    left, right = (tree.unwrap(side) for side in tree.parts(equal, "this", "expression"))
    if type(left) is exp.Literal:
        left, right = right, left
    if type(left) is not exp.Column:
        raise _unfit("The condition does not name a person")
    unit = scope.columns.get(read_name(tree, read_reference(tree, left, scope)))
    if unit is None or not _names_people(unit, schema):
        raise _unfit("The condition is not about the column that names people")
    value = read_constant(tree, right)
    if isinstance(value, Fraction) and value.denominator == 1:
        value = str(int(value))
    if not isinstance(value, str):
        raise _unfit("The person is not named by a whole number or a text")
    return Personal(schema.name, columns, unit.name, value)


def unit_in_words(schema: Schema) -> str:
    """Who is protected, for the ledger; with the column that names a record, if there is one."""
    if schema.unit != RECORD:
        return f"each {schema.unit.lower()}"
    named = _identifier(schema)
    return "each record" if named is None else f"each record by {named.name.lower()}"


def names_once(schema: Schema) -> bool:
    """Whether a person has one name only: records with two identifiers have two."""
    return schema.unit != RECORD or _identifier(schema) is not None


def _identifier(schema: Schema) -> Column | None:
    """The one column that names records; None if there is none, or several."""
    identifiers = [column for column in schema.columns.values() if isinstance(column, Identifier)]
    return identifiers[0] if len(identifiers) == 1 else None


def _names_people(column: Column, schema: Schema) -> bool:
    if schema.unit == RECORD:
        return isinstance(column, Identifier)
    return column.name.lower() == schema.unit.lower()


def _unfit(what: str) -> Refused:
    return refuse("ask.not-a-personal-question", said=what)


# -- Whether a prior fits a question: decided from schema and prior, without a row -----------------


def fit_columns(prior: object, columns: Sequence[Column]) -> Any:
    """The prior on the values of the columns, or a refusal."""
    belief = _belief(prior)
    for column in columns:
        if not isinstance(column, Number | Category | Boolean):
            raise refuse("ask.column-not-refinable", name=column.name, type=column.type)
    if len(columns) == 1:
        return _on_column(belief, columns[0])
    joint = _joint(belief, [column.name for column in columns])
    for index, column in enumerate(columns):
        _check_values({value[index] for value in joint.values}, column)
    return joint


def fit_statistics(prior: object, names: Sequence[str], grids: Sequence[Fraction | None]) -> Any:
    """The prior about one number or several, each on its grid; None for a number without one."""
    belief = _belief(prior)
    if len(names) == 1:
        return _on_grid(belief, names[0], grids[0])
    joint = _joint(belief, names)
    for index, (name, grid) in enumerate(zip(names, grids, strict=True)):
        values = {value[index] for value in joint.values}
        if not all(isinstance(value, Fraction) for value in values):
            raise _no_number(name)
        _check_grid(values, name, grid)
    return joint


def _check_grid(values: set[Fraction], name: str, grid: Fraction | None) -> None:
    if grid is not None and any((value / grid).denominator != 1 for value in values):
        raise refuse("ask.prior-off-grid", name=name, grid=float(grid))


def _belief(prior: object) -> Belief:
    if isinstance(prior, Belief):
        return prior
    raise refuse("ask.prior-wrong-type", type=type(prior).__name__)


def _joint(belief: Belief, names: Sequence[str]) -> Joint:
    if isinstance(belief, Joint) and belief.width == len(names):
        return belief
    raise refuse("ask.prior-not-joint", many=len(names), names=", ".join(names))


def _on_column(belief: Belief, column: Column) -> Any:
    if not isinstance(column, Number):
        _check_values(set(getattr(belief, "values", (None,))), column)
        return belief
    if not isinstance(belief, Points | Counts | Density):
        raise _no_number(column.name)
    if isinstance(belief, Density) and not column.low <= belief.low < belief.high <= column.high:
        raise _out_of_bounds(column)
    fitted = belief.on_grid(column.grid)
    _check_values(set(getattr(fitted, "values", ())), column)
    return fitted


def _check_values(values: set[Any], column: Column) -> None:
    if isinstance(column, Number):
        if not all(isinstance(value, Fraction) for value in values):
            raise _no_number(column.name)
        if not all(column.low <= value <= column.high for value in values):
            raise _out_of_bounds(column)
        _check_grid(values, column.name, column.grid)
        return
    kind: type = str if isinstance(column, Category) else bool
    allowed = tuple(column.categories) if isinstance(column, Category) else (False, True)
    if not all(isinstance(value, kind) and value in allowed for value in values):
        raise refuse("ask.prior-foreign-values", name=column.name, many=len(allowed))


def _on_grid(belief: Belief, name: str, grid: Fraction | None) -> Any:
    if not isinstance(belief, Points | Counts | Density):
        raise _no_number(name)
    if grid is None:
        return belief.points if isinstance(belief, Counts) else belief
    if isinstance(belief, Counts):
        _check_grid({Fraction(1)}, name, grid)
        return belief
    return belief.on_grid(grid)


def _no_number(name: str) -> Refused:
    return refuse("ask.prior-not-numeric", name=name)


def _out_of_bounds(column: Bounded) -> Refused:
    return refuse(
        "ask.prior-outside-bounds",
        name=column.name,
        low=float(column.low),
        high=float(column.high),
    )
