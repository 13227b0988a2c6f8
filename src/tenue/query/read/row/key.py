"""Keys that are computed: bins with uneven edges, buckets, fields of dates.

Their cells follow from the question and the schema, so that no key tells of a row. A row in which
nothing is computed, such as one for which no condition of a CASE is true, is in no cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from ....engine.formula import Choice, Quotient, Steps, Sum
from ....engine.predicate import Predicate
from ....engine.request import Bin, Group
from ....errors import refuse
from ....schema import Category, Number, Table
from ....taxonomy import Taxonomy
from ...question import ComputedColumn, Label
from ..constant import read_constant
from ..literal import sql_number, sql_text
from ..scope import Scope
from ..tree import Tree
from .amount import Amount
from .text import check_parts
from .value import computed_column, is_computed, read_cases, read_value, visible
from .where import render_where


def read_computed_key(tree: Tree, node: exp.Expr, scope: Scope) -> Bin | Group:
    """The key that an expression is."""
    if type(node) is exp.Case and _labelled(node):
        return _labels(tree, node, scope)
    amount = read_value(tree, node, scope)
    floored = _plain_bin(amount, scope.schema)
    if floored is not None:
        return floored
    column = computed_column(tree, amount, scope)
    if column.name not in tree.computed:
        raise refuse(
            "query.key-type-not-groupable",
            name=column.name,
            type=column.type,
            advice=f"Write BIN({column.name}, 10) in SELECT and GROUP BY",
        )
    low, high = int(column.low / column.grid), int(column.high / column.grid)
    return Bin(column.name, 1, low, high - low + 1)


def is_computed_key(node: exp.Expr) -> bool:
    """Whether a node computes something of a row, and asks nothing of the table."""
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
    ends = (int(end / column.grid) // formula.divisor for end in (column.low, column.high))
    first, last = ends
    return Bin(column.name, formula.divisor, first, last - first + 1)


def _labelled(node: exp.Case) -> bool:
    """Whether CASE chooses between constants; NULL after ELSE is as good as no ELSE."""
    results = [one.args.get("true") for one in node.args["ifs"]]
    default = node.args.get("default")
    results += [] if default is None or type(default) is exp.Null else [default]
    return all(
        isinstance(result, exp.Literal | exp.Boolean)
        or (type(result) is exp.Neg and type(result.this) is exp.Literal)
        for result in results
    )


def _labels(tree: Tree, node: exp.Expr, scope: Scope) -> Group:
    cases, default = read_cases(tree, node, scope)
    labels: dict[Label, int] = {}
    made: list[tuple[Predicate, Label]] = []
    for when, then in cases:
        made.append((when, _label(tree, then)))
        labels.setdefault(made[-1][1], len(labels))
    last = None if default is None else _label(tree, default)
    if last is not None:
        labels.setdefault(last, len(labels))
    if len({type(label) for label in labels}) > 1:
        raise refuse("query.case-mixes-types")
    chosen = tuple((when, Sum(labels[label])) for when, label in made)
    formula = Choice(chosen, None if last is None else Sum(labels[last]))
    check_parts(tree, formula)
    name = labelled_name(tree, scope, made, last)
    tree.computed[name] = ComputedColumn(name, formula, labels=tuple(labels))
    return Group(name, len(labels))


def labelled_name(
    tree: Tree, scope: Scope, cases: Sequence[tuple[Predicate, Label]], last: Label | None
) -> str:
    """The name of a computed column that chooses between labels: its text in square brackets.

    An amount of the same text is in round ones (`text.py`): there are numbers where here are the
    places of labels, so that the two are two columns.
    """
    table = visible(tree, scope)
    texts = [f"WHEN {render_where(when, table)} THEN {_text(label)}" for when, label in cases]
    texts += [] if last is None else [f"ELSE {_text(last)}"]
    return f"[CASE {' '.join(texts)} END]"


def labelled_column(tree: Tree, node: exp.Expr, scope: Scope) -> Category | None:
    """The category that a CASE between texts is, for a condition; None if it is none."""
    if not isinstance(node, exp.Case) or not _labelled(node):
        return None
    key = _labels(tree, node, scope)
    labels = tree.computed[key.column].labels
    if not all(isinstance(label, str) for label in labels):
        return None
    words = tuple(map(str, labels))
    column = Category(name=key.column, role="other", taxonomy=Taxonomy.flat(words), stated=words)
    tree.columns[key.column] = column
    return column


def _label(tree: Tree, node: exp.Expr) -> Label:
    value = read_constant(tree, node)
    if isinstance(value, str | bool | Fraction) and value != "":
        return value
    raise refuse("query.case-mixes-types")


def _text(label: Label) -> str:
    if isinstance(label, bool):
        return str(label).upper()
    return sql_text(label) if isinstance(label, str) else sql_number(label)
