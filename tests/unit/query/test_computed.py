"""What a computed column is to a question: bounds, grid, whether it may be missing."""

from __future__ import annotations

from fractions import Fraction

from tenue.engine.formula import Choice, Computed, Steps, Sum
from tenue.engine.predicate import Within
from tenue.query.computed import asked_of, column_of, seen_by
from tenue.query.question import ComputedColumn, Question
from tenue.schema import Category, Number
from unit.engine.test_formula import TABLE

HALF = Fraction(1, 2)


def number(computed: ComputedColumn) -> Number:
    found = column_of(computed, TABLE)
    assert isinstance(found, Number)
    return found


def test_bounds_and_grid_follow_from_the_formula() -> None:
    found = number(ComputedColumn("(f)", Sum(1, ((-2, Steps("x")),)), HALF))
    assert (found.low, found.high, found.grid) == (-HALF * 5, HALF * 5, HALF)
    assert found.missing is None


def test_a_column_of_columns_that_are_never_missing_is_never_missing() -> None:
    assert number(ComputedColumn("(f)", Steps("y"), HALF)).missing is not None
    choice = Choice(((Within("x", 0, 1), Sum(1)),), Sum(0))
    assert number(ComputedColumn("(f)", choice)).missing is not None
    assert number(ComputedColumn("(f)", Choice(choice.cases))).missing is None


def test_one_value_makes_a_range_with_0_in_it() -> None:
    for value, ends in ((3, (0, 3)), (-3, (-3, 0)), (0, (0, 1))):
        found = number(ComputedColumn("(f)", Choice(((Within("x", 0, 1), Sum(value)),))))
        assert (found.low, found.high) == ends


def test_labels_make_a_category() -> None:
    found = column_of(ComputedColumn("(f)", Sum(0), labels=("z", "a")), TABLE)
    assert isinstance(found, Category)
    assert found.categories == ("z", "a")


def test_a_question_sees_declared_and_computed_columns() -> None:
    question = Question("t", ())
    assert seen_by(question, TABLE) is TABLE
    computed = ComputedColumn("(f)", Steps("x"), Fraction(2))
    more = Question("t", (), computed=(computed,))
    seen = seen_by(more, TABLE)
    assert list(seen.columns) == [*TABLE.columns, "(f)"]
    assert "(f)" not in TABLE.columns
    assert asked_of(more) == (Computed("(f)", Steps("x")),)
