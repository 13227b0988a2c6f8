"""What is missing before a source can be asked or published; for its holder, who typed it."""

from __future__ import annotations

from collections.abc import Iterator

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
    found: list[Finding] = []
    for finding in _examined(source, schema):
        found.append(finding)
        if finding.verdict == "missing":
            break
    return tuple(found)


def _examined(source: object, schema: Schema | None) -> Iterator[Finding]:
    try:
        place = locate(source, "table" if schema is None else schema.name)
    except Refused as refusal:
        yield Finding.refused("source", refusal)
        return
    yield from backend_for(place).examine(place)
    if schema is None:
        yield from _columns(source)
    else:
        yield from _declared(source, schema)


def _columns(source: object) -> Iterator[Finding]:
    try:
        described = describe_table(source)
    except Refused as refusal:
        yield Finding.refused("columns", refusal)
        return
    told = ", ".join(f"{column.name} {column.type}" for column in described)
    yield Finding("columns", "fine", f"{len(described)}: {told}")


def _declared(source: object, schema: Schema) -> Iterator[Finding]:
    try:
        open_engine(source, schema).close()
    except Refused as refusal:
        yield Finding.refused("columns", refusal)
        return
    many = len(schema.columns)
    yield Finding("columns", "fine", f"All {many} declared columns can be read as declared")
