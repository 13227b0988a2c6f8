"""The parts of a refused text, read with tolerance: what is selected, from where, under conditions.

Nothing here decides what a question means: a suggestion that is made of these parts is read again
by the rules of the grammar (`parse.py`) before anybody sees it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from sqlglot import Dialect, Token, TokenType, exp
from sqlglot.errors import ErrorLevel

T = TokenType
_DIALECTS = ("duckdb", "mysql", "tsql")
_MOST_NODES = 2_000
_MOST_WORDS = 250
_DEEPEST = 12
_MOST_GUESSES = 40
_CLAUSES = {
    T.SELECT: "select",
    T.FROM: "from",
    T.WHERE: "where",
    T.GROUP_BY: "group",
    T.HAVING: "having",
    T.QUALIFY: "rest",
    T.ORDER_BY: "order",
    T.LIMIT: "limit",
    T.OFFSET: "rest",
    T.FETCH: "rest",
    T.UNION: "rest",
    T.EXCEPT: "rest",
    T.INTERSECT: "rest",
    T.SEMICOLON: "rest",
}
_ENDS = (T.AND, T.COMMA)
_WORDS = ("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "BETWEEN", "DISTINCT")


@dataclass
class Pieces:
    """The parts of a SELECT, each an expression; an entry of ORDER BY may be an `exp.Ordered`.

    sets: ROLLUP or CUBE, if its keys are grouped so.
    source: the FROM clause with its joins as a tree, if the text could be read as a whole.
    with_: its WITH. whole: whether the text could be read as a whole.
    """

    selected: list[exp.Expr] = field(default_factory=list)
    source: exp.Expr | None = None
    joins: list[exp.Expr] = field(default_factory=list)
    with_: exp.Expr | None = None
    where: list[exp.Expr] = field(default_factory=list)
    group: list[exp.Expr] = field(default_factory=list)
    sets: str = ""
    having: list[exp.Expr] = field(default_factory=list)
    order: list[exp.Expr] = field(default_factory=list)
    limit: exp.Expr | None = None
    whole: bool = False


def pieces_of(sql: str) -> Pieces:
    """The parts of a text, as far as they can be told; none of one with many words.

    sqlglot may try several readings at every level: so it reads short texts, and few times.
    """
    begin = re.search(r"\b(SELECT|WITH)\b", sql, re.IGNORECASE)
    if len(re.findall(r"\w+|[^\w\s]", sql)) > _MOST_WORDS or _deep(sql):
        return Pieces()
    with _silent():
        for text in dict.fromkeys((sql, _spelt(sql))):
            for dialect in _DIALECTS if begin else ():
                found = _tree(text[begin.start() :] if begin else text, dialect)
                select = None if found is None else found.find(exp.Select)
                if select is not None:
                    return _of_select(select)
        return _of_words(_spelt(sql))


def written(node: exp.Expr) -> str:
    """The text of a part."""
    with _silent():
        try:
            text = node.sql(dialect="duckdb", unsupported_level=ErrorLevel.IGNORE, comments=False)
        except Exception:  # whatever a generator may raise: it is no candidate
            return ""
    return str(text)


def expression(text: str) -> exp.Expr | None:
    """The tree of one expression; None if it cannot be read."""
    with _silent():
        try:
            dialect = Dialect.get_or_raise("duckdb")
            parser = dialect.parser(max_nodes=_MOST_NODES)
            (found,) = parser.parse(dialect.tokenize(f"SELECT {text}"), text)
        except Exception:  # whatever a parser may raise
            return None
    several = found.expressions if type(found) is exp.Select else []
    extra = {name for name, value in found.args.items() if value} if found else set()
    return several[0] if len(several) == 1 and extra <= {"expressions", "kind"} else None


_quiet: ContextVar[bool] = ContextVar("quiet", default=False)
logging.getLogger("sqlglot").addFilter(lambda _: not _quiet.get())


@contextmanager
def _silent() -> Iterator[None]:
    """sqlglot logs what it does not know; that is no news here."""
    before = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(before)


def _tree(sql: str, dialect: str) -> exp.Expr | None:
    try:
        known = Dialect.get_or_raise(dialect)
        parser = known.parser(max_nodes=_MOST_NODES)
        found = parser.parse(known.tokenize(sql), sql)
    except Exception:  # whatever a parser may raise: the text is refused anyway
        return None
    return next((one for one in found if one is not None), None)


def _deep(sql: str) -> bool:
    """Whether it has many signs or words in a row that begin something."""
    depth = most = 0
    for sign in re.findall(r"\bCASE\b|\bNOT\b|\bSELECT\b|[()\[\]{}]|\w+", sql.upper()):
        depth += sign in ("CASE", "NOT", "SELECT", "(", "[", "{")
        depth -= sign in (")", "]", "}", "END")
        most = max(most, depth)
    return most > _DEEPEST


def _spelt(sql: str) -> str:
    """The text with words that are nearly a clause's corrected: GROUPP BY, WERE."""
    import difflib

    def change(word: re.Match[str]) -> str:
        text = word[0].upper()
        close = difflib.get_close_matches(text, _WORDS, n=1, cutoff=0.84)
        return close[0] if close and text not in _WORDS else word[0]

    parts = re.split(r"('[^']*'|\"[^\"]*\")", sql)
    parts[::2] = [re.sub(r"[A-Za-z]{3,10}", change, part) for part in parts[::2]]
    return "".join(parts)


