"""What a table in a server lacks before it can be asked, and what its role has too much of."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import Refused
from ..finding import Finding
from ..source.location import Server
from .catalogue import find_readable
from .grants import excess_of
from .session import Session

_TIMEOUT = 60


def examine(source: Server) -> Iterator[Finding]:
    """Server, table and rights, as far as one can look; no row is read."""
    try:
        session = Session(source.address, _TIMEOUT)
    except Refused as refusal:
        yield Finding.refused("server", refusal)
        return
    try:
        yield Finding("server", "fine", f"PostgreSQL {session.version}")
        found = session.look(lambda state: find_readable(state, source.table))
        kept = f"{found.sql} has {len(found.columns)} columns that {found.role} may read"
        yield Finding("table", "fine", kept)
        excess = session.look(lambda state: excess_of(state, found))
    except Refused as refusal:
        yield Finding.refused("table", refusal)
        return
    finally:
        session.close()
    for right in excess:
        undo = right.undo or "Use another role, that of `A role that may only read` in the docs"
        yield Finding("rights", "too much", f"The role {found.role} {right.what}", undo)
    if not excess:
        yield Finding("rights", "fine", f"The role {found.role} may only read")
