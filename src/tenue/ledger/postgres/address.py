"""Where a ledger lies in a PostgreSQL server: any libpq address, with a schema after `#`."""

from __future__ import annotations

from urllib.parse import unquote, urldefrag

from ...errors import refuse
from ...frozen import dataclass

SCHEMES = ("postgresql://", "postgres://")
USUAL = "tenue_ledger"
"""The schema of a ledger whose address names none."""
_LONGEST = 63  # PostgreSQL cuts longer names, and two ledgers might become one


@dataclass(frozen=True)
class Address:
    """The server and database, as libpq reads them, and the schema that holds the tables.

    There is no password in it: libpq finds one in the environment or in its password file.
    """

    server: str
    schema: str

    def __str__(self) -> str:
        return f"{self.server}#{self.schema}"


def is_address(given: object) -> bool:
    """Whether a text is the address of a PostgreSQL database, and no path."""
    return isinstance(given, str) and given.lower().startswith(SCHEMES)


def given_address(given: object) -> Address:
    """The address; refused if it is none, or holds a password.

    Example
        >>> str(given_address("postgresql://ann@db.example/books"))
        'postgresql://ann@db.example/books#tenue_ledger'
    """
    if not isinstance(given, str) or not is_address(given):
        raise refuse("ledger.is-no-postgresql-address")
    server, fragment = urldefrag(given)
    schema = unquote(fragment) or USUAL
    if not schema.isprintable() or len(schema.encode()) > _LONGEST or schema.startswith("pg_"):
        raise refuse("ledger.is-no-name-of-a-schema", most=_LONGEST)
    return Address(without_password(server), schema)


def without_password(server: str) -> str:
    """The address of a database; refused if libpq does not read it, or if it holds a password."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise refuse("ledger.postgresql-needs-psycopg") from None
    try:
        parts = conninfo_to_dict(server)
    except ProgrammingError:  # its words may quote what was meant as a password
        parts = None
    if parts is None:
        raise refuse("ledger.is-no-postgresql-address")
    if "password" in parts or "passfile" in parts:
        raise refuse("ledger.address-holds-password")
    return server
