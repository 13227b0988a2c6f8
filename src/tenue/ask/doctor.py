"""What a table lacks before it can be asked; for its holder, who typed it.

Nothing is asked, paid or recorded. What opening the table would refuse is found here, by the same
code: its source, its columns, its values, its budget and its ledger.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..engine.contract import Engine
from ..engine.open import describe_table, open_engine
from ..engine.registry import Finding, backend_for
from ..engine.source.location import locate
from ..errors import Refused
from ..privacy.loss import EpsilonDelta
from ..schema import Schema
from ..schema.schema import given_schema
from ..text import exactly
from .dataset import Opening, refuse_other_rows, refuse_unasked, spent_before

_UNREAD = (
    "Correct the type or the categories in the schema, or list what stands for a missing value"
)
_NOT_COMPARED = "No value was looked at: without a schema there is nothing to compare it with"
_NOT_LOOKED_AT = "No row was read, so values may differ from what the schema declares"


def diagnose(
    source: object,
    schema: Schema | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    *,
    ledger: str | os.PathLike[str] | None = None,
    rows: bool = True,
) -> tuple[Finding, ...]:
    """Everything that opening the table would find, as far as it can be read.

    Parameters
        source: what would be given to `protect`.
        schema: what would be given to `protect`; without one, only the source is looked at.
        ledger: the path or address that would be given to `protect`.
        rows: whether every row is read, to see that its values are as declared.
    """
    described, file = (None, None) if schema is None else given_schema(schema)
    findings, subject = list[Finding](), "source"
    try:
        located = locate(source, "table" if described is None else described.name)
        for finding in backend_for(located).examine(located):
            findings.append(finding)
            if finding.verdict == "missing":
                return tuple(findings)
        subject = "columns"
        if described is None:
            columns = describe_table(source)
            listed = ", ".join(f"{column.name} {column.type}" for column in columns)
            findings.append(Finding("columns", "fine", f"{len(columns)}: {listed}"))
            findings.append(Finding("values", "not read", _NOT_COMPARED, "Give --schema"))
            return tuple(findings)
        engine = open_engine(source, described)
    except Refused as refusal:
        return (*findings, Finding.refused(subject, refusal))
    try:
        many = len(described.columns)
        what = f"The types of all {many} declared columns can be read as declared"
        findings.append(Finding("columns", "fine", what))
        findings += _values(engine, described) if rows else [_unread()]
    finally:
        engine.close()
    return (*findings, *_budget(source, described, file, ledger))


def _unread() -> Finding:
    return Finding("values", "not read", _NOT_LOOKED_AT)


def _values(engine: Engine, schema: Schema) -> Iterator[Finding]:
    """Whether every value can be read as declared."""
    try:
        validated = engine.validate()
        refuse_other_rows(schema, validated.rows)
    except Refused as refusal:
        yield Finding.refused("values", refusal)
        return
    opening = Opening.now(schema, validated)
    remarks = " ".join(opening.remarks)
    if opening.unreadable:
        yield Finding("values", "wrong", remarks, _UNREAD)
    else:
        what = (
            f"{validated.rows:,} rows were read, and every declared value can be read as declared"
        )
        yield Finding(
            "values", "fine", f"{what}. {remarks}".rstrip(". ") + ("." if remarks else "")
        )


def _budget(source: object, schema: Schema, file: Path | None, ledger: Any) -> Iterator[Finding]:
    """Whether the ledger accepts the budget, and what of it remains."""
    subject = "budget"
    try:
        budget = refuse_unasked(schema)
        total = EpsilonDelta.cap(budget.total, budget.delta or 0, name="total").epsilon
        for name in ("per_analyst", "individual"):
            if (cap := getattr(budget, name)) is not None:
                EpsilonDelta.cap(cap, name=name)
        subject = "ledger"
        before = spent_before(source, schema, file, ledger)
    except Refused as refusal:
        yield Finding.refused(subject, refusal)
        return
    spent = before or Fraction(0)
    what = f"epsilon {exactly(spent)} of {exactly(total)} is spent"
    if total <= spent:
        fix = "Nothing can be asked until the holder raises the total of [budget]"
        yield Finding("budget", "missing", what, fix)
    else:
        there = "a ledger is made when the table is opened"
        where = there if before is None else "the ledger is there"
        yield Finding("budget", "fine", f"{what}; {where}")
