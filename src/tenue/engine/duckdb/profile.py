"""A description of a source's columns: names, types, which ones name a person, and the usual
missing-value markers. Other values of rows only on request.

Used by `tenue init`, which runs on the holder's side, and guesses: the holder reads the draft.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import refuse
from ...schema.case_insensitive import names_a_person
from ..source.file_check import MOST_COLUMNS, Header, read_header
from ..source.location import Database, Files, Source
from ..storage import Day, Fixed, Floating, Integer, Moment, Storage, Text, Truth
from .dialect import DUCKDB, storage
from .sources import check_once, listed, read_csv

if TYPE_CHECKING:
    import duckdb
    import pyarrow


MARKS = (
    *("?", "-", "--", ".", "*", "NA", "N/A", "n/a", "na", "#N/A", "NULL", "null", "None", "none"),
    *("NaN", "nan", "missing", "Missing", "unknown", "Unknown"),
)
"""The usual missing-value markers; no other text of a row enters a draft."""

MOST_CATEGORIES = 200
"""A column with more different texts is no category that its holder could list."""
LOOKED_AT = 1_000_000
"""How many rows are read for a description."""
_MANY = 100  # so many values, and nearly none of them twice, are names
_TEXTS, _NUMBERS = 90, 99  # per cent that are different; of numbers more, for amounts repeat seldom
_SPREAD = 10  # whole numbers that are names are consecutive, with gaps,
_DIGITS = 8  # or all have the same number of digits, at least so many
_WHOLE, _DAY = r"[+-]?(0|[1-9][0-9]*)", r"[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}"


@dataclass(frozen=True)
class Described:
    """A column: its name, its type in a schema, whether it has whole numbers only.

    marks: those of `MARKS` that occur in it, where it is text.
    bounds, categories: of the values in the rows, only on request.
    many: whether it has too many different texts to list them as categories, and was therefore
        taken for an identifier.
    """

    name: str
    type: str
    whole: bool = False
    marks: tuple[str, ...] = ()
    bounds: tuple[Any, Any] | None = None
    categories: tuple[str, ...] | None = None
    many: bool = False


def describe(found: Source, *, values: bool = False) -> list[Described]:
    """The columns of files or of a table in a DuckDB file; with `values`, also the rows' values."""
    import duckdb

    if not isinstance(found, Files | Database):
        raise refuse("engine.description-needs-files")
    with duckdb.connect() as connection, suppress(duckdb.Error):
        table = _opened(connection, found)
        table.limit(LOOKED_AT).create("memory.looked_at")
        looked = connection.table("memory.looked_at")
        return _columns(table, looked, table if values else None)
    # raised out of reach of the error above, which may quote a row
    file = found.paths[0] if isinstance(found, Files) else found.path
    raise refuse("engine.unreadable-table", name=file.name)


def describe_arrow(looked: pyarrow.Table, every: pyarrow.Table | None) -> list[Described]:
    """The columns of a table of which some rows were read already; and all, for their values."""
    import duckdb

    with duckdb.connect() as connection:
        some = connection.from_arrow(looked)
        return _columns(some, some, None if every is None else connection.from_arrow(every))


def _columns(table: Any, looked: Any, every: Any | None) -> list[Described]:
    names = zip(table.columns, table.types, strict=True)
    return [_column(looked, every, name, str(kind)) for name, kind in names]


def _opened(connection: duckdb.DuckDBPyConnection, source: Files | Database) -> Any:
    """The table with all its columns; those of a CSV file are text."""
    if isinstance(source, Database):
        connection.execute(f"ATTACH {DUCKDB.literal(str(source.path))} AS held (READ_ONLY)")
        connection.execute("USE held")
        sql = ".".join(["held", *map(DUCKDB.quoted, source.table)])
        return connection.sql(f"SELECT * FROM {sql}")  # noqa: S608
    paths, zipped = listed(source.paths), "gzip" if source.zipped else "none"
    if source.kind == "parquet":
        rows = f"read_parquet([{paths}])"
    elif source.kind in ("json", "jsonl"):
        rows = f"read_json([{paths}], format = 'auto', compression = '{zipped}')"
    else:
        header = _header(source)
        rows = read_csv(header.names, header.separator, source.paths, zipped=source.zipped)
    table = connection.sql(f"SELECT * FROM {rows}")  # noqa: S608
    _check_names(source, table.columns)
    return table


def _header(source: Files) -> Header:
    header = read_header(source.paths[0], source.kind, zipped=source.zipped, wanted=None)
    pieces = [piece for name in header.names for piece in re.split(r"[,;\t|]", name)]
    _check_names(source, header.names if len(pieces) <= MOST_COLUMNS else pieces)
    return header


def _check_names(source: Files, names: list[str] | tuple[str, ...]) -> None:
    """Refuses a source that could be described but not asked: see `sources.prepare`."""
    if len(names) > MOST_COLUMNS:
        name = source.paths[0].name
        raise refuse(
            "engine.too-many-columns", name=name, many=len(names), most_columns=MOST_COLUMNS
        )
    check_once(names)


