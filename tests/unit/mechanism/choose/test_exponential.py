"""The exponential mechanism by its exact law: one sampler, one price, every user of it."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tenue as tn
from tenue.engine.held import Held
from tenue.engine.request import Contribution
from tenue.mechanism.choose import exponential
from tenue.mechanism.choose.exponential import Exponential
from tenue.microdata.private.domain import Domain
from tenue.microdata.private.joint.network import Network
from tenue.microdata.private.joint.pair_tables import PairTables
from tenue.microdata.private.means.microaggregation import Microaggregation, Tallies
from tenue.noise import Seeded
from tenue.noise.source import SYSTEM
from tenue.noise.table import Table
from tenue.query.family.clip import CLIP, CLIPPED
from tenue.query.family.mode import MODE
from tenue.query.family.rank import choices_for
from tenue.query.family.strategy import Range, Setting, Span
from tenue.query.question import Aggregate
from tenue.query.suggest.quantile import Quantiles, Sought

HALF = Fraction(1, 2)
TABLES = list(itertools.product(range(4), repeat=3))


def masses(run: Callable[[], Hashable], patch: pytest.MonkeyPatch) -> dict[Hashable, float]:
    """The exact probability of every outcome of a program: all its draws are enumerated.

    A class has the mass of the thresholds that decide it, to the last of 64 bits, and every
    candidate of a class has an equal share: what `Table.decide` and `uniform` promise, and what
    their own tests show.
    """
    path: list[int] = []
    made: list[tuple[int, float]] = []
    sizes: list[int] = []

    class Enumerated(Table):
        def decide(self, words: Any, source: Any) -> Any:
            ends = [0.0, *(self.thresholds.astype(float) / 2**64), 1.0]
            return np.array([fork([b - a for a, b in itertools.pairwise(ends)])])

    def even(count: int, size: int, source: Any) -> Any:
        return np.array([fork([1 / count] * count)])

    def fork(chances: Sequence[float]) -> int:
        number = path[len(made)] if len(made) < len(path) else 0
        made.append((number, chances[number]))
        sizes.append(len(chances))
        return number

    patch.setattr(exponential, "Table", Enumerated)
    patch.setattr(exponential, "uniform", even)
    found: dict[Hashable, float] = defaultdict(float)
    while True:
        made.clear()
        sizes.clear()
        outcome = run()
        found[outcome] += math.prod(chance for _, chance in made)
        path = [number for number, _ in made]
        while path and path[-1] == sizes[len(path) - 1] - 1:
            path.pop()
        if not path:
            return dict(found)
        path[-1] += 1


def by_formula(scores: Sequence[int], fall: Fraction | float) -> list[float]:
    """exp(fall·u), normalised."""
    weights = [math.exp(float(fall) * (score - max(scores))) for score in scores]
    return [weight / sum(weights) for weight in weights]


def agree(found: dict[Any, float], scores: dict[Any, int], fall: Fraction | float) -> bool:
    expected = dict(zip(scores, by_formula(list(scores.values()), fall), strict=True))
    return all(
        math.isclose(found.get(one, 0.0), mass, rel_tol=1e-9, abs_tol=1e-15)
        for one, mass in expected.items()
    )


# -- the law ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scores", [(0, 0, 0), (3, 1, 2), (7, 7, 2), (-4, 0, -9)])
def test_masses_are_those_of_the_formula(
    scores: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    law = Exponential(3, HALF, 2)
    found = masses(lambda: law.choose(scores), monkeypatch)
    assert agree(found, dict(enumerate(scores)), HALF / 4)
    distinct = len(set(scores)) > 1
    assert agree(found, dict(enumerate(scores)), HALF / 2) != distinct  # mutant: Δ halved


def worst(law: Exponential, moves: Sequence[Sequence[int]]) -> float:
    """The greatest loss over all tables and all moves of their scores."""
    found = 0.0
    for scores in TABLES:
        for move in moves:
            after = [s + m for s, m in zip(scores, move, strict=True)]
            pairs = zip(bounded(law, scores), bounded(law, after), strict=True)
            found = max(found, *(abs(math.log(p / q)) for p, q in pairs))
    return found


def bounded(law: Exponential, scores: Sequence[int]) -> list[float]:
    gaps = {i: gap for gap, held in law.classes(scores).items() for i in held}
    return by_formula([-gaps[i] for i in range(len(scores))], law.fall)


BOTH_WAYS = list(itertools.product((-2, 0, 2), repeat=3))
UPWARDS = list(itertools.product((0, 1), repeat=3))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(40)])
def test_the_price_is_epsilon(epsilon: Fraction) -> None:
    """At 40 the reach of 2 bounds the scores of these tables, which costs nothing."""
    both = Exponential(3, epsilon, 2)
    assert 0.5 * float(epsilon) < worst(both, BOTH_WAYS) <= float(epsilon) * (1 + 1e-12)
    upwards = Exponential(3, epsilon, 1, one_sided=True)
    assert 0.4 * float(epsilon) < worst(upwards, UPWARDS) <= float(epsilon) * (1 + 1e-12)


def test_what_would_cost_more() -> None:
    """Mutants: Δ halved; one-sided weights for scores that move both ways, or for replace."""
    assert worst(Exponential(3, Fraction(1), 1), BOTH_WAYS) > 1.2
    assert worst(Exponential(3, Fraction(1), 2, one_sided=True), BOTH_WAYS) > 1.2
    replaced = list(itertools.permutations((-1, 0, 1)))
    assert 1.2 < worst(Exponential(3, Fraction(1), 1, one_sided=True), replaced) <= 2


def test_candidates_are_those_of_the_question_not_of_the_rows() -> None:
    """Mutant: candidates taken from the rows. One that is there for one table only tells all."""
    occurring = bounded(Exponential(2, Fraction(1), 1), [0, -3])
    assert len(occurring) == 2  # the third has no mass at all, so the loss is infinite
    assert bounded(Exponential(3, Fraction(1), 1), [0, -3, -3])[2] > 0


def test_scores_are_bounded_where_hardly_anything_is_left() -> None:
    law = Exponential(2, Fraction(1, 2**31), 1)
    assert list(law.classes([0, -(2**50)])) == [0, law.reach]
    assert math.exp(-law.reach * 2.0**-32) < 1e-12


def test_it_is_rarely_far_behind() -> None:
    law = Exponential(50, Fraction(1, 5), 1, one_sided=True)
    scores = [1000] + [1000 - math.floor(law.behind(0.05)) - 1] * 49
    assert 1 - bounded(law, scores)[0] <= 0.05


def test_draws_follow_the_law() -> None:
    """The enumeration above trusts the sampler's parts; here they are put together."""
    law, scores, source = Exponential(4, Fraction(2), 1), (5, 5, 4, 1), Seeded(3)
    drawn = Counter(law.choose(scores, source) for _ in range(4000))
    for index, p in enumerate(by_formula(scores, 1)):
        assert abs(drawn[index] - 4000 * p) < 6 * math.sqrt(4000 * p)
    assert Exponential(1, Fraction(1), 1).choose([7], source) == 0


