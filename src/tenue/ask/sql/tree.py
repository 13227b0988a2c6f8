"""From a text to sqlglot's tree, whose reader cannot overlook an argument of a node.

A list of allowed node types is not enough: COUNT(x, y), SUM(x ORDER BY y) and BETWEEN SYMMETRIC are
allowed nodes with one argument too many. So the reader of a node names every argument it may have,
and at the end every node of the tree must have been read.

sqlglot reads every dialect of SQL. It never sees words outside the grammar (some of which it only
logs, or reads in exponential time), deep nesting (which overflows its stack) and numbers that run
into words (it would read `0x1F` as 0 under the name x1F).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sqlglot import Dialect, Token, TokenType, exp
from sqlglot.errors import ParseError

from ...errors import refuse
from ...schema import Column, Table
from ...schema.toml_values import show
from ..question import ComputedColumn
from .unsupported import MOST_NESTED, refuse_part, refuse_word, too_deep, unreadable


class Tree:
    """A tree, and which of its nodes were read.

    called: the functions as the text names them, in upper case; sqlglot may rename them.
    computed, columns: what is computed somewhere in it, by name, and the columns that this is.
    aliases: the entries of SELECT that have a name, by it in lower case.
    conditions: how many comparisons were read.
    recoded: the number of parts of all columns that come from lookups.

    Example
        >>> import sqlglot
        >>> tree = Tree(sqlglot.parse_one("age > 18"))
        >>> left, right = tree.parts(tree.root, "this", "expression")
        >>> left.name, right.this
        ('age', '18')
    """

    def __init__(self, root: exp.Expr, called: Sequence[str] = ()) -> None:
        self.root = root
        self.called = called
        self.computed: dict[str, ComputedColumn] = {}
        self.columns: dict[str, Column] = {}
        self.aliases: dict[str, exp.Expr] = {}
        self.conditions = 0
        self.recoded = 0
        self._read: set[int] = set()

    def read(self, node: exp.Expr, *names: str) -> tuple[Any, ...]:
        """The arguments of those names, None where absent; refused if the node has any other."""
        for name, value in node.args.items():
            if name not in names and value not in (None, False, "", []):
                raise refuse_part(name)
        self._read.add(id(node))
        return tuple(node.args.get(name) for name in names)

    def parts(self, node: exp.Expr, *names: str) -> tuple[exp.Expr, ...]:
        """The arguments of those names, refused unless each of them is a node."""
        found = self.read(node, *names)
        if not all(isinstance(part, exp.Expr) for part in found):
            raise unreadable()
        return found

    def listed(self, node: exp.Expr) -> list[exp.Expr]:
        """The nodes of a list, refused if it is empty."""
        (found,) = self.read(node, "expressions")
        if not found or not all(isinstance(part, exp.Expr) for part in found):
            raise unreadable()
        return list(found)

    def unwrap(self, node: exp.Expr) -> exp.Expr:
        """The node inside its parentheses, if there are any."""
        while type(node) is exp.Paren:
            (node,) = self.parts(node, "this")
        return node

    def refuse_unread(self, root: exp.Expr | None = None) -> None:
        """Refuses the tree, or a copy of a part of it, if any of its nodes was not read."""
        if any(id(node) not in self._read for node in (root or self.root).walk()):
            raise unreadable()


# -- From a text to a tree of sqlglot's, without what could break or slow the parser ---------------

DIALECT = Dialect.get_or_raise("duckdb")
_MOST_CHARACTERS = 100_000
_MOST_SELECTS = 100
_MOST_TRIES = 20
_MOST_SIGNS = 10_000  # the tree of a chain is as deep as the chain is long

T = TokenType
_VALUES = {T.NUMBER, T.STRING}
_NAMES = {T.VAR, T.IDENTIFIER}
_TYPES = {T.DATE, T.TIMESTAMPNTZ}
SIGNS = {
    *(T.L_PAREN, T.R_PAREN, T.COMMA, T.DOT),
    *(T.DASH, T.PLUS, T.STAR, T.SLASH),
    *(T.EQ, T.NEQ, T.LT, T.LTE, T.GT, T.GTE),
}
"""The signs a question may have."""
WORDS = {
    *(T.WITH, T.SELECT, T.ALIAS, T.FROM, T.WHERE, T.GROUP_BY, T.HAVING),
    *(T.ORDER_BY, T.ASC, T.DESC, T.LIMIT),
    *(T.AND, T.OR, T.NOT, T.BETWEEN, T.IN, T.LIKE, T.IS, T.NULL, T.TRUE, T.FALSE),
    *(T.CASE, T.WHEN, T.THEN, T.ELSE, T.END, T.FILTER),
}
"""The words of SQL a question may have; DATE and TIMESTAMP only before a text."""
JOINS = {T.JOIN, T.INNER, T.LEFT, T.OUTER, T.USING, T.ON}
"""The words of a join, where the schema has lookups to join."""
_WINDOW = {T.OVER, T.PARTITION_BY, T.ROWS}
_SETS = {T.ROLLUP, T.CUBE, T.GROUPING_SETS}
_NUMBER_TYPES = {T.INT, T.BIGINT, T.DOUBLE, T.FLOAT, T.DECIMAL}
_PREFIXES = {T.NOT, T.DASH, T.PLUS}
_ENDS_RUN = _NAMES | _VALUES | {T.L_PAREN, T.R_PAREN, T.COMMA}
NEEDS_QUOTES = {"LAMBDA", *DIALECT.parser_class.NO_PAREN_FUNCTION_PARSERS}
"""Words that sqlglot may try to parse twice, because they can begin something else."""
_ENDS_NUMBER = SIGNS - {T.DOT}
_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
_NUMBER = re.compile(r"\d+(_\d+)*\.?\d*([eE][+-]?\d+)?", re.ASCII)


def read_tokens(sql: str, schema: Table) -> list[Token]:
    """The words, signs and values of a text; refused if outside the grammar, or too many."""
    if not isinstance(sql, str):
        raise refuse("ask.question-not-text")
    if len(sql) > _MOST_CHARACTERS:
        raise refuse("ask.question-too-long", many=len(sql), most_characters=_MOST_CHARACTERS)
    if any("\ud800" <= sign <= "\udfff" for sign in sql):
        raise refuse("ask.question-invalid-character")
    try:
        tokens = DIALECT.tokenize(sql)
    except Exception:  # whatever a tokenizer may raise: its message is not ours
        raise unreadable() from None
    _refuse_hints(tokens)
    while tokens and tokens[-1].token_type is T.SEMICOLON:
        tokens.pop()
    _refuse_other_statements(tokens)
    declared = {schema.name, *schema.columns, *schema.lookups}
    _refuse_unknown(tokens, {name.lower() for name in declared}, joins=bool(schema.lookups))
    _refuse_size(tokens)
    _refuse_odd_numbers(tokens, sql)
    return tokens


def read_tree(tokens: list[Token], sql: str) -> exp.Select:
    """The one SELECT of the tokens; refused if they are anything else."""
    try:
        # where sqlglot tries several readings at every level, it would try for ever
        parser = DIALECT.parser(max_nodes=1_000 + _MOST_TRIES * len(tokens))
        found = parser.parse(tokens, sql)
    except ParseError as error:
        near = error.errors[0].get("highlight") if error.errors else None
        raise unreadable(near) from None
    except RecursionError:
        raise too_deep() from None
    except Exception:  # whatever a parser may raise: its message is not ours
        raise unreadable() from None
    select = found[0] if len(found) == 1 else None
    if type(select) is not exp.Select:
        raise unreadable()
    return select


def refuse_apart(sql: object, schema: Table) -> None:
    """Refuses a name like visit date, whose words stand without quotes; asked only where something
    else is wrong, for words beside each other may well be right."""
    if not isinstance(sql, str):
        return
    bare = _QUOTED.sub("''", sql[:_MOST_CHARACTERS])
    for name in schema.columns:
        words = r"\s+".join(map(re.escape, name.split()))
        if len(name.split()) > 1 and re.search(rf"(?<!\w){words}(?!\w)", bare, re.IGNORECASE):
            raise refuse("ask.name-needs-quotes", name=name)


def called_in(tokens: list[Token]) -> list[str]:
    """The words before a parenthesis, in upper case: functions as the text names them."""
    pairs = pairwise(tokens)
    return [
        word.text.upper()
        for word, after in pairs
        if after.token_type is T.L_PAREN and word.token_type not in SIGNS | WORDS
    ]


def _refuse_hints(tokens: list[Token]) -> None:
    if any(comment.startswith("+") for token in tokens for comment in token.comments):
        raise refuse("ask.question-with-hint")


def _refuse_other_statements(tokens: list[Token]) -> None:
    if not tokens:
        raise refuse("ask.question-empty")
    if tokens[0].token_type not in (T.SELECT, T.WITH):
        raise refuse("ask.question-not-a-select")
    if any(token.token_type is T.SEMICOLON for token in tokens):
        raise refuse("ask.several-statements")


def _refuse_unknown(tokens: list[Token], declared: set[str], *, joins: bool) -> None:
    known = _VALUES | _NAMES | SIGNS | WORDS
    around = zip([None, None, *tokens], [None, *tokens], tokens, [*tokens[1:], None], strict=False)
    windows = False
    for function, before, token, after in around:
        bare = token.token_type not in (T.IDENTIFIER, T.STRING)
        if bare and token.text.upper() in NEEDS_QUOTES and token.token_type is not T.CASE:
            raise refuse_word(token.text)
        if token.token_type in known:
            continue
        follows = after and after.token_type
        counted = function and before and f"{function.text}{before.text}".upper() == "COUNT("
        if token.token_type is T.DISTINCT and counted:
            continue  # what it counts is looked at where it is read
        if token.token_type is T.ALL and before and before.token_type is T.GROUP_BY:
            continue
        if token.token_type in _SETS and follows is T.L_PAREN:
            continue
        if token.token_type in _WINDOW:
            windows = windows or token.token_type is T.OVER
            if windows:
                continue
        if windows and token.text.upper() == "ROW" and before and before.text.upper() == "CURRENT":
            continue
        if joins and token.token_type in JOINS:
            continue
        if token.token_type in _NUMBER_TYPES and before and before.token_type is T.ALIAS:
            if token.token_type is T.DECIMAL and follows is T.R_PAREN:
                raise refuse_word("CAST")  # engines do not agree how many decimals that has
            continue  # a type after CAST(… AS, or a name that is read as one
        is_name = token.token_type in DIALECT.parser_class.ID_VAR_TOKENS
        if token.token_type in _TYPES and follows is T.STRING:
            continue
        # a parenthesis after the name of a type makes sqlglot try both readings, at every level
        if token.text.lower() in declared and is_name and follows is not T.L_PAREN:
            continue
        if before and before.token_type is T.ALIAS and follows is T.R_PAREN:
            raise refuse_word("CAST")  # to a type that is none of numbers
        raise refuse_word(token.text, is_function=follows is T.L_PAREN)


def _refuse_size(tokens: list[Token]) -> None:
    levels = [0]
    run = prefixes = 0
    for token in tokens:
        kind = token.token_type
        if kind in (T.L_PAREN, T.CASE):
            levels.append(levels[-1] + 1 + prefixes)
        elif kind in (T.R_PAREN, T.END) and len(levels) > 1:
            levels.pop()
        prefixes = prefixes + 1 if kind in _PREFIXES else 0
        run = 0 if kind in _ENDS_RUN else run + 1
        if levels[-1] + run > MOST_NESTED:
            raise too_deep()
    kinds = Counter(token.token_type for token in tokens)
    if max(kinds[T.SELECT], kinds[T.FROM], kinds[T.WITH]) > _MOST_SELECTS:
        raise too_deep()
    if len(tokens) - sum(kinds[kind] for kind in (*_NAMES, *_VALUES, T.COMMA)) > _MOST_SIGNS:
        raise refuse("ask.question-too-many-parts", most_signs=_MOST_SIGNS)


def _refuse_odd_numbers(tokens: list[Token], sql: str) -> None:
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.token_type is not T.NUMBER:
            continue
        written = sql[token.start : token.end + 1]
        joined = after and after.start == token.end + 1 and after.token_type not in _ENDS_NUMBER
        if joined or not _NUMBER.fullmatch(written):
            raise refuse(
                "ask.malformed-number",
                written=show(written + (after.text if after and joined else "")),
            )
