"""Private answers, one by one and together."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import tenue as tn
from tenue.ask.aggregates.reading import reach as _reach
from tenue.ask.answers import Answers
from tenue.ask.plan.planner import make_plan
from tenue.ask.question import Arithmetic, Comparison, KeyOutput, Order, Output, Question
from tenue.ask.release import Released
from tenue.engine.request import Group
from tenue.errors import InvalidArgument
from unit.ask.stated import AVG, BY_REGION, COUNT, HALF, MEAN, ONE_COUNT, SUM, answer, asked, schema


def region_cells(question: Question) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Released components that are all the same within a cell: 30 for North, 70 for South."""
    plan = make_plan(question, schema(), HALF)
    return tuple(tuple((n,) * len(part.components) for part in plan.parts) for n in (30, 70))


def test_one_cell_is_a_scalar_and_one_row_a_dict() -> None:
    one = answer(ONE_COUNT, ((42,),))
    assert one.value == 42
    assert isinstance(one.value, int)
    assert one.exact == 42
    low, high = one.interval(0.95)
    assert low < 42 < high
    assert one.expected_error > 1
    two = answer(asked(Output("n", COUNT), Output("half", Arithmetic("/", COUNT, COUNT))), ((42,),))
    assert two.value == {"n": 42, "half": 1}
    assert set(two.interval(0.9)) == {"n", "half"}


def test_what_is_printed_holds_whenever_the_interval_does() -> None:
    """Half the width, put on both sides of the value, would not."""
    assert _reach(Fraction(10), (Fraction(5), Fraction(15))) == "5"
    assert _reach(Fraction(10), (Fraction(10), Fraction(30))) == "10 to 30"
    assert _reach(Fraction(0), (Fraction(0), Fraction(138_559))) == "0 to 138,559"
    assert _reach(Fraction(10), None) == ""
    assert _reach(None, None) == ""
    assert _reach(Fraction(100), (Fraction(90), Fraction("110.4"))) == "10.4", "the larger side"


def test_groups_are_rows_in_the_order_asked() -> None:
    grouped = answer(BY_REGION, *region_cells(BY_REGION))
    assert [row["region"] for row in grouped.value] == ["South", "North"]
    assert list(grouped.value[0]) == ["region", "n", "total"]
    assert len(grouped.interval(0.95)) == 2
    assert grouped.to_arrow().column_names == ["region", "n", "total"]
    assert grouped.to_pandas().shape == (2, 3)
    assert grouped.to_polars().shape == (2, 3)


def test_having_and_limit_act_on_the_noisy_values() -> None:
    kept = asked(
        KeyOutput("region", 0),
        Output("n", COUNT),
        keys=(Group("region", 2),),
        having=(Comparison("n", ">", Fraction(50)),),
    )
    assert [r["region"] for r in answer(kept, ((30,),), ((70,),)).value] == ["South"]
    first = asked(
        KeyOutput("region", 0),
        Output("n", COUNT),
        keys=(Group("region", 2),),
        order=(Order("n", descending=True),),
        limit=1,
    )
    assert [r["n"] for r in answer(first, ((30,),), ((70,),)).value] == [70]
    named = asked(
        KeyOutput("region", 0),
        Output("n", COUNT),
        keys=(Group("region", 2),),
        having=(Comparison("region", "<>", "South"),),
    )
    assert [r["region"] for r in answer(named, ((30,),), ((70,),)).value] == ["North"]


def test_a_zero_divisor_is_undefined_not_an_error() -> None:
    ratio = asked(Output("r", Arithmetic("/", COUNT, COUNT)))
    empty = answer(ratio, ((0,),))
    assert empty.value is None
    assert empty.interval(0.95) is None
    assert "undefined" in str(empty)


def test_means_tell_their_error_with_the_answer() -> None:
    mean = answer(MEAN, ((60_000, 40_000),))
    assert mean.value == 400
    assert 0 < mean.expected_error < 50


def test_released_numbers_come_back_from_the_ledger() -> None:
    released = Released((((1, -2), (3,)), ((10**30, 5), (6,))), rows=7)
    assert Released.from_bytes(released.to_bytes()) == released


def test_other_formats_escape_and_agree() -> None:
    one = answer(ONE_COUNT, ((42,),))
    given = json.loads(one.to_json())
    assert given["value"] == 42
    assert given["price"] == "0.5"
    assert given["certificate"]["promise"]["epsilon"] == "0.5"
    assert "<td>42</td>" in one._repr_html_()
    assert "42" in str(one)
    assert "epsilon 0.5" in str(one)


