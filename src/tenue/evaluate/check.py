"""k-anonymity, l-diversity and t-closeness of any table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..arguments import above_zero, checked_call
from ..errors import Refused, refuse
from ..schema import Bounded, Identifier, Schema, Table
from ..text import named
from .certificate import GROUP, UNCOUNTED, certificate_beside, quoted
from .check_result import Check, Reading
from .column_types import Values, column_of, typed
from .factorize import Codes, Whole
from .klt import RECORD, Asked, Loaded, evaluate
from .klt_by_counts import Counted
from .one_table import identifying_columns
from .one_table.cell_equality import MERGED, RENAMED, RESPELLED, noted
from .one_table.functional_dependence import Seen, determined
from .population import population, risks_of_units
from .rows import Rows, open_counted, open_rows


@checked_call
def check(
    table: object,
    schema: object = None,
    quasi_identifiers: Iterable[str] | None = None,
    confidential: Iterable[str] | None = None,
    unit: str | None = None,
    sampling_fraction: object = None,
) -> Check:
    """Measures k, l and t of a table, exactly.

    Guarantee
        k is the least number of units that share all quasi-identifiers. The result describes this
        one table: it says nothing about another release, or about an intruder who knows other
        columns. If a column names persons, l and t count persons: each person counts once for each
        value in their rows, and l is a lower bound of how many values it takes so that every person
        of a group has one of them. It is 1 if they all share a value, whatever else their rows
        contain, and never overstated.

    Parameters
        table: a data frame, a path of a CSV or Parquet file, a DuckDB relation, a table in a DuckDB
            file, in PostgreSQL or in Spark. All but data frames and files below 256 MiB are counted
            where their rows are: this process then holds the different values of the columns with a
            role, some bytes for each group, and at most 50,000 rows.
        schema: roles, types, unit and missing values, as a `Schema` or the path of its file.
        quasi_identifiers, confidential: columns, instead of those with these roles. A private table
            needs none: with its certificate beside it, whole rows are compared. Nor does the
            confidential one of two linked tables: its rows are grouped by `group`.
        unit: the column that names a person, or "record"; by default, the unit of the schema.
        sampling_fraction: the share of a population that the table is a sample of, such as 0.01:
            every unit was drawn with this probability. `population` then has the sample uniques,
            and estimates of population uniques and individual risk, which depend on models.

    Quasi-identifiers are compared as written: 30, 30.0 and 030 are different in a CSV file, and so
    are a missing value and the value that the schema declares for it; a note reports such cases.
    Two missing values are equal. Confidential values are compared by meaning, regardless of case,
    spaces and number format; missing ones are left out, unless the schema declares a value for
    them.

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
    fraction = None if sampling_fraction is None else _fraction(sampling_fraction)
    beside = certificate_beside(Path(table)) if isinstance(table, str | os.PathLike) else None
    with open_counted(table) as rows:
        if rows.there is None:  # undeclared columns too, which may name persons
            columns = {name: column_of(declared, name) for name in rows.names}
            rows = rows.cached([n for n, one in columns.items() if not isinstance(one, Identifier)])
        if beside is not None and beside.drawn and quasi_identifiers is None:
            secret = _chosen(rows, declared, confidential, "confidential")
            whole = [name for name in rows.names if name not in secret]
            quasi_identifiers = _chosen(rows, declared, None, "quasi_identifiers") or whole
        if beside is not None and quasi_identifiers is None and beside.only_groups(rows.names):
            quasi_identifiers = [GROUP]
        found = _checked(rows, declared, quasi_identifiers, confidential, unit, None, fraction)
        found = _exposed(found, rows, declared, unit)
        reading = Reading(rows=found.rows)
        if rows.there is not None:
            taken = rows.there.taken
            columns_read = tuple(taken.columns)
            reading = Reading(rows.there.engine, taken.counts, taken.rows, columns_read)
        found = replace(found, reading=reading)
        found = quoted(found, beside, rows.names)
    if fraction is not None and found.k_from != "units":
        raise refuse("evaluate.sampling-fraction-without-persons", unit=found.unit)
    return found


