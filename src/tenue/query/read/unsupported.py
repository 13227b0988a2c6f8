"""What lies outside the grammar of questions, and the nearest thing inside it.

Every refusal of a question is made here. Besides what, allowed and fix it has a `reason`, a short
stable word for programs. It quotes the question and the schema, and nothing else.
"""

from __future__ import annotations

from ...errors import InvalidQuestion
from ...schema.literal import show

__all__ = [
    "CONDITION",
    "GRAMMAR",
    "MOST_NESTED",
    "PLAIN",
    "list_words",
    "refuse",
    "refuse_part",
    "refuse_word",
    "too_deep",
    "unreadable",
]

MOST_NESTED = 32
"""How deep a question may be nested, so that sqlglot's own recursion always has room."""

GRAMMAR = (
    "A question is SELECT keys and aggregates FROM one table, with WHERE, GROUP BY, HAVING, "
    "ORDER BY and LIMIT"
)
CONDITION = (
    "A condition compares one column with constants: =, <>, <, <=, >, >=, BETWEEN, IN, LIKE, "
    "IS NULL, with AND, OR and NOT"
)
PLAIN = "A derived table only chooses, renames and filters columns of the one table"

_JOIN = (
    "join",
    "The question has a join",
    "A question reads one table",
    "Ask the holder for a view that joins the tables",
)
_SET = (
    "set-operation",
    "The question puts several SELECTs together",
    "A question is one SELECT",
    "Ask each SELECT as a question of its own",
)
_WINDOW = (
    "window",
    "The question has a window over rows",
    "Aggregates are taken over all rows of a group",
    "Use GROUP BY",
)
_DISTINCT = (
    "distinct",
    "The question has DISTINCT",
    "Every aggregate takes all rows of its group, and every key appears once",
    "Leave DISTINCT out, or GROUP BY the column",
)
_FILTER = (
    "filter",
    "The question has FILTER",
    "All aggregates of a question see the same rows",
    "Put the condition in WHERE, and ask one question for each condition",
)
_CASE = (
    "case",
    "The question has CASE",
    CONDITION,
    "Put the condition in WHERE, or ask the holder for a derived column",
)
_CAST = (
    "cast",
    "The question has a cast",
    "Every column has the type that the schema states",
    "Write constants in that type, such as DATE '2024-12-31'",
)
_SAMPLE = (
    "sample",
    "The question takes a sample",
    GRAMMAR,
    "Leave the sample out: all rows are read",
)
_OFFSET = ("offset", "The question skips rows", "LIMIT n keeps the first n rows", "Write LIMIT n")
_SUBQUERY = ("subquery", "The question has a question inside", CONDITION, "Use constants")
_LIKE = (
    "pattern",
    "The question has a pattern that is not LIKE",
    "LIKE with % and _ chooses among the declared categories",
    "Write LIKE, or IN and the list of categories",
)
_GROUPING = (
    "grouping-sets",
    "The question groups in several ways at once",
    "GROUP BY has a list of keys",
    "Ask one question for each way of grouping",
)
_CLOCK = (
    "clock",
    "The question depends on a clock, a user or an interval",
    CONDITION,
    "Write the date, such as DATE '2024-12-31'",
)
_TRUTH = (
    "is-true",
    "The question has IS with something other than NULL",
    "IS NULL and IS NOT NULL ask whether a value is missing",
    "Write = TRUE or = FALSE",
)
_RECURSIVE = ("recursive", "The question is recursive", PLAIN, "Leave RECURSIVE out")
_ROWS = ("rows", "The question makes up rows", "A question reads one table", "Use FROM the table")
_PARAMETER = (
    "parameter",
    "The question has a placeholder",
    "A question is complete as it stands",
    "Write the value itself",
)
_NESTED_VALUE = (
    "nested-value",
    "The question reaches into a list, a struct or a JSON value",
    "Columns hold numbers, dates, categories and booleans",
    "Ask the holder for a derived column or a view",
)
_NULLS = (
    "nulls-order",
    "The question says where NULL stands in the order",
    "ORDER BY has ASC or DESC",
    "Leave NULLS FIRST or NULLS LAST out",
)

_Words = tuple[str, str, str, str]

