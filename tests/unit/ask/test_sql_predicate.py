"""WHERE, and its normal form."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.ask.sql.logic import (
    Absent,
    Held,
    Rows,
    Several,
    domain,
    held,
    negated,
    origin,
    render_where,
    several,
    written,
)
from tenue.ask.sql.predicate import is_like
from tenue.engine.computed_column import All, Among, Any_, Missing, Not, Predicate, Within
from tenue.errors import InvalidArgument, InvalidQuestion
from tenue.schema import Boolean, Bounded, Category, Column, Date, Number
from tenue.taxonomy import Taxonomy
from unit.ask.asked import CENSUS, refused_where, where

AGE = Number(name="age", role="other", low=Fraction(-3), high=Fraction(4), grid=Fraction(1))
DAY = Date(name="day", role="other", low=Fraction(10), high=Fraction(16), grid=Fraction(2))
SEX = Category(name="sex", role="other", taxonomy=Taxonomy.flat(["f", "m", "x"]), stated=())
JOB = Boolean(name="job", role="other")
COLUMNS: dict[str, Column] = {column.name: column for column in (AGE, DAY, SEX, JOB)}


def test_domains_are_whole_numbers_from_the_origin() -> None:
    assert domain(AGE) == (-3, 4)
    assert (domain(DAY), origin(DAY), origin(AGE)) == ((0, 3), 10, 0)
    assert domain(SEX) == (0, 2)
    assert domain(JOB) == (0, 1)


def test_spans_are_cut_joined_and_put_in_order() -> None:
    assert held(AGE, (3, 9), (-9, -2), (-1, 0), (2, 1)).spans == ((-3, 0), (3, 4))
    assert held(AGE, (None, None)).spans == ((-3, 4),)
    assert held(AGE).spans == ()
    assert held(AGE, (7, None)).spans == ()


@pytest.mark.parametrize(
    ("rows", "predicate"),
    [
        (held(AGE, (0, 2)), Within("age", 0, 2)),
        (held(AGE, (None, 2)), Within("age", None, 2)),
        (held(AGE, (0, None)), Within("age", 0, None)),
        (held(AGE, (None, None)), Within("age", None, None)),
        (held(AGE), Within("age", 1, 0)),
        (held(AGE, (None, 0), (2, None)), Not(Within("age", 1, 1))),
        (held(AGE, (-2, 0), (2, 3)), Any_((Within("age", -2, 0), Within("age", 2, 3)))),
        (held(AGE, (None, 0), (2, 3)), Any_((Within("age", 2, 3), Within("age", None, 0)))),
        (
            held(AGE, (None, -2), (0, 1), (3, None)),
            All((Not(Within("age", -1, -1)), Not(Within("age", 2, 2)))),
        ),
        (held(SEX, (2, 2), (0, 0)), Among("sex", ("f", "x"))),
        (held(SEX), Among("sex", ())),
        (held(JOB, (0, 1)), Among("job", (False, True))),
        (Absent("age"), Missing("age")),
        (negated(Absent("age")), Not(Missing("age"))),
    ],
)
def test_each_set_has_one_predicate(rows: Rows, predicate: Predicate) -> None:
    assert written(rows, COLUMNS) == predicate


def test_what_is_said_of_one_column_is_said_once() -> None:
    above, below = held(AGE, (0, None)), held(AGE, (None, 2))
    assert several(True, [above, below]) == held(AGE, (0, 2))
    assert several(False, [above, below]) == held(AGE, (None, None))
    inner = several(False, [above, held(JOB, (1, 1))])
    assert isinstance(inner, Several)
    both = several(True, [below, inner, inner, several(True, [above, inner])])
    assert both == several(True, [inner, held(AGE, (0, 2))])


def test_order_does_not_matter() -> None:
    parts = [held(AGE, (0, 1)), held(JOB, (1, 1)), Absent("sex"), held(SEX, (0, 0))]
    for every in (True, False):
        found = {several(every, order) for order in itertools.permutations(parts)}
        assert len(found) == 1


def test_a_normal_form_may_have_56_levels() -> None:
    rows: Rows = held(JOB, (1, 1))
    for depth in range(55):
        column = AGE if depth % 2 else DAY
        rows = several(depth % 2 == 0, [held(column, (1, depth // 2 % 2 + 1)), rows])
    written(rows, COLUMNS)
    deeper = several(False, [Absent("sex"), several(True, [Absent("age"), rows])])
    with pytest.raises(InvalidQuestion):
        written(deeper, COLUMNS)


# -- Kleene's logic, on every row of a small table

VALUES: dict[str, list[int | None]] = {
    name: [None, *range(domain(column)[0], domain(column)[1] + 1)]
    for name, column in COLUMNS.items()
}


def leaves() -> st.SearchStrategy[Rows]:
    absent = st.builds(Absent, st.sampled_from(list(COLUMNS)), st.booleans())
    ends = st.integers(-5, 6) | st.none()
    spans = st.lists(st.tuples(ends, ends), max_size=3)
    sets = st.builds(lambda c, s: held(c, *s), st.sampled_from(list(COLUMNS.values())), spans)
    return absent | sets


Tree = tuple[str, object]
TREES: st.SearchStrategy[Tree] = st.recursive(
    leaves().map(lambda leaf: ("leaf", leaf)),
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.just("and"), st.lists(inner, min_size=1, max_size=3)),
        st.tuples(st.just("or"), st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=6,
)


def normal(tree: Tree) -> Rows:
    kind, inside = tree
    if kind == "leaf":
        assert isinstance(inside, Held | Absent)
        return inside
    if kind == "not":
        return negated(normal(inside))  # type: ignore[arg-type]
    return several(kind == "and", [normal(part) for part in inside])  # type: ignore[attr-defined]


def plain(tree: Tree, row: dict[str, int | None]) -> bool | None:
    """What the tree means, without any normal form."""
    kind, inside = tree
    if isinstance(inside, Absent):
        return (row[inside.column] is None) == inside.absent
    if isinstance(inside, Held):
        value = row[inside.column]
        return None if value is None else any(f <= value <= l for f, l in inside.spans)
    if kind == "not":
        found = plain(inside, row)  # type: ignore[arg-type]
        return None if found is None else not found
    parts = [plain(part, row) for part in inside]  # type: ignore[attr-defined]
    return _kleene(kind == "and", parts)


def _kleene(every: bool, parts: list[bool | None]) -> bool | None:
    if (not every) in parts:
        return not every
    return None if None in parts else every


def asked(predicate: Predicate, row: dict[str, int | None]) -> bool | None:
    """What an engine understands."""
    if isinstance(predicate, Missing):
        return row[predicate.column] is None
    if isinstance(predicate, Not):
        inner = asked(predicate.part, row)
        return None if inner is None else not inner
    if isinstance(predicate, All | Any_):
        parts = [asked(part, row) for part in predicate.parts]
        return _kleene(isinstance(predicate, All), parts)
    value = row[predicate.column]
    if value is None:
        return None
    if isinstance(predicate, Among):
        names: tuple[str | bool, ...] = (False, True)
        column = COLUMNS[predicate.column]
        if isinstance(column, Category):
            names = column.categories
        return names[value] in predicate.values
    first, last = predicate.first, predicate.last
    return (first is None or first <= value) and (last is None or value <= last)


def rows_of(tree: Tree) -> Iterator[dict[str, int | None]]:
    """Every row over the columns that the tree uses, which is all that can matter."""
    text = repr(tree)
    used = [name for name in COLUMNS if f"'{name}'" in text]
    for values in itertools.product(*(VALUES[name] for name in used)):
        yield dict(zip(used, values, strict=True))


@given(TREES)
def test_the_normal_form_means_the_same_unknown_included(tree: Tree) -> None:
    predicate = written(normal(tree), COLUMNS)
    for row in rows_of(tree):
        assert asked(predicate, row) == plain(tree, row)


@given(TREES)
def test_double_negation_and_repetition_change_nothing(tree: Tree) -> None:
    rows = normal(tree)
    assert negated(negated(rows)) == rows
    assert several(True, [rows, rows]) == rows
    assert several(False, [rows]) == rows


def test_a_complement_that_kept_missing_values_would_be_caught() -> None:
    rows = negated(held(AGE, (1, 1)))
    wrong = several(False, [rows, Absent("age")])
    assert asked(written(wrong, COLUMNS), {"age": None}) is not plain(
        ("not", ("leaf", held(AGE, (1, 1)))), {"age": None}
    )


def test_bounded_columns_are_all_that_have_steps() -> None:
    assert [name for name, column in COLUMNS.items() if isinstance(column, Bounded)] == [
        "age",
        "day",
    ]


# -- The text of a condition -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "age >= 0",
        "age > 120",
        "age = 3",
        "age <> 3",
        "age <= 3",
        "age >= 3",
        "age BETWEEN 3 AND 5",
        "NOT age BETWEEN 3 AND 5",
        "age IN (3, 5, 7)",
        "age NOT IN (3, 5, 7)",
        "age BETWEEN 10 AND 20 OR age IN (3, 5)",
        "rate >= -0.3",
        "born = DATE '1900-01-08'",
        "seen <= TIMESTAMP '2020-01-01 23:59:30'",
        "sex = 'Male'",
        "occupation IN ('Sales', 'it''s 100%')",
        "occupation LIKE ''",
        "employed = TRUE",
        "employed IN (FALSE, TRUE)",
        "employed = TRUE AND employed = FALSE",
        "age IS NULL",
        "age IS NOT NULL",
        "employed = TRUE AND sex = 'Male'",
        "employed = TRUE AND (age IS NULL OR age <= 3)",
        "employed = TRUE AND age <= 3 OR sex = 'Male'",
    ],
)
def test_a_canonical_condition_stays_as_it_is(text: str) -> None:
    predicate = where(text)
    assert isinstance(predicate, Within | Among | Not | All | Any_) or "NULL" in text
    assert render_where(predicate, CENSUS) == text  # type: ignore[arg-type]


def test_conditions_that_are_not_in_normal_form_keep_their_meaning() -> None:
    odd = Not(All((Within("age", 3, None), Not(Any_((Within("age", 5, 5), Among("sex", ())))))))
    text = render_where(odd, CENSUS)
    assert where(text) == where("age < 3 OR age = 5 OR sex LIKE ''")


def test_a_predicate_of_another_schema_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        render_where(Within("sex", 1, 2), CENSUS)
    with pytest.raises(InvalidArgument):
        render_where(Within("salary", 1, 2), CENSUS)


# -- Conditions become whole grid steps and declared categories ------------------------------------


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
@given(value=st.fractions(-3, 3, max_denominator=20).map(lambda f: Fraction(round(f * 100), 100)))
def test_steps_keep_exactly_the_values_that_compare(operator: str, value: Fraction) -> None:
    compare = {"=": "__eq__", "<>": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__"}
    text = f"rate {operator} {float(value)}"
    found = str(where(text))
    steps = range(-10, 11)
    wanted = [s for s in steps if getattr(Fraction(s, 10), compare.get(operator, "__ge__"))(value)]
    other = " OR ".join(f"rate = {s / 10}" for s in wanted) or "rate > 1"
    assert found == str(where(other))


@given(st.integers(-40, 60), st.sampled_from(["<", "<=", ">", ">=", "="]))
def test_days_off_the_grid_fall_between_its_steps(days: int, operator: str) -> None:
    day = date(1900, 1, 1) + timedelta(days=days)
    kept = [
        step
        for step in range(20)
        if {
            "<": 7 * step < days,
            "<=": 7 * step <= days,
            ">": 7 * step > days,
            ">=": 7 * step >= days,
            "=": 7 * step == days,
        }[operator]
    ]
    found = where(f"born {operator} '{day}'")
    assert isinstance(found, Within)
    first = 0 if found.first is None else found.first
    last = 19 if found.last is None else found.last
    assert [step for step in range(20) if first <= step <= last] == kept


@given(st.text("ab%_", max_size=7), st.text("ab", max_size=7))
def test_like_means_what_a_pattern_means(pattern: str, text: str) -> None:
    expression = "".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in pattern)
    assert is_like(text, pattern) == bool(re.fullmatch(expression, text, re.DOTALL))


def test_like_is_not_slow_on_patterns_that_break_regular_expressions() -> None:
    assert not is_like("a" * 2_000, "%a" * 300 + "b")
    assert is_like("a\nb", "a_b")


def test_like_is_resolved_among_the_declared_categories() -> None:
    assert where("occupation LIKE '%-%'") == Among(
        "occupation", ("Tech-support", "Farming-fishing")
    )
    assert where("occupation LIKE 'nobody'") == Among("occupation", ())
    assert where("NOT occupation LIKE 'nobody'") == where("occupation LIKE '%'")
    refused_where("occupation LIKE 'x!%' ESCAPE '!'", "pattern")
    refused_where("occupation ILIKE 'sales'", "pattern")


def test_a_category_is_declared_or_refused_with_the_nearest() -> None:
    refusal = refused_where("occupation = 'Tech support'", "unknown-category")
    assert refusal.fix.startswith("Did you mean `Tech-support`?")


def test_there_are_1_000_parts_at_most() -> None:
    values = ", ".join(str(n % 121) for n in range(1_000))
    assert where(f"age IN ({values})") == Within("age", None, None)
    refused_where(f"age IN ({values}, 1)", "too-many-parts")
    assert where(" OR ".join(["age = 3"] * 1_000)) == Within("age", 3, 3)
    refused_where(" OR ".join(["age = 3"] * 1_001), "too-many-parts")
    refused_where(f"age IN ({values}) AND employed", "too-many-parts")


def test_a_list_of_categories_may_be_long() -> None:
    listed = ", ".join(["'Sales'"] * 5_000)
    assert where(f"occupation IN ({listed})") == Among("occupation", ("Sales",))


def test_refusals_say_what_stands_in_the_way() -> None:
    what = {
        "age > income": "A condition compares two columns.",
        "SIGN(age) > 3": "A condition has a function.",
        "1 + 1 > 3": "A condition computes something.",
        "3 > 2": "A condition is about constants only.",
        "(age > 3) = TRUE": "A condition stands inside another comparison.",
        "age": "`age` stands alone as a condition.",
        "age IS TRUE": "`age` stands alone as a condition.",
    }
    for condition, sentence in what.items():
        assert refused_where(condition, "condition").what == sentence
    refused_where("age > (SELECT 3)", "subquery")
    refused_where("age IN (SELECT 3)", "subquery")
    refused_where("employed IS UNKNOWN", "is-true")