@checked_call
def individual_risk(
    table: object,
    sampling_fraction: object,
    schema: object = None,
    quasi_identifiers: Iterable[str] | None = None,
    unit: str | None = None,
) -> NDArray[np.float64]:
    """The individual risk of each row of a sample, in the order of rows, from 0 to 1.

    It is the estimated probability that an intruder who knows the quasi-identifiers of somebody in
    the sample links the right person of the population: `Population` states the model. It depends
    on the size of the row's equivalence class only.

    Parameters
        sampling_fraction: as for `check`, and so are the others.

    Example
        >>> individual_risk([[30], [30], [40]], "0.1", quasi_identifiers=["0"]).round(3).tolist()
        [0.083, 0.083, 0.256]

    Source
        Benedetti and Franconi 1998.
    """
    fraction = _fraction(sampling_fraction)
    declared = schema_of(schema)
    rows = open_rows(table)
    known = quasi_identifiers_of(rows, declared, quasi_identifiers)
    person = _person(rows, declared, unit)
    if person is None and unit is None and declared is not None and declared.unit != RECORD:
        raise refuse("evaluate.sampling-fraction-without-persons", unit=declared.unit)
    return risks_of_units(Loaded(rows, Asked(tuple(known), (), person, declared)).units, fraction)


def _fraction(given: object) -> Fraction:
    share = above_zero(given, "sampling_fraction")
    if share > 1:
        raise refuse("evaluate.sampling-fraction-above-one", given=given)
    return share


