"""Suggested limits and bounds."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tenue as tn
from oracle_engine import OracleEngine
from tenue.ask.limits import (
    Quantiles,
    Sought,
    Suggestion,
    certify_limits,
    inquire_limits,
    number_column,
    outwards,
    plan_limits,
    question_of,
    sought_for,
)
from tenue.ask.plan.planner import make_plan
from tenue.ask.sql.parse import parse
from tenue.engine.contract import Engine, Profile
from tenue.engine.request import Bin, ContributionRequest, Group, Window
from tenue.errors import InvalidArgument, NotPromised, OverBudget, Refused
from tenue.mechanism import rank_score
from tenue.mechanism.exponential_mechanism import Selection
from tenue.noise import Seeded
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Number, Schema
from unit.ask.test_aggregates_clip import INCOMES
from unit.ask.test_aggregates_clip import schema as bounds_schema


def test_bounds_are_rounded_outwards_and_stay_inside() -> None:
    rows = pd.DataFrame({"x": INCOMES, "c": "a"})
    with tn.protect(rows, schema=bounds_schema(), ledger=tn.ledger.Memory()) as data:
        found = data.suggest_bounds("x", epsilon=30)
        assert found.bounds == (0, 100_000)
        assert list(found.quantiles) == [Fraction(1, 20), Fraction(1, 2), Fraction(19, 20)]
        assert found.quantiles[Fraction(1, 2)] == pytest.approx(np.median(INCOMES), rel=0.01)
        assert "bounds = [0, 100000]" in str(found)
        assert found.answer.price == 30
        assert data.suggest_bounds("X", epsilon=30).answer.price == 0, "asked before"


def test_only_numbers_have_bounds_to_suggest() -> None:
    with pytest.raises(InvalidArgument):
        question_of(bounds_schema(), "c")


def test_round_numbers() -> None:
    one = Fraction(1)
    assert [outwards(Fraction(v), one) for v in (1, 3, 70, 100, 101)] == [1, 5, 100, 100, 200]
    assert outwards(Fraction(0), one) == 0


# -- Quantiles of what each person has: their exact loss, and whom they are about ------------------

QUANTILE_ONE = EpsilonDelta.of(1)
BY_GROUP = (Group("g", 2),)
EVERYTHING = Window(1, 0, 10**6, -(10**6), 10**6)
Person = tuple[tuple[str, int], ...]
ROWS = [("a", -1), ("a", 3), ("b", 3)]
PEOPLE: list[Person] = [
    rows for size in range(4) for rows in itertools.combinations_with_replacement(ROWS, size)
]


def quantile_schema(neighbours: str) -> Schema:
    table = {"name": "t", "unit": "who", "neighbours": neighbours, "rows_per_unit": 1}
    columns = {
        "who": {"type": "identifier"},
        "g": {"type": "category", "categories": ["a", "b"]},
        "x": {"type": "number", "bounds": [-1, 3]},
    }
    return Schema.from_dict({"table": table, "columns": columns})


def planned(
    neighbours: str, price: EpsilonDelta = QUANTILE_ONE, shares: Sequence[str] = ("1/3", "0.9")
) -> Quantiles:
    column = number_column(quantile_schema(neighbours), "x")
    return Quantiles(
        sought=sought_for(BY_GROUP, column, 4),
        shares=tuple(map(Fraction, shares)),
        keys=BY_GROUP,
        unit="who",
        neighbours=neighbours,
        price=price,
    )


def opened(people: Sequence[Person], neighbours: str) -> OracleEngine:
    rows = [{"who": f"p{i}", "g": g, "x": x} for i, own in enumerate(people) for g, x in own]
    return OracleEngine(quantile_schema(neighbours), rows)


def neighbouring(neighbours: str) -> Iterator[tuple[list[Person], list[Person]]]:
    """Tables that differ in one person; whoever has no rows is not there."""
    for rest in ([], [PEOPLE[4], PEOPLE[-1]]):
        for one, other in itertools.combinations(PEOPLE, 2):
            if neighbours == "replace" or () in (one, other):
                yield [one, *rest], [other, *rest]


Measured = Callable[[Quantiles, Sought, Engine], Profile]


def profile(plan: Quantiles, sought: Sought, engine: Engine) -> Profile:
    asked = (sought.contribution, plan.unit, (EVERYTHING,), sought.first, sought.last)
    return engine.contributions(ContributionRequest(*asked, keys=plan.keys))


def scores(selection: Selection, found: Profile) -> list[int]:
    """The score of every grid point."""
    told = []
    for value in range(selection.low, selection.high + 1):
        less = sum(count for v, _, count in found.values if v < value)
        up_to = sum(count for v, _, count in found.values if v <= value)
        told.append(min(selection.score.of(found.rows, less, up_to), selection.reach))
    return told


def law(selection: Selection, scored: list[int]) -> list[float]:
    """The exact law of a selection, but for rounding."""
    weights = [math.exp(-float(selection.law.fall) * score) for score in scored]
    return [weight / sum(weights) for weight in weights]


def check_loss(plan: Quantiles, measured: Measured = profile) -> None:
    """One person moves no score by more than its sensitivity, and what all quantiles together
    lose for that person is at most the price."""
    for pair in neighbouring(plan.neighbours):
        engines = [opened(people, plan.neighbours) for people in pair]
        lost = 0.0
        for sought in plan.sought:
            founds = [measured(plan, sought, engine) for engine in engines]
            for selection in plan.selections(sought):
                scored = [scores(selection, found) for found in founds]
                moved = max(abs(a - b) for a, b in zip(*scored, strict=True))
                assert moved <= selection.score.sensitivity
                one, other = (law(selection, told) for told in scored)
                lost += max(abs(math.log(p / q)) for p, q in zip(one, other, strict=True))
        assert lost <= float(plan.epsilon) + 1e-9


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_all_quantiles_together_cost_their_price(neighbours: str) -> None:
    check_loss(planned(neighbours))


def test_a_number_for_each_row_would_cost_more() -> None:
    """The mutant: quantiles over rows, of which a person has several."""

    def by_row(plan: Quantiles, sought: Sought, engine: Any) -> Profile:
        marked = [row | {"who": str(i)} for i, row in enumerate(engine.rows)]
        return profile(plan, sought, OracleEngine(engine.schema, marked))

    with pytest.raises(AssertionError):
        check_loss(planned("add-or-remove"), by_row)


def test_the_score_of_add_or_remove_would_cost_more_under_replace() -> None:
    """The mutant: Δ = max(p, 1 − p) where a number may change."""
    plan = planned("replace", shares=("1/2",))

    class Wrong(Quantiles):
        def selections(self, sought: Sought) -> list[Selection]:
            score = rank_score.quantile(self.shares[0], "add-or-remove")
            return [replace(one, score=score) for one in super().selections(sought)]

    check_loss(plan)
    with pytest.raises(AssertionError):
        check_loss(Wrong(**vars(plan)))


def test_one_price_for_all_would_cost_more() -> None:
    """The mutant: every quantile at the whole price."""

    class Wrong(Quantiles):
        @property
        def each(self) -> Fraction:
            return self.epsilon

    with pytest.raises(AssertionError):
        check_loss(Wrong(**vars(planned("add-or-remove"))))


def test_with_much_epsilon_the_quantiles_are_those_of_all_rows() -> None:
    """Ten persons with 1 to 10 rows; the schema's own limit is one row, and cuts nothing here."""
    people = [tuple([("a", 3)] * n) for n in range(1, 11)]
    plan = Quantiles(
        sought=sought_for((), number_column(quantile_schema("replace"), "x"), 100),
        shares=(Fraction(1, 4), Fraction(3, 4)),
        keys=(),
        unit="who",
        neighbours="replace",
        price=5000 * QUANTILE_ONE,
    )
    rows, largest, least = plan.choose(opened(people, "replace"))
    assert rows == [3, 8]
    assert largest == [9, 24]
    assert least == [24, 9], "of the least sums the mirror images"


