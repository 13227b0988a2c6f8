"""How safe a table looks: k-anonymity, l-diversity and t-closeness of any file."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..errors import InvalidArgument
from ..number import checked_call
from ..schema import Bounded, Column, Schema, Table
from .verdict import Check, Confidential

if TYPE_CHECKING:
    from .group import Groups
    from .rows import Rows

__all__ = ["check", "schema_of"]

RECORD = "record"


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
        than those.

    Parameters
        table: a data frame, a path of a CSV or Parquet file, a DuckDB relation.
        schema: roles, types, unit and missing values, as a `Schema` or the path of its file.
        quasi_identifiers, confidential: columns, instead of those that have these roles.
        unit: the column that names a person, or "record"; as the schema says if not given.

    Missing values: two missing quasi-identifiers are equal, for an intruder sees both blanks.
    Confidential values that are missing are left out, unless the schema says what they stand for.

    Example
        >>> import pyarrow
        >>> town = pyarrow.table({"age": [30, 30, 40, 40], "ill": ["flu", "flu", "flu", "cold"]})
        >>> found = check(town, quasi_identifiers=["age"], confidential=["ill"])
        >>> found.k, found.l, found.t
        (2, 1, 0.25)

    Source
        Thesis, sections 2.8 and 7.2; soundness.md, sections 6 and 8.
    """
    from .group import grouped
    from .rows import open_rows
    from .value import typed

    declared = schema_of(schema)
    rows = open_rows(table)
    chosen = _chosen(rows, declared, quasi_identifiers, "quasi_identifiers")
    wanted = _chosen(rows, declared, confidential, "confidential")
    _check_roles(chosen, wanted)
    person, notes = _unit(rows, declared, unit)
    read = rows.read(list(dict.fromkeys([*chosen, *wanted, *([person] if person else [])])))

    def codes(name: str, guess: bool) -> Any:
        column = _declared(declared, name)
        return typed(name, read[name], column, written=rows.written, guess=guess)

    size = len(next(iter(read.values())))
    groups = grouped([codes(name, False).coded() for name in chosen], size)
    if person:
        units = groups.units(codes(person, False).coded())
    else:
        units = -(-groups.sizes // _rows_per_unit(declared, unit))
    notes += _limits(rows, declared, codes, chosen, wanted)
    k = int(units.min())
    measured = [_measured(groups, codes(name, True)) for name in wanted]
    alone = [flags for _, flags in measured]
    homogeneous = sum(alone[1:], alone[0]) > 0 if alone else units < 0
    return Check(
        rows=size,
        quasi_identifiers=tuple(chosen),
        unit=person or RECORD,
        groups=groups.count,
        k=k,
        smallest_groups=int((units == k).sum()),
        unique_share=float(groups.sizes[units == 1].sum() / size),
        homogeneous_groups=int(homogeneous.sum()),
        homogeneous_share=float(groups.sizes[homogeneous].sum() / size),
        confidential=tuple(found for found, _ in measured),
        notes=tuple(notes),
    )


def schema_of(given: object) -> Table | None:
    """A schema, or the one in a file; None if none is given."""
    if given is None or isinstance(given, Table):
        return given
    return Schema.load(given)  # type: ignore[arg-type]


def _measured(groups: Groups, values: Any) -> tuple[Confidential, Any]:
    from .closeness import earth_movers, ratio
    from .diversity import distinct_values, effective_values
    from .group import counted

    counts = counted(groups, values.coded())
    ordered = values.kind != "category"
    t, farthest = earth_movers(counts, ordered=ordered)
    quotient = ratio(counts)
    distinct = distinct_values(counts)
    alone = distinct == 1
    measured = Confidential(
        name=values.name,
        l=int(distinct.min()),
        l_entropy=float(effective_values(counts).min()),
        t=float(t),
        t_ratio=math.inf if quotient is None else float(quotient),
        distance="ordered" if ordered else "equal",
        homogeneous_groups=int(alone.sum()),
        homogeneous_share=float(groups.sizes[alone].sum() / groups.sizes.sum()),
        size_of_farthest=int(groups.sizes[farthest]),
        exact_t=t,
        exact_t_ratio=quotient,
    )
    return measured, alone.astype(int)


def _chosen(rows: Rows, schema: Table | None, given: Iterable[str] | None, what: str) -> list[str]:
    if given is not None:
        names = [given] if isinstance(given, str) else list(given)
        return list(dict.fromkeys(rows.spelled(name) for name in names))
    if schema is None:
        return []
    declared = [column.name for column in getattr(schema, what)]
    return [found for found in map(rows.find, declared) if found is not None]


def _check_roles(chosen: list[str], wanted: list[str]) -> None:
    if not chosen:
        raise InvalidArgument(
            "There are no quasi-identifiers, so there are no groups",
            "Rows are grouped by the columns an intruder may know",
            'Give quasi_identifiers=["age", "zip"], or a schema with role = "quasi-identifier"',
        )
    both = [name for name in chosen if name in wanted]
    if both:
        raise InvalidArgument(
            f"`{both[0]}` is a quasi-identifier and confidential at once",
            "An intruder knows a quasi-identifier and wants to know a confidential column",
            f"Leave `{both[0]}` out of one of them",
        )


def _declared(schema: Table | None, name: str) -> Column | None:
    return None if schema is None else schema.columns.get(name)


def _unit(rows: Rows, schema: Table | None, unit: str | None) -> tuple[str | None, list[str]]:
    """The column that names a person, if there is one, and what must be said about it."""
    if unit is not None:
        return (None if unit == RECORD else rows.spelled(unit)), []
    if schema is None or schema.unit == RECORD:
        return None, []
    found = rows.find(schema.unit)
    if found is not None:
        return found, []
    note = (
        f"The table has no column `{schema.unit}`. A person may have {schema.rows_per_unit} rows, "
        "so k is the number of rows divided by that, rounded up."
    )
    return None, [note]


def _rows_per_unit(schema: Table | None, unit: str | None) -> int:
    if unit is not None or schema is None or schema.unit == RECORD:
        return 1
    return schema.rows_per_unit or 1


def _limits(
    rows: Rows, schema: Table | None, codes: Any, chosen: list[str], wanted: list[str]
) -> list[str]:
    if schema is None:
        return []
    notes = []
    kept = [column.name for column in schema.identifiers if rows.find(column.name)]
    if kept:
        notes.append(f"The table still has what names a person: {_names(kept)}.")
    absent = [
        column.name
        for column in (*schema.quasi_identifiers, *schema.confidential)
        if not rows.find(column.name)
    ]
    if absent:
        notes.append(f"Declared, but not in the table: {_names(absent)}.")
    hidden = [name for name in rows.names if name not in schema.columns]
    if hidden:
        notes.append(f"Not declared, so not looked at: {_names(hidden)}.")
    for name in wanted:
        column = schema.columns.get(name)
        if isinstance(column, Bounded) and codes(name, True).kind == "category":
            notes.append(
                f"`{name}` is declared a {column.type}, and some of it is something else: "
                "its values were compared as categories."
            )
    return notes


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