def test_several_keys_run_like_an_odometer() -> None:
    both = asked(
        KeyOutput("region", 0),
        KeyOutput("well", 1),
        Output("n", COUNT),
        keys=(Group("region", 2), Group("well", 2)),
    )
    rows = answer(both, *(((n,),) for n in range(4))).value
    assert [(r["region"], r["well"], r["n"]) for r in rows] == [
        ("North", False, 0),
        ("North", True, 1),
        ("South", False, 2),
        ("South", True, 3),
    ]


def test_sums_are_in_units_of_the_column() -> None:
    total = asked(Output("s", SUM))
    plan = make_plan(total, schema(), HALF)
    assert len(plan.parts[0].components) == 1
    assert answer(total, ((7,),)).value == 70  # seven steps of ten
    assert answer(asked(Output("m", AVG)), ((50, 50),)).value == 500


def test_a_data_frame_may_have_the_ends_of_its_intervals() -> None:
    grouped = answer(BY_REGION, *region_cells(BY_REGION))
    frame = grouped.to_pandas(interval=0.95)
    assert list(frame) == ["region", "n", "n_low", "n_high", "total", "total_low", "total_high"]
    assert frame["n"].between(frame["n_low"], frame["n_high"]).all()
    assert [(row["n_low"], row["n_high"]) for row in frame.to_dict("records")] == [
        row["n"] for row in grouped.interval(0.95)
    ]
    named = asked(Output("n", COUNT), Output("n_low", AVG))
    cells = tuple((7,) * len(p.components) for p in make_plan(named, schema(), HALF).parts)
    assert list(answer(named, cells).to_pandas(interval=0.9)) == [
        *("n", "n_low_", "n_high"),
        *("n_low", "n_low_low", "n_low_high", "n_low_too_noisy"),
    ]
    with pytest.raises(InvalidArgument):
        grouped.to_pandas(interval=2)


# -- Answers that were asked together: what is shown of them ---------------------------------------


def test_notebooks_get_escaped_tables_of_plans_and_answers() -> None:
    evil = asked(Output("<b>", COUNT))
    one = answer(evil, ((42,),))
    for shown in (one, one.plan, Answers([one, one], Fraction(1, 2), 0.25)):
        page = shown._repr_html_()
        assert page.startswith(("<table>", "<p>"))
        assert "&lt;b&gt;" in page
        assert "<b>" not in page
    assert "with 25% less variance" in Answers([one, one], Fraction(1), 0.25)._repr_html_()
    assert "discrete Laplace" in one.plan._repr_html_()


def test_what_is_said_of_every_answer_is_said_once() -> None:
    one, other = answer(ONE_COUNT, ((42,),)), answer(ONE_COUNT, ((7,),))
    said = str(Answers([one, other], Fraction(1), 0.5))
    assert said.count("margin of error") == said.count("Cost:") == 1
    assert said.index("42") < said.index("7") < said.index("margin of error") < said.index("Cost:")
    assert "for 2 answers together (discrete Laplace), with 50% less" in said
    assert str(Answers([one], Fraction(1, 2), 0.0)).endswith(
        "Cost: epsilon 0.5 (discrete Laplace)."
    )


def test_answers_asked_together_name_their_price_once() -> None:
    """The mutant: a notebook repeats it below every answer."""
    table = pd.DataFrame({"region": ["North", "South"] * 50, "age": 30})
    many = ["SELECT COUNT(*) AS n FROM people", "SELECT MEDIAN(age) AS m FROM people"]
    sets = "SELECT region, MEDIAN(age) AS m, COUNT(*) AS n FROM people GROUP BY ROLLUP(region)"
    given: dict[str, Any] = {
        "table": {"name": "people", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {
            "age": {"type": "number", "bounds": [18, 90]},
            "region": {"type": "category", "categories": ["North", "South"]},
        },
        "budget": {"total": 9},
    }
    with tn.protect(table, schema=given, ledger=tn.ledger.Memory()) as data:
        asked_together: list[Any] = [data.ask_many(many, epsilon=1), data.ask(sets, epsilon=1)]
        for found in asked_together:
            for text in (str(found), found._repr_html_()):
                assert text.count("Cost:") == 1
        alone: Any = data.ask(many[0], epsilon=1)
        prices = json.loads(data.ask_many(many, epsilon=1).to_json())["answers"]
    assert alone._repr_html_().count("Cost:") == 1
    assert [one["price_for_answers"] for one in prices] == [2, 2]
