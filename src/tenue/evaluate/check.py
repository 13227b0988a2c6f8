"""How safe a table looks: k-anonymity, l-diversity and t-closeness of any file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..errors import InvalidArgument
from ..number import checked_call
from ..schema import Bounded, Column, Schema, Table

if TYPE_CHECKING:
    from .group import Groups
    from .rows import Rows

__all__ = ["Check", "Confidential", "check", "schema_of"]

RECORD = "record"


@dataclass(frozen=True, kw_only=True)
class Confidential:
    """What the groups tell of one confidential column.

    l: the least number of different values in a group; 1 is bad.
    l_entropy: the least effective number of values in a group, from 1 (bad) to l.
    t: the largest earth mover's distance of a group from the whole table, from 0 (good) to 1.
    t_ratio: the largest quotient of shares, from 1 (good); infinite if a group lacks a value.
    distance: "ordered" for numbers and dates, "equal" for categories.
    homogeneous_groups: how many groups have one value only.
    homogeneous_share: the share of rows in them.
    size_of_farthest: how many rows the group has in which t is reached.
    exact_t, exact_t_ratio: the same as fractions; None where infinite.
    """

    name: str
    l: int
    l_entropy: float
    t: float
    t_ratio: float
    distance: str
    homogeneous_groups: int
    homogeneous_share: float
    size_of_farthest: int
    exact_t: Fraction
    exact_t_ratio: Fraction | None


@dataclass(frozen=True, kw_only=True)
class Check:
    """What a table shows of its groups. It describes one file, and promises nothing.

    rows: how many rows were read.
    quasi_identifiers: the columns by which rows were grouped.
    unit: who is counted: "record", or the column that names a person.
    groups: how many groups there are.
    k: the least number of units in a group; 1 is bad.
    smallest_groups: how many groups have no more than k units.
    unique_share: the share of rows whose group has one unit only, from 0 (good) to 1.
    homogeneous_groups, homogeneous_share: how many groups, and the share of rows in them, have only
        one value of some confidential column.
    confidential: l, t and more of each confidential column.
    notes: what limits these numbers, in sentences.
    """

    rows: int
    quasi_identifiers: tuple[str, ...]
    unit: str
    groups: int
    k: int
    smallest_groups: int
    unique_share: float
    homogeneous_groups: int
    homogeneous_share: float
    confidential: tuple[Confidential, ...]
    notes: tuple[str, ...] = ()

    @property
    def l(self) -> int | None:  # noqa: E743 - the paper's name
        """The least distinct l of all confidential columns; None without such a column."""
        return min((column.l for column in self.confidential), default=None)

    @property
    def l_entropy(self) -> float | None:
        """The least entropy l of all confidential columns; None without such a column."""
        return min((column.l_entropy for column in self.confidential), default=None)

    @property
    def t(self) -> float | None:
        """The largest earth mover's t of all confidential columns; None without such a column."""
        return max((column.t for column in self.confidential), default=None)

    @property
    def t_ratio(self) -> float | None:
        """The largest ratio t of all confidential columns; None without such a column."""
        return max((column.t_ratio for column in self.confidential), default=None)

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them: fractions as text, and "inf" for what is infinite."""
        facts: dict[str, Any] = {part.name: getattr(self, part.name) for part in fields(self)}
        worst = ("l", "l_entropy", "t", "t_ratio")
        facts.update({name: _plain(getattr(self, name)) for name in worst})
        facts["quasi_identifiers"] = list(self.quasi_identifiers)
        facts["notes"] = list(self.notes)
        facts["confidential"] = [
            {part.name: _plain(getattr(column, part.name)) for part in fields(column)}
            for column in self.confidential
        ]
        return facts

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict())

    def __str__(self) -> str:
        from .screen import check_text

        return check_text(self)


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


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    return "inf" if value == math.inf else value
