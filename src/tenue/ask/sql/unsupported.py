"""Refusals of questions outside the grammar, with the nearest alternative inside it.

They quote the question and the schema, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ...errors import Refused, refuse
from ...schema.toml_values import show

MOST_NESTED = 32
"""How deep a question may be nested, so that sqlglot's own recursion always has room."""


_BY_WORD = {
    word: reason
    for reason, words in {
        "join": "join cross inner left right full natural asof semi anti positional lateral on "
        "outer straight_join apply",
        "set-operation": "union except intersect",
        "window": "over window partition rows range",
        "qualify": "qualify",
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
    "qualify": "qualify",
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


_TEXT = (
    "Write CASE WHEN column IN ('a', 'b') THEN 'both' ELSE 'other' END, with declared categories"
)
_VALUE = "No value of a row leaves: write MODE(column), or COUNT(*) with GROUP BY column"
_DERIVED = "Ask the holder for a derived column, with bounds and grid; or ask MEDIAN and QUANTILE"
_INSIDE = "Write it inside an aggregate, as in AVG(LN(column)); of an answer, compute it yourself"
_ANY = "Write COUNT(*) FILTER (WHERE condition), or the share AVG(condition column)"
INSTEAD = {
    name: sentence
    for names, sentence in {
        "STRFTIME TO_CHAR": "Write DATE_TRUNC('month', column) in SELECT and GROUP BY",
        "ABS LEAST GREATEST LN LOG LOG2 LOG10 EXP POWER POW": _INSIDE,
        "TRUNC": "Write FLOOR(column), CEIL(column) or ROUND(column, digits)",
        "COUNT_IF COUNTIF": "Write COUNT(*) FILTER (WHERE condition)",
        "SIGN": "Write CASE WHEN column < 0 THEN -1 WHEN column > 0 THEN 1 ELSE 0 END",
        "IIF IFF": "Write CASE WHEN condition THEN value ELSE value END",
        "MOD": "Write column - 2 * FLOOR(column / 2)",
        "GEOMEAN GEOMETRIC_MEAN": "Write AVG(LN(column)), and take EXP of the answer",
        "KURTOSIS SKEWNESS": _DERIVED,
        "APPROX_COUNT_DISTINCT APPROX_DISTINCT": "Write COUNT(DISTINCT column)",
        "HISTOGRAM": "Write SELECT BIN(column, width), COUNT(*) with GROUP BY 1",
        "BOOL_OR BOOL_AND LOGICAL_OR LOGICAL_AND EVERY": _ANY,
        "FIRST LAST FIRST_VALUE LAST_VALUE ANY_VALUE ARG_MAX ARG_MIN": _VALUE,
        "STRING_AGG GROUP_CONCAT LISTAGG ARRAY_AGG LIST": _VALUE,
        "UPPER LOWER TRIM CONCAT SUBSTRING SUBSTR LEFT RIGHT REPLACE LENGTH": _TEXT,
    }.items()
    for name in names.split()
}
"""What comes nearest to a function that many try first."""


def name_called(node: exp.Expr, called: Sequence[str]) -> str:
    """The name of a function, if the text calls it; sqlglot renames some."""
    if not isinstance(node, exp.Func):
        return ""
    name = node.name.upper() if isinstance(node, exp.Anonymous) else node.sql_name()
    return name if name in called else ""


def refuse_word(word: str, *, is_function: bool = False) -> Refused:
    """The refusal of a word or sign that no rule of the grammar allows there."""
    known = _BY_WORD.get(word.lower().split(" ")[0])
    if known is not None:
        return refuse(f"ask.unsupported-{known}")
    if is_function:
        instead = INSTEAD.get(word.upper(), "Ask for an aggregate, such as COUNT(*)")
        return refuse("ask.unknown-function", function=show(word.upper()), instead=instead)
    return refuse("ask.unknown-word", word=show(word))


def refuse_part(part: str) -> Refused:
    """The refusal of a clause, by the name it has in the parsed tree."""
    return refuse(f"ask.unsupported-{_BY_PART.get(part, 'clause')}")


def too_deep() -> Refused:
    """The refusal of deeply nested parentheses."""
    return refuse("ask.question-too-deep", most_nested=MOST_NESTED)


def unreadable(near: str | None = None) -> Refused:
    """The refusal of a text that is not SQL."""
    where = f" near {show(near)}" if near else ""
    return refuse("ask.syntax-error", where=where)


def list_words(words: tuple[str, ...]) -> str:
    """The words as one list in English.

    Example
        >>> list_words(("COUNT", "SUM", "AVG"))
        'COUNT, SUM and AVG'
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
