"""A first schema for the holder to complete. This file never sees a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...arguments import Number, checked_call
from ...errors import refuse
from ..case_insensitive import is_column_name, is_identifier
from ..column import ROLES
from ..toml_values import key, literal, plain
from .columns import KEYS
from .section import BLANK

_HEAD = f"""\
# Everything public about one table. Fill every {literal(BLANK)}: the file does not load before.
# State what you know without looking at the rows; nothing here may be read from them.
"""
_LEGEND = """\
# A column without a section is invisible. A column that names a person or a row has
# type = "identifier" and nothing else. Numbers that are names, such as postcodes and codes of
# illnesses, are categories (or identifiers), not numbers. Missing values are skipped, unless
# missing = 0 (or another value) replaces them; missing = ["?", "NA"] lists the missing-value
# markers of the source: texts, or numbers without quotes.
"""
_ROLES = """\
# Publishing needs a role for every column that is no identifier, but for --method private:
#   identifier        names a person; never leaves
#   quasi-identifier  an intruder may know it of a person: age, postcode, occupation, dates
#   confidential      an intruder wants to know it: income, illness. Add sensitive = true if no
#                     group of people may be known to have one and the same value
#   other             neither; it leaves as it is, unprotected
"""
PURPOSES = ("ask", "publish", "both")
"""The uses for which a table may be drafted."""
_MANY = """\
# Many different texts, such as names of people. If they are groups, such as towns or codes of
# illnesses, write type = "category" and taxonomy = "file.json", which lists or groups them.\
"""
_NOT_PRIVATE = """\
# NOT PRIVATE: bounds or categories below were read from the rows, so what they show is already
# given away. Replace them by what you know without the rows, then remove the next line.
"""
_TOTAL = f"total = {literal(BLANK)}  # epsilon that all analysts together may ever spend"
_APPROVED = """\
# per_analyst = 0.5
# individual = 2.0             # epsilon of individual DP that may ever be spent, counted apart

