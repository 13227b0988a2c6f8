"""A question understood, its cells, its certificate, its price."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import pytest

import tenue as tn
from tenue.ask.cells import Row, arranged, cell_labels, in_64_bits, key_labels
from tenue.ask.certify import SPREAD, assumptions_of, certify
from tenue.ask.dataset import Opening, refuse_other_rows
from tenue.ask.explain import plan_for
from tenue.ask.paid_request import Terms, affordable, inquire, plan_identity
from tenue.ask.plan.plan import Plan
from tenue.ask.plan.planner import make_plan
from tenue.ask.question import (
    Aggregate,
    Arithmetic,
    Comparison,
    ComputedColumn,
    Constant,
    Order,
    Output,
    Question,
    column_of,
    engine_columns,
    seen_by,
)
from tenue.ask.release import Released
from tenue.engine.computed_column import Choice, Computed, Steps, Sum, Within
from tenue.engine.contract import Validated
from tenue.engine.request import Bin, Calendar, Group
from tenue.errors import InvalidArgument, Refused
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Category, Number, Schema
from unit.ask.asked import CENSUS
from unit.ask.stated import AVG, BY_AGE, BY_REGION, MEAN, ONE_COUNT, SUM, asked
from unit.ask.stated import COUNT as CELLS_COUNT
from unit.ask.stated import COUNT as QUESTION_COUNT
from unit.ask.stated import schema as cells_schema
from unit.ask.stated import schema as certify_schema
from unit.engine.test_request import TABLE


def test_the_canonical_text_follows_the_meaning() -> None:
    same = Question("people", (Output("n", Aggregate("count")),))
    assert same == ONE_COUNT
    assert same.canonical == ONE_COUNT.canonical
    assert asked(Output("m", QUESTION_COUNT)).canonical != ONE_COUNT.canonical
    assert BY_REGION.canonical != ONE_COUNT.canonical


def test_cells_multiply() -> None:
    assert ONE_COUNT.cells == 1
    keys = (Group("region", 2), Bin("age", 10, 1, 9))
    assert asked(Output("n", QUESTION_COUNT), keys=keys).cells == 18


def test_aggregates_are_found_once_in_order() -> None:
    ratio = Arithmetic("/", SUM, Arithmetic("+", QUESTION_COUNT, Constant(Fraction(1))))
    question = asked(Output("r", ratio), Output("s", SUM), Output("a", AVG))
    assert question.aggregates() == (SUM, QUESTION_COUNT, AVG)


# -- What a computed column is to a question: bounds, grid, whether it may be missing --------------

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
    assert engine_columns(more.computed) == (Computed("(f)", Steps("x")),)


# -- The cells of an answer: their names, and which are shown in which order -----------------------


@pytest.mark.parametrize(
    ("part", "first", "expected"),
    [
        ("year", 2020, date(2020, 1, 1)),
        ("quarter", 2020 * 4 + 1, date(2020, 4, 1)),
        ("month", 2020 * 12 + 1, date(2020, 2, 1)),
        ("week", 2610, date(2020, 1, 6)),
        ("day", 18262, date(2020, 1, 1)),
    ],
)
def test_calendar_cells_are_called_by_their_first_day(
    part: str, first: int, expected: date
) -> None:
    assert key_labels(Calendar("born", part, first, 1), cells_schema()) == [expected]  # type: ignore[arg-type]
    assert part != "week" or expected.weekday() == 0


def test_bins_are_called_by_their_start() -> None:
    assert key_labels(BY_AGE.keys[0], cells_schema()) == [10, 20, 30, 40, 50, 60, 70, 80, 90]
    assert key_labels(Bin("income", 25, 0, 3), cells_schema()) == [0, 250, 500]
    assert key_labels(Group("well", 2), cells_schema()) == [False, True]


def test_the_last_key_runs_fastest() -> None:
    both = replace(asked(Output("n", CELLS_COUNT)), keys=(BY_REGION.keys[0], Group("well", 2)))
    labels = cell_labels(both, cells_schema())
    assert [label[1] for label in labels[:4]] == [False, True, False, True]
    assert labels[0][0] == labels[1][0] != labels[2][0]
    assert cell_labels(asked(Output("n", CELLS_COUNT)), cells_schema()) == [()]


def test_what_is_not_defined_holds_for_nothing_and_comes_last() -> None:
    rows: list[Row] = [(0, {"n": None}), (1, {"n": Fraction(3)}), (2, {"n": Fraction(7)})]
    question = asked(Output("n", CELLS_COUNT))
    ordered = replace(question, order=(Order("n", descending=True),))
    assert [cell for cell, _ in arranged(rows, ordered)] == [2, 1, 0]
    assert [cell for cell, _ in arranged(rows, replace(ordered, limit=1))] == [2]
    few = replace(question, having=(Comparison("n", "<=", Fraction(3)),))
    assert [cell for cell, _ in arranged(rows, few)] == [1]


def test_days_and_hours_are_compared_as_numbers() -> None:
    rows: list[Row] = [(0, {"d": date(1970, 1, 3)}), (1, {"d": datetime(1970, 1, 1, 1)})]
    for value, kept in ((Fraction(2), [0]), (Fraction(3600), [1])):
        having = (Comparison("d", "=", value),)
        question = replace(asked(Output("n", CELLS_COUNT)), having=having)
        assert [cell for cell, _ in arranged(rows, question)] == kept


def test_whole_numbers_beyond_64_bits_become_doubles_with_their_column() -> None:
    table = {"a": [1, 2**63, None], "b": [1, -(2**63), 2**63 - 1], "c": [True, "x", 0.5]}
    assert in_64_bits(table) == {**table, "a": [1.0, 2.0**63, None]}
    assert [type(v) for v in in_64_bits(table)["b"]] == [int] * 3


# -- Certificates of answers depend on question, schema and price only -----------------------------


def test_each_kind_of_plan_is_certified() -> None:
    for question in (ONE_COUNT, MEAN, BY_REGION):
        for neighbours in ("replace", "add-or-remove"):
            described = certify_schema(neighbours)
            plan = make_plan(question, described, EpsilonDelta.of("0.25"), sql="SELECT …")
            one, two = (certify(plan, described, "seal") for _ in range(2))
            assert one == two
            assert one.promise == tn.Pure(0.25)
            assert one.neighbours == neighbours
            assert one.schema_hash == "seal"
            assert described.digest not in one.to_json()
            assert one.source
            assert any("groups" in limit for limit in one.does_not_promise)
            assert tn.Certificate.from_json(one.to_json()) == one


def test_what_is_assumed_of_the_source_is_what_is_validated() -> None:
    """Broken files are refused since they are validated: nothing may still call them uncovered."""
    described = certify_schema("replace")
    certificate = certify(
        make_plan(ONE_COUNT, described, EpsilonDelta.of("0.25"), sql="SELECT …"), described
    )
    (source,) = (text for text in certificate.assumptions if "from end to end" in text)
    assert "refuses a table that is not well formed" in source
    assert "not watched" in source
    assert "break the file's own format" not in certificate.to_json()


def test_rows_chosen_on_machines_rest_on_another_stream_and_it_is_named() -> None:
    for schema_of, named in (({"unit": "record"}, False), ({"unit": "who"}, True)):
        table = {"name": "t", "neighbours": "add-or-remove", **schema_of}
        columns = {"who": {"type": "identifier"}, "x": {"type": "number", "bounds": [0, 9]}}
        if named:
            table["rows_per_unit"] = 2
        assumed = assumptions_of(tn.Schema.from_dict({"table": table, "columns": columns}))
        assert any("SHAKE-256" in text for text in assumed) == named
    assert SPREAD not in assumptions_of(
        tn.Schema.from_dict({"table": table, "columns": columns}), ""
    )


# -- A price is whole nano-epsilon, and one that a law can be made for -----------------------------


def test_prices_are_rounded_up_to_coins() -> None:
    assert affordable("0.5") == EpsilonDelta(500_000_000)
    assert affordable("1/3") == EpsilonDelta(333_333_334)


@pytest.mark.parametrize("epsilon", [0, -1, "nan", 20_000, "1e-10", "9e-10"])
def test_what_no_law_can_be_made_for_is_refused(epsilon: object) -> None:
    with pytest.raises(InvalidArgument):
        affordable(epsilon)  # type: ignore[arg-type]


def test_what_contradicts_itself_is_refused_before_anything_is_read() -> None:
    with pytest.raises(InvalidArgument):
        Terms(individual=True, interval=0.95)
    with pytest.raises(InvalidArgument):
        Terms(individual=True, mechanism="optimal")
    with pytest.raises(InvalidArgument):
        Terms(individual=1)  # type: ignore[arg-type]


def test_a_delta_alone_is_a_belief_too() -> None:
    assert Terms(delta="1e-6").believes
    assert Terms(prior=object()).believes
    assert not Terms(epsilon=1).believes


# -- What is stored under an identity is read as what was asked, and as nothing else ---------------

COUNT = "SELECT COUNT(*) FROM census WHERE age > 40"


def planned(sql: str = COUNT, **terms: object) -> Plan:
    return plan_for(sql, CENSUS, Terms(**{"epsilon": 1, **terms}))  # type: ignore[arg-type]


def test_one_meaning_has_one_identity_and_other_meanings_have_others() -> None:
    same = plan_identity(planned(), CENSUS)
    assert plan_identity(planned("select count(*) from CENSUS where AGE > 40"), CENSUS) == same
    others = [
        planned("SELECT COUNT(*) FROM census WHERE age > 41"),
        planned(epsilon="0.5"),
        planned(minimise="absolute-error"),
    ]
    found = {plan_identity(plan, CENSUS) for plan in others}
    newer = CENSUS.replace(table={"version": "2"})
    assert len({same, *found, plan_identity(planned(), newer)}) == 5


def test_a_named_mechanism_and_a_bought_interval_are_part_of_it() -> None:
    median = "SELECT MEDIAN(age) FROM census"
    plain, bought = planned(median), planned(median, interval="0.95")
    assert plan_identity(plain, CENSUS) != plan_identity(bought, CENSUS)
    other = replace(plain, chosen=replace(plain.chosen, mechanism="another"))
    assert plan_identity(plain, CENSUS) != plan_identity(other, CENSUS)


def test_what_was_stored_before_costs_nothing() -> None:
    asked = inquire(planned(), CENSUS)
    stored = Released((((7,),),)).to_bytes()
    drawn, replayed = asked.read(stored, False), asked.read(stored, True)
    assert (drawn.price, replayed.price) == (Fraction(1), 0)
    assert drawn.value == replayed.value == 7
    assert (drawn.replayed, replayed.replayed) == (False, True)


# What the holder learns by opening a table, and that the stated number of rows is the true one.


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
    clean, before = Opening.now(schema(), Validated(5, {})), Opening(read=False)
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
    assert Opening(read=False)._repr_html_() == f"<p>{Opening(read=False)}</p>"
