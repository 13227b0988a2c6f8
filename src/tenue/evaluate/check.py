"""How safe a table looks: k-anonymity, l-diversity and t-closeness of any file."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import Refused, refuse
from ..number import checked_call
from ..schema import Bounded, Column, Identifier, Schema, Table
from .certificate import GROUP, UNCOUNTED, certificate_beside, quoted
from .code import Codes
from .group import exposure, spelling
from .group.closeness import earth_movers, ratio
from .group.count import Groups, counted, grouped
from .group.dependence import Seen, determined
from .group.diversity import distinct_values, effective_values, holdings, needed_values
from .group.spelling import meant, named, shown
from .rows import Rows, open_rows
from .value import Values, typed
from .verdict import Check, Confidential

if TYPE_CHECKING:
    import pyarrow


_RECORD = "record"


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
        table: a data frame, a path of a CSV or Parquet file, a DuckDB relation.
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
    declared, rows = schema_of(schema), open_rows(table)
    rows = rows.held([name for name in rows.names if _is_looked_at(name, declared)])
    beside = certificate_beside(Path(table)) if isinstance(table, str | os.PathLike) else None
    if beside is not None and beside.drawn and quasi_identifiers is None:
        secret = _chosen(rows, declared, confidential, "confidential")
        whole = [name for name in rows.names if name not in secret]
        quasi_identifiers = _chosen(rows, declared, None, "quasi_identifiers") or whole
    if beside is not None and quasi_identifiers is None and beside.only_groups(rows.names):
        quasi_identifiers = [GROUP]
    found = _checked(rows, declared, quasi_identifiers, confidential, unit, None)
    found = _exposed(found, rows, declared, unit)
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
    used = [*known, *wanted, *([person] if person else [])]
    read = rows.read(list(dict.fromkeys(used)))

    def values(name: str, *, guess: bool) -> Values:
        column = _column(declared, name)
        return typed(name, read[name], column, written=rows.written, guess=guess)

    size = len(next(iter(read.values())))
    seen = {name: shown(name, read[name], _column(declared, name)) for name in known}
    groups = grouped([column.codes for column in seen.values()], size)
    respelled = [name for name, column in seen.items() if column.respelled]
    names = person is not None and shown(person, read[person]).respelled
    if person:
        persons = values(person, guess=False).coded()
    # whose the rows are is not known: how many of each questions count bounds nothing
    uncounted = persons is None and unit is None and _of_persons(declared)
    most = _rows_per_unit(declared) if uncounted else 1
    units = -(-groups.sizes // most) if persons is None else groups.units(persons)
    columns = [values(name, guess=True) for name in wanted]
    meanings = [
        meant(secret, _column(declared, secret.name), written=rows.written) for secret in columns
    ]
    found = [
        _measured(groups, secret, meaning.codes, persons)
        for secret, meaning in zip(columns, meanings, strict=True)
    ]
    merged = [s.name for s, meaning in zip(columns, meanings, strict=True) if meaning.merged]
    homogeneous = np.zeros(groups.count, np.bool_)
    for _, one_value in found:
        homogeneous |= one_value
    k = int(units.min())
    return Check(
        rows=size,
        quasi_identifiers=tuple(known),
        unit=person or unit or (declared.unit if declared else _RECORD),
        groups=groups.count,
        k=k,
        smallest_groups=int((units == k).sum()),
        smallest_rows=int(groups.sizes.min()),
        unique_share=float(groups.sizes[units == 1].sum() / size),
        homogeneous_groups=int(homogeneous.sum()),
        homogeneous_share=float(groups.sizes[homogeneous].sum() / size),
        confidential=tuple(column for column, _ in found),
        notes=(
            *spelling.respelled(respelled),
            *spelling.renamed([person] if person and names else []),
            *spelling.merged_values(merged),
            *(
                ()
                if declared is None
                else _about_schema(rows, declared, known, columns, uncounted, most)
            ),
            *exposure.unprotected(loose),
        ),
        k_from="rows" if uncounted else "units",
    )


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
    read = rows.read(list(dict.fromkeys([*grouped_by, *secret, *loose, *doubtful])))
    apparent = [name for name in doubtful if exposure.names_rows(name, read[name])]
    loose = [name for name in loose if name not in apparent]
    seen = dict(_seen(rows, schema, {n: read[n] for n in (*grouped_by, *secret, *loose)}))
    parts = (grouped_by, secret, loose)
    known, wanted, rest = ([seen[name] for name in part if name in seen] for part in parts)
    kept = list(dict.fromkeys(kept))
    return replace(
        found,
        identifiers=tuple(kept),
        apparent_identifiers=tuple(apparent),
        warnings=(
            *exposure.persons_named(kept, apparent),
            *exposure.told_apart(exposure.telling({name: read[name] for name in loose})),
            *exposure.following(
                determined(known, [*wanted, *rest]), determined(wanted, [*known, *rest])
            ),
        ),
    )


def _seen(
    rows: Rows, schema: Table | None, read: Mapping[str, pyarrow.ChunkedArray]
) -> Iterator[tuple[str, Seen]]:
    """The columns that can be compared; one of lists, or of what is not as declared, cannot."""
    for name, column in read.items():
        try:
            yield name, Seen.of(typed(name, column, _column(schema, name), written=rows.written))
        except Refused:
            continue


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


def _measured(
    groups: Groups, values: Values, codes: Codes, persons: Codes | None
) -> tuple[Confidential, NDArray[np.bool_]]:
    """What is found of one column, and in which groups everybody shares a value of it."""
    if persons is None:
        counts = counted(groups, codes)
        distinct = distinct_values(counts)
    else:
        held = holdings(groups, codes, persons)
        counts = counted(held.groups, held.values)
        distinct = needed_values(held)
    ordered = values.kind != "category"
    t, farthest = earth_movers(counts, ordered=ordered)
    quotient = ratio(counts)
    alone = distinct == 1
    effective = 1.0 if alone.any() else float(effective_values(counts, distinct).min())
    measured = Confidential(
        name=values.name,
        l=int(distinct.min()),
        l_entropy=effective,
        t=float(t),
        t_ratio=math.inf if quotient is None else float(quotient),
        distance="ordered" if ordered else "equal",
        homogeneous_groups=int(alone.sum()),
        homogeneous_share=float(groups.sizes[alone].sum() / groups.sizes.sum()),
        size_of_farthest=int(groups.sizes[farthest]),
        exact_t=t,
        exact_t_ratio=quotient,
    )
    return measured, alone


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
        raise refuse("evaluate.there-are-no-quasi-identifiers-so-there")
    both = [name for name in known if name in wanted]
    if both:
        raise refuse("evaluate.is-quasi-identifier-and-confidential-at-once", both=both[0])


def _person(rows: Rows, schema: Table | None, unit: str | None) -> str | None:
    """The column that names a person; None if rows are counted, or if it is not in the table."""
    if unit is not None:
        return None if unit == _RECORD else rows.spelled(unit)
    if schema is None or schema.unit == _RECORD:
        return None
    return rows.find(schema.unit)


def _of_persons(schema: Table | None) -> bool:
    return schema is not None and schema.unit != _RECORD


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
    columns: list[Values],
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
