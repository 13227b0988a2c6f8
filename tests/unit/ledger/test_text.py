from __future__ import annotations

import pytest

from tenue.errors import InvalidArgument
from tenue.ledger.text import canonical, digest, given_text


def test_a_digest_knows_types_and_ignores_order() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest(17) != digest("17")
    assert len(digest(None)) == 64


def test_no_float_that_json_cannot_say() -> None:
    with pytest.raises(ValueError):
        canonical(float("nan"))


def test_names_in_one_spelling() -> None:
    assert given_text("cafe\u0301", "dataset") == given_text("caf\u00e9", "dataset")
    assert given_text("", "reason", empty=True) == ""


@pytest.mark.parametrize(
    "value", ["", " ", " ann", "ann ", "a\0b", "a\u2028b", "\udcff", "x" * 201, None, 3, b"x"]
)
def test_what_is_no_name(value: object) -> None:
    with pytest.raises(InvalidArgument):
        given_text(value, "dataset")
