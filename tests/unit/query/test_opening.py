"""What the holder learns by opening a table, and that the stated number of rows is the true one."""

from __future__ import annotations

from typing import Any

import pytest

from tenue.engine.contract import Validated
from tenue.errors import Refused
from tenue.query.opening import Opening, refuse_other_rows
from tenue.schema import Schema


def schema(neighbours: str = "replace", **table: Any) -> Schema:
    return Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": neighbours, **table},
            "columns": {"x": {"type": "number", "bounds": [0, 9]}, "d": {"type": "boolean"}},
        }
    )


def test_rows_are_as_stated_where_their_number_is_public() -> None:
    refuse_other_rows(schema(rows=60), 60)
    refuse_other_rows(schema(), 59)
    refuse_other_rows(schema("add-or-remove", rows=60), 59)
    with pytest.raises(Refused, match="states rows = 60") as refused:
        refuse_other_rows(schema(rows=60), 59)
    assert "59" not in str(refused.value)


def test_what_could_not_be_read_is_counted_by_column_and_type() -> None:
    found = Opening.now(schema(), Validated(5000, {"x": 1200, "d": 1}))
    assert found.unreadable == {"x": 1200, "d": 1}
    assert str(found) == (
        "Values that cannot be read as declared count as missing: "
        "`x` 1,200 (no number), `d` 1 (no boolean)."
    )


def test_nothing_unreadable_and_nothing_read_are_different_things() -> None:
    clean, before = Opening.now(schema(), Validated(5, {})), Opening.before()
    assert (clean.read, before.read) == (True, False)
    assert "every declared value" in str(clean)
    assert "earlier opening" in str(before)


def test_rounding_that_nobody_declared_is_said() -> None:
    found = Opening.now(schema(), Validated(5000, {}, {"x": 1200}))
    assert "`x` 1,200" in str(found)
    assert "no grid is declared" in str(found)
    assert len(found.remarks) == 1
    assert Opening.now(schema(), Validated(5, {})).remarks == ()


def test_an_opening_is_shown_as_sentences() -> None:
    found = Opening.now(schema(), Validated(5000, {"x": 1200}, {"x": 3}))
    assert repr(found) == str(found)
    assert found._repr_html_() == "".join(f"<p>{remark}</p>" for remark in found.remarks)
    assert found._repr_html_().count("<p>") == 2
    assert Opening.before()._repr_html_() == f"<p>{Opening.before()}</p>"
