"""The exact joint loss of whole answers, over every pair of neighbouring small tables.

Noise is independent between cells and between parts, so the largest log-ratio of a whole answer is
the sum of those of its parts; each of those comes from the law that is really sampled.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import pytest

from tenue.ask.aggregates.strategy import Range, Setting, Strategy
from tenue.ask.plan.planner import strategies
from tenue.ask.question import Aggregate
from tenue.mechanism.additive_noise import Atoms, Part
from tenue.noise import DiscreteLaplace, Optimal, OptimalBox
from tenue.noise.criterion import VARIANCE, Criterion
from tenue.privacy.loss import EpsilonDelta

Row = tuple[int, int | None, int, bool]
"""Group, a column that may be missing, a column that is never missing, does the filter hold."""

GROUPS, X, Y = (0, 1), (None, -2, 1, 3), (1, 4)
ROWS: list[Row] = list(itertools.product(GROUPS, X, Y, (True, False)))
RANGES = {
    "x": Range(low=-2, high=3, grid=Fraction(1), never_missing=False),
    "y": Range(low=1, high=4, grid=Fraction(1, 2), never_missing=True),
}
COUNT, COUNT_X, COUNT_Y = Aggregate("count"), Aggregate("count", "x"), Aggregate("count", "y")
SUM_X, SUM_Y = Aggregate("sum", "x"), Aggregate("sum", "y")
AVG_X, AVG_Y = Aggregate("avg", "x"), Aggregate("avg", "y")
QUESTIONS = [
    (COUNT,),
    (COUNT_X,),
    (SUM_X,),
    (SUM_Y,),
    (AVG_X,),
    (AVG_Y,),
    (COUNT, SUM_X),
    (COUNT, SUM_Y),
    (COUNT, COUNT_X, SUM_Y),
    (COUNT, SUM_X, AVG_X),
    (COUNT, SUM_Y, AVG_Y),
    (COUNT_X, AVG_X, SUM_Y, COUNT_Y),
    (AVG_X, AVG_Y),
    (SUM_X, SUM_Y),
]
PRICE = EpsilonDelta.of("0.7")


def atoms(rows: Iterable[Row], grouped: bool, filtered: bool) -> list[Atoms]:
    """The true numbers of each cell, straight from the definition."""
    cells = []
    for group in GROUPS if grouped else (None,):
        kept = [r for r in rows if (group is None or r[0] == group) and (r[3] or not filtered)]
        have = [r[1] for r in kept if r[1] is not None]
        cells.append(
            Atoms(
                rows=len(kept),
                present={"x": len(have), "y": len(kept)},
                total={"x": sum(have), "y": sum(r[2] for r in kept)},
            )
        )
    return cells


def part_loss(part: Part, shift: Sequence[int]) -> float:
    """The largest log-ratio for one cell of one part."""
    if isinstance(part.law, OptimalBox):
        return part.box.loss(shift)
    if isinstance(part.law, tuple):
        return sum(law.loss(t) for law, t in zip(part.law, shift, strict=True))
    return part.law.loss(shift[0])


def joint_loss(strategy: Strategy, one: list[Atoms], two: list[Atoms]) -> float:
    total = 0.0
    for part in strategy.parts:
        for before, after in zip(one, two, strict=True):
            shift = [c.of(after) - c.of(before) for c in part.components]
            if any(shift):
                total += part_loss(part, shift)
    return total


def neighbours(kind: str) -> list[tuple[list[Row], list[Row]]]:
    """All pairs that differ in one row; what they share cancels in every difference."""
    if kind == "add-or-remove":
        return [([], [row]) for row in ROWS]
    return [([one], [two]) for one in ROWS for two in ROWS if one != two]


def largest_loss(strategy: Strategy, kind: str, grouped: bool, filtered: bool) -> float:
    seen: dict[tuple[object, ...], float] = {}
    worst = 0.0
    for before, after in neighbours(kind):
        one, two = atoms(before, grouped, filtered), atoms(after, grouped, filtered)
        name = tuple(
            tuple(c.of(b) - c.of(a) for c in p.components)
            for p in strategy.parts
            for a, b in zip(one, two, strict=True)
        )
        if name not in seen:
            seen[name] = joint_loss(strategy, one, two)
        worst = max(worst, seen[name])
    return worst


def setting(kind: str, grouped: bool, filtered: bool) -> Setting:
    return Setting(kind, grouped, filtered, RANGES, frozenset(["y"]))


CASES = list(itertools.product(("add-or-remove", "replace"), (False, True), (False, True)))


@pytest.mark.parametrize("aggregates", QUESTIONS, ids=lambda q: "+".join(map(_name, q)))
@pytest.mark.parametrize(("kind", "grouped", "filtered"), CASES)
def test_no_answer_loses_more_than_its_price(
    kind: str, grouped: bool, filtered: bool, aggregates: tuple[Aggregate, ...]
) -> None:
    criteria = (VARIANCE, Criterion("absolute-error"), Criterion("interval", Fraction(9, 10)))
    criterion = criteria[(QUESTIONS.index(aggregates) + CASES.index((kind, grouped, filtered))) % 3]
    found = strategies(aggregates, setting(kind, grouped, filtered), PRICE, criterion)
    assert found
    for strategy in found:
        assert set(strategy.readings) == set(aggregates)
        assert strategy.epsilon <= PRICE.epsilon
        loss = largest_loss(strategy, kind, grouped, filtered)
        assert loss <= float(PRICE.epsilon) + 1e-9, strategy.name
        # one part leaves no epsilon unused; rows of the whole table are public under replace
        if len(strategy.parts) == 1 and loss > 0:
            assert loss >= 0.49 * float(PRICE.epsilon), strategy.name


def _name(aggregate: Aggregate) -> str:
    return f"{aggregate.kind}({aggregate.column or '*'})"


def test_the_staircase_on_an_l1_budget_is_caught() -> None:
    """Mutant: `Optimal` in place of discrete Laplace on the pair of a mean costs up to twice."""
    (strategy,) = strategies((AVG_X,), setting("add-or-remove", False, False), PRICE, VARIANCE)
    (part,) = strategy.parts
    step = Optimal(sensitivity=5, epsilon=PRICE.epsilon).on_grid(1)
    wrong = dataclasses.replace(part, law=(step, step))
    mutant = dataclasses.replace(strategy, draws=(wrong,))
    loss = largest_loss(mutant, "add-or-remove", False, False)
    assert loss == pytest.approx(2 * float(PRICE.epsilon))


def test_a_histogram_under_replace_at_full_epsilon_is_caught() -> None:
    """Mutant: groups under replace with the noise of add-or-remove cost twice."""
    (strategy,) = strategies((COUNT,), setting("replace", True, False), PRICE, VARIANCE)
    (part,) = strategy.parts
    full = DiscreteLaplace(sensitivity=1, epsilon=PRICE.epsilon)
    mutant = dataclasses.replace(strategy, draws=(dataclasses.replace(part, law=full),))
    assert largest_loss(strategy, "replace", True, False) == pytest.approx(float(PRICE.epsilon))
    assert largest_loss(mutant, "replace", True, False) == pytest.approx(2 * float(PRICE.epsilon))


def test_rows_taken_as_public_under_a_filter_are_caught() -> None:
    """Mutant: the sensitivity of the unfiltered sum used under WHERE."""

    class Mutant(Setting):
        def rows_public(self, column: str) -> bool:
            return True

    wrong = Mutant("replace", False, True, RANGES, frozenset(["y"]))
    found = strategies((SUM_Y,), wrong, PRICE, VARIANCE)
    assert all(largest_loss(s, "replace", False, True) > float(PRICE.epsilon) + 0.1 for s in found)


def test_a_missing_value_is_not_a_public_count() -> None:
    """Mutant: a column that may be missing, with bounds above zero, treated as always there."""
    ranges = {"x": Range(low=1, high=3, grid=Fraction(1), never_missing=True)}
    wrong = Setting("replace", False, False, ranges, frozenset(["x"]))
    right = Setting("replace", False, False, ranges, frozenset())
    for given, caught in ((wrong, True), (right, False)):
        for strategy in strategies((SUM_X,), given, PRICE, VARIANCE):
            loss = joint_loss(
                strategy,
                atoms([(0, None, 1, True)], False, False),
                atoms([(0, 3, 1, True)], False, False),
            )
            assert (loss > float(PRICE.epsilon) + 0.1) == caught


def test_losses_agree_with_masses() -> None:
    """The additive joint loss equals the largest log-ratio of the joint masses, by enumeration."""
    (strategy,) = strategies((AVG_X,), setting("add-or-remove", False, False), PRICE, VARIANCE)
    (part,) = strategy.parts
    assert isinstance(part.law, tuple)
    one, two = atoms([], False, False), atoms([(0, 1, 1, True)], False, False)
    shift = [c.of(two[0]) - c.of(one[0]) for c in part.components]
    points = range(-30, 31)
    worst = max(
        abs(
            math.log(part.law[0].mass(a) * part.law[1].mass(b))
            - math.log(part.law[0].mass(a - shift[0]) * part.law[1].mass(b - shift[1]))
        )
        for a in points
        for b in points
    )
    assert worst == pytest.approx(joint_loss(strategy, one, two))
