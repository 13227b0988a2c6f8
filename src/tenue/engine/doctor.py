"""What is missing before a source can be asked or published; for its holder, who typed it."""

from __future__ import annotations

from ..errors import Refused
from ..schema import Schema
from .finding import Finding
from .open import describe_table, open_engine
from .registry import backend_for
from .source.location import locate


def diagnose(source: object, schema: Schema | None = None) -> tuple[Finding, ...]:
    """Everything that is known before the rows are validated, up to the first thing missing.

    Parameters
        source: what would be given to `protect`.
        schema: compared with the columns of the source, if there is one.
    """
    findings, subject = list[Finding](), "source"
    try:
        located = locate(source, "table" if schema is None else schema.name)
        for finding in backend_for(located).examine(located):
            findings.append(finding)
            if finding.verdict == "missing":
                return tuple(findings)
        subject = "columns"
        if schema is None:
            columns = describe_table(source)
            listed = ", ".join(f"{column.name} {column.type}" for column in columns)
            what = f"{len(columns)}: {listed}"
        else:
            open_engine(source, schema).close()
            what = f"All {len(schema.columns)} declared columns can be read as declared"
        findings.append(Finding("columns", "fine", what))
    except Refused as refusal:
        findings.append(Finding.refused(subject, refusal))
    return tuple(findings)
