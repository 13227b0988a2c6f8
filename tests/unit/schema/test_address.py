from __future__ import annotations

import pytest

from tenue.errors import InvalidArgument
from tenue.schema.address import is_address, without_password


def test_an_address_is_told_from_a_path() -> None:
    assert is_address("postgresql://db/books")
    assert is_address("POSTGRES://db/books")
    assert not is_address("postgresql/books.ledger")
    assert not is_address(None)


@pytest.mark.parametrize(
    "given",
    [
        "postgresql://ann:s3cret@db/books",
        "postgresql://ann:@db/books",
        "postgresql://db/books?sslmode=require&PASSWORD=s3cret",
        "postgresql://db/books?pass%77ord=s3cret",
        "postgresql://db/books?passfile=s3cret",
    ],
)
def test_a_password_is_neither_taken_nor_repeated(given: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        without_password(given)
    assert refusal.value.code == "password-in-address"
    assert "s3cret" not in str(refusal.value)


def test_an_address_without_one_is_left_as_it_is() -> None:
    for given in ("postgresql:///books?host=/run/pg", "postgres://ann@h1,h2:5433/books"):
        assert without_password(given) == given
    with pytest.raises(InvalidArgument) as refusal:
        without_password("postgresql://[s3cret")
    assert "s3cret" not in str(refusal.value)
