"""Addresses of databases in a PostgreSQL server, without a password."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from ..errors import refuse

SCHEMES = ("postgresql://", "postgres://")
_SECRET = {"password", "passfile", "sslpassword"}


def is_address(given: object) -> bool:
    """Whether a text is the address of a PostgreSQL database, rather than a path.

    Example
        >>> is_address("postgresql://ann@db.example/books"), is_address("books.ledger")
        (True, False)
    """
    return isinstance(given, str) and given.lower().startswith(SCHEMES)


def without_password(server: str) -> str:
    """The address itself; refused if it is none, or if it contains a password.

    A password would be in the schema, the ledger, the history of commands and in messages; libpq
    reads one from the environment or its own file.
    """
    try:
        parts = urlsplit(server)
        named = {name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    except ValueError:  # its message may quote a password
        parts = None
    if parts is None or not is_address(server):
        raise refuse("schema.invalid-postgresql-address")
    if parts.password is not None or named & _SECRET:
        raise refuse("schema.password-in-address")
    return server
