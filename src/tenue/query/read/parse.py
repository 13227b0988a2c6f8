"""A text becomes a question.

The journey: text → tokens → sqlglot's tree → the closed grammar of `question.py`. Three nets hold
what sqlglot lets through: only words a question may have reach it (`text.py`), every node is read
by a rule that names all its arguments (`tree.py`), and every word of the text is found again in the
tree (`spelling.py`).
"""

from __future__ import annotations

import math
from typing import Any

from ...errors import InvalidQuestion, refuse
from ...schema import Schema, Table
from ..question import GroupingOutput, GroupingSets, Question, used_columns
from .group.sets import has_sets
from .logic import written
from .output import name_outputs, read_key_sets, read_keys, read_selected
from .postprocess import Afterwards
from .predicate import Conditions, known_columns
from .source import read_source
from .spelling import refuse_lost
from .text import called_in, read_tokens, read_tree, refuse_apart
from .tree import Tree
from .unsupported import too_deep


def parse(sql: str, schema: Schema) -> Question:
    """The question that a SQL text asks of the table, if that is one table; see `parse_select`."""
    found = parse_select(sql, schema)
    if isinstance(found, GroupingSets):
        raise refuse("query.grouping-sets-not-here")
    return found


def parse_select(sql: str, schema: Schema) -> Question | GroupingSets:
    """The question that a SQL text asks of the table; refused if it asks anything else.

    Guarantee
        What is returned says all that the text says, and only columns, categories and cells that
        the schema declares stand in it. Texts of equal meaning give equal questions, as far as
        order, names, spelling and SQL's three-valued logic can show it. Whatever else the text is,
        `InvalidQuestion` is raised, which depends on the text and the schema alone.

    Parameters
        sql: SELECT keys and aggregates FROM the table, with WHERE, GROUP BY, HAVING, ORDER BY and
            LIMIT; CTEs and derived tables may choose, rename and filter columns.
        schema: the table it is asked of.

    Example
        >>> schema = Schema.from_dict({
        ...     "table": {"name": "census", "unit": "record", "neighbours": "replace"},
        ...     "columns": {"income": {"type": "number", "bounds": [0, 200_000]}}})
        >>> question = parse_select("SELECT COUNT(*) FROM census WHERE income > 50000", schema)
        >>> question.where
        Within(column='income', first=50001, last=None)
    """
    try:
        tokens = read_tokens(sql, schema)
        tree = Tree(read_tree(tokens, sql), called_in(tokens))
    except InvalidQuestion:
        refuse_apart(sql, schema)
        raise
    try:
        question = _question(tree, schema)
    except RecursionError:
        raise too_deep() from None
    tree.refuse_unread()
    refuse_lost(tokens, tree.root)
    return question


def _question(tree: Tree, schema: Table) -> Question | GroupingSets:
    with_, select, from_, joins, where, group, having, order, limit = tree.read(
        *(tree.root, "with_", "expressions", "from_", "joins"),
        *("where", "group", "having", "order", "limit"),
    )
    conditions = Conditions(tree)
    scope = read_source(tree, conditions, schema, from_, with_, joins)
    scope = scope.among(conditions.read_where(where, scope))
    selected = read_selected(tree, select or [], scope)
    sets: tuple[tuple[int, ...], ...] = ()
    if has_sets(group):
        keys, sets = read_key_sets(tree, group, selected, scope)
    else:
        keys = read_keys(tree, group, selected, scope)
    outputs = name_outputs(selected, keys)
    afterwards = Afterwards(tree, scope, outputs, keys)
    cells = sum(math.prod(keys[place].cells for place in one) for one in sets or [range(len(keys))])
    asked: dict[str, Any] = {
        "table": schema.name,
        "keys": keys,
        "where": None if scope.rows is None else written(scope.rows, known_columns(tree, scope)),
        "having": afterwards.read_having(having),
        "order": afterwards.read_order(order),
        "limit": afterwards.read_limit(limit, cells),
    }
    plain = tuple(output for output in outputs if not isinstance(output, GroupingOutput))
    question = Question(outputs=plain, **asked)
    asked |= {"computed": used_columns(question, tree.computed), "persons": scope.persons}
    if len(sets) > 1 or len(plain) < len(outputs):
        return GroupingSets(outputs=outputs, sets=sets, **asked)
    return Question(outputs=plain, **asked)