def test_what_is_sought_and_on_which_grid() -> None:
    def column(low: int, high: int) -> Number:
        return Number(
            name="x", role="other", low=Fraction(low), high=Fraction(high), grid=Fraction(1, 2)
        )

    def kinds(*given: Any) -> list[tuple[str, int, int]]:
        return [(s.contribution.kind, s.first, s.last) for s in sought_for(*given)]

    assert kinds((), None, 50) == [("rows", 1, 50)]
    assert kinds(BY_GROUP, None, 50) == [("rows", 1, 50), ("cells", 1, 2)]
    assert kinds((Bin("x", 1, 0, 80),), None, 50) == [("rows", 1, 50), ("cells", 1, 50)]
    assert kinds((), column(2, 5), 50)[1:] == [("largest", 0, 500)]
    assert kinds((), column(-3, 5), 50)[1:] == [("largest", -300, 500), ("least", -300, 500)]
    assert kinds((), column(-3, -1), 50)[1:] == [("least", -300, 0)]
    with pytest.raises(Refused, match="too many steps"):
        sought_for((), column(0, 2**60), 50)


def test_what_is_no_number_and_what_is_not_safe_is_refused() -> None:
    with pytest.raises(Refused):
        number_column(quantile_schema("replace"), "g")
    with pytest.raises(Refused):
        planned("replace").choose(opened([], "replace"), Seeded(1))
    with pytest.raises(Refused):
        planned("replace", price=EpsilonDelta(7)).selections(planned("replace").sought[0])


