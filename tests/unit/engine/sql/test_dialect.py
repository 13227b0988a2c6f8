"""What a dialect says unless its engine says otherwise."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.sql.dialect import Dialect
from tenue.engine.sql.whole import Whole
from tenue.errors import InvalidTable

NARROW = replace(DUCKDB, long="int8", huge=None, divide="div", alias=" AS t")


def test_texts_and_names_cannot_leave_their_quotes() -> None:
    assert DUCKDB.literal("it's") == "'it''s'"
    assert DUCKDB.quoted('hours "per" week') == '"hours ""per"" week"'


def test_doubles_are_typed_and_may_follow_any_operator() -> None:
    written = [DUCKDB.number(x) for x in (100.0, -1e-7, float("inf"))]
    assert written == ["100.0e0", "(-1e-07)", "CAST('inf' AS DOUBLE)"]


def test_a_range_gets_the_narrowest_type_that_the_engine_has() -> None:
    assert (DUCKDB.holding(0, 255), DUCKDB.holding(0, 2**63)) == ("BIGINT", "HUGEINT")
    assert NARROW.holding(-(2**63), 2**63 - 1) == "int8"
    with pytest.raises(InvalidTable, match="too many digits"):
        NARROW.holding(0, 2**63)


def test_arithmetic_is_written_in_the_words_of_the_dialect() -> None:
    assert Whole("x", -10, 10, DUCKDB).plus(1).floor_divide(4).sql == "(((x + 13) // 4) - 3)"
    assert Whole("x", -10, 10, NARROW).plus(1).floor_divide(4).sql == "(((x + 13) div 4) - 3)"
    assert Whole("x", 0, 10, NARROW).clamp(1, 2).sql.endswith("END AS int8)")
    with pytest.raises(InvalidTable):
        Whole("x", 0, 2**62, NARROW).times(4)


def test_a_select_in_brackets_gets_the_alias_that_an_engine_needs() -> None:
    assert DUCKDB.nested("SELECT 1") == "(SELECT 1)"
    assert NARROW.nested("SELECT 1") == "(SELECT 1) AS t"


def test_a_dialect_cannot_be_changed_or_left_half_said() -> None:
    with pytest.raises(FrozenInstanceError):
        DUCKDB.long = "TEXT"  # type: ignore[misc]
    with pytest.raises(TypeError):
        Dialect(**dict.fromkeys(("long", "double", "text"), ""))  # type: ignore[abstract]