def check_groups(
    table: object,
    schema: Table,
    persons: Whole | None = None,
    confidential: Iterable[str] | None = None,
    quasi_identifiers: Iterable[str] | None = None,
) -> Check:
    """k, l and t of a release, without warnings about other columns.

    Parameters
        persons: the person of each row, numbered from 0, if no column of the table names them.
        confidential, quasi_identifiers: columns, instead of those with these roles; of a table that
            numbers its groups, the column of these numbers.
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
    fraction: Fraction | None = None,
) -> Check:
    known = _chosen(rows, declared, quasi_identifiers, "quasi_identifiers")
    wanted = _chosen(rows, declared, confidential, "confidential")
    _check_roles(known, wanted)
    person = _person(rows, declared, unit) if persons is None else None
    asked = Asked(tuple(known), tuple(wanted), person, declared)
    counted = _counted(rows, asked) if persons is None else None
    feeder = counted or Loaded(rows, asked, persons)
    found = evaluate(feeder)
    # without a column of persons, the rows of each that questions count bound nothing
    unnamed = person is None and persons is None and unit is None
    uncounted = unnamed and declared is not None and declared.unit != RECORD
    most = (declared.rows_per_unit or 1) if declared is not None and uncounted else 1
    notes = [
        *noted(RESPELLED, feeder.respelled),
        *noted(RENAMED, [person] if person and feeder.renamed else []),
        *noted(MERGED, found.merged),
    ]
    if declared is not None:
        notes += _differences_from_schema(rows, declared, known, feeder.columns, uncounted, most)
        notes += identifying_columns.unprotected(_unprotected(rows, declared, [*known, *wanted]))
    measured = found.check(
        asked.known,
        unit=person or unit or (declared.unit if declared else RECORD),
        notes=notes,
        rows_per_unit=most if uncounted else None,
    )
    if fraction is None:
        return measured
    return replace(measured, population=population(found.sizes, fraction))


def _counted(rows: Rows, asked: Asked) -> Counted | None:
    """The table where it is; None if it is read into this process.

    It is read if it is a data frame or a small file, or if the engine cannot distinguish all values
    of a column.
    """
    if rows.there is None or not all(map(rows.there.can_tell, asked.used)):
        return None
    return Counted(rows, rows.there, asked)


def _exposed(found: Check, rows: Rows, schema: Table | None, unit: str | None) -> Check:
    """The result with warnings about other columns, which may defeat it."""
    grouped_by, secret = found.quasi_identifiers, [one.name for one in found.confidential]
    person = _person(rows, schema, unit)
    names = [person] if person else []
    if schema is None:
        loose = [name for name in rows.names if name not in (*grouped_by, *secret, *names)]
        undeclared = loose
    else:
        names += [name for name in map(rows.find, (c.name for c in schema.identifiers)) if name]
        loose = _unprotected(rows, schema, [*grouped_by, *secret])
        used = (*grouped_by, *secret, *names)
        undeclared = [name for name in _undeclared(rows, schema) if name not in used]
    asked = Asked(grouped_by, tuple(secret), person, schema)
    read = list(dict.fromkeys([*grouped_by, *secret, *loose, *undeclared]))
    columns = _counted(rows, asked) or _Columns(rows, schema, read)
    apparent = [name for name in undeclared if columns.names_rows(name)]
    loose = [name for name in loose if name not in apparent]
    seen = columns.seen([*grouped_by, *secret, *loose], found.rows)
    shares = {name: columns.found_by(name, found.rows) for name in loose}
    parts = (grouped_by, secret, loose)
    known, wanted, rest = ([seen[name] for name in part if name in seen] for part in parts)
    names = list(dict.fromkeys(names))
    return replace(
        found,
        identifiers=tuple(names),
        apparent_identifiers=tuple(apparent),
        warnings=(
            *identifying_columns.persons_named(names, apparent),
            *identifying_columns.unique_columns(identifying_columns.nearly_all(shares)),
            *identifying_columns.dependent_columns(
                determined(known, [*wanted, *rest]), determined(wanted, [*known, *rest])
            ),
        ),
    )


class _Columns:
    def __init__(self, rows: Rows, schema: Table | None, names: list[str]) -> None:
        self._written, self._schema = rows.written, schema
        self._read = rows.read(names)

    def names_rows(self, name: str) -> bool:
        return identifying_columns.names_rows(name, self._read[name])

    def found_by(self, name: str, _: int) -> float:
        return identifying_columns.found_by(self._read[name])

    def seen(self, names: list[str], _: int) -> dict[str, Seen]:
        """The columns that can be compared: not lists, nor values that are not as declared."""
        found = {}
        for name in names:
            declared = column_of(self._schema, name)
            with suppress(Refused):
                values = typed(name, self._read[name], declared, written=self._written)
                found[name] = Seen.of(values)
        return found


def schema_of(given: object) -> Table | None:
    """A schema, or the schema in a file; None if none is given."""
    if given is None or isinstance(given, Table):
        return given
    return Schema.load(given)  # type: ignore[arg-type]


def names_of_role(schema: Table | None, given: Iterable[str] | None, role: str) -> list[str]:
    """The given columns, or by default those that the schema declares."""
    if given is not None:
        return [given] if isinstance(given, str) else list(given)
    return [] if schema is None else [column.name for column in getattr(schema, role)]


def _chosen(rows: Rows, schema: Table | None, given: Iterable[str] | None, role: str) -> list[str]:
    names = names_of_role(schema, given, role)
    if given is not None:
        return list(dict.fromkeys(map(rows.spelled, names)))
    return [found for found in map(rows.find, names) if found is not None]


def quasi_identifiers_of(
    rows: Rows, schema: Table | None, given: Iterable[str] | None = None
) -> list[str]:
    """The named quasi-identifiers, or the declared ones in the table; at least one is required."""
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
    """The column that names a person; None if rows are counted, or if the table lacks it."""
    if unit is not None:
        return None if unit == RECORD else rows.spelled(unit)
    if schema is None or schema.unit == RECORD:
        return None
    return rows.find(schema.unit)


def _unprotected(rows: Rows, schema: Table, used: list[str]) -> list[str]:
    """The declared columns of role `other` in the table that are not in use."""
    loose = [column for column in schema.columns.values() if column.role == "other"]
    names = [column.name for column in loose if column.name.lower() != schema.unit.lower()]
    return [found for found in map(rows.find, names) if found is not None and found not in used]


def _undeclared(rows: Rows, schema: Table) -> list[str]:
    return [name for name in rows.names if name not in schema.columns]


def _differences_from_schema(
    rows: Rows,
    schema: Table,
    known: list[str],
    columns: Sequence[Values],
    uncounted: bool,
    most: int,
) -> list[str]:
    notes = []
    if uncounted and most == 1:
        notes.append(UNCOUNTED.format(unit=schema.unit))
    elif uncounted:
        notes.append(
            f"The table has no column `{schema.unit}`. Provided that nobody has more than {most} "
            f"rows, k is the number of rows divided by {most}, rounded up; l and t count rows."
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
                f"`{secret.name}` is declared as a {column.type}, and some of its values are not: "
                "all were compared as categories, with numbers and dates by meaning."
            )
    return notes