# [questions.median_income]   # approved: analysts may ask these with individual DP
# sql = "SELECT MEDIAN(income) FROM census"
# promise = "individual"
# epsilon = 0.5               # the least it may be asked with
# times = 10                  # how often it may be asked
"""


@dataclass(frozen=True, kw_only=True)
class DraftColumn:
    """What is known of a column before its holder has decided.

    bounds, categories: only if they were read from the rows; the draft then says so.
    grid: the step of a number, 1 if the file holds integers.
    marks: texts in it that are probably missing-value markers.
    many: whether an identifier was chosen because it has too many texts to list as categories.
    """

    name: str
    type: str
    bounds: Sequence[object] | None = None
    grid: Number | None = None
    categories: Sequence[str] | None = None
    role: str | None = None
    marks: Sequence[str] = ()
    many: bool = False


@checked_call
def draft(
    columns: Iterable[DraftColumn], *, name: str, source: str | None = None, purpose: str = "both"
) -> str:
    """A TOML schema with comments, and a marked blank for every decision of the holder.

    Parameters
        purpose: what the table is for, one of `PURPOSES`. Only asking needs a budget, and only
            publishing needs roles.

    Guarantee
        A schema with blanks does not load. One with given bounds or categories is marked as not
        private.

    Example
        >>> text = draft([DraftColumn(name="age", type="number", grid=1)], name="people")
        >>> print(text[text.index("[columns") : text.index("[budget")])
        [columns.age]
        type = "number"
        bounds = ["FILL IN", "FILL IN"]  # least and greatest value that any row could hold
        grid = 1  # values are rounded to multiples of 1, and so are answers
        # role = ...  # needed to publish: identifier | quasi-identifier | confidential | other
        <BLANKLINE>
        <BLANKLINE>
    """
    if purpose not in PURPOSES:
        raise refuse(
            "schema.unknown-purpose", purpose=literal(str(purpose)), names=", ".join(PURPOSES)
        )
    kept, left_out = _usable(list(columns))
    if not kept:
        raise refuse("schema.no-usable-column")
    legend = _LEGEND if purpose == "ask" else f"{_LEGEND}#\n{_ROLES}"
    parts = [_HEAD, _table(name if is_identifier(name) else BLANK, source, kept), legend]
    parts += [_column(column, purpose) for column in kept]
    if left_out:
        parts.append("".join(f"# left out: {reason}\n" for reason in left_out))
    if purpose != "publish":
        parts.append(f"[budget]\n{_TOTAL}\n{_APPROVED}")
    return "\n".join(parts)


_BY_PATH = ("duckdb://", "spark://local#")
"""Addresses of files, which may be relative."""


def _usable(columns: list[DraftColumn]) -> tuple[list[DraftColumn], list[str]]:
    kept: dict[str, DraftColumn] = {}
    left_out = []
    for column in columns:
        if column.type not in KEYS:
            name, kind = literal(column.name), literal(column.type)
            raise refuse(
                "schema.unknown-column-type", literal=name, literal2=kind, names=", ".join(KEYS)
            )
        if not is_column_name(column.name):
            left_out.append(f"{literal(column.name)}, a name to change in a view")
        elif column.name.lower() in kept:
            left_out.append(f"{literal(column.name)}, to SQL the same name as another column")
        else:
            kept[column.name.lower()] = column
    return list(kept.values()), left_out


def _table(name: str, source: str | None, columns: list[DraftColumn]) -> str:
    lines = ["[table]", f"name = {literal(name)}"]
    if source is not None:
        far = "://" in source and not source.startswith(_BY_PATH)
        where = "" if far else "  # starts at this file's folder"
        lines.append(f"source = {literal(source)}{where}")
    lines += [
        f'unit = {literal(BLANK)}  # who is protected: "record", or the column that names a person',
        f'neighbours = {literal(BLANK)}  # "replace" (number of rows is public) | "add-or-remove"',
        "# rows = 1000          # the number of rows, if it is public",
        "# rows_per_unit = 10   # if unit is a column: how many rows of a person count",
        "# groups_per_unit = 3  # and in how many groups of a question, if fewer",
    ]
    if any(column.bounds or column.categories for column in columns):
        lines.append(_NOT_PRIVATE + "bounds_from_data = true")
    return "\n".join(lines) + "\n"


def _column(column: DraftColumn, purpose: str) -> str:
    lines = [f"[columns.{key(column.name)}]", f"type = {literal(column.type)}"]
    if column.many:
        lines.append(_MANY)
    lines += _domain(column)
    if column.marks:
        marks = literal(list(column.marks))
        lines.append(f"missing = {marks}  # found in the source; remove what is a value")
    if column.type != "identifier" and (purpose != "ask" or column.role is not None):
        lines.append(_role(column, purpose))
    return "\n".join(lines) + "\n"


def _role(column: DraftColumn, purpose: str) -> str:
    """A default would publish a column unprotected, so none is written."""
    choices = " | ".join(ROLES)
    if column.role is None and purpose != "publish":
        return f"# role = ...  # needed to publish: {choices}"
    return f"role = {literal(column.role or BLANK)}  # {choices}"


def _domain(column: DraftColumn) -> Iterator[str]:
    if "bounds" in KEYS[column.type]:
        bounds = [BLANK, BLANK] if column.bounds is None else plain(list(column.bounds))
        hint = "" if column.bounds else "  # least and greatest value that any row could hold"
        yield f"bounds = {literal(bounds)}{hint}"
    if column.type == "number":
        if column.grid is None:
            hint = "such as 0.01: values are rounded to multiples of this, and so are answers"
            yield f"grid = {literal(BLANK)}  # {hint}"
        else:
            grid = literal(plain(column.grid))
            yield f"grid = {grid}  # values are rounded to multiples of {grid}, and so are answers"
    if column.type == "category":
        categories = list(column.categories or [BLANK])
        yield f'categories = {literal(categories)}  # all there can be, or: taxonomy = "file.json"'
