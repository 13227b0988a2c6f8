"""Quantiles of what each person has: their exact loss, and whom they are about."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from oracle_engine import OracleEngine
from tenue.engine.contract import Engine, Profile
from tenue.engine.request import Bin, ContributionRequest, Group, Window
from tenue.errors import Refused
from tenue.mechanism.choose import rank_score
from tenue.mechanism.choose.selection import Selection
from tenue.noise import Seeded
from tenue.promise.loss import EpsilonDelta
from tenue.query.suggest.quantile import Quantiles, Sought, number_column, sought_for
from tenue.schema import Number, Schema

ONE = EpsilonDelta.of(1)
BY_GROUP = (Group("g", 2),)
EVERYTHING = Window(1, 0, 10**6, -(10**6), 10**6)
Person = tuple[tuple[str, int], ...]
ROWS = [("a", -1), ("a", 3), ("b", 3)]
PEOPLE: list[Person] = [
    rows for size in range(4) for rows in itertools.combinations_with_replacement(ROWS, size)
]


def schema(neighbours: str) -> Schema:
    table = {"name": "t", "unit": "who", "neighbours": neighbours, "rows_per_unit": 1}
    columns = {
        "who": {"type": "identifier"},
        "g": {"type": "category", "categories": ["a", "b"]},
        "x": {"type": "number", "bounds": [-1, 3]},
    }
    return Schema.from_dict({"table": table, "columns": columns})


def planned(
    neighbours: str, price: EpsilonDelta = ONE, shares: Sequence[str] = ("1/3", "0.9")
) -> Quantiles:
    column = number_column(schema(neighbours), "x")
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
    return OracleEngine(schema(neighbours), rows)


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
        sought=sought_for((), number_column(schema("replace"), "x"), 100),
        shares=(Fraction(1, 4), Fraction(3, 4)),
        keys=(),
        unit="who",
        neighbours="replace",
        price=5000 * ONE,
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
        number_column(schema("replace"), "g")
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
