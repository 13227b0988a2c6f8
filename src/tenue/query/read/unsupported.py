"""What lies outside the grammar of questions, and the nearest thing inside it.

Every refusal of a question is made here. Besides what, allowed and fix it has a `reason`, a short
stable word for programs. It quotes the question and the schema, and nothing else.
"""

from __future__ import annotations

from ...errors import Refused, refuse
from ...schema.literal import show

MOST_NESTED = 32
"""How deep a question may be nested, so that sqlglot's own recursion always has room."""


_BY_WORD = {
    word: reason
    for reason, words in {
        "join": "join cross inner left right full natural asof semi anti positional lateral on "
        "outer straight_join apply",
        "set-operation": "union except intersect",
        "window": "over window qualify partition rows range",
        "distinct": "distinct",
        "filter": "filter",
        "case": "case when then else end",
        "if": "if",
        "remainder": "% // ^ **",
        "cast": "cast try_cast convert :: ?::",
        "sample": "tablesample using sample",
        "offset": "offset fetch",
        "subquery": "exists any some",
        "pattern": "ilike rlike regexp glob similar escape collate ~ ~* ~~* ~~~ ^@",
        "grouping-sets": "rollup cube grouping",
        "clock": "interval current_date current_time current_timestamp current_user "
        "current_schema current_catalog localtime localtimestamp session_user",
        "is-true": "unknown isnull notnull",
        "recursive": "recursive",
        "rows": "values unnest pivot unpivot pivot_wider",
        "parameter": "? $ : @",
        "nested-value": "[ ] { } -> ->> #> #>>",
        "nulls-order": "nulls",
    }.items()
    for word in words.split()
}
"""Words and signs that are refused by name, and the reason that each is refused for."""

_BY_PART = {
    "joins": "join",
    "distinct": "distinct",
    "laterals": "join",
    "offset": "offset",
    "pivots": "rows",
    "sample": "sample",
    "windows": "window",
    "qualify": "window",
    "recursive": "recursive",
    "query": "subquery",
    "field": "subquery",
    "unnest": "subquery",
    "nulls_first": "nulls-order",
    "db": "qualified-table",
    "columns": "column-list",
    "expressions": "arguments",
    "with_": "nested-with",
    "group": "derived-table",
    "having": "derived-table",
    "order": "derived-table",
    "limit": "derived-table",
    "symmetric": "symmetric",
}
"""Clauses of the parsed tree, likewise."""


def refuse_word(word: str, *, is_function: bool = False) -> Refused:
    """The refusal of a word or sign that no rule of the grammar has at its place."""
    known = _BY_WORD.get(word.lower().split(" ")[0])
    if known is not None:
        return refuse(f"query.unsupported-{known}")
    if is_function:
        return refuse("query.unknown-function", function=show(word.upper()))
    return refuse("query.unknown-word", word=show(word))


def refuse_part(part: str) -> Refused:
    """The refusal of a clause, by the name it has in the parsed tree."""
    return refuse(f"query.unsupported-{_BY_PART.get(part, 'clause')}")


def too_deep() -> Refused:
    """The refusal of parentheses in parentheses in parentheses."""
    return refuse("query.question-is-nested-too-deeply", most_nested=MOST_NESTED)


def unreadable(near: str | None = None) -> Refused:
    """The refusal of a text that is not SQL."""
    where = f" near {show(near)}" if near else ""
    return refuse("query.question-cannot-be-read", where=where)


def list_words(words: tuple[str, ...]) -> str:
    """The words as one list for people.

    Example
        >>> list_words(("COUNT", "SUM", "AVG"))
        'COUNT, SUM and AVG'
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