_BY_WORD: dict[str, _Words] = {
    word: reason
    for words, reason in {
        "join cross inner left right full natural asof semi anti positional lateral on outer "
        "straight_join apply": _JOIN,
        "union except intersect": _SET,
        "over window qualify partition rows range": _WINDOW,
        "distinct": _DISTINCT,
        "filter": _FILTER,
        "case when then else end": _CASE,
        "cast try_cast convert :: ?::": _CAST,
        "tablesample using sample": _SAMPLE,
        "offset fetch": _OFFSET,
        "exists any some": _SUBQUERY,
        "ilike rlike regexp glob similar escape collate ~ ~* ~~* ~~~ ^@": _LIKE,
        "rollup cube grouping": _GROUPING,
        "interval current_date current_time current_timestamp current_user current_schema "
        "current_catalog localtime localtimestamp session_user": _CLOCK,
        "unknown isnull notnull": _TRUTH,
        "recursive": _RECURSIVE,
        "values unnest pivot unpivot pivot_wider": _ROWS,
        "? $ : @": _PARAMETER,
        "[ ] { } -> ->> #> #>>": _NESTED_VALUE,
        "nulls": _NULLS,
    }.items()
    for word in words.split()
}

_BY_PART: dict[str, _Words] = {
    "joins": _JOIN,
    "distinct": _DISTINCT,
    "laterals": _JOIN,
    "offset": _OFFSET,
    "pivots": _ROWS,
    "sample": _SAMPLE,
    "windows": _WINDOW,
    "qualify": _WINDOW,
    "recursive": _RECURSIVE,
    "query": _SUBQUERY,
    "field": _SUBQUERY,
    "unnest": _SUBQUERY,
    "nulls_first": _NULLS,
    "db": (
        "qualified-table",
        "The table is named inside a database",
        "A table has one name",
        "Leave the name of the database out",
    ),
    "columns": (
        "column-list",
        "A list of column names stands after a table's name",
        PLAIN,
        "Rename the columns where they are selected: SELECT income AS pay",
    ),
    "expressions": (
        "arguments",
        "A function has too many arguments",
        "An aggregate takes one column",
        "Ask each aggregate by itself",
    ),
    "with_": ("nested-with", "A WITH stands inside a derived table", PLAIN, "Put it first"),
    **dict.fromkeys(
        ("group", "having", "order", "limit"),
        ("derived-table", "A derived table groups, orders or limits", PLAIN, "Move it outside"),
    ),
    "symmetric": (
        "symmetric",
        "The question has BETWEEN SYMMETRIC",
        CONDITION,
        "Write the lower value first",
    ),
}


def refuse(reason: str, what: str, allowed: str, fix: str) -> InvalidQuestion:
    """The refusal of a question, with a stable `reason` for programs."""
    return InvalidQuestion(what, allowed, fix, reason=reason)


def refuse_word(word: str, *, is_function: bool = False) -> InvalidQuestion:
    """The refusal of a word or sign that no rule of the grammar has at its place."""
    known = _BY_WORD.get(word.lower().split(" ")[0])
    if known is not None:
        return refuse(*known)
    if is_function:
        what = f"The function {show(word.upper())} cannot be asked"
        return refuse("function", what, GRAMMAR, "Ask for an aggregate, such as COUNT(*)")
    fix = "Leave it out; if it is a name, put it in double quotes"
    return refuse("word", f"{show(word)} is not understood here", GRAMMAR, fix)


def refuse_part(part: str) -> InvalidQuestion:
    """The refusal of a clause, by the name it has in the parsed tree."""
    known = _BY_PART.get(part)
    if known is not None:
        return refuse(*known)
    return refuse("clause", "The question has a clause that is not allowed", GRAMMAR, "Remove it")


def too_deep() -> InvalidQuestion:
    """The refusal of parentheses in parentheses in parentheses."""
    return refuse(
        "too-deep",
        "The question is nested too deeply",
        f"It may be nested {MOST_NESTED} deep",
        "Take parentheses away, or ask several questions",
    )


def unreadable(near: str | None = None) -> InvalidQuestion:
    """The refusal of a text that is not SQL."""
    where = f" near {show(near)}" if near else ""
    return refuse(
        "syntax",
        f"The question cannot be read{where}",
        GRAMMAR,
        "Write something like SELECT COUNT(*) FROM census WHERE age >= 18",
    )


def list_words(words: tuple[str, ...]) -> str:
    """The words as one list for people.

    Example
        >>> list_words(("COUNT", "SUM", "AVG"))
        'COUNT, SUM and AVG'
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
