"""How safe a table looks: k-anonymity, l-diversity and t-closeness of any file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked_call
from ..errors import Refused, refuse
from ..schema import Bounded, Column, Identifier, Schema, Table
from .certificate import GROUP, UNCOUNTED, certificate_beside, quoted
from .check_result import Check, Reading
from .column_types import Values, typed
from .factorize import Codes
from .klt import RECORD, evaluate
from .klt_by_counts import Counted
from .klt_in_memory import Asked, Loaded, Stored
from .one_table import cell_equality, identifying_columns
from .one_table.cell_equality import named
from .one_table.functional_dependence import Seen, determined
from .rows import Rows, open_counted, open_rows


@checked_call
def check(
    table: object,
    schema: object = None,
    quasi_identifiers: Iterable[str] | None = None,
    confidential: Iterable[str] | None = None,
    unit: str | None = None,
) -> Check:
    """Measures k, l and t of a table as it stands, exactly.

    Guarantee
        k is the least number of units that share all quasi-identifiers. What is measured is this
        one file: nothing is said about another release, or about an intruder who knows more columns
        than those. Where a column names persons, l and t count persons too: everybody counts once
        for each value that one of his rows has, and l is how many values it takes, at least, so
        that every person of a group has one of them. It is 1 if they all share a value, whatever
        else their rows say, and never overstated.

    Parameters
        table: a data frame, a path of a CSV or Parquet file, a DuckDB relation, a table in a DuckDB
            file, in PostgreSQL or in Spark. All but data frames and files below 256 MiB are counted
            where their rows are: this process then holds the different values of a column that has
            a role, some bytes for each group, and at most 50,000 rows.
        schema: roles, types, unit and missing values, as a `Schema` or the path of its file.
        quasi_identifiers, confidential: columns, instead of those that have these roles. A private
            table needs none: with its certificate beside it, rows are then compared as wholes.
            Nor does the confidential one of two linked tables: rows are grouped by `group`.
        unit: the column that names a person, or "record"; as the schema says if not given.

    Quasi-identifiers are compared as the file shows them: 30, 30.0 and 030 are different in a CSV
    file, and so are a blank and the value that the schema declares for blanks; a note says where
    that happens. Two blanks are equal. Confidential values are read as what they mean, whatever
    their case, spaces and ways of writing a number; those that are missing are left out, unless the
    schema says what they stand for.

    Example
        >>> import pyarrow
        >>> town = pyarrow.table({"age": [30, 30, 40, 40], "ill": ["flu", "flu", "flu", "cold"]})
        >>> found = check(town, quasi_identifiers=["age"], confidential=["ill"])
        >>> found.k, found.l, found.t
        (2, 1, 0.25)

    Source
        Thesis, sections 2.8 and 7.2.
    """
    declared = schema_of(schema)
    beside = certificate_beside(Path(table)) if isinstance(table, str | os.PathLike) else None
    with open_counted(table) as rows:
        if rows.there is None:
            rows = rows.held([name for name in rows.names if _is_looked_at(name, declared)])
        if beside is not None and beside.drawn and quasi_identifiers is None:
            secret = _chosen(rows, declared, confidential, "confidential")
            whole = [name for name in rows.names if name not in secret]
            quasi_identifiers = _chosen(rows, declared, None, "quasi_identifiers") or whole
        if beside is not None and quasi_identifiers is None and beside.only_groups(rows.names):
            quasi_identifiers = [GROUP]
        found = _checked(rows, declared, quasi_identifiers, confidential, unit, None)
        found = _exposed(found, rows, declared, unit)
        found = replace(found, reading=_reading(rows, found.rows))
        return quoted(found, beside, rows.names)


def check_groups(
    table: object,
    schema: Table,
    persons: NDArray[np.int64] | None = None,
    confidential: Iterable[str] | None = None,
    quasi_identifiers: Iterable[str] | None = None,
) -> Check:
    """k, l and t alone, without a look at other columns: what a release is measured by.

    Parameters
        persons: whose each row is, as numbers from 0, where no column of the table names them.
        confidential, quasi_identifiers: columns, instead of those that have these roles; a table
            that says which rows are a group has its column instead of quasi-identifiers.
    """
    codes = None if persons is None else Codes(persons, int(persons.max()) + 1)
    return _checked(open_rows(table), schema, quasi_identifiers, confidential, None, codes)


def _checked(
    rows: Rows,
    declared: Table | None,
    quasi_identifiers: Iterable[str] | None,
    confidential: Iterable[str] | None,
    unit: str | None,
    persons: Codes | None,
) -> Check:
    known = _chosen(rows, declared, quasi_identifiers, "quasi_identifiers")
    wanted = _chosen(rows, declared, confidential, "confidential")
    _check_roles(known, wanted)
    person = _person(rows, declared, unit) if persons is None else None
    loose = [] if declared is None else _unprotected(rows, declared, [*known, *wanted])
    asked = Asked(tuple(known), tuple(wanted), person, declared)
    counted = _counted(rows, asked) if persons is None else None
    stored: Stored = Loaded(rows, asked, persons) if counted is None else counted
    found = evaluate(stored)
    # whose the rows are is not known: how many of each questions count bounds nothing
    uncounted = person is None and persons is None and unit is None and _of_persons(declared)
    most = _rows_per_unit(declared) if uncounted else 1
    return found.check(
        asked.known,
        unit=person or unit or (declared.unit if declared else RECORD),
        notes=(
            *cell_equality.respelled(stored.respelled),
            *cell_equality.renamed([person] if person and stored.renamed else []),
            *cell_equality.merged_values(found.merged),
            *(
                ()
                if declared is None
                else _about_schema(rows, declared, known, stored.columns, uncounted, most)
            ),
            *identifying_columns.unprotected(loose),
        ),
        rows_per_unit=most if uncounted else None,
    )


def _counted(rows: Rows, asked: Asked) -> Counted | None:
    """The table where it is; None if it is read into this process.

    That is so for a data frame, for a file that is not large, and for a column of which the engine
    does not tell values apart.
    """
    if rows.there is None or not all(map(rows.there.can_tell, asked.used)):
        return None
    return Counted(rows, rows.there, asked)


def _reading(rows: Rows, many: int) -> Reading:
    """Where a table of so many rows was counted, and what was read of it."""
    if rows.there is None:
        return Reading(rows=many)
    taken = rows.there.taken
    by = rows.there.engine
    return Reading(by, counts=taken.counts, rows=taken.rows, columns=tuple(taken.columns))


def _exposed(found: Check, rows: Rows, schema: Table | None, unit: str | None) -> Check:
    """What was found, with what other columns of the table do to it."""
    grouped_by, secret = found.quasi_identifiers, [one.name for one in found.confidential]
    person = _person(rows, schema, unit)
    kept = [person] if person else []
    if schema is None:
        loose = [name for name in rows.names if name not in (*grouped_by, *secret, *kept)]
        doubtful = loose
    else:
        kept += [name for name in map(rows.find, (c.name for c in schema.identifiers)) if name]
        loose = _unprotected(rows, schema, [*grouped_by, *secret])
        used = (*grouped_by, *secret, *kept)
        doubtful = [name for name in _undeclared(rows, schema) if name not in used]
    asked = Asked(grouped_by, tuple(secret), person, schema)
    looked_at = list(dict.fromkeys([*grouped_by, *secret, *loose, *doubtful]))
    look = _counted(rows, asked) or _Columns(rows, schema, looked_at)
    apparent = [name for name in doubtful if look.names_rows(name)]
    loose = [name for name in loose if name not in apparent]
    seen = look.seen([*grouped_by, *secret, *loose], found.rows)
    shares = {name: look.found_by(name, found.rows) for name in loose}
    parts = (grouped_by, secret, loose)
    known, wanted, rest = ([seen[name] for name in part if name in seen] for part in parts)
    kept = list(dict.fromkeys(kept))
    return replace(
        found,
        identifiers=tuple(kept),
        apparent_identifiers=tuple(apparent),
        warnings=(
            *identifying_columns.persons_named(kept, apparent),
            *identifying_columns.told_apart(identifying_columns.nearly_all(shares)),
            *identifying_columns.following(
                determined(known, [*wanted, *rest]), determined(wanted, [*known, *rest])
            ),
        ),
    )


class _Columns:
    """The columns of a table that is read into this process."""

    def __init__(self, rows: Rows, schema: Table | None, names: list[str]) -> None:
        self._written, self._schema = rows.written, schema
        self._read = rows.read(names)

    def names_rows(self, name: str) -> bool:
        return identifying_columns.names_rows(name, self._read[name])

    def found_by(self, name: str, _: int) -> float:
        return identifying_columns.found_by(self._read[name])

    def seen(self, names: list[str], _: int) -> dict[str, Seen]:
        """The columns that can be compared; one of lists, or of what is not as declared, cannot."""
        found = {}
        for name in names:
            declared = _column(self._schema, name)
            with suppress(Refused):
                values = typed(name, self._read[name], declared, written=self._written)
                found[name] = Seen.of(values)
        return found


def _is_looked_at(name: str, schema: Table | None) -> bool:
    """Whether a column is read even if nobody asks for it: one that is undeclared may be names."""
    return not isinstance(_column(schema, name), Identifier)


def _column(schema: Table | None, name: str) -> Column | None:
    return None if schema is None else schema.columns.get(name)


def schema_of(given: object) -> Table | None:
    """A schema, or the one in a file; None if none is given."""
    if given is None or isinstance(given, Table):
        return given
    return Schema.load(given)  # type: ignore[arg-type]


def _chosen(rows: Rows, schema: Table | None, given: Iterable[str] | None, what: str) -> list[str]:
    if given is not None:
        names = [given] if isinstance(given, str) else list(given)
        return list(dict.fromkeys(rows.spelled(name) for name in names))
    if schema is None:
        return []
    declared = [column.name for column in getattr(schema, what)]
    return [found for found in map(rows.find, declared) if found is not None]


def quasi_identifiers_of(
    rows: Rows, schema: Table | None, given: Iterable[str] | None = None
) -> list[str]:
    """The quasi-identifiers that are named, or declared and in the table; refused if none is."""
    known = _chosen(rows, schema, given, "quasi_identifiers")
    _check_roles(known, [])
    return known


def _check_roles(known: list[str], wanted: list[str]) -> None:
    if not known:
        raise refuse("evaluate.no-quasi-identifiers")
    both = [name for name in known if name in wanted]
    if both:
        raise refuse("evaluate.roles-overlap", both=both[0])


def _person(rows: Rows, schema: Table | None, unit: str | None) -> str | None:
    """The column that names a person; None if rows are counted, or if it is not in the table."""
    if unit is not None:
        return None if unit == RECORD else rows.spelled(unit)
    if schema is None or schema.unit == RECORD:
        return None
    return rows.find(schema.unit)


def _of_persons(schema: Table | None) -> bool:
    return schema is not None and schema.unit != RECORD


def _rows_per_unit(schema: Table | None) -> int:
    return 1 if schema is None else schema.rows_per_unit or 1


def _unprotected(rows: Rows, schema: Table, used: list[str]) -> list[str]:
    """The declared columns in the table that are neither looked at nor known to be harmless."""
    loose = [column for column in schema.columns.values() if column.role == "other"]
    names = [column.name for column in loose if column.name.lower() != schema.unit.lower()]
    return [found for found in map(rows.find, names) if found is not None and found not in used]


def _undeclared(rows: Rows, schema: Table) -> list[str]:
    return [name for name in rows.names if name not in schema.columns]


def _about_schema(
    rows: Rows,
    schema: Table,
    known: list[str],
    columns: Sequence[Values],
    uncounted: bool,
    most: int,
) -> list[str]:
    """What the schema says and the table does not have, or the other way round."""
    notes = []
    if uncounted and most == 1:
        notes.append(UNCOUNTED.format(unit=schema.unit))
    elif uncounted:
        notes.append(
            f"The table has no column `{schema.unit}`. If nobody has more than {most} rows, k is "
            "the number of rows divided by that, rounded up; l and t count rows."
        )
    declared = (*schema.quasi_identifiers, *schema.confidential)
    absent = [column.name for column in declared if not rows.find(column.name)]
    if absent:
        notes.append(f"Declared, but not in the table: {named(absent)}.")
    hidden = [name for name in _undeclared(rows, schema) if name not in known]
    if hidden:
        notes.append(f"Not declared, so not measured: {named(hidden)}.")
    for secret in columns:
        column = schema.columns.get(secret.name)
        if isinstance(column, Bounded) and secret.kind == "category":
            notes.append(
                f"`{secret.name}` is declared a {column.type}, and some of it is something else: "
                "its values were compared as categories, numbers and days by what they mean."
            )
    return notes
