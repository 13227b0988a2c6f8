"""Conditions are values that name their columns."""

from __future__ import annotations

from tenue.engine.predicate import All, Among, Any_, Missing, Not, Within, columns_in


def test_every_column_of_a_condition_is_named() -> None:
    condition = All((Within("x", 1, None), Not(Any_((Missing("y"), Among("c", ("a",)))))))
    assert list(columns_in(condition)) == ["x", "y", "c"]