def test_the_table_has_the_weights_of_its_classes() -> None:
    table = Exponential(7, Fraction(1), 1).table([(0, 2), (3, 5)])
    p = 2 / (2 + 5 * math.exp(-1.5))
    assert table.thresholds[0] / 2**64 == pytest.approx(p, rel=1e-12)


# -- everybody who uses it: the masses of what they choose, from the program that is shipped -------


@dataclass(frozen=True)
class User:
    """A program that chooses, run on one small table.

    scores: what each outcome scores, computed here; sensitivity: of those scores.
    """

    run: Callable[[], Hashable]
    scores: dict[Any, int]
    epsilon: Fraction
    sensitivity: int | Fraction
    one_sided: bool = False

    @property
    def fall(self) -> Fraction:
        return self.epsilon / (self.sensitivity if self.one_sided else 2 * self.sensitivity)


def mode() -> User:
    """MODE: one-sided votes; under replace, half of epsilon, and two rows of each unit."""
    votes = {0: 4, 1: 1, 2: 3}
    setting = Setting("replace", False, False, {}, categories={"c": 3}, rows_per_unit=2)
    (block,) = MODE.blocks([Aggregate("mode", "c")], setting, {})
    (ballot,) = block(Fraction(2)).draws
    rows: Any = SimpleNamespace(votes=lambda column, categories: [list(votes.values())])
    return User(
        lambda: ballot.released(rows, [0], SYSTEM)[0][0], votes, Fraction(2) / 2 / 2, 1, True
    )


def listed(table: Sequence[int]) -> list[tuple[int, int, int]]:
    return [(v, sum(x < v for x in table), table.count(v)) for v in sorted(set(table))]


def missed(table: Sequence[int], grid: range, q: Fraction) -> dict[int, int]:
    """The ranks by which each point misses a quantile, times the denominator of q; negated."""
    n, a, b = len(table), q.numerator, q.denominator
    less = {v: sum(x < v for x in table) for v in grid}
    up_to = {v: sum(x <= v for x in table) for v in grid}
    return {v: -max(b * less[v] - a * n, a * n - b * up_to[v], 0) for v in grid}


def quantile() -> User:
    """QUANTILE: a replaced row moves b·rank by b, one more or less would by max(a, b − a)."""
    table = [1, 1, 4, 6]
    asked = Aggregate("quantile", "x", q=Fraction(1, 4))
    span = Span(0, 7, Fraction(1))
    ((choice,), _) = choices_for(asked, span, "replace", Fraction(3), lambda share: share)
    rows: Any = SimpleNamespace(
        ranks=lambda column: [SimpleNamespace(rows=4, values=listed(table))]
    )
    scores = missed(table, range(8), Fraction(1, 4))
    return User(lambda: choice.released(rows, [0], SYSTEM)[0][0], scores, Fraction(3), 4)


