"""From a text to a question, without losing any part of the text.

sqlglot silently ignores some words: ALL in COUNT(ALL x), NULLS LAST, the third argument of
DATE_TRUNC, DISTINCT after GROUP BY. So the words, signs and values of the text are compared with
those of the tree. Only those without a meaning of their own are left out.

The steps: text → tokens → sqlglot's tree → the closed grammar of `ask/question.py`. Three nets
catch what sqlglot lets through: only words of the grammar reach it (`tree.py`), every node is read
by a rule that names all its arguments (`tree.py`), and every word of the text must occur in the
tree (`parse.py`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from sqlglot import Token, TokenType, exp

from ...errors import InvalidQuestion, refuse
from ...schema import Schema, Table
from ..question import GroupingOutput, GroupingSets, Question, used_columns
from .aggregate import AGGREGATES
from .constant import number
from .from_clause import read_source
from .logic import written
from .output import name_outputs, read_keys, read_selected
from .postprocess import Afterwards
from .predicate import known_columns, read_where
from .tree import SIGNS, WORDS, Tree, called_in, read_tokens, read_tree, refuse_apart
from .unsupported import refuse_word, too_deep, unreadable
from .window import WINDOWS, refuse_windows

T = TokenType
_SHAPE = {T.L_PAREN, T.R_PAREN, T.COMMA, T.DOT, T.ALIAS, T.ASC}
"""Tokens that the shape of the tree expresses, or that have no meaning."""
_OPEN = (SIGNS | WORDS) - {T.R_PAREN}
"""After these a point begins a number."""

_SIGNS: dict[type[exp.Expr], tuple[TokenType, ...]] = {
    exp.With: (T.WITH,),
    exp.Select: (T.SELECT,),
    exp.From: (T.FROM,),
    exp.Where: (T.WHERE,),
    exp.Group: (T.GROUP_BY,),
    exp.Having: (T.HAVING,),
    exp.Order: (T.ORDER_BY,),
    exp.Limit: (T.LIMIT,),
    exp.And: (T.AND,),
    exp.Or: (T.OR,),
    exp.Not: (T.NOT,),
    exp.Between: (T.BETWEEN, T.AND),
    exp.In: (T.IN,),
    exp.Like: (T.LIKE,),
    exp.Is: (T.IS,),
    exp.Null: (T.NULL,),
    exp.EQ: (T.EQ,),
    exp.NEQ: (T.NEQ,),
    exp.LT: (T.LT,),
    exp.LTE: (T.LTE,),
    exp.GT: (T.GT,),
    exp.GTE: (T.GTE,),
    exp.Add: (T.PLUS,),
    exp.Sub: (T.DASH,),
    exp.Neg: (T.DASH,),
    exp.Mul: (T.STAR,),
    exp.Star: (T.STAR,),
    exp.Div: (T.SLASH,),
    exp.Case: (T.CASE, T.END),
    exp.If: (T.WHEN, T.THEN),
    exp.Filter: (T.FILTER,),
    exp.Rollup: (T.ROLLUP,),
    exp.Cube: (T.CUBE,),
    exp.GroupingSets: (T.GROUPING_SETS,),
}
_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.TimestampTrunc: "date_trunc",
    exp.PercentileCont: "percentile_cont",
    exp.Coalesce: "coalesce",
    exp.Floor: "floor",
    exp.Ceil: "ceil",
    exp.Round: "round",
    exp.Nullif: "nullif",
    exp.Cast: "cast",
    exp.WidthBucket: "width_bucket",
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Hour: "hour",
    exp.Minute: "minute",
    exp.Week: "week",
    exp.WeekOfYear: "week",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfYear: "dayofyear",
    exp.DayOfWeek: "dayofweek",
    exp.DayOfWeekIso: "isodow",
    exp.Dayname: "dayname",
    exp.Monthname: "monthname",
    exp.Abs: "abs",
    exp.Least: "least",
    exp.Greatest: "greatest",
    exp.Ln: "ln",
    exp.Log: "log",
    exp.Exp: "exp",
    exp.Sqrt: "sqrt",
    exp.Pow: "power",
    exp.Grouping: "grouping",
    **{node: name for node, name in WINDOWS.items() if node not in AGGREGATES},
    **{node: rule.name.lower() for node, rule in AGGREGATES.items()},
}
_SYNONYMS = {
    "var_samp": "variance",
    "quantile_cont": "percentile_cont",
    "ceiling": "ceil",
    "ifnull": "coalesce",
    "pow": "power",
    "weekofyear": "week",
    "dayofmonth": "day",
}
"""Functions that sqlglot makes the same node of, and which are the same."""
_LOGARITHMS = {"log10": Fraction(10), "log2": Fraction(2)}
"""Functions that sqlglot makes LOG of with the base as one more argument."""
_TYPES = {exp.DType.DATE: T.DATE, exp.DType.TIMESTAMPNTZ: T.TIMESTAMPNTZ}
_NUMBER_TYPES = {
    exp.DType.INT: T.INT,
    exp.DType.BIGINT: T.BIGINT,
    exp.DType.DOUBLE: T.DOUBLE,
    exp.DType.FLOAT: T.FLOAT,
    exp.DType.DECIMAL: T.DECIMAL,
}

_Item = tuple[str, object]
"""A word, sign or value: its type and its content."""


def refuse_lost(tokens: Iterable[Token], tree: exp.Expr) -> None:
    """Refuses words of the text that are missing in the tree, and the other way round."""
    left = Counter(_in_tree(tree))
    for token, readings in _in_text(tokens):
        reading = next((reading for reading in readings if left[reading]), None)
        if reading is None:
            raise refuse_word(token.text)
        left[reading] -= 1
    if left.total():
        raise unreadable()


def _in_text(tokens: Iterable[Token]) -> Iterator[tuple[Token, tuple[_Item, ...]]]:
    """Each token that has a meaning, with all possible meanings."""
    point = False
    open_ = True
    listed = list(tokens)
    for token, after in zip(listed, [*listed[1:], None], strict=True):
        kind, base = token.token_type, _LOGARITHMS.get(token.text.lower())
        if base is not None and after is not None and after.token_type is T.L_PAREN:
            yield token, (("name", "log"),)
            yield token, (("number", base),)
        elif kind is T.NUMBER:
            yield token, (("number", number(f".{token.text}" if point else token.text)),)
        elif kind is T.STRING:
            yield token, (("string", token.text), ("unit", token.text.upper()))
        elif kind is T.IDENTIFIER:
            yield token, (("quoted", token.text),)
        elif kind not in _SHAPE:
            name = token.text.lower()
            yield token, (("name", name), ("name", _SYNONYMS.get(name, name)), ("sign", kind))
        point = kind is T.DOT and open_
        open_ = kind in _OPEN


def _of_join(node: exp.Expr) -> Iterator[TokenType | None]:
    yield T.JOIN
    for key, words in (("side", {"LEFT": T.LEFT}), ("kind", {"INNER": T.INNER, "OUTER": T.OUTER})):
        if node.args.get(key):
            yield words.get(node.args[key])
    if node.args.get("using"):
        yield T.USING
    if node.args.get("on"):
        yield T.ON


def _of_frame(node: exp.Expr) -> Iterator[_Item]:
    yield "sign", T.ROWS
    if node.args.get("end"):
        yield from (("sign", T.BETWEEN), ("sign", T.AND))
    for key in ("start", "start_side", "end", "end_side"):
        words = node.args.get(key)
        if isinstance(words, str):
            yield from (("name", word.lower()) for word in words.split())


def _in_tree(tree: exp.Expr) -> Iterator[_Item]:
    for node in tree.walk():
        kind = type(node)
        if kind is exp.Identifier:
            yield ("quoted", node.this) if node.args.get("quoted") else ("name", node.this.lower())
        elif kind is exp.Literal:
            yield ("string", node.this) if node.is_string else ("number", number(node.this))
        elif kind is exp.Boolean:
            yield "sign", T.TRUE if node.this else T.FALSE
        elif kind is exp.Var and type(node.parent) is exp.Extract:
            yield "name", node.this.lower()
        elif kind is exp.Var:
            yield "unit", node.this
        elif kind is exp.DataType:
            yield "sign", _TYPES.get(node.this) or _NUMBER_TYPES.get(node.this)
        elif kind is exp.Anonymous:
            yield "name", node.this.lower()
        elif kind is exp.Cast and node.args["to"].this in _TYPES:
            pass  # DATE '…' and TIMESTAMP '…', which their type expresses
        elif kind in _FUNCTIONS:
            yield "name", _FUNCTIONS[kind]
        elif kind is exp.WithinGroup:
            yield from (("name", word) for word in ("within", "group"))
        elif kind is exp.Distinct:
            yield "sign", T.DISTINCT
        elif kind is exp.Join:
            yield from (("sign", sign) for sign in _of_join(node))
        elif kind is exp.Extract:
            yield from (("name", "extract"), ("sign", T.FROM))
        elif kind is exp.Window:
            yield "sign", T.OVER
            if node.args.get("partition_by"):
                yield "sign", T.PARTITION_BY
        elif kind is exp.WindowSpec:
            yield from _of_frame(node)
        elif kind is exp.Case and node.args.get("default") is not None:
            yield "sign", T.ELSE
        elif kind is exp.Group and node.args.get("all"):
            yield "sign", T.ALL
        elif kind is exp.Like and node.args.get("negate"):
            yield "sign", T.NOT
        elif kind is exp.Ordered and node.args.get("desc"):
            yield "sign", T.DESC
        yield from (("sign", sign) for sign in _SIGNS.get(kind, ()))


# -- A text becomes a question ---------------------------------------------------------------------


def parse(sql: str, schema: Schema) -> Question:
    """The question that a SQL text asks of the table, if that is one table; see `parse_select`."""
    found = parse_select(sql, schema)
    if isinstance(found, GroupingSets):
        raise refuse("ask.grouping-sets-not-here")
    return found


def parse_select(sql: str, schema: Schema) -> Question | GroupingSets:
    """The question that a SQL text asks of the table; refused if it asks anything else.

    Guarantee
        The question has the full meaning of the text, and contains only columns, categories and
        cells that the schema declares. Texts of equal meaning give equal questions, as far as
        order, names, spelling and SQL's three-valued logic can show it. For any other text
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
        return _read(sql, schema)
    except InvalidQuestion as refusal:
        from .suggest import with_suggestion  # a question without a mistake does not need it

        raise with_suggestion(refusal, sql, schema, lambda text: _read(text, schema)) from None


def _read(sql: str, schema: Schema) -> Question | GroupingSets:
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
    scope = read_source(tree, schema, from_, with_, joins or [])
    scope = scope.among(read_where(tree, where, scope))
    selected = read_selected(tree, select or [], scope)
    keys, key_sets = read_keys(tree, group, selected, scope)
    sets = tuple(tuple(sorted(map(keys.index, one))) for one in key_sets)
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
    several = len(sets) > 1
    plain = tuple(output for output in outputs if not isinstance(output, GroupingOutput))
    question = Question(outputs=plain, **asked)
    refuse_windows(question, sets=several or len(plain) < len(outputs))
    asked |= {"computed": used_columns(question, tree.computed), "persons": scope.persons}
    if several or len(plain) < len(outputs):
        return GroupingSets(outputs=outputs, sets=sets, **asked)
    return Question(outputs=plain, **asked)