def test_a_certificate_names_grid_and_price() -> None:
    lines = planned("replace").lines()
    assert len(lines) == 4
    assert lines[0] == (
        "selection of quantiles 1/3, 0.9 of rows of each person, from 1 to 4 steps: "
        "epsilon 0.125 for each quantile"
    )
    assert "largest sum of x" in lines[2]


def test_its_text_is_that_of_the_first_ledgers() -> None:
    """Stored suggestions are found by a digest of it; mutant: the price as a value of today."""
    plan = planned("replace")
    assert plan.written.startswith("Quantiles(sought=(Sought(contribution=Contribution(kind='rows'")
    assert plan.written.endswith("unit='who', neighbours='replace', nano=1000000000)")
    assert repr(plan) != plan.written


# What a suggestion says: limits in order, what they mean for a question, and what is unknown.

ONE = EpsilonDelta.of(1)


def suggestion_schema(**table: Any) -> Schema:
    stated = {"name": "t", "unit": "who", "neighbours": "add-or-remove", "rows_per_unit": 1}
    columns = {
        "who": {"type": "identifier"},
        "g": {"type": "category", "categories": list("abcdefgh")},
        "x": {"type": "number", "bounds": [-10, 50], "grid": 0.5},
    }
    return Schema.from_dict({"table": stated | table, "columns": columns})


def suggestion(chosen: Any, *, by: bool = True, column: str | None = "x") -> Suggestion:
    given = suggestion_schema()
    keys = (Group("g", 8),) if by else ()
    named = None if column is None else number_column(given, column)
    shares = (Fraction(1, 2), Fraction(19, 20))
    plan = Quantiles(sought_for(keys, named, 100), shares, keys, "who", "add-or-remove", ONE)
    return Suggestion(plan, given, column, chosen, certify_limits(plan, given), Fraction(1))


FOUND = suggestion(((2, 7), (3, 1), (40, 90), (-6, -2)))


def test_limits_are_in_order_and_the_highest_is_recommended() -> None:
    assert FOUND.rows == (2, 7)
    assert FOUND.groups == (1, 3), "quantiles that crossed are sorted, which is free"
    assert FOUND.sums == ((Fraction(-1), Fraction(20)), (Fraction(-3), Fraction(45)))
    assert (FOUND.rows_per_unit, FOUND.groups_per_unit) == (7, 3)
    assert FOUND.bounds_per_unit == (-3, 45)
    alone = suggestion(((2, 7),), by=False, column=None)
    assert (alone.groups_per_unit, alone.bounds_per_unit, alone.sums) == (None, None, None)
    nothing = suggestion(((2, 7), (0, 0), (0, 0)), by=False)
    assert nothing.bounds_per_unit is None
    assert [one.half_widths for one in nothing.typical][-1] == (0, 0)