def _column(looked: Any, every: Any | None, name: str, kind: str) -> Described:
    stored, column, marks = storage(kind), _values(looked, name, kind), tuple[str, ...]()
    if isinstance(stored, Text):
        known = column.filter(f"v IN ({_listed(MARKS)})").aggregate("v", "v").fetchall()
        marks = tuple(mark for mark in MARKS if (mark,) in known)
        column = _without(column, marks)
        stored = _guessed(column)
    if _is_name(column, name, stored):
        return Described(name, "identifier", marks=marks)
    if isinstance(stored, Text) and len(_different(column)) > MOST_CATEGORIES:
        return Described(name, "identifier", marks=marks, many=True)
    whole = None if every is None else _without(_values(every, name, kind), marks)
    if isinstance(stored, Truth):
        return Described(name, "boolean", marks=marks)
    if isinstance(stored, Day | Moment | Integer | Fixed | Floating):
        time = {Day: "date", Moment: "datetime"}.get(type(stored), "number")
        bounds = None if whole is None else _ends(whole, stored)
        integer = isinstance(stored, Integer)
        return Described(name, time, whole=integer, marks=marks, bounds=bounds)
    categories = None
    if whole is not None:
        words = sorted(str(row[0]) for row in _different(whole))
        categories = tuple(words) if len(words) <= MOST_CATEGORIES else None
    return Described(name, "category", marks=marks, categories=categories)


def _different(column: Any) -> list[tuple[Any, ...]]:
    """Its different values, one more than categories can be at most."""
    found = column.aggregate("v", "v").filter("v IS NOT NULL").limit(MOST_CATEGORIES + 1)
    values: list[tuple[Any, ...]] = found.fetchall()
    return values


def _values(table: Any, name: str, kind: str) -> Any:
    """The values of a column as v; texts without the spaces around them, except empty ones."""
    column = table.project(f"{DUCKDB.quoted(name)} AS v")
    if not isinstance(storage(kind), Text):
        return column
    return column.project("trim(CAST(v AS VARCHAR)) AS v").filter("v <> ''")


def _without(column: Any, marks: tuple[str, ...]) -> Any:
    return column.filter(f"v NOT IN ({_listed(marks)})") if marks else column


def _guessed(column: Any) -> Storage:
    """The storage as which all texts, or all but one in a hundred, can be read."""
    tests = {
        "BIGINT": f"regexp_full_match(v, '{_WHOLE}')",
        "DOUBLE": "TRY_CAST(v AS DOUBLE) IS NOT NULL AND NOT regexp_full_match(v, '[+-]?0[0-9]+')",
        "DATE": f"regexp_full_match(v, '{_DAY}') AND {DUCKDB.read('v', 'DATE')} IS NOT NULL",
        "TIMESTAMP": f"{DUCKDB.read('v', 'TIMESTAMP')} IS NOT NULL",
        "BOOLEAN": "lower(v) IN ('true', 'false')",
    }
    counts = ", ".join(f"count_if({test})" for test in tests.values())
    ((every, *many),) = column.aggregate(f"count(*), {counts}").fetchall()
    if not every:
        return Text()
    readable = dict(zip(tests, many, strict=True))
    nearly_all = [
        kind for kind in ("DOUBLE", "DATE", "TIMESTAMP") if 100 * readable[kind] >= 99 * every
    ]
    kinds = [*(kind for kind in tests if readable[kind] == every), *nearly_all]
    return storage(kinds[0]) if kinds else Text()


def _is_name(column: Any, name: str, stored: Storage) -> bool:
    """Whether a column of texts or whole numbers names persons or rows, by name or by values."""
    if not isinstance(stored, Text | Integer):
        return False
    if names_a_person(name):
        return True
    whole = isinstance(stored, Integer)
    spread = "max(n) - min(n), min(length(w)), max(length(w))" if whole else "0, 0, 0"
    number = "TRY_CAST(v AS HUGEINT)" if whole else "0"
    looked = column.filter("v IS NOT NULL").project(f"CAST(v AS VARCHAR) AS w, {number} AS n")
    ((every, different, far, short, long),) = looked.aggregate(
        f"count(*), count(DISTINCT w), {spread}"
    ).fetchall()
    if every < _MANY or 100 * different < (_NUMBERS if whole else _TEXTS) * every:
        return False
    # amounts of money may never repeat either, but are neither close together nor equally long
    return not whole or far <= _SPREAD * every or (short == long and short >= _DIGITS)


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(map(DUCKDB.literal, words))


def _ends(column: Any, stored: Storage) -> tuple[Any, Any] | None:
    if str(column.types[0]) == "VARCHAR":
        kind = {Day: "DATE", Moment: "TIMESTAMP", Integer: "BIGINT"}.get(type(stored), "DOUBLE")
        column = column.project(f"{DUCKDB.read('v', kind)} AS v")
    ((low, high),) = column.aggregate("min(v), max(v)").fetchall()
    return None if low is None or low == high else (low, high)
