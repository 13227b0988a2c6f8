"""Questions about one person: SELECT columns FROM table WHERE unit = constant, and nothing else.

The text decides whether a question is about one person, never whoever asks. Whoever the constant
names, the question is accepted: whether such a person is there is not told.
"""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from ...errors import Refused, refuse
from ...frozen import dataclass
from ...schema import Column, Identifier, Schema
from ...schema.table import RECORD
from ..read.constant import read_constant
from ..read.scope import find_column, read_name, read_reference, start
from ..read.spelling import refuse_lost
from ..read.text import read_tokens, read_tree
from ..read.tree import Tree


@dataclass(frozen=True)
class Personal:
    """What is asked about whom.

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
    """The question, if the text is one about one person; None if it is any other."""
    tokens = read_tokens(sql, schema)
    tree = Tree(read_tree(tokens, sql))
    root = tree.root
    selected = root.args.get("expressions") or []
    where = root.args.get("where")
    if not selected or where is None or any(type(one) is not exp.Column for one in selected):
        return None
    if type(where.this) is not exp.EQ:
        return None
    if any(root.args.get(name) for name in ("group", "having", "order", "limit", "with_", "joins")):
        return None
    found = _read(tree, schema)
    tree.refuse_unread()
    refuse_lost(tokens, root)
    return found


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
        return Personal(schema.name, columns, unit.name, str(int(value)))
    if isinstance(value, str):
        return Personal(schema.name, columns, unit.name, value)
    raise _unfit("The person is not named by a whole number or a text")


def unit_in_words(schema: Schema) -> str:
    """Who is protected, for the ledger: with the column that names a record, if one does."""
    if schema.unit != RECORD:
        return f"each {schema.unit.lower()}"
    named = _identifier(schema)
    return "each record" if named is None else f"each record by {named.name.lower()}"


def names_once(schema: Schema) -> bool:
    """Whether a person has one name only: records with two identifiers have two."""
    return schema.unit != RECORD or _identifier(schema) is not None


def _identifier(schema: Schema) -> Column | None:
    """The one column that names records; None if there is none, or several."""
    found = [column for column in schema.columns.values() if isinstance(column, Identifier)]
    return found[0] if len(found) == 1 else None


def _names_people(column: Column, schema: Schema) -> bool:
    if schema.unit == RECORD:
        return isinstance(column, Identifier)
    return column.name.lower() == schema.unit.lower()


def _unfit(what: str) -> Refused:
    return refuse("query.not-a-personal-question", said=what)
