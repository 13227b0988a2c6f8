from __future__ import annotations

import pytest

from tenue.errors import InvalidArgument
from tenue.ledger.postgres.address import USUAL, given_address


def test_the_schema_stands_after_the_sign() -> None:
    found = given_address("postgresql://ann@db.example:5433/books?sslmode=require#Our%20books")
    assert found.server == "postgresql://ann@db.example:5433/books?sslmode=require"
    assert found.schema == "Our books"
    assert given_address("postgresql:///books?host=/run").schema == USUAL


@pytest.mark.parametrize(
    "given",
    [
        "postgresql://ann:s3cret@db/books",
        "postgresql://db/books?password=s3cret",
        "postgresql://db/books?passfile=s3cret",
    ],
)
def test_no_password_is_taken_or_repeated(given: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        given_address(given)
    assert refusal.value.code == "password-in-address"
    assert "s3cret" not in str(refusal.value)


@pytest.mark.parametrize("given", ["books.ledger", "postgresql://[s3cret"])
def test_what_libpq_does_not_read_is_refused_without_being_repeated(given: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        given_address(given)
    assert "s3cret" not in str(refusal.value)


@pytest.mark.parametrize("schema", ["pg_catalog", "x" * 64, "a%00b", "ä" * 32])
def test_a_name_that_the_server_would_change_is_refused(schema: str) -> None:
    with pytest.raises(InvalidArgument, match="after #"):
        given_address(f"postgresql://db/books#{schema}")
