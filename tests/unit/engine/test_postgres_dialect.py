"""What PostgreSQL spells differently; `tests/properties/test_engines_agree.py` runs it."""

from __future__ import annotations

import math

import pytest

from tenue.engine.postgres.dialect import DECIMAL, POSTGRES, storage
from tenue.engine.storage import Fixed, Floating, Moment, Opaque, Text


def test_doubles_have_their_type() -> None:
    assert POSTGRES.number(1.5) == "CAST('1.5' AS DOUBLE PRECISION)"
    assert "'-Infinity'" in POSTGRES.number(-math.inf)
    assert "'NaN'" in POSTGRES.number(math.nan)


def test_wide_quotients_are_cut_to_whole_numbers() -> None:
    assert POSTGRES.quotient("x", 7, POSTGRES.long) == "(x / 7)"
    assert POSTGRES.quotient("x", 7, "NUMERIC") == "div(x, 7)"


def test_many_categories_are_looked_up_and_few_compared() -> None:
    few = POSTGRES.words(["a", "o'x"])
    assert POSTGRES.category("t", few) == "CASE t WHEN 'a' THEN 0 WHEN 'o''x' THEN 1 END"
    many = POSTGRES.words([str(i) for i in range(100)])
    assert "jsonb" in POSTGRES.category("t", many)


def test_no_literal_holds_what_the_server_cannot() -> None:
    assert POSTGRES.literal("a\0b") == "CAST(NULL AS text)"


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("numeric(38,10)", Fixed(38, 10)),
        ("numeric(39,10)", DECIMAL),
        ("numeric(5,-2)", DECIMAL),
        ("character varying(7)", Text()),
        ("character(7)", Text("character")),
        ("real", Floating(single=True)),
        ("timestamp(3) without time zone", Moment("timestamp")),
        ("integer[]", Opaque()),
        ("citext", Opaque()),
    ],
)
def test_types(name: str, stored: object) -> None:
    assert storage(name) == stored
    assert storage("mood", enumeration=True) == Text("ENUM")
