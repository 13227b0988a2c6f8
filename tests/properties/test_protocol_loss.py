"""Protocols 1 and 2: the exact joint loss of a run of questions, through the session."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

from small_tables import TABLES, Rows, largest_ratio, neighbouring, session
from tenue.errors import OverBudget
from tenue.mechanism import refine
from tenue.mechanism.additive_noise import Part
from tenue.mechanism.refinement.update_factors import power_above
from tenue.noise import DiscreteLaplace
from tenue.prior import Points

RUN = [
    "SELECT COUNT(*) FROM t",
    "SELECT COUNT(*) FROM t WHERE g = 'a'",
    "SELECT SUM(x) FROM t WHERE x > 0",
    "SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g",
    "SELECT SUM(x) / COUNT(x) AS mean FROM t",
]


def fixed(budget: Any = 1000) -> dict[str, Any]:
    return {"protocol": {"kind": "fixed-noise", "scale": 12.5}, "budget": {"total": budget}}


def caught_parts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, list[int]]]:
    """Every law that is drawn from, with the true numbers it hides, in order."""
    caught: list[tuple[Any, list[int]]] = []
    release = Part.release

    def watched(part: Part, cells: Any, source: Any) -> Any:
        (component,) = part.components
        caught.append((part.law, [component.of(atoms) for atoms in cells]))
        return release(part, cells, source)

    monkeypatch.setattr(Part, "release", watched)
    return caught


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_fixed_noise_loses_no_more_than_it_costs(
    monkeypatch: pytest.MonkeyPatch, neighbours: str
) -> None:
    caught = caught_parts(monkeypatch)
    runs: dict[Rows, list[tuple[Any, list[int]]]] = {}
    spent: set[Fraction] = set()
    for rows in TABLES:
        caught.clear()
        with session(rows, neighbours, **fixed()) as data:
            for sql in RUN:
                data.ask(sql)
            spent.add(data.budget.spent)
        runs[rows] = list(caught)
    (paid,) = spent
    laws = [law for law, _ in runs[()]]
    # exactly the scale that the holder fixed: a step of 1 costs 1/scale
    assert {law.loss(1) for law in laws} == {1 / 12.5}
    assert all(isinstance(law, DiscreteLaplace) for law in laws)
    worst = Fraction(0)
    for one, two in neighbouring(neighbours):
        pairs = zip(runs[one], runs[two], strict=True)
        moved = sum(
            abs(a - b) for (_, here), (_, there) in pairs for a, b in zip(here, there, strict=True)
        )
        worst = max(
            worst, Fraction(2 * moved, 25)
        )  # independent noise: log-ratios of one rate add up
    assert worst <= paid
    assert worst > paid / 2


def test_the_joint_masses_are_those_of_independent_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of losses is the largest log-ratio of the joint masses, enumerated."""
    caught = caught_parts(monkeypatch)
    truths = []
    for rows in ((), ((1, 3, "a"),)):
        caught.clear()
        with session(rows, "add-or-remove", **fixed()) as data:
            data.ask("SELECT COUNT(*) AS n, SUM(x) AS s FROM t")
            price = data.budget.spent
        truths.append([numbers[0] for _, numbers in caught])
    laws = [law for law, _ in caught]
    points = range(-40, 41)
    ratios = (
        math.log(
            math.prod(law.mass(y - t) for law, y, t in zip(laws, answer, truths[0], strict=True))
            / math.prod(law.mass(y - t) for law, y, t in zip(laws, answer, truths[1], strict=True))
        )
        for answer in itertools.product(points, points)
    )
    assert max(map(abs, ratios)) == pytest.approx(float(price)) == pytest.approx(4 / 12.5)


def test_groups_under_replace_at_the_price_of_add_or_remove_are_caught() -> None:
    """Mutant: a record that changes its group, paid as one that leaves."""
    sql = "SELECT g, COUNT(*) FROM t GROUP BY g"
    prices = {}
    for neighbours in ("add-or-remove", "replace"):
        with session((), neighbours, **fixed()) as data:
            prices[neighbours] = data.explain(sql).epsilon
    moved = 2 / 12.5
    assert float(prices["replace"]) == pytest.approx(moved)
    assert moved > float(prices["add-or-remove"])


def test_questions_are_answered_while_the_budget_lasts() -> None:
    with session(TABLES[-1], "add-or-remove", **fixed(0.2)) as data:
        data.ask(RUN[0])
        data.ask(RUN[1])
        with pytest.raises(OverBudget):
            data.ask("SELECT COUNT(*) FROM t WHERE g = 'b'")
        assert data.ask(RUN[0]).replayed
        assert data.budget.spent == Fraction(4, 25)


def test_a_price_is_rounded_up_and_covers_the_law() -> None:
    policy = {"protocol": {"kind": "fixed-noise", "scale": 3}, "budget": {"total": 1}}
    with session((), "add-or-remove", **policy) as data:
        plan = data.explain("SELECT COUNT(*) FROM t")
        assert plan.price.units == 333_333_334
        (part,) = plan.parts
        assert part.law.epsilon == Fraction(1, 3) <= plan.epsilon


def test_refinement_adds_up_while_the_budget_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protocol 2 on the exact joint masses of two adaptive questions with epsilons of their own."""
    laws: list[Any] = []

    def caught(*given: Any, **more: Any) -> Any:
        laws.append(refine(*given, **more))
        return laws[-1]

    monkeypatch.setattr("tenue.ask.belief.refine.refine", caught)
    belief = Points({0: 0.25, 1: 0.25, 3: 0.25, 6: 0.25})
    policy = {"protocol": {"kind": "refinement"}, "budget": {"total": 1}}
    joint: dict[Rows, dict[Any, Fraction]] = {}
    for rows in TABLES[::2]:
        laws.clear()
        with session(rows, "replace", **policy) as data:
            data.ask("SELECT COUNT(*) FROM t", epsilon="0.3", prior=belief)
            data.ask("SELECT SUM(x) FROM t", epsilon="0.7", prior=belief)
            assert data.budget.spent == 1
            with pytest.raises(OverBudget):
                data.ask("SELECT COUNT(x) FROM t", epsilon="0.1", prior=belief)
        first, second = laws[0].masses, laws[1].masses
        joint[rows] = {(a, b): first[a] * second[b] for a in first for b in second}
    worst = max(largest_ratio(a, b) for a in joint.values() for b in joint.values())
    assert power_above(Fraction(3, 10)) < worst <= power_above(Fraction(1))
