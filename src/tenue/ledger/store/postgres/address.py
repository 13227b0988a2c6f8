"""The address of a ledger in a PostgreSQL server: any libpq address, with a schema after `#`."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from ....errors import refuse
from ....schema.address import is_address, without_password

USUAL = "tenue_ledger"
"""The schema of a ledger whose address names none."""
_LONGEST = 63  # PostgreSQL truncates longer names, so two ledgers might become one


@dataclass(frozen=True)
class Address:
    """The server and database, as libpq reads them, without a password, and the schema."""

    server: str
    schema: str

    def __str__(self) -> str:
        return f"{self.server}#{self.schema}"


def given_address(given: object) -> Address:
    """The address; refused if it is invalid, or contains a password.

    Example
        >>> str(given_address("postgresql://ann@db.example/books"))
        'postgresql://ann@db.example/books#tenue_ledger'
    """
    if not isinstance(given, str) or not is_address(given):
        raise refuse("schema.invalid-postgresql-address")
    server, _, fragment = given.partition("#")
    schema = unquote(fragment) or USUAL
    if not schema.isprintable() or len(schema.encode()) > _LONGEST or schema.startswith("pg_"):
        raise refuse("ledger.invalid-ledger-schema", most=_LONGEST)
    return Address(without_password(server), schema)
