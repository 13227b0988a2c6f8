"""A release, of any tool, beside its original: risk and utility in one.

An interval is read as its midpoint, whichever tool wrote it: `[30, 39]` of Tenue, `[30, 40[` of
ARX, `(30,40]` of R. A star is read as missing. This only compares numbers; it promises nothing.
"""

from __future__ import annotations

import datetime
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..arguments import checked_call, flag
from ..schema import Boolean, Category, Column, Table
from ..text import WIDTH, hanging, many, named, percent, wrapped_facts
from .certificate import certificate_beside
from .check import check, names_of_role, schema_of
from .check_result import Check, Printed
from .column_types import column_of, is_text, one_array
from .risk import Risk, risk_of
from .rows import Rows, open_rows
from .two_tables.attributes import Attribute, Nominal, paired
from .two_tables.distribution import Marginal, marginals
from .two_tables.distribution_similarity import Likeness, likeness_of
from .utility import Utility, utility_of

_INTERVAL = re.compile(r"[\[\](]\s*([^,;]+?)\s*[,;]\s*([^,;]+?)\s*[\[\])]")
_ANYTHING = re.compile(r"\*+")


def as_single_values(rows: Rows, schema: Table | None) -> tuple[Rows, tuple[str, ...]]:
    """The table with midpoints for intervals, and the columns that had any."""
    read = rows.read(rows.names)
    tried = {name: _midpoints(column, column_of(schema, name)) for name, column in read.items()}
    midpoints = {name: column for name, column in tried.items() if column is not None}

    def load(chosen: Sequence[str]) -> pa.Table:
        return pa.table([midpoints.get(name, read[name]) for name in chosen], names=list(chosen))

    return Rows(rows.names, rows.written, load), tuple(midpoints)


def _midpoints(column: pa.ChunkedArray, declared: Column | None) -> Any:
    """The midpoints of a column of intervals; None if it has none."""
    array = one_array(column)
    if isinstance(declared, Category | Boolean) or not is_text(array.type):
        return None
    coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    marks = () if declared is None else declared.marks
    texts = [
        None if text is None or text in marks or not text.strip() else str(text).strip()
        for text in coded.dictionary.to_pylist()
    ]
    if not any(text is not None and _INTERVAL.fullmatch(text) for text in texts):
        return None
    for read, kind in ((float, pa.float64()), (_moment, pa.timestamp("us"))):
        try:
            midpoints = [None if text is None else _midpoint(text, read) for text in texts]
        except ValueError:
            continue
        return pa.chunked_array([pa.array(midpoints, kind).take(coded.indices)])
    return None


def _midpoint(text: str, read: Callable[[str], Any]) -> Any:
    if _ANYTHING.fullmatch(text):
        return None
    found = _INTERVAL.fullmatch(text)
    low, high = map(read, found.groups() if found else (text, text))
    return low + (high - low) / 2


def _moment(text: str) -> datetime.datetime:
    """A date or datetime; one with a time zone is not a value of a column."""
    found = datetime.datetime.fromisoformat(text)
    if found.tzinfo is not None:
        raise ValueError(text)
    return found


# -- Risk and utility ------------------------------------------------------------------------------

