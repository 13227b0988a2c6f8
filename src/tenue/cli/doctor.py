"""Say what is missing before a table can be asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..errors import refuse
from .messages import spoken
from .options import AsJson, Ledger, table_and_schema
from .parser import Argument, Option, conclude

if TYPE_CHECKING:
    from ..engine.registry import Finding, Verdict

_WORDS = {
    "fine": "ok",
    "missing": "MISSING",
    "wrong": "WRONG",
    "too much": "TOO MUCH",
    "not read": "NOT READ",
}


def doctor(
    source: Annotated[
        str | None,
        Argument(
            "The table's file or address, a schema that names it, or the folder of a release; "
            "the source of --schema if not given."
        ),
    ] = None,
    schema: Annotated[Path | None, Option("Compare the table with it.")] = None,
    ledger: Ledger = None,
    no_rows: Annotated[
        bool, Option("Read no row: whether values are as declared remains open.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what a table lacks before it can be asked. Looks at driver, server, grants, columns,
    values, budget and ledger; asks nothing and costs nothing; exits with 3 unless all is well.

    Example
        tenue doctor postgresql://tenue@db/hospital#public.stays --schema stays.toml
    """
    from ..ask.doctor import diagnose
    from ..schema import Schema

    given, schema = table_and_schema(source, schema)
    with spoken():
        if given is None and schema is not None:
            given = Schema.load(schema).location
        if given is None:
            raise refuse("cli.source-missing")
        found = diagnose(given, schema, ledger=ledger, rows=not no_rows)
    verdicts = {finding.verdict for finding in found}
    if as_json:
        listed = [finding.to_dict() for finding in found]
        facts = {
            "ready": verdicts.isdisjoint(("missing", "wrong")),
            "least_privilege": "too much" not in verdicts,
            "values_read": "values" in {one.subject for one in found if one.verdict != "not read"},
        }
        text = json.dumps({**facts, "findings": listed})
    else:
        text = "\n".join([*map(_line, found), "", _verdict(verdicts)])
    conclude(text, met=verdicts <= {"fine", "not read"})


def _line(finding: Finding) -> str:
    start = f"{_WORDS[finding.verdict]:<9} {finding.subject:<8}"
    fix = f"\n{'':<19}{finding.fix}" if finding.fix else ""
    return f"{start} {finding.what}{fix}"


def _verdict(verdicts: set[Verdict]) -> str:
    if "missing" in verdicts:
        return "Not ready: supply what is missing, then run tenue doctor again."
    if "wrong" in verdicts:
        return (
            "Not ready: values are not as declared. Questions treat them as missing, and a release "
            "leaves their rows out or is refused."
        )
    if "too much" in verdicts:
        return "Ready for its holder. Named analysts are refused until the role may only read."
    if "not read" in verdicts:
        return "Ready, as far as was looked at. Whether values are as declared remains open."
    return "Ready. Every row was read, and is read once more when the holder opens the table."