def test_the_noise_is_that_of_a_question_under_the_limits() -> None:
    by_name = {one.question: one.half_widths for one in FOUND.typical}
    for place, rows in enumerate(FOUND.rows):
        given = suggestion_schema(rows_per_unit=rows)
        plan = make_plan(parse("SELECT COUNT(*) FROM t", given), given, ONE)
        assert by_name["COUNT(*)"][place] == plan.chosen.expectations[0].half_width
    for place, groups in enumerate(FOUND.groups or ()):
        given = suggestion_schema(rows_per_unit=FOUND.rows[place], groups_per_unit=groups)
        sql = "SELECT g, COUNT(DISTINCT who) AS n FROM t GROUP BY g"
        plan = make_plan(parse(sql, given), given, ONE)
        found = by_name["COUNT(DISTINCT who) by group"][place]
        assert found == plan.chosen.expectations[0].half_width
    assert {"SUM(x) by group, rows truncated", "SUM(x) by group, sums clipped"} <= set(by_name)
    rows, sums = (
        by_name["SUM(x) by group, rows truncated"],
        by_name["SUM(x) by group, sums clipped"],
    )
    assert rows[0] < rows[1]
    assert sums[0] < sums[1]


@pytest.mark.parametrize("view", [str, repr, lambda found: found._repr_html_()])
def test_people_see_limits_noise_and_what_is_unknown(view: Any) -> None:
    text = " ".join(view(FOUND).split())
    for words in (
        "rows_per_unit = 7; groups_per_unit = 3; bounds_per_unit = [-3, 45] for x",
        "The error of truncation at these limits is not known",
        "95 %",
        "± of COUNT(*)",
        "epsilon 1, selection of 8 quantiles",
    ):
        assert words in text
    capped = suggestion(((2, 100),), by=False, column=None)
    assert "100 or more" in " ".join(view(capped).split())


def test_programs_see_the_same() -> None:
    told = json.loads(FOUND.to_json())
    assert told["recommended"] == {
        "rows_per_unit": 7,
        "groups_per_unit": 3,
        "bounds_per_unit": [-3, 45],
    }
    assert told["quantiles"] == ["0.5", "0.95"]
    assert told["rank_95"] == pytest.approx(FOUND.rank_error(0.95))
    assert told["rank_95"] < FOUND.rank_error(0.99)
    assert "not known" in told["unknown"]
    assert len(told["typical"]) == len(FOUND.typical)
    assert (told["price"], told["replayed"]) == ("1", False)


# -- Limits are suggested through the one path of whatever is paid for -----------------------------

WARDS = ["a", "b", "c", "d"]


def table(people: int = 400) -> pd.DataFrame:
    """Everybody has one to ten rows, in one to four wards."""
    rows = [(i, WARDS[j % (1 + i % 4)], 7) for i in range(people) for j in range(1 + i % 10)]
    return pd.DataFrame(rows, columns=["who", "ward", "cost"])


def schema(**stated: Any) -> dict[str, Any]:
    given = {"name": "t", "unit": "who", "neighbours": "add-or-remove", "rows_per_unit": 1}
    return {
        "table": given | stated,
        "budget": {"total": 50},
        "columns": {
            "who": {"type": "identifier"},
            "ward": {"type": "category", "categories": WARDS},
            "cost": {"type": "number", "bounds": [0, 100]},
        },
    }


def session(**stated: Any) -> Any:
    return tn.protect(table(), schema=schema(**stated), ledger=tn.ledger.Memory())


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_quantiles_are_near_those_of_the_rows(neighbours: str) -> None:
    with session(neighbours=neighbours) as data:
        found = data.suggest_limits(epsilon=20, by=["ward"], column="cost")
    frame = table()
    for share, rows, groups, (low, high) in zip(
        (0.5, 0.8, 0.95), found.rows, found.groups, found.sums, strict=True
    ):
        off = found.rank_error(0.99999999) / 400
        own = frame.groupby("who")
        largest = frame.groupby(["who", "ward"])["cost"].sum().groupby("who").max()
        for value, real in ((rows, own.size()), (groups, own["ward"].nunique()), (high, largest)):
            assert (real <= float(value)).mean() >= share - off
            assert (real < float(value)).mean() <= share + off
        assert low == 0