ROW_BY_ROW = "Row i of both tables is assumed to be the same record."
AS_WHOLES = "The tables were compared as wholes, and no record was linked"
OF_OTHER_LENGTH = (
    f"{AS_WHOLES}: they have different numbers of rows, so it is unknown which rows correspond. To "
    "measure linkage, leave the same rows out of the original."
)
IN_RANDOM_ORDER = (
    f"{AS_WHOLES}: the certificate beside the release is one of Tenue, whose releases have their "
    "rows in random order. `tenue publish --preview` measures linkage."
)
SHUFFLED = (
    "The certificate beside the release is one of Tenue, whose releases have their rows in random "
    "order: row i is not the same record in both tables, and figures row by row are meaningless. "
    "Compare the tables as wholes (related=False, --unrelated)."
)
MIDDLES = "Intervals of {columns} were read as their midpoints, and stars as missing values."
SETS = (
    "`{column}` has values that are not among its categories, such as sets or stars. Each counts "
    "as a category of its own; all different categories are equally far apart."
)
WIDTHS = "Without a schema, distances are relative to the range of the values that occur."


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Printed):
    """Risk and utility of a release. Computed from the original: for the holder only.

    risk: re-identification and disclosure; None where rows are not related.
    check: k, l and t of the release; None without a quasi-identifier.
    utility: row by row, or of both tables as wholes.
    released, compared: the distributions of columns, in the release alone and beside the original.
    notes: how it was measured.
    left_out: the rows and columns of the original that are not in the release.
    """

    rows: int
    columns: tuple[str, ...]
    risk: Risk | None
    check: Check | None
    utility: Utility | Likeness
    released: tuple[Marginal, ...]
    compared: tuple[Marginal, ...]
    notes: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    def warnings(self) -> list[str]:
        """What defeats the protection of some column."""
        found = [] if self.check is None else list(self.check.warnings)
        if self.risk is None:
            return found
        shuffled = [SHUFFLED] if self.check is not None and self.check.certificate_fits else []
        return [*shuffled, *found, *self.risk.warnings()]

    def verdict(self) -> list[tuple[str, str]]:
        """The first lines: the largest risk with its figure, what was lost, and what is not in the
        release."""
        risk = "not measured: no record was linked" if self.risk is None else self.risk.largest()[1]
        lines = [("Largest risk", risk), ("Utility", self.utility.in_short)]
        return [*lines, ("Left out", "; ".join(self.left_out) or "nothing")]

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        return {
            "rows": self.rows,
            "columns": list(self.columns),
            "risk": None if self.risk is None else json.loads(self.risk.to_json()),
            "check": None if self.check is None else self.check.to_dict(),
            "utility": json.loads(self.utility.to_json()),
            "warnings": self.warnings(),
            "left_out": list(self.left_out),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        head = f"{many(self.rows, 'row')}, {many(len(self.columns), 'column')} compared"
        parts = ["\n".join([head, *wrapped_facts(self.verdict())])]
        parts += [f"WARNING: {text}" for text in self.warnings()]
        if self.risk is not None:
            parts += ["Risk", "\n".join(self.risk.sentences())]
        if self.check is not None:
            parts += ["Equivalence classes", str(self.check)]
        parts += ["Utility", str(self.utility), *self.notes]
        lines = "\n\n".join(parts).splitlines()
        # indented lines and tables are short already
        return "\n".join(
            hanging(line) if len(line) > WIDTH and not line.startswith(" ") else line
            for line in lines
        )


@checked_call
def compare(
    original: object,
    released: object,
    schema: object = None,
    quasi_identifiers: Iterable[str] | None = None,
    confidential: Iterable[str] | None = None,
    related: bool | None = None,
) -> Comparison:
    """Risk and utility of a release of any tool: sdcMicro, ARX, a script.

    Parameters
        original, released: tables. If they have different numbers of rows, because some were left
            out, they are compared as wholes.
        schema: roles, domains and taxonomies; or else
        quasi_identifiers, confidential: columns; without any, no k, l and t are measured.
        related: whether row i of both is the same record. If not, the tables are compared as
            wholes, and no record can be linked. By default it is, if both have equally many rows
            and no certificate of Tenue lies beside the release: its rows are shuffled.

    Example
        >>> town = [[30, 1], [31, 2], [40, 1], [41, 2]]
        >>> coarse = [[30, 1], [30, 2], [40, 1], [40, 2]]
        >>> found = compare(town, coarse, quasi_identifiers=["0"], confidential=["1"])
        >>> found.risk.check.k, found.risk.linkage_by_quasi_identifiers
        (2, 0.5)
    """
    declared = schema_of(schema)
    before, after = (open_rows(table) for table in (original, released))
    before, after = before.cached(before.names), after.cached(after.names)
    wholes = _why_wholes(before, after, released) if related is None else None
    linked = wholes is None if related is None else flag(related, "related")
    single, intervals = as_single_values(after, declared)
    attributes = paired(before, single, None, declared, related=linked, recoded=True)
    known = names_of_role(declared, quasi_identifiers, "quasi_identifiers")
    secret = names_of_role(declared, confidential, "confidential")
    found = _checked(released, schema, after, known, secret, quasi_identifiers, confidential)
    notes = [ROW_BY_ROW if linked else wholes or f"{AS_WHOLES}."]
    notes += [MIDDLES.format(columns=named(intervals))] if intervals else []
    notes += [SETS.format(column=one.name) for one in attributes if _has_sets(one, declared)]
    notes += [] if declared is not None else [WIDTHS]
    return Comparison(
        rows=int(attributes[0].masked.size),
        columns=tuple(attribute.name for attribute in attributes),
        risk=risk_of(attributes, known, secret, found) if linked else None,
        check=found,
        utility=utility_of(attributes) if linked else likeness_of(attributes),
        released=marginals(None, after, declared),
        compared=marginals(before, single, declared),
        notes=tuple(notes),
        left_out=_left_out(before, after, declared),
    )


def _left_out(before: Rows, after: Rows, schema: Table | None) -> tuple[str, ...]:
    """How many rows, and which columns that may be released, the release lacks."""
    sizes = [len(next(iter(rows.read(rows.names[:1]).values()))) for rows in (before, after)]
    gone = sizes[0] - sizes[1]
    found = (
        [f"{gone:,} of {many(sizes[0], 'row')} ({percent(gone / sizes[0])})"] if gone > 0 else []
    )
    names = [name for name in before.names if after.find(name) is None]
    if schema is not None:
        names = [name for name in names if name in schema.columns]
    if names:
        found.append(f"{'column' if len(names) == 1 else 'columns'} {named(names)}")
    return tuple(found)


def _has_sets(attribute: Attribute, schema: Table | None) -> bool:
    column = column_of(schema, attribute.name)
    return (
        isinstance(attribute, Nominal)
        and isinstance(column, Category)
        and attribute.taxonomy is None
    )


def _why_wholes(before: Rows, after: Rows, released: object) -> str | None:
    """Why row i cannot be assumed to be the same record in both tables; None if it can."""
    if isinstance(released, str | os.PathLike):
        beside = certificate_beside(Path(released))
        if beside is not None and beside.certificate is not None:
            return IN_RANDOM_ORDER
    sizes = {len(next(iter(rows.read(rows.names[:1]).values()))) for rows in (before, after)}
    return None if len(sizes) == 1 else OF_OTHER_LENGTH


def _checked(
    released: object,
    schema: object,
    after: Rows,
    known: list[str],
    secret: list[str],
    *given: Iterable[str] | None,
) -> Check | None:
    """k, l and t by the columns that the release has; None if it has no quasi-identifier."""
    known, secret = ([name for name in names if after.find(name)] for names in (known, secret))
    if not known:
        return None
    if schema is not None and given == (None, None):
        return check(released, schema)
    return check(released, schema, quasi_identifiers=known, confidential=secret)