def _of_select(select: exp.Expr) -> Pieces:
    source = select.args.get("from_")
    group = select.args.get("group")
    keys, sets = [], ""
    if group is not None:
        keys = list(group.args.get("expressions") or [])
        for kind in ("rollup", "cube", "grouping_sets"):
            for one in group.args.get(kind) or []:
                sets = "" if keys or kind == "grouping_sets" else kind.upper()
                keys += list(one.args.get("expressions") or []) if isinstance(one, exp.Expr) else []
    order, limit = select.args.get("order"), select.args.get("limit")
    if type(limit) is exp.Fetch:
        limit = limit.args.get("count")
    elif limit is not None:
        limit = limit.args.get("expression")
    return Pieces(
        [one for one in select.expressions if isinstance(one, exp.Expr)],
        None if source is None else source.this,
        list(select.args.get("joins") or []),
        select.args.get("with_"),
        _conjuncts(select.args.get("where")),
        _flat(keys),
        sets,
        _conjuncts(select.args.get("having")),
        list(order.expressions) if order is not None else [],
        limit,
        whole=True,
    )


def _flat(keys: Iterable[exp.Expr]) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for key in keys:
        inner = isinstance(key, exp.Tuple | exp.Rollup | exp.Cube | exp.GroupingSets)
        inner = inner or (isinstance(key, exp.Anonymous) and key.name.upper() in ("ROLLUP", "CUBE"))
        for one in _flat(key.expressions) if inner else [key.unnest()]:
            if one not in found:
                found.append(one)
    return found


def _conjuncts(clause: exp.Expr | None) -> list[exp.Expr]:
    if clause is None:
        return []
    left, found = [clause.this], []
    while left:
        node = left.pop()
        if isinstance(node, exp.Paren) and isinstance(node.this, exp.And):
            node = node.this
        if isinstance(node, exp.And):
            left += [node.expression, node.this]
        elif isinstance(node, exp.Expr):
            found.append(node)
    return found


# -- A text that is not SQL: word by word ----------------------------------------------------------


def _of_words(sql: str) -> Pieces:
    try:
        tokens = Dialect.get_or_raise("duckdb").tokenize(sql)
    except Exception:  # an open quote, for instance: it is closed, or left out
        tokens = _tokens(sql)
    clauses: dict[str, list[list[Token]]] = {}
    now, depth = "rest", 0
    for token in tokens:
        kind = token.token_type
        depth += (kind is T.L_PAREN) - (kind is T.R_PAREN)
        named = _CLAUSES.get(kind)
        outermost = depth <= 0 or kind in (T.WHERE, T.GROUP_BY, T.HAVING, T.ORDER_BY)
        if named is not None and (outermost or "from" not in clauses) and named not in clauses:
            now, depth = named, 0
            clauses[now] = [[]]
        elif (
            now != "rest" and kind in _ENDS and depth <= 0 and not _inside_between(clauses[now][-1])
        ):
            clauses[now].append([])
        elif now != "rest":
            clauses[now][-1].append(token)
    tries = [_MOST_GUESSES]
    read: dict[str, list[exp.Expr]] = {}
    for name, parts in clauses.items():
        found = [_guess(sql, words, tries, several=name == "select") for words in parts]
        read[name] = [one for several in found for one in several]
    return Pieces(
        read.get("select", []),
        None,
        [],
        None,
        read.get("where", []),
        _flat(read.get("group", [])),
        "",
        read.get("having", []),
        read.get("order", []),
        next(iter(read.get("limit", [])), None),
    )


def _inside_between(words: list[Token]) -> bool:
    """Whether an AND that follows belongs to BETWEEN."""
    kinds = [word.token_type for word in words]
    return T.BETWEEN in kinds and T.AND not in kinds[kinds.index(T.BETWEEN) :]


def _tokens(sql: str) -> list[Token]:
    bare = re.sub(r"[^\w\s.,()*/+<>=-]", " ", sql)
    try:
        return Dialect.get_or_raise("duckdb").tokenize(bare)
    except Exception:  # no words at all
        return []


def _guess(
    sql: str, words: list[Token], tries: list[int], *, several: bool = False
) -> list[exp.Expr]:
    """The expression that some words are, with missing parentheses closed; else the first words of
    them that are one, and if there may be several the next.

    tries: how many more texts may be read, for the whole question.
    """
    words = [word for word in words if word.token_type is not T.DISTINCT]
    found: list[exp.Expr] = []
    while words and (several or not found):
        for last in range(len(words), 0, -1):
            tries[0] -= 1
            if tries[0] < 0:
                return found
            text = sql[words[0].start : words[last - 1].end + 1]
            one = expression(text + ")" * max(0, text.count("(") - text.count(")")))
            named = any(word.token_type is T.ALIAS for word in words[:last])
            if one is not None and (named or not isinstance(one, exp.Alias)):
                found.append(one)
                words = words[last:]
                break
        else:
            words = words[1:]
    return found