def test_it_is_debited_once_repeated_free_and_drawn_anew_if_asked() -> None:
    with session() as data:
        first = data.suggest_limits(epsilon=2, by=["ward"])
        assert (first.price, data.budget.spent) == (2, 2)
        again = data.suggest_limits(epsilon=2, by=["ward"])
        assert (again.price, again.replayed, again.chosen) == (0, True, first.chosen)
        assert "no charge" in str(again)
        data.suggest_limits(epsilon=2, by=["ward"], key="k")
        assert data.budget.spent == 2
        data.suggest_limits(epsilon=2, by=["ward"], fresh=True, key="other")
        assert data.budget.spent == 4
        data.suggest_limits(epsilon=2, by=["ward"], fresh=True, key="other")
        assert data.budget.spent == 4
        data.suggest_limits(epsilon=2)
        data.suggest_limits(epsilon=2, most=99)
        assert data.budget.spent == 8, "another grid is another question"
        with pytest.raises(OverBudget):
            data.suggest_limits(epsilon=45)


def test_groups_are_those_of_a_question() -> None:
    given = Schema.from_dict(schema())
    plan = plan_limits(given, epsilon=1, by=["WARD", "BIN(cost, 50)"])
    assert [key.cells for key in plan.keys] == [4, 3]
    assert inquire_limits(plan, given, None).asked == "limits of who: rows, cells by ward, cost"
    for wrong in (["who"], ["costs"], ["ward; DROP TABLE t"], ["ward) FROM u --"], "ward", [1]):
        with pytest.raises(Refused):
            plan_limits(given, epsilon=1, by=wrong)  # type: ignore[arg-type]


def test_records_have_nothing_to_limit() -> None:
    with session(unit="record", rows_per_unit=None) as data:
        with pytest.raises(NotPromised, match="Every record of `t` is a unit"):
            data.suggest_limits(epsilon=1)
        assert data.budget.spent == 0


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"epsilon": 0},
        {"epsilon": "3e-9"},
        {"epsilon": 1, "column": "ward"},
        {"epsilon": 1, "column": "nothing"},
        {"epsilon": 1, "quantiles": []},
        {"epsilon": 1, "quantiles": [0.5, 1]},
        {"epsilon": 1, "quantiles": [i / 11 for i in range(1, 11)]},
        {"epsilon": 1, "most": 1},
        {"epsilon": 1, "most": 2.5},
    ],
)
def test_what_cannot_be_asked_is_refused_and_costs_nothing(given: dict[str, Any]) -> None:
    with session() as data:
        with pytest.raises(Refused):
            data.suggest_limits(by=["ward"], **given)
        assert data.budget.spent == 0


def test_a_protocol_has_no_rule_for_it() -> None:
    fixed = schema() | {"protocol": {"kind": "fixed-noise", "scale": 20}}
    with (
        tn.protect(table(), schema=fixed, ledger=tn.ledger.Memory()) as data,
        pytest.raises(Refused, match="suggest_limits"),
    ):
        data.suggest_limits(epsilon=1)


def test_the_certificate_says_what_is_promised_and_what_not() -> None:
    given = Schema.from_dict(schema())
    plan = plan_limits(given, epsilon="0.9", quantiles=0.5)  # type: ignore[arg-type]
    certificate = certify_limits(plan, given)
    assert certificate.promise == tn.Pure(Fraction(9, 10))
    assert any("all rows of a person count" in text for text in certificate.assumptions)
    assert any("error of truncation" in text for text in certificate.does_not_promise)
    with pytest.raises(InvalidArgument):
        plan_limits(given, epsilon=1, quantiles="half")  # type: ignore[arg-type]
