"""Say what is missing before a table can be asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..errors import refuse
from .messages import spoken
from .options import AsJson
from .parser import Argument, Option, conclude

if TYPE_CHECKING:
    from ..engine.finding import Finding, Verdict

_WORDS = {"fine": "ok", "missing": "MISSING", "too much": "TOO MUCH"}


def doctor(
    source: Annotated[
        str | None, Argument("The table's file or address; the schema's own if not given.")
    ] = None,
    schema: Annotated[Path | None, Option("Compare its columns with the table's.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a table lacks before it can be asked. Looks at driver, server, grants and columns;
    asks nothing and costs nothing; exits with 3 unless all is well.

    Example
        tenue doctor postgresql://tenue@db/hospital#public.stays --schema stays.toml
    """
    from ..engine.doctor import diagnose
    from ..schema.schema import given_schema

    with spoken():
        described = None if schema is None else given_schema(schema)[0]
        given = source if source is not None else described and described.location
        if given is None:
            raise refuse("cli.source-missing")
        found = diagnose(given, described)
    verdicts = {finding.verdict for finding in found}
    if as_json:
        listed = [finding.to_dict() for finding in found]
        facts = {"ready": "missing" not in verdicts, "least_privilege": "too much" not in verdicts}
        text = json.dumps({**facts, "findings": listed})
    else:
        text = "\n".join([*map(_line, found), "", _verdict(verdicts)])
    conclude(text, met=verdicts == {"fine"})


def _line(finding: Finding) -> str:
    start = f"{_WORDS[finding.verdict]:<9} {finding.subject:<8}"
    fix = f"\n{'':<19}{finding.fix}" if finding.fix else ""
    return f"{start} {finding.what}{fix}"


def _verdict(verdicts: set[Verdict]) -> str:
    if "missing" in verdicts:
        return "Not ready: supply what is missing, then run tenue doctor again."
    if "too much" in verdicts:
        return "Ready for its holder. Named analysts are refused until the role may only read."
    return "Ready. Every row is read once when the holder first opens the table."
