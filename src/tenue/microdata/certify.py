"""The certificate of a release: a function of method and schema, never of rows."""

from __future__ import annotations

from ..promise import Certificate
from ..promise.certificate import ONE_RECORD, STREAM
from ..promise.certificate import certify as certified
from ..schema.table import RECORD
from ..screen.number import named
from .method.contract import Method

AS_STORED = (
    "Identifiers are compared as they are stored, byte by byte: two spellings of one name are two "
    "persons."
)
LEFT_OUT = "Completeness: rows without a value in {names} are not in the release."
UNPROTECTED = (
    "Nothing protects {names}: its role is other, and it is published as it is. Whoever knows it "
    "of a person may find the person's row by it."
)
UNPROTECTED_ALL = (
    "Nothing protects {names}: their role is other, and they are published as they are. Whoever "
    "knows them of a person may find the person's row by them."
)
UNREGISTERED = (
    "It is registered in no ledger, so nothing keeps a second release of the table from leaving."
)
COUNTED = "The number of published rows is not hidden, whatever neighbours the schema declares."
ROWS_OF_ONE = (
    "How many rows a person has is not hidden. Everybody counts once for each different value of "
    "his rows: a value that every person of a group has in some row is disclosed like the one "
    "value of a group."
)


def certify(method: Method, *, registered: bool) -> Certificate:
    """What is promised about a release: what the method says, and what holds of every release."""
    schema = method.schema
    assumptions, limits = [STREAM], list(method.limits)
    if schema.unit == RECORD:
        assumptions.append(ONE_RECORD)
    if schema.identifiers or schema.unit != RECORD:
        assumptions.append(AS_STORED)
    if method.unprotected:
        said = UNPROTECTED if len(method.unprotected) == 1 else UNPROTECTED_ALL
        limits.append(said.format(names=named(method.unprotected)))
    gaps = [name for name in method.compared if schema.columns[name].missing is None]
    if gaps:
        limits.append(LEFT_OUT.format(names=named(gaps)))
    if schema.unit != RECORD:
        limits.append(ROWS_OF_ONE)
    limits.append(COUNTED)
    if not registered:
        limits.append(UNREGISTERED)
    return certified(
        method.promise,
        schema,
        method.way.mechanism,
        {
            "method": method.name,
            **method.parameters,
            "override": ", ".join(sorted(method.override)),
            "registered": "yes" if registered else "no, in no ledger",
        },
        [method.way.source],
        [*assumptions, *method.assumptions],
        limits,
    )
