"""A ledger in a PostgreSQL schema, shared by the processes of many machines."""

from __future__ import annotations

import os
import weakref

from ...number import checked_call
from ..sql.ledger import Tabled
from .address import given_address
from .database import InServer


class Postgres(Tabled):
    """A durable ledger in a database, for any number of processes on any number of machines.

    Guarantee
        That of `Ledger`, and durability: what `reserve` and `commit` acknowledged survives the
        death of the process, and of the server as far as its disk keeps what it confirmed; a server
        that does not wait for its disk is refused. When the server goes away, a call whose fate is
        unknown is a `LedgerFault`: its price may be spent, and nothing may be drawn for it. The
        next call reaches the server anew. A server that comes back without an entry that this
        object has seen (an old backup, a replica that was behind) is refused from then on; other
        processes need an `anchor` to see it.

    Opening finalises as spent whatever a dead process reserved and never answered.

    Parameters
        address: postgresql://user@host/database#schema, or any address that libpq reads, without a
            password: that comes from the environment or libpq's password file. The schema is made
            if it is not there; it is "tenue_ledger" if none is named. No pool of connections may
            stand between: whoever reserves is known by its session.
        anchor: as for `SQLite`; None for none.
        make: whether a ledger that is not there is made; it is refused otherwise.
    """

    _database: InServer

    @checked_call
    def __init__(
        self,
        address: str,
        *,
        anchor: str | os.PathLike[str] | None = None,
        make: bool = True,
    ) -> None:
        database = self._database = InServer(given_address(address))
        # also at exit; the database does not know this object, so that it can be let go
        self._close = weakref.finalize(self, database.close)
        try:
            database.prepare(make=make)
            self._settle_in(anchor)
        except BaseException:
            self._close()
            raise

    @property
    def address(self) -> str:
        """Where it lies; there is no password in it."""
        return str(self._database.address)

    def close(self) -> None:
        self._close()