def clip() -> User:
    """clip="auto": how far the number of rows above a cut is from the rank that is aimed at."""
    setting = Setting(
        "add-or-remove", False, False, {"x": Range(0, 64, Fraction(1), True)}, rows_per_unit=3
    )
    (block,) = CLIP.blocks([Aggregate(CLIPPED["sum"], "x")], setting, {})
    (chosen,) = block(Fraction(300)).draws
    selection, table = chosen.selection, [0, 2, 2, 3, 5]  # the places of the cuts of five rows
    aim = selection.score.rank
    scores = {
        v: -max(
            sum(x < v for x in table) - (5 - aim), (5 + 1 - aim) - sum(x <= v for x in table), 0
        )
        for v in range(len(chosen.places))
    }
    return User(lambda: selection.choose(5, listed(table)), scores, chosen.choosing / 3, 1)


def suggested() -> User:
    """Suggested limits: two quantiles, so each has half of the price."""
    sought = Sought(Contribution("rows"), 1, 6)
    shares = (Fraction(1, 2), Fraction(9, 10))
    plan = Quantiles((sought,), shares, (), "who", "add-or-remove", 3 * 10**9)
    _, last = plan.selections(sought)
    table = [1, 2, 2, 3, 6]
    scores = missed(table, range(1, 7), Fraction(9, 10))
    return User(lambda: last.choose(5, listed(table)), scores, Fraction(3, 2), 9)


def means() -> User:
    """A category of each group: a candidate scores the sum of distances, negated."""
    column = {"type": "category", "categories": ["a", "b", "c", "d"]}
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    domain = Domain.of(tn.Schema.from_dict({"table": table, "columns": {"c": column}}))
    plan = Microaggregation.planned(domain, 6, Fraction(4), k=6)
    (line,) = plan._categories
    distances = np.array([[5, 1, 4, 4]]) * (line.length // 4)
    tallies = Tallies((), (distances,))
    return User(
        lambda: int(plan.noisy(tallies, SYSTEM).chosen[0][0]),
        {place: -int(one) for place, one in enumerate(distances[0])},
        Fraction(4),
        line.length * plan.length,
    )


def pair() -> User:
    """The first pair of a spanning tree of three columns; a record moves a score by 2."""
    plan, scores = PairTables(3, 100, Fraction(20)), {(0, 1): 7, (0, 2): 9, (1, 2): 2}
    return User(lambda: plan._chosen(scores, SYSTEM), dict(scores), plan.choosing, 2)


class Stop(Exception):
    """The first choice was made."""


def family() -> User:
    """The first table of a network; its scores are those the program itself makes."""
    columns = {f"c{j}": {"type": "category", "categories": list("abc")} for j in range(3)}
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    domain = Domain.of(tn.Schema.from_dict({"table": table, "columns": columns}))
    plan = Network.planned(domain, 30, Fraction(60))
    rows = np.stack([np.arange(30) % 3, np.arange(30) % 3, np.arange(30) // 10], axis=1)
    seen: dict[int, int] = {}
    choose = Exponential.choose

    def first(law: Exponential, scores: Sequence[int], source: Any) -> int:
        seen.update(enumerate(scores))
        raise Stop(choose(law, scores, source))

    def run() -> Hashable:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Exponential, "choose", first)
            with pytest.raises(Stop) as stopped:
                plan.release(Held(rows), Seeded(1))
        return int(stopped.value.args[0])

    run()
    return User(run, seen, plan.choice_epsilon, 2)


@pytest.mark.parametrize("user", [mode, quantile, clip, suggested, means, pair, family])
def test_whoever_chooses_has_the_masses_of_the_mechanism(
    user: Callable[[], User], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = user()
    found = masses(one.run, monkeypatch)
    assert sum(found.values()) == pytest.approx(1)
    assert agree(found, one.scores, one.fall)
    assert not agree(found, one.scores, 2 * one.fall)  # mutant: Δ halved
    assert not agree(found, one.scores, one.fall / 2)


@pytest.mark.parametrize("user", [mode, quantile, clip, suggested, means, pair, family])
def test_a_sensitivity_that_is_halved_is_seen(
    user: Callable[[], User], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant in the program itself, for everybody who uses it."""
    monkeypatch.setattr(Exponential, "fall", property(lambda law: 2 * right(law)))
    one = user()
    assert not agree(masses(one.run, monkeypatch), one.scores, one.fall)


def right(law: Exponential) -> Fraction:
    return law.epsilon / (law.sensitivity if law.one_sided else 2 * law.sensitivity)
