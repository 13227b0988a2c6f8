"""The certificate of a release: what its method says, and what holds of every release."""

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
UNSEALED = "It does not say by which schema it was made: that takes the key of a ledger."
PREVIEWED = "Anything of a table that left: this was a preview, and no table belongs to it."
COUNTED = "The number of published rows is not hidden, whatever neighbours the schema declares."
ROWS_OF_ONE = (
    "How many rows a person has is not hidden. Everybody counts once for each different value of "
    "his rows: a value that every person of a group has in some row is disclosed like the one "
    "value of a group."
)

_PREVIEWED = "no, a preview"


def certify(
    method: Method, *, registered: bool, seal: str = "", preview: bool = False
) -> Certificate:
    """What is promised: what the method says, and what holds of every release; never of rows.

    registered: whether a ledger will know it once it leaves.
    seal: by which schema, as that ledger seals it.
    """
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
    if preview:
        limits.insert(0, PREVIEWED)
    elif not registered:
        limits += [UNREGISTERED, UNSEALED]
    return certified(
        method.promise,
        schema,
        method.way.mechanism,
        {
            "method": method.name,
            **method.parameters,
            "override": ", ".join(sorted(method.override)),
            "registered": _registered(method, registered, preview),
        },
        [method.way.source],
        [*assumptions, *method.assumptions],
        limits,
        seal,
    )


def _registered(method: Method, registered: bool, preview: bool) -> str:
    if preview:
        return _PREVIEWED
    if method.repeatable:
        return "Its price is in the ledger."
    return "yes" if registered else "no, in no ledger"
