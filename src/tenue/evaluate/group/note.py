"""What limits k, l and t of a table, in sentences."""

from __future__ import annotations

from ...schema import Bounded, Table
from ..rows import Rows
from ..value import Values


def respelled(names: list[str]) -> list[str]:
    """Quasi-identifiers that are written in more than one way."""
    if not names:
        return []
    return [
        f"Some values of {_names(names)} are written in more than one way, as 7 and 07 are, or a "
        "blank and what is declared for it. An intruder can tell them apart, so they count as "
        "different; written alike, k may be larger."
    ]


def renamed(names: list[str]) -> list[str]:
    """Names of persons that may be written in more than one way."""
    if not names:
        return []
    return [
        f"Some values of {_names(names)} may be two spellings of one person's, as 17 and 017 are, "
        "or Ann and ann. Names are compared as they are stored, so each counts as a person: k and "
        "l may be smaller."
    ]


def merged_values(names: list[str]) -> list[str]:
    """Confidential values that count as one though they are written differently."""
    if not names:
        return []
    return [
        f"Some values of {_names(names)} are written in more than one way, as flu and Flu are, or "
        "7 and 7.0. They mean the same to whoever reads them, so they count as one for l and t."
    ]


def unprotected(names: list[str], alone: list[str]) -> list[str]:
    """Columns that nothing protects, and those of them that tell every row apart."""
    if not names:
        return []
    told = f"Nothing protects {_names(names)}: no role is stated, or the role is other."
    if alone:
        told += (
            f" {_names(alone)} {'has' if len(alone) == 1 else 'have'} another value in every row: "
            "whoever knows it of a person finds the row, whatever k is."
        )
    return [told]


def about_schema(rows: Rows, schema: Table, columns: list[Values], most: int) -> list[str]:
    """What the schema says and the table does not have, or the other way round."""
    notes = []
    if most > 1:
        notes.append(
            f"The table has no column `{schema.unit}`. One may have {most} rows, so k is the "
            "number of rows divided by that, rounded up, and l and t count rows."
        )
    kept = [column.name for column in schema.identifiers if rows.find(column.name)]
    if kept:
        notes.append(f"The table still has what names a person: {_names(kept)}.")
    declared = (*schema.quasi_identifiers, *schema.confidential)
    absent = [column.name for column in declared if not rows.find(column.name)]
    if absent:
        notes.append(f"Declared, but not in the table: {_names(absent)}.")
    hidden = [name for name in rows.names if name not in schema.columns]
    if hidden:
        notes.append(f"Not declared, so not looked at: {_names(hidden)}.")
    for secret in columns:
        column = schema.columns.get(secret.name)
        if isinstance(column, Bounded) and secret.kind == "category":
            notes.append(
                f"`{secret.name}` is declared a {column.type}, and some of it is something else: "
                "its values were compared as categories, numbers and days by what they mean."
            )
    return notes


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
